//! One chunk of rows: known codes are told apart, new ones sealed and stored.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use tessera_model::ids::BatchId;
use tessera_model::import::{CodeText, Row};
use tessera_model::keys::{BatchKeys, Fingerprint, Keyring, unwrap};
use tessera_model::product::Pick;
use tessera_store::batches::{KnownCode, NewCode};
use tessera_store::{Entropy, Store, StoreError, commit, run_alone};
use tokio::task::JoinHandle;

use super::open::still_ours;
use super::{ImportError, Known, LISTED_MAX, Report, Request, SHOWN_MAX};

/// A batch that is loading.
pub(super) struct Loading {
    store: Arc<dyn Store>,
    keyring: Arc<Keyring>,
    entropy: Arc<Entropy>,
    batch: BatchId,
    keys: BatchKeys,
    lease: ([u8; 16], String),
    /// Whether malformed lines are passed over, and whether first codes are shown.
    skips: bool,
    shows: bool,
    pub(super) report: Report,
    /// The chunk that is being stored, while the next one is looked up and sealed.
    storing: Option<Storing>,
}

/// A chunk on its way to the store.
struct Storing {
    /// Whether the lease was still ours.
    task: JoinHandle<tessera_store::Result<bool>>,
    fingerprints: HashSet<Fingerprint>,
}

/// A code with its line and what recognises it.
struct Read {
    line: u64,
    fingerprint: Fingerprint,
    code: CodeText,
}

impl Loading {
    pub(super) fn new(
        store: Arc<dyn Store>,
        keyring: Arc<Keyring>,
        entropy: Arc<Entropy>,
        (batch, keys): (BatchId, BatchKeys),
        lease: ([u8; 16], String),
        request: &Request,
    ) -> Self {
        let (skips, shows, report) = (request.skip_malformed, request.dry_run, Report::default());
        Self { store, keyring, entropy, batch, keys, lease, skips, shows, report, storing: None }
    }

    pub(super) const fn batch(&self) -> BatchId {
        self.batch
    }

    pub(super) const fn holder(&self) -> [u8; 16] {
        self.lease.0
    }

    /// Takes rows into the batch, after a malformed line too: what repeats in the file is told by what is stored.
    pub(super) async fn take(&mut self, rows: Vec<Row>) -> Result<(), ImportError> {
        let codes = self.count(rows);
        let new = self.unknown(codes).await?;
        let first = i64::try_from(self.report.new).unwrap_or(i64::MAX);
        self.report.new = self.report.new.saturating_add(u64::try_from(new.len()).unwrap_or(u64::MAX));
        if new.is_empty() {
            return Ok(());
        }
        let sealed = self.seal(first, new)?;
        self.settle().await?;
        self.storing = Some(self.store(sealed));
        // Buyers share the one writer: they get it while the next chunk is looked up and sealed.
        if self.store.has_one_writer() { self.settle().await } else { Ok(()) }
    }

    /// Waits until what was taken is stored.
    pub(super) async fn settle(&mut self) -> Result<(), ImportError> {
        let Some(storing) = self.storing.take() else { return Ok(()) };
        let stopping = |_| StoreError::Unavailable("the process is stopping".to_owned());
        let ours = storing.task.await.map_err(stopping)??;
        if ours { Ok(()) } else { Err(ImportError::LeaseLost) }
    }

    /// Counts what is no code, and hands on the codes with their fingerprints.
    fn count(&mut self, rows: Vec<Row>) -> Vec<Read> {
        let report = &mut self.report;
        let mut codes = Vec::with_capacity(rows.len());
        for row in rows {
            report.lines += 1;
            match row {
                Row::Code { line, code } => {
                    if self.shows && report.shown.len() < SHOWN_MAX {
                        report.shown.push(code.text().to_string());
                    }
                    codes.push(Read {
                        line,
                        fingerprint: Fingerprint::of(&self.keyring, code.canonical()),
                        code,
                    });
                }
                Row::Blank { .. } => report.blank += 1,
                Row::Malformed { line, reason } => {
                    report.malformed_count += 1;
                    report.refused |= !self.skips || reason.is_of_file();
                    if report.malformed.len() < LISTED_MAX {
                        report.malformed.push((line, reason.to_string()));
                    }
                }
            }
        }
        codes
    }

