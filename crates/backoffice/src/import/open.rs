//! The ends of an import: a batch that begins to load, and one that opens or goes away.

use std::sync::Arc;

use tessera_model::ids::BatchId;
use tessera_model::keys::{BatchKeys, Keyring, Secret, wrap};
use tessera_model::product::Product;
use tessera_store::batches::NewBatch;
use tessera_store::ledger::SpanCause;
use tessera_store::operators::AuditEntry;
use tessera_store::{Entropy, Result, Store, StoreError, Tx, commit, run_alone};

use super::chunk::Loading;
use super::{ImportError, LEASE, LEASE_LASTS, Report, Request};
use crate::janitor;

/// Begins a batch that nobody sees.
pub(super) async fn begin(
    (store, keyring, entropy): (&Arc<dyn Store>, &Arc<Keyring>, &Arc<Entropy>),
    product: &Product,
    request: &Request,
    lease: ([u8; 16], String),
) -> Result<Loading, ImportError> {
    let bought = request.bought.clone();
    let secret = Secret::new(entropy.bytes());
    let (writer, ring, random, nonce) =
        (Arc::clone(store), Arc::clone(keyring), entropy.bytes(), entropy.bytes());
    let (product, pick, wrapped) = (product.id, product.rules.pick, secret.clone());
    let id = run_alone(async move {
        let mut tx = writer.begin().await?;
        let id = BatchId::new(tx.now(), random);
        let key = wrap(&ring, "batch", id.uuid().as_bytes(), &wrapped, nonce)
            .map_err(|e| StoreError::Data(e.to_string()))?;
        tx.batches_begin(&NewBatch { id, product, pick, key, bought }).await?;
        commit("import-begin", tx).await?;
        Ok(id)
    })
    .await?;
    Ok(Loading::new(
        Arc::clone(store),
        Arc::clone(keyring),
        Arc::clone(entropy),
        (id, BatchKeys::new(id, &secret)),
        lease,
        request,
    ))
}

/// Opens the batch if all went well and something is to be opened; removes it otherwise.
pub(super) async fn finish(
    store: &Arc<dyn Store>,
    loading: Loading,
    read: Result<(), ImportError>,
    request: &Request,
) -> Result<Report, ImportError> {
    let (batch, holder) = (loading.batch(), loading.holder());
    let mut report = loading.report;
    let opens = read.is_ok() && !request.dry_run && !report.refused && report.new > 0;
    if opens {
        open(store, batch, &report, holder, request).await?;
        report.batch = Some(batch);
    } else {
        janitor::discard(store, batch, Some(holder)).await?;
    }
    read.map(|()| report)
}

async fn open(
    store: &Arc<dyn Store>,
    batch: BatchId,
    report: &Report,
    holder: [u8; 16],
    request: &Request,
) -> Result<(), ImportError> {
    let size = i64::try_from(report.new).unwrap_or(i64::MAX);
    let entry = AuditEntry {
        actor: request.actor.clone(),
        action: "codes.import".to_owned(),
        subject: format!("{batch} ({size} codes of {} for {})", request.source, request.sku),
        reason: request.reason.clone(),
    };
    let (store, purpose) = (Arc::clone(store), format!("import of {}", request.source));
    let ours = run_alone(async move {
        let mut tx = store.begin().await?;
        if !still_ours(&mut *tx, holder, &purpose).await? {
            return Ok(false);
        }
        tx.batches_open(batch, size).await?;
        // The anchor stands for the import in the ledger.
        let (actor, reason) = (entry.actor.clone(), entry.reason.clone());
        tx.spans_explain(&[SpanCause { batch, upto: 0, actor, reason }]).await?;
        tx.audit_append(&[entry]).await?;
        commit("import-open", tx).await?;
        Ok(true)
    })
    .await?;
    if ours { Ok(()) } else { Err(ImportError::LeaseLost) }
}

/// Renews the lease in a transaction that writes under it; false when another has it.
pub(super) async fn still_ours(tx: &mut dyn Tx, holder: [u8; 16], purpose: &str) -> Result<bool> {
    let until = tx.now().plus(LEASE_LASTS);
    Ok(tx.lease_take(LEASE, holder, purpose, until).await?.holder == holder)
}
