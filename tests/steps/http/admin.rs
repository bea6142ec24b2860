//! `/v1/admin/`: what operators look at and do.

mod cards;
mod money;
mod orders;
mod products;
mod roles;
mod upload;
