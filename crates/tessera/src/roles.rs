//! The roles of a serving process, started together and stopped in order.
//!
//! Listener and waiting requests first, then the issuer after the set in hand, and last the store; all of it
//! within [`STOP_WITHIN`]. What the publisher still holds, the next start's sweeper finds.

mod housekeeper;
mod listener;
mod lock;

use std::sync::Arc;
use std::time::Duration;

use tessera_api::{App, AppParts, HttpSettings, PaymentSettings, router};
use tessera_broker::{Broker, InProcess};
use tessera_courier::{Publisher, Sweeper};
use tessera_issuer::Serial;
use tessera_model::ids::{OrderId, ProductId};
use tessera_orders::Heard;
use tessera_store::run_alone;
use tokio::net::TcpListener;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};
use tokio_util::sync::CancellationToken;

use crate::Outcome;
use crate::failure::{Exit, Failure};
use crate::note::FileNote;
use crate::output::Output;
use crate::settings::Settings;
use crate::shop::Shop;

pub(crate) use lock::Lock;

/// How long answers under way may take after a signal.
const DRAIN_WITHIN: Duration = Duration::from_secs(6);

/// How long the whole stop may take.
const STOP_WITHIN: Duration = Duration::from_secs(9);

/// How often waiting orders are looked at without a wake-up: also what another command changed in the file.
const RECHECK: Duration = Duration::from_millis(200);

/// Hands paid orders to the publisher.
struct ToPublisher(Publisher);

impl Heard for ToPublisher {
    fn paid(&self, orders: Vec<(OrderId, ProductId)>) {
        self.0.orders_paid(&orders);
    }
}

/// The tokens that stop one role after the other.
#[derive(Clone, Default)]
struct Stops {
    /// The listener, and requests that wait.
    http: CancellationToken,
    /// The issuer and the housekeeper.
    work: CancellationToken,
}

/// Binds the address, or says what to do.
pub(crate) async fn bind(settings: &Settings) -> Result<TcpListener, Failure> {
    let listen = settings.http.listen;
    TcpListener::bind(listen).await.map_err(|e| {
        Failure::needs(
            format!("{listen} cannot be listened on: {e}"),
            "stop what listens there, or set http.listen to another address",
        )
    })
}

/// Serves until SIGTERM or SIGINT. Prints `ready` on a line of its own once every role is.
pub(crate) async fn serve(settings: &Settings, shop: &Shop, listener: TcpListener) -> Outcome {
    let stops = Stops::default();
    let Running { mut http, mut work, issuers } = start(settings, shop, listener, &stops).await?;
    for mut ready in issuers {
        // Whichever way this ends, a role that died is told below.
        let _closed = ready.wait_for(|ready| *ready).await;
    }
    // Before `ready`: whoever reads it may send a signal at once.
    let mut signals = Signals::hear()?;
    tracing::info!(listen = %settings.http.listen, engine = shop.store.engine(), "serving");
    Output::line("ready")?;

    let failed = tokio::select! {
        () = signals.first() => false,
        _ended = &mut http => true,
        _ended = work.join_next() => true,
    };
    let stopping = stop(http, work, &stops, shop);
    if tokio::time::timeout(STOP_WITHIN, stopping).await.is_err() {
        tracing::warn!("not everything ended in time; nothing that was answered is lost");
    }
    if failed {
        return Err(Failure::no("a role of this process ended by itself: see the log"));
    }
    Ok(Exit::Done)
}

/// The roles of a process that serves.
struct Running {
    http: JoinHandle<()>,
    work: JoinSet<()>,
    /// What tells that an issuer has its queue.
    issuers: Vec<watch::Receiver<bool>>,
}

/// SIGTERM and SIGINT, heard from when this is made: one that comes earlier ends the process where it stands.
struct Signals {
    term: Signal,
    int: Signal,
}

impl Signals {
    fn hear() -> Result<Self, Failure> {
        let heard = |kind| {
            signal(kind).map_err(|e| {
                Failure::needs(format!("signals cannot be heard: {e}"), "see the system's limits")
            })
        };
        Ok(Self { term: heard(SignalKind::terminate())?, int: heard(SignalKind::interrupt())? })
    }

    async fn first(&mut self) {
        tokio::select! { _ = self.term.recv() => {}, _ = self.int.recv() => {} }
        tracing::info!("stopping");
    }
}

/// Starts every role.
async fn start(
    settings: &Settings,
    shop: &Shop,
    listener: TcpListener,
    stops: &Stops,
) -> Result<Running, Failure> {
    let store = Arc::clone(&shop.store);
    let meta = run_alone(async move { store.snapshot().await?.meta().await }).await?;
    let broker: Arc<dyn Broker> = Arc::new(InProcess::new(meta.partitions));
    let publisher = Publisher::spawn(Arc::clone(&broker), Arc::clone(&shop.clock), meta.partitions);
    let mut work = JoinSet::new();

    let (mut issuers, mut readiness) = (vec![], vec![]);
    for partition in 0..meta.partitions {
        let note = FileNote::open(&settings.data_dir, partition).map_err(|e| {
            Failure::needs(
                format!("the issuer's note cannot be opened: {e}"),
                "see that data_dir can be written",
            )
        })?;
        let (sender, ready) = watch::channel(false);
        let (store, entropy) = (Arc::clone(&shop.store), Arc::clone(&shop.entropy));
        let issuer = Serial::new(store, Arc::clone(&broker), entropy, Box::new(note), partition);
        readiness.push(("issuer", issuer.consuming()));
        work.spawn(issuer.run(sender, stops.work.clone()));
        issuers.push(ready);
    }
    let sweeper =
        Sweeper::new(Arc::clone(&shop.store), Arc::clone(&broker), publisher.clone(), meta.partitions);
    work.spawn(housekeeper::run(
        Arc::clone(&shop.store),
        Arc::clone(&shop.entropy),
        sweeper,
        stops.work.clone(),
    ));
    let app = App::start(AppParts {
        store: Arc::clone(&shop.store),
        broker,
        keyring: Arc::clone(&shop.keyring),
        clock: Arc::clone(&shop.clock),
        entropy: Arc::clone(&shop.entropy),
        heard: Arc::new(ToPublisher(publisher)),
        payments: PaymentSettings { test: settings.payments.test.enabled, hmac: settings.hmac_secret()? },
        http: HttpSettings { allowed_origins: settings.http.allowed_origins.clone() },
        readiness,
        recheck: RECHECK,
        stop: stops.http.clone(),
    });
    let http = tokio::spawn(listener::serve(listener, router(app), stops.http.clone()));
    Ok(Running { http, work, issuers })
}

/// Stops in order: what buyers wait for, the work behind it, the store.
async fn stop(http: JoinHandle<()>, mut work: JoinSet<()>, stops: &Stops, shop: &Shop) {
    stops.http.cancel();
    // The issuer goes on while answers drain, so that payments just taken still get their codes.
    if !http.is_finished() && tokio::time::timeout(DRAIN_WITHIN, http).await.is_err() {
        tracing::warn!("some requests were cut off");
    }
    stops.work.cancel();
    while work.join_next().await.is_some() {}
    shop.store.close().await;
}
