//! `/v1/payments/{provider}/notify`.

mod forged;
mod malformed;
pub(crate) mod notice;
mod refunded;
mod settled;
