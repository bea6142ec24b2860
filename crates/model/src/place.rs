//! Placing orders: whether a set of new orders may claim stock, decided one after the other in memory.

use std::collections::HashMap;
use std::time::Duration;

use crate::ids::ProductId;
use crate::money::{AmountTooLarge, Money};
use crate::order::{Line, Order, OrderState};
use crate::product::{Product, Stock};
use crate::text::{CustomerId, Sku};
use crate::time::Timestamp;

mod request;

pub use request::{BadLines, LINES_MAX, NewOrder, RequestKey};

#[cfg(test)]
mod tests;

/// Which limit was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Codes per customer and product.
    PerCustomer,
    /// Codes of a product per order.
    MaxPerOrder,
    /// Unpaid orders per customer.
    OpenOrders,
}

impl Limit {
    /// The word on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::PerCustomer => "per_customer",
            Self::MaxPerOrder => "max_per_order",
            Self::OpenOrders => "open_orders",
        }
    }
}

/// Why an order was refused. Nothing of it is kept.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// No such product, or it is not active.
    #[error("there is no product {0}")]
    NotFound(Sku),
    /// Lines of several currencies.
    #[error("the lines have several currencies: order them apart")]
    MixedCurrencies,
    /// The sum does not fit.
    #[error("the amount is too large: order less")]
    AmountTooLarge,
    /// The sale has not begun.
    #[error("the sale of {0} has not begun")]
    SaleNotOpen(Sku),
    /// The sale is over.
    #[error("the sale of {0} is over")]
    SaleClosed(Sku),
    /// A limit was reached.
    #[error("the limit of {sku} is reached: {allowed} {}", match limit {
        Limit::PerCustomer => "per customer",
        Limit::MaxPerOrder => "per order",
        Limit::OpenOrders => "unpaid orders per customer",
    })]
    LimitReached {
        /// The product.
        sku: Sku,
        /// Which limit.
        limit: Limit,
        /// Its number.
        allowed: i64,
    },
    /// Only for new customers.
    #[error("{0} is for new customers only")]
    NotANewCustomer(Sku),
    /// Too few are left.
    #[error("{sku} is sold out: {available} left")]
    SoldOut {
        /// The product.
        sku: Sku,
        /// What could still be ordered.
        available: i64,
    },
}

/// What is known of a customer, read under the customer's lock.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// Unpaid orders of any product.
    pub open: i64,
    /// Whether any order was ever paid.
    pub ever_paid: bool,
    /// Units of each product in orders that are neither expired nor cancelled.
    pub units: HashMap<ProductId, i64>,
    /// Unpaid orders that contain the product.
    pub open_of: HashMap<ProductId, i64>,
}

/// An order that was accepted, with its lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    /// The order.
    pub order: Order,
    /// Its lines.
    pub lines: Vec<Line>,
}

/// Products, their stock and the customers' standing: what a set of orders is decided on.
///
/// Every acceptance is written into it, so that later orders of the set see the earlier ones.
#[derive(Debug, Default)]
pub struct Shelf {
    products: HashMap<Sku, Product>,
    stock: HashMap<ProductId, Stock>,
    customers: HashMap<String, Standing>,
}

impl Shelf {
    /// Puts a product on the shelf.
    pub fn put(&mut self, product: Product, stock: Stock) {
        self.stock.insert(product.id, stock);
        self.products.insert(product.rules.sku.clone(), product);
    }

    /// Says what is known of a customer, under the folded id.
    pub fn know(&mut self, folded: String, standing: Standing) {
        self.customers.insert(folded, standing);
    }

    /// Decides one order: refused with the first reason that holds, or accepted and counted.
    ///
    /// # Errors
    /// [`Refusal`], in the order the public interface promises.
    pub fn place(&mut self, new: &NewOrder, now: Timestamp) -> Result<Placed, Refusal> {
        let wanted = self.find(new.lines())?;
        let amount = amount_of(&wanted)?;
        in_sale(&wanted, now)?;
        for (product, quantity) in &wanted {
            within(product, Limit::MaxPerOrder, product.rules.order_max(), *quantity)?;
        }
        let standing = self.customers.entry(new.customer.folded().to_owned()).or_default();
        may_buy(standing, &wanted)?;
        for (product, _) in &wanted {
            let open = standing.open_of.get(&product.id).copied().unwrap_or(0);
            within(product, Limit::OpenOrders, product.rules.open_orders_per_customer, open + 1)?;
        }
        in_stock(&self.stock, &wanted)?;

        let placed = placed(new, &wanted, amount, now);
        claim(&mut self.stock, standing, &wanted);
        match placed.order.state.paid_at() {
            Some(_) => standing.ever_paid = true,
            None => {
                standing.open += 1;
                for (product, _) in &wanted {
                    *standing.open_of.entry(product.id).or_default() += 1;
                }
            }
        }
        Ok(placed)
    }

    /// Whether an expired or cancelled order that was paid after all still gets stock and keeps within the
    /// customer's limits. If so its claim and units are counted again.
    pub fn honour(&mut self, customer: &CustomerId, lines: &[Line]) -> bool {
        let Some(wanted) = self.wanted(lines) else { return false };
        let standing = self.customers.entry(customer.folded().to_owned()).or_default();
        may_buy(standing, &wanted).is_ok() && self.revive(customer, &wanted)
    }

    /// Whether an expired or cancelled order that an operator accepts still gets stock; limits are the operator's to
    /// pass. If so its claim and units are counted again.
    pub fn admit(&mut self, customer: &CustomerId, lines: &[Line]) -> bool {
        let Some(wanted) = self.wanted(lines) else { return false };
        self.revive(customer, &wanted)
    }

