//! Starting the roles of a process.

use std::sync::Arc;
use std::time::Duration;

use tessera_api::{App, AppParts, HttpSettings, Ops, PaymentSettings, Readiness, ops_router, router};
use tessera_broker::Broker;
use tessera_courier::{Archive, Publisher, Sweeper};
use tessera_issuer::Serial;
use tessera_model::ids::{OrderId, ProductId};
use tessera_orders::Heard;
use tessera_orders::holds::Holds;
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::descriptors::{self, OPERATORS_MAX};
use super::lease::Duty;
use super::{Engine, Listeners, Roles, Stops, housekeeper, listener, ops};
use crate::cli::RoleName;
use crate::failure::Failure;
use crate::note::FileNote;
use crate::settings::{Database, Settings, Transport};
use crate::shop::Shop;

/// How often waiting orders are looked at without a wake-up: with a file, also what another command changed in it.
const RECHECK_FILE: Duration = Duration::from_millis(200);

/// The same with a server, where each look is a query over the network.
const RECHECK_SERVER: Duration = Duration::from_millis(500);

/// The roles of a process that serves.
pub(super) struct Running {
    pub(super) http: JoinSet<()>,
    pub(super) work: JoinSet<()>,
    pub(super) publisher: JoinSet<()>,
    /// Keeps the publisher's task alive until the stop, also where no role publishes.
    pub(super) handle: Publisher,
    pub(super) broker: Arc<dyn Broker>,
    /// What has to be true before the process says `ready`.
    pub(super) ready: Vec<watch::Receiver<bool>>,
}

/// Hands paid orders to the publisher.
struct ToPublisher(Publisher);

impl Heard for ToPublisher {
    fn paid(&self, orders: Vec<(OrderId, ProductId)>) {
        self.0.orders_paid(&orders);
    }
}

/// What every role is made from.
struct Parts<'s> {
    settings: &'s Settings,
    shop: &'s Shop,
    engine: Engine,
    publisher: Publisher,
    stops: &'s Stops,
}

/// Starts every role that was asked for.
pub(super) async fn start(
    settings: &Settings,
    shop: &Shop,
    roles: &Roles,
    listeners: Listeners,
    stops: &Stops,
) -> Result<Running, Failure> {
    let engine = Engine::open(settings, shop).await?;
    let (publisher, task) =
        Publisher::new(Arc::clone(&engine.broker), Arc::clone(&shop.clock), engine.partitions);
    let mut publishing = JoinSet::new();
    publishing.spawn(task);
    let broker = Arc::clone(&engine.broker);
    let parts = Parts { settings, shop, engine, publisher, stops };
    let (mut http, mut work) = (JoinSet::new(), JoinSet::new());
    let (mut ready, mut readiness): (Vec<_>, Readiness) = (vec![], vec![]);
    parts.alone(&mut work).await?;
    if roles.has(RoleName::Issuer) {
        parts.engine.declare().await?;
        parts.issuers(&mut work, &mut ready, &mut readiness)?;
    }
    if roles.has(RoleName::Courier) {
        let (store, entropy) = (Arc::clone(&shop.store), Arc::clone(&shop.entropy));
        work.spawn(Archive::new(store, Arc::clone(&broker), entropy).run(stops.work.clone()));
    }
    let holds = Holds::new(Arc::clone(&shop.store));
    let jumps = holds.jumps();
    if roles.has(RoleName::Housekeeper) {
        parts.housekeeper(holds, &mut work)?;
    }
    let ops = ops::ops(shop, readiness, &parts.publisher, jumps);
    if let Some(listener) = listeners.ops {
        let router = ops_router(ops.clone());
        http.spawn(listener::serve(listener, router, OPERATORS_MAX, stops.http.clone()));
    }
    if let Some(listener) = listeners.http {
        let app = parts.app(ops)?;
        let clients = descriptors::clients(descriptors::raise(), settings.database.connections);
        tracing::info!(clients, "so many clients may be connected at once");
        http.spawn(listener::serve(listener, router(app), clients, stops.http.clone()));
    }
    let handle = parts.publisher.clone();
    Ok(Running { http, work, publisher: publishing, handle, broker, ready })
}