    /// Leaves out what the file or the store has already.
    async fn unknown(&mut self, codes: Vec<Read>) -> Result<Vec<(Fingerprint, CodeText)>, ImportError> {
        if codes.is_empty() {
            return Ok(vec![]);
        }
        let fingerprints: Vec<Fingerprint> = codes.iter().map(|read| read.fingerprint).collect();
        let store = Arc::clone(&self.store);
        let known =
            run_alone(async move { store.snapshot().await?.codes_known(&fingerprints).await }).await?;
        let known: HashMap<Fingerprint, KnownCode> = known.into_iter().map(|k| (k.fingerprint, k)).collect();
        let (mut seen, mut new) = (HashSet::new(), Vec::with_capacity(codes.len()));
        for Read { line, fingerprint, code } in codes {
            match known.get(&fingerprint) {
                _ if seen.contains(&fingerprint) || self.is_on_its_way(&fingerprint) => {
                    self.know(line, Known::RepeatedInFile);
                }
                Some(k) if k.batch.id == self.batch => self.know(line, Known::RepeatedInFile),
                Some(k) if self.is_sold(k)? => self.know(line, Known::AlreadySold(k.sku.clone())),
                Some(k) => self.know(line, Known::InStock(k.sku.clone())),
                None => {
                    seen.insert(fingerprint);
                    new.push((fingerprint, code));
                }
            }
        }
        Ok(new)
    }

    /// Whether the chunk before has it, which a look at the store may not see yet.
    fn is_on_its_way(&self, code: &Fingerprint) -> bool {
        self.storing.as_ref().is_some_and(|storing| storing.fingerprints.contains(code))
    }

    /// Counts and lists a code that is not new.
    fn know(&mut self, line: u64, known: Known) {
        let report = &mut self.report;
        match known {
            Known::RepeatedInFile => report.repeated_in_file += 1,
            Known::InStock(_) => report.in_stock += 1,
            Known::AlreadySold(_) => report.already_sold += 1,
        }
        if report.known.len() < LISTED_MAX {
            report.known.push((line, known));
        }
    }

    /// Whether a stored code has been given out: its place in the batch's order is below `issued`.
    fn is_sold(&self, known: &KnownCode) -> Result<bool, ImportError> {
        let Some(issued) = known.issued else { return Ok(false) };
        let batch = &known.batch;
        let place = match batch.pick {
            Pick::Fifo => Some(known.position),
            Pick::Random => {
                let secret = unwrap(&self.keyring, "batch", batch.id.uuid().as_bytes(), &batch.key)
                    .map_err(|e| ImportError::Keys(e.to_string()))?;
                BatchKeys::new(batch.id, &secret).permutation(batch.size).inverse(known.position)
            }
        };
        Ok(place.is_some_and(|place| place < issued))
    }

    fn seal(&self, first: i64, new: Vec<(Fingerprint, CodeText)>) -> Result<Vec<NewCode>, ImportError> {
        (first..)
            .zip(new)
            .map(|(position, (fingerprint, code))| {
                let sealed = self
                    .keys
                    .seal(position, code.canonical(), self.entropy.bytes())
                    .map_err(|e| ImportError::Keys(e.to_string()))?;
                Ok(NewCode { position, sealed, fingerprint })
            })
            .collect()
    }

    /// Stores a chunk in a task of its own.
    fn store(&self, codes: Vec<NewCode>) -> Storing {
        let (store, batch, (holder, purpose)) = (Arc::clone(&self.store), self.batch, self.lease.clone());
        let fingerprints = codes.iter().map(|code| code.fingerprint).collect();
        let task = tokio::spawn(run_alone(async move {
            let mut tx = store.begin().await?;
            if !still_ours(&mut *tx, holder, &purpose).await? {
                return Ok(false);
            }
            tx.codes_insert(batch, &codes).await?;
            commit("import-part", tx).await?;
            Ok(true)
        }));
        Storing { task, fingerprints }
    }
}
