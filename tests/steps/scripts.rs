//! Whole lives of a shop, drawn at random: whatever is done in whatever order, every balance holds.

use std::collections::BTreeSet;
use std::time::Duration;

use proptest::prelude::*;
use proptest::test_runner::Config;
use tessera_issuer::Work;
use tessera_model::ids::{OrderId, ProductId};
use tessera_model::order::OrderStatus;
use tessera_model::product::Pick;
use tessera_orders::pay::Incoming;
use tessera_orders::place::PlaceOutcome;
use tessera_testbed::Shop;

/// What was drawn: few, so that the suite stays quick; a nightly run may draw more.
const SCRIPTS: u32 = 32;

const SKUS: [&str; 3] = ["plain", "ahead", "drawn"];

/// One thing that happens. Numbers choose among what there is by then.
#[derive(Clone, Debug)]
enum Act {
    Place { customer: usize, lines: Vec<(usize, i64)>, key: Option<u8> },
    Pay { orders: Vec<usize>, minor: i64 },
    PayAgain { notice: usize },
    PayByTest { order: usize },
    Cancel { order: usize },
    Expire { minutes: u64 },
    Issue { orders: Vec<usize> },
    Fill { products: Vec<usize> },
    Import { product: usize, count: usize },
    ImportAgain { product: usize },
}

fn acts() -> impl Strategy<Value = Act> {
    let orders = || prop::collection::vec(0..40_usize, 1..6);
    let lines = prop::collection::vec((0..3_usize, 1..4_i64), 1..4);
    prop_oneof![
        6 => (0..4_usize, lines, prop::option::of(0..3_u8))
            .prop_map(|(customer, lines, key)| Act::Place { customer, lines, key }),
        6 => (orders(), prop_oneof![3 => Just(0_i64), 1 => -900..2_000_i64])
            .prop_map(|(orders, minor)| Act::Pay { orders, minor }),
        1 => (0..40_usize).prop_map(|notice| Act::PayAgain { notice }),
        1 => (0..40_usize).prop_map(|order| Act::PayByTest { order }),
        1 => (0..40_usize).prop_map(|order| Act::Cancel { order }),
        2 => (0..12_u64).prop_map(|minutes| Act::Expire { minutes }),
        4 => orders().prop_map(|orders| Act::Issue { orders }),
        2 => prop::collection::vec(0..3_usize, 1..4).prop_map(|products| Act::Fill { products }),
        2 => (0..3_usize, 1..8_usize).prop_map(|(product, count)| Act::Import { product, count }),
        1 => (0..3_usize).prop_map(|product| Act::ImportAgain { product }),
    ]
}

/// A shop and what was done in it.
struct Life {
    shop: Shop,
    products: [ProductId; 3],
    orders: Vec<OrderId>,
    notices: Vec<Incoming>,
    imported: [Vec<String>; 3],
}

impl Life {
    async fn begin() -> Self {
        let shop = Shop::open().await;
        let plain = shop.product(SKUS[0], |rules| rules.per_customer_limit = Some(9)).await;
        let ahead = shop.product(SKUS[1], |rules| rules.backorders = true).await;
        let drawn =
            shop.product(SKUS[2], |rules| (rules.pick, rules.backorders) = (Pick::Random, true)).await;
        let products = [plain, ahead, drawn];
        Self { shop, products, orders: vec![], notices: vec![], imported: Default::default() }
    }

    fn order(&self, n: usize) -> Option<OrderId> {
        self.orders.get(n % self.orders.len().max(1)).copied()
    }

