//! A clock that is set while orders are open.

use std::sync::atomic::Ordering;
use std::time::Duration;

use tessera_model::ids::OrderId;
use tessera_model::order::OrderStatus;
use tessera_model::steady::HELD_FOR;
use tessera_model::time::Timestamp;
use tessera_orders::holds::Holds;
use tessera_store::Clock;
use tessera_testbed::Shop;

const HOUR: Duration = Duration::from_hours(1);

/// A shop with its housekeeper, who looks every minute, and what has passed since they began.
struct Watched {
    shop: Shop,
    holds: Holds,
    counted: Duration,
}

impl Watched {
    async fn open(orders: usize) -> (Self, Vec<OrderId>) {
        let shop = Shop::open().await;
        shop.product("card", |_| ()).await;
        shop.stock("card", 2 * orders).await;
        let holds = Holds::new(shop.store.clone());
        let mut watched = Self { shop, holds, counted: Duration::ZERO };
        watched.minutes(1).await;
        let orders = watched.place("early", orders).await;
        (watched, orders)
    }

    async fn place(&self, who: &str, count: usize) -> Vec<OrderId> {
        let new: Vec<_> =
            (0..count).map(|n| self.shop.new_order(&format!("{who} {n}"), &[("card", 1)])).collect();
        let ids = new.iter().map(|new| new.id).collect();
        assert!(self.shop.place_set(new).await.iter().all(Result::is_ok));
        ids
    }

    /// Minutes pass; returns how many orders expired meanwhile.
    async fn minutes(&mut self, minutes: u32) -> usize {
        let mut expired = 0;
        for _ in 0..minutes {
            self.shop.clock.advance(Duration::from_mins(1));
            self.counted += Duration::from_mins(1);
            expired += self.look().await;
        }
        expired
    }

    async fn look(&mut self) -> usize {
        self.holds.expire(Some(self.shop.clock.now()), self.counted).await.unwrap()
    }

    fn set(&self, change: impl Fn(Timestamp) -> Timestamp) {
        self.shop.clock.set(change(self.shop.clock.now()));
    }

    async fn close(self, jumps: u64) {
        assert_eq!(self.holds.jumps().load(Ordering::Relaxed), jumps);
        self.shop.close().await;
    }
}

/// Case P119: a clock half an hour off ended every hold, or none for ever. Set forward: nobody loses the time that was
/// promised, and whoever did not pay expires once the new time has held.
#[tokio::test]
async fn a_clock_set_forward_by_an_hour_ends_no_hold_before_its_time() {
    let (mut watched, early) = Watched::open(20).await;
    assert_eq!(watched.minutes(5).await, 0);
    watched.set(|time| time.plus(HOUR));
    let late = watched.place("late", 20).await;
    // The promised 15 minutes, of which 5 had passed, and more.
    assert_eq!(watched.minutes(14).await, 0);
    watched.shop.pay(early[0]).await;
    assert_eq!(watched.minutes(3).await, 19 + 20, "once the time has held");
    assert_eq!(watched.shop.status(early[0]).await, OrderStatus::Paid);
    assert!(watched.shop.statuses(&late).await.iter().all(|status| *status == OrderStatus::Expired));
    watched.shop.issue(&early[..1]).await;
    watched.close(1).await;
}

/// Case P119: set forward by mistake and put right, the store's time stands still at the later one. No hold ends by that.
#[tokio::test]
async fn a_clock_set_forward_and_back_again_ends_no_hold_before_its_time() {
    let (mut watched, early) = Watched::open(20).await;
    watched.set(|time| time.plus(HOUR));
    assert_eq!(watched.minutes(1).await, 0);
    let late = watched.place("late", 1).await;
    watched.set(|time| time.minus(HOUR));
    let minutes = u32::try_from(HELD_FOR.as_secs() / 60).unwrap();
    assert_eq!(watched.minutes(minutes - 1).await, 0);
    assert_eq!(watched.minutes(3).await, 20, "their 15 minutes are over by the right time");
    assert!(watched.shop.statuses(&early).await.iter().all(|status| *status == OrderStatus::Expired));
    // What was placed by the wrong time ends by it, and does end.
    assert_eq!(watched.shop.status(late[0]).await, OrderStatus::AwaitingPayment);
    assert_eq!(watched.minutes(61).await, 1);
    watched.close(2).await;
}

/// Case P119: set back by an hour, holds end an hour later at most: the store's time goes on once the clock has caught up.
#[tokio::test]
async fn a_clock_set_back_by_an_hour_leaves_no_order_open_for_ever() {
    let (mut watched, early) = Watched::open(20).await;
    watched.set(|time| time.minus(HOUR));
    let late = watched.place("late", 1).await;
    assert_eq!(watched.minutes(60).await, 0);
    assert_eq!(watched.minutes(16).await, 21);
    let orders = [early, late].concat();
    assert!(watched.shop.statuses(&orders).await.iter().all(|status| *status == OrderStatus::Expired));
    watched.close(1).await;
}

/// A process that did not run while holds ended gives them back at its first look.
#[tokio::test]
async fn holds_that_ended_before_the_first_look_are_believed() {
    let (watched, _) = Watched::open(5).await;
    watched.set(|time| time.plus(HOUR));
    let mut first = Holds::new(watched.shop.store.clone());
    assert_eq!(first.expire(Some(watched.shop.clock.now()), Duration::ZERO).await, Ok(5));
    watched.close(0).await;
}
