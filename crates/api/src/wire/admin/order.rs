//! Orders as operators see them.

use serde::Serialize;
use tessera_model::time::Timestamp;

use super::MovementBody;
use crate::instant::rfc3339;
use crate::read::Happened;
use crate::wire::OrderBody;

/// An order with its history.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct AdminOrderBody {
    #[serde(flatten)]
    order: OrderBody,
    /// All that happened to it, oldest first.
    history: Vec<HappenedBody>,
}

impl AdminOrderBody {
    /// An order and what happened to it.
    pub fn new(order: OrderBody, history: &[(Timestamp, Happened)]) -> Self {
        Self { order, history: history.iter().map(|(at, what)| HappenedBody::new(*at, what)).collect() }
    }
}

/// One thing that happened; what is not said of it is left out.
#[derive(Clone, Debug, Default, Serialize, utoipa::ToSchema)]
struct HappenedBody {
    at: String,
    /// A state such as `placed` or `refund_due`, or else `money`, `codes`, `operator`, `dead_letter`.
    #[schema(example = "placed")]
    what: &'static str,
    /// Of `money`: the payment's id.
    #[serde(skip_serializing_if = "Option::is_none")]
    payment: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    provider: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reference: Option<String>,
    /// Of `money`: minor units that came to the state; below zero where they left it.
    #[serde(skip_serializing_if = "Option::is_none")]
    minor: Option<i64>,
    /// Of `money` and `dead_letter`.
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<&'static str>,
    /// Of `codes`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = MovementBody, required = false)]
    movement: Option<MovementBody>,
    /// Of `operator`: who.
    #[serde(skip_serializing_if = "Option::is_none")]
    actor: Option<String>,
    /// Of `operator`: such as `order.replace`.
    #[serde(skip_serializing_if = "Option::is_none")]
    action: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

impl HappenedBody {
    fn new(at: Timestamp, what: &Happened) -> Self {
        let of = |what: &'static str| Self { at: rfc3339(at), what, ..Self::default() };
        match what {
            Happened::State(word) => of(word),
            Happened::Money(money) => Self {
                payment: Some(money.payment.to_string()),
                provider: Some(money.provider.to_string()),
                reference: Some(money.reference.to_string()),
                minor: Some(money.amount),
                state: Some(money.state.as_str()),
                ..of("money")
            },
            Happened::Codes(movement) => Self { movement: Some(movement.into()), ..of("codes") },
            Happened::Audit(entry) => Self {
                actor: Some(entry.actor.clone()),
                action: Some(entry.action.clone()),
                reason: entry.reason.clone(),
                ..of("operator")
            },
            Happened::Letter(letter) => Self {
                state: Some(letter.state.as_str()),
                reason: Some(letter.reason.clone()),
                ..of("dead_letter")
            },
        }
    }
}

/// Orders, newest first, without their codes.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct OrderList {
    /// The orders.
    pub orders: Vec<OrderBody>,
    /// What to give as `cursor` for the next ones; none at the end.
    pub next: Option<String>,
}

/// What was replaced.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct ReplacedBody {
    /// The line.
    pub line: i32,
    /// The positions of the new codes in the line, one for each old one.
    pub positions: Vec<i64>,
    /// The order as it is now.
    pub order: OrderBody,
}
