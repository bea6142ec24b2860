//! What an issuer has seen of its store.

use std::collections::{HashMap, HashSet};

use tessera_model::ids::BatchId;
use tessera_store::StoreMeta;

/// The most batches whose marks an issuer keeps: those that moved last.
pub const MARKS_MAX: usize = 256;

/// What an issuer sees of its own set: the state after it, and how far it has given out batches.
pub type Committed = (Copy, Vec<(BatchId, i64)>);

/// A state of the store: which copy, after which issuing set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copy {
    /// The generation.
    pub generation: [u8; 16],
    /// The count of issuing sets.
    pub sets: i64,
}

impl From<StoreMeta> for Copy {
    fn from(meta: StoreMeta) -> Self {
        Self { generation: meta.generation, sets: meta.sets }
    }
}

/// A state of the store, and how far batches were given out in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The state.
    pub copy: Copy,
    /// The first position of each batch that was not given out, at most [`MARKS_MAX`] of them; what moved last stands last.
    marks: Vec<(BatchId, i64)>,
}

impl Seen {
    /// A state with these marks.
    pub fn of(copy: Copy, marks: &[(BatchId, i64)]) -> Self {
        let mut seen = Self { copy, marks: vec![] };
        seen.moved(marks);
        seen
    }

    /// How far batches were given out.
    pub fn marks(&self) -> &[(BatchId, i64)] {
        &self.marks
    }

    /// Whether batches that were given out may have no mark, being too many.
    pub fn is_full(&self) -> bool {
        self.marks.len() >= MARKS_MAX
    }

    /// The batches of the marks.
    pub fn batches(&self) -> impl Iterator<Item = BatchId> + '_ {
        self.marks.iter().map(|(batch, _)| *batch)
    }

    /// Moves marks, never back; of too many, those that moved first are forgotten.
    pub fn moved(&mut self, marks: &[(BatchId, i64)]) {
        for (batch, upto) in marks {
            let place = self.marks.iter().position(|(known, _)| known == batch);
            let known = place.map_or(0, |place| self.marks.remove(place).1);
            self.marks.push((*batch, known.max(*upto)));
        }
        self.marks.drain(..self.marks.len().saturating_sub(MARKS_MAX));
    }

    /// What an issuer has seen after sets of its own; nothing when they did nothing.
    pub(crate) fn after<'s>(seen: Option<&Self>, sets: impl Iterator<Item = &'s Committed>) -> Option<Self> {
        let mut now: Option<Self> = None;
        for (copy, marks) in sets {
            let now = now.get_or_insert_with(|| seen.cloned().unwrap_or_else(|| Self::of(*copy, &[])));
            now.copy = *copy;
            now.moved(marks);
        }
        now
    }

    /// What it has seen when its batches are given out so far, and others are, too; those that did not move go first when there
    /// are too many.
    pub(super) fn went_on(copy: Copy, issued: &HashMap<BatchId, i64>, seen: &[Self]) -> Self {
        let own = seen.iter().flat_map(|seen| &seen.marks).filter_map(|(batch, upto)| {
            let issued = *issued.get(batch)?;
            Some((issued > *upto, *batch, issued))
        });
        let (mut rest, mut moved) = (vec![], vec![]);
        for (is_moved, batch, upto) in own {
            if is_moved { moved.push((batch, upto)) } else { rest.push((batch, upto)) }
        }
        let known: HashSet<BatchId> = rest.iter().chain(&moved).map(|(batch, _)| *batch).collect();
        let others = issued.iter().filter(|(batch, _)| !known.contains(batch));
        rest.extend(others.map(|(batch, upto)| (*batch, *upto)));
        rest.extend(moved);
        Self::of(copy, &rest)
    }

    /// Whether it has seen more than a store with this count and these batches has. Those that a recovered copy does not
    /// know were lost, and said to be.
    pub(super) fn is_ahead_of(&self, sets: i64, issued: &HashMap<BatchId, i64>, recovered: bool) -> bool {
        let further =
            |(batch, upto): &(BatchId, i64)| issued.get(batch).map_or(!recovered, |issued| upto > issued);
        (!recovered && self.copy.sets > sets) || self.marks.iter().any(further)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tessera_model::time::Timestamp;

    fn batch(n: u8) -> BatchId {
        BatchId::new(Timestamp::from_micros(1), [n; 10])
    }

    fn seen(sets: i64, marks: &[(u8, i64)]) -> Seen {
        let copy = Copy { generation: [1; 16], sets };
        Seen::of(copy, &marks.iter().map(|(n, upto)| (batch(*n), *upto)).collect::<Vec<_>>())
    }

    fn ahead(known: &Seen, sets: i64, batches: &[(u8, i64)], recovered: bool) -> bool {
        known.is_ahead_of(sets, &batches.iter().map(|(n, upto)| (batch(*n), *upto)).collect(), recovered)
    }

    #[test]
    fn a_store_with_a_lower_count_or_mark_was_seen_ahead_of() {
        let known = seen(7, &[(1, 30), (2, 5)]);
        assert!(!ahead(&known, 7, &[(2, 5), (1, 30)], false));
        assert!(!ahead(&known, 9, &[(1, 31), (2, 5), (3, 1)], false));
        assert!(ahead(&known, 6, &[(1, 30), (2, 5)], false));
        assert!(ahead(&known, 9, &[(1, 29), (2, 5)], false), "others went on with an older copy");
        assert!(ahead(&known, 9, &[(1, 30)], false), "a batch is gone");
    }

    #[test]
    fn a_recovered_copy_has_burned_what_was_seen_of_the_batches_it_knows() {
        let known = seen(7, &[(1, 30), (2, 5)]);
        assert!(!ahead(&known, 3, &[(1, 30)], true));
        assert!(ahead(&known, 3, &[(1, 29)], true), "recovered elsewhere, with too few burned");
        assert!(ahead(&known, 3, &[(1, 30), (2, 0)], true), "nothing burned of one");
    }

    #[test]
    fn a_batch_that_moves_pushes_out_one_that_does_not() {
        let at =
            |n: usize| BatchId::new(Timestamp::from_micros(2_000 * i64::try_from(n + 1).unwrap()), [1; 10]);
        let full: Vec<_> = (0..MARKS_MAX).map(|n| (at(n), 5)).collect();
        let known = Seen::of(Copy { generation: [1; 16], sets: 1 }, &full);
        let mut issued: HashMap<_, _> = full.iter().copied().collect();
        issued.insert(at(0), 6);
        issued.insert(at(MARKS_MAX), 1);
        let now = Seen::went_on(known.copy, &issued, &[known.clone(), known]);
        assert!(now.is_full() && now.marks().len() == MARKS_MAX);
        assert_eq!(now.marks()[MARKS_MAX - 2..], [(at(MARKS_MAX), 1), (at(0), 6)]);
    }

    #[test]
    fn the_marks_that_moved_first_are_forgotten_first() {
        let mut known = seen(1, &[(1, 1), (2, 1)]);
        let many: Vec<_> = (0..MARKS_MAX - 1)
            .map(|n| {
                (BatchId::new(Timestamp::from_micros(2_000 * i64::try_from(n + 1).unwrap()), [1; 10]), 1)
            })
            .collect();
        known.moved(&[(batch(1), 2)]);
        known.moved(&many);
        assert_eq!(known.marks().len(), MARKS_MAX);
        assert_eq!(known.marks()[0], (batch(1), 2));
    }
}
