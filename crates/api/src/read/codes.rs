//! Codes of issued orders: spans to positions, positions to sealed codes, opened.

use std::collections::HashMap;
use std::sync::Arc;

use super::marks::{CodeMark, marked, marks};
use tessera_model::ids::{BatchId, OrderId};
use tessera_model::import::CodeText;
use tessera_model::keys::{BatchKeys, Keyring, Sealed, unwrap};
use tessera_model::permutation::Permutation;
use tessera_model::product::Pick;
use tessera_store::batches::{BatchReading, IssuedSpan};
use tessera_store::{Result, Store, StoreError, Tx, run_alone};

/// A code that an order has.
#[derive(Clone, PartialEq, Eq)]
pub struct IssuedCode {
    /// The line it belongs to.
    pub line: i32,
    /// Its place within the line, from 1.
    pub position: i64,
    /// The code, as it is shown.
    pub text: String,
    /// Whether it is good, as far as we know.
    pub state: CodeMark,
}

impl std::fmt::Debug for IssuedCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "IssuedCode({}/{})", self.line, self.position)
    }
}

/// A stretch of an order's codes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodePage {
    /// The codes, by line and position.
    pub codes: Vec<IssuedCode>,
    /// How many the order has.
    pub total: i64,
}

/// The spot of one code: where it is shown, and where it is stored.
struct Spot {
    line: i32,
    shown: i64,
    batch: BatchId,
    stored: i64,
}

/// The keys of a batch, and its order if that is not the stored one.
struct Opener {
    keys: BatchKeys,
    order: Option<Permutation>,
}

/// Codes `skip + 1` to `skip + take` of one order. Loads nothing else.
///
/// # Errors
/// The store's; `Data` when a code does not open.
pub async fn code_page(
    store: &Arc<dyn Store>,
    keyring: &Arc<Keyring>,
    order: OrderId,
    skip: i64,
    take: i64,
) -> Result<CodePage> {
    let (store, keyring) = (Arc::clone(store), Arc::clone(keyring));
    run_alone(async move {
        let mut tx = store.snapshot().await?;
        let spans = tx.spans_of(&[order]).await?;
        let total = spans.iter().map(|s| s.upto - s.start).sum();
        let codes = read(&mut *tx, &keyring, &spans, skip, take).await?;
        Ok(CodePage { codes: codes.into_values().flatten().collect(), total })
    })
    .await
}

/// Codes `skip + 1` to `skip + take` of each order in `spans`, which are sorted by order, line and part.
pub(super) async fn read(
    tx: &mut dyn Tx,
    keyring: &Keyring,
    spans: &[IssuedSpan],
    skip: i64,
    take: i64,
) -> Result<HashMap<OrderId, Vec<IssuedCode>>> {
    let openers = openers(keyring, spans)?;
    let spots = spots(spans, &openers, skip, take);
    let ranges = ranges(spots.values().flatten());
    let sealed: HashMap<(BatchId, i64), Sealed> =
        tx.codes_read(&ranges).await?.into_iter().map(|(batch, at, sealed)| ((batch, at), sealed)).collect();
    let marks = marks(spans);
    spots
        .into_iter()
        .map(|(order, spots)| {
            let open = |spot: Spot| open(&spot, &openers, &sealed).map(|code| marked(code, order, &marks));
            Ok((order, spots.into_iter().map(open).collect::<Result<_>>()?))
        })
        .collect()
}

fn openers(keyring: &Keyring, spans: &[IssuedSpan]) -> Result<HashMap<BatchId, Opener>> {
    let mut openers = HashMap::new();
    for BatchReading { id, size, pick, key, .. } in spans.iter().map(|s| &s.batch) {
        if openers.contains_key(id) {
            continue;
        }
        let secret = unwrap(keyring, "batch", id.uuid().as_bytes(), key)
            .map_err(|e| StoreError::Data(e.to_string()))?;
        let keys = BatchKeys::new(*id, &secret);
        let order = match pick {
            Pick::Fifo => None,
            Pick::Random => Some(keys.permutation(*size)),
        };
        openers.insert(*id, Opener { keys, order });
    }
    Ok(openers)
}

fn spots(
    spans: &[IssuedSpan],
    openers: &HashMap<BatchId, Opener>,
    skip: i64,
    take: i64,
) -> HashMap<OrderId, Vec<Spot>> {
    let mut spots: HashMap<OrderId, Vec<Spot>> = HashMap::new();
    // How many codes of an order, and of the line at hand, stand before the next span.
    let mut before: HashMap<OrderId, (i64, i32, i64)> = HashMap::new();
    for span in spans {
        let (of_order, line, of_line) = before.entry(span.owner.order).or_insert((0, 0, 0));
        if *line != span.owner.line {
            (*line, *of_line) = (span.owner.line, 0);
        }
        let length = span.upto - span.start;
        let from = (skip - *of_order).clamp(0, length);
        let upto = (skip.saturating_add(take) - *of_order).clamp(from, length);
        let opener = openers.get(&span.batch.id);
        let stored = |at: i64| match opener.and_then(|o| o.order.as_ref()) {
            Some(order) => order.of(at).unwrap_or(at),
            None => at,
        };
        spots.entry(span.owner.order).or_default().extend((from..upto).map(|n| Spot {
            line: span.owner.line,
            shown: *of_line + n + 1,
            batch: span.batch.id,
            stored: stored(span.start + n),
        }));
        *of_order += length;
        *of_line += length;
    }
    spots
}

/// Neighbours are read together.
fn ranges<'p>(spots: impl Iterator<Item = &'p Spot>) -> Vec<(BatchId, i64, i64)> {
    let mut ranges: Vec<(BatchId, i64, i64)> = vec![];
    for spot in spots {
        match ranges.last_mut() {
            Some((batch, _, upto)) if *batch == spot.batch && *upto == spot.stored => *upto += 1,
            _ => ranges.push((spot.batch, spot.stored, spot.stored + 1)),
        }
    }
    ranges
}

fn open(
    spot: &Spot,
    openers: &HashMap<BatchId, Opener>,
    sealed: &HashMap<(BatchId, i64), Sealed>,
) -> Result<IssuedCode> {
    let lost = || StoreError::inconsistent("code", "sealed");
    let opener = openers.get(&spot.batch).ok_or_else(lost)?;
    let sealed = sealed.get(&(spot.batch, spot.stored)).ok_or_else(lost)?;
    let bytes = opener.keys.open(spot.stored, sealed).map_err(|_| lost())?;
    let code = CodeText::from_canonical(bytes).map_err(|_| lost())?;
    Ok(IssuedCode {
        line: spot.line,
        position: spot.shown,
        text: code.text().to_string(),
        state: CodeMark::Issued,
    })
}
