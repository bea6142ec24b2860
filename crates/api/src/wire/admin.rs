//! What operators are shown, and the shapes of what they ask.

mod asked;
mod batch;
mod order;
mod product;
mod reconcile;

pub(crate) use asked::{CodeRequest, ReplaceRequest, VoidRequest};
pub use batch::{BatchBody, BatchList, CodeCheckBody, LedgerList, MovementBody, VoidBody};
pub use order::{AdminOrderBody, OrderList, ReplacedBody};
pub(crate) use product::ProductRequest;
pub use product::{AdminProductBody, AdminProductList};
pub use reconcile::ReconcileBody;
