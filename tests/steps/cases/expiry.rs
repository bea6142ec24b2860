//! Holds that end, and payments that come about then.

use std::time::Duration;

use futures_util::future::join_all;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use serde_json::json;
use tessera_model::ids::OrderId;
use tessera_model::order::OrderStatus;
use tessera_model::pay::{MoneyState, PaymentOutcome};
use tessera_orders::place::PlaceOutcome;
use tessera_store::Clock;
use tessera_testbed::Shop;

use crate::http::payments::notice::{one_placed, outcome, settled};

/// Case P41: a payment that was begun and given up kept its order from expiring.
#[tokio::test]
async fn a_payment_begun_and_given_up_does_not_prolong_the_hold() {
    let (api, bought) = one_placed(1).await;
    let end = api.shop.clock.now().plus(Duration::from_mins(15));
    for kind in ["payment.pending", "payment.processing", "payment.pending"] {
        let mut begun = settled("T-1", bought.id(), 1_000);
        begun["type"] = json!(kind);
        assert_eq!(outcome(&api, &begun).await, "ignored");
        api.shop.clock.advance(Duration::from_mins(4));
    }
    assert_eq!(outcome(&api, &settled("T-2", bought.id(), 1)).await, "short");
    api.shop.clock.set(end.minus(Duration::from_micros(1)));
    assert_eq!(api.shop.expire_due().await, []);
    api.shop.clock.set(end);
    assert_eq!(api.shop.expire_due().await, [bought.order_id()]);
    let expired = api.show(&bought).await;
    assert_eq!(
        (&expired["status"], &expired["payments"][0]["state"]),
        (&json!("expired"), &json!("refund_due"))
    );
    assert_eq!(api.shop.shelf("card").await.available(), 1);
    api.close().await;
}

/// Fifty buyers of ten codes, each with an order as soon as there is room, and a payment up to 4 s after it.
struct Fair {
    shop: Shop,
    rng: StdRng,
    tick: u32,
    /// Who has no order yet.
    outside: Vec<String>,
    /// Orders and the tick at which their buyers pay.
    open: Vec<(OrderId, u32)>,
    paid: Vec<(OrderId, PaymentOutcome)>,
}

const TICK: Duration = Duration::from_millis(250);

/// 4 s.
const PAYS_WITHIN_TICKS: u32 = 16;

impl Fair {
    async fn open() -> Self {
        let shop = Shop::open().await;
        shop.product("card", |rules| rules.hold = Duration::from_secs(2)).await;
        shop.stock("card", 10).await;
        let outside = (0..50).map(|n| format!("buyer {n}")).collect();
        Self { shop, rng: StdRng::seed_from_u64(11), tick: 0, outside, open: vec![], paid: vec![] }
    }

    async fn place(&mut self) {
        let shop = &self.shop;
        let new: Vec<_> = self.outside.iter().map(|name| shop.new_order(name, &[("card", 1)])).collect();
        let placed = join_all(new.into_iter().map(|new| shop.try_place(new))).await;
        let mut placed = placed.into_iter();
        self.outside.retain(|_| match placed.next() {
            Some(PlaceOutcome::Placed(placed)) => {
                let pays = self.tick + self.rng.random_range(0..=PAYS_WITHIN_TICKS);
                self.open.push((placed.order.id, pays));
                false
            }
            _ => true,
        });
    }

    async fn pay(&mut self) {
        let tick = self.tick;
        let due: Vec<OrderId> =
            self.open.extract_if(.., |(_, pays)| *pays <= tick).map(|(id, _)| id).collect();
        let outcomes = join_all(due.iter().map(|id| self.shop.pay(*id))).await;
        self.paid.extend(due.into_iter().zip(outcomes));
    }
}

/// Case P11: ten seats were sold twelve times when many held them in carts.
#[tokio::test]
async fn of_fifty_who_pay_within_and_after_their_hold_ten_get_a_code_and_no_money_is_lost() {
    let mut fair = Fair::open().await;
    let mut busy = true;
    while busy {
        fair.shop.expire_due().await;
        fair.place().await;
        fair.pay().await;
        let paid: Vec<OrderId> = fair.paid.iter().map(|(id, _)| *id).collect();
        fair.shop.issue(&paid).await;
        fair.shop.clock.advance(TICK);
        fair.tick += 1;
        busy = !fair.open.is_empty();
    }
    let Fair { shop, outside, paid, .. } = fair;
    let late = paid.iter().filter(|(_, outcome)| *outcome == PaymentOutcome::RefundDue).count();
    assert!(late > 3, "{late} came too late: hardly a test");
    assert_eq!(paid.len() + outside.len(), 50);
    for (order, outcome) in &paid {
        let (status, state) = match outcome {
            PaymentOutcome::Paid => (OrderStatus::Issued, MoneyState::Settled),
            _ => (OrderStatus::Expired, MoneyState::RefundDue),
        };
        assert_eq!(shop.status(*order).await, status);
        assert_eq!(shop.money(*order).await, [(state, 1_000)].into());
    }
    assert_eq!(paid.len() - late, 10);
    assert_eq!(shop.shelf("card").await.unissued, 0);
    shop.close().await;
}
