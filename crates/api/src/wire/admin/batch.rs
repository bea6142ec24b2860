//! Batches and what moves in them.

use serde::Serialize;
use tessera_backoffice::cards::{FoundCode, Report};
use tessera_model::ids::BatchId;
use tessera_store::ledger::{BatchRecord, Claimant, Movement, MovementKind};

use crate::instant::rfc3339;

/// A batch.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct BatchBody {
    id: String,
    sku: String,
    /// `import`, `pool` or `round`.
    kind: String,
    /// `loading`, `open` or `closed`.
    #[schema(example = "open")]
    state: &'static str,
    #[schema(example = "fifo")]
    pick: &'static str,
    size: i64,
    /// Codes it can still give out.
    unissued: i64,
    /// Codes that orders have.
    issued: i64,
    /// Codes never to be sold (again).
    voided: i64,
    supplier: Option<String>,
    /// Minor units of the product's currency.
    cost_minor: Option<i64>,
    expires_at: Option<String>,
    created_at: String,
    opened_at: Option<String>,
    closed_at: Option<String>,
}

impl From<&BatchRecord> for BatchBody {
    fn from(batch: &BatchRecord) -> Self {
        Self {
            id: batch.id.to_string(),
            sku: batch.sku.to_string(),
            kind: batch.kind.clone(),
            state: batch.state.as_str(),
            pick: batch.pick.as_str(),
            size: batch.size,
            unissued: batch.unissued,
            issued: batch.issued,
            voided: batch.voided,
            supplier: batch.supplier.clone(),
            cost_minor: batch.cost_minor,
            expires_at: batch.expires_at.map(rfc3339),
            created_at: rfc3339(batch.created_at),
            opened_at: batch.opened_at.map(rfc3339),
            closed_at: batch.closed_at.map(rfc3339),
        }
    }
}

/// Batches, newest first.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct BatchList {
    /// The batches.
    pub batches: Vec<BatchBody>,
    /// What to give as `cursor` for the next ones; none at the end.
    pub next: Option<String>,
}

/// A movement of stock. Each code of a batch is imported once, and then in one of the others' quantities or unissued;
/// a replaced code counts in its issue and in its void.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct MovementBody {
    /// `import`, `issue`, `replacement`, `void` or `burn`.
    #[schema(example = "issue")]
    kind: &'static str,
    at: Option<String>,
    /// How many codes.
    quantity: i64,
    sku: String,
    batch: String,
    /// The first place, from 0, in the order in which the batch gives codes out.
    start: i64,
    /// The first place after it.
    upto: i64,
    /// Whose the codes are, or were when they were voided.
    #[serde(skip_serializing_if = "Option::is_none")]
    order_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<i32>,
    /// Who, if that is known: `cli`, `key:ID`, `housekeeper`.
    #[serde(skip_serializing_if = "Option::is_none")]
    actor: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

impl From<&Movement> for MovementBody {
    fn from(movement: &Movement) -> Self {
        let upto = match movement.what {
            MovementKind::Import => movement.quantity,
            MovementKind::Issue | MovementKind::Replacement | MovementKind::Void | MovementKind::Burn => {
                movement.upto
            }
        };
        Self {
            kind: movement.what.as_str(),
            at: movement.at.map(rfc3339),
            quantity: movement.quantity,
            sku: movement.sku.to_string(),
            batch: movement.batch.to_string(),
            start: movement.start,
            upto,
            order_id: movement.owner.map(|owner| owner.order.to_string()),
            line: movement.owner.map(|owner| owner.line),
            actor: movement.actor.clone(),
            reason: movement.reason.clone(),
        }
    }
}

/// Movements: the newest batch first, and of a batch what came last.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct LedgerList {
    /// The movements.
    ledger: Vec<MovementBody>,
    /// What to give as `cursor` for the next ones; none at the end.
    pub next: Option<String>,
}

impl LedgerList {
    /// A page of at most `limit` movements, or a few more where several end in one place.
    pub fn new(movements: &[Movement], limit: i64) -> Self {
        let full = i64::try_from(movements.len()).is_ok_and(|n| n >= limit);
        let next = movements.last().filter(|_| full).map(|last| format!("{}.{}", last.batch, last.upto));
        Self { ledger: movements.iter().map(MovementBody::from).collect(), next }
    }

    /// Reads `next`.
    pub fn cursor(text: &str) -> Option<(BatchId, i64)> {
        let (batch, upto) = text.split_once('.')?;
        Some((BatchId::parse(batch)?, upto.parse().ok()?))
    }
}

/// Where a code is.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct CodeCheckBody {
    /// Whether it is a code of ours; the rest is there if it is.
    pub ours: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    sku: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    batch: Option<String>,
    /// Where it is in the batch, from 0, as it came.
    #[serde(skip_serializing_if = "Option::is_none")]
    position: Option<i64>,
    /// `loading`, `unissued`, `issued`, `replaced` or `voided`.
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<&'static str>,
    /// Whose it is, or was.
    #[serde(skip_serializing_if = "Option::is_none")]
    order_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<i32>,
}

impl From<Option<&FoundCode>> for CodeCheckBody {
    fn from(found: Option<&FoundCode>) -> Self {
        Self {
            ours: found.is_some(),
            sku: found.map(|f| f.sku.to_string()),
            batch: found.map(|f| f.batch.to_string()),
            position: found.map(|f| f.position),
            state: found.map(|f| f.state.as_str()),
            order_id: found.and_then(|f| f.owner).map(|owner| owner.order.to_string()),
            line: found.and_then(|f| f.owner).map(|owner| owner.line),
        }
    }
}

/// What was voided, and whom it touches.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct VoidBody {
    batch: String,
    /// Codes that were taken from sale.
    voided: i64,
    /// Voided codes that orders have.
    voided_sold: usize,
    /// What orders have of the batch, at most 1 000 of them: it stays theirs.
    sold: Vec<MovementBody>,
    /// Pending orders that what is left does not reach, at most 1 000 of them.
    waiting: Vec<WaitingBody>,
}

/// An order that has to wait.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
struct WaitingBody {
    order_id: String,
    status: &'static str,
    quantity: i64,
}

impl VoidBody {
    /// What was done to a batch.
    pub fn new(batch: BatchId, report: &Report) -> Self {
        let waiting = |claimant: &Claimant| WaitingBody {
            order_id: claimant.order.to_string(),
            status: claimant.status.as_str(),
            quantity: claimant.quantity,
        };
        Self {
            batch: batch.to_string(),
            voided: report.done.unissued,
            voided_sold: report.done.taken.len(),
            sold: report.sold.iter().map(MovementBody::from).collect(),
            waiting: report.waiting.iter().map(waiting).collect(),
        }
    }
}
