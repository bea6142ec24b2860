//! Counters of what buyers and providers do, in OpenMetrics text. Never labelled by order.

use std::sync::Arc;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{DescriptorEncoder, EncodeLabelSet, EncodeMetric};
use prometheus_client::metrics::counter::{ConstCounter, Counter};
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

/// One label: what came of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct Outcome {
    /// The outcome's word.
    pub outcome: &'static str,
}

/// One label: why a person has to look.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct Reason {
    /// The reason's word.
    pub reason: &'static str,
}

/// A count that something else keeps, read when a scraper asks.
pub struct Reading {
    /// Its name, without `tessera_` and `_total`.
    pub name: &'static str,
    /// What it counts, as a phrase.
    pub help: &'static str,
    /// Reads it.
    pub read: Box<dyn Fn() -> u64 + Send + Sync>,
}

impl std::fmt::Debug for Reading {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reading").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Collector for Reading {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), std::fmt::Error> {
        let count = ConstCounter::new((self.read)());
        count.encode(encoder.encode_descriptor(self.name, self.help, None, count.metric_type())?)
    }
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
    /// Payments and notices that need a hand, by reason: that of a payment, or `contradiction`, `refund`,
    /// `refund_does_not_fit`, `dispute`. What operators do about them in other processes does not lower it.
    pub payment_alerts: Family<Reason, Counter>,
    /// Orders somebody waits for.
    pub waiting: Gauge,
}

impl Metrics {
    /// All at zero; what others count is read through `readings`.
    pub fn new(readings: Vec<Reading>) -> Arc<Self> {
        let mut registry = Registry::with_prefix("tessera");
        let (orders, payments, notices_refused) = (Family::default(), Family::default(), Family::default());
        let (payment_alerts, waiting) = (Family::default(), Gauge::default());
        registry.register("orders", "Orders asked for, by outcome", Clone::clone(&orders));
        registry.register("payments", "Payments, by outcome", Clone::clone(&payments));
        registry.register("notices_refused", "Notices refused, by reason", Clone::clone(&notices_refused));
        let help = "Payments and notices that need a hand, by reason";
        registry.register("payment_alerts", help, Clone::clone(&payment_alerts));
        registry.register("waiting_orders", "Orders somebody waits for", waiting.clone());
        for reading in readings {
            registry.register_collector(Box::new(reading));
        }
        Arc::new(Self { registry, orders, payments, notices_refused, payment_alerts, waiting })
    }

    /// Counts one.
    pub fn count(family: &Family<Outcome, Counter>, outcome: &'static str) {
        family.get_or_create(&Outcome { outcome }).inc();
    }

    /// Counts a payment or notice that needs a hand.
    pub fn alert(&self, reason: &'static str) {
        self.payment_alerts.get_or_create(&Reason { reason }).inc();
    }

    /// The text that a scraper reads.
    pub fn text(&self) -> String {
        let mut text = String::new();
        // Writing into a string does not fail.
        encode(&mut text, &self.registry).map(|()| text).unwrap_or_default()
    }
}
