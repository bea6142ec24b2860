//! What is on the shelves: batches, claims, codes.

use tessera_model::order::OrderStatus;

use super::super::catalogue::{ARTICLES, Sort};
use super::super::transition::File;
use super::{Model, Order, id_rank};

/// An import is some time after whatever was before it, so that batches have an age.
pub(in super::super) const IMPORT_MILLIS: u64 = 1;

impl Order {
    pub(super) fn quantity(&self, article: usize) -> i64 {
        self.lines.iter().filter(|(known, _)| *known == article).map(|(_, quantity)| quantity).sum()
    }

    pub(super) fn turn(&self, number: usize) -> super::Turn {
        (self.paid_at.unwrap(), id_rank(number))
    }
}

impl Model {
    /// Says what the file's codes came to: `new`, `known unsold or sold`.
    pub(super) fn import(&mut self, file: &File) -> String {
        self.now += IMPORT_MILLIS;
        let known = file.again.as_ref().map_or(0, |(_, codes)| codes.len());
        if file.fresh > 0 {
            self.shelves[file.article].batches.push(file.fresh);
        }
        format!("{} new, {known} known", file.fresh)
    }

    /// How many codes of an article were ever put on sale.
    pub(in super::super) fn imported(&self, article: usize) -> usize {
        self.shelves[article].batches.iter().sum()
    }

    /// Of a raffle, what is left of its round.
    pub(in super::super) fn unissued(&self, article: usize) -> i64 {
        let issued = self.shelves[article].issued;
        let left = match ARTICLES[article].sort {
            Sort::Raffle { shares, rounds } if issued < shares * rounds => shares - issued % shares,
            _ => self.imported(article) - issued,
        };
        i64::try_from(left).unwrap()
    }

    /// What can still be given, in this round and those that follow.
    pub(super) fn to_be_had(&self, article: usize) -> i64 {
        i64::try_from(self.imported(article) - self.shelves[article].issued).unwrap()
    }

    /// Of a raffle any quantity may be ordered, and nothing is claimed, while another round follows.
    pub(super) fn is_endless(&self, article: usize) -> bool {
        match ARTICLES[article].sort {
            Sort::Raffle { shares, rounds } => self.shelves[article].issued < shares * (rounds - 1),
            Sort::Imported | Sort::Coupon { .. } => false,
        }
    }

    /// The quantity in orders that are awaiting payment, paid or backordered.
    pub(in super::super) fn claimed(&self, article: usize) -> i64 {
        let pending = |order: &&Order| {
            matches!(
                order.status,
                OrderStatus::AwaitingPayment | OrderStatus::Paid | OrderStatus::Backordered
            )
        };
        if self.is_endless(article) {
            return 0;
        }
        self.orders.values().filter(pending).map(|order| order.quantity(article)).sum()
    }
}
