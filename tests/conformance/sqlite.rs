//! The storage suite on SQLite.

use std::sync::Arc;

use async_trait::async_trait;
use tempfile::TempDir;
use tessera_store::conformance::Harness;
use tessera_store::{Clock, Store};
use tessera_store_sqlite::Sqlite;

/// A folder of its own a test, gone with it.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }
}

#[async_trait]
impl Harness for Folder {
    async fn open(&self, clock: Arc<dyn Clock>) -> Arc<dyn Store> {
        let file = self.0.path().join("shop.sqlite");
        Arc::new(Sqlite::open(&file, 2, clock).await.expect("the file opens"))
    }
}

tessera_store::conformance_suite!(Folder::new());
