//! `tessera codes export`.

use std::sync::Arc;

use tessera_api::read::{BatchCode, batch_codes};
use tessera_model::ids::BatchId;
use tessera_model::import::{write_header, write_row};
use tessera_model::text::Reason;
use tessera_store::operators::AuditEntry;
use tessera_store::run_alone;

use super::codes::sku;
use super::{ACTOR, products};
use crate::Outcome;
use crate::cli::ExportCodes;
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::shop::Shop;

/// Codes in memory at a time.
const PAGE: i64 = 1_000;

/// Batches that one look lists.
const BATCHES: i64 = 1_000;

/// Writes codes as CSV that a spreadsheet neither runs nor changes, and an import reads back.
pub(super) async fn export(shop: &Shop, wanted: &ExportCodes, output: Output) -> Outcome {
    if output.is_json() {
        return Err(Failure::usage("an export is CSV").with_remedy("leave --json out"));
    }
    let states = ["unissued", "issued", "voided"];
    if wanted.state.as_deref().is_some_and(|state| !states.contains(&state)) {
        return Err(Failure::usage("--state is none").with_remedy("give unissued, issued or voided"));
    }
    let batches = batches(shop, wanted).await?;
    audited(shop, wanted).await?;
    // First how many fields the widest code has, so that every row has as many cells.
    let mut columns = 1;
    for batch in &batches {
        each(shop, *batch, |code| {
            columns = columns.max(code.code.fields().count());
            Ok(())
        })
        .await?;
    }
    let mut text = String::new();
    write_header(columns, &mut text);
    for batch in &batches {
        let name = batch.to_string();
        each(shop, *batch, |code| {
            if wanted.state.as_deref().is_none_or(|state| state == code.state) {
                write_row(&code.code, columns, [code.state, &name], &mut text);
            }
            if text.len() < FLUSH { Ok(()) } else { flushed(&mut text) }
        })
        .await?;
    }
    flushed(&mut text)?;
    Ok(Exit::Done)
}

/// Bytes that are written at once.
const FLUSH: usize = 65_536;

fn flushed(text: &mut String) -> Result<(), Failure> {
    if let Some(whole) = text.strip_suffix("\r\n") {
        Output::line(&format!("{whole}\r"))?;
    }
    text.clear();
    Ok(())
}

/// The batch that was asked for, or all of the product, oldest first.
async fn batches(shop: &Shop, wanted: &ExportCodes) -> Result<Vec<BatchId>, Failure> {
    let sku = sku(&wanted.sku)?;
    let product = products::one(&shop.store, sku.clone()).await?;
    let product = product.ok_or_else(|| Failure::not_found(format!("there is no product {sku}")))?.product.id;
    let (mut found, mut before) = (vec![], None);
    loop {
        let store = Arc::clone(&shop.store);
        let page =
            run_alone(
                async move { store.snapshot().await?.batches_list(Some(product), before, BATCHES).await },
            );
        let page = page.await?;
        let Some(last) = page.last() else { break };
        before = Some(last.id);
        found.extend(page.iter().map(|batch| batch.id));
    }
    found.reverse();
    let Some(one) = &wanted.batch else { return Ok(found) };
    let one = BatchId::parse(one).filter(|one| found.contains(one));
    one.map(|one| vec![one]).ok_or_else(|| Failure::not_found(format!("{sku} has no such batch")))
}

/// Codes are secrets: who exports them is written down before the first is read.
async fn audited(shop: &Shop, wanted: &ExportCodes) -> Result<(), Failure> {
    let reason = wanted.reason.as_deref().map(Reason::parse).transpose();
    let entry = AuditEntry {
        actor: ACTOR.to_owned(),
        action: "codes.export".to_owned(),
        subject: wanted.batch.clone().unwrap_or_else(|| wanted.sku.clone()),
        reason: reason.map_err(|e| Failure::usage(format!("--reason {e}")))?.map(|reason| reason.to_string()),
    };
    let store = Arc::clone(&shop.store);
    let written = run_alone(async move {
        let mut tx = store.begin().await?;
        tx.audit_append(&[entry]).await?;
        tx.commit().await
    });
    Ok(written.await?)
}

async fn each(
    shop: &Shop,
    batch: BatchId,
    mut take: impl FnMut(&BatchCode) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut from = 0;
    loop {
        let codes = batch_codes(&shop.store, &shop.keyring, batch, from, from + PAGE).await?;
        if codes.is_empty() {
            return Ok(());
        }
        codes.iter().try_for_each(&mut take)?;
        from += PAGE;
    }
}
