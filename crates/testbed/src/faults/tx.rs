//! A transaction that asks before each operation whether it is to go wrong.

use async_trait::async_trait;
use tessera_model::batch::OpenBatch;
use tessera_model::coupon::Format;
use tessera_model::ids::{ApiKeyId, BatchId, LetterId, NoticeId, OrderId, PaymentId, ProductId};
use tessera_model::issue::Turn;
use tessera_model::keys::{Fingerprint, Sealed, WrappedKey};
use tessera_model::order::{Line, Order};
use tessera_model::pay::{KnownRefund, MoneyEntry, MoneyState, PaymentReason};
use tessera_model::place::{Placed, Standing};
use tessera_model::product::{Product, Stock};
use tessera_model::round::{Drawn, Round, Turned};
use tessera_model::span::Span;
use tessera_model::text::{CustomerId, Provider, Reference, Sku};
use tessera_model::time::Timestamp;
use tessera_store::batches::{BatchOps, BatchReading, IssuedSpan, KnownCode, NewBatch, NewCode};
use tessera_store::coupons::{CouponOps, NewPool, PoolAt, StoredFormat};
use tessera_store::customers::CustomerOps;
use tessera_store::generations::{GenerationOps, Server};
use tessera_store::history::{HistoryOps, MoneyMoved};
use tessera_store::ledger::{
    BatchRecord, Claimant, Covered, LedgerOps, Movement, MovementFilter, NewVoid, SpanCause, VoidedPlace,
};
use tessera_store::letters::{Letter, LetterOps, LetterState};
use tessera_store::operators::{ApiKey, AuditEntry, KeyCheck, Lease, OperatorOps};
use tessera_store::orders::{Advance, KnownRequest, OrderFilter, OrderOps};
use tessera_store::payments::{Notice, Payment, PaymentOps, Portion};
use tessera_store::products::{ProductOps, StockFigures};
use tessera_store::reconcile::{Check, ReconcileOps};
use tessera_store::refunds::{RefundOps, StoredPayment};
use tessera_store::repayments::RepaymentOps;
use tessera_store::rounds::{RoundOps, RoundToOpen, Share, StoredRaffle};
use tessera_store::waitlists::WaitlistOps;
use tessera_store::{Result, StoreMeta, Tx};

use super::Faults;

pub(super) struct FaultyTx {
    inner: Box<dyn Tx>,
    faults: Faults,
    /// What it has done, for faults at the commit; kept only while there are faults.
    done: String,
}

impl FaultyTx {
    pub(super) fn new(inner: Box<dyn Tx>, faults: Faults) -> Self {
        Self { inner, faults, done: String::new() }
    }

    async fn ask(&mut self, operation: &'static str, shown: String) -> Result<()> {
        self.faults.strike(operation, &shown).await?;
        self.done = format!("{} {operation} {shown}", self.done);
        Ok(())
    }
}

/// The arguments as a fault's text is searched in them; notices have no debug form.
macro_rules! shown {
    ([hidden] $($argument:ident)*) => {
        String::new()
    };
    ([] $($argument:ident)*) => {
        format!("{:?}", ($(&$argument,)*))
    };
}

macro_rules! delegate {
    ($($ops:ident { $($operation:ident($($argument:ident: $type:ty),*) -> $out:ty $(, $hidden:ident)?;)* })*) => {$(
        #[async_trait]
        impl $ops for FaultyTx {
            $(async fn $operation(&mut self, $($argument: $type),*) -> Result<$out> {
                if self.faults.are_given() {
                    self.ask(stringify!($operation), shown!([$($hidden)?] $($argument)*)).await?;
                }
                self.inner.$operation($($argument),*).await
            })*
        }
    )*};
}

