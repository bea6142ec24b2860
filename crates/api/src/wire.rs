//! The shapes of answers. Fields are added, never renamed.

mod admin;
mod asked;
mod import;
mod order;
mod payment;
mod product;
mod proof;
mod round;

pub use admin::{
    AdminOrderBody, AdminProductBody, AdminProductList, BatchBody, BatchList, CodeCheckBody, LedgerList,
    MovementBody, OrderList, ReconcileBody, ReplacedBody, VoidBody,
};
pub(crate) use admin::{CodeRequest, ProductRequest, ReplaceRequest, VoidRequest};
pub(crate) use asked::{NoticeRequest, PayRequest, PlaceRequest};
pub use import::ImportBody;
pub use order::{CodeItem, CodeList, OrderBody, PlacedBody};
pub(crate) use payment::{DeedRequest, RefundedRequest};
pub use payment::{NoticeBody, NoticeList, PaymentBody, PaymentList};
pub use product::{ProductBody, ProductList};
pub use proof::{ProofBody, ProofMalformed};
pub use round::{RoundBody, RoundList};

use serde::Serialize;
use tessera_model::money::Money;

/// Minor units of an ISO 4217 currency.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct MoneyBody {
    /// Minor units.
    #[schema(example = 1990)]
    minor: i64,
    /// The currency.
    #[schema(example = "CNY")]
    currency: String,
}

impl From<Money> for MoneyBody {
    fn from(money: Money) -> Self {
        Self { minor: money.minor, currency: money.currency.to_string() }
    }
}
