//! `tessera dlq list|show`.

use std::sync::Arc;

use serde_json::{Value, json};
use tessera_api::rfc3339;
use tessera_model::ids::LetterId;
use tessera_store::letters::{Letter, LetterState};
use tessera_store::run_alone;

use super::{cursor, next};
use crate::Outcome;
use crate::cli::{Dlq, Listing};
use crate::failure::{Exit, Failure};
use crate::output::{Output, or_dash, table};
use crate::settings::Settings;
use crate::shop::{Missing, Shop};

pub(super) async fn run(settings: &Settings, command: Dlq, output: Output) -> Outcome {
    let shop = Shop::open(settings, Missing::Refuse).await?;
    match command {
        Dlq::List { state, listing } => list(&shop, state.as_deref(), &listing, output).await,
        Dlq::Show { id } => show(&shop, &id, output).await,
    }
}

fn body(letter: &Letter) -> Value {
    let mut body = json!({
        "id": letter.id.to_string(),
        "message_id": letter.message_id,
        "event": letter.event,
        "reason": letter.reason,
        "fingerprint": letter.fingerprint,
        "attempts": letter.attempts,
        "state": letter.state.as_str(),
        "first_failed_at": rfc3339(letter.first_failed_at),
        "last_failed_at": rfc3339(letter.last_failed_at),
    });
    if let Some(order) = letter.order {
        body["order_id"] = json!(order.to_string());
    }
    body
}

async fn list(shop: &Shop, state: Option<&str>, listing: &Listing, output: Output) -> Outcome {
    let state = state.map(|s| {
        let known = || LetterState::ALL.map(LetterState::as_str).join(", ");
        LetterState::parse(s)
            .ok_or_else(|| Failure::usage(format!("--state {s} is no state")).with_remedy(known()))
    });
    let (state, limit) = (state.transpose()?, listing.limit);
    let before = cursor(listing.cursor.as_deref(), LetterId::parse)?;
    let store = Arc::clone(&shop.store);
    let letters =
        run_alone(async move { store.snapshot().await?.letters_list(state, before, limit).await }).await?;
    let listed = json!({
        "dead_letters": letters.iter().map(body).collect::<Vec<_>>(),
        "next": next(&letters, limit, |l| l.id.to_string()),
    });
    output.print(&listed, |_| {
        let rows = letters.iter().map(|l| {
            [
                l.id.to_string(),
                l.state.as_str().to_owned(),
                or_dash(l.order.map(|o| o.to_string())),
                l.attempts.to_string(),
                rfc3339(l.last_failed_at),
                l.reason.clone(),
            ]
        });
        table(&["id", "state", "order", "attempts", "last failed at", "reason"], rows)
    })?;
    Ok(Exit::Done)
}

async fn show(shop: &Shop, id: &str, output: Output) -> Outcome {
    let id = LetterId::parse(id).ok_or_else(|| Failure::usage("that is no dead letter's id"))?;
    let store = Arc::clone(&shop.store);
    let letter = run_alone(async move { store.snapshot().await?.letters_read(id).await }).await?;
    let letter = letter.ok_or_else(|| Failure::not_found(format!("there is no dead letter {id}")))?;
    let mut shown = body(&letter);
    shown["body"] = json!(String::from_utf8_lossy(&letter.body));
    output.print(&shown, |shown| serde_json::to_string_pretty(shown).unwrap_or_default())?;
    Ok(Exit::Done)
}
