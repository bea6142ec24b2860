//! Orders with all that is shown of them, read a set at a time.

use std::collections::{BTreeSet, HashMap};
use std::pin::Pin;
use std::sync::Arc;

use tessera_model::ids::OrderId;
use tessera_model::keys::Keyring;
use tessera_model::order::{Line, Order};
use tessera_store::payments::Portion;
use tessera_store::{Result, Store, StoreError, Tx, run_alone};

use super::codes::{self, IssuedCode};

/// The most codes shown within an order; the rest is paged.
pub const CODES_SHOWN_MAX: i64 = 1_000;

/// An order and all that is shown of it, at one instant.
#[derive(Clone, Debug)]
pub struct OrderView {
    /// The order.
    pub order: Order,
    /// Its lines.
    pub lines: Vec<Line>,
    /// Where its money is.
    pub portions: Vec<Portion>,
    /// Its first codes.
    pub codes: Vec<IssuedCode>,
}

impl OrderView {
    /// Whether waiting on is pointless.
    pub fn is_final(&self) -> bool {
        self.order.state.status().is_final()
    }
}

/// Reads orders, each once however often it is asked for; unknown ones are absent.
///
/// # Errors
/// The store's; `Data` when a code does not open.
pub async fn load(
    store: &Arc<dyn Store>,
    keyring: &Arc<Keyring>,
    ids: Vec<OrderId>,
) -> Result<HashMap<OrderId, Arc<OrderView>>> {
    let (store, keyring) = (Arc::clone(store), Arc::clone(keyring));
    run_alone(async move {
        let mut tx = store.snapshot().await?;
        load_in(&mut *tx, &keyring, &ids).await
    })
    .await
}

/// Orders or why each cannot be read; unknown ones are absent.
pub type Each = HashMap<OrderId, Result<Arc<OrderView>>>;

/// As [`load`], but an order that cannot be read fails alone: on a data fault the set is halved.
pub fn load_each(
    store: Arc<dyn Store>,
    keyring: Arc<Keyring>,
    ids: Vec<OrderId>,
) -> Pin<Box<dyn Future<Output = Each> + Send>> {
    Box::pin(async move {
        match load(&store, &keyring, ids.clone()).await {
            Ok(views) => views.into_iter().map(|(id, view)| (id, Ok(view))).collect(),
            Err(StoreError::Data(_)) if ids.len() > 1 => {
                let (left, right) = ids.split_at(ids.len() / 2);
                let mut views = load_each(Arc::clone(&store), Arc::clone(&keyring), left.to_vec()).await;
                views.extend(load_each(store, keyring, right.to_vec()).await);
                views
            }
            Err(error) => ids.into_iter().map(|id| (id, Err(error.clone()))).collect(),
        }
    })
}

/// Orders as a list shows them: without their codes, which are nobody's business there.
///
/// # Errors
/// The store's.
pub async fn load_listed(tx: &mut dyn Tx, orders: Vec<Order>) -> Result<Vec<OrderView>> {
    let ids: Vec<OrderId> = orders.iter().map(|order| order.id).collect();
    let mut lines: HashMap<OrderId, Vec<Line>> = HashMap::new();
    for (order, line) in tx.lines_read(&ids).await? {
        lines.entry(order).or_default().push(line);
    }
    let mut portions: HashMap<OrderId, Vec<Portion>> = HashMap::new();
    for portion in tx.money_of(&ids).await? {
        portions.entry(portion.order).or_default().push(portion);
    }
    let view = |order: Order| OrderView {
        lines: lines.remove(&order.id).unwrap_or_default(),
        portions: portions.remove(&order.id).unwrap_or_default(),
        codes: vec![],
        order,
    };
    Ok(orders.into_iter().map(view).collect())
}

/// As [`load`], within a transaction.
///
/// # Errors
/// As [`load`].
pub async fn load_in(
    tx: &mut dyn Tx,
    keyring: &Keyring,
    ids: &[OrderId],
) -> Result<HashMap<OrderId, Arc<OrderView>>> {
    let ids: Vec<OrderId> = ids.iter().copied().collect::<BTreeSet<_>>().into_iter().collect();
    let mut views: HashMap<OrderId, OrderView> = HashMap::with_capacity(ids.len());
    for order in tx.orders_read(&ids).await? {
        views.insert(order.id, OrderView { order, lines: vec![], portions: vec![], codes: vec![] });
    }
    for (order, line) in tx.lines_read(&ids).await? {
        views.entry(order).and_modify(|view| view.lines.push(line));
    }
    for portion in tx.money_of(&ids).await? {
        views.entry(portion.order).and_modify(|view| view.portions.push(portion));
    }
    let issued: Vec<OrderId> =
        views.values().filter(|v| v.order.state.issued_at().is_some()).map(|v| v.order.id).collect();
    if !issued.is_empty() {
        let spans = tx.spans_of(&issued).await?;
        for (order, codes) in codes::read(tx, keyring, &spans, 0, CODES_SHOWN_MAX).await? {
            views.entry(order).and_modify(|view| view.codes = codes);
        }
    }
    Ok(views.into_iter().map(|(id, view)| (id, Arc::new(view))).collect())
}
