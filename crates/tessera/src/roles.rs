//! The roles of a serving process, started together and stopped in order.
//!
//! Listener and waiting requests first, then the issuer after the set in hand, the publisher with what it holds,
//! the broker's connections and last the store; all of it within [`STOP_WITHIN`]. What the publisher cannot send
//! any more, a sweeper finds.

mod descriptors;
mod engine;
mod housekeeper;
mod lease;
mod listener;
mod lock;
mod ops;
mod signals;
mod start;

use std::collections::BTreeSet;
use std::fmt;
use std::net::SocketAddr;
use std::time::Duration;

use clap::ValueEnum;
use tessera_broker::Broker;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::Outcome;
use crate::cli::RoleName;
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::settings::{Settings, Transport};
use crate::shop::Shop;

pub(crate) use engine::{Engine, topology};
pub(crate) use lock::Lock;
use signals::Signals;
use start::{Running, start};

/// How long answers under way may take after a signal.
const DRAIN_WITHIN: Duration = Duration::from_secs(6);

/// How long the publisher may take over what it holds.
const PUBLISH_WITHIN: Duration = Duration::from_secs(1);

/// How long the whole stop may take.
const STOP_WITHIN: Duration = Duration::from_secs(9);

/// Which roles a process takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Roles(BTreeSet<RoleName>);

impl Roles {
    /// Those that were named, or all; refuses a part where the engine lives in one process.
    pub(crate) fn of(named: &[RoleName], settings: &Settings) -> Result<Self, Failure> {
        let all: BTreeSet<RoleName> = RoleName::value_variants().iter().copied().collect();
        let named: BTreeSet<RoleName> = named.iter().copied().collect();
        let roles = if named.is_empty() { all.clone() } else { named };
        match settings.transport()? {
            Transport::Embedded if roles != all => {
                Err(Failure::usage("the embedded broker lives in one process, which takes all roles")
                    .with_remedy("leave --role out, or set database.url and broker.url to servers"))
            }
            _ => Ok(Self(roles)),
        }
    }

    fn has(&self, role: RoleName) -> bool {
        self.0.contains(&role)
    }
}

impl fmt::Display for Roles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.0.iter().filter_map(RoleName::to_possible_value);
        f.write_str(&names.map(|name| name.get_name().to_owned()).collect::<Vec<_>>().join(","))
    }
}

/// What a process listens on.
pub(crate) struct Listeners {
    http: Option<TcpListener>,
    ops: Option<TcpListener>,
}

impl Listeners {
    /// Binds what the roles need, or says what to do.
    pub(crate) async fn bind(settings: &Settings, roles: &Roles) -> Result<Self, Failure> {
        let http = match roles.has(RoleName::Api) {
            true => Some(bind(settings.http.listen, "http.listen").await?),
            false => None,
        };
        let ops = match settings.ops_listen()? {
            Some(listen) => Some(bind(listen, "ops.listen").await?),
            None => None,
        };
        Ok(Self { http, ops })
    }

    /// Where the shop is, if this process serves it.
    pub(crate) fn http(&self) -> Option<SocketAddr> {
        self.http.as_ref().and_then(|listener| listener.local_addr().ok())
    }
}

async fn bind(listen: SocketAddr, setting: &str) -> Result<TcpListener, Failure> {
    TcpListener::bind(listen).await.map_err(|e| {
        Failure::needs(
            format!("{listen} cannot be listened on: {e}"),
            format!("stop what listens there, or set {setting} to another address"),
        )
    })
}

/// The tokens that stop one role after the other.
#[derive(Clone, Default)]
struct Stops {
    /// The listeners, and requests that wait.
    http: CancellationToken,
    /// The issuer, the courier and the housekeeper.
    work: CancellationToken,
}

/// Serves until SIGTERM or SIGINT. Prints `ready` on a line of its own once every role is.
pub(crate) async fn serve(settings: &Settings, shop: &Shop, roles: &Roles, listeners: Listeners) -> Outcome {
    // Before anything is started: a signal may come at any time, also while a broker is waited for.
    let mut signals = Signals::hear()?;
    let stops = Stops::default();
    let mut running = start(settings, shop, roles, listeners, &stops).await?;
    let told = tokio::select! {
        told = signals.first() => told,
        told = live(&mut running, shop, roles) => told,
    };
    tracing::info!("stopping");
    let stopping = stop(running, &stops, shop);
    if tokio::time::timeout(STOP_WITHIN, stopping).await.is_err() {
        tracing::warn!("not everything ended in time; nothing that was answered is lost");
    }
    told.map(|()| Exit::Done)
}

/// Says when the roles are ready; ends only by a failure.
async fn live(running: &mut Running, shop: &Shop, roles: &Roles) -> Result<(), Failure> {
    let ready = running.ready.clone();
    let Running { http, work, publisher, .. } = running;
    let ended = async {
        tokio::select! {
            Some(_) = http.join_next() => {}
            Some(_) = work.join_next() => {}
            Some(_) = publisher.join_next() => {}
        }
    };
    let told = async {
        until_all(ready).await;
        tracing::info!(engine = shop.store.engine(), %roles, "serving");
        Output::line("ready")?;
        std::future::pending().await
    };
    tokio::select! {
        told = told => told,
        () = ended => Err(Failure::no("a role of this process ended by itself: see the log")),
    }
}

async fn until_all(roles: Vec<watch::Receiver<bool>>) {
    for mut role in roles {
        // Whichever way this ends, a role that died is told of elsewhere.
        let _closed = role.wait_for(|ready| *ready).await;
    }
}

/// Stops in order: what buyers wait for, the work behind it, what it says to the outside, the store.
async fn stop(running: Running, stops: &Stops, shop: &Shop) {
    let Running { mut http, mut work, mut publisher, handle, broker, .. } = running;
    stops.http.cancel();
    // The issuer goes on while answers drain, so that payments just taken still get their codes.
    if tokio::time::timeout(DRAIN_WITHIN, ended(&mut http)).await.is_err() {
        tracing::warn!("some requests were cut off");
        http.shutdown().await;
    }
    stops.work.cancel();
    ended(&mut work).await;
    drop(handle);
    // Every other handle of the publisher went with the roles, but for a connection that was cut off; it ends with what it
    // holds.
    if tokio::time::timeout(PUBLISH_WITHIN, ended(&mut publisher)).await.is_err() {
        tracing::warn!("what is still to be published is left to the sweeper");
    }
    Broker::close(&*broker).await;
    shop.store.close().await;
}

async fn ended(tasks: &mut JoinSet<()>) {
    while tasks.join_next().await.is_some() {}
}
