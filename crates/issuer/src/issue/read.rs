//! Locks and reads what a set is decided on.

use std::collections::{BTreeMap, BTreeSet};

use tessera_model::ids::{OrderId, ProductId};
use tessera_model::issue::{SET_MAX, Stockroom, Turn};
use tessera_model::order::Order;
use tessera_model::product::Product;
use tessera_model::round::RaffleRoom;
use tessera_store::rounds::StoredRaffle;
use tessera_store::{Result, Tx};

use super::{Room, WAITLIST_READ, Work};
use crate::rounds::Mint;

type Lines = BTreeMap<OrderId, Vec<(i32, ProductId, i64)>>;
type Waiting = Vec<(ProductId, Turn)>;

/// Locks in the order of the house: stock, batches, orders. Lines and products of an order never change, so
/// what has to be locked is found before any lock; everything else is read after.
pub(super) async fn lock(tx: &mut dyn Tx, mint: &Mint, inputs: &[Work]) -> Result<Room> {
    let (arrived, mut filling) = sort(inputs);
    let mut lines = lines_of(tx, &arrived).await?;
    // One order by itself brings no others along: should it fail, it fails for itself.
    if inputs.len() > 1 {
        filling.extend(backordered_products(tx, &arrived, &lines).await?);
    }
    let filled = fillable(tx, &filling, &arrived).await?;
    lines.extend(lines_of(tx, &filled).await?);

    let products: BTreeSet<ProductId> =
        lines.values().flatten().map(|(_, product, _)| *product).chain(filling.iter().copied()).collect();
    let products: Vec<ProductId> = products.into_iter().collect();
    tx.stock_lock(&products).await?;
    let batches = tx.batches_open_of(&products).await?;
    let rooms = raffles(tx, mint, &products).await?;
    let ids: BTreeSet<OrderId> = arrived.iter().chain(&filled).copied().collect();
    let orders = tx.orders_lock(&ids.into_iter().collect::<Vec<_>>()).await?;
    let waiting = tx.waitlists_read(&products, limit()).await?;

    let mut stockroom = Stockroom::default();
    for batch in batches {
        stockroom.add(batch);
    }
    for room in rooms {
        stockroom.raffle(room);
    }
    for (product, turn) in &waiting {
        stockroom.waits(*product, *turn);
    }
    let orders = orders.into_iter().map(|o| (o.id, o)).collect();
    let unfinished = unfinished(&waiting, &filling, &orders);
    Ok(Room { orders, lines, arrived, unfinished, stockroom })
}

/// The raffles among the products.
async fn raffles(tx: &mut dyn Tx, mint: &Mint, products: &[ProductId]) -> Result<Vec<RaffleRoom>> {
    let stored = tx.raffles_read(products).await?;
    if stored.is_empty() {
        return Ok(vec![]);
    }
    let ids: Vec<ProductId> = stored.iter().map(|raffle| raffle.product).collect();
    let rules: BTreeMap<ProductId, Product> =
        tx.products_read(&ids).await?.into_iter().map(|product| (product.id, product)).collect();
    let now = tx.now();
    let room = |stored: StoredRaffle| {
        let product = rules.get(&stored.product);
        product.and_then(|product| mint.room(stored, product, now).transpose())
    };
    stored.into_iter().filter_map(room).collect()
}

fn limit() -> i64 {
    i64::try_from(WAITLIST_READ).unwrap_or(i64::MAX)
}

/// Orders in the order they arrived, each once, and products with new stock.
fn sort(inputs: &[Work]) -> (Vec<OrderId>, BTreeSet<ProductId>) {
    let (mut seen, mut orders, mut products) = (BTreeSet::new(), vec![], BTreeSet::new());
    for work in inputs {
        match work {
            Work::Order(id) if seen.insert(*id) => orders.push(*id),
            Work::Order(_) => {}
            Work::Stock(id) => {
                products.insert(*id);
            }
        }
    }
    (orders, products)
}

async fn lines_of(tx: &mut dyn Tx, ids: &[OrderId]) -> Result<Lines> {
    let mut lines = Lines::new();
    if !ids.is_empty() {
        for (order, line) in tx.lines_read(ids).await? {
            lines.entry(order).or_default().push((line.number, line.product, line.quantity));
        }
    }
    Ok(lines)
}

/// A message for a backordered order means that its products' waitlists should be looked at.
async fn backordered_products(tx: &mut dyn Tx, arrived: &[OrderId], lines: &Lines) -> Result<Vec<ProductId>> {
    if arrived.is_empty() {
        return Ok(vec![]);
    }
    let waiting = tx.waitlists_of(arrived).await?;
    Ok(waiting.iter().filter_map(|id| lines.get(id)).flatten().map(|(_, product, _)| *product).collect())
}

/// The heads of the waitlists to be filled, at most one set of them, that did not arrive by themselves.
async fn fillable(
    tx: &mut dyn Tx,
    filling: &BTreeSet<ProductId>,
    arrived: &[OrderId],
) -> Result<Vec<OrderId>> {
    if filling.is_empty() {
        return Ok(vec![]);
    }
    let filling: Vec<ProductId> = filling.iter().copied().collect();
    let set = i64::try_from(SET_MAX).unwrap_or(i64::MAX);
    let turns: BTreeSet<Turn> =
        tx.waitlists_read(&filling, set).await?.into_iter().map(|(_, turn)| turn).collect();
    Ok(turns.into_iter().map(|(_, id)| id).filter(|id| !arrived.contains(id)).take(SET_MAX).collect())
}

/// The waitlists to be filled that go on beyond the orders of this set, each with its last order in front of
/// that point; none if the set holds nobody from its head.
fn unfinished(
    waiting: &Waiting,
    filling: &BTreeSet<ProductId>,
    orders: &BTreeMap<OrderId, Order>,
) -> BTreeMap<ProductId, Option<OrderId>> {
    filling
        .iter()
        .filter_map(|product| {
            let of = || waiting.iter().filter(|(p, _)| p == product).map(|(_, (_, order))| *order);
            let ours = of().take_while(|order| orders.contains_key(order)).count();
            let goes_on = of().nth(ours).is_some();
            goes_on.then(|| (*product, of().take(ours).last()))
        })
        .collect()
}
