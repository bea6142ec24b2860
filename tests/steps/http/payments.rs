//! `/v1/payments/{provider}/notify`.

mod forged;
mod malformed;
mod notice;
mod settled;
