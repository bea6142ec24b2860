//! What every route shares.

use std::sync::Arc;
use std::time::Duration;

use tessera_broker::Broker;
use tessera_model::ids::OrderId;
use tessera_model::keys::Keyring;
use tessera_model::time::Timestamp;
use tessera_orders::{Batcher, Desk, Heard};
use tessera_store::{Clock, Entropy, Result, Store};
use tokio_util::sync::CancellationToken;

use crate::allowance::Allowance;
use crate::metrics::Metrics;
use crate::ops::Ops;
use crate::problem::Problem;
use crate::proof::CustomerProof;
use crate::read::{OrderView, load_each};
use crate::signature::WebhookSecret;
use crate::waiting::Waiters;

/// Which payment providers are there.
#[derive(Clone, Debug, Default)]
pub struct PaymentSettings {
    /// Whether `test` settles orders for nothing.
    pub test: bool,
    /// The shared secret of `hmac`, if it is on.
    pub hmac: Option<WebhookSecret>,
}

/// How the API is served.
#[derive(Clone, Debug, Default)]
pub struct HttpSettings {
    /// Origins whose pages may call, `*` for all; none by default.
    pub allowed_origins: Vec<String>,
}

/// What an [`App`] is made of.
pub struct AppParts {
    /// Where everything is kept.
    pub store: Arc<dyn Store>,
    /// Where wake-ups come from.
    pub broker: Arc<dyn Broker>,
    /// The shop's keys.
    pub keyring: Arc<Keyring>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Randomness.
    pub entropy: Arc<Entropy>,
    /// Who is told of paid orders.
    pub heard: Arc<dyn Heard>,
    /// Which providers are there.
    pub payments: PaymentSettings,
    /// Who vouches for customers.
    pub proof: CustomerProof,
    /// How it is served.
    pub http: HttpSettings,
    /// What tells how the process is.
    pub ops: Ops,
    /// How often waiting orders are looked at without a wake-up.
    pub recheck: Duration,
    /// Ends what waits.
    pub stop: CancellationToken,
}

/// Refused notices that are kept: a hundred at once, and then one a second. All are counted.
const REFUSED_KEPT: (u32, Duration) = (100, Duration::from_secs(1));

type Loaded = std::result::Result<Option<Arc<OrderView>>, tessera_store::StoreError>;

/// The state of every route. Cheap to clone.
#[derive(Clone)]
pub struct App {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) keyring: Arc<Keyring>,
    pub(crate) entropy: Arc<Entropy>,
    pub(crate) desk: Desk,
    pub(crate) waiters: Arc<Waiters>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) ops: Ops,
    pub(crate) payments: Arc<PaymentSettings>,
    pub(crate) proof: Arc<CustomerProof>,
    pub(crate) http: Arc<HttpSettings>,
    pub(crate) stop: CancellationToken,
    /// Which refused notices are kept.
    pub(crate) refused: Arc<Allowance>,
    clock: Arc<dyn Clock>,
    views: Batcher<OrderId, Loaded>,
}

impl App {
    /// Starts what the routes stand on: the desk's batchers, the readers, the waiters.
    pub fn start(parts: AppParts) -> Self {
        let AppParts { store, broker, keyring, clock, entropy, heard, payments, proof, http, ops, .. } =
            parts;
        let waiters = Waiters::new(Arc::clone(&store), Arc::clone(&keyring), ops.metrics.waiting.clone());
        tokio::spawn(Arc::clone(&waiters).run(broker, parts.recheck, parts.stop.clone()));
        let views = Batcher::spawn({
            let (store, keyring) = (Arc::clone(&store), Arc::clone(&keyring));
            move |ids: Vec<OrderId>| view(Arc::clone(&store), Arc::clone(&keyring), ids)
        });
        Self {
            desk: Desk::new(&store, &heard),
            metrics: Arc::clone(&ops.metrics),
            ops,
            payments: Arc::new(payments),
            proof: Arc::new(proof),
            http: Arc::new(http),
            stop: parts.stop,
            refused: Arc::new(Allowance::new(REFUSED_KEPT.0, REFUSED_KEPT.1)),
            store,
            keyring,
            entropy,
            waiters,
            clock,
            views,
        }
    }

    /// An order as it is now; requests that come together are read together.
    pub(crate) async fn view(&self, order: OrderId) -> Result<Arc<OrderView>, Problem> {
        let loaded = self.views.submit(order).await.map_err(|e| Problem::unavailable(e.to_string()))?;
        loaded?.ok_or_else(Problem::no_order)
    }

    /// The time now.
    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }
}

async fn view(store: Arc<dyn Store>, keyring: Arc<Keyring>, ids: Vec<OrderId>) -> Vec<Loaded> {
    let views = load_each(store, keyring, ids.clone()).await;
    ids.iter().map(|id| views.get(id).cloned().transpose()).collect()
}
