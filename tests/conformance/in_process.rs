//! The message suite on the in-process broker.

use std::sync::Arc;

use async_trait::async_trait;
use tessera_broker::conformance::{Harness, PARTITIONS};
use tessera_broker::{Broker, InProcess};

struct InOneProcess(Arc<InProcess>);

#[async_trait]
impl Harness for InOneProcess {
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

tessera_broker::conformance_suite!(InOneProcess(Arc::new(InProcess::new(PARTITIONS))));
