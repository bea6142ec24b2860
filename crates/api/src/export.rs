//! Orders as CSV by RFC 4180, page by page, so that memory does not grow with the shop.
//!
//! Each page is a snapshot of its own. Orders are written newest first, so one that is placed meanwhile changes
//! nothing; what an order costs never changes, and its state is as of its page.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use tessera_model::ids::OrderId;
use tessera_model::order::{Line, Order};
use tessera_model::pay::MoneyState;
use tessera_model::time::Timestamp;
use tessera_store::{Result, Store, Tx, run_alone};

use crate::zone::Zone;

/// Orders in memory at a time.
const PAGE: i64 = 500;

const HEADER: [&str; 14] = [
    "order_id",
    "status",
    "customer_id",
    "lines",
    "quantity",
    "currency",
    "amount_minor",
    "settled_minor",
    "short_minor",
    "refund_due_minor",
    "refunded_minor",
    "created_at",
    "paid_at",
    "issued_at",
];

/// An order with what a row says of it.
struct Row {
    order: Order,
    lines: Vec<Line>,
    money: BTreeMap<MoneyState, i64>,
}

/// A stretch of time, its end not in it, and the zone that its times are written in.
#[derive(Clone, Copy, Debug)]
pub struct ExportOf {
    /// From then on.
    pub from: Timestamp,
    /// Before then.
    pub to: Timestamp,
    /// For the times.
    pub zone: Zone,
}

/// The first record, which names the columns.
pub fn orders_csv_header() -> String {
    record(HEADER.map(ToOwned::to_owned))
}

/// The records of the next page of orders placed then, and the last order in it; none at the end.
///
/// # Errors
/// The store's.
pub async fn orders_csv(
    store: &Arc<dyn Store>,
    of: ExportOf,
    before: Option<OrderId>,
) -> Result<Option<(String, OrderId)>> {
    let store = Arc::clone(store);
    let page = run_alone(async move {
        let mut tx = store.snapshot().await?;
        let orders = tx.orders_created(of.from, of.to, before, PAGE).await?;
        rows(&mut *tx, orders).await
    })
    .await?;
    let last = page.last().map(|row| row.order.id);
    Ok(last.map(|last| (page.iter().map(|row| record(fields(row, of.zone))).collect(), last)))
}

/// The records of exactly these orders, in the order given.
///
/// # Errors
/// The store's; within, the first that is not there.
pub async fn orders_csv_of(
    store: &Arc<dyn Store>,
    ids: Vec<OrderId>,
    zone: Zone,
) -> Result<std::result::Result<String, OrderId>> {
    let (store, asked) = (Arc::clone(store), ids.clone());
    let found = run_alone(async move {
        let mut tx = store.snapshot().await?;
        let orders = tx.orders_read(&asked).await?;
        rows(&mut *tx, orders).await
    })
    .await?;
    let found: HashMap<OrderId, Row> = found.into_iter().map(|row| (row.order.id, row)).collect();
    let records = ids.iter().map(|id| found.get(id).map(|row| record(fields(row, zone))).ok_or(*id));
    Ok(records.collect())
}

async fn rows(tx: &mut dyn Tx, orders: Vec<Order>) -> Result<Vec<Row>> {
    let ids: Vec<OrderId> = orders.iter().map(|order| order.id).collect();
    let mut lines: HashMap<OrderId, Vec<Line>> = HashMap::new();
    for (order, line) in tx.lines_read(&ids).await? {
        lines.entry(order).or_default().push(line);
    }
    let mut money: HashMap<OrderId, BTreeMap<MoneyState, i64>> = HashMap::new();
    for portion in tx.money_of(&ids).await? {
        *money.entry(portion.order).or_default().entry(portion.state).or_default() += portion.minor;
    }
    let row = |order: Order| {
        let (lines, money) = (lines.remove(&order.id), money.remove(&order.id));
        Row { order, lines: lines.unwrap_or_default(), money: money.unwrap_or_default() }
    };
    Ok(orders.into_iter().map(row).collect())
}

fn fields(row: &Row, zone: Zone) -> [String; 14] {
    let Row { order, lines, money } = row;
    let minor = |state| money.get(&state).copied().unwrap_or(0).to_string();
    let at = |at: Option<Timestamp>| at.map(|at| zone.rfc3339(at)).unwrap_or_default();
    let each: Vec<String> = lines.iter().map(|line| format!("{} x {}", line.quantity, line.sku)).collect();
    [
        order.id.to_string(),
        order.state.status().to_string(),
        order.customer.given().to_owned(),
        each.join("; "),
        lines.iter().map(|line| line.quantity).sum::<i64>().to_string(),
        order.amount.currency.to_string(),
        order.amount.minor.to_string(),
        minor(MoneyState::Settled),
        minor(MoneyState::Short),
        minor(MoneyState::RefundDue),
        minor(MoneyState::Refunded),
        at(Some(order.created_at)),
        at(order.state.paid_at()),
        at(order.state.issued_at()),
    ]
}

/// One record with its line ending.
fn record<const N: usize>(fields: [String; N]) -> String {
    format!("{}\r\n", fields.map(|field| quoted(&field)).join(","))
}

/// A field that a spreadsheet neither splits nor takes for a formula: what begins like one gets an apostrophe.
fn quoted(field: &str) -> String {
    let formula = field.starts_with(['=', '+', '-', '@']);
    let text = if formula { format!("'{field}") } else { field.to_owned() };
    match text.contains(['"', ',', '\r', '\n']) || text.starts_with(' ') || text.ends_with(' ') {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_one_field_and_no_formula() {
        for (field, written) in [
            ("ann", "ann"),
            ("a,b", "\"a,b\""),
            ("say \"hi\"", "\"say \"\"hi\"\"\""),
            ("=1+1", "'=1+1"),
            ("@SUM(1,2)", "\"'@SUM(1,2)\""),
            (" x", "\" x\""),
            ("", ""),
        ] {
            assert_eq!(quoted(field), written);
        }
        assert_eq!(record(["a".to_owned(), "b".to_owned()]), "a,b\r\n");
    }
}
