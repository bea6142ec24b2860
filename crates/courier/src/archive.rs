//! The archive: what the broker itself gave up on, after a thousand deliveries without an acknowledgement.
//!
//! An order is its own outbox, so a message about one is only let go: if its codes are still due, the sweeper publishes
//! it anew. What kills issuers became a letter after three lone tries; what comes here has mostly been handed back by
//! an issuer that was paused for long, and a letter would keep the sweeper off orders that nothing is wrong with. What
//! is about no order of ours becomes a letter, so that an operator sees it.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use tessera_broker::{Broker, BrokerError, Delivery};
use tessera_model::ids::{LetterId, OrderId};
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

    /// Keeps what is about no order of ours; returns how many letters that made.
    ///
    /// # Errors
    /// The store's; nothing was kept then.
    pub async fn keep(&self, set: Vec<Delivery>) -> Result<usize> {
        let (store, entropy) = (Arc::clone(&self.store), Arc::clone(&self.entropy));
        let kept = run_alone(async move {
            let mut tx = store.begin().await?;
            let ids: HashSet<OrderId> = set.iter().filter_map(|d| order_in(&d.body)).collect();
            let ids: Vec<OrderId> = ids.into_iter().collect();
            let orders: HashSet<OrderId> =
                tx.orders_versions(&ids).await?.into_iter().map(|(id, _)| id).collect();
            let now = tx.now();
            let strange = set.iter().filter(|d| order_in(&d.body).is_none_or(|id| !orders.contains(&id)));
            let letters: Vec<Letter> = strange
                .map(|delivery| letter(delivery).failed_at(now, LetterId::new(now, entropy.bytes())))
                .collect();
            tx.letters_put(&letters).await?;
            tx.commit().await?;
            Ok((letters.len(), set.len() - letters.len()))
        })
        .await?;
        let (letters, let_go) = kept;
        tracing::error!(letters, let_go, "the broker gave messages up");
        Ok(letters)
    }
}

fn letter(delivery: &Delivery) -> Letter {
    Letter {
        reason: "the broker gave it up: delivered too often without an outcome".to_owned(),
        fingerprint: FINGERPRINT.to_owned(),
        attempts: 1,
        ..Letter::about(delivery.message_id.as_deref(), delivery.kind.as_deref(), &delivery.body)
    }
}
