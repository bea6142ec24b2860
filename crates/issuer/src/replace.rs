//! Replace: a line gets other codes in the place of those that do not work.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use tessera_model::ids::{OrderId, ProductId};
use tessera_model::order::{Line, OrderState};
use tessera_model::product::Kind;
use tessera_model::replace::{CannotReplace, Faulty, Held, Replaced, replace};
use tessera_model::span::SpanKind;
use tessera_store::batches::IssuedSpan;
use tessera_store::ledger::{NewVoid, SpanCause};
use tessera_store::operators::AuditEntry;
use tessera_store::orders::Advance;
use tessera_store::{Result, Step, Tx};

/// What an operator asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replacement {
    /// Which codes.
    pub faulty: Faulty,
    /// Who.
    pub actor: String,
    /// Why.
    pub reason: String,
}

/// What became of it: the positions of the new codes in their line, or why there are none.
pub type ReplaceOutcome = std::result::Result<Vec<i64>, CannotReplace>;

/// The step. Operators ask for one at a time, so each is read and written by itself, under the locks of all.
pub struct Replace;

#[async_trait]
impl Step for Replace {
    const NAME: &str = "replace";
    type Input = Replacement;
    type Output = ReplaceOutcome;

    async fn run(&self, tx: &mut dyn Tx, inputs: &[Replacement], again: bool) -> Result<Vec<ReplaceOutcome>> {
        let orders: BTreeSet<OrderId> = inputs.iter().map(|input| input.faulty.order).collect();
        let orders: Vec<OrderId> = orders.into_iter().collect();
        // Lines never change; everything else is read under the locks.
        let lines: BTreeMap<(OrderId, i32), Line> = tx
            .lines_read(&orders)
            .await?
            .into_iter()
            .map(|(order, line)| ((order, line.number), line))
            .collect();
        let asked =
            |input: &Replacement| lines.get(&(input.faulty.order, input.faulty.line)).map(|l| l.product);
        let products: BTreeSet<ProductId> = inputs.iter().filter_map(asked).collect();
        let products: Vec<ProductId> = products.into_iter().collect();
        tx.stock_lock(&products).await?;
        tx.batches_open_of(&products).await?;
        tx.orders_lock(&orders).await?;
        let mut outcomes = Vec::with_capacity(inputs.len());
        for input in inputs {
            outcomes.push(one(tx, input, asked(input), again).await?);
        }
        Ok(outcomes)
    }
}

async fn one(
    tx: &mut dyn Tx,
    input: &Replacement,
    product: Option<ProductId>,
    again: bool,
) -> Result<ReplaceOutcome> {
    let faulty = &input.faulty;
    let Some(order) = tx.orders_read(&[faulty.order]).await?.pop() else {
        return Ok(Err(CannotReplace::NoOrder));
    };
    let OrderState::Issued { .. } = order.state else {
        return Ok(Err(CannotReplace::NotIssued(order.state.status())));
    };
    let Some(product) = product else { return Ok(Err(CannotReplace::NoLine(faulty.line))) };
    if is_raffle(tx, product).await? {
        return Ok(Err(CannotReplace::Raffle));
    }
    let held = held(tx.spans_of(&[faulty.order]).await?, faulty.line);
    let stock = tx.stock_read(&[product]).await?.first().map(|(_, stock)| *stock).unwrap_or_default();
    let mut batches = tx.batches_open_of(&[product]).await?;
    match replace(faulty, &held, stock, &mut batches) {
        Ok(replaced) => {
            write(tx, input, &replaced).await?;
            tx.orders_advance(&[Advance { id: order.id, version: order.version, state: order.state }])
                .await?;
            Ok(Ok(replaced.positions))
        }
        // The commit of an earlier run was in doubt, and is seen to be done.
        Err(CannotReplace::Replaced(_)) if again => Ok(Ok(last(&held, faulty.positions.len()))),
        Err(refused) => Ok(Err(refused)),
    }
}

async fn is_raffle(tx: &mut dyn Tx, product: ProductId) -> Result<bool> {
    let kinds = tx.products_read(&[product]).await?;
    Ok(kinds.iter().any(|product| match product.rules.kind {
        Kind::Raffle(_) => true,
        Kind::Codes | Kind::Coupon(_) => false,
    }))
}

/// What a line was given, in the order it was given.
fn held(spans: Vec<IssuedSpan>, line: i32) -> Vec<Held> {
    let of_line = spans.into_iter().filter(|span| span.owner.line == line);
    let held = |span: IssuedSpan| Held {
        batch: span.batch.id,
        start: span.start,
        upto: span.upto,
        part: span.owner.part,
        replaced: span.replaced,
    };
    of_line.map(held).collect()
}

/// The last `count` positions of a line.
fn last(held: &[Held], count: usize) -> Vec<i64> {
    let total: i64 = held.iter().map(|span| span.upto - span.start).sum();
    let count = i64::try_from(count).unwrap_or(i64::MAX);
    (total.saturating_sub(count) + 1..=total).collect()
}

/// Spans and batches as an issue writes them; then why they are there, what they stand for, and who asked.
async fn write(tx: &mut dyn Tx, input: &Replacement, replaced: &Replaced) -> Result<()> {
    let Replacement { faulty, actor, reason } = input;
    tx.spans_append(&replaced.spans).await?;
    let moved: Vec<_> = replaced.advanced.iter().map(|(batch, upto)| (*batch, *upto)).collect();
    tx.batches_advance(&moved).await?;
    let given = replaced.spans.iter().filter(|span| span.kind == SpanKind::Replacement);
    let cause = |batch, upto| SpanCause { batch, upto, actor: actor.clone(), reason: Some(reason.clone()) };
    tx.spans_explain(&given.map(|span| cause(span.batch, span.upto)).collect::<Vec<_>>()).await?;
    let void = |(batch, place, part): &(_, i64, i32)| NewVoid {
        batch: *batch,
        place: *place,
        actor: actor.clone(),
        reason: reason.clone(),
        part: Some(*part),
    };
    tx.places_void(&replaced.old.iter().map(void).collect::<Vec<_>>()).await?;
    let entry = AuditEntry {
        actor: actor.clone(),
        action: "order.replace".to_owned(),
        subject: faulty.order.to_string(),
        reason: Some(reason.clone()),
    };
    tx.audit_append(&[entry]).await?;
    tx.sets_raise().await.map(drop)
}
