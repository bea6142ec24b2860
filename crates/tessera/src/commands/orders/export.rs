//! `tessera orders export`: CSV by RFC 4180, page by page, so that memory does not grow with the shop.
//!
//! Each page is a snapshot of its own. Orders are written newest first, so one that is placed meanwhile changes
//! nothing; what an order costs never changes, and its state is as of its page.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use tessera_api::{Zone, timestamp};
use tessera_model::ids::OrderId;
use tessera_model::order::{Line, Order};
use tessera_model::pay::MoneyState;
use tessera_model::time::Timestamp;
use tessera_store::{Store, Tx, run_alone};

use super::order_id;
use crate::Outcome;
use crate::cli::Export;
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::shop::Shop;

/// Orders in memory at a time.
const PAGE: i64 = 500;

/// The years between which an order may have been placed, unless somebody says otherwise.
const ALWAYS: (&str, &str) = ("1970-01-02T00:00:00Z", "9999-12-31T00:00:00Z");

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

pub(super) async fn run(shop: &Shop, wanted: &Export, output: Output) -> Outcome {
    if output.is_json() {
        return Err(Failure::usage("an export is CSV").with_remedy("leave --json out"));
    }
    let zone = Zone::parse(&wanted.zone).ok_or_else(|| {
        Failure::usage(format!("--zone {} is no offset from UTC", wanted.zone)).with_remedy("give one such as +08:00")
    })?;
    if !wanted.id.is_empty() {
        return by_ids(shop, &wanted.id, zone).await;
    }
    let (from, to) = between(wanted, zone)?;
    Output::line(&record(HEADER.map(ToOwned::to_owned)))?;
    let mut before = None;
    loop {
        let store = Arc::clone(&shop.store);
        let page = run_alone(async move {
            let mut tx = store.snapshot().await?;
            let orders = tx.orders_created(from, to, before, PAGE).await?;
            rows(&mut *tx, orders).await
        })
        .await?;
        let Some(last) = page.last().map(|row| row.order.id) else { return Ok(Exit::Done) };
        write(&page, zone)?;
        before = Some(last);
    }
}

fn between(wanted: &Export, zone: Zone) -> Result<(Timestamp, Timestamp), Failure> {
    let wrong = |name: &str, text: &str| {
        Failure::usage(format!("--{name} {text} is no day and no instant"))
            .with_remedy("give 2026-11-30 or 2026-11-30T08:00:00Z")
    };
    let from = match &wanted.from {
        Some(text) => zone.begin(text).ok_or_else(|| wrong("from", text))?,
        None => timestamp(ALWAYS.0).ok_or_else(|| wrong("from", ALWAYS.0))?,
    };
    let to = match &wanted.to {
        Some(text) => zone.end(text).ok_or_else(|| wrong("to", text))?,
        None => timestamp(ALWAYS.1).ok_or_else(|| wrong("to", ALWAYS.1))?,
    };
    Ok((from, to))
}

/// Exactly these, in the order given; none if one of them is not there.
async fn by_ids(shop: &Shop, ids: &[String], zone: Zone) -> Outcome {
    let ids: Vec<OrderId> = ids.iter().map(|id| order_id(id)).collect::<Result<_, _>>()?;
    let (store, asked) = (Arc::clone(&shop.store), ids.clone());
    let found = run_alone(async move { read(&store, &asked).await }).await?;
    let mut found: HashMap<OrderId, Row> = found.into_iter().map(|row| (row.order.id, row)).collect();
    let missing = |id: &OrderId| Failure::not_found(format!("there is no order {id}"));
    let rows = ids.iter().map(|id| found.remove(id).ok_or_else(|| missing(id)));
    let rows: Vec<Row> = rows.collect::<Result<_, _>>()?;
    Output::line(&record(HEADER.map(ToOwned::to_owned)))?;
    write(&rows, zone)?;
    Ok(Exit::Done)
}

async fn read(store: &Arc<dyn Store>, ids: &[OrderId]) -> tessera_store::Result<Vec<Row>> {
    let mut tx = store.snapshot().await?;
    let orders = tx.orders_read(ids).await?;
    rows(&mut *tx, orders).await
}

async fn rows(tx: &mut dyn Tx, orders: Vec<Order>) -> tessera_store::Result<Vec<Row>> {
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

fn write(page: &[Row], zone: Zone) -> Result<(), Failure> {
    let records: Vec<String> = page.iter().map(|row| record(fields(row, zone))).collect();
    if records.is_empty() { Ok(()) } else { Output::line(&records.join("\n")) }
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

/// One record but for the line feed. A line ends in CR LF.
fn record<const N: usize>(fields: [String; N]) -> String {
    format!("{}\r", fields.map(|field| quoted(&field)).join(","))
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
        assert_eq!(record(["a".to_owned(), "b".to_owned()]), "a,b\r");
    }
}
