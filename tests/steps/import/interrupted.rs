//! Imports that are killed, fail, or meet another one.

use std::collections::VecDeque;
use std::sync::Arc;

use async_trait::async_trait;
use tessera_backoffice::import::{Chunks, ImportError, LEASE, LEASE_LASTS, Progress};
use tessera_backoffice::janitor::discard_dead_imports;
use tessera_store::StoreError;
use tessera_testbed::{How, Shop};
use tokio::sync::{Semaphore, mpsc};

use super::{counts, file, shop};

/// A file of 2 500 codes whose last part comes when the test says so.
struct Slow {
    parts: VecDeque<String>,
    /// Gets a permit when the last part is asked for.
    asked: Arc<Semaphore>,
    /// Gives it.
    gate: Arc<Semaphore>,
}

impl Slow {
    fn new(name: &str) -> Self {
        let parts = [file(name, 0..1_250), file(name, 1_250..2_500)].into();
        Self { parts, asked: Arc::new(Semaphore::new(0)), gate: Arc::new(Semaphore::new(0)) }
    }
}

#[async_trait]
impl Chunks for Slow {
    async fn next(&mut self) -> Result<Option<Vec<u8>>, String> {
        if self.parts.len() == 1 {
            self.asked.add_permits(1);
            self.gate.acquire().await.map_err(|_| "the stick was pulled".to_owned())?.forget();
        }
        Ok(self.parts.pop_front().map(String::into_bytes))
    }
}

/// Imports half of a file and is killed.
async fn killed_half_way(shop: &Shop) {
    let mut file = Slow::new("half");
    let asked = Arc::clone(&file.asked);
    tokio::select! {
        _ = shop.import_from(shop.request("card"), &mut file, &|_| ()) => panic!("it was to be killed"),
        _ = asked.acquire() => {}
    }
    assert_eq!(shop.number("SELECT count(*) FROM code").await, 1_000);
}

async fn rows(shop: &Shop) -> i64 {
    shop.number("SELECT (SELECT count(*) FROM batch) + (SELECT count(*) FROM code)").await
}

#[tokio::test]
async fn a_killed_import_is_invisible_and_removed_once_its_lease_runs_out() {
    let shop = shop().await;
    killed_half_way(&shop).await;
    assert_eq!(shop.shelf("card").await.unissued, 0);
    assert_eq!(discard_dead_imports(&shop.store, &shop.entropy).await, Ok(0));
    assert_eq!(rows(&shop).await, 1_001);
    shop.clock.advance(LEASE_LASTS);
    assert_eq!(discard_dead_imports(&shop.store, &shop.entropy).await, Ok(1));
    assert_eq!(rows(&shop).await, 0);
    assert_eq!(shop.number("SELECT count(*) FROM lease").await, 0);
    shop.close().await;
}

#[tokio::test]
async fn the_file_of_a_killed_import_can_be_imported_as_if_it_had_never_been() {
    let shop = shop().await;
    killed_half_way(&shop).await;
    shop.clock.advance(LEASE_LASTS);
    let report = shop.import("card", &file("half", 0..2_500)).await;
    assert_eq!(counts(&report), [2_500, 0, 0, 0, 0, 0]);
    assert_eq!(rows(&shop).await, 2_501);
    shop.close().await;
}

#[tokio::test]
async fn a_second_import_waits_for_the_first_and_says_for_whom() {
    let shop = shop().await;
    let mut file = Slow::new("slow");
    let (asked, gate) = (Arc::clone(&file.asked), Arc::clone(&file.gate));
    let (told, mut heard) = mpsc::unbounded_channel();
    let watch = move |progress| {
        if let Progress::Waiting { purpose } = progress {
            told.send(purpose).unwrap();
        }
    };
    let mut request = shop.request("card");
    request.source = "july.txt".to_owned();
    let second = async {
        asked.acquire().await.unwrap().forget();
        shop.try_import(shop.request("card"), b"quick", &watch).await
    };
    let says = async {
        let purpose = heard.recv().await.unwrap();
        gate.add_permits(1);
        purpose
    };
    let (first, second, purpose) = tokio::join!(shop.import_from(request, &mut file, &|_| ()), second, says);
    assert_eq!(purpose, "import of july.txt for card");
    assert_eq!((first.unwrap().new, second.unwrap().new), (2_500, 1));
    shop.close().await;
}

