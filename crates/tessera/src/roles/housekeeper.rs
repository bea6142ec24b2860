//! The housekeeper: reconcilers without input, each looking at what is and doing what is missing.
//!
//! What another process would do for nothing, one does at a time, by a lease. Running twice does no harm, for each
//! step looks again under its locks; so every housekeeper expires holds, which are due in less time than a dead
//! one's lease lasts.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tessera_backoffice::{cards, janitor};
use tessera_courier::Sweeper;
use tessera_issuer::Mint;
use tessera_issuer::rounds::{Draw, Draws, pay_back_rest};
use tessera_orders::holds::Holds;
use tessera_store::{Clock, Entropy, Result, SET_MAX, Store};
use tokio::sync::watch;
use tokio::time::{Interval, MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

/// Holds are expired within 2 s of their end.
const EXPIRE_EVERY: Duration = Duration::from_millis(500);

/// A paid order without a message is found within 5 s: the sweeper's bound of 3 s and one round.
const SWEEP_EVERY: Duration = Duration::from_secs(1);

/// A round is drawn within this time of its countdown's end.
const DRAW_EVERY: Duration = Duration::from_secs(1);

/// A dead import is gone this long after its lease ran out.
const TIDY_EVERY: Duration = Duration::from_secs(5);

/// Rounds of [`TIDY_EVERY`] between two looks for old requests: a minute.
const PURGE_ROUNDS: u32 = 12;

/// What expires holds, and by which clock: none where the store has its own.
pub(super) type Expiry = (Holds, Option<Arc<dyn Clock>>);

/// Keeps house until `stop`; sweeps and tidies up only while the duty is `held`.
pub(super) async fn run(
    (holds, clock): Expiry,
    store: Arc<dyn Store>,
    entropy: Arc<Entropy>,
    mint: Mint,
    sweeper: Sweeper,
    held: watch::Receiver<bool>,
    stop: CancellationToken,
) {
    let always = watch::Sender::new(true).subscribe();
    let ticks = |period| Ticks::every(period, held.clone(), &stop);
    tokio::join!(
        expire(holds, clock, Ticks::every(EXPIRE_EVERY, always, &stop)),
        sweep(sweeper, ticks(SWEEP_EVERY)),
        draw(&store, Arc::new(Draw::new(mint)), ticks(DRAW_EVERY)),
        tidy(&store, &entropy, ticks(TIDY_EVERY))
    );
}

/// Ticks until a stop, never two at once to catch up, and only while its duty is held.
struct Ticks<'s> {
    interval: Interval,
    held: watch::Receiver<bool>,
    stop: &'s CancellationToken,
}

impl<'s> Ticks<'s> {
    fn every(period: Duration, held: watch::Receiver<bool>, stop: &'s CancellationToken) -> Self {
        let mut interval = interval(period);
        interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self { interval, held, stop }
    }

    /// Waits for the next tick; false when it is time to stop.
    async fn next(&mut self) -> bool {
        let Self { interval, held, stop } = self;
        let due = async {
            interval.tick().await;
            // It cannot be held any more once its keeper is gone, which is when this process stops.
            held.wait_for(|held| *held).await.is_ok()
        };
        tokio::select! {
            biased;
            () = stop.cancelled() => false,
            due = due => due,
        }
    }
}

fn told<T>(what: &str, outcome: Result<T>) -> Option<T> {
    outcome.map_err(|error| tracing::warn!(%error, what, "the housekeeper could not")).ok()
}

async fn expire(mut holds: Holds, clock: Option<Arc<dyn Clock>>, mut ticks: Ticks<'_>) {
    let started = Instant::now();
    while ticks.next().await {
        loop {
            let time = clock.as_ref().map(|clock| clock.now());
            let expired = told("expire holds", holds.expire(time, started.elapsed()).await);
            if expired.is_none_or(|count| count < SET_MAX) {
                break;
            }
        }
    }
}

async fn sweep(mut sweeper: Sweeper, mut ticks: Ticks<'_>) {
    while ticks.next().await {
        told("sweep", sweeper.round().await);
    }
}

async fn draw(store: &Arc<dyn Store>, step: Arc<Draw>, mut ticks: Ticks<'_>) {
    let mut draws = Draws::default();
    while ticks.next().await {
        told("draw rounds", draws.look(store, &step).await);
    }
}

async fn tidy(store: &Arc<dyn Store>, entropy: &Entropy, mut ticks: Ticks<'_>) {
    let mut round = 0_u32;
    while ticks.next().await {
        let removed = told("remove dead imports", janitor::discard_dead_imports(store, entropy).await);
        if let Some(count) = removed.filter(|count| *count > 0) {
            tracing::warn!(count, "removed imports that died; nothing of them was on sale");
        }
        let closed = told("close batches", cards::close_ending(store).await);
        if let Some(count) = closed.filter(|count| *count > 0) {
            tracing::info!(count, "closed batches whose codes end soon");
        }
        let paid_back = told("pay back rounds", pay_back_rest(store).await);
        if let Some(count) = paid_back.filter(|count| *count > 0) {
            tracing::info!(count, "went on paying back orders of rounds that were called off");
        }
        if round.is_multiple_of(PURGE_ROUNDS) {
            told("forget old requests", janitor::purge_requests(store).await);
        }
        round = round.wrapping_add(1);
    }
}
