//! Counters of what buyers and providers do, in OpenMetrics text. Never labelled by order.

use std::sync::Arc;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

/// One label: what came of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct Outcome {
    /// The outcome's word.
    pub outcome: &'static str,
}

/// The counters of one process.
pub struct Metrics {
    registry: Registry,
    /// Orders asked for, by outcome.
    pub orders: Family<Outcome, Counter>,
    /// Payments, by outcome.
    pub payments: Family<Outcome, Counter>,
    /// Notices that were refused, by reason.
    pub notices_refused: Family<Outcome, Counter>,
    /// Orders somebody waits for.
    pub waiting: Gauge,
}

impl Metrics {
    /// All at zero.
    pub fn new() -> Arc<Self> {
        let mut registry = Registry::with_prefix("tessera");
        let (orders, payments, notices_refused) = (Family::default(), Family::default(), Family::default());
        let waiting = Gauge::default();
        registry.register("orders", "Orders asked for, by outcome", Clone::clone(&orders));
        registry.register("payments", "Payments, by outcome", Clone::clone(&payments));
        registry.register("notices_refused", "Notices refused, by reason", Clone::clone(&notices_refused));
        registry.register("waiting_orders", "Orders somebody waits for", waiting.clone());
        Arc::new(Self { registry, orders, payments, notices_refused, waiting })
    }

    /// Counts one.
    pub fn count(family: &Family<Outcome, Counter>, outcome: &'static str) {
        family.get_or_create(&Outcome { outcome }).inc();
    }

    /// The text that a scraper reads.
    pub fn text(&self) -> String {
        let mut text = String::new();
        // Writing into a string does not fail.
        encode(&mut text, &self.registry).map(|()| text).unwrap_or_default()
    }
}
