//! `/v1/admin/`: what operators look at and do.

mod money;
mod products;
mod roles;
