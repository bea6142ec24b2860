//! What the roles of a process stand on besides the shop: the broker and the number of its queues.

use std::sync::Arc;

use tessera_broker::{Broker, BrokerError, InProcess, Options, RabbitMq};
use tessera_store::run_alone;

use crate::failure::Failure;
use crate::settings::{Settings, Transport};
use crate::shop::Shop;

/// The broker, and the number of issuer queues that every process knows.
pub(crate) struct Engine {
    pub(crate) broker: Arc<dyn Broker>,
    pub(crate) partitions: u16,
}

impl Engine {
    /// Reads the number of queues and makes the broker; one that is away is no failure.
    pub(crate) async fn open(settings: &Settings, shop: &Shop) -> Result<Self, Failure> {
        let store = Arc::clone(&shop.store);
        let meta = run_alone(async move { store.snapshot().await?.meta().await }).await?;
        let (wanted, partitions) = (settings.broker.partitions, meta.partitions);
        if wanted != 0 && wanted != partitions {
            return Err(Failure::needs(
                format!("broker.partitions is {wanted}, and the database says {partitions}"),
                "run `tessera migrate` to change the database, then restart every process",
            ));
        }
        Ok(Self { broker: broker(settings, partitions)?, partitions })
    }

    /// Declares the queues. What differs from what is there is for a person to mend; a broker that is away is
    /// asked again by whoever consumes.
    pub(crate) async fn declare(&self) -> Result<(), Failure> {
        match self.broker.declare().await {
            Ok(()) => Ok(()),
            Err(BrokerError::Topology(difference)) => Err(topology(difference)),
            Err(error) => {
                tracing::warn!(%error, "the queues are declared once the broker is back");
                Ok(())
            }
        }
    }
}

/// What to do about queues that are not as this program wants them.
pub(crate) fn topology(difference: String) -> Failure {
    Failure::needs(
        difference,
        "mend it so and start again: no order is lost, whatever is paid is published anew",
    )
}

fn broker(settings: &Settings, partitions: u16) -> Result<Arc<dyn Broker>, Failure> {
    Ok(match settings.transport()? {
        Transport::Embedded => Arc::new(InProcess::new(partitions)),
        Transport::Amqp(url) => {
            let options = Options::new(url.expose(), settings.broker.prefix.clone(), partitions);
            Arc::new(RabbitMq::new(&options).map_err(|error| Failure::usage(error.to_string()))?)
        }
    })
}