delegate! {
    ProductOps {
        products_of(skus: &[Sku]) -> Vec<Product>;
        products_read(ids: &[ProductId]) -> Vec<Product>;
        products_list(before: Option<ProductId>, limit: i64) -> Vec<Product>;
        products_catalogue(before: Option<ProductId>, limit: i64) -> Vec<Product>;
        products_put(products: &[Product]) -> ();
        products_sold(ids: &[ProductId]) -> Vec<ProductId>;
        stock_lock(ids: &[ProductId]) -> ();
        stock_read(ids: &[ProductId]) -> Vec<(ProductId, Stock)>;
        stock_move(deltas: &[(ProductId, i64)]) -> ();
        stock_figures(sku: Option<&Sku>) -> Vec<StockFigures>;
    }
    CustomerOps {
        customers_lock(customers: &[CustomerId]) -> ();
        customers_forget(customers: &[CustomerId]) -> ();
        customers_standing(customers: &[CustomerId], products: &[ProductId]) -> Vec<(String, Standing)>;
        customers_move(deltas: &[(CustomerId, ProductId, i64)]) -> ();
    }
    OrderOps {
        requests_claim(wanted: &[KnownRequest], stale: Timestamp) -> Vec<[u8; 32]>;
        requests_read(keys: &[[u8; 32]]) -> Vec<KnownRequest>;
        requests_release(keys: &[[u8; 32]]) -> ();
        requests_purge(stale: Timestamp, limit: i64) -> u64;
        orders_insert(placed: &[Placed]) -> ();
        orders_lock(ids: &[OrderId]) -> Vec<Order>;
        orders_read(ids: &[OrderId]) -> Vec<Order>;
        orders_versions(ids: &[OrderId]) -> Vec<(OrderId, i64)>;
        lines_read(ids: &[OrderId]) -> Vec<(OrderId, Line)>;
        orders_advance(advances: &[Advance]) -> Vec<OrderId>;
        orders_list(filter: &OrderFilter, limit: i64) -> Vec<Order>;
        orders_created(from: Timestamp, to: Timestamp, before: Option<OrderId>, limit: i64) -> Vec<Order>;
        orders_due(now: Timestamp, limit: i64) -> Vec<OrderId>;
        orders_unheard(before: Timestamp, limit: i64) -> Vec<(OrderId, ProductId)>;
        orders_products(ids: &[OrderId]) -> Vec<(OrderId, ProductId)>;
        orders_told(ids: &[OrderId]) -> ();
    }
    PaymentOps {
        payments_claim(payments: &[Payment]) -> Vec<PaymentId>;
        payments_known(names: &[(Provider, Reference)]) -> Vec<Payment>;
        payments_unclaim(ids: &[PaymentId]) -> ();
        payments_explain(explained: &[(PaymentId, Option<OrderId>, Option<PaymentReason>)]) -> ();
        money_append(entries: &[MoneyEntry]) -> ();
        money_of(orders: &[OrderId]) -> Vec<Portion>;
        notices_put(notices: &[Notice]) -> (), hidden;
        notices_trim(reason: &str, keep: i64) -> ();
        notices_list(before: Option<NoticeId>, limit: i64) -> Vec<Notice>;
    }
    RefundOps {
        payments_read(ids: &[PaymentId]) -> Vec<StoredPayment>;
        payments_lock(ids: &[PaymentId]) -> ();
        payments_list(state: Option<MoneyState>, before: Option<PaymentId>, limit: i64) -> Vec<StoredPayment>;
        portions_of(ids: &[PaymentId]) -> Vec<(PaymentId, MoneyState, i64)>;
        refunds_put(refunds: &[(Provider, KnownRefund)]) -> ();
        refunds_named(names: &[(Provider, Reference)]) -> Vec<(Provider, KnownRefund)>;
        refunds_of(payments: &[PaymentId]) -> Vec<KnownRefund>;
    }
    BatchOps {
        batches_open_of(products: &[ProductId]) -> Vec<OpenBatch>;
        batches_advance(moved: &[(BatchId, i64)]) -> ();
        spans_append(spans: &[Span]) -> ();
        spans_of(orders: &[OrderId]) -> Vec<IssuedSpan>;
        codes_read(ranges: &[(BatchId, i64, i64)]) -> Vec<(BatchId, i64, Sealed)>;
        batches_begin(batch: &NewBatch) -> ();
        codes_insert(batch: BatchId, codes: &[NewCode]) -> ();
        codes_known(fingerprints: &[Fingerprint]) -> Vec<KnownCode>;
        batches_open(batch: BatchId, size: i64) -> ();
        batches_loading() -> Vec<BatchId>;
        batches_discard(batch: BatchId, limit: i64) -> bool;
    }
    CouponOps {
        formats_put(formats: &[(Format, WrappedKey)]) -> ();
        formats_lock() -> Vec<StoredFormat>;
        formats_read() -> Vec<StoredFormat>;
        pools_open(pools: &[NewPool]) -> ();
        pools_at(at: &[(Format, i64)]) -> Vec<PoolAt>;
        products_stocked(products: &[ProductId]) -> Vec<ProductId>;
        batches_void_rest(product: ProductId) -> Vec<(BatchId, i64)>;
    }
    RoundOps {
        raffles_put(raffles: &[(ProductId, WrappedKey)]) -> ();
        raffles_read(products: &[ProductId]) -> Vec<StoredRaffle>;
        rounds_open(rounds: &[RoundToOpen]) -> ();
        rounds_turn(turned: &[(BatchId, Turned)]) -> ();
        stock_claims(products: &[(ProductId, bool)]) -> ();
        rounds_read(ids: &[BatchId]) -> Vec<Round>;
        rounds_lock(ids: &[BatchId]) -> Vec<Round>;
        rounds_list(product: Option<ProductId>, before: Option<BatchId>, limit: i64) -> Vec<Round>;
        rounds_on_sale(products: &[ProductId]) -> Vec<Round>;
        rounds_due(now: Timestamp, after: Option<BatchId>, limit: i64) -> Vec<BatchId>;
        rounds_shares(id: BatchId) -> Vec<Share>;
        rounds_entropy(id: BatchId, entropy: &[u8]) -> bool;
        rounds_drawn(drawn: &[(BatchId, Drawn)]) -> Vec<BatchId>;
        rounds_cancel(id: BatchId) -> bool;
        orders_undrawn(orders: &[OrderId]) -> Vec<OrderId>;
        raffles_key(product: ProductId) -> Option<WrappedKey>;
    }
    RepaymentOps {
        repayments_begin(round: BatchId) -> ();
        repayments_lock(round: BatchId) -> Option<i64>;
        repayments_shares(round: BatchId, upto: i64, limit: i64) -> Vec<Share>;
        repayments_move(round: BatchId, upto: i64) -> ();
        repayments_end(round: BatchId) -> ();
        repayments_list() -> Vec<BatchId>;
    }
    WaitlistOps {
        waitlists_read(products: &[ProductId], limit: i64) -> Vec<(ProductId, Turn)>;
        waitlists_of(orders: &[OrderId]) -> Vec<OrderId>;
        waitlists_join(joined: &[(ProductId, Turn)]) -> ();
        waitlists_leave(orders: &[OrderId]) -> ();
        waitlists_fillable(before: Timestamp, limit: i64) -> Vec<(OrderId, ProductId)>;
        waitlists_told(orders: &[OrderId]) -> ();
    }
    LedgerOps {
        batches_list(product: Option<ProductId>, before: Option<BatchId>, limit: i64) -> Vec<BatchRecord>;
        batches_read(ids: &[BatchId]) -> Vec<BatchRecord>;
        batches_reading(ids: &[BatchId]) -> Vec<BatchReading>;
        batches_ending(by: Timestamp, limit: i64) -> Vec<BatchId>;
        spans_at(places: &[(BatchId, i64)]) -> Vec<Covered>;
        spans_explain(causes: &[SpanCause]) -> ();
        places_void(voids: &[NewVoid]) -> Vec<(BatchId, i64)>;
        places_voided(places: &[(BatchId, i64)]) -> Vec<VoidedPlace>;
        movements_list(filter: &MovementFilter, limit: i64) -> Vec<Movement>;
        claimants_of(product: ProductId, limit: i64) -> Vec<Claimant>;
    }
    HistoryOps {
        money_history(order: OrderId, limit: i64) -> Vec<MoneyMoved>;
        audit_of(subject: &str, limit: i64) -> Vec<(Timestamp, AuditEntry)>;
        letters_of(order: OrderId) -> Vec<Letter>;
        orders_reissue(order: OrderId) -> Option<i32>;
    }
    GenerationOps {
        generations_had(generation: [u8; 16]) -> bool;
        generations_suspend() -> bool;
        generations_renew(new: [u8; 16], others: &[[u8; 16]], burned: i64) -> ();
        batches_issued(batches: &[BatchId], limit: i64) -> Vec<(BatchId, i64)>;
        server_seen() -> Option<Server>;
        server_put(server: Server) -> ();
    }
    LetterOps {
        letters_put(letters: &[Letter]) -> ();
        letters_resolve(orders: &[OrderId]) -> ();
        letters_list(state: Option<LetterState>, before: Option<LetterId>, limit: i64) -> Vec<Letter>;
        letters_read(id: LetterId) -> Option<Letter>;
        attempts_raise(orders: &[OrderId]) -> Vec<(OrderId, i64)>;
        attempts_clear(orders: &[OrderId]) -> ();
    }
    OperatorOps {
        audit_append(entries: &[AuditEntry]) -> ();
        lease_take(name: &str, holder: [u8; 16], purpose: &str, until: Timestamp) -> Lease;
        lease_read(name: &str) -> Option<Lease>;
        lease_release(name: &str, holder: [u8; 16]) -> ();
        api_keys_put(key: &ApiKey, hash: [u8; 32]) -> ();
        api_keys_list(before: Option<ApiKeyId>, limit: i64) -> Vec<ApiKey>;
        api_keys_find(hash: [u8; 32]) -> Option<ApiKey>;
        api_keys_revoke(id: ApiKeyId) -> bool;
        key_checks_read() -> Vec<KeyCheck>;
        key_checks_put(checks: &[KeyCheck]) -> ();
    }
    ReconcileOps {
        reconcile() -> Vec<Check>;
    }
}

#[async_trait]
impl Tx for FaultyTx {
    fn now(&self) -> Timestamp {
        self.inner.now()
    }

    async fn meta(&mut self) -> Result<StoreMeta> {
        self.inner.meta().await
    }

    async fn partitions_put(&mut self, partitions: u16) -> Result<()> {
        self.inner.partitions_put(partitions).await
    }

    async fn sets_raise(&mut self) -> Result<StoreMeta> {
        self.inner.sets_raise().await
    }

    async fn commit(self: Box<Self>) -> Result<()> {
        let Self { inner, faults, done } = *self;
        faults.strike("commit", &done).await?;
        inner.commit().await?;
        faults.commits.send_modify(|commits| *commits += 1);
        faults.strike("committed", &done).await
    }
}
