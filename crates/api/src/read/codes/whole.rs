//! All codes of a batch, a stretch at a time: what an export is made of.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use tessera_model::ids::BatchId;
use tessera_model::import::CodeText;
use tessera_model::keys::Keyring;
use tessera_model::span::SpanKind;
use tessera_store::{Result, Store, run_alone};

use super::opener::Opener;

/// A code of a batch.
pub struct BatchCode {
    /// The code.
    pub code: CodeText,
    /// `unissued`, `issued` or `voided`.
    pub state: &'static str,
}

/// The codes at places `[from, upto)` of a batch, in the order in which it gives them out; fewer at its end.
///
/// # Errors
/// The store's; `Data` when a code does not open, or there is no such batch.
pub async fn batch_codes(
    store: &Arc<dyn Store>,
    keyring: &Arc<Keyring>,
    batch: BatchId,
    from: i64,
    upto: i64,
) -> Result<Vec<BatchCode>> {
    let (store, keyring) = (Arc::clone(store), Arc::clone(keyring));
    run_alone(async move {
        let mut tx = store.snapshot().await?;
        let Some(reading) = tx.batches_reading(&[batch]).await?.pop() else { return Ok(vec![]) };
        let opener = Opener::new(&keyring, &reading)?;
        let places: Vec<(BatchId, i64)> =
            (from..upto.min(reading.size)).map(|place| (batch, place)).collect();
        let stored: Vec<(BatchId, i64, i64)> = places
            .iter()
            .filter_map(|(b, place)| opener.stored_at(*place).map(|at| (*b, at, at + 1)))
            .collect();
        let read = if stored.is_empty() { vec![] } else { tx.codes_read(&stored).await? };
        let sealed: HashMap<i64, Vec<u8>> = read.into_iter().map(|(_, at, sealed)| (at, sealed)).collect();
        let voided: HashSet<i64> = tx.places_voided(&places).await?.into_iter().map(|v| v.place).collect();
        let covered: HashMap<i64, SpanKind> =
            tx.spans_at(&places).await?.into_iter().map(|span| (span.place, span.kind)).collect();
        let code = |place: i64| {
            let sealed = opener.stored_at(place).and_then(|at| sealed.get(&at)).map(Vec::as_slice);
            Ok(BatchCode {
                code: opener.code(place, sealed)?,
                state: state(covered.get(&place), voided.contains(&place)),
            })
        };
        places.iter().map(|(_, place)| code(*place)).collect()
    })
    .await
}

const fn state(covered: Option<&SpanKind>, voided: bool) -> &'static str {
    match covered {
        _ if voided => "voided",
        Some(SpanKind::Issue | SpanKind::Replacement) => "issued",
        Some(SpanKind::Void | SpanKind::Burn) => "voided",
        Some(SpanKind::Anchor) | None => "unissued",
    }
}