    async fn act(&mut self, act: Act) {
        let shop = &self.shop;
        match act {
            Act::Place { customer, lines, key } => self.place(customer, &lines, key).await,
            Act::Pay { orders, minor } => {
                for id in orders.into_iter().filter_map(|n| self.order(n)).collect::<Vec<_>>() {
                    let minor = shop.order(id).await.amount.minor + minor;
                    let (reference, text) = (shop.reference(), id.to_string());
                    self.notices.push(shop.notice("acme", &reference, &text, minor.max(1), "CNY"));
                    shop.desk.pay(self.notices[self.notices.len() - 1].clone()).await.unwrap();
                }
            }
            Act::PayAgain { notice } if !self.notices.is_empty() => {
                let notice = self.notices[notice % self.notices.len()].clone();
                shop.desk.pay(notice).await.unwrap();
            }
            Act::PayAgain { .. } => {}
            Act::PayByTest { order } => {
                if let Some(id) = self.order(order) {
                    shop.desk.pay(shop.test_payment(id)).await.unwrap();
                }
            }
            Act::Cancel { order } => {
                if let Some(id) = self.order(order) {
                    shop.cancel(id).await;
                }
            }
            Act::Expire { minutes } => {
                shop.clock.advance(Duration::from_mins(minutes));
                shop.expire_due().await;
            }
            Act::Issue { orders } => {
                let ids: Vec<OrderId> = orders.into_iter().filter_map(|n| self.order(n)).collect();
                shop.issue(&ids).await;
            }
            Act::Fill { products } => self.fill(&products).await,
            Act::Import { product, count } => {
                let codes = shop.stock(SKUS[product], count).await;
                self.imported[product].extend(codes);
            }
            Act::ImportAgain { product } => {
                let report = shop.import(SKUS[product], &self.imported[product].join("\n")).await;
                assert_eq!(report.new, 0);
            }
        }
    }

    async fn place(&mut self, customer: usize, lines: &[(usize, i64)], key: Option<u8>) {
        let lines: Vec<(&str, i64)> = lines.iter().map(|(n, quantity)| (SKUS[*n], *quantity)).collect();
        let mut new = self.shop.new_order(["ann", "bob", "cid", "dan"][customer], &lines);
        if let Some(key) = key {
            new = self.shop.keyed(new, key, 0);
        }
        match self.shop.try_place(new).await {
            PlaceOutcome::Placed(placed) => self.orders.push(placed.order.id),
            PlaceOutcome::Repeated(order) => assert!(self.orders.contains(&order)),
            PlaceOutcome::KeyReused | PlaceOutcome::Refused(_) => {}
        }
    }

    async fn fill(&self, products: &[usize]) {
        let works = products.iter().map(|n| Work::Stock(self.products[*n])).collect();
        for result in self.shop.issue_set(works).await {
            result.unwrap();
        }
    }

    /// Everything that was paid is tried, and then every balance and every code is looked at.
    async fn end(self) {
        for set in self.orders.chunks(256) {
            self.shop.issue(set).await;
        }
        let mut given = BTreeSet::new();
        for id in &self.orders {
            let codes = self.shop.codes_of(*id).await;
            let wanted: i64 = match self.shop.status(*id).await {
                OrderStatus::Issued => self.shop.lines(*id).await.iter().map(|line| line.quantity).sum(),
                _ => 0,
            };
            assert_eq!(i64::try_from(codes.len()).unwrap(), wanted);
            for code in codes {
                assert!(self.imported.iter().flatten().any(|known| *known == code));
                assert!(given.insert(code), "a code was given twice");
            }
        }
        let mut unissued = 0;
        for sku in SKUS {
            unissued += usize::try_from(self.shop.shelf(sku).await.unissued).unwrap();
        }
        assert_eq!(given.len() + unissued, self.imported.iter().flatten().count());
        self.shop.close().await;
    }
}

proptest! {
    #![proptest_config(Config { cases: SCRIPTS, failure_persistence: None, ..Config::default() })]
    #[test]
    fn whatever_is_done_every_balance_holds_and_no_code_is_given_twice(
        script in prop::collection::vec(acts(), 10..60),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let mut life = Life::begin().await;
            for act in script {
                life.act(act).await;
            }
            life.end().await;
        });
    }
}
