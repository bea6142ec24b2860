//! Whose a code is.

use std::collections::BTreeMap;
use std::sync::Arc;

use tessera_model::ids::BatchId;
use tessera_model::import::CodeText;
use tessera_model::keys::{BatchKeys, Fingerprint, Keyring, Secret, WrappedKey, unwrap};
use tessera_model::product::Pick;
use tessera_model::span::{Owner, SpanKind};
use tessera_model::text::Sku;
use tessera_model::void::CannotVoid;
use tessera_store::batches::{BatchReading, CodeSource, KnownCode};
use tessera_store::coupons::StoredFormat;
use tessera_store::{Result, Store, StoreError, Tx, run_alone};

/// The most characters of a code that is looked for.
const CODE_CHARS_MAX: usize = 4_096;

/// Places where a code of several fields may have been joined; of more, only the first are tried.
const JOINTS_MAX: usize = 64;

/// A code of ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundCode {
    /// The product.
    pub sku: Sku,
    /// The batch.
    pub batch: BatchId,
    /// Where it is in the batch, from 0, as it came.
    pub position: i64,
    /// Where it is in the order in which the batch gives codes out.
    pub place: i64,
    /// What became of it.
    pub state: CodeState,
    /// Whose it is, or was.
    pub owner: Option<Owner>,
}

/// What became of a code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeState {
    /// It is being imported.
    Loading,
    /// Nobody has it.
    Unissued,
    /// An order has it.
    Issued,
    /// An order had it, and has another in its place.
    Replaced,
    /// It is never to be sold (again).
    Voided,
}

impl CodeState {
    /// The word in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Loading => "loading",
            Self::Unissued => "unissued",
            Self::Issued => "issued",
            Self::Replaced => "replaced",
            Self::Voided => "voided",
        }
    }
}

/// The code as it is shown, if it is ours: its product, batch and order.
///
/// # Errors
/// The store's; `Data` when a batch's key does not open.
pub async fn find(store: &Arc<dyn Store>, keyring: &Arc<Keyring>, text: &str) -> Result<Option<FoundCode>> {
    let fingerprints: Vec<Fingerprint> =
        written(text).iter().map(|code| Fingerprint::of(keyring, code.canonical())).collect();
    let text: String = text.chars().take(CODE_CHARS_MAX).collect();
    let (store, keyring) = (Arc::clone(store), Arc::clone(keyring));
    run_alone(async move {
        let mut tx = store.snapshot().await?;
        let found = match tx.codes_known(&fingerprints).await?.pop() {
            Some(known) => Some(stored(&keyring, known)?),
            None => computed(&mut *tx, &keyring, &text).await?,
        };
        match found {
            Some(found) if found.state == CodeState::Unissued => covered(&mut *tx, found).await.map(Some),
            other => Ok(other),
        }
    })
    .await
}

/// A code of an imported file.
fn stored(keyring: &Keyring, known: KnownCode) -> Result<FoundCode> {
    let KnownCode { sku, position, issued, batch, .. } = known;
    let place = place_of(keyring, &batch, position)?;
    let state = if issued.is_some() { CodeState::Unissued } else { CodeState::Loading };
    Ok(FoundCode { sku, batch: batch.id, position, place, state, owner: None })
}

/// A code of a pool, as somebody types it. Formats are told apart when they are made: at most one reads it.
async fn computed(tx: &mut dyn Tx, keyring: &Keyring, text: &str) -> Result<Option<FoundCode>> {
    let mut at = None;
    for StoredFormat { format, key, .. } in tx.formats_read().await? {
        let secret = opened(keyring, "coupon_format", format.as_str().as_bytes(), &key)?;
        at = at.or_else(|| format.index(&format.order(&secret), text).map(|index| (format.clone(), index)));
    }
    let Some(at) = at else { return Ok(None) };
    let Some(pool) = tx.pools_at(&[at]).await?.pop() else { return Ok(None) };
    let product = tx.products_read(&[pool.product]).await?.pop();
    let sku = product.ok_or_else(|| StoreError::inconsistent("pool", "batch"))?.rules.sku;
    let (position, state) = (pool.position, CodeState::Unissued);
    Ok(Some(FoundCode { sku, batch: pool.batch.id, position, place: position, state, owner: None }))
}

