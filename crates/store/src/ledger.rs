//! The ledger: spans, voids and imports seen as movements of stock, and the batches they are of.

use async_trait::async_trait;
use tessera_model::batch::BatchState;
use tessera_model::ids::{BatchId, OrderId, ProductId};
use tessera_model::order::OrderStatus;
use tessera_model::product::Pick;
use tessera_model::span::{Owner, SpanKind};
use tessera_model::text::Sku;
use tessera_model::time::Timestamp;

use crate::batches::BatchReading;
use crate::error::Result;

/// A batch as operators see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatchRecord {
    /// Its id.
    pub id: BatchId,
    /// Whose codes these are.
    pub product: ProductId,
    /// The product's name.
    pub sku: Sku,
    /// `import`, `pool` or `round`.
    pub kind: String,
    /// Where it is in its life.
    pub state: BatchState,
    /// In which order it gives codes out.
    pub pick: Pick,
    /// Its positions; 0 while it loads.
    pub size: i64,
    /// Codes it can still give out.
    pub unissued: i64,
    /// Codes that orders have and may use.
    pub issued: i64,
    /// Codes never to be sold (again).
    pub voided: i64,
    /// Who it was bought from.
    pub supplier: Option<String>,
    /// What it cost, in minor units of the product's currency.
    pub cost_minor: Option<i64>,
    /// When its codes end.
    pub expires_at: Option<Timestamp>,
    /// When it began to load.
    pub created_at: Timestamp,
    /// When it went on sale.
    pub opened_at: Option<Timestamp>,
    /// When it had nothing more to give.
    pub closed_at: Option<Timestamp>,
}

/// Why a span is there that no order asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpanCause {
    /// The batch.
    pub batch: BatchId,
    /// Where the span ends: with the batch, its name.
    pub upto: i64,
    /// Who.
    pub actor: String,
    /// Why, if they said.
    pub reason: Option<String>,
}

/// A place of a batch's order that is not to be sold (again).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewVoid {
    /// The batch.
    pub batch: BatchId,
    /// The place.
    pub place: i64,
    /// Who.
    pub actor: String,
    /// Why.
    pub reason: String,
    /// The part of its line that stands in its place.
    pub part: Option<i32>,
}

/// A place that was voided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VoidedPlace {
    /// The batch.
    pub batch: BatchId,
    /// The place.
    pub place: i64,
    /// The part of its line that stands in its place.
    pub part: Option<i32>,
}

/// The span that covers a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Covered {
    /// The batch.
    pub batch: BatchId,
    /// The place.
    pub place: i64,
    /// What the span did.
    pub kind: SpanKind,
    /// Whose it is.
    pub owner: Option<Owner>,
}

/// One movement of stock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Movement {
    /// What moved.
    pub what: MovementKind,
    /// When.
    pub at: Option<Timestamp>,
    /// How many codes.
    pub quantity: i64,
    /// The product.
    pub sku: Sku,
    /// The batch.
    pub batch: BatchId,
    /// The first place, in the batch's order.
    pub start: i64,
    /// The first place after it.
    pub upto: i64,
    /// Whose the codes are, or were.
    pub owner: Option<Owner>,
    /// Who, if that is known.
    pub actor: Option<String>,
    /// Why, if they said.
    pub reason: Option<String>,
}

/// What a movement of stock is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MovementKind {
    /// A batch went on sale.
    Import,
    /// An order got codes.
    Issue,
    /// An order got codes in the place of others.
    Replacement,
    /// Codes were taken from sale, or from who has them.
    Void,
    /// Codes may have been seen by a buyer that a restored database has forgotten.
    Burn,
}

impl MovementKind {
    /// The word in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Import => "import",
            Self::Issue => "issue",
            Self::Replacement => "replacement",
            Self::Void => "void",
            Self::Burn => "burn",
        }
    }
}

impl From<SpanKind> for MovementKind {
    fn from(kind: SpanKind) -> Self {
        match kind {
            SpanKind::Anchor => Self::Import,
            SpanKind::Issue => Self::Issue,
            SpanKind::Replacement => Self::Replacement,
            SpanKind::Void => Self::Void,
            SpanKind::Burn => Self::Burn,
        }
    }
}

/// Which movements to list. All parts have to hold.
#[derive(Clone, Debug, Default)]
pub struct MovementFilter {
    /// Only of this product.
    pub product: Option<ProductId>,
    /// Only of this batch.
    pub batch: Option<BatchId>,
    /// Only of this order.
    pub order: Option<OrderId>,
    /// Only those before this place of the list: a batch, and where the movement ends in it.
    pub before: Option<(BatchId, i64)>,
}

/// An order that claims units of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claimant {
    /// The order.
    pub order: OrderId,
    /// Where it is.
    pub status: OrderStatus,
    /// How many units.
    pub quantity: i64,
}

/// Operations on the ledger.
#[async_trait]
pub trait LedgerOps {
    /// Batches newest first, of one product or of all.
    async fn batches_list(
        &mut self,
        product: Option<ProductId>,
        before: Option<BatchId>,
        limit: i64,
    ) -> Result<Vec<BatchRecord>>;

    /// Batches as they are; unknown ones are absent.
    async fn batches_read(&mut self, ids: &[BatchId]) -> Result<Vec<BatchRecord>>;

    /// What it takes to read the codes of batches.
    async fn batches_reading(&mut self, ids: &[BatchId]) -> Result<Vec<BatchReading>>;

    /// Open batches whose codes end at `by` or before, earliest first.
    async fn batches_ending(&mut self, by: Timestamp, limit: i64) -> Result<Vec<BatchId>>;

    /// The spans that cover these places; a place above `issued` has none.
    async fn spans_at(&mut self, places: &[(BatchId, i64)]) -> Result<Vec<Covered>>;

    /// Says why spans are there.
    async fn spans_explain(&mut self, causes: &[SpanCause]) -> Result<()>;

    /// Voids places, and notes what stands in the place of those that nothing stood for yet; returns those changed by it.
    async fn places_void(&mut self, voids: &[NewVoid]) -> Result<Vec<(BatchId, i64)>>;

    /// Those of these places that are voided.
    async fn places_voided(&mut self, places: &[(BatchId, i64)]) -> Result<Vec<VoidedPlace>>;

    /// Movements of stock: the newest batch first, and of a batch the last link of its chain first.
    ///
    /// At most `limit` of them, and all that end at the last one's place.
    async fn movements_list(&mut self, filter: &MovementFilter, limit: i64) -> Result<Vec<Movement>>;

    /// Who claims a product: first in turn first, the unpaid behind the paid.
    async fn claimants_of(&mut self, product: ProductId, limit: i64) -> Result<Vec<Claimant>>;
}
