//! `/v1/products/{sku}/rounds` and `/v1/rounds/{id}`.

use std::sync::Arc;

use axum::extract::{Path, Query, State};
use axum::response::{IntoResponse, Response};
use tessera_issuer::{Mint, rounds};
use tessera_model::ids::BatchId;
use tessera_model::round::Round;
use tessera_model::text::Sku;
use tessera_store::run_alone;

use super::listing::{Listing, next};
use super::products::fresh;
use crate::app::App;
use crate::problem::{Problem, ProblemBody, Slug};
use crate::wire::{ProofBody, RoundBody, RoundList};

fn missing() -> Problem {
    Problem::new(Slug::NotFound, "there is no such round")
}

/// The rounds of a raffle, newest first.
#[utoipa::path(get, path = "/v1/products/{sku}/rounds", tag = "rounds", params(("sku" = String, Path), Listing),
    responses((status = 200, description = "its rounds", body = RoundList),
        (status = 404, description = "unknown or inactive, or no raffle", body = ProblemBody)))]
pub(super) async fn rounds(
    State(app): State<App>,
    Path(sku): Path<String>,
    Query(listing): Query<Listing>,
) -> Result<Response, Problem> {
    let none = || Problem::new(Slug::NotFound, "there is no such raffle");
    let sku = Sku::parse(&sku).map_err(|_| none())?;
    let (before, limit) = listing.page(BatchId::parse)?;
    let store = Arc::clone(&app.store);
    let found = run_alone(async move {
        let mut tx = store.snapshot().await?;
        let product = tx.products_of(&[sku]).await?.pop();
        let raffle = product.filter(|p| p.rules.active && p.rules.kind.raffle().is_some());
        let Some(raffle) = raffle else { return Ok(None) };
        tx.rounds_list(Some(raffle.id), before, limit).await.map(Some)
    })
    .await?;
    let rounds = found.ok_or_else(none)?;
    let next = next(&rounds, limit, |round| round.id.to_string());
    Ok(fresh(axum::Json(RoundList { rounds: rounds.iter().map(RoundBody::new).collect(), next })))
}

/// One round.
#[utoipa::path(get, path = "/v1/rounds/{id}", tag = "rounds", params(("id" = String, Path)),
    responses((status = 200, description = "the round", body = RoundBody),
        (status = 404, description = "unknown", body = ProblemBody)))]
pub(super) async fn round(State(app): State<App>, Path(id): Path<String>) -> Result<Response, Problem> {
    let id = BatchId::parse(&id).ok_or_else(missing)?;
    Ok(fresh(axum::Json(RoundBody::new(&read(&app, id).await?))))
}

/// The proof of its draw, which anybody can check.
#[utoipa::path(get, path = "/v1/rounds/{id}/proof", tag = "rounds", params(("id" = String, Path)),
    responses((status = 200, description = "seed, ledger and winner", body = ProofBody),
        (status = 404, description = "unknown", body = ProblemBody),
        (status = 409, description = "`round-not-drawn`", body = ProblemBody)))]
pub(super) async fn proof(State(app): State<App>, Path(id): Path<String>) -> Result<Response, Problem> {
    let round = read(&app, BatchId::parse(&id).ok_or_else(missing)?).await?;
    let (store, mint) = (Arc::clone(&app.store), Mint::new(&app.keyring, &app.entropy));
    let state = round.state;
    let proof = run_alone(async move {
        let mut tx = store.snapshot().await?;
        rounds::proof(&mut *tx, &mint, &round).await
    })
    .await?;
    let undrawn = || Problem::new(Slug::RoundNotDrawn, format!("the round is {}", state.as_str()));
    Ok(axum::Json(ProofBody::from(&proof.ok_or_else(undrawn)?)).into_response())
}

async fn read(app: &App, id: BatchId) -> Result<Round, Problem> {
    let store = Arc::clone(&app.store);
    let found = run_alone(async move { store.snapshot().await?.rounds_read(&[id]).await }).await?;
    found.into_iter().next().ok_or_else(missing)
}
