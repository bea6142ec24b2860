//! Codes of issued orders: spans to positions, positions to sealed codes, opened.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use super::marks::{CodeMark, marked, marks};
use tessera_model::ids::{BatchId, OrderId};
use tessera_model::keys::{Keyring, Sealed};
use tessera_store::batches::IssuedSpan;
use tessera_store::{Result, Store, StoreError, Tx, run_alone};

mod opener;
mod whole;

pub use whole::{BatchCode, batch_codes};

use opener::Opener;

type Openers = HashMap<BatchId, Opener>;

/// A code that an order has.
#[derive(Clone, PartialEq, Eq)]
pub struct IssuedCode {
    /// The line it belongs to.
    pub line: i32,
    /// Its place within the line, from 1.
    pub position: i64,
    /// The code, as it is shown.
    pub text: String,
    /// The round it is a number of.
    pub round: Option<BatchId>,
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

/// The spot of one code: where it is shown, and where it is in its batch.
struct Spot {
    line: i32,
    shown: i64,
    batch: BatchId,
    position: i64,
    stored: Option<i64>,
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
    // Codes that are computed are not read.
    let read = if ranges.is_empty() { vec![] } else { tx.codes_read(&ranges).await? };
    let sealed: HashMap<(BatchId, i64), Sealed> =
        read.into_iter().map(|(batch, at, sealed)| ((batch, at), sealed)).collect();
    let marks = marks(spans);
    spots
        .into_iter()
        .map(|(order, spots)| {
            let open = |spot: Spot| open(&spot, &openers, &sealed).map(|code| marked(code, order, &marks));
            Ok((order, spots.into_iter().map(open).collect::<Result<_>>()?))
        })
        .collect()
}

fn openers(keyring: &Keyring, spans: &[IssuedSpan]) -> Result<Openers> {
    let mut openers = HashMap::new();
    for batch in spans.iter().map(|s| &s.batch) {
        if let Entry::Vacant(place) = openers.entry(batch.id) {
            place.insert(Opener::new(keyring, batch)?);
        }
    }
    Ok(openers)
}

fn spots(spans: &[IssuedSpan], openers: &Openers, skip: i64, take: i64) -> HashMap<OrderId, Vec<Spot>> {
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
        spots.entry(span.owner.order).or_default().extend((from..upto).map(|n| Spot {
            line: span.owner.line,
            shown: *of_line + n + 1,
            batch: span.batch.id,
            position: span.start + n,
            stored: opener.and_then(|opener| opener.stored_at(span.start + n)),
        }));
        *of_order += length;
        *of_line += length;
    }
    spots
}

/// Neighbours are read together.
fn ranges<'p>(spots: impl Iterator<Item = &'p Spot>) -> Vec<(BatchId, i64, i64)> {
    let mut ranges: Vec<(BatchId, i64, i64)> = vec![];
    for (spot, stored) in spots.filter_map(|spot| Some((spot, spot.stored?))) {
        match ranges.last_mut() {
            Some((batch, _, upto)) if *batch == spot.batch && *upto == stored => *upto += 1,
            _ => ranges.push((spot.batch, stored, stored + 1)),
        }
    }
    ranges
}

fn open(spot: &Spot, openers: &Openers, sealed: &HashMap<(BatchId, i64), Sealed>) -> Result<IssuedCode> {
    let opener = openers.get(&spot.batch).ok_or_else(|| StoreError::inconsistent("code", "sealed"))?;
    let sealed = spot.stored.and_then(|stored| sealed.get(&(spot.batch, stored)));
    Ok(IssuedCode {
        line: spot.line,
        position: spot.shown,
        text: opener.text(spot.position, sealed.map(Vec::as_slice))?,
        round: opener.is_round().then_some(spot.batch),
        state: CodeMark::Issued,
    })
}
