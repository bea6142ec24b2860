//! HTTP: the real router over a whole shop, without a socket. Modules mirror the paths.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "an answer that is not as expected fails its test"
)]

mod admin;
pub(crate) mod api;
pub(crate) mod ask;
mod embedded;

mod every_path;
mod openapi;
mod operation;
mod orders;
mod outage;
pub(crate) mod payments;
mod privacy;
mod products;
mod rounds;
