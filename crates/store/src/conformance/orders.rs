//! Orders: inserted, read, listed.

use std::slice::from_ref;

use tessera_model::ids::{OrderId, ProductId};
use tessera_model::order::{Line, Order, OrderState, OrderStatus};
use tessera_model::place::Placed;
use tessera_model::text::{CustomerId, Email, Reference};

use super::Fixture;
use super::shop::{cny, customer, place};
use crate::orders::OrderFilter;

/// Every field of an order and of its lines comes back.
pub async fn order_is_read_as_it_was_inserted(fixture: &Fixture) {
    let (a, b) = (fixture.product("a").await, fixture.product("b").await);
    let mut placed = fixture.new_order("Ann@X.com", &[(&b, 388), (&a, 1)]);
    placed.order.email = Some(Email::parse("Ann@x.com").expect("an address"));
    placed.order.version = 3;
    placed.order.epoch = 2;
    fixture.write(async |tx| place(tx, from_ref(&placed)).await).await;
    let Placed { order, lines } = placed;
    assert_eq!(fixture.read(async |tx| tx.orders_read(&[order.id]).await).await, from_ref(&order));
    assert_eq!(fixture.write(async |tx| tx.orders_lock(&[order.id]).await).await, from_ref(&order));
    assert_eq!(fixture.read(async |tx| tx.orders_versions(&[order.id]).await).await, [(order.id, 3)]);
    let expected: Vec<(OrderId, Line)> = lines.into_iter().map(|line| (order.id, line)).collect();
    assert_eq!(fixture.read(async |tx| tx.lines_read(&[order.id]).await).await, expected);
}

/// An order keeps its customer as written there, though the customer was first written differently.
pub async fn order_keeps_the_writing_of_its_customer(fixture: &Fixture) {
    let product = fixture.product("card").await;
    let mut given = vec![];
    for written in ["Ann", "ANN"] {
        let order = fixture.place(written, &[(&product, 1)]).await;
        given.extend(fixture.read(async |tx| tx.orders_read(&[order.id]).await).await);
    }
    let given: Vec<&str> = given.iter().map(|o| o.customer.given()).collect();
    assert_eq!(given, ["Ann", "ANN"]);
}

/// An order that costs nothing is paid from the start.
pub async fn free_order_is_inserted_paid(fixture: &Fixture) {
    let product = fixture.product("card").await;
    let mut placed = fixture.new_order("ann", &[(&product, 1)]);
    placed.order.amount = cny(0);
    placed.order.state = OrderState::Paid { paid_at: fixture.now() };
    fixture.write(async |tx| place(tx, from_ref(&placed)).await).await;
    assert_eq!(fixture.read(async |tx| tx.orders_read(&[placed.order.id]).await).await, [placed.order]);
}

/// Asking for what is not there is no fault.
pub async fn unknown_orders_are_absent(fixture: &Fixture) {
    let product = fixture.product("card").await;
    let known = fixture.place("ann", &[(&product, 1)]).await;
    let ids = [fixture.id(OrderId::new), known.id];
    assert_eq!(fixture.read(async |tx| tx.orders_read(&ids).await).await, from_ref(&known));
    assert_eq!(fixture.write(async |tx| tx.orders_lock(&ids).await).await, from_ref(&known));
    assert_eq!(fixture.read(async |tx| tx.orders_versions(&ids).await).await, [(known.id, 1)]);
    assert_eq!(fixture.read(async |tx| tx.orders_products(&ids).await).await, [(known.id, product.id)]);
    assert_eq!(fixture.read(async |tx| tx.lines_read(&ids[..1]).await).await, []);
}

/// Lines come by order and number, however they were inserted and asked for.
pub async fn lines_come_by_order_and_number(fixture: &Fixture) {
    let (a, b) = (fixture.product("a").await, fixture.product("b").await);
    let mut placed = vec![];
    for name in ["ann", "bob"] {
        let mut order = fixture.new_order(name, &[(&b, 1), (&a, 2)]);
        order.lines.reverse();
        placed.push(order);
    }
    fixture.write(async |tx| place(tx, &placed).await).await;
    let ids = [placed[1].order.id, placed[0].order.id];
    let lines = fixture.read(async |tx| tx.lines_read(&ids).await).await;
    let found: Vec<(OrderId, i32)> = lines.iter().map(|(order, line)| (*order, line.number)).collect();
    assert_eq!(found, [(ids[1], 1), (ids[1], 2), (ids[0], 1), (ids[0], 2)]);
}

/// The lowest product of an order chooses its queue.
pub async fn lowest_product_chooses_the_queue(fixture: &Fixture) {
    let (a, b) = (fixture.product("a").await, fixture.product("b").await);
    let order = fixture.place("ann", &[(&b, 1), (&a, 1)]).await;
    assert_eq!(fixture.read(async |tx| tx.orders_products(&[order.id]).await).await, [(order.id, a.id)]);
}

