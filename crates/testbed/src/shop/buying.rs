//! What buyers and providers do, and what time does to orders.

#![expect(clippy::unwrap_used, reason = "a verb that a test did not expect to fail fails the test")]

use std::sync::Arc;
use std::sync::atomic::Ordering;

use tessera_model::ids::{NoticeId, OrderId, PaymentId};
use tessera_model::money::{Currency, Money};
use tessera_model::pay::PaymentOutcome;
use tessera_model::place::{NewOrder, RequestKey};
use tessera_model::text::{CustomerId, OrderReference, Provider, Reference, Sku};
use tessera_orders::expire::Expire;
use tessera_orders::pay::{Incoming, Pay, PayOutcome, TestPayment};
use tessera_orders::place::{Place, PlaceOutcome};
use tessera_orders::release::{CancelOutcome, Cancellation};
use tessera_store::payments::Payment;
use tessera_store::{Clock, SetFault, run_set};

use super::Shop;

/// The most orders that one look for ended holds finds.
const DUE_MAX: i64 = 1_000;

impl Shop {
    /// A new order, made and not yet placed.
    pub fn new_order(&self, customer: &str, lines: &[(&str, i64)]) -> NewOrder {
        let id = OrderId::new(self.clock.now(), self.entropy.bytes());
        let customer = CustomerId::parse(customer).unwrap();
        let lines = lines.iter().map(|(sku, quantity)| (Sku::parse(sku).unwrap(), *quantity)).collect();
        NewOrder::new(id, customer, None, lines, None).unwrap()
    }

    /// The same order asked for under an idempotency key; `body` stands for what was asked.
    pub fn keyed(&self, mut new: NewOrder, key: u8, body: u8) -> NewOrder {
        new.request = Some(RequestKey { key: [key; 32], body: [body; 32] });
        new
    }

    /// Places an order that is accepted.
    pub async fn place(&self, customer: &str, lines: &[(&str, i64)]) -> OrderId {
        match self.try_place(self.new_order(customer, lines)).await {
            PlaceOutcome::Placed(placed) => placed.order.id,
            other => panic!("the order was not placed: {other:?}"),
        }
    }

    /// Places an order at the desk, whatever comes of it.
    pub async fn try_place(&self, new: NewOrder) -> PlaceOutcome {
        self.desk.place(new).await.unwrap()
    }

    /// Places orders in one set, past the desk.
    pub async fn place_set(&self, set: Vec<NewOrder>) -> Vec<Result<PlaceOutcome, SetFault>> {
        run_set(Arc::clone(&self.store), Arc::new(Place), set).await
    }

    /// A provider's notice.
    pub fn notice(
        &self,
        provider: &str,
        reference: &str,
        order: &str,
        minor: i64,
        currency: &str,
    ) -> Incoming {
        let now = self.clock.now();
        let payment = Payment {
            id: PaymentId::new(now, self.entropy.bytes()),
            provider: Provider::parse(provider).unwrap(),
            reference: Reference::parse(reference).unwrap(),
            order_reference: OrderReference::parse(order).unwrap(),
            amount: Money::new(minor, Currency::parse(currency).unwrap()),
            paid_at: None,
        };
        let body = format!("{provider} says {reference}").into_bytes();
        Incoming::Notice { payment, notice: NoticeId::new(now, self.entropy.bytes()), body }
    }

    /// A notice of what is exactly due, under a reference of its own.
    pub async fn exact_notice(&self, order: OrderId) -> Incoming {
        let due = self.order(order).await.amount;
        self.notice("acme", &self.reference(), &order.to_string(), due.minor, due.currency.code())
    }

    /// A reference that no payment had yet.
    pub fn reference(&self) -> String {
        format!("ref-{}", self.references.fetch_add(1, Ordering::SeqCst))
    }

    /// Pays what is exactly due.
    pub async fn pay(&self, order: OrderId) -> PaymentOutcome {
        let notice = self.exact_notice(order).await;
        self.take(notice).await
    }

    /// Brings a notice of any kind to the desk.
    pub async fn pay_with(
        &self,
        provider: &str,
        reference: &str,
        order: &str,
        minor: i64,
        currency: &str,
    ) -> PaymentOutcome {
        self.take(self.notice(provider, reference, order, minor, currency)).await
    }

    async fn take(&self, notice: Incoming) -> PaymentOutcome {
        match self.desk.pay(notice).await.unwrap() {
            PayOutcome::Taken { outcome, .. } => outcome,
            other => panic!("the payment was not taken: {other:?}"),
        }
    }

    /// Takes payments in one set of the step for payments in time, past the desk.
    pub async fn pay_set(&self, set: Vec<Incoming>) -> Vec<Result<PayOutcome, SetFault>> {
        run_set(Arc::clone(&self.store), Arc::new(Pay), set).await
    }

    /// A wish to pay by the `test` provider.
    pub fn test_payment(&self, order: OrderId) -> Incoming {
        let payment = PaymentId::new(self.clock.now(), self.entropy.bytes());
        Incoming::Test(TestPayment { payment, order, epoch: 0 })
    }

    /// Cancels an order as its buyer.
    pub async fn cancel(&self, order: OrderId) -> CancelOutcome {
        self.desk.cancel(Cancellation { order, epoch: 0 }).await.unwrap()
    }

    /// Expires what is due, as the housekeeper does; returns those that expired.
    pub async fn expire_due(&self) -> Vec<OrderId> {
        let mut tx = self.store.snapshot().await.unwrap();
        let due = tx.orders_due(self.clock.now(), DUE_MAX).await.unwrap();
        drop(tx);
        let expired = run_set(Arc::clone(&self.store), Arc::new(Expire), due.clone()).await;
        due.into_iter().zip(expired).filter_map(|(id, expired)| expired.unwrap().then_some(id)).collect()
    }
}
