//! A buyer over HTTP: orders one, pays, and reads its code in the payment's answer.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use serde_json::json;

use crate::connection::Connection;

/// A connection that buys one product, each time as somebody else.
pub(crate) struct Buyer {
    connection: Connection,
    sku: String,
}

/// What was bought.
pub(crate) struct Bought {
    pub(crate) code: String,
    /// From asking to pay to the code.
    pub(crate) waited: Duration,
}

impl Buyer {
    pub(crate) async fn open(at: SocketAddr, sku: String) -> anyhow::Result<Self> {
        Ok(Self { connection: Connection::open(at).await?, sku })
    }

    /// Buys one as this customer.
    pub(crate) async fn buy(&mut self, customer: &str) -> anyhow::Result<Bought> {
        let order = json!({ "customer": { "id": customer }, "lines": [{ "sku": self.sku, "quantity": 1 }] });
        let (status, placed) = self.connection.post("/v1/orders", "", &order).await?;
        if status != 201 {
            bail!("an order was answered {status}: {placed}");
        }
        let id = placed["id"].as_str().context("an id")?;
        let token = placed["token"].as_str().context("a token")?;
        let headers = format!("authorization: Bearer {token}\r\nprefer: wait=30\r\n");
        let asked = Instant::now();
        let path = format!("/v1/orders/{id}/pay");
        let (status, paid) = self.connection.post(&path, &headers, &json!({ "provider": "test" })).await?;
        let code = paid["lines"][0]["codes"][0]["code"].as_str();
        let code = code.with_context(|| format!("no code in a payment answered {status}"))?;
        Ok(Bought { code: code.to_owned(), waited: asked.elapsed() })
    }
}