    fn revive(&mut self, customer: &CustomerId, wanted: &[(Product, i64)]) -> bool {
        if in_stock(&self.stock, wanted).is_err() {
            return false;
        }
        let standing = self.customers.entry(customer.folded().to_owned()).or_default();
        claim(&mut self.stock, standing, wanted);
        standing.ever_paid = true;
        true
    }

    /// An order's lines with their products as they are now; none when one is not on the shelf.
    fn wanted(&self, lines: &[Line]) -> Option<Vec<(Product, i64)>> {
        let by_id = |id: ProductId| self.products.values().find(|p| p.id == id).cloned();
        lines.iter().map(|line| by_id(line.product).map(|product| (product, line.quantity))).collect()
    }

    fn find(&self, lines: &[(Sku, i64)]) -> Result<Vec<(Product, i64)>, Refusal> {
        lines
            .iter()
            .map(|(sku, quantity)| match self.products.get(sku) {
                Some(product) if product.rules.active => Ok((product.clone(), *quantity)),
                Some(_) | None => Err(Refusal::NotFound(sku.clone())),
            })
            .collect()
    }
}

fn amount_of(wanted: &[(Product, i64)]) -> Result<Money, Refusal> {
    let mut amounts = wanted.iter().map(|(product, quantity)| product.rules.price.times(*quantity));
    let too_large = |AmountTooLarge| Refusal::AmountTooLarge;
    let first = amounts.next().unwrap_or(Err(AmountTooLarge)).map_err(too_large)?;
    amounts.try_fold(first, |sum, amount| {
        let amount = amount.map_err(too_large)?;
        match amount.currency == sum.currency {
            true => sum.minor.checked_add(amount.minor).ok_or(Refusal::AmountTooLarge),
            false => Err(Refusal::MixedCurrencies),
        }
        .map(|minor| Money::new(minor, sum.currency))
    })
}

fn in_sale(wanted: &[(Product, i64)], now: Timestamp) -> Result<(), Refusal> {
    let mut rules = wanted.iter().map(|(product, _)| &product.rules);
    if let Some(soon) = rules.clone().find(|r| r.sale_starts_at.is_some_and(|start| now < start)) {
        return Err(Refusal::SaleNotOpen(soon.sku.clone()));
    }
    match rules.find(|r| r.sale_ends_at.is_some_and(|end| now >= end)) {
        Some(over) => Err(Refusal::SaleClosed(over.sku.clone())),
        None => Ok(()),
    }
}

fn within(product: &Product, limit: Limit, allowed: Option<i64>, count: i64) -> Result<(), Refusal> {
    match allowed {
        Some(allowed) if count > allowed => {
            Err(Refusal::LimitReached { sku: product.rules.sku.clone(), limit, allowed })
        }
        Some(_) | None => Ok(()),
    }
}

/// The customer's own rules; the same for a new order and for one that is paid late.
fn may_buy(standing: &Standing, wanted: &[(Product, i64)]) -> Result<(), Refusal> {
    let new = !standing.ever_paid && standing.open == 0;
    if let Some((product, _)) = wanted.iter().find(|(p, _)| p.rules.new_customers_only && !new) {
        return Err(Refusal::NotANewCustomer(product.rules.sku.clone()));
    }
    for (product, quantity) in wanted {
        let units = standing.units.get(&product.id).copied().unwrap_or(0);
        let count = units.saturating_add(*quantity);
        within(product, Limit::PerCustomer, product.rules.per_customer_limit, count)?;
    }
    Ok(())
}

fn in_stock(stock: &HashMap<ProductId, Stock>, wanted: &[(Product, i64)]) -> Result<(), Refusal> {
    for (product, quantity) in wanted {
        let stock = stock.get(&product.id).copied().unwrap_or_default();
        if !product.rules.backorders && !stock.endless && stock.available() < *quantity {
            let available = stock.available().max(0);
            return Err(Refusal::SoldOut { sku: product.rules.sku.clone(), available });
        }
    }
    Ok(())
}

fn claim(stock: &mut HashMap<ProductId, Stock>, standing: &mut Standing, wanted: &[(Product, i64)]) {
    for (product, quantity) in wanted {
        let stock = stock.entry(product.id).or_default();
        stock.claimed += if stock.endless { 0 } else { *quantity };
        *standing.units.entry(product.id).or_default() += quantity;
    }
}

fn placed(new: &NewOrder, wanted: &[(Product, i64)], amount: Money, now: Timestamp) -> Placed {
    let hold = wanted.iter().map(|(p, _)| p.rules.hold).min().unwrap_or(Duration::ZERO);
    // A free order has nothing to wait for: it is paid as it is placed.
    let state = match amount.minor {
        0 => OrderState::Paid { paid_at: now },
        _ => OrderState::AwaitingPayment { hold_expires_at: now.plus(hold) },
    };
    let order = Order {
        id: new.id,
        version: 1,
        state,
        customer: new.customer.clone(),
        email: new.email.clone(),
        amount,
        epoch: 0,
        created_at: now,
    };
    let lines = (1..).zip(wanted).map(|(number, (product, quantity))| Line {
        number,
        product: product.id,
        sku: product.rules.sku.clone(),
        name: product.rules.name.clone(),
        note: product.rules.note.clone(),
        quantity: *quantity,
        unit_minor: product.rules.price.minor,
    });
    Placed { order, lines: lines.collect() }
}
