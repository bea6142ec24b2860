//! What tells how the process is: readiness, counters, and the listener for them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tessera_api::{Metrics, Ops, Readiness, Reading};
use tessera_courier::Publisher;

use crate::shop::Shop;

/// Gathers what the roles of this process have to tell.
pub(super) fn ops(shop: &Shop, readiness: Readiness, publisher: &Publisher, jumps: Arc<AtomicU64>) -> Ops {
    let counts = publisher.counts();
    let dropped = Arc::clone(&counts);
    let readings = vec![
        reading("messages_published", "Messages the broker confirmed", move || load(&counts.published)),
        reading("messages_dropped", "Messages left to the sweeper", move || load(&dropped.dropped)),
        reading("clock_jumps", "How often the clock was found to be set, which suspends expiry", move || {
            load(&jumps)
        }),
    ];
    Ops { store: Arc::clone(&shop.store), readiness: Arc::new(readiness), metrics: Metrics::new(readings) }
}

fn reading(
    name: &'static str,
    help: &'static str,
    read: impl Fn() -> u64 + Send + Sync + 'static,
) -> Reading {
    Reading { name, help, read: Box::new(read) }
}

fn load(count: &AtomicU64) -> u64 {
    count.load(Ordering::Relaxed)
}
