//! `tessera recover`: after a restore or a failover.

use serde_json::{Value, json};
use tessera_api::rfc3339;
use tessera_issuer::recover::{Recover, Recovered, recover};
use tessera_model::ids::BatchId;
use tessera_model::text::Reason;

use super::ACTOR;
use crate::Outcome;
use crate::cli::RecoverWish;
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::settings::Settings;
use crate::shop::{Missing, Shop};

pub(super) async fn run(settings: &Settings, wanted: &RecoverWish, output: Output) -> Outcome {
    let shop = Shop::open(settings, Missing::Refuse).await?;
    let reason = wanted.reason.as_deref().map(Reason::parse).transpose();
    let reason =
        reason.map_err(|e| Failure::usage(format!("--reason {e}")))?.map(|reason| reason.to_string());
    let wish = Recover {
        burn: wanted.burn,
        skip: wanted.skip_coupons,
        seen: crate::note::seen(&settings.data_dir),
        actor: ACTOR.to_owned(),
        reason,
    };
    let done = recover(&shop.store, &shop.mint(), wish).await?;
    output.print(&said(&done), |_| told(&done))?;
    Ok(Exit::Done)
}

fn said(done: &Recovered) -> Value {
    let counted = |name: &str, counts: &[(BatchId, i64)]| -> Vec<Value> {
        counts.iter().map(|(batch, count)| json!({ "batch": batch.to_string(), name: count })).collect()
    };
    json!({
        "burned": counted("positions", &done.burned),
        "skipped": done.skipped.iter().map(|(format, count)| json!({ "format": format.as_str(), "codes": count }))
            .collect::<Vec<_>>(),
        "lost": counted("given_out", &done.lost),
        "called_off": done.called_off.iter().map(BatchId::to_string).collect::<Vec<_>>(),
        "rounds": done.rounds.iter().map(BatchId::to_string).collect::<Vec<_>>(),
        "sets": done.sets,
        "payments": { "from": done.last_payment.map(rfc3339), "to": rfc3339(done.at) },
    })
}

fn told(done: &Recovered) -> String {
    let total: i64 = done.burned.iter().map(|(_, count)| count).sum();
    let from = done.last_payment.map_or_else(|| "the beginning".to_owned(), rfc3339);
    let mut lines = vec![format!(
        "burned {total} positions, which are sold to nobody (open batches: {})",
        done.burned.len(),
    )];
    lines.extend(done.skipped.iter().map(|(format, count)| format!("left out {count} codes of {format}")));
    lines.extend(done.lost.iter().map(|(batch, count)| {
        format!("batch {batch} is not in this copy, and {count} of its codes were given out: import the others alone")
    }));
    lines.extend(done.called_off.iter().map(|round| {
        format!("round {round} was sold out since, and is called off: its orders are paid back")
    }));
    lines.extend(done.rounds.iter().map(|round| {
        format!("round {round} was on sale: if it was drawn since, `tessera rounds cancel {round}`")
    }));
    lines.push("issuers go on by themselves".to_owned());
    lines.push(format!(
        "compare the provider's payments from {from} to {} with `tessera payments list`: orders and payments of that time may \
         be missing here",
        rfc3339(done.at),
    ));
    lines.join("\n")
}
