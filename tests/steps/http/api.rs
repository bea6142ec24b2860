//! A shop behind its router, and what its buyers and providers send.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tessera_api::{
    App, AppParts, CustomerProof, HttpSettings, Metrics, Ops, PaymentSettings, WebhookSecret, router,
};
use tessera_backoffice::api_keys;
use tessera_courier::Publisher;
use tessera_model::ids::{OrderId, ProductId};
use tessera_orders::Heard;
use tessera_store::Clock;
use tessera_store::operators::Role;
use tessera_testbed::{Issuer, Shop};
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

use super::ask::{Answer, Ask, get, post};

/// The secret that the `hmac` provider shares with the shop.
pub(crate) const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/// The longest a test waits for anything before it fails.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);

/// A shop and its router. Has to be closed.
pub(crate) struct Api {
    pub(crate) shop: Shop,
    pub(crate) stop: CancellationToken,
    router: Router,
    issuer: Option<Issuer>,
}

/// An order and its token, as its buyer got them.
#[derive(Clone, Debug)]
pub(crate) struct Bought {
    pub(crate) path: String,
    pub(crate) token: String,
    pub(crate) order: Value,
}

struct Publishes(Publisher);

impl Heard for Publishes {
    fn paid(&self, orders: Vec<(OrderId, ProductId)>) {
        self.0.orders_paid(&orders);
    }
}

impl Api {
    /// A shop with both providers. Nobody issues yet.
    pub(crate) async fn open() -> Self {
        Self::with(|_| ()).await
    }

    /// The same, with whatever `change` makes of it.
    pub(crate) async fn with(change: impl FnOnce(&mut AppParts)) -> Self {
        Self::over(Shop::open().await, change)
    }

    /// The same over a shop that is open already.
    pub(crate) fn over(shop: Shop, change: impl FnOnce(&mut AppParts)) -> Self {
        let stop = CancellationToken::new();
        let clock: Arc<dyn Clock> = shop.clock.clone();
        let mut parts = AppParts {
            store: Arc::clone(&shop.store),
            broker: shop.broker.clone(),
            keyring: Arc::clone(&shop.keyring),
            clock,
            entropy: Arc::clone(&shop.entropy),
            heard: Arc::new(Publishes(shop.publisher.clone())),
            payments: PaymentSettings { test: true, hmac: WebhookSecret::parse(SECRET) },
            proof: CustomerProof::None,
            http: HttpSettings::default(),
            ops: Ops {
                store: Arc::clone(&shop.store),
                readiness: Arc::default(),
                metrics: Metrics::new(vec![]),
            },
            recheck: Duration::from_millis(20),
            stop: stop.clone(),
        };
        change(&mut parts);
        Self { router: router(App::start(parts)), shop, stop, issuer: None }
    }

    /// A shop that issues, with this many codes of `card`, which are returned.
    pub(crate) async fn selling(count: usize) -> (Self, Vec<String>) {
        Self::open().await.selling_cards(count).await
    }

    /// The same, and nobody issues yet.
    pub(crate) async fn selling_later(count: usize) -> (Self, Vec<String>) {
        let api = Self::open().await;
        api.shop.product("card", |_| ()).await;
        let codes = api.shop.stock("card", count).await;
        (api, codes)
    }

    /// As [`Api::selling`], of a shop that has nothing yet.
    pub(crate) async fn selling_cards(mut self, count: usize) -> (Self, Vec<String>) {
        self.shop.product("card", |_| ()).await;
        let codes = self.shop.stock("card", count).await;
        self.start_issuer().await;
        (self, codes)
    }

    /// Starts the issuer; it ends with the shop.
    pub(crate) async fn start_issuer(&mut self) {
        self.issuer = Some(self.shop.start_issuer().await);
    }

    /// Ends what runs, and the shop with its checks.
    pub(crate) async fn close(self) {
        self.stop.cancel();
        if let Some(issuer) = self.issuer {
            issuer.stop().await;
        }
        self.shop.close().await;
    }

    /// Sends a request and reads its whole answer.
    pub(crate) async fn ask(&self, ask: Ask) -> Answer {
        let response = self.router.clone().oneshot(ask.build()).await.unwrap();
        let (parts, body) = response.into_parts();
        let bytes = body.collect().await.unwrap().to_bytes();
        Answer { status: parts.status, headers: parts.headers, bytes }
    }

    /// A new key of a role, as `tessera keys create` shows it.
    pub(crate) async fn key(&self, role: Role) -> String {
        let (store, entropy) = (&self.shop.store, &self.shop.entropy);
        let made = api_keys::create(store, entropy, role, String::new(), None, "test".to_owned());
        made.await.unwrap().text
    }

    /// Places an order that is accepted.
    pub(crate) async fn place(&self, customer: &str, lines: &[(&str, i64)]) -> Bought {
        Bought::of(&self.ask(order(customer, lines)).await.json(201))
    }

    /// Places an order, pays it and waits for its codes.
    pub(crate) async fn buy(&self, customer: &str, lines: &[(&str, i64)]) -> Bought {
        let bought = self.place(customer, lines).await;
        let paid = self.ask(bought.pay().wait(30)).await.json(200);
        assert_eq!(paid["status"], "issued");
        Bought { order: paid, ..bought }
    }

    /// The order as its buyer sees it now.
    pub(crate) async fn show(&self, bought: &Bought) -> Value {
        self.ask(bought.get()).await.json(200)
    }

    /// Returns once requests wait for this many orders.
    pub(crate) async fn until_waited_for(&self, orders: usize) {
        let line = format!("tessera_waiting_orders {orders}");
        let waited = async {
            while !self.ask(get("/metrics")).await.text().lines().any(|l| l == line) {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(PATIENCE, waited).await.unwrap();
    }
}

impl Bought {
    /// What an answer to a new order says.
    pub(crate) fn of(placed: &Value) -> Self {
        Self {
            path: placed["links"]["self"].as_str().unwrap().to_owned(),
            token: placed["token"].as_str().unwrap().to_owned(),
            order: placed.clone(),
        }
    }

    /// Its id.
    pub(crate) fn id(&self) -> &str {
        self.order["id"].as_str().unwrap()
    }

    /// Its id, parsed.
    pub(crate) fn order_id(&self) -> OrderId {
        OrderId::parse(self.id()).unwrap()
    }

    /// Asks for the order.
    pub(crate) fn get(&self) -> Ask {
        get(&self.path).token(&self.token)
    }

    /// Asks for its codes.
    pub(crate) fn codes(&self, query: &str) -> Ask {
        get(format!("{}/codes{query}", self.path)).token(&self.token)
    }

    /// Pays it by the `test` provider.
    pub(crate) fn pay(&self) -> Ask {
        post(format!("{}/pay", self.path)).token(&self.token).json(&json!({ "provider": "test" }))
    }

    /// Cancels it.
    pub(crate) fn cancel(&self) -> Ask {
        post(format!("{}/cancel", self.path)).token(&self.token)
    }
}

/// Asks for an order.
pub(crate) fn order(customer: &str, lines: &[(&str, i64)]) -> Ask {
    let lines: Vec<Value> =
        lines.iter().map(|(sku, quantity)| json!({ "sku": sku, "quantity": quantity })).collect();
    post("/v1/orders").json(&json!({ "customer": { "id": customer }, "lines": lines }))
}
