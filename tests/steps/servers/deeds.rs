//! What is done while the connection is taken away, how it is repeated, and what shows that it was done once.

use std::sync::Arc;
use std::time::Duration;

use tessera_backoffice::import::LEASE_LASTS;
use tessera_backoffice::janitor::discard_dead_imports;
use tessera_issuer::Work;
use tessera_model::ids::OrderId;
use tessera_model::order::OrderStatus;
use tessera_model::pay::MoneyState;
use tessera_model::place::NewOrder;
use tessera_orders::expire::Expire;
use tessera_orders::pay::{Incoming, PayOutcome};
use tessera_orders::place::PlaceOutcome;
use tessera_orders::release::{CancelOutcome, Cancellation};
use tessera_store::{SetFault, StoreError, run_set};
use tessera_testbed::Shop;

const HOLD: Duration = Duration::from_mins(15);

/// The most repetitions until something is done.
const REPEATS_MAX: usize = 20;

/// What can be done.
#[derive(Clone, Copy, Debug)]
pub(super) enum Deed {
    Place,
    Pay,
    Issue,
    Expire,
    Cancel,
    Import,
}

/// What is to be done, with its ids.
pub(super) struct Made {
    kind: Kind,
    /// Orders, claims and unissued codes before it.
    before: [i64; 3],
}

enum Kind {
    Place(NewOrder),
    Pay(OrderId, Incoming),
    Issue(OrderId),
    Expire(OrderId),
    Cancel(OrderId),
    Import(String),
}

impl Deed {
    /// Makes everything that comes before it.
    pub(super) async fn prepare(self, shop: &Shop) -> Made {
        // A lease that the last import could not give up runs out.
        shop.clock.advance(LEASE_LASTS);
        let key = u8::try_from(shop.number("SELECT count(*) FROM orders").await).unwrap();
        let kind = match self {
            Self::Place => Kind::Place(shop.keyed(shop.new_order("ann", &[("card", 1)]), key, key)),
            Self::Pay => {
                let order = shop.place("ann", &[("card", 1)]).await;
                Kind::Pay(order, shop.exact_notice(order).await)
            }
            Self::Issue => {
                let order = shop.place("ann", &[("card", 1)]).await;
                shop.pay(order).await;
                Kind::Issue(order)
            }
            Self::Expire => {
                let order = shop.place("ann", &[("card", 1)]).await;
                shop.clock.advance(HOLD);
                Kind::Expire(order)
            }
            Self::Cancel => Kind::Cancel(shop.place("ann", &[("card", 1)]).await),
            Self::Import => Kind::Import(format!("{}-a\n{0}-b\n", shop.reference())),
        };
        Made { kind, before: counted(shop).await }
    }
}

async fn counted(shop: &Shop) -> [i64; 3] {
    let shelf = shop.shelf("card").await;
    [shop.number("SELECT count(*) FROM orders").await, shelf.claimed, shelf.unissued]
}

impl Made {
    /// Does it, and repeats it by the same ids until it is known to be done.
    pub(super) async fn until_done(&self, shop: &Shop) {
        for _ in 0..REPEATS_MAX {
            if self.is_answered(shop).await {
                return;
            }
        }
        panic!("it is never done");
    }

    /// Does it once; false when it has to be repeated.
    async fn is_answered(&self, shop: &Shop) -> bool {
        match &self.kind {
            Kind::Place(new) => match shop.desk.place(new.clone()).await {
                Ok(PlaceOutcome::Placed(placed)) => placed.order.id == new.id,
                Ok(PlaceOutcome::Repeated(id)) => id == new.id,
                Ok(other) => panic!("{other:?}"),
                Err(_) => false,
            },
            Kind::Pay(_, notice) => match shop.desk.pay(notice.clone()).await {
                Ok(PayOutcome::Taken { .. }) => true,
                Ok(other) => panic!("{other:?}"),
                Err(_) => false,
            },
            Kind::Issue(order) => is_ok(&shop.issue_set(vec![Work::Order(*order)]).await[0]),
            Kind::Expire(order) => {
                is_ok(&run_set(Arc::clone(&shop.store), Arc::new(Expire), vec![*order]).await[0])
            }
            Kind::Cancel(order) => match shop.desk.cancel(Cancellation { order: *order, epoch: 0 }).await {
                Ok(CancelOutcome::Cancelled) => true,
                Ok(other) => panic!("{other:?}"),
                Err(_) => false,
            },
            Kind::Import(text) => {
                let done = shop.try_import(shop.request("card"), text.as_bytes(), &|_| ()).await.is_ok();
                if !done {
                    // As the housekeeper does; it may be struck as well.
                    shop.clock.advance(LEASE_LASTS);
                    let _later = discard_dead_imports(&shop.store, &shop.entropy).await;
                }
                done
            }
        }
    }

    /// Fails the test unless it was done, and once.
    pub(super) async fn is_done_once(&self, shop: &Shop) {
        let [orders, claimed, unissued] = self.before;
        let now = counted(shop).await;
        match &self.kind {
            Kind::Place(new) => {
                assert_eq!(now, [orders + 1, claimed + 1, unissued]);
                assert_eq!(shop.status(new.id).await, OrderStatus::AwaitingPayment);
            }
            Kind::Pay(order, _) => {
                assert_eq!(now, [orders, claimed, unissued]);
                assert_eq!(shop.money(*order).await, [(MoneyState::Settled, 1_000)].into());
                assert_eq!(shop.status(*order).await, OrderStatus::Paid);
                shop.issue(&[*order]).await;
            }
            Kind::Issue(order) => {
                assert_eq!(now, [orders, claimed - 1, unissued - 1]);
                assert_eq!(shop.codes_of(*order).await.len(), 1);
            }
            Kind::Expire(order) => {
                assert_eq!(now, [orders, claimed - 1, unissued]);
                assert_eq!(shop.status(*order).await, OrderStatus::Expired);
            }
            Kind::Cancel(order) => {
                assert_eq!(now, [orders, claimed - 1, unissued]);
                assert_eq!(shop.status(*order).await, OrderStatus::Cancelled);
            }
            Kind::Import(_) => assert_eq!(now, [orders, claimed, unissued + 2]),
        }
        shop.reconcile().await;
    }
}

/// Whether a set of one was done; a fault of its own fails the test.
fn is_ok<T>(outcome: &Result<T, SetFault>) -> bool {
    match outcome {
        Ok(_) => true,
        Err(SetFault::Store(StoreError::Unavailable(_) | StoreError::InDoubt(_))) => false,
        Err(fault) => panic!("{fault}"),
    }
}
