//! Balances.

use serde::Serialize;
use tessera_store::reconcile::{Check, Fault};

/// Every balance.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct ReconcileBody {
    /// Whether all hold.
    pub balanced: bool,
    checks: Vec<CheckBody>,
}

/// One balance.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
struct CheckBody {
    /// `codes`, `claims`, `customers`, `money` or `rounds`.
    #[schema(example = "codes")]
    name: &'static str,
    ok: bool,
    /// How many rows were looked at.
    checked: i64,
    /// The rows at fault, at most 1 000.
    faults: Vec<FaultBody>,
}

/// A row that is off.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
struct FaultBody {
    table: String,
    id: String,
    /// What is wrong with it, in numbers.
    detail: String,
}

impl ReconcileBody {
    /// What was found.
    pub fn new(checks: &[Check]) -> Self {
        let fault =
            |f: &Fault| FaultBody { table: f.table.clone(), id: f.id.clone(), detail: f.detail.clone() };
        let check = |c: &Check| CheckBody {
            name: c.name,
            ok: c.faults.is_empty(),
            checked: c.checked,
            faults: c.faults.iter().map(fault).collect(),
        };
        let balanced = checks.iter().all(|check| check.faults.is_empty());
        Self { balanced, checks: checks.iter().map(check).collect() }
    }
}
