//! Facts about this module.

use super::*;
use crate::ids::OrderId;
use crate::money::Currency;
use crate::order::QUANTITY_MAX;
use crate::product::{Kind, ProductRules};
use crate::text::ProductName;
use proptest::prelude::*;

const NOW: Timestamp = Timestamp::from_micros(1_000_000);

fn sku(text: &str) -> Sku {
    Sku::parse(text).unwrap()
}

fn product(name: &str) -> Product {
    let seed = name.bytes().next().unwrap_or(0);
    Product {
        id: ProductId::new(NOW, [seed; 10]),
        rules: ProductRules::new(
            sku(name),
            ProductName::parse(name).unwrap(),
            Kind::Codes,
            Money::new(100, Currency::parse("CNY").unwrap()),
        ),
    }
}

fn with(name: &str, change: impl FnOnce(&mut ProductRules)) -> Product {
    let mut product = product(name);
    change(&mut product.rules);
    product
}

fn shelf(products: impl IntoIterator<Item = Product>, unissued: i64) -> Shelf {
    let mut shelf = Shelf::default();
    for product in products {
        shelf.put(product, Stock { unissued, claimed: 0, endless: false });
    }
    shelf
}

fn order(customer: &str, lines: &[(&str, i64)]) -> NewOrder {
    let lines = lines.iter().map(|(s, q)| (sku(s), *q)).collect();
    NewOrder::new(OrderId::new(NOW, [9; 10]), CustomerId::parse(customer).unwrap(), None, lines, None)
        .unwrap()
}

#[test]
fn the_last_unit_goes_to_the_first_of_a_set() {
    let mut shelf = shelf([product("card")], 1);
    assert!(shelf.place(&order("a", &[("card", 1)]), NOW).is_ok());
    let refused = shelf.place(&order("b", &[("card", 1)]), NOW);
    assert_eq!(refused, Err(Refusal::SoldOut { sku: sku("card"), available: 0 }));
}

#[test]
fn buying_exactly_all_there_is_succeeds() {
    let mut shelf = shelf([product("card")], 7);
    assert!(shelf.place(&order("a", &[("card", 7)]), NOW).is_ok());
}

#[test]
fn a_refused_order_of_two_lines_claims_nothing_of_either() {
    let mut shelf = shelf([product("a"), product("b")], 5);
    assert!(shelf.place(&order("x", &[("a", 1), ("b", 6)]), NOW).is_err());
    assert!(shelf.place(&order("x", &[("a", 5), ("b", 5)]), NOW).is_ok());
}

#[test]
fn a_limit_of_one_product_does_not_touch_another() {
    let limited = with("a", |r| r.per_customer_limit = Some(1));
    let mut shelf = shelf([limited, product("b")], 9);
    assert!(shelf.place(&order("x", &[("a", 1)]), NOW).is_ok());
    let again = shelf.place(&order("X ", &[("a", 1)]), NOW);
    assert!(matches!(again, Err(Refusal::LimitReached { limit: Limit::PerCustomer, .. })));
    assert!(shelf.place(&order("x", &[("b", 3)]), NOW).is_ok());
}

#[test]
fn a_second_open_order_is_no_new_customers() {
    let mut shelf = shelf([with("a", |r| r.new_customers_only = true)], 9);
    assert!(shelf.place(&order("x", &[("a", 1)]), NOW).is_ok());
    assert_eq!(shelf.place(&order("x", &[("a", 1)]), NOW), Err(Refusal::NotANewCustomer(sku("a"))));
}

#[test]
fn open_orders_of_one_customer_are_capped_and_others_still_buy() {
    let mut shelf = shelf([with("a", |r| r.open_orders_per_customer = Some(2))], 500);
    assert!(shelf.place(&order("x", &[("a", 1)]), NOW).is_ok());
    assert!(shelf.place(&order("x", &[("a", 1)]), NOW).is_ok());
    let third = shelf.place(&order("x", &[("a", 1)]), NOW);
    assert!(matches!(third, Err(Refusal::LimitReached { limit: Limit::OpenOrders, allowed: 2, .. })));
    assert!(shelf.place(&order("y", &[("a", 1)]), NOW).is_ok());
}

