//! `/v1/admin/`: what operators look at and do.

mod products;
mod roles;
