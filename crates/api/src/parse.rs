//! JSON and TOML from outside, parsed once into types that cannot be wrong.
//!
//! Faults are gathered, each with a JSON pointer, so that one answer names them all.

mod fields;
mod money;
mod notice;
mod operate;
mod order;
mod product;

pub use fields::{Fields, body_hash};
pub use money::{ConfirmedRefund, deed, refunded};
pub use notice::{Notice, NoticeKind, RefundedNotice, SettledNotice, notice};
pub use operate::{ReplaceRequest, VoidRequest, code, replace, void};
pub use order::{OrderRequest, order};
pub use product::{product, products};
