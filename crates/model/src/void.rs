//! Voiding: codes of a batch that are never to be sold (again).
//!
//! What no order has is taken from sale, and what pending orders claim is kept for them unless that is forced. What an
//! order has stays with it, marked.

use crate::batch::{BatchState, OpenBatch};
use crate::product::Stock;
use crate::span::{Owner, Span, SpanKind};

/// Why nothing was voided. Display says what to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CannotVoid {
    /// No such batch.
    #[error("there is no such batch: list them with their ids first")]
    NoBatch,
    /// Its positions are shares.
    #[error("the batch is a round, whose shares are not voided: cancel the round")]
    Round,
    /// It has no rest.
    #[error("the batch is {}: only one that is open has a rest to void", .0.as_str())]
    NotOpen(BatchState),
    /// It is loading.
    #[error("the batch is still loading: wait until it is open")]
    Loading,
    /// It has no such position.
    #[error("the batch has no position {0}: give one below its size")]
    NoPosition(i64),
    /// That was done before.
    #[error("position {0} is void already: leave it out")]
    Void(i64),
    /// Orders would have to wait.
    #[error("pending orders claim {claimed} and {left} would be left: void less, or force it")]
    Claimed {
        /// What pending orders claim.
        claimed: i64,
        /// What would be left to give out.
        left: i64,
    },
}

/// What is known of a place that is to be voided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The batch's position, as operators call it.
    pub position: i64,
    /// The place in the batch's order.
    pub place: i64,
    /// What covers it, and whose it is; none when it was not given out.
    pub covered: Option<(SpanKind, Option<Owner>)>,
    /// Whether it was voided before.
    pub voided: bool,
}

/// Whether `less` codes may be taken from what is on the shelf.
fn spare(stock: Stock, less: i64, force: bool) -> Result<(), CannotVoid> {
    let left = stock.unissued.saturating_sub(less);
    match less > 0 && left < stock.claimed && !force {
        true => Err(CannotVoid::Claimed { claimed: stock.claimed, left: left.max(0) }),
        false => Ok(()),
    }
}

/// The span that voids the rest of an open batch, and how many codes that takes from sale.
///
/// # Errors
/// [`CannotVoid::Claimed`] unless it is forced.
pub fn rest(batch: &OpenBatch, stock: Stock, force: bool) -> Result<(Span, i64), CannotVoid> {
    let count = batch.unissued();
    spare(stock, count, force)?;
    let OpenBatch { id, size, issued, .. } = *batch;
    let span = Span { batch: id, start: issued, upto: size, size, kind: SpanKind::Void, owner: None };
    Ok((span, count))
}

/// Whether these places of a batch may be voided.
///
/// # Errors
/// The first that may not be, by name.
pub fn places(places: &[Place], stock: Stock, force: bool) -> Result<(), CannotVoid> {
    for place in places {
        let given = place.covered.map(|(kind, _)| kind);
        let is_void = matches!(given, Some(SpanKind::Void | SpanKind::Burn | SpanKind::Anchor));
        if place.voided || is_void {
            return Err(CannotVoid::Void(place.position));
        }
    }
    let unissued = places.iter().filter(|place| place.covered.is_none()).count();
    spare(stock, i64::try_from(unissued).unwrap_or(i64::MAX), force)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{BatchId, ProductId};
    use crate::time::Timestamp;

    const fn stock(unissued: i64, claimed: i64) -> Stock {
        Stock { unissued, claimed, endless: false }
    }

    fn batch(size: i64, issued: i64, voided: Vec<i64>) -> OpenBatch {
        let at = Timestamp::from_micros(1);
        let (id, product) = (BatchId::new(at, [1; 10]), ProductId::new(at, [2; 10]));
        OpenBatch { id, product, size, issued, voided }
    }

    #[test]
    fn the_rest_is_voided_once_and_what_was_void_in_it_is_counted_once() {
        let (span, count) = rest(&batch(10, 4, vec![5, 9]), stock(4, 0), false).unwrap();
        assert_eq!((span.start, span.upto, span.kind, count), (4, 10, SpanKind::Void, 4));
    }

    #[test]
    fn what_is_claimed_is_kept_unless_it_is_forced() {
        let batch = batch(10, 4, vec![]);
        assert!(rest(&batch, stock(9, 3), false).is_ok(), "another batch has what is claimed");
        let refused = rest(&batch, stock(9, 4), false);
        assert_eq!(refused, Err(CannotVoid::Claimed { claimed: 4, left: 3 }));
        assert!(rest(&batch, stock(9, 4), true).is_ok());
    }

    #[test]
    fn a_position_is_voided_once_issued_or_not() {
        let place = |covered, voided| Place { position: 7, place: 7, covered, voided };
        let owned = Some((SpanKind::Issue, None));
        assert_eq!(places(&[place(owned, false)], stock(0, 5), false), Ok(()), "it is nobody's claim");
        assert!(places(&[place(None, false)], stock(1, 1), false).is_err());
        assert_eq!(places(&[place(None, false)], stock(1, 1), true), Ok(()));
        for (covered, voided) in [(owned, true), (None, true), (Some((SpanKind::Void, None)), false)] {
            assert_eq!(places(&[place(covered, voided)], stock(9, 0), true), Err(CannotVoid::Void(7)));
        }
    }
}
