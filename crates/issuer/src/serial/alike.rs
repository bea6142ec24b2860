//! Orders in a row that fail alike: more likely a fault of ours than of each of them.

use std::collections::HashSet;

use tessera_model::ids::OrderId;

/// Different orders in a row that fail alone with one fingerprint before the issuer pauses.
const ALIKE_MAX: usize = 3;

/// Counts them.
#[derive(Default)]
pub(super) struct Alike {
    fingerprint: String,
    orders: HashSet<OrderId>,
    /// Stays until it is asked for: an order of the set that succeeds later does not undo it.
    due: bool,
}

impl Alike {
    /// One more failed.
    pub(super) fn count(&mut self, fingerprint: &str, order: Option<OrderId>) {
        if self.fingerprint != fingerprint {
            self.end();
            fingerprint.clone_into(&mut self.fingerprint);
        }
        self.orders.extend(order);
        self.due |= self.orders.len() >= ALIKE_MAX;
    }

    /// One did not fail, and ends the row.
    pub(super) fn end(&mut self) {
        self.orders.clear();
    }

    /// Whether a pause is due; then the count begins anew.
    pub(super) fn is_due(&mut self) -> bool {
        let due = std::mem::take(&mut self.due);
        if due {
            self.end();
        }
        due
    }
}
