//! The suite, run for the in-process twin.

use std::sync::Arc;

use async_trait::async_trait;

use super::{Harness, PARTITIONS};
use crate::{Broker, InProcess};

struct InProcessHarness(Arc<InProcess>);

#[async_trait]
impl Harness for InProcessHarness {
    async fn broker(&self) -> Arc<dyn Broker> {
        Arc::<InProcess>::clone(&self.0)
    }

    async fn stop(&self) {
        self.0.stop();
    }

    async fn restart(&self) {
        self.0.restart();
    }
}

crate::conformance_suite!(InProcessHarness(Arc::new(InProcess::new(PARTITIONS))));
