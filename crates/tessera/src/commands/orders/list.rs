//! `tessera orders list`.

use std::sync::Arc;

use tessera_api::read::load_listed;
use tessera_api::wire::{OrderBody, OrderList};
use tessera_backoffice::cards;
use tessera_model::ids::OrderId;
use tessera_model::order::OrderStatus;
use tessera_model::text::{CustomerId, Reference};
use tessera_model::time::Timestamp;
use tessera_store::orders::{OrderFilter, STUCK_AFTER};
use tessera_store::run_alone;

use crate::Outcome;
use crate::cli::Find;
use crate::commands::{cursor, next, void};
use crate::failure::{Exit, Failure};
use crate::output::{Output, table};
use crate::shop::Shop;

fn filter(wanted: &Find, now: Timestamp) -> Result<OrderFilter, Failure> {
    let status = wanted.state.as_deref().map(|s| {
        let known = || OrderStatus::ALL.map(OrderStatus::as_str).join(", ");
        OrderStatus::parse(s)
            .ok_or_else(|| Failure::usage(format!("--state {s} is no state")).with_remedy(known()))
    });
    let customer = wanted.customer.as_deref().map(CustomerId::parse).transpose();
    let reference = wanted.reference.as_deref().map(Reference::parse).transpose();
    Ok(OrderFilter {
        id: None,
        status: status.transpose()?,
        customer: customer.map_err(|e| Failure::usage(format!("--customer {e}")))?,
        reference: reference.map_err(|e| Failure::usage(format!("--reference {e}")))?,
        from: instant("--from", wanted.from.as_deref())?,
        to: instant("--to", wanted.to.as_deref())?,
        stuck: wanted.stuck.then(|| now.minus(STUCK_AFTER)),
        before: cursor(wanted.listing.cursor.as_deref(), OrderId::parse)?,
    })
}

fn instant(option: &str, text: Option<&str>) -> Result<Option<Timestamp>, Failure> {
    let wrong = || Failure::usage(format!("{option} is no instant")).with_remedy("give 2026-11-30T12:00:00Z");
    text.map(|text| tessera_api::timestamp(text).ok_or_else(wrong)).transpose()
}

/// The order of a code, from standard input if it is `-`; none if nobody has or had it.
async fn owner(shop: &Shop, code: &str) -> Result<Option<OrderId>, Failure> {
    let given = if code == "-" { void::read("-")? } else { zeroize::Zeroizing::new(code.to_owned()) };
    let found = cards::find(&shop.store, &shop.keyring, given.trim_end_matches(['\r', '\n'])).await?;
    Ok(found.and_then(|found| found.owner).map(|owner| owner.order))
}

pub(super) async fn list(shop: &Shop, wanted: Find, output: Output) -> Outcome {
    let (mut filter, limit) = (filter(&wanted, shop.clock.now())?, wanted.listing.limit);
    let mut nobody = false;
    if let Some(code) = &wanted.code {
        filter.id = owner(shop, code).await?;
        nobody = filter.id.is_none();
    }
    let store = Arc::clone(&shop.store);
    let views = run_alone(async move {
        let mut tx = store.snapshot().await?;
        let orders = if nobody { vec![] } else { tx.orders_list(&filter, limit).await? };
        load_listed(&mut *tx, orders).await
    })
    .await?;
    let now = shop.clock.now();
    let orders: Vec<OrderBody> = views.iter().map(|view| OrderBody::new(view, now)).collect();
    let listed = OrderList { orders, next: next(&views, limit, |v| v.order.id.to_string()) };
    output.print(&listed, |_| {
        let rows = views.iter().map(|view| {
            let order = &view.order;
            let lines = view.lines.iter().map(|l| format!("{} x {}", l.quantity, l.sku));
            [
                order.id.to_string(),
                order.state.status().to_string(),
                format!("{} {}", order.amount.minor, order.amount.currency),
                lines.collect::<Vec<_>>().join(", "),
                tessera_api::rfc3339(order.created_at),
            ]
        });
        table(&["id", "status", "amount (minor)", "lines", "created at"], rows)
    })?;
    Ok(Exit::Done)
}
