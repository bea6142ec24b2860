//! The storage suite on SQLite.

#![expect(clippy::expect_used, reason = "a harness that cannot be set up fails its test")]

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use sqlx::{Connection, Row, SqliteConnection};
use tempfile::TempDir;
use tessera_store::conformance::{Harness, MockClock};
use tessera_store::{Clock, Store};
use tessera_store_sqlite::Sqlite;

/// A folder of its own a test, gone with it.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    fn file(&self) -> PathBuf {
        self.0.path().join("shop.sqlite")
    }
}

#[async_trait]
impl Harness for Folder {
    async fn open(&self, clock: Arc<dyn Clock>) -> Arc<dyn Store> {
        Arc::new(Sqlite::open(&self.file(), 2, clock).await.expect("the file opens"))
    }
}

tessera_store::conformance_suite!(Folder::new());

/// Plans made from the statistics of a small shop read whole tables once the shop is large.
#[tokio::test]
async fn closing_a_shop_keeps_no_statistics_of_it() {
    let folder = Folder::new();
    let store = folder.open(Arc::new(MockClock::default())).await;
    store.migrate().await.expect("the schema is brought up to date");
    let mut tx = store.begin().await.expect("a transaction begins");
    tx.requests_purge(tx.now(), 1).await.expect("there is nothing to purge");
    tx.waitlists_fillable(tx.now(), 1).await.expect("nothing waits");
    tx.commit().await.expect("it commits");
    store.close().await;
    let mut file = SqliteConnection::connect(&folder.file().to_string_lossy()).await.expect("the file opens");
    let sql = "SELECT count(*) FROM sqlite_master WHERE name LIKE 'sqlite_stat%'";
    let row = sqlx::query(sql).fetch_one(&mut file).await.expect("an answer");
    assert_eq!(row.get::<i64, _>(0), 0);
}

/// Pages of a mapped file count as memory of the process, which must not grow with the shop for the sake of an export.
#[tokio::test]
async fn the_file_is_mapped_by_a_store_that_serves_and_not_by_one_of_a_command() {
    let folder = Folder::new();
    let clock = Arc::new(MockClock::default());
    let store = folder.open(clock.clone()).await;
    store.migrate().await.expect("the schema is brought up to date");
    store.close().await;
    let file = folder.file();
    assert!(maps(folder.open(clock.clone()).await, &file).await);
    let unmapped = Sqlite::open_unmapped(&file, 2, clock).await.expect("the file opens");
    assert!(!maps(Arc::new(unmapped), &file).await);
}

/// Whether a store has mapped its file once it was read; closes it.
async fn maps(store: Arc<dyn Store>, file: &std::path::Path) -> bool {
    let mut tx = store.snapshot().await.expect("a snapshot");
    assert!(tx.batches_loading().await.expect("an answer").is_empty());
    let maps = std::fs::read_to_string("/proc/self/maps").expect("what this process maps");
    drop(tx);
    store.close().await;
    maps.lines().any(|line| line.ends_with(file.to_string_lossy().as_ref()))
}
