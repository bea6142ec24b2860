//! What is shown to be left, beside what is left.

use futures_util::future::join_all;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use std::time::Duration;
use tessera_model::ids::OrderId;
use tessera_model::product::Pick;
use tessera_orders::place::PlaceOutcome;

use crate::http::api::Api;
use crate::http::ask::get;

const SKUS: [&str; 3] = ["plain", "drawn", "ahead"];

/// Operations in all, and how many of them come at once; the figures are looked at in between.
const OPERATIONS: usize = 10_000;
const AT_ONCE: usize = 200;

/// The codes of a product that no span covers, less what its pending orders want: counted from the rows themselves,
/// none of the counters asked.
fn left(skus: &str) -> String {
    format!(
        "(SELECT count(*) FROM code c JOIN batch b ON b.id = c.batch JOIN product p ON p.id = b.product \
           WHERE p.sku IN ({skus}) AND b.state <> 'loading') \
         - (SELECT coalesce(sum(s.upto - s.start), 0) FROM span s JOIN batch b ON b.id = s.batch \
           JOIN product p ON p.id = b.product WHERE p.sku IN ({skus}) AND s.kind <> 'anchor') \
         - (SELECT coalesce(sum(l.quantity), 0) FROM order_line l JOIN orders o ON o.id = l.order_id \
           WHERE l.sku IN ({skus}) AND o.status IN ('awaiting_payment', 'paid', 'backordered'))"
    )
}

/// What the counters say, less what there is: one statement, so that it is of one moment also under load.
fn drift() -> String {
    let left = left("'plain', 'drawn', 'ahead'");
    let unissued = "(SELECT coalesce(sum(size - issued), 0) FROM batch WHERE state = 'open')";
    format!("SELECT {unissued} - (SELECT sum(claimed) FROM stock) - ({left})")
}

enum Operation {
    Place(usize, Vec<(&'static str, i64)>),
    Pay(OrderId, i64),
    Cancel(OrderId),
    Issue(Vec<OrderId>),
}

/// A shop, and those of its orders that something may yet happen to.
struct Bustle {
    api: Api,
    rng: StdRng,
    orders: Vec<OrderId>,
}

impl Bustle {
    async fn open() -> Self {
        let api = Api::open().await;
        api.shop.product("plain", |rules| rules.open_orders_per_customer = None).await;
        api.shop.product("drawn", |rules| rules.pick = Pick::Random).await;
        api.shop.product("ahead", |rules| rules.backorders = true).await;
        Self { api, rng: StdRng::seed_from_u64(2), orders: vec![] }
    }

    fn some_order(&mut self) -> Option<OrderId> {
        let last = self.orders.len().checked_sub(1)?;
        // Mostly new ones, for the old are done with.
        let back = self.rng.random_range(0..=last.min(300));
        Some(self.orders[last - back])
    }

    fn operation(&mut self) -> Operation {
        let kind = self.rng.random_range(0..40);
        match (kind, self.some_order()) {
            (18..34, Some(order)) => Operation::Pay(order, 1_000 * self.rng.random_range(1..4)),
            (34..39, Some(order)) => Operation::Cancel(order),
            (39, Some(order)) => {
                let others: Vec<_> = (0..100).filter_map(|_| self.some_order()).collect();
                Operation::Issue([vec![order], others].concat())
            }
            _ => {
                let lines = (0..self.rng.random_range(1..3))
                    .map(|_| (SKUS[self.rng.random_range(0..3)], self.rng.random_range(1..3)));
                let lines = lines.collect();
                Operation::Place(self.rng.random_range(0..400), lines)
            }
        }
    }

    /// Many operations at once, and a look at the counters in the middle of them.
    async fn bustle(&mut self) {
        let operations: Vec<Operation> = (0..AT_ONCE).map(|_| self.operation()).collect();
        let api = &self.api;
        let done = join_all(operations.into_iter().map(|operation| act(api, operation)));
        let drift = drift();
        let (placed, drift) = futures_util::future::join(done, api.shop.number(&drift)).await;
        assert_eq!(drift, 0, "a counter is not what there is");
        self.orders.extend(placed.into_iter().flatten());
    }

    /// Stock comes and holds end, now and then.
    async fn between(&mut self, round: usize) {
        if round.is_multiple_of(3) {
            let sku = SKUS[self.rng.random_range(0..3)];
            self.api.shop.stock(sku, self.rng.random_range(1..300)).await;
        }
        self.api.shop.clock.advance(Duration::from_mins(self.rng.random_range(0..3)));
        self.api.shop.expire_due().await;
    }

    /// Every path that shows stock shows what there is: the catalogue, the product, and what operators see. The metrics
    /// tell no stock.
    async fn look(&self) -> i64 {
        let list = self.api.ask(get("/v1/products")).await.json(200);
        let list = list["products"].as_array().unwrap();
        let (mut sum, mut off) = (0, vec![]);
        for sku in SKUS {
            let operators = self.api.shop.shelf(sku).await.available();
            let shown = operators.max(0);
            let listed = &list.iter().find(|product| product["sku"] == sku).unwrap()["available"];
            let alone = &self.api.ask(get(format!("/v1/products/{sku}"))).await.json(200)["available"];
            assert_eq!((listed.as_i64(), alone.as_i64()), (Some(shown), Some(shown)), "{sku}");
            assert!(operators >= 0 || sku == "ahead", "{sku} is oversold: {operators}");
            off.push(format!("abs({} - ({operators}))", left(&format!("'{sku}'"))));
            sum += shown;
        }
        let off = self.api.shop.number(&format!("SELECT {}", off.join(" + "))).await;
        assert_eq!(off, 0, "what is shown is not what there is: {list:?}");
        sum
    }
}

/// Does it whatever comes of it; returns the order that was placed.
async fn act(api: &Api, operation: Operation) -> Option<OrderId> {
    let shop = &api.shop;
    match operation {
        Operation::Place(customer, lines) => {
            let new = shop.new_order(&format!("buyer {customer}"), &lines);
            let placed = shop.try_place(new).await;
            return match placed {
                PlaceOutcome::Placed(placed) => Some(placed.order.id),
                _ => None,
            };
        }
        Operation::Pay(order, minor) => {
            let reference = shop.reference();
            shop.pay_with("acme", &reference, &order.to_string(), minor, "CNY").await;
        }
        Operation::Cancel(order) => drop(shop.cancel(order).await),
        Operation::Issue(orders) => drop(shop.issue(&orders).await),
    }
    None
}

/// Case P2: one was shown to be left and none was there.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_shown_to_be_left_is_what_is_left_after_ten_thousand_operations() {
    let mut bustle = Bustle::open().await;
    let mut polls_with_stock = 0;
    for round in 0..OPERATIONS / AT_ONCE {
        bustle.between(round).await;
        bustle.bustle().await;
        polls_with_stock += usize::from(bustle.look().await > 0);
    }
    assert!((10..OPERATIONS / AT_ONCE).contains(&polls_with_stock), "{polls_with_stock}: hardly a test");
    let issued = bustle.api.shop.number("SELECT count(*) FROM orders WHERE status = 'issued'").await;
    assert!(issued > 500, "{issued} were issued: hardly a test");
    bustle.api.shop.leftover_is_fine();
    bustle.api.close().await;
}
