//! Pay: payments arrive, and orders become paid.
//!
//! A payment in time moves no claim, so the step locks its orders only. One that finds its order expired or
//! cancelled would move claims: it is put back, its reference row too, and runs again in a set that locks
//! stock and customers first ([`PayLate`]). Taking those locks after the order's would deadlock.

use std::collections::{BTreeMap, HashMap, HashSet};

use async_trait::async_trait;
use tessera_model::ids::{NoticeId, OrderId, ProductId};
use tessera_model::order::{Line, Order, OrderStatus};
use tessera_model::pay::{Account, PaymentOutcome, PaymentReason};
use tessera_model::place::Shelf;
use tessera_store::payments::{Notice, Payment};
use tessera_store::{Result, Step, Tx};

mod claim;
mod decide;
mod test_provider;

pub use test_provider::{TEST_PROVIDER, TestPayment};

/// A payment to take.
#[derive(Clone, Debug)]
pub enum Incoming {
    /// A provider's notice, parsed and believed.
    Notice {
        /// The payment.
        payment: Payment,
        /// The id under which it is kept if it contradicts what is known.
        notice: NoticeId,
        /// What arrived, for that case.
        body: Vec<u8>,
    },
    /// The `test` provider settles an order's price at once.
    Test(TestPayment),
}

impl Incoming {
    /// The order it names, if that is an order's id.
    pub fn order(&self) -> Option<OrderId> {
        match self {
            Self::Notice { payment, .. } => payment.order(),
            Self::Test(wish) => Some(wish.order),
        }
    }
}

/// What became of a payment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PayOutcome {
    /// It was taken, or known.
    Taken {
        /// What to answer the provider.
        outcome: PaymentOutcome,
        /// The order that it paid, with the product that chooses its queue.
        paid: Option<(OrderId, ProductId)>,
        /// Why a person has to look.
        reason: Option<PaymentReason>,
    },
    /// No such order, or the token was revoked (`test` only).
    NotFound,
    /// The order is past paying (`test` only).
    NotPayable(OrderStatus),
    /// Came after its order expired or was cancelled: to be run again by [`PayLate`].
    Late,
}

/// The step of payments in time.
pub struct Pay;

/// The step of payments that may revive an order.
pub struct PayLate;

#[async_trait]
impl Step for Pay {
    const NAME: &str = "pay";
    type Input = Incoming;
    type Output = PayOutcome;

    async fn run(&self, tx: &mut dyn Tx, inputs: &[Incoming], _again: bool) -> Result<Vec<PayOutcome>> {
        take(tx, inputs, Scope::Orders).await
    }
}

#[async_trait]
impl Step for PayLate {
    const NAME: &str = "pay-late";
    type Input = Incoming;
    type Output = PayOutcome;

    async fn run(&self, tx: &mut dyn Tx, inputs: &[Incoming], _again: bool) -> Result<Vec<PayOutcome>> {
        take(tx, inputs, Scope::Full).await
    }
}

/// How much is locked.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Scope {
    Orders,
    Full,
}

/// What a set of payments is decided on.
struct Books {
    orders: BTreeMap<OrderId, Order>,
    accounts: BTreeMap<OrderId, Account>,
    lines: BTreeMap<OrderId, Vec<Line>>,
    products: HashMap<OrderId, ProductId>,
    /// Only with [`Scope::Full`].
    shelf: Option<Shelf>,
}

async fn take(tx: &mut dyn Tx, inputs: &[Incoming], scope: Scope) -> Result<Vec<PayOutcome>> {
    let test = test_provider::payments(tx, inputs).await?;
    let (mut outcomes, payments) = claim::split(inputs, test);
    let claimed = claim::references(tx, &payments).await?;
    let (ours, repeated): (Vec<&(usize, Payment)>, Vec<_>) =
        payments.iter().partition(|(_, payment)| claimed.contains(&payment.id));
    if !ours.is_empty() {
        let mut books = open(tx, &ours, scope).await?;
        let decided = decide::all(&ours, &mut books, &mut outcomes);
        decide::write(tx, decided, &books).await?;
    }
    claim::answer_repeated(tx, &repeated, inputs, &mut outcomes).await?;
    Ok(outcomes.into_iter().map(|o| o.unwrap_or(PayOutcome::NotFound)).collect())
}

/// Locks in the order of the house and reads.
async fn open(tx: &mut dyn Tx, ours: &[&(usize, Payment)], scope: Scope) -> Result<Books> {
    let ids: HashSet<OrderId> = ours.iter().filter_map(|(_, payment)| payment.order()).collect();
    let mut ids: Vec<OrderId> = ids.into_iter().collect();
    ids.sort_unstable();
    let lines = match scope {
        Scope::Orders => BTreeMap::new(),
        Scope::Full => crate::ledger::lines_of(tx, &ids).await?,
    };
    let shelf = match scope {
        Scope::Orders => None,
        Scope::Full => Some(shelf_of(tx, &ids, &lines).await?),
    };
    let orders = tx.orders_lock(&ids).await?;
    let accounts = crate::ledger::accounts_of(tx, &orders).await?;
    let products = tx.orders_products(&ids).await?.into_iter().collect();
    let orders = orders.into_iter().map(|o| (o.id, o)).collect();
    Ok(Books { orders, accounts, lines, products, shelf })
}

async fn shelf_of(tx: &mut dyn Tx, ids: &[OrderId], lines: &BTreeMap<OrderId, Vec<Line>>) -> Result<Shelf> {
    let customers: Vec<_> = tx.orders_read(ids).await?.into_iter().map(|o| o.customer).collect();
    crate::shelf::locked(tx, lines.values().flatten().map(|line| line.product), &customers).await
}

/// Keeps a notice that contradicts what is known, with both in its reason.
fn contradiction(payment: &Payment, known: &Payment, id: NoticeId, body: &[u8], tx: &dyn Tx) -> Notice {
    let told =
        |p: &Payment| format!("order {} and {} {}", p.order_reference, p.amount.minor, p.amount.currency);
    Notice {
        id,
        provider: payment.provider.clone(),
        reason: format!("reference known with {}, came again with {}", told(known), told(payment)),
        body: body.to_vec(),
        received_at: tx.now(),
    }
}
