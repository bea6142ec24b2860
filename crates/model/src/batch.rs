//! Batches: codes that came together and are given out along one chain of spans.

use crate::ids::{BatchId, OrderId, ProductId};
use crate::span::{Owner, Span, SpanKind};

/// Where a batch is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BatchState {
    /// Being written; invisible to everyone.
    Loading,
    /// On sale.
    Open,
    /// Nothing more to give: its last code was issued, or its rest voided.
    Closed,
}

impl BatchState {
    /// The word in SQL and JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Loading => "loading",
            Self::Open => "open",
            Self::Closed => "closed",
        }
    }

    /// Reads the word.
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Loading, Self::Open, Self::Closed].into_iter().find(|s| s.as_str() == text)
    }
}

/// An open batch as the issuer sees it: locked, to be advanced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenBatch {
    /// Its id.
    pub id: BatchId,
    /// Whose codes these are.
    pub product: ProductId,
    /// How many positions it has; never changes.
    pub size: i64,
    /// The first position that no span covers.
    pub issued: i64,
    /// Voided positions at or above `issued`, ascending.
    pub voided: Vec<i64>,
}

impl OpenBatch {
    /// Codes it can still give out.
    pub fn unissued(&self) -> i64 {
        let voided = i64::try_from(self.voided.len()).unwrap_or(i64::MAX);
        self.size.saturating_sub(self.issued).saturating_sub(voided)
    }

    /// Takes up to `quantity` codes for a line, stepping around voided positions with void spans.
    ///
    /// Returns how many it gave; `part` is moved past each issue span written.
    pub fn take(
        &mut self,
        quantity: i64,
        order: OrderId,
        line: i32,
        part: &mut i32,
        spans: &mut Vec<Span>,
    ) -> i64 {
        self.give(SpanKind::Issue, quantity, Owner { order, line, part: *part }, part, spans)
    }

    /// As [`OpenBatch::take`], in the place of codes that do not work.
    pub fn replace(&mut self, quantity: i64, owner: Owner, part: &mut i32, spans: &mut Vec<Span>) -> i64 {
        self.give(SpanKind::Replacement, quantity, owner, part, spans)
    }

    /// Burns every position before `upto` that is neither given out nor voided.
    pub fn burn(&mut self, upto: i64, spans: &mut Vec<Span>) {
        let upto = upto.min(self.size);
        while self.issued < upto {
            self.step_over_voided(spans);
            let end = self.voided.first().copied().unwrap_or(self.size).min(upto);
            if end > self.issued {
                self.cover(end, SpanKind::Burn, None, spans);
            }
        }
    }

    /// Where `count` more codes that can be given out end.
    pub fn after(&self, count: i64) -> i64 {
        let end = self.issued.saturating_add(count);
        self.voided.iter().fold(end, |end, voided| if *voided < end { end.saturating_add(1) } else { end })
    }

    fn give(
        &mut self,
        kind: SpanKind,
        quantity: i64,
        owner: Owner,
        part: &mut i32,
        spans: &mut Vec<Span>,
    ) -> i64 {
        let mut given = 0;
        while given < quantity && self.unissued() > 0 {
            self.step_over_voided(spans);
            let end = self.voided.first().copied().unwrap_or(self.size);
            let upto = end.min(self.issued.saturating_add(quantity - given));
            given += upto - self.issued;
            let owner = Owner { part: *part, ..owner };
            *part += 1;
            self.cover(upto, kind, Some(owner), spans);
        }
        given
    }

    fn step_over_voided(&mut self, spans: &mut Vec<Span>) {
        let run = (self.issued..).zip(&self.voided).take_while(|(want, got)| want == *got).count();
        if run > 0 {
            self.voided.drain(..run);
            let upto = self.issued.saturating_add(i64::try_from(run).unwrap_or(i64::MAX));
            self.cover(upto, SpanKind::Void, None, spans);
        }
    }

    fn cover(&mut self, upto: i64, kind: SpanKind, owner: Option<Owner>, spans: &mut Vec<Span>) {
        spans.push(Span { batch: self.id, start: self.issued, upto, size: self.size, kind, owner });
        self.issued = upto;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Timestamp;
    use proptest::prelude::*;

    fn batch(size: i64, voided: Vec<i64>) -> OpenBatch {
        let at = Timestamp::from_micros(1);
        let id = BatchId::new(at, [1; 10]);
        OpenBatch { id, product: ProductId::new(at, [2; 10]), size, issued: 0, voided }
    }

    proptest! {
        #[test]
        fn spans_form_a_chain_that_issues_each_good_position_once(
            size in 1_i64..60,
            voided in proptest::collection::btree_set(0_i64..60, 0..12),
            wants in proptest::collection::vec(1_i64..20, 1..12),
        ) {
            let voided: Vec<i64> = voided.into_iter().filter(|v| *v < size).collect();
            let mut batch = batch(size, voided.clone());
            let order = OrderId::new(Timestamp::from_micros(1), [3; 10]);
            let good = size - i64::try_from(voided.len()).unwrap();
            let (mut spans, mut part, mut given) = (vec![], 0, 0);
            for want in wants {
                let got = batch.take(want, order, 1, &mut part, &mut spans);
                prop_assert_eq!(got, want.min(good - given));
                given += got;
            }
            let mut at = 0;
            for (n, span) in spans.iter().enumerate() {
                prop_assert_eq!(span.start, at, "no gap, no overlap");
                prop_assert!(span.upto > span.start && span.upto <= size);
                for position in span.start..span.upto {
                    prop_assert_eq!(span.kind == SpanKind::Void, voided.contains(&position), "{}", n);
                }
                at = span.upto;
            }
            prop_assert_eq!(at, batch.issued);
            let parts: Vec<i32> = spans.iter().filter_map(|s| s.owner.map(|o| o.part)).collect();
            prop_assert_eq!(parts, (0..part).collect::<Vec<_>>());
        }

        #[test]
        fn a_count_of_codes_steps_over_what_is_voided(
            voided in proptest::collection::btree_set(0_i64..40, 0..12),
            count in 0_i64..20,
        ) {
            let mut batch = batch(60, voided.into_iter().collect());
            let mut spans = vec![];
            batch.burn(batch.after(count), &mut spans);
            let burned = spans.iter().filter(|s| s.kind == SpanKind::Burn).map(|s| s.upto - s.start);
            prop_assert_eq!(burned.sum::<i64>(), count);
        }

        #[test]
        fn burning_covers_each_good_position_before_its_end_and_no_other(
            size in 1_i64..40,
            voided in proptest::collection::btree_set(0_i64..40, 0..12),
            upto in 0_i64..50,
        ) {
            let voided: Vec<i64> = voided.into_iter().filter(|v| *v < size).collect();
            let mut batch = batch(size, voided.clone());
            let mut spans = vec![];
            batch.burn(upto, &mut spans);
            let burned: Vec<i64> =
                spans.iter().filter(|s| s.kind == SpanKind::Burn).flat_map(|s| s.start..s.upto).collect();
            let good: Vec<i64> = (0..upto.min(size)).filter(|at| !voided.contains(at)).collect();
            prop_assert_eq!(burned, good);
            let ends: Vec<i64> = spans.iter().map(|s| s.upto).collect();
            let starts: Vec<i64> = spans.iter().map(|s| s.start).collect();
            prop_assert_eq!(starts, [0].into_iter().chain(ends).take(spans.len()).collect::<Vec<_>>());
        }
    }
}
