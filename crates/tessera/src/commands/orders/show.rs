//! `tessera orders show`: an order with its codes, and all that happened to it.

use std::sync::Arc;

use tessera_api::read::{CodeMark, Happened, OrderView, history, load_in};
use tessera_api::wire::{AdminOrderBody, OrderBody};
use tessera_backoffice::cards;
use tessera_model::ids::OrderId;
use tessera_model::time::Timestamp;
use tessera_store::run_alone;

use crate::Outcome;
use crate::commands::ACTOR;
use crate::failure::{Exit, Failure};
use crate::output::{Output, table};
use crate::shop::Shop;

pub(super) async fn show(shop: &Shop, id: OrderId, output: Output) -> Outcome {
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
