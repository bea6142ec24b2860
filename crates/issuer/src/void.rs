//! Void: codes of a batch are never to be sold (again), its rest or single ones.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use tessera_model::batch::{BatchState, OpenBatch};
use tessera_model::ids::{BatchId, OrderId, ProductId};
use tessera_model::product::Stock;
use tessera_model::span::Owner;
use tessera_model::void::{CannotVoid, Place, places, rest};
use tessera_store::ledger::{BatchRecord, NewVoid, SpanCause};
use tessera_store::operators::AuditEntry;
use tessera_store::orders::Advance;
use tessera_store::{Result, Step, Tx};

/// What is to be voided of a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Voided {
    /// All that nobody has. It closes the batch.
    Rest,
    /// Single positions, each with its place in the batch's order.
    Places(BTreeMap<i64, i64>),
}

/// What is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Voiding {
    /// The batch.
    pub batch: BatchId,
    /// What of it.
    pub what: Voided,
    /// Who.
    pub actor: String,
    /// Why.
    pub reason: String,
    /// Whether what pending orders claim may be taken.
    pub force: bool,
}

/// What was done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Done {
    /// The product.
    pub product: ProductId,
    /// Codes that were taken from sale.
    pub unissued: i64,
    /// Voided codes that orders have: position and whose.
    pub taken: Vec<(i64, Owner)>,
    /// What is on the product's shelf now.
    pub stock: Stock,
}

/// What became of it.
pub type VoidOutcome = std::result::Result<Done, CannotVoid>;

/// The step. Operators ask for one at a time, so each is read and written by itself, under the locks of all.
pub struct Void;

#[async_trait]
impl Step for Void {
    const NAME: &str = "void";
    type Input = Voiding;
    type Output = VoidOutcome;

    async fn run(&self, tx: &mut dyn Tx, inputs: &[Voiding], again: bool) -> Result<Vec<VoidOutcome>> {
        let ids: Vec<BatchId> = inputs.iter().map(|input| input.batch).collect();
        let mut products: Vec<ProductId> = tx.batches_read(&ids).await?.iter().map(|b| b.product).collect();
        products.sort_unstable();
        products.dedup();
        tx.stock_lock(&products).await?;
        tx.batches_open_of(&products).await?;
        let mut outcomes = Vec::with_capacity(inputs.len());
        for input in inputs {
            outcomes.push(one(tx, input, again).await?);
        }
        Ok(outcomes)
    }
}

async fn one(tx: &mut dyn Tx, input: &Voiding, again: bool) -> Result<VoidOutcome> {
    let Some(batch) = tx.batches_read(&[input.batch]).await?.pop() else {
        return Ok(Err(CannotVoid::NoBatch));
    };
    if batch.kind == "round" {
        return Ok(Err(CannotVoid::Round));
    }
    let stock = on_shelf(tx, batch.product).await?;
    let done = match (&input.what, batch.state) {
        (_, BatchState::Loading) => Err(CannotVoid::Loading),
        (Voided::Rest, _) => void_rest(tx, input, &batch, stock).await?,
        (Voided::Places(wanted), _) => void_places(tx, input, &batch, wanted, stock).await?,
    };
    match done {
        Ok((unissued, taken)) => {
            tx.audit_append(&[entry(input, unissued, taken.len())]).await?;
            let stock = on_shelf(tx, batch.product).await?;
            Ok(Ok(Done { product: batch.product, unissued, taken, stock }))
        }
        // The commit of an earlier run was in doubt, and is seen to be done.
        Err(CannotVoid::NotOpen(BatchState::Closed) | CannotVoid::Void(_)) if again => {
            Ok(Ok(Done { product: batch.product, unissued: 0, taken: vec![], stock }))
        }
        Err(refused) => Ok(Err(refused)),
    }
}

/// Voids what is left of the open batches of a product, with the cause in the ledger. The caller holds its stock row.
///
/// # Errors
/// The store's.
pub async fn void_unissued(tx: &mut dyn Tx, product: ProductId, actor: &str, reason: &str) -> Result<()> {
    let cause = |(batch, upto)| {
        let (actor, reason) = (actor.to_owned(), Some(reason.to_owned()));
        SpanCause { batch, upto, actor, reason }
    };
    let voided = tx.batches_void_rest(product).await?;
    tx.spans_explain(&voided.into_iter().map(cause).collect::<Vec<_>>()).await
}

