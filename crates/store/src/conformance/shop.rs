//! Ways to fill a shop, each leaving every balance right.

use std::slice::from_ref;
use std::time::Duration;

use tessera_model::ids::{BatchId, OrderId, PaymentId, ProductId};
use tessera_model::keys::{Fingerprint, KeyId, WrappedKey};
use tessera_model::money::{Currency, Money};
use tessera_model::order::{Line, Order, OrderState};
use tessera_model::pay::{MoneyEntry, MoneyState};
use tessera_model::place::Placed;
use tessera_model::product::{Kind, Pick, Product, ProductRules};
use tessera_model::span::{Owner, Span, SpanKind};
use tessera_model::text::{CustomerId, OrderReference, ProductName, Provider, Reference, Sku};

use super::Fixture;
use crate::batches::{NewBatch, NewCode};
use crate::orders::Advance;
use crate::payments::Payment;
use crate::{Result, Tx};

/// How long an unpaid order holds its claim here.
pub(super) const HOLD: Duration = Duration::from_mins(15);

pub(super) fn cny(minor: i64) -> Money {
    Money::new(minor, Currency::parse("CNY").expect("a currency"))
}

pub(super) fn sku(text: &str) -> Sku {
    Sku::parse(text).expect("a sku")
}

pub(super) fn customer(text: &str) -> CustomerId {
    CustomerId::parse(text).expect("a customer")
}

/// A span that gives `[start, upto)` to the first line of an order, as its first part.
pub(super) fn issue_span(batch: BatchId, start: i64, upto: i64, size: i64, order: OrderId) -> Span {
    let owner = Some(Owner { order, line: 1, part: 0 });
    Span { batch, start, upto, size, kind: SpanKind::Issue, owner }
}

/// A span that nobody gets.
pub(super) fn void_span(batch: BatchId, start: i64, upto: i64, size: i64) -> Span {
    Span { batch, start, upto, size, kind: SpanKind::Void, owner: None }
}

/// A wrapped key that nothing opens.
pub(super) fn wrapped(n: u8) -> WrappedKey {
    WrappedKey { key: KeyId::parse("test-wrap").expect("a key id"), bytes: vec![n; 72] }
}

impl Fixture {
    /// A product about to be put, at 1 CNY.
    pub(super) fn new_product(&self, name: &str) -> Product {
        let name = ProductName::parse(name).expect("a name");
        let named = ProductRules::new(sku(name.as_str()), name, Kind::Codes, cny(100));
        let rules = ProductRules { hold: HOLD, backorders: true, ..named };
        Product { id: self.id(ProductId::new), rules }
    }

    /// A product in the store.
    pub(super) async fn product(&self, name: &str) -> Product {
        let product = self.new_product(name);
        self.write(async |tx| tx.products_put(from_ref(&product)).await).await;
        product
    }

    /// An order about to be inserted: unpaid, with one line a product.
    pub(super) fn new_order(&self, buyer: &str, wanted: &[(&Product, i64)]) -> Placed {
        let lines: Vec<Line> = (1..)
            .zip(wanted)
            .map(|(number, (product, quantity))| Line {
                number,
                product: product.id,
                sku: product.rules.sku.clone(),
                name: product.rules.name.clone(),
                note: product.rules.note.clone(),
                quantity: *quantity,
                unit_minor: product.rules.price.minor,
            })
            .collect();
        let order = Order {
            id: self.id(OrderId::new),
            version: 1,
            state: OrderState::AwaitingPayment { hold_expires_at: self.now().plus(HOLD) },
            customer: customer(buyer),
            email: None,
            amount: cny(lines.iter().map(|l| l.quantity * l.unit_minor).sum()),
            epoch: 0,
            created_at: self.now(),
        };
        Placed { order, lines }
    }

    /// An unpaid order in the store, with its claims.
    pub(super) async fn place(&self, buyer: &str, wanted: &[(&Product, i64)]) -> Order {
        let placed = self.new_order(buyer, wanted);
        self.write(async |tx| place(tx, from_ref(&placed)).await).await;
        placed.order
    }

    /// A paid order in the store, its money settled.
    pub(super) async fn place_paid(&self, buyer: &str, wanted: &[(&Product, i64)]) -> Order {
        let order = self.place(buyer, wanted).await;
        let payment = self.new_payment(&order.id.to_string(), order.amount.minor);
        self.write(async |tx| {
            tx.payments_claim(from_ref(&payment)).await?;
            tx.payments_explain(&[(payment.id, Some(order.id), None)]).await?;
            let (order, amount) = (Some(order.id), payment.amount.minor);
            tx.money_append(&[MoneyEntry { payment: payment.id, order, amount, state: MoneyState::Settled }])
                .await
        })
        .await;
        self.advance(&order, OrderState::Paid { paid_at: self.now() }).await
    }

