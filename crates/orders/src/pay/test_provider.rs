//! The `test` provider: settles an order's price at once, for trying a shop out.

use std::collections::HashMap;

use tessera_model::ids::{OrderId, PaymentId};
use tessera_model::order::{Order, OrderStatus};
use tessera_model::text::{OrderReference, Provider, Reference};
use tessera_store::Tx;
use tessera_store::payments::Payment;

use super::{Incoming, PayOutcome};
use tessera_model::pay::PaymentOutcome;

/// The provider's name.
pub const TEST_PROVIDER: &str = "test";

/// A wish to pay an order by the `test` provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TestPayment {
    /// Made before the set.
    pub payment: PaymentId,
    /// The order.
    pub order: OrderId,
    /// The epoch of the token that was shown.
    pub epoch: i32,
}

/// What a test payment comes to before any lock: a payment to take, or an answer.
pub(super) type Prepared = Result<Payment, PayOutcome>;

/// Prepares the test payments of a set, by order. Price and epoch are read unlocked: the price never
/// changes, and a token revoked at this very moment may still be in time.
pub(super) async fn payments(
    tx: &mut dyn Tx,
    inputs: &[Incoming],
) -> tessera_store::Result<HashMap<PaymentId, Prepared>> {
    let wishes: Vec<TestPayment> = inputs
        .iter()
        .filter_map(|incoming| match incoming {
            Incoming::Test(wish) => Some(*wish),
            Incoming::Notice { .. } => None,
        })
        .collect();
    if wishes.is_empty() {
        return Ok(HashMap::new());
    }
    let ids: Vec<OrderId> = wishes.iter().map(|w| w.order).collect();
    let orders: HashMap<OrderId, Order> =
        tx.orders_read(&ids).await?.into_iter().map(|o| (o.id, o)).collect();
    Ok(wishes.iter().map(|wish| (wish.payment, prepare(wish, orders.get(&wish.order)))).collect())
}

fn prepare(wish: &TestPayment, order: Option<&Order>) -> Prepared {
    let order = order.filter(|o| o.epoch == wish.epoch).ok_or(PayOutcome::NotFound)?;
    match order.state.status() {
        OrderStatus::AwaitingPayment => payment(wish, order).ok_or(PayOutcome::NotFound),
        OrderStatus::Paid | OrderStatus::Backordered | OrderStatus::Issued => {
            Err(PayOutcome::Taken { outcome: PaymentOutcome::Duplicate, paid: None, reason: None })
        }
        status @ (OrderStatus::Expired
        | OrderStatus::Cancelled
        | OrderStatus::RefundDue
        | OrderStatus::Refunded) => Err(PayOutcome::NotPayable(status)),
    }
}

/// The order's id is the reference, so that a second click is a duplicate.
fn payment(wish: &TestPayment, order: &Order) -> Option<Payment> {
    let name = order.id.to_string();
    Some(Payment {
        id: wish.payment,
        provider: Provider::parse(TEST_PROVIDER).ok()?,
        reference: Reference::parse(&name).ok()?,
        order_reference: OrderReference::parse(&name).ok()?,
        amount: order.amount,
        paid_at: None,
    })
}