#[tokio::test]
async fn an_import_waits_also_while_the_lease_of_another_is_locked() {
    let shop = shop().await;
    let mut tx = shop.store.begin().await.unwrap();
    let until = tx.now().plus(LEASE_LASTS);
    tx.lease_take(LEASE, [9; 16], "a large file", until).await.unwrap();
    tx.commit().await.unwrap();
    let locked = StoreError::Unavailable("waited too long for a lock".to_owned());
    shop.faults.next(1, "lease_take", &"", How::Fail(locked));
    let (told, mut heard) = mpsc::unbounded_channel();
    let watch = move |progress| {
        if let Progress::Waiting { purpose } = progress {
            told.send(purpose).unwrap();
        }
    };
    let ends = async {
        assert_eq!(heard.recv().await.unwrap(), "a large file");
        let mut tx = shop.store.begin().await.unwrap();
        tx.lease_release(LEASE, [9; 16]).await.unwrap();
        tx.commit().await.unwrap();
    };
    let (imported, ()) = tokio::join!(shop.try_import(shop.request("card"), b"quick", &watch), ends);
    assert_eq!(imported.unwrap().new, 1);
    shop.close().await;
}

#[tokio::test]
async fn an_import_that_stood_still_for_too_long_puts_nothing_on_sale() {
    let shop = shop().await;
    let (mut still, mut next) = (Slow::new("same"), Slow::new("same"));
    let (still_asked, still_gate) = (Arc::clone(&still.asked), Arc::clone(&still.gate));
    let (next_asked, next_gate) = (Arc::clone(&next.asked), Arc::clone(&next.gate));
    let first = async {
        let outcome = shop.import_from(shop.request("card"), &mut still, &|_| ()).await;
        next_gate.add_permits(1);
        outcome
    };
    let second = async {
        still_asked.acquire().await.unwrap().forget();
        shop.clock.advance(LEASE_LASTS);
        shop.import_from(shop.request("card"), &mut next, &|_| ()).await
    };
    let wakes_the_first = async {
        next_asked.acquire().await.unwrap().forget();
        still_gate.add_permits(1);
    };
    let (first, second, ()) = tokio::join!(first, second, wakes_the_first);
    assert_eq!(first, Err(ImportError::LeaseLost));
    assert_eq!(counts(&second.unwrap()), [2_500, 0, 0, 0, 0, 0]);
    assert_eq!(shop.shelf("card").await.unissued, 2_500);
    shop.close().await;
}

#[tokio::test]
async fn a_file_that_cannot_be_read_to_its_end_leaves_nothing() {
    let shop = shop().await;
    let mut file = Slow::new("stick");
    file.gate.close();
    let outcome = shop.import_from(shop.request("card"), &mut file, &|_| ()).await;
    assert_eq!(outcome, Err(ImportError::Source("the stick was pulled".to_owned())));
    assert_eq!(rows(&shop).await, 0);
    shop.close().await;
}

#[tokio::test]
async fn a_store_that_fails_an_import_leaves_nothing_of_it_on_sale() {
    for operation in ["codes_known", "codes_insert", "batches_open", "audit_append"] {
        let shop = shop().await;
        let full = StoreError::Unavailable("disk full".to_owned());
        shop.faults.next(1, operation, &"", How::Fail(full.clone()));
        let outcome = shop.try_import(shop.request("card"), b"A\nB", &|_| ()).await;
        assert_eq!(outcome, Err(ImportError::Store(full)), "{operation}");
        assert_eq!(shop.shelf("card").await.unissued, 0);
        shop.clock.advance(LEASE_LASTS);
        discard_dead_imports(&shop.store, &shop.entropy).await.unwrap();
        assert_eq!(rows(&shop).await, 0, "{operation}");
        assert_eq!(shop.import("card", "A\nB").await.new, 2);
        shop.close().await;
    }
}

#[tokio::test]
async fn an_import_whose_last_commit_was_in_doubt_can_be_made_again_without_harm() {
    for at in ["commit", "committed"] {
        let shop = shop().await;
        let doubt = StoreError::InDoubt("the answer was lost".to_owned());
        shop.faults.next(1, at, &"batches_open ", How::Fail(doubt.clone()));
        let outcome = shop.try_import(shop.request("card"), b"A\nB", &|_| ()).await;
        assert_eq!(outcome, Err(ImportError::Store(doubt)), "{at}");
        shop.import("card", "A\nB").await;
        assert_eq!(shop.shelf("card").await.unissued, 2, "{at}");
        shop.close().await;
    }
}