    /// A payment about to be claimed, for what the notice calls `order`.
    pub(super) fn new_payment(&self, order: &str, minor: i64) -> Payment {
        let id = self.id(PaymentId::new);
        Payment {
            id,
            provider: Provider::parse("wxpay").expect("a provider"),
            reference: Reference::parse(&id.to_string()).expect("a reference"),
            order_reference: OrderReference::parse(order).expect("an order reference"),
            amount: cny(minor),
            paid_at: Some(self.now()),
        }
    }

    /// Moves an order on; nothing else.
    pub(super) async fn advance(&self, order: &Order, state: OrderState) -> Order {
        let advance = Advance { id: order.id, version: order.version, state };
        let moved = self.write(async |tx| tx.orders_advance(&[advance]).await).await;
        assert_eq!(moved, [order.id], "the order moves on");
        Order { version: order.version + 1, state, ..order.clone() }
    }

    /// Backorders a paid order: it waits for each of the products.
    pub(super) async fn backorder(&self, order: &Order, short: &[&Product]) -> Order {
        let paid_at = order.state.paid_at().expect("a paid order");
        let joined: Vec<_> = short.iter().map(|product| (product.id, (paid_at, order.id))).collect();
        self.write(async |tx| tx.waitlists_join(&joined).await).await;
        self.advance(order, OrderState::Backordered { paid_at }).await
    }

    /// A batch about to be begun.
    pub(super) fn new_batch(&self, product: &Product) -> NewBatch {
        let key = KeyId::parse("wrap-1").expect("a key id");
        let key = WrappedKey { key, bytes: self.bytes::<72>().to_vec() };
        NewBatch {
            id: self.id(BatchId::new),
            product: product.id,
            pick: Pick::Fifo,
            key,
            bought: crate::batches::Bought::default(),
        }
    }

    /// A code like no other.
    pub(super) fn new_code(&self, position: i64) -> NewCode {
        let fingerprint = Fingerprint::from_bytes(self.bytes());
        NewCode { position, sealed: self.bytes::<40>().to_vec(), fingerprint }
    }

    /// A batch that is still loading.
    pub(super) async fn loading(&self, product: &Product, codes: i64) -> BatchId {
        let batch = self.new_batch(product);
        let codes: Vec<NewCode> = (0..codes).map(|position| self.new_code(position)).collect();
        self.write(async |tx| {
            tx.batches_begin(&batch).await?;
            tx.codes_insert(batch.id, &codes).await
        })
        .await;
        batch.id
    }

    /// A batch on sale.
    pub(super) async fn batch(&self, product: &Product, size: i64) -> BatchId {
        let batch = self.loading(product, size).await;
        self.write(async |tx| tx.batches_open(batch, size).await).await;
        batch
    }

    /// Issues a paid order of one line from `start` of a batch.
    pub(super) async fn issue(&self, order: &Order, batch: BatchId, start: i64, size: i64) -> Order {
        let paid_at = order.state.paid_at().expect("a paid order");
        self.write(async |tx| {
            let lines = tx.lines_read(&[order.id]).await?;
            let line = lines.first().map(|(_, line)| line.clone()).expect("a line");
            let upto = start + line.quantity;
            tx.spans_append(&[issue_span(batch, start, upto, size, order.id)]).await?;
            tx.batches_advance(&[(batch, upto)]).await?;
            tx.stock_move(&[(line.product, -line.quantity)]).await?;
            tx.waitlists_leave(&[order.id]).await
        })
        .await;
        self.advance(order, OrderState::Issued { paid_at, issued_at: self.now() }).await
    }
}

/// Writes orders with all that counts them.
pub(super) async fn place(tx: &mut dyn Tx, placed: &[Placed]) -> Result<()> {
    let customers: Vec<CustomerId> = placed.iter().map(|p| p.order.customer.clone()).collect();
    tx.customers_lock(&customers).await?;
    tx.orders_insert(placed).await?;
    for Placed { order, lines } in placed {
        let claims: Vec<_> = lines.iter().map(|l| (l.product, l.quantity)).collect();
        tx.stock_move(&claims).await?;
        let units: Vec<_> = lines.iter().map(|l| (order.customer.clone(), l.product, l.quantity)).collect();
        tx.customers_move(&units).await?;
    }
    Ok(())
}
