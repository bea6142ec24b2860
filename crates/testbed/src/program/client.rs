//! A client over HTTP, with the verbs of buyers and payment providers.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a request that cannot be made fails its test")]

use std::net::SocketAddr;
use std::time::Duration;

use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::{Method, Request};
use hyper_util::client::legacy::Client as Pool;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde_json::{Value, json};
use tessera_api::WebhookSecret;
use tokio::time::timeout;

use super::{Answer, Events, MAIL_DOMAIN, PATIENCE, Receipt, Seen};

/// Nothing answered: the server is down, or went down.
#[derive(Debug)]
pub struct Away(pub String);

/// What a request comes to.
pub type Asked = Result<Answer, Away>;

/// A client with connections of its own; clones share them.
#[derive(Clone)]
pub struct Client {
    pool: Pool<HttpConnector, Full<Bytes>>,
    base: String,
    seen: Seen,
}

impl Client {
    pub(super) fn new(server: SocketAddr, seen: Seen) -> Self {
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        let pool = Pool::builder(TokioExecutor::new()).build(connector);
        Self { pool, base: format!("http://{server}"), seen }
    }

    /// Sends a request as it is given.
    ///
    /// # Errors
    /// [`Away`] when no whole answer came.
    pub async fn send(&self, method: Method, path: &str, headers: &[(&str, &str)], body: Vec<u8>) -> Asked {
        let mut request = Request::builder().method(method).uri(format!("{}{path}", self.base));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Full::new(Bytes::from(body))).unwrap();
        let asked = async {
            let response = self.pool.request(request).await.map_err(|e| Away(format!("{e:?}")))?;
            let (parts, body) = response.into_parts();
            let bytes = body.collect().await.map_err(|e| Away(format!("{e:?}")))?.to_bytes();
            let text = String::from_utf8_lossy(&bytes).into_owned();
            let body = serde_json::from_str(&text).unwrap_or_default();
            Ok(Answer { status: parts.status.as_u16(), headers: parts.headers, text, body })
        };
        let answer: Answer = timeout(PATIENCE, asked).await.expect("the server answers in time")?;
        self.seen.note(&answer.body);
        Ok(answer)
    }

    /// Posts JSON.
    ///
    /// # Errors
    /// [`Away`] when no whole answer came.
    pub async fn post(&self, path: &str, headers: &[(&str, &str)], body: &Value) -> Asked {
        let mut all = vec![("content-type", "application/json")];
        all.extend(headers);
        self.send(Method::POST, path, &all, body.to_string().into_bytes()).await
    }

    /// Gets a path that is for everyone.
    ///
    /// # Errors
    /// [`Away`] when no whole answer came.
    pub async fn look(&self, path: &str) -> Asked {
        self.send(Method::GET, path, &[], vec![]).await
    }

    /// Places an order.
    ///
    /// # Errors
    /// [`Away`] when no whole answer came.
    pub async fn place(&self, customer: &str, lines: &[(&str, i64)]) -> Asked {
        self.post("/v1/orders", &[], &order(customer, lines)).await
    }

    /// Places an order under an idempotency key.
    ///
    /// # Errors
    /// [`Away`] when no whole answer came.
    pub async fn place_keyed(&self, key: &str, customer: &str, lines: &[(&str, i64)]) -> Asked {
        self.post("/v1/orders", &[("idempotency-key", key)], &order(customer, lines)).await
    }

    /// Pays by the test provider; does not wait for the codes.
    ///
    /// # Errors
    /// [`Away`] when no whole answer came.
    pub async fn pay(&self, order: &Receipt) -> Asked {
        self.pay_with(order, &[]).await
    }

    /// Pays by the test provider and waits for the codes, so many seconds at most.
    ///
    /// # Errors
    /// [`Away`] when no whole answer came.
    pub async fn pay_waiting(&self, order: &Receipt, seconds: u64) -> Asked {
        self.pay_with(order, &[("prefer", &format!("wait={seconds}"))]).await
    }

    async fn pay_with(&self, order: &Receipt, headers: &[(&str, &str)]) -> Asked {
        let bearer = format!("Bearer {}", order.token);
        let mut all = vec![("authorization", bearer.as_str())];
        all.extend(headers);
        self.post(&format!("/v1/orders/{}/pay", order.id), &all, &json!({"provider": "test"})).await
    }

    /// Sees an order.
    ///
    /// # Errors
    /// [`Away`] when no whole answer came.
    pub async fn get(&self, order: &Receipt) -> Asked {
        self.get_with(order, &[]).await
    }

    /// Sees an order once its codes are there, or after so many seconds.
    ///
    /// # Errors
    /// [`Away`] when no whole answer came.
    pub async fn get_waiting(&self, order: &Receipt, seconds: u64) -> Asked {
        self.get_with(order, &[("prefer", &format!("wait={seconds}"))]).await
    }

    /// Gets a part of an order, such as `/codes?limit=5`.
    ///
    /// # Errors
    /// [`Away`] when no whole answer came.
    pub async fn get_part(&self, order: &Receipt, part: &str, headers: &[(&str, &str)]) -> Asked {
        let bearer = format!("Bearer {}", order.token);
        let mut all = vec![("authorization", bearer.as_str())];
        all.extend(headers);
        self.send(Method::GET, &format!("/v1/orders/{}{part}", order.id), &all, vec![]).await
    }

    async fn get_with(&self, order: &Receipt, headers: &[(&str, &str)]) -> Asked {
        self.get_part(order, "", headers).await
    }

    /// Follows an order's events, after the one with this id if there is one.
    ///
    /// # Errors
    /// [`Away`] when no stream came.
    pub async fn events(&self, order: &Receipt, after: Option<&str>) -> Result<Events, Away> {
        let mut request = Request::builder().uri(format!("{}/v1/orders/{}/events", self.base, order.id));
        request = request.header("authorization", format!("Bearer {}", order.token));
        if let Some(id) = after {
            request = request.header("last-event-id", id);
        }
        let asked = self.pool.request(request.body(Full::default()).unwrap());
        let response = timeout(PATIENCE, asked).await.expect("the server answers in time");
        let response = response.map_err(|e| Away(format!("{e:?}")))?;
        assert_eq!(response.status(), 200, "no stream");
        Ok(Events::new(response.into_body(), self.seen.clone()))
    }

    /// Cancels an order.
    ///
    /// # Errors
    /// [`Away`] when no whole answer came.
    pub async fn cancel(&self, order: &Receipt) -> Asked {
        let bearer = format!("Bearer {}", order.token);
        let path = format!("/v1/orders/{}/cancel", order.id);
        self.send(Method::POST, &path, &[("authorization", &bearer)], vec![]).await
    }

    /// Sends a signed notice of the `hmac` provider.
    ///
    /// # Errors
    /// [`Away`] when no whole answer came.
    pub async fn notify(&self, secret: &WebhookSecret, notice: &Value) -> Asked {
        // Its time is long past: a good signature is enough.
        let (id, at, body) = ("msg_1", "1614265330", notice.to_string());
        let signature = secret.sign(id, at, body.as_bytes());
        let headers =
            [("webhook-id", id), ("webhook-timestamp", at), ("webhook-signature", signature.as_str())];
        self.post("/v1/payments/hmac/notify", &headers, notice).await
    }
}

/// What a client waits before it asks again.
const AGAIN_AFTER: Duration = Duration::from_millis(20);

/// Asks until a server answers and is not too busy.
pub async fn answered<A: Future<Output = Asked>>(ask: impl Fn() -> A) -> Answer {
    loop {
        match ask().await {
            Ok(answer) if answer.status != 503 => return answer,
            // Whether it is down or will be back in a moment, it is asked again.
            Ok(_) | Err(_) => tokio::time::sleep(AGAIN_AFTER).await,
        }
    }
}

/// An order's JSON.
fn order(customer: &str, lines: &[(&str, i64)]) -> Value {
    let lines = lines.iter().map(|(sku, quantity)| json!({"sku": sku, "quantity": quantity}));
    let email = format!("{customer}@{MAIL_DOMAIN}");
    json!({"customer": {"id": customer, "email": email}, "lines": lines.collect::<Vec<_>>()})
}