/// An order is inserted once, of known customers and products, each product once, in a quantity it may have.
pub async fn impossible_orders_are_data_faults(fixture: &Fixture) {
    let product = fixture.product("card").await;
    let good = fixture.new_order("ann", &[(&product, 1)]);
    fixture.assert_refused(async |tx| tx.orders_insert(from_ref(&good)).await).await;
    fixture.write(async |tx| place(tx, from_ref(&good)).await).await;
    fixture.assert_refused(async |tx| tx.orders_insert(from_ref(&good)).await).await;
    let mut unknown = fixture.new_order("ann", &[(&product, 1)]);
    unknown.lines[0].product = fixture.id(ProductId::new);
    fixture.assert_refused(async |tx| tx.orders_insert(from_ref(&unknown)).await).await;
    let twice = fixture.new_order("ann", &[(&product, 1), (&product, 1)]);
    fixture.assert_refused(async |tx| tx.orders_insert(from_ref(&twice)).await).await;
    for quantity in [0, 100_001] {
        let bad = fixture.new_order("ann", &[(&product, quantity)]);
        fixture.assert_refused(async |tx| tx.orders_insert(from_ref(&bad)).await).await;
    }
}

async fn listed(fixture: &Fixture, filter: OrderFilter, limit: i64) -> Vec<Order> {
    fixture.read(async |tx| tx.orders_list(&filter, limit).await).await
}

/// A list goes from the newest back, page by page.
pub async fn orders_are_listed_newest_first(fixture: &Fixture) {
    let product = fixture.product("card").await;
    let mut orders = vec![];
    for name in ["ann", "bob", "cid"] {
        orders.push(fixture.place(name, &[(&product, 1)]).await);
    }
    let first = listed(fixture, OrderFilter::default(), 2).await;
    assert_eq!(first, [orders[2].clone(), orders[1].clone()]);
    let next = OrderFilter { before: Some(orders[1].id), ..OrderFilter::default() };
    assert_eq!(listed(fixture, next, 2).await, [orders[0].clone()]);
}

/// Each part of a filter holds alone and with the others.
pub async fn list_holds_to_every_part_of_its_filter(fixture: &Fixture) {
    let product = fixture.product("card").await;
    let unpaid = fixture.place("ann", &[(&product, 1)]).await;
    let paid = fixture.place_paid("Ann", &[(&product, 1)]).await;
    let other = fixture.place_paid("bob", &[(&product, 1)]).await;
    let reference = async |order: &Order| -> Reference {
        let of = fixture.read(async |tx| tx.money_of(&[order.id]).await).await;
        Reference::parse(&of[0].payment.to_string()).expect("a reference")
    };
    let ann: Option<CustomerId> = Some(customer("ANN"));
    let status = Some(OrderStatus::Paid);
    let filters = [
        (OrderFilter { id: Some(unpaid.id), ..OrderFilter::default() }, vec![&unpaid]),
        (OrderFilter { id: Some(fixture.id(OrderId::new)), ..OrderFilter::default() }, vec![]),
        (OrderFilter { status, ..OrderFilter::default() }, vec![&other, &paid]),
        (OrderFilter { customer: ann.clone(), ..OrderFilter::default() }, vec![&paid, &unpaid]),
        (OrderFilter { reference: Some(reference(&other).await), ..OrderFilter::default() }, vec![&other]),
        (OrderFilter { status, customer: ann.clone(), ..OrderFilter::default() }, vec![&paid]),
        (OrderFilter { id: Some(other.id), customer: ann.clone(), ..OrderFilter::default() }, vec![]),
        (
            OrderFilter { customer: ann.clone(), before: Some(paid.id), ..OrderFilter::default() },
            vec![&unpaid],
        ),
        (
            OrderFilter {
                status,
                reference: Some(reference(&paid).await),
                customer: ann,
                ..OrderFilter::default()
            },
            vec![&paid],
        ),
    ];
    for (filter, expected) in filters {
        let found = listed(fixture, filter.clone(), 10).await;
        assert_eq!(found.iter().collect::<Vec<_>>(), expected, "{filter:?}");
    }
}

/// From the first instant on and before the last, page by page, newest first.
pub async fn orders_are_found_by_when_they_were_placed(fixture: &Fixture) {
    let product = fixture.product("card").await;
    let (first, mut ids) = (fixture.now(), vec![]);
    for hour in 0..4 {
        fixture.clock.set(first.plus(std::time::Duration::from_secs(hour * 3_600)));
        ids.push(fixture.place("ann", &[(&product, 1)]).await.id);
    }
    let hour = |n: u64| first.plus(std::time::Duration::from_secs(n * 3_600));
    let created = async |from, to, before, limit| {
        let found = fixture.read(async |tx| tx.orders_created(from, to, before, limit).await).await;
        found.into_iter().map(|order| order.id).collect::<Vec<_>>()
    };
    assert_eq!(created(hour(1), hour(3), None, 9).await, [ids[2], ids[1]]);
    assert_eq!(created(hour(0), hour(9), None, 3).await, [ids[3], ids[2], ids[1]]);
    assert_eq!(created(hour(0), hour(9), Some(ids[1]), 3).await, [ids[0]]);
    assert_eq!(created(hour(4), hour(9), None, 9).await, []);
}
