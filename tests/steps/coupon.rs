//! Coupons: codes that are computed, and given to each customer once.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tessera_backoffice::cards;
use tessera_backoffice::cards::CodeState;
use tessera_backoffice::products::ApplyError;
use tessera_model::coupon::Format;
use tessera_model::ids::OrderId;
use tessera_model::order::OrderStatus;
use tessera_model::place::{Limit, Refusal};
use tessera_model::product::{CannotChange, Coupon, Kind};
use tessera_orders::place::PlaceOutcome;
use tessera_testbed::Shop;

const SPRING: &str = "SPRING-XXXX-XXXX";

#[tokio::test]
async fn two_pools_of_one_format_never_give_out_the_same_string() {
    let shop = Shop::open().await;
    shop.coupon("spring", SPRING, 5_000, |_| ()).await;
    shop.coupon("second", SPRING, 2_000, |_| ()).await;
    // A higher count adds a pool.
    shop.coupon("second", SPRING, 5_000, |_| ()).await;
    let mut codes = BTreeSet::new();
    for sku in ["spring", "second"] {
        let order = shop.place("ann", &[(sku, 5_000)]).await;
        shop.issue(&[order]).await;
        assert_eq!(shop.status(order).await, OrderStatus::Issued);
        codes.extend(shop.codes_of(order).await);
    }
    assert_eq!(codes.len(), 10_000);
    assert_eq!(shop.number("SELECT count(*) FROM code").await, 0, "a row is stored for a code");
    assert_eq!(shop.number("SELECT count(*) FROM batch WHERE kind = 'pool'").await, 3);
    shop.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_240_claims_by_60_customers_50_coupons_go_to_50_customers_one_each() {
    let shop = Arc::new(Shop::open().await);
    shop.coupon("spring", SPRING, 50, |rules| {
        rules.per_customer_limit = Some(1);
        rules.new_customers_only = true;
    })
    .await;
    let claims: Vec<_> = (0..240)
        .map(|n| {
            let shop = Arc::clone(&shop);
            // One customer, written in four ways.
            let name = match n / 60 {
                0 => format!("buyer{}@x.com", n % 60),
                1 => format!("Buyer{}@X.com", n % 60),
                2 => format!(" buyer{}@x.com ", n % 60),
                _ => format!("BUYER{}@x.com", n % 60),
            };
            tokio::spawn(
                async move { (n % 60, shop.try_place(shop.new_order(&name, &[("spring", 1)])).await) },
            )
        })
        .collect();
    let mut given: BTreeMap<usize, Vec<OrderId>> = BTreeMap::new();
    for claim in claims {
        let (customer, outcome) = claim.await.unwrap();
        match outcome {
            PlaceOutcome::Placed(placed) => given.entry(customer).or_default().push(placed.order.id),
            PlaceOutcome::Refused(
                Refusal::SoldOut { .. }
                | Refusal::NotANewCustomer(_)
                | Refusal::LimitReached { limit: Limit::PerCustomer, .. },
            ) => {}
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(given.len(), 50);
    let orders: Vec<OrderId> = given.into_values().map(|orders| orders[0]).collect();
    assert_eq!(shop.number("SELECT count(*) FROM orders").await, 50);
    shop.issue(&orders).await;
    let mut codes = BTreeSet::new();
    for order in orders {
        codes.extend(shop.codes_of(order).await);
    }
    assert_eq!(codes.len(), 50);
    Arc::into_inner(shop).unwrap().close().await;
}

#[tokio::test]
async fn a_coupon_is_recognised_however_it_is_typed_and_only_if_it_is_ours() {
    let shop = Shop::open().await;
    shop.coupon("spring", SPRING, 10, |_| ()).await;
    let order = shop.place("ann", &[("spring", 1)]).await;
    shop.issue(&[order]).await;
    let code = shop.codes_of(order).await.remove(0);
    let typed = format!(" {} ", code.to_lowercase().replace('-', ""));
    for text in [code.as_str(), typed.as_str()] {
        let found = cards::find(&shop.store, &shop.keyring, text).await.unwrap().unwrap();
        assert_eq!((found.sku.as_str(), found.state), ("spring", CodeState::Issued));
        assert_eq!(found.owner.map(|owner| owner.order), Some(order));
    }
    // One that looks right is none: of a million guesses one would be.
    let secrets = ["SPRING-0000-0000", "SPRING-AAAA-AAAA", "spring", ""];
    for text in secrets {
        assert_eq!(cards::find(&shop.store, &shop.keyring, text).await.unwrap(), None, "{text}");
    }
    shop.close().await;
}

fn coupon(format: &str, count: i64) -> Kind {
    Kind::Coupon(Coupon { count, format: Format::parse(format).unwrap(), expires_at: None })
}

async fn refused(shop: &Shop, sku: &str, kind: Kind) -> ApplyError {
    let mut rules =
        shop.store.snapshot().await.unwrap().products_list(None, 1).await.unwrap().remove(0).rules;
    rules.sku = tessera_model::text::Sku::parse(sku).unwrap();
    rules.kind = kind;
    let actor = "test".to_owned();
    tessera_backoffice::products::apply(&shop.store, &shop.mint(), vec![rules], actor).await.unwrap_err()
}

#[tokio::test]
async fn what_would_make_coupons_guessable_or_ambiguous_is_refused() {
    let shop = Shop::open().await;
    shop.coupon("spring", SPRING, 30_000, |_| ()).await;
    let many = refused(&shop, "other", coupon(SPRING, 3_000)).await;
    assert!(matches!(many, ApplyError::TooMany { free: 2_768, .. }), "{many}");
    let alike = refused(&shop, "other", coupon("SPRXNG-XXXX-XXXX", 5)).await;
    assert!(matches!(alike, ApplyError::Collides { .. }), "{alike}");
    let order = shop.place("ann", &[("spring", 1)]).await;
    shop.issue(&[order]).await;
    let fixed =
        |why| move |error: &ApplyError| matches!(error, ApplyError::Fixed { why: w, .. } if *w == why);
    assert!(fixed(CannotChange::Count)(&refused(&shop, "spring", coupon(SPRING, 10)).await));
    assert!(fixed(CannotChange::Format)(&refused(&shop, "spring", coupon("AUTUMN-XXXX-XXXX", 5)).await));
    assert!(fixed(CannotChange::Kind)(&refused(&shop, "spring", Kind::Codes).await));
    shop.close().await;
}

#[tokio::test]
async fn a_format_may_change_before_the_first_is_sold() {
    let shop = Shop::open().await;
    shop.coupon("spring", "SPRNIG-XXXX-XXXX", 50, |_| ()).await;
    shop.coupon("spring", SPRING, 20, |_| ()).await;
    assert_eq!(shop.shelf("spring").await.unissued, 20);
    let order = shop.place("ann", &[("spring", 20)]).await;
    shop.issue(&[order]).await;
    assert!(shop.codes_of(order).await.iter().all(|code| code.starts_with("SPRING-")));
    let told = "SELECT count(*) FROM span_cause c JOIN span s ON s.batch = c.batch AND s.upto = c.upto WHERE s.kind = 'void'";
    assert_eq!(shop.number(told).await, 1, "the ledger says why the misspelt ones are not sold");
    shop.close().await;
}
