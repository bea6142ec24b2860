//! `tessera orders list|show|refund|accept|cancel|export`.

use std::sync::Arc;

use tessera_api::Deed;
use tessera_api::read::{CodeMark, Happened, OrderView, history, load_in, load_listed};
use tessera_api::wire::{AdminOrderBody, OrderBody, OrderList};
use tessera_backoffice::cards;
use tessera_model::ids::OrderId;
use tessera_model::order::OrderStatus;
use tessera_model::text::{CustomerId, Reference};
use tessera_model::time::Timestamp;
use tessera_store::orders::{OrderFilter, STUCK_AFTER};
use tessera_store::run_alone;

use super::{ACTOR, cursor, next, replace, void};
use crate::Outcome;
use crate::cli::{Find, Orders};
use crate::failure::{Exit, Failure};
use crate::output::{Output, table};
use crate::settings::Settings;
use crate::shop::{Missing, Shop};

mod deeds;
mod export;

pub(super) async fn run(settings: &Settings, command: Orders, output: Output) -> Outcome {
    let shop = Shop::open(settings, Missing::Refuse).await?;
    match command {
        Orders::List(wanted) => list(&shop, wanted, output).await,
        Orders::Show { id } => show(&shop, order_id(&id)?, output).await,
        Orders::Replace(wanted) => replace::replace(&shop, wanted, output).await,
        Orders::ReissueLink(wanted) => replace::reissue_link(&shop, wanted, output).await,
        Orders::Refund(wish) => deeds::run(&shop, Deed::Refund, &wish, output).await,
        Orders::Accept(wish) => deeds::run(&shop, Deed::Accept, &wish, output).await,
        Orders::Cancel(wish) => deeds::run(&shop, Deed::Cancel, &wish, output).await,
        Orders::Export(wanted) => export::run(&shop, &wanted, output).await,
    }
}

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

async fn list(shop: &Shop, wanted: Find, output: Output) -> Outcome {
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

fn order_id(text: &str) -> Result<OrderId, Failure> {
    OrderId::parse(text).ok_or_else(|| {
        Failure::usage(format!("{text} is no order id")).with_remedy("`tessera orders list` shows them")
    })
}

async fn show(shop: &Shop, id: OrderId, output: Output) -> Outcome {
    let (store, keyring) = (Arc::clone(&shop.store), Arc::clone(&shop.keyring));
    let found = run_alone(async move {
        let mut tx = store.snapshot().await?;
        let Some(view) = load_in(&mut *tx, &keyring, &[id]).await?.remove(&id) else { return Ok(None) };
        let happened = history(&mut *tx, &view.order).await?;
        Ok(Some((view, happened)))
    })
    .await?;
    let (view, happened) = found.ok_or_else(|| Failure::not_found(format!("there is no order {id}")))?;
    if !view.codes.is_empty() {
        cards::codes_read(&shop.store, id, ACTOR.to_owned()).await?;
    }
    let body = AdminOrderBody::new(OrderBody::new(&view, shop.clock.now()), &happened);
    output.print(&body, |_| format!("{}\n\n{}", text(&view), past(&happened)))?;
    Ok(Exit::Done)
}

/// All that happened, a line each.
fn past(happened: &[(Timestamp, Happened)]) -> String {
    let rows = happened.iter().map(|(at, what)| {
        let (what, detail) = match what {
            Happened::State(word) => ((*word).to_owned(), String::new()),
            Happened::Money(m) => (
                format!("money {}", m.state.as_str()),
                format!("{} by {} {}", m.amount, m.provider, m.reference),
            ),
            Happened::Codes(m) => {
                let why = m.reason.as_deref().unwrap_or_default();
                (
                    m.what.as_str().to_owned(),
                    format!("{} of {} from batch {} {why}", m.quantity, m.sku, m.batch),
                )
            }
            Happened::Audit(entry) => (
                entry.action.clone(),
                format!("{} {}", entry.actor, entry.reason.as_deref().unwrap_or_default()),
            ),
            Happened::Letter(letter) => {
                (format!("dead letter {}", letter.state.as_str()), letter.reason.clone())
            }
        };
        [tessera_api::rfc3339(*at), what, detail]
    });
    table(&["at", "what", ""], rows)
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
        lines.extend(codes.map(|code| match code.state {
            CodeMark::Issued => format!("{:>10} {}", code.position, code.text),
            mark => format!("{:>10} {} ({})", code.position, code.text, mark.as_str()),
        }));
    }
    lines.join("\n")
}
