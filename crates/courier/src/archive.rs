//! The archive: what the broker itself gave up on becomes a dead letter that operators see.
//!
//! The broker gives a message up when it was delivered too often without an acknowledgement. Its order is still
//! `paid`; the letter keeps the sweeper off, so that what may be killing issuers is not sent to them again. A
//! message whose order is done needs no letter.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tessera_broker::{Broker, BrokerError, Delivery};
use tessera_model::ids::{LetterId, OrderId};
use tessera_model::order::{Order, OrderStatus};
use tessera_store::letters::Letter;
use tessera_store::{Entropy, Result, Store, run_alone};
use tokio_util::sync::CancellationToken;

use crate::message::order_in;

/// The most messages archived in one transaction.
const SET_MAX: usize = 100;

/// How long the archive rests after a failure before it begins a new session.
const REST: Duration = Duration::from_secs(2);

/// Groups the letters of this cause.
const FINGERPRINT: &str = "broker:delivery-limit";

/// Empties the broker's queue of dead letters into the store.
pub struct Archive {
    store: Arc<dyn Store>,
    broker: Arc<dyn Broker>,
    entropy: Arc<Entropy>,
}

impl Archive {
    /// An archive of this broker's dead letters.
    pub fn new(store: Arc<dyn Store>, broker: Arc<dyn Broker>, entropy: Arc<Entropy>) -> Self {
        Self { store, broker, entropy }
    }

    /// Archives until `stop`.
    pub async fn run(self, stop: CancellationToken) {
        while !stop.is_cancelled() {
            tokio::select! {
                () = stop.cancelled() => {}
                end = self.session() => {
                    tracing::debug!(reason = end, "the archive rests");
                    tokio::select! { () = stop.cancelled() => {}, () = tokio::time::sleep(REST) => {} }
                }
            }
        }
    }

    /// One consumer's life; returns why it ended. Nothing is acknowledged that is not stored.
    async fn session(&self) -> String {
        let told = |error: BrokerError| error.to_string();
        let mut consumer = match self.broker.consume_dead(u16::try_from(SET_MAX).unwrap_or(u16::MAX)).await {
            Ok(consumer) => consumer,
            Err(error) => return told(error),
        };
        loop {
            let set = match consumer.next_set(SET_MAX).await {
                Ok(set) => set,
                Err(error) => return told(error),
            };
            let Some(last) = set.last().map(|d| d.tag) else { continue };
            if let Err(error) = self.keep(set).await {
                return error.to_string();
            }
            if let Err(error) = consumer.acknowledge(last).await {
                return told(error);
            }
        }
    }

    /// Keeps what was given up, each message whose order is not done yet.
    ///
    /// # Errors
    /// The store's; nothing was kept then.
    pub async fn keep(&self, set: Vec<Delivery>) -> Result<usize> {
        let (store, entropy) = (Arc::clone(&self.store), Arc::clone(&self.entropy));
        let kept = run_alone(async move {
            let mut tx = store.begin().await?;
            let mut ids: Vec<OrderId> = set.iter().filter_map(|d| order_in(&d.body)).collect();
            ids.sort_unstable();
            ids.dedup();
            // Under lock: an issuer that is at it resolves the letter, or has issued the order already.
            let orders = tx.orders_lock(&ids).await?.into_iter().map(|order| (order.id, order)).collect();
            let now = tx.now();
            let letters: Vec<Letter> = set
                .iter()
                .filter_map(|delivery| letter(delivery, &orders))
                .map(|letter| Letter {
                    id: LetterId::new(now, entropy.bytes()),
                    first_failed_at: now,
                    last_failed_at: now,
                    ..letter
                })
                .collect();
            tx.letters_put(&letters).await?;
            tx.commit().await?;
            Ok(letters.len())
        })
        .await?;
        if kept > 0 {
            tracing::error!(letters = kept, "the broker gave messages up: they are dead letters now");
        }
        Ok(kept)
    }
}

fn letter(delivery: &Delivery, orders: &HashMap<OrderId, Order>) -> Option<Letter> {
    let order = order_in(&delivery.body).and_then(|id| orders.get(&id));
    let waits = |order: &Order| matches!(order.state.status(), OrderStatus::Paid | OrderStatus::Backordered);
    if order.is_some_and(|order| !waits(order)) {
        return None;
    }
    Some(Letter {
        order: order.map(|order| order.id),
        reason: "the broker gave it up: delivered too often without an outcome".to_owned(),
        fingerprint: FINGERPRINT.to_owned(),
        attempts: 1,
        ..Letter::about(delivery.message_id.as_deref(), delivery.kind.as_deref(), &delivery.body)
    })
}
