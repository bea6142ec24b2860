//! Replacing codes that do not work: the line gets others, the old ones stay with it, marked.

use std::collections::{BTreeMap, BTreeSet};

use crate::batch::OpenBatch;
use crate::ids::{BatchId, OrderId};
use crate::order::OrderStatus;
use crate::product::Stock;
use crate::span::{Owner, Span, SpanKind};

#[cfg(test)]
mod tests;

/// The most codes replaced at once.
pub const REPLACED_MAX: usize = 1_000;

/// Which codes of a line do not work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Faulty {
    /// The order.
    pub order: OrderId,
    /// The line's number.
    pub line: i32,
    /// Which of its codes, counted from 1 as buyers see them.
    pub positions: BTreeSet<i64>,
    /// Whether what others claim may be given.
    pub force: bool,
}

/// Codes that a line was given, in the order it was given them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// The batch.
    pub batch: BatchId,
    /// The first place.
    pub start: i64,
    /// The first place after it.
    pub upto: i64,
    /// Which part of the line it is.
    pub part: i32,
    /// Those of its places in whose place others stand.
    pub replaced: Vec<i64>,
}

/// What is done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Replaced {
    /// New links of the chains, in order.
    pub spans: Vec<Span>,
    /// Batches that moved, with where `issued` is now.
    pub advanced: BTreeMap<BatchId, i64>,
    /// The old codes, each with the part that stands in its place.
    pub old: Vec<(BatchId, i64, i32)>,
    /// The new codes' positions in the line, one for each old one.
    pub positions: Vec<i64>,
}

/// Why nothing was replaced. Display says what to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CannotReplace {
    /// No such order.
    #[error("there is no such order: find it by its code or its customer first")]
    NoOrder,
    /// It has no codes, or is to be paid back.
    #[error("the order is {0}: only the codes of one that is issued are replaced")]
    NotIssued(OrderStatus),
    /// It has no such line.
    #[error("the order has no line {0}: count them from 1")]
    NoLine(i32),
    /// The line has no such code.
    #[error("the line has no code {position}: it has {last}")]
    NoPosition {
        /// What was asked for.
        position: i64,
        /// How many it has.
        last: i64,
    },
    /// No code was named.
    #[error("no code was named: give at least one, and at most {REPLACED_MAX}")]
    Count,
    /// It was replaced before.
    #[error("code {0} was replaced before: replace the one that stands in its place")]
    Replaced(i64),
    /// A number is a share of its round.
    #[error("shares are final: the numbers of a raffle are not replaced")]
    Raffle,
    /// Nothing to give.
    #[error(
        "{left} codes are left that nobody claims, and {needed} are needed: import some, or refund the order"
    )]
    NoStock {
        /// What may be given.
        left: i64,
        /// What is needed.
        needed: i64,
    },
}

/// Decides which codes a line gets in the place of those that do not work.
///
/// # Errors
/// [`CannotReplace`] names the position or the number.
pub fn replace(
    faulty: &Faulty,
    held: &[Held],
    stock: Stock,
    batches: &mut [OpenBatch],
) -> Result<Replaced, CannotReplace> {
    let old = old_places(faulty, held)?;
    let needed = i64::try_from(old.len()).unwrap_or(i64::MAX);
    let left = if faulty.force { stock.unissued } else { stock.available() }.max(0);
    if left < needed {
        return Err(CannotReplace::NoStock { left, needed });
    }
    let mut replaced = Replaced::default();
    let mut part = held.iter().map(|span| span.part.saturating_add(1)).max().unwrap_or(0);
    let owner = Owner { order: faulty.order, line: faulty.line, part };
    let mut open = needed;
    for batch in batches {
        let given = batch.replace(open, owner, &mut part, &mut replaced.spans);
        if given > 0 {
            replaced.advanced.insert(batch.id, batch.issued);
        }
        open -= given;
    }
    if open > 0 {
        return Err(CannotReplace::NoStock { left: needed - open, needed });
    }
    let first = held.iter().map(|span| span.upto - span.start).sum::<i64>() + 1;
    replaced.positions = (first..first + needed).collect();
    replaced.old =
        old.into_iter().zip(parts(&replaced.spans)).map(|((b, place), part)| (b, place, part)).collect();
    Ok(replaced)
}

/// The part of each new code.
fn parts(spans: &[Span]) -> impl Iterator<Item = i32> {
    let given = spans.iter().filter(|span| span.kind == SpanKind::Replacement);
    given
        .filter_map(|span| Some((span.owner?.part, span.upto - span.start)))
        .flat_map(|(part, count)| (0..count).map(move |_| part))
}

fn old_places(faulty: &Faulty, held: &[Held]) -> Result<Vec<(BatchId, i64)>, CannotReplace> {
    if faulty.positions.is_empty() || faulty.positions.len() > REPLACED_MAX {
        return Err(CannotReplace::Count);
    }
    faulty.positions.iter().map(|position| old_place(*position, held)).collect()
}

fn old_place(position: i64, held: &[Held]) -> Result<(BatchId, i64), CannotReplace> {
    let mut before = 0;
    for span in held {
        let length = span.upto - span.start;
        if (before + 1..=before + length).contains(&position) {
            let place = span.start + position - before - 1;
            return match span.replaced.contains(&place) {
                true => Err(CannotReplace::Replaced(position)),
                false => Ok((span.batch, place)),
            };
        }
        before += length;
    }
    Err(CannotReplace::NoPosition { position, last: before })
}
