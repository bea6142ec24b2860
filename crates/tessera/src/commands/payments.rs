//! `tessera payments list|refunded|notices`.

use std::sync::Arc;

use serde_json::json;
use tessera_api::read::{PaymentView, payment, payments};
use tessera_api::wire::{NoticeBody, PaymentBody};
use tessera_api::{refund_told, rfc3339};
use tessera_model::ids::{NoticeId, PaymentId};
use tessera_model::pay::{MoneyState, PaymentReason};
use tessera_model::text::{Reason, Reference};
use tessera_orders::refunds::{RefundTold, Refunds};
use tessera_store::{run_alone, run_set};

use super::{ACTOR, cursor, next};
use crate::Outcome;
use crate::cli::{Listing, Payments};
use crate::failure::{Exit, Failure};
use crate::output::{Output, or_dash, table};
use crate::settings::Settings;
use crate::shop::{Missing, Shop};

pub(super) async fn run(settings: &Settings, command: Payments, output: Output) -> Outcome {
    let shop = Shop::open(settings, Missing::Refuse).await?;
    match command {
        Payments::List { state, listing } => list(&shop, state.as_deref(), &listing, output).await,
        Payments::Refunded { id, reference, minor, reason } => {
            let told = told(&id, &reference, minor, reason.as_deref())?;
            refunded(&shop, told, output).await
        }
        Payments::Notices(listing) => notices(&shop, &listing, output).await,
    }
}

async fn list(shop: &Shop, state: Option<&str>, listing: &Listing, output: Output) -> Outcome {
    let state = state.map(|s| {
        let known = || MoneyState::ALL.map(MoneyState::as_str).join(", ");
        MoneyState::parse(s)
            .ok_or_else(|| Failure::usage(format!("--state {s} is no state")).with_remedy(known()))
    });
    let (state, limit) = (state.transpose()?, listing.limit);
    let before = cursor(listing.cursor.as_deref(), PaymentId::parse)?;
    let views = payments(&shop.store, state, before, limit).await?;
    let bodies: Vec<PaymentBody> = views.iter().map(PaymentBody::from).collect();
    let next = next(&views, limit, |view| view.stored.payment.id.to_string());
    output.print(&json!({ "payments": bodies, "next": next }), |_| {
        let header =
            ["id", "provider", "reference", "order", "amount (minor)", "money", "received at", "reason"];
        table(&header, views.iter().map(row))
    })?;
    Ok(Exit::Done)
}

fn row(view: &PaymentView) -> [String; 8] {
    let (stored, payment) = (&view.stored, &view.stored.payment);
    [
        payment.id.to_string(),
        payment.provider.to_string(),
        payment.reference.to_string(),
        or_dash(stored.order.map(|order| order.to_string())),
        format!("{} {}", payment.amount.minor, payment.amount.currency),
        money(view),
        rfc3339(stored.received_at),
        or_dash(stored.reason.map(|reason| PaymentReason::as_str(reason).to_owned())),
    ]
}

fn money(view: &PaymentView) -> String {
    let each = view.portions.iter().map(|(state, minor)| format!("{minor} {}", state.as_str()));
    each.collect::<Vec<_>>().join(", ")
}

fn told(id: &str, reference: &str, minor: Option<i64>, reason: Option<&str>) -> Result<RefundTold, Failure> {
    let payment = PaymentId::parse(id).ok_or_else(|| {
        Failure::usage(format!("{id} is no payment's id")).with_remedy("`tessera payments list` shows them")
    })?;
    let reference = Reference::parse(reference).map_err(|e| Failure::usage(format!("--reference {e}")))?;
    let reason = reason.map(Reason::parse).transpose();
    let reason = reason.map_err(|e| Failure::usage(format!("--reason {e}")))?;
    Ok(RefundTold::Confirmed { payment, reference, minor, actor: ACTOR.to_owned(), reason })
}

async fn refunded(shop: &Shop, told: RefundTold, output: Output) -> Outcome {
    let RefundTold::Confirmed { payment: id, .. } = &told else {
        return Err(Failure::usage("only an operator's word is taken here"));
    };
    let id = *id;
    let mut outcomes = run_set(Arc::clone(&shop.store), Arc::new(Refunds), vec![told]).await;
    let outcome = outcomes.pop().ok_or_else(|| Failure::no("the step gave no outcome"))??;
    let new = refund_told(outcome)?;
    let view = payment(&shop.store, id).await?;
    let view = view.ok_or_else(|| Failure::not_found(format!("there is no payment {id}")))?;
    output.print(&PaymentBody::from(&view), |_| {
        let known = if new { "" } else { " (known before; nothing changed)" };
        format!("{id}: {}{known}", money(&view))
    })?;
    Ok(Exit::Done)
}

async fn notices(shop: &Shop, listing: &Listing, output: Output) -> Outcome {
    let (before, limit) = (cursor(listing.cursor.as_deref(), NoticeId::parse)?, listing.limit);
    let store = Arc::clone(&shop.store);
    let notices = run_alone(async move { store.snapshot().await?.notices_list(before, limit).await }).await?;
    let bodies: Vec<NoticeBody> = notices.iter().map(NoticeBody::from).collect();
    let next = next(&notices, limit, |notice| notice.id.to_string());
    output.print(&json!({ "notices": bodies, "next": next }), |_| {
        let rows = notices.iter().map(|notice| {
            let body = String::from_utf8_lossy(&notice.body).escape_debug().to_string();
            [notice.id.to_string(), rfc3339(notice.received_at), notice.reason.clone(), body]
        });
        table(&["id", "received at", "reason", "body"], rows)
    })?;
    Ok(Exit::Done)
}
