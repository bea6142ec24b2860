//! What operators are shown.

mod product;
mod reconcile;

pub(crate) use product::ProductRequest;
pub use product::{AdminProductBody, AdminProductList};
pub use reconcile::ReconcileBody;
