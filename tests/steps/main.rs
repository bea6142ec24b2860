//! Steps, one module each, over a whole shop in one process; and its HTTP interface.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail their test")]

mod place;

mod cancel;
mod coupon;
mod crossing;
mod expire;
mod operators;
mod pay;
mod plans;
mod recover;
mod refunds;

mod archive;
mod draw;
mod issue;
mod network;
mod raffle;
mod serial;
mod sweep;

mod cards;
mod import;

mod http;

mod cases;
mod machine;
mod servers;
