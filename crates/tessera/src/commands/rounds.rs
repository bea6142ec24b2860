//! `tessera rounds list|show|verify|entropy|cancel`.

use std::sync::Arc;

use data_encoding::HEXLOWER_PERMISSIVE;
use serde_json::json;
use tessera_api::wire::{ProofBody, RoundBody};
use tessera_issuer::rounds::{BeaconOutcome, CallOff, CallOffOutcome, call_off, keep_beacon, proof};
use tessera_model::ids::BatchId;
use tessera_model::round::{Round, RoundState};
use tessera_model::text::Sku;
use tessera_store::run_alone;

use super::{ACTOR, cursor, next};
use crate::Outcome;
use crate::cli::{Listing, Rounds};
use crate::failure::{Exit, Failure};
use crate::output::{Output, or_dash, table};
use crate::settings::Settings;
use crate::shop::{Missing, Shop};

mod verify;

/// `verify` of a file needs no settings and no store.
pub(super) async fn run(
    settings: impl FnOnce() -> Result<Settings, Failure>,
    command: Rounds,
    output: Output,
) -> Outcome {
    let id = match &command {
        Rounds::Verify { of } => match BatchId::parse(of) {
            Some(id) => Some(id),
            None => return verify::file(of, output),
        },
        Rounds::Show { id } | Rounds::Entropy { id, .. } | Rounds::Cancel { id, .. } => {
            Some(BatchId::parse(id).ok_or_else(missing)?)
        }
        Rounds::List { .. } => None,
    };
    let shop = Shop::open(&settings()?, Missing::Refuse).await?;
    match (command, id) {
        (Rounds::List { sku, listing }, _) => list(&shop, sku.as_deref(), &listing, output).await,
        (_, None) => Err(missing()),
        (Rounds::Show { .. }, Some(id)) => show(&shop, id, output).await,
        (Rounds::Verify { .. }, Some(id)) => verify_drawn(&shop, id, output).await,
        (Rounds::Entropy { randomness, .. }, Some(id)) => entropy(&shop, id, &randomness, output).await,
        (Rounds::Cancel { reason, .. }, Some(id)) => cancel(&shop, id, reason, output).await,
    }
}

fn missing() -> Failure {
    Failure::not_found("there is no such round").with_remedy("`tessera rounds list` shows all")
}

async fn list(shop: &Shop, sku: Option<&str>, listing: &Listing, output: Output) -> Outcome {
    let sku = sku.map(Sku::parse).transpose().map_err(|e| Failure::usage(format!("the sku {e}")))?;
    let before = cursor(listing.cursor.as_deref(), BatchId::parse)?;
    let (store, limit) = (Arc::clone(&shop.store), listing.limit);
    let rounds = run_alone(async move {
        let mut tx = store.snapshot().await?;
        let Some(sku) = sku else { return tx.rounds_list(None, before, limit).await.map(Some) };
        let Some(product) = tx.products_of(&[sku]).await?.pop() else { return Ok(None) };
        tx.rounds_list(Some(product.id), before, limit).await.map(Some)
    })
    .await?
    .ok_or_else(|| Failure::not_found("there is no such product"))?;
    let listed = json!({
        "rounds": rounds.iter().map(RoundBody::new).collect::<Vec<_>>(),
        "next": next(&rounds, limit, |round| round.id.to_string()),
    });
    output.print(&listed, |_| {
        let rows = rounds.iter().map(|round| {
            [
                round.id.to_string(),
                round.sku.to_string(),
                round.number.to_string(),
                round.state.as_str().to_owned(),
                format!("{}/{}", round.sold, round.shares),
                or_dash(round.drawn.map(|drawn| drawn.number.to_string())),
            ]
        });
        table(&["id", "sku", "number", "state", "sold", "winning number"], rows)
    })?;
    Ok(Exit::Done)
}

async fn read(shop: &Shop, id: BatchId) -> Result<Round, Failure> {
    let store = Arc::clone(&shop.store);
    let found = run_alone(async move { store.snapshot().await?.rounds_read(&[id]).await }).await?;
    found.into_iter().next().ok_or_else(missing)
}

async fn show(shop: &Shop, id: BatchId, output: Output) -> Outcome {
    let body = RoundBody::new(&read(shop, id).await?);
    output.print(&body, |body| serde_json::to_string_pretty(body).unwrap_or_default())?;
    Ok(Exit::Done)
}

async fn verify_drawn(shop: &Shop, id: BatchId, output: Output) -> Outcome {
    let round = read(shop, id).await?;
    let (store, mint, state) = (Arc::clone(&shop.store), shop.mint(), round.state.as_str());
    let proof = run_alone(async move {
        let mut tx = store.snapshot().await?;
        proof(&mut *tx, &mint, &round).await
    })
    .await?;
    let proof =
        proof.ok_or_else(|| Failure::no(format!("the round is {state}: there is no draw to verify")))?;
    verify::print(&ProofBody::from(&proof), output)
}

async fn entropy(shop: &Shop, id: BatchId, randomness: &str, output: Output) -> Outcome {
    let bytes: Option<[u8; 32]> =
        HEXLOWER_PERMISSIVE.decode(randomness.as_bytes()).ok().and_then(|bytes| bytes.try_into().ok());
    let bytes = bytes.ok_or_else(|| {
        Failure::usage("the randomness is not 64 digits of hex")
            .with_remedy("give that of the beacon's round that `tessera rounds show` names")
    })?;
    let decides = match keep_beacon(&shop.store, id, bytes, ACTOR.to_owned()).await? {
        BeaconOutcome::Kept(decides) => decides,
        BeaconOutcome::NoBeacon => return Err(Failure::no("the round's draw takes no beacon")),
        BeaconOutcome::NotFull => return Err(Failure::no("the round is not full: no value decides yet")),
        BeaconOutcome::Past(state) => {
            return Err(Failure::no(format!("the round is {}, or has its value already", state.as_str())));
        }
        BeaconOutcome::Unknown => return Err(missing()),
    };
    let said = json!({ "round": id.to_string(), "beacon_round": decides });
    output.print(&said, |_| format!("kept; it is the value of the beacon's round {decides}"))?;
    Ok(Exit::Done)
}

async fn cancel(shop: &Shop, id: BatchId, reason: String, output: Output) -> Outcome {
    let wish = CallOff { round: id, reason, actor: ACTOR.to_owned() };
    let orders = match call_off(&shop.store, &shop.mint(), wish).await? {
        CallOffOutcome::CalledOff(orders) => orders,
        CallOffOutcome::Past(RoundState::Drawn) => {
            return Err(Failure::no("the round is drawn: its draw stands"));
        }
        CallOffOutcome::Past(state) => return Err(Failure::no(format!("the round is {}", state.as_str()))),
        CallOffOutcome::Unknown => return Err(missing()),
    };
    let said = json!({ "round": id.to_string(), "state": "cancelled", "orders": orders });
    output.print(&said, |_| {
        format!("cancelled; {orders} orders get money back: `tessera payments list --state refund_due`")
    })?;
    Ok(Exit::Done)
}
