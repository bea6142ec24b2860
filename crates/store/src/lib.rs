//! The storage seam: what a transaction can do, told in sets.
//!
//! [`Store`] begins transactions, [`Tx`] is one. Its operations are noun first, take and return sets, and
//! decide nothing: the decisions are `model`'s, the order of the operations is the steps'. `store-sqlite`
//! (and the PostgreSQL twin) implement it; `orders`, `issuer`, `courier`, `backoffice` and `api` call it.
//! This is an internal seam, not a plug-in interface.

mod ambient;
mod error;
mod set;
mod tx;

pub mod batches;
pub mod coupons;
pub mod customers;
pub mod generations;
pub mod history;
pub mod ledger;
pub mod letters;
pub mod operators;
pub mod orders;
pub mod payments;
pub mod products;
pub mod reconcile;
pub mod refunds;
pub mod repayments;
pub mod rounds;
pub mod waitlists;

#[cfg(feature = "conformance")]
pub mod conformance;

pub use ambient::{Clock, Entropy};
pub use error::{Result, StoreError};
pub use set::{SET_MAX, SetFault, Step, commit, run_alone, run_set};
pub use tx::{SchemaState, Store, StoreMeta, Tx};