fn opened(keyring: &Keyring, table: &str, id: &[u8], key: &WrappedKey) -> Result<Secret> {
    unwrap(keyring, table, id, key).map_err(|e| StoreError::Data(e.to_string()))
}

/// How a text may be written as a code: as one field, or as fields that were joined by a space when it was shown.
fn written(text: &str) -> Vec<CodeText> {
    let text: String = text.chars().take(CODE_CHARS_MAX).collect();
    let joints = || text.match_indices(' ').map(|(at, _)| at).take(JOINTS_MAX);
    let split = |at: usize| format!("{}\u{1f}{}", &text[..at], &text[at + 1..]);
    let all = joints().next().map(|_| text.replace(' ', "\u{1f}"));
    let texts = std::iter::once(text.clone()).chain(joints().map(split)).chain(all);
    texts.filter_map(|text| CodeText::from_canonical(text.into_bytes()).ok()).collect()
}

/// Where a position is in the order in which its batch gives codes out.
fn place_of(keyring: &Keyring, batch: &BatchReading, position: i64) -> Result<i64> {
    let place = match (&batch.source, batch.pick) {
        (CodeSource::Stored, Pick::Random) => {
            let secret = opened(keyring, "batch", batch.id.uuid().as_bytes(), &batch.key)?;
            BatchKeys::new(batch.id, &secret).permutation(batch.size).inverse(position)
        }
        // What is computed is shuffled as it is computed.
        (CodeSource::Stored, Pick::Fifo) | (CodeSource::Pool { .. } | CodeSource::Round { .. }, _) => {
            Some(position)
        }
    };
    place.ok_or_else(|| StoreError::inconsistent("code", "position"))
}

async fn covered(tx: &mut dyn Tx, found: FoundCode) -> Result<FoundCode> {
    let at = [(found.batch, found.place)];
    let span = tx.spans_at(&at).await?.pop();
    let voided = tx.places_voided(&at).await?.pop();
    let state = match (&voided, span.map(|span| span.kind)) {
        (Some(voided), _) if voided.part.is_some() => CodeState::Replaced,
        (Some(_), _) | (None, Some(SpanKind::Void | SpanKind::Burn)) => CodeState::Voided,
        (None, Some(SpanKind::Issue | SpanKind::Replacement)) => CodeState::Issued,
        (None, Some(SpanKind::Anchor) | None) => CodeState::Unissued,
    };
    Ok(FoundCode { state, owner: span.and_then(|span| span.owner), ..found })
}

/// The places of positions of a batch, by position.
pub(super) async fn places(
    store: &Arc<dyn Store>,
    keyring: &Arc<Keyring>,
    batch: BatchId,
    positions: Vec<i64>,
) -> Result<std::result::Result<BTreeMap<i64, i64>, CannotVoid>> {
    let (store, keyring) = (Arc::clone(store), Arc::clone(keyring));
    run_alone(async move {
        let Some(batch) = store.snapshot().await?.batches_reading(&[batch]).await?.pop() else {
            return Ok(Err(CannotVoid::NoBatch));
        };
        if let Some(position) = positions.iter().find(|position| !(0..batch.size).contains(*position)) {
            return Ok(Err(CannotVoid::NoPosition(*position)));
        }
        let placed = positions.iter().map(|position| Ok((*position, place_of(&keyring, &batch, *position)?)));
        placed.collect::<Result<_>>().map(Ok)
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_looked_for_in_every_way_it_may_have_been_joined() {
        let fields = |text: &str| -> Vec<Vec<String>> {
            written(text).iter().map(|code| code.fields().map(str::to_owned).collect()).collect()
        };
        assert_eq!(fields("AAAA"), [["AAAA"]]);
        assert_eq!(fields("a b c"), [vec!["a b c"], vec!["a", "b c"], vec!["a b", "c"], vec!["a", "b", "c"]]);
        assert!(fields("").is_empty());
        assert!(fields(&"x ".repeat(5_000)).len() < 70, "a long text costs no more than a short one");
    }
}
