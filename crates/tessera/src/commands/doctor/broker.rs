//! What `doctor` says of the broker.

use tessera_broker::{Broker, Finding, Found};

use super::Check;
use crate::failure::Failure;
use crate::roles::{Engine, topology};
use crate::settings::{Settings, Transport};
use crate::shop::Shop;

/// Looks at the queues and changes nothing.
pub(super) async fn checks(settings: &Settings, shop: &Shop) -> Vec<Check> {
    match settings.transport() {
        Ok(Transport::Embedded) => {
            return vec![Check::ok("broker", "embedded: it lives in the serving process")];
        }
        Ok(Transport::Amqp(_)) => {}
        Err(failure) => return vec![Check::wrong("broker", &failure)],
    }
    let engine = match Engine::open(settings, shop).await {
        Ok(engine) => engine,
        Err(failure) => return vec![Check::wrong("broker", &failure)],
    };
    let findings = engine.broker.topology().await;
    Broker::close(&*engine.broker).await;
    match findings {
        Ok(findings) => findings.into_iter().map(check).collect(),
        Err(error) => {
            let failure =
                Failure::needs(error.to_string(), "start RabbitMQ, or set broker.url to where it is");
            vec![Check::wrong("broker", &failure)]
        }
    }
}

fn check(finding: Finding) -> Check {
    let Finding { name, found } = finding;
    match found {
        Found::AsWanted => Check::ok("broker", name),
        Found::Missing => {
            Check::ok("broker", format!("{name} is not there yet: the first issuer declares it"))
        }
        Found::Noted(note) => Check::ok("broker", format!("{name}: {note}")),
        Found::Different(difference) => Check::wrong("broker", &topology(difference)),
    }
}