impl Parts<'_> {
    /// A server may be shared, and the embedded broker may not: only one process serves such a pair.
    async fn alone(&self, work: &mut JoinSet<()>) -> Result<(), Failure> {
        if let (Database::Postgres(_), Transport::Embedded) =
            (self.settings.database()?, self.settings.transport()?)
        {
            let duty = Duty::new(&self.shop.store, &self.shop.entropy, "serve");
            duty.take_alone("stop it, or set broker.url to amqp:// for every process").await?;
            work.spawn(duty.hold(watch::Sender::new(true), self.stops.work.clone()));
        }
        Ok(())
    }

    fn issuers(
        &self,
        work: &mut JoinSet<()>,
        ready: &mut Vec<watch::Receiver<bool>>,
        readiness: &mut Readiness,
    ) -> Result<(), Failure> {
        for partition in 0..self.engine.partitions {
            let note = FileNote::open(&self.settings.data_dir, partition).map_err(|e| {
                Failure::needs(
                    format!("the issuer's note cannot be opened: {e}"),
                    "see that data_dir can be written",
                )
            })?;
            let (sender, registered) = watch::channel(false);
            let (store, entropy) = (Arc::clone(&self.shop.store), Arc::clone(&self.shop.entropy));
            let (broker, mint) = (Arc::clone(&self.engine.broker), self.shop.mint());
            let issuer = Serial::new(store, broker, entropy, mint, Box::new(note), partition);
            readiness.push(("issuer", issuer.consuming()));
            work.spawn(issuer.run(sender, self.stops.work.clone()));
            ready.push(registered);
        }
        Ok(())
    }

    fn housekeeper(&self, holds: Holds, work: &mut JoinSet<()>) -> Result<(), Failure> {
        let store = Arc::clone(&self.shop.store);
        let sweeper = Sweeper::new(
            Arc::clone(&store),
            Arc::clone(&self.engine.broker),
            self.publisher.clone(),
            self.engine.partitions,
        );
        let duty = match self.settings.database()? {
            // The folder's lock keeps others out.
            Database::Sqlite(_) => watch::Sender::new(true).subscribe(),
            Database::Postgres(_) => {
                let (sender, held) = watch::channel(false);
                let duty = Duty::new(&store, &self.shop.entropy, "housekeeping");
                work.spawn(duty.hold(sender, self.stops.work.clone()));
                held
            }
        };
        let entropy = Arc::clone(&self.shop.entropy);
        let (mint, stop) = (self.shop.mint(), self.stops.work.clone());
        let clock = match self.settings.database()? {
            Database::Sqlite(_) => Some(Arc::clone(&self.shop.clock)),
            Database::Postgres(_) => None,
        };
        work.spawn(housekeeper::run((holds, clock), store, entropy, mint, sweeper, duty, stop));
        Ok(())
    }

    fn app(&self, ops: Ops) -> Result<App, Failure> {
        let Self { settings, shop, engine, publisher, stops } = self;
        Ok(App::start(AppParts {
            store: Arc::clone(&shop.store),
            broker: Arc::clone(&engine.broker),
            keyring: Arc::clone(&shop.keyring),
            clock: Arc::clone(&shop.clock),
            entropy: Arc::clone(&shop.entropy),
            heard: Arc::new(ToPublisher(publisher.clone())),
            payments: PaymentSettings { test: settings.payments.test.enabled, hmac: settings.hmac_secret()? },
            proof: settings.customer_proof()?,
            http: HttpSettings { allowed_origins: settings.http.allowed_origins.clone() },
            ops,
            recheck: match settings.database()? {
                Database::Sqlite(_) => RECHECK_FILE,
                Database::Postgres(_) => RECHECK_SERVER,
            },
            stop: stops.http.clone(),
        }))
    }
}