#[test]
fn the_first_reason_in_the_promised_order_is_named() {
    let all = with("a", |r| {
        r.sale_ends_at = Some(NOW);
        r.max_per_order = Some(1);
        r.per_customer_limit = Some(1);
    });
    let open = with("b", |r| {
        r.max_per_order = Some(1);
        r.per_customer_limit = Some(1);
    });
    let mut shelf = shelf([all, open], 0);
    let refused =
        |shelf: &mut Shelf, lines: &[(&str, i64)]| shelf.place(&order("x", lines), NOW).unwrap_err();
    assert_eq!(refused(&mut shelf, &[("a", 2), ("zz", 1)]), Refusal::NotFound(sku("zz")));
    assert_eq!(refused(&mut shelf, &[("a", 2)]), Refusal::SaleClosed(sku("a")));
    let limit = refused(&mut shelf, &[("b", 2)]);
    assert!(matches!(limit, Refusal::LimitReached { limit: Limit::MaxPerOrder, .. }));
    assert!(matches!(refused(&mut shelf, &[("b", 1)]), Refusal::SoldOut { .. }));
}

#[test]
fn the_window_opens_at_its_first_instant_and_closes_at_its_last() {
    let second = Duration::from_secs(1);
    let product = with("a", |r| {
        r.sale_starts_at = Some(NOW);
        r.sale_ends_at = Some(NOW.plus(second));
    });
    let mut shelf = shelf([product], 9);
    let new = order("x", &[("a", 1)]);
    assert_eq!(shelf.place(&new, NOW.minus(second)), Err(Refusal::SaleNotOpen(sku("a"))));
    assert!(shelf.place(&new, NOW).is_ok());
    assert_eq!(shelf.place(&new, NOW.plus(second)), Err(Refusal::SaleClosed(sku("a"))));
}

#[test]
fn a_free_order_is_paid_as_it_is_placed() {
    let free = with("a", |r| r.price.minor = 0);
    let placed = shelf([free], 1).place(&order("x", &[("a", 1)]), NOW).unwrap();
    assert_eq!(placed.order.state, OrderState::Paid { paid_at: NOW });
}

#[test]
fn currencies_do_not_mix() {
    let euro = with("b", |r| r.price.currency = Currency::parse("EUR").unwrap());
    let mixed = shelf([product("a"), euro], 9).place(&order("x", &[("a", 1), ("b", 1)]), NOW);
    assert_eq!(mixed, Err(Refusal::MixedCurrencies));
}

#[test]
fn a_backordered_product_sells_beyond_its_stock() {
    let mut shelf = shelf([with("a", |r| r.backorders = true)], 0);
    assert!(shelf.place(&order("x", &[("a", 3)]), NOW).is_ok());
}

#[test]
fn an_overflowing_quantity_is_refused_with_its_line() {
    let lines = |q: i64| {
        NewOrder::new(
            OrderId::new(NOW, [9; 10]),
            CustomerId::parse("x").unwrap(),
            None,
            vec![(sku("a"), 1), (sku("b"), q)],
            None,
        )
    };
    for bad in [0, -1, QUANTITY_MAX, i64::MAX, i64::MIN] {
        assert_eq!(lines(bad).unwrap_err(), BadLines::Quantity { line: 1 }, "{bad}");
    }
    assert!(lines(QUANTITY_MAX - 1).is_ok());
}

proptest! {
    #[test]
    fn no_set_claims_more_than_there_is(
        stock in 0_i64..50,
        quantities in proptest::collection::vec(1_i64..8, 0..40),
    ) {
        let mut shelf = shelf([product("a")], stock);
        let mut claimed = 0;
        for quantity in quantities {
            let fits = claimed + quantity <= stock;
            let placed = shelf.place(&order("x", &[("a", quantity)]), NOW);
            prop_assert_eq!(placed.is_ok(), fits);
            claimed += if fits { quantity } else { 0 };
        }
    }
}
