//! `tessera recover`: after a restore or a failover.

use serde_json::json;
use tessera_api::rfc3339;
use tessera_issuer::recover::{Recover, recover};
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
    let wish = Recover { burn: wanted.burn, actor: ACTOR.to_owned(), reason };
    let done = recover(&shop.store, &shop.entropy, wish).await?;
    let from = done.last_payment.map(rfc3339);
    let said = json!({
        "burned": done.burned.iter().map(|(batch, count)| json!({ "batch": batch.to_string(), "positions": count }))
            .collect::<Vec<_>>(),
        "sets": done.sets,
        "payments": { "from": from, "to": rfc3339(done.at) },
    });
    output.print(&said, |_| {
        let total: i64 = done.burned.iter().map(|(_, count)| count).sum();
        let from = from.clone().unwrap_or_else(|| "the beginning".to_owned());
        format!(
            "burned {total} positions of {} open batches, at most {} of each: what buyers may have seen is sold to nobody else\n\
             issuers go on by themselves\n\
             compare the provider's payments from {from} to {} with `tessera payments list`: orders and payments of that time may be \
             missing here",
            done.burned.len(),
            wanted.burn,
            rfc3339(done.at),
        )
    })?;
    Ok(Exit::Done)
}
