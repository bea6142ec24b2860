//! One chunk of rows: known codes are told apart, new ones sealed and stored.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use tessera_model::ids::BatchId;
use tessera_model::import::{CodeText, Row};
use tessera_model::keys::{BatchKeys, Fingerprint, Keyring, unwrap};
use tessera_model::product::Pick;
use tessera_store::batches::{KnownCode, NewCode};
use tessera_store::{Entropy, Store, commit, run_alone};

use super::open::still_ours;
use super::{ImportError, MALFORMED_LISTED_MAX, Report};

/// A batch that is loading.
pub(super) struct Loading {
    store: Arc<dyn Store>,
    keyring: Arc<Keyring>,
    entropy: Arc<Entropy>,
    batch: BatchId,
    keys: BatchKeys,
    lease: ([u8; 16], String),
    pub(super) report: Report,
}

impl Loading {
    pub(super) fn new(
        store: Arc<dyn Store>,
        keyring: Arc<Keyring>,
        entropy: Arc<Entropy>,
        (batch, keys): (BatchId, BatchKeys),
        lease: ([u8; 16], String),
    ) -> Self {
        Self { store, keyring, entropy, batch, keys, lease, report: Report::default() }
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
        self.store(sealed).await
    }

    /// Counts what is no code, and hands on the codes with their fingerprints.
    fn count(&mut self, rows: Vec<Row>) -> Vec<(Fingerprint, CodeText)> {
        let report = &mut self.report;
        let mut codes = Vec::with_capacity(rows.len());
        for row in rows {
            report.lines += 1;
            match row {
                Row::Code { code, .. } => {
                    codes.push((Fingerprint::of(&self.keyring, code.canonical()), code));
                }
                Row::Blank { .. } => report.blank += 1,
                Row::Malformed { line, reason } => {
                    report.malformed_count += 1;
                    if report.malformed.len() < MALFORMED_LISTED_MAX {
                        report.malformed.push((line, reason.to_string()));
                    }
                }
            }
        }
        codes
    }

    /// Leaves out what the file or the store has already.
    async fn unknown(
        &mut self,
        codes: Vec<(Fingerprint, CodeText)>,
    ) -> Result<Vec<(Fingerprint, CodeText)>, ImportError> {
        if codes.is_empty() {
            return Ok(codes);
        }
        let fingerprints: Vec<Fingerprint> = codes.iter().map(|(f, _)| *f).collect();
        let store = Arc::clone(&self.store);
        let known =
            run_alone(async move { store.snapshot().await?.codes_known(&fingerprints).await }).await?;
        let known: HashMap<Fingerprint, KnownCode> = known.into_iter().map(|k| (k.fingerprint, k)).collect();
        let (mut seen, mut new) = (HashSet::new(), Vec::with_capacity(codes.len()));
        for (fingerprint, code) in codes {
            match known.get(&fingerprint) {
                _ if seen.contains(&fingerprint) => self.report.repeated_in_file += 1,
                Some(k) if k.batch.id == self.batch => self.report.repeated_in_file += 1,
                Some(k) if self.is_sold(k)? => self.report.already_sold += 1,
                Some(_) => self.report.in_stock += 1,
                None => {
                    seen.insert(fingerprint);
                    new.push((fingerprint, code));
                }
            }
        }
        Ok(new)
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

    async fn store(&self, codes: Vec<NewCode>) -> Result<(), ImportError> {
        let (store, batch, (holder, purpose)) = (Arc::clone(&self.store), self.batch, self.lease.clone());
        let ours = run_alone(async move {
            let mut tx = store.begin().await?;
            if !still_ours(&mut *tx, holder, &purpose).await? {
                return Ok(false);
            }
            tx.codes_insert(batch, &codes).await?;
            commit("import-part", tx).await?;
            Ok(true)
        })
        .await?;
        if ours { Ok(()) } else { Err(ImportError::LeaseLost) }
    }
}
