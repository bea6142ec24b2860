//! A raffle while a set is decided: its round, and the rounds that follow.

use super::{NewRound, OpenRound};
use crate::batch::OpenBatch;
use crate::ids::{BatchId, OrderId, ProductId};
use crate::keys::Secret;
use crate::product::Raffle;
use crate::span::Span;
use crate::text::Sku;

/// A raffle under its stock's lock.
pub struct RaffleRoom {
    /// The raffle.
    pub product: ProductId,
    /// Its sku.
    pub sku: Sku,
    /// What is said of it now.
    pub raffle: Raffle,
    /// Whether another round may open.
    pub active: bool,
    /// Its own key.
    pub secret: Secret,
    /// The highest number of its rounds; 0 before the first.
    pub last: i64,
    /// The round on sale; none when it is over.
    pub round: Option<OpenRound>,
    /// Ids for the rounds that a set opens.
    pub ids: Box<dyn FnMut() -> BatchId + Send>,
}

/// Whether a raffle has as many shares as an order wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit {
    /// It has; this many rounds open for it.
    Fits(usize),
    /// It is over before that.
    Over,
}

/// A round that a set moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turned {
    /// Of the shares sold so far.
    pub digest: [u8; 32],
    /// Whether its last share is sold.
    pub full: bool,
}

/// What settling a raffle came to. Both are to be written, the spent round first: one is on sale at a time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settled {
    /// The round that was on sale, with nothing left.
    pub spent: Option<(BatchId, Turned)>,
    /// The one that follows.
    pub opened: Option<NewRound>,
}

impl OpenRound {
    /// What the round is turned into when nothing of it is left, sold or burned; none while something is.
    pub fn spent(&self) -> Option<(BatchId, Turned)> {
        let turned = Turned { digest: self.digest, full: true };
        (self.batch.unissued() == 0).then_some((self.batch.id, turned))
    }
}

impl RaffleRoom {
    /// Whether a round follows the last one there is.
    pub fn goes_on(&self) -> bool {
        self.active && self.raffle.goes_on_after(self.last)
    }

    /// Whether orders claim: no round follows, so what is left is like stock.
    pub fn claims(&self) -> bool {
        !self.goes_on()
    }

    /// Takes a round that has nothing left from sale, and opens the next where none is on sale.
    pub fn settle(&mut self) -> Settled {
        let spent = self.round.as_ref().and_then(OpenRound::spent);
        if self.round.is_some() && spent.is_none() {
            return Settled::default();
        }
        self.round = None;
        Settled { spent, opened: self.goes_on().then(|| self.open()) }
    }

    fn open(&mut self) -> NewRound {
        self.last += 1;
        let id = (self.ids)();
        let new = NewRound::of((self.product, &self.sku), &self.raffle, self.last, &self.secret, id);
        let batch = OpenBatch { id, product: self.product, size: new.shares, issued: 0, voided: vec![] };
        self.round = Some(OpenRound { number: new.number, digest: new.digest, batch });
        new
    }

    /// Whether `quantity` shares are to be had, opening rounds as they fill.
    pub fn fit(&self, quantity: i64) -> Fit {
        let (mut left, mut last, mut opens) = (quantity, self.last, 0);
        let mut rest = self.round.as_ref().map_or(0, |round| round.batch.unissued());
        while left >= rest {
            left -= rest;
            let goes_on = self.active && self.raffle.goes_on_after(last);
            if !goes_on {
                return if left == 0 { Fit::Fits(opens) } else { Fit::Over };
            }
            (last, opens, rest) = (last + 1, opens + 1, self.raffle.shares.max(1));
        }
        Fit::Fits(opens)
    }

    /// Gives a line its shares; a round that fills is followed by the next in the same breath.
    ///
    /// `moved` is told each round that moved, the spent ones too; `opened` gets each that opened.
    pub fn give(
        &mut self,
        (order, line, quantity): (OrderId, i32, i64),
        spans: &mut Vec<Span>,
        moved: &mut impl FnMut(&OpenRound),
        opened: &mut Vec<NewRound>,
    ) {
        let (mut left, mut part) = (quantity, 0);
        while left > 0 {
            let Some(round) = &mut self.round else { break };
            left -= round.take(left, order, line, &mut part, spans);
            moved(round);
            opened.extend(self.settle().opened);
        }
    }
}
