//! `tessera orders list|show|refund|accept|cancel|export`.

use std::sync::Arc;

use serde_json::json;
use tessera_api::Deed;
use tessera_api::read::{OrderView, load_each, load_in};
use tessera_api::wire::OrderBody;
use tessera_model::ids::OrderId;
use tessera_model::order::OrderStatus;
use tessera_model::text::{CustomerId, Reference};
use tessera_store::orders::OrderFilter;
use tessera_store::run_alone;

use super::{cursor, next};
use crate::Outcome;
use crate::cli::{Listing, Orders};
use crate::failure::{Exit, Failure};
use crate::output::{Output, table};
use crate::settings::Settings;
use crate::shop::{Missing, Shop};

mod deeds;
mod export;

pub(super) async fn run(settings: &Settings, command: Orders, output: Output) -> Outcome {
    let shop = Shop::open(settings, Missing::Refuse).await?;
    match command {
        Orders::List { state, customer, reference, listing } => {
            let filter = filter(state.as_deref(), customer.as_deref(), reference.as_deref(), &listing)?;
            list(&shop, filter, listing.limit, output).await
        }
        Orders::Show { id } => show(&shop, order_id(&id)?, output).await,
        Orders::Refund(wish) => deeds::run(&shop, Deed::Refund, &wish, output).await,
        Orders::Accept(wish) => deeds::run(&shop, Deed::Accept, &wish, output).await,
        Orders::Cancel(wish) => deeds::run(&shop, Deed::Cancel, &wish, output).await,
        Orders::Export(wanted) => export::run(&shop, &wanted, output).await,
    }
}

fn filter(
    state: Option<&str>,
    customer: Option<&str>,
    reference: Option<&str>,
    listing: &Listing,
) -> Result<OrderFilter, Failure> {
    let status = state.map(|s| {
        let known = || OrderStatus::ALL.map(OrderStatus::as_str).join(", ");
        OrderStatus::parse(s)
            .ok_or_else(|| Failure::usage(format!("--state {s} is no state")).with_remedy(known()))
    });
    let customer = customer.map(CustomerId::parse).transpose();
    let reference = reference.map(Reference::parse).transpose();
    Ok(OrderFilter {
        id: None,
        status: status.transpose()?,
        customer: customer.map_err(|e| Failure::usage(format!("--customer {e}")))?,
        reference: reference.map_err(|e| Failure::usage(format!("--reference {e}")))?,
        before: cursor(listing.cursor.as_deref(), OrderId::parse)?,
    })
}

async fn list(shop: &Shop, filter: OrderFilter, limit: i64, output: Output) -> Outcome {
    let (store, keyring) = (Arc::clone(&shop.store), Arc::clone(&shop.keyring));
    let reader = Arc::clone(&store);
    let ids: Vec<OrderId> = run_alone(async move {
        let mut tx = reader.snapshot().await?;
        Ok(tx.orders_list(&filter, limit).await?.iter().map(|o| o.id).collect())
    })
    .await?;
    let mut views = load_each(store, keyring, ids.clone()).await;
    let views: Vec<Arc<OrderView>> = ids
        .iter()
        .filter_map(|id| views.remove(id))
        .filter_map(|view| view.map_err(|error| tracing::error!(%error, "an order cannot be read")).ok())
        .collect();
    let now = shop.clock.now();
    let orders: Vec<OrderBody> = views.iter().map(|view| OrderBody::new(view, now)).collect();
    let listed = json!({ "orders": orders, "next": next(&views, limit, |v| v.order.id.to_string()) });
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

fn order_id(text: &str) -> Result<OrderId, Failure> {
    OrderId::parse(text).ok_or_else(|| {
        Failure::usage(format!("{text} is no order id")).with_remedy("`tessera orders list` shows them")
    })
}

async fn show(shop: &Shop, id: OrderId, output: Output) -> Outcome {
    let (store, keyring) = (Arc::clone(&shop.store), Arc::clone(&shop.keyring));
    let view = run_alone(async move {
        let mut tx = store.snapshot().await?;
        Ok(load_in(&mut *tx, &keyring, &[id]).await?.remove(&id))
    })
    .await?;
    let view = view.ok_or_else(|| Failure::not_found(format!("there is no order {id}")))?;
    output.print(&OrderBody::new(&view, shop.clock.now()), |_| text(&view))?;
    Ok(Exit::Done)
}

fn text(view: &OrderView) -> String {
    let order = &view.order;
    let at = |name: &str, at: Option<tessera_model::time::Timestamp>| {
        at.map(|at| format!("{name:<10} {}", tessera_api::rfc3339(at)))
    };
    let mut lines = vec![
        format!("{:<10} {}", "order", order.id),
        format!("{:<10} {} (version {})", "status", order.state.status(), order.version),
        format!("{:<10} {} {} (minor units)", "amount", order.amount.minor, order.amount.currency),
    ];
    lines.extend(at("placed", Some(order.created_at)));
    lines.extend(at("paid", order.state.paid_at()));
    lines.extend(at("issued", order.state.issued_at()));
    for portion in &view.portions {
        lines.push(format!("{:<10} {} {}", "money", portion.minor, portion.state.as_str()));
    }
    for line in &view.lines {
        lines.push(format!("{:<10} {} x {}", "line", line.quantity, line.sku));
        let codes = view.codes.iter().filter(|code| code.line == line.number);
        lines.extend(codes.map(|code| format!("{:>10} {}", code.position, code.text)));
    }
    lines.join("\n")
}
