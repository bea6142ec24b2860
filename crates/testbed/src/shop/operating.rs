//! What operators do to orders and payments, and what providers tell of refunds.

#![expect(clippy::unwrap_used, reason = "a verb that a test did not expect to fail fails the test")]

use std::sync::Arc;

use tessera_model::ids::{NoticeId, OrderId, PaymentId};
use tessera_model::money::{Currency, Money};
use tessera_model::pay::MoneyState;
use tessera_model::text::{Provider, Reason, Reference};
use tessera_orders::operators::{By, DeedOutcome, Wish};
use tessera_orders::refunds::{RefundNotice, RefundOutcome, RefundTold, Refunds};
use tessera_store::refunds::StoredPayment;
use tessera_store::{Clock, SetFault, run_set};

use super::Shop;

/// The most payments a test looks at.
const LISTED_MAX: i64 = 1_000;

impl Shop {
    /// An operator's wish about an order, with a reason.
    pub fn wish(&self, order: OrderId) -> Wish {
        let reason = Reason::parse("the buyer asked for it").unwrap();
        Wish { order, by: By { actor: "olga".to_owned(), reason } }
    }

    /// Makes an order's money due back.
    pub async fn refund(&self, order: OrderId) -> DeedOutcome {
        self.desk.refund(self.wish(order)).await.unwrap()
    }

    /// Accepts what was paid for an order.
    pub async fn accept(&self, order: OrderId) -> DeedOutcome {
        self.desk.accept(self.wish(order)).await.unwrap()
    }

    /// Cancels an order as an operator.
    pub async fn cancel_for(&self, order: OrderId) -> DeedOutcome {
        self.desk.cancel_for(self.wish(order)).await.unwrap()
    }

    /// That an operator confirms a refund.
    pub fn confirmed(&self, payment: PaymentId, reference: &str, minor: Option<i64>) -> RefundTold {
        let (actor, reference) = ("olga".to_owned(), Reference::parse(reference).unwrap());
        RefundTold::Confirmed { payment, reference, minor, actor, reason: None }
    }

    /// Confirms a refund at the desk.
    pub async fn confirm(&self, payment: PaymentId, reference: &str, minor: Option<i64>) -> RefundOutcome {
        self.desk.paid_back(self.confirmed(payment, reference, minor)).await.unwrap()
    }

    /// A provider's notice that a payment was paid back, under the notice's own id.
    pub fn refund_notice(&self, payment: &str, message: &str, minor: i64, currency: &str) -> RefundNotice {
        RefundNotice {
            provider: Provider::parse("acme").unwrap(),
            payment: Reference::parse(payment).unwrap(),
            message: Reference::parse(message).unwrap(),
            amount: Money::new(minor, Currency::parse(currency).unwrap()),
            order: None,
            notice: NoticeId::new(self.clock.now(), self.entropy.bytes()),
            body: format!("{payment} went back").into_bytes(),
        }
    }

    /// Brings such a notice to the desk.
    pub async fn told_back(&self, payment: &str, message: &str, minor: i64) -> RefundOutcome {
        let notice = self.refund_notice(payment, message, minor, "CNY");
        self.desk.paid_back(RefundTold::Notice(notice)).await.unwrap()
    }

    /// Takes refunds in one set, past the desk.
    pub async fn refund_set(&self, set: Vec<RefundTold>) -> Vec<Result<RefundOutcome, SetFault>> {
        run_set(Arc::clone(&self.store), Arc::new(Refunds), set).await
    }

    /// Payments, newest first: all, or those with money in `state`.
    pub async fn payments(&self, state: Option<MoneyState>) -> Vec<StoredPayment> {
        let mut tx = self.store.snapshot().await.unwrap();
        tx.payments_list(state, None, LISTED_MAX).await.unwrap()
    }

    /// How many entries of an action the audit log has.
    pub async fn audited(&self, action: &str) -> i64 {
        self.number(&format!("SELECT count(*) FROM audit WHERE action = '{action}' AND reason IS NOT NULL"))
            .await
    }
}
