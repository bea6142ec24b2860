//! What is on the shelves: batches, claims, codes.

use tessera_model::order::OrderStatus;

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

    pub(in super::super) fn unissued(&self, article: usize) -> i64 {
        i64::try_from(self.imported(article) - self.shelves[article].issued).unwrap()
    }

    /// The quantity in orders that are awaiting payment, paid or backordered.
    pub(in super::super) fn claimed(&self, article: usize) -> i64 {
        let pending = |order: &&Order| {
            matches!(
                order.status,
                OrderStatus::AwaitingPayment | OrderStatus::Paid | OrderStatus::Backordered
            )
        };
        self.orders.values().filter(pending).map(|order| order.quantity(article)).sum()
    }
}
