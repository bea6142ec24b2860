//! Orders as JSON.

use serde::Serialize;
use tessera_model::money::Money;
use tessera_model::order::{Line, OrderState};
use tessera_model::time::Timestamp;

use super::MoneyBody;
use crate::instant::rfc3339;
use crate::read::{IssuedCode, OrderView};

/// An order.
///
/// ```json
/// {"id":"0193…","version":3,"status":"issued","customer":{"id":"u-1"},"lines":[{"sku":"iqiyi-month",
///  "name":"iQiyi, one month","note":"…","quantity":1,"unit_price":{"minor":1990,"currency":"CNY"},
///  "codes":[{"code":"ABCD-1234","position":1,"state":"issued"}]}],"amount":{…},"payments":[…],
///  "created_at":"…","paid_at":"…","issued_at":"…","server_time":"…","links":{…}}
/// ```
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct OrderBody {
    /// Its id.
    id: String,
    /// Raised by every visible change.
    version: i64,
    /// Where it is.
    #[schema(example = "awaiting_payment")]
    status: &'static str,
    /// Who buys.
    customer: CustomerBody,
    /// What of.
    lines: Vec<LineBody>,
    /// What is due.
    amount: MoneyBody,
    /// Where the money that came is.
    payments: Vec<PortionBody>,
    /// When it was placed.
    created_at: String,
    /// Until when it keeps its claim, unpaid.
    #[serde(skip_serializing_if = "Option::is_none")]
    hold_expires_at: Option<String>,
    /// The same in seconds from `server_time`, so that no clock but ours counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    hold_seconds_left: Option<u64>,
    /// When Tessera took the payment.
    #[serde(skip_serializing_if = "Option::is_none")]
    paid_at: Option<String>,
    /// When it got its codes.
    #[serde(skip_serializing_if = "Option::is_none")]
    issued_at: Option<String>,
    /// The time here.
    server_time: String,
    /// Where to go on.
    links: LinksBody,
}

/// Who buys.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
struct CustomerBody {
    /// As given.
    id: String,
}

/// One product of an order, as it was when the order was placed.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
struct LineBody {
    sku: String,
    name: String,
    /// How to use the codes.
    note: String,
    quantity: i64,
    unit_price: MoneyBody,
    /// Empty until the order is issued; at most the order's first 1 000.
    codes: Vec<CodeBody>,
}

/// A code.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
struct CodeBody {
    code: String,
    /// Counts within the line, from 1.
    position: i64,
    /// The round it is a number of, if it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    round: Option<String>,
    /// `issued`, or else `replaced` by another code of the line, or `voided`: it is not to be used.
    #[schema(example = "issued")]
    state: &'static str,
}

/// A part of the money that came.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
struct PortionBody {
    #[schema(example = "settled")]
    state: &'static str,
    amount: MoneyBody,
    received_at: String,
}

/// Where to go on.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
struct LinksBody {
    #[serde(rename = "self")]
    order: String,
    codes: String,
    events: String,
    pay: String,
    cancel: String,
}

impl OrderBody {
    /// An order as it is shown at `now`.
    pub fn new(view: &OrderView, now: Timestamp) -> Self {
        let order = &view.order;
        let hold = match order.state {
            OrderState::AwaitingPayment { hold_expires_at } => Some(hold_expires_at),
            _ => None,
        };
        let money = |minor| MoneyBody::from(Money::new(minor, order.amount.currency));
        let path = format!("/v1/orders/{}", order.id);
        Self {
            id: order.id.to_string(),
            version: order.version,
            status: order.state.status().as_str(),
            customer: CustomerBody { id: order.customer.given().to_owned() },
            lines: view.lines.iter().map(|line| LineBody::new(line, view)).collect(),
            amount: order.amount.into(),
            payments: view
                .portions
                .iter()
                .map(|p| PortionBody {
                    state: p.state.as_str(),
                    amount: money(p.minor),
                    received_at: rfc3339(p.received_at),
                })
                .collect(),
            created_at: rfc3339(order.created_at),
            hold_expires_at: hold.map(rfc3339),
            hold_seconds_left: hold.map(|end| end.since(now).as_secs()),
            paid_at: order.state.paid_at().map(rfc3339),
            issued_at: order.state.issued_at().map(rfc3339),
            server_time: rfc3339(now),
            links: LinksBody {
                codes: format!("{path}/codes"),
                events: format!("{path}/events"),
                pay: format!("{path}/pay"),
                cancel: format!("{path}/cancel"),
                order: path,
            },
        }
    }
}

impl LineBody {
    fn new(line: &Line, view: &OrderView) -> Self {
        let price = Money::new(line.unit_minor, view.order.amount.currency);
        let codes = view.codes.iter().filter(|code| code.line == line.number);
        Self {
            sku: line.sku.to_string(),
            name: line.name.to_string(),
            note: line.note.as_str().to_owned(),
            quantity: line.quantity,
            unit_price: price.into(),
            codes: codes.map(CodeBody::new).collect(),
        }
    }
}

impl CodeBody {
    fn new(code: &IssuedCode) -> Self {
        let round = code.round.map(|round| round.to_string());
        Self { code: code.text.clone(), position: code.position, round, state: code.state.as_str() }
    }
}

/// An order just placed, with the buyer's token.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct PlacedBody {
    #[serde(flatten)]
    order: OrderBody,
    /// The buyer's proof: send it as `Authorization: Bearer TOKEN`. Shown here and nowhere else.
    token: String,
}

impl PlacedBody {
    /// The order and its token.
    pub const fn new(order: OrderBody, token: String) -> Self {
        Self { order, token }
    }
}

/// A stretch of an order's codes.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct CodeList {
    /// The codes, by line and position.
    pub codes: Vec<CodeItem>,
    /// What to give as `after` for the next stretch; none at the end.
    pub next: Option<i64>,
    /// How many codes the order has.
    pub total: i64,
}

/// A code with its product.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct CodeItem {
    /// The product.
    pub sku: String,
    /// The code.
    pub code: String,
    /// Counts within the line, from 1.
    pub position: i64,
    /// The round it is a number of, if it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub round: Option<String>,
    /// `issued`, or else `replaced` by another code of the line, or `voided`: it is not to be used.
    pub state: &'static str,
}
