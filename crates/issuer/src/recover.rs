//! Recover: after a restore or a failover, what may have been seen is burned, and issuers may go on.

use std::sync::Arc;

use tessera_model::batch::OpenBatch;
use tessera_model::ids::{BatchId, ProductId};
use tessera_model::span::{Span, SpanKind};
use tessera_model::time::Timestamp;
use tessera_store::ledger::SpanCause;
use tessera_store::operators::AuditEntry;
use tessera_store::{Entropy, Result, Store, Tx, run_alone};

/// Products that are read at a time.
const PAGE: i64 = 1_000;

/// What an operator says.
#[derive(Clone, Debug)]
pub struct Recover {
    /// Positions to burn in each open batch: as many codes of one batch as may have been given out since the copy was made.
    pub burn: i64,
    /// Who.
    pub actor: String,
    /// Why, if they said.
    pub reason: Option<String>,
}

/// What became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recovered {
    /// Open batches, and how many positions of each were burned.
    pub burned: Vec<(BatchId, i64)>,
    /// Issuing sets that this copy knows of.
    pub sets: i64,
    /// The last payment that this copy knows of: from then on the provider's list has to be compared.
    pub last_payment: Option<Timestamp>,
    /// When: up to here.
    pub at: Timestamp,
}

/// Burns positions of every open batch and renews the generation, with an audit entry in the same transaction.
///
/// # Errors
/// The store's.
pub async fn recover(store: &Arc<dyn Store>, entropy: &Arc<Entropy>, wish: Recover) -> Result<Recovered> {
    let (store, generation) = (Arc::clone(store), entropy.bytes());
    run_alone(async move {
        let mut tx = store.begin().await?;
        let recovered = run(&mut *tx, generation, &wish).await?;
        tx.commit().await?;
        Ok(recovered)
    })
    .await
}

async fn run(tx: &mut dyn Tx, generation: [u8; 16], wish: &Recover) -> Result<Recovered> {
    let products = products(tx).await?;
    tx.stock_lock(&products).await?;
    let mut batches = tx.batches_open_of(&products).await?;
    let raffles = tx.raffles_read(&products).await?;
    batches.extend(raffles.into_iter().filter_map(|raffle| raffle.round).map(|round| round.batch));
    let spans: Vec<Span> = batches.iter().filter_map(|batch| burned(batch, wish.burn)).collect();
    if !spans.is_empty() {
        tx.spans_append(&spans).await?;
        tx.spans_explain(&spans.iter().map(|span| cause(span, wish)).collect::<Vec<_>>()).await?;
        tx.batches_advance(&spans.iter().map(|span| (span.batch, span.upto)).collect::<Vec<_>>()).await?;
    }
    let total = spans.iter().map(|span| span.upto - span.start).sum();
    tx.generations_renew(generation, total).await?;
    let audit = AuditEntry {
        actor: wish.actor.clone(),
        action: "store.recover".to_owned(),
        subject: format!("{total} positions of {} batches burned", spans.len()),
        reason: wish.reason.clone(),
    };
    tx.audit_append(&[audit]).await?;
    let last = tx.payments_list(None, None, 1).await?;
    Ok(Recovered {
        burned: spans.iter().map(|span| (span.batch, span.upto - span.start)).collect(),
        sets: tx.meta().await?.sets,
        last_payment: last.first().map(|payment| payment.received_at),
        at: tx.now(),
    })
}

async fn products(tx: &mut dyn Tx) -> Result<Vec<ProductId>> {
    let (mut found, mut before) = (vec![], None);
    loop {
        let page = tx.products_list(before, PAGE).await?;
        let Some(last) = page.last() else { break };
        before = Some(last.id);
        found.extend(page.iter().map(|product| product.id));
    }
    found.sort_unstable();
    Ok(found)
}

fn burned(batch: &OpenBatch, burn: i64) -> Option<Span> {
    let upto = batch.size.min(batch.issued.saturating_add(burn));
    let (start, size, kind) = (batch.issued, batch.size, SpanKind::Burn);
    (upto > start).then_some(Span { batch: batch.id, start, upto, size, kind, owner: None })
}

fn cause(span: &Span, wish: &Recover) -> SpanCause {
    let (actor, reason) = (wish.actor.clone(), wish.reason.clone());
    SpanCause { batch: span.batch, upto: span.upto, actor, reason }
}