async fn on_shelf(tx: &mut dyn Tx, product: ProductId) -> Result<Stock> {
    Ok(tx.stock_read(&[product]).await?.first().map(|(_, stock)| *stock).unwrap_or_default())
}

type Counted = std::result::Result<(i64, Vec<(i64, Owner)>), CannotVoid>;

async fn void_rest(tx: &mut dyn Tx, input: &Voiding, batch: &BatchRecord, stock: Stock) -> Result<Counted> {
    let open: Vec<OpenBatch> = tx.batches_open_of(&[batch.product]).await?;
    let Some(open) = open.iter().find(|open| open.id == batch.id) else {
        return Ok(Err(CannotVoid::NotOpen(batch.state)));
    };
    let (span, count) = match rest(open, stock, input.force) {
        Ok(planned) => planned,
        Err(refused) => return Ok(Err(refused)),
    };
    tx.spans_append(&[span]).await?;
    tx.batches_advance(&[(batch.id, span.upto)]).await?;
    let (actor, reason) = (input.actor.clone(), Some(input.reason.clone()));
    tx.spans_explain(&[SpanCause { batch: batch.id, upto: span.upto, actor, reason }]).await?;
    Ok(Ok((count, vec![])))
}

async fn void_places(
    tx: &mut dyn Tx,
    input: &Voiding,
    batch: &BatchRecord,
    wanted: &BTreeMap<i64, i64>,
    stock: Stock,
) -> Result<Counted> {
    if let Some((position, _)) = wanted.iter().find(|(_, place)| !(0..batch.size).contains(*place)) {
        return Ok(Err(CannotVoid::NoPosition(*position)));
    }
    let asked: Vec<(BatchId, i64)> = wanted.values().map(|place| (batch.id, *place)).collect();
    let covered: BTreeMap<i64, _> =
        tx.spans_at(&asked).await?.into_iter().map(|span| (span.place, (span.kind, span.owner))).collect();
    let voided: Vec<i64> = tx.places_voided(&asked).await?.into_iter().map(|voided| voided.place).collect();
    let found: Vec<Place> = wanted
        .iter()
        .map(|(&position, &place)| {
            let covered = covered.get(&place).copied();
            Place { position, place, covered, voided: voided.contains(&place) }
        })
        .collect();
    if let Err(refused) = places(&found, stock, input.force) {
        return Ok(Err(refused));
    }
    let void = |place: &Place| NewVoid {
        batch: batch.id,
        place: place.place,
        actor: input.actor.clone(),
        reason: input.reason.clone(),
        part: None,
    };
    tx.places_void(&found.iter().map(void).collect::<Vec<_>>()).await?;
    let taken =
        |place: &Place| place.covered.and_then(|(_, owner)| owner).map(|owner| (place.position, owner));
    let taken: Vec<(i64, Owner)> = found.iter().filter_map(taken).collect();
    shown_anew(tx, &taken).await?;
    let unissued = found.len().saturating_sub(taken.len());
    Ok(Ok((i64::try_from(unissued).unwrap_or(i64::MAX), taken)))
}

/// Buyers see that a code of theirs is void, so their orders have another version.
async fn shown_anew(tx: &mut dyn Tx, taken: &[(i64, Owner)]) -> Result<()> {
    let orders: BTreeSet<OrderId> = taken.iter().map(|(_, owner)| owner.order).collect();
    if orders.is_empty() {
        return Ok(());
    }
    let locked = tx.orders_lock(&orders.into_iter().collect::<Vec<_>>()).await?;
    let advances: Vec<Advance> =
        locked.iter().map(|o| Advance { id: o.id, version: o.version, state: o.state }).collect();
    tx.orders_advance(&advances).await.map(drop)
}

fn entry(input: &Voiding, unissued: i64, taken: usize) -> AuditEntry {
    AuditEntry {
        actor: input.actor.clone(),
        action: "codes.void".to_owned(),
        subject: format!("{} ({unissued} unsold, {taken} sold)", input.batch),
        reason: Some(input.reason.clone()),
    }
}
