//! Claims, units and states of a set, gathered and written in one statement each.

use std::collections::BTreeMap;

use tessera_model::ids::{OrderId, PaymentId, ProductId};
use tessera_model::order::Line;
use tessera_model::pay::{Account, MoneyState, Portions};
use tessera_model::text::CustomerId;
use tessera_store::{Result, Tx};

/// What a set adds to claims and to customers' units.
#[derive(Default)]
pub(crate) struct Moves {
    claims: BTreeMap<ProductId, i64>,
    units: BTreeMap<(CustomerId, ProductId), i64>,
}

impl Moves {
    /// The order's quantity is claimed again, or released with a sign of −1.
    pub(crate) fn add(&mut self, customer: &CustomerId, lines: &[Line], sign: i64) {
        for line in lines {
            *self.claims.entry(line.product).or_default() += sign * line.quantity;
            *self.units.entry((folded(customer), line.product)).or_default() += sign * line.quantity;
        }
    }

    /// The order's claim is released, and the customer keeps the units.
    pub(crate) fn unclaim(&mut self, lines: &[Line]) {
        for line in lines {
            *self.claims.entry(line.product).or_default() -= line.quantity;
        }
    }

    /// Writes them.
    pub(crate) async fn write(self, tx: &mut dyn Tx) -> Result<()> {
        if self.claims.is_empty() {
            return Ok(());
        }
        tx.stock_move(&self.claims.into_iter().collect::<Vec<_>>()).await?;
        let units: Vec<_> = self.units.into_iter().map(|((c, p), delta)| (c, p, delta)).collect();
        if units.is_empty() { Ok(()) } else { tx.customers_move(&units).await }
    }
}

/// The same customer written differently is one key.
fn folded(customer: &CustomerId) -> CustomerId {
    CustomerId::from_stored(customer.folded().to_owned(), customer.folded().to_owned())
}

/// The lines of orders, by order.
pub(crate) async fn lines_of(tx: &mut dyn Tx, ids: &[OrderId]) -> Result<BTreeMap<OrderId, Vec<Line>>> {
    let mut lines: BTreeMap<OrderId, Vec<Line>> = BTreeMap::new();
    for (order, line) in tx.lines_read(ids).await? {
        lines.entry(order).or_default().push(line);
    }
    Ok(lines)
}

/// The money accounts of locked orders: what is due, and the short money that stands with them.
pub(crate) async fn accounts_of(
    tx: &mut dyn Tx,
    orders: &[tessera_model::order::Order],
) -> Result<BTreeMap<OrderId, Account>> {
    let mut accounts: BTreeMap<OrderId, Account> = orders
        .iter()
        .map(|o| {
            let status = o.state.status();
            (o.id, Account { order: o.id, status, due: o.amount, short: BTreeMap::new() })
        })
        .collect();
    let ids: Vec<OrderId> = accounts.keys().copied().collect();
    for portion in tx.money_of(&ids).await?.into_iter().filter(|p| p.state == MoneyState::Short) {
        if let Some(account) = accounts.get_mut(&portion.order) {
            account.short.insert(portion.payment, portion.minor);
        }
    }
    Ok(accounts)
}

/// Where the money of these orders is, by payment.
pub(crate) async fn portions_of_orders(
    tx: &mut dyn Tx,
    ids: &[OrderId],
) -> Result<BTreeMap<OrderId, BTreeMap<PaymentId, Portions>>> {
    let mut money: BTreeMap<OrderId, BTreeMap<PaymentId, Portions>> = BTreeMap::new();
    for portion in tx.money_of(ids).await? {
        let of = money.entry(portion.order).or_default().entry(portion.payment).or_default();
        of.insert(portion.state, portion.minor);
    }
    Ok(money)
}
