//! JSON over HTTP: what buyers' pages and merchants' servers call.
//!
//! A request is parsed once into `model`'s types, handed to the [`tessera_orders::Desk`], which joins it to a
//! set, and answered from what came back. No answer waits for the broker but one that asked to (`Prefer:
//! wait`). Errors are RFC 9457 problems that name the field, its fault and the remedy.

mod allowance;
mod app;
mod deeds;
mod export;
mod instant;
mod metrics;
mod openapi;
mod ops;
mod problem;
mod proof;
mod signature;
mod waiting;
mod zone;

pub mod parse;
pub mod read;
pub mod routes;
pub mod wire;

pub use axum::Router;

pub use app::{App, AppParts, HttpSettings, PaymentSettings};
pub use deeds::{Deed, refund_told};
pub use export::{ExportOf, orders_csv, orders_csv_header, orders_csv_of};
pub use instant::{rfc3339, timestamp};
pub use metrics::{Metrics, Reading};
pub use openapi::document;
pub use ops::{Ops, Readiness, ops_router};
pub use problem::{Problem, Slug};
pub use proof::{CustomerProof, JwtKey};
pub use routes::router;
pub use signature::WebhookSecret;
pub use waiting::Waiters;
pub use zone::Zone;
