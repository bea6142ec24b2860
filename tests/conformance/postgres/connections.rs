//! Connections: dropped while they begin, ended by the server, silent.

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use sqlx::Row;
use tessera_model::time::Timestamp;
use tessera_store::{Store, StoreError};
use tessera_store_postgres::{Postgres, Time};
use tessera_testbed::Database;
use tokio::task::yield_now;

mod silence;

/// The longest a test waits for anything before it fails.
const PATIENCE: Duration = Duration::from_secs(30);

/// How far the stored time may fall behind.
const BEHIND: Duration = Duration::from_secs(1);

async fn open(database: &Database) -> Arc<dyn Store> {
    let store = Postgres::connect(&database.url(), 2, Time::Database).await.expect("the database is there");
    store.migrate().await.expect("the schema is brought up to date");
    Arc::new(store)
}

/// One number past the store.
async fn number(database: &Database, query: &'static str) -> i64 {
    let row = sqlx::query(query).fetch_one(&mut database.connect().await).await.expect("an answer");
    row.get(0)
}

const IDLE_INSIDE: &str = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() \
    AND state LIKE 'idle in transaction%'";

/// Polls a beginning transaction so many times, and drops it wherever it is.
async fn begin_and_drop(store: &Arc<dyn Store>, polls: u32, snapshot: bool) {
    let mut beginning = if snapshot { store.snapshot() } else { store.begin() };
    for _ in 0..polls {
        if let Some(begun) = (&mut beginning).now_or_never() {
            return drop(begun.expect("it begins, whatever was dropped before it"));
        }
        yield_now().await;
    }
}

#[tokio::test]
async fn transactions_dropped_while_they_begin_leave_nothing_behind() {
    let database = Database::create().await;
    let store = open(&database).await;
    let mut rng = StdRng::seed_from_u64(39);
    for _ in 0..300 {
        let (left, right) = (rng.random_range(0..400), rng.random_range(0..400));
        let (first, second) = (rng.random_bool(0.5), rng.random_bool(0.5));
        tokio::join!(begin_and_drop(&store, left, first), begin_and_drop(&store, right, second));
    }
    let gone = async { while number(&database, IDLE_INSIDE).await > 0 {} };
    // Sooner than the server ends what stands still in a transaction by itself.
    tokio::time::timeout(Duration::from_millis(1_500), gone).await.expect("one stands in a transaction");
    // Both places are free.
    let both = async { (store.begin().await, store.begin().await) };
    let (one, two) = tokio::time::timeout(PATIENCE, both).await.expect("a place was lost");
    let (mut one, two) = (one.expect("it begins"), two.expect("it begins"));
    one.sets_raise().await.expect("it works");
    one.commit().await.expect("it commits");
    drop(two);
    assert_eq!(number(&database, "SELECT sets FROM store").await, 1);
    store.close().await;
}

#[tokio::test]
async fn transaction_begins_although_the_server_ended_every_connection() {
    let database = Database::create().await;
    let store = open(&database).await;
    drop((store.begin().await.expect("it begins"), store.begin().await.expect("it begins")));
    let mut inside = store.begin().await.expect("it begins");
    let end = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity \
        WHERE datname = current_database() AND application_name = 'tessera'";
    assert!(number(&database, end).await > 0);
    let cut = inside.meta().await;
    assert!(matches!(cut, Err(StoreError::Unavailable(_))), "{cut:?}");
    assert!(inside.commit().await.is_err());
    store.begin().await.expect("it begins on another").commit().await.expect("and commits");
    store.close().await;
}

#[tokio::test]
async fn transaction_begins_in_the_only_place_although_its_connection_was_ended() {
    let database = Database::create().await;
    let store = Postgres::connect(&database.url(), 1, Time::Database).await.expect("the database is there");
    store.migrate().await.expect("the schema is brought up to date");
    store.begin().await.expect("it begins").commit().await.expect("and comes to rest");
    let end = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity \
        WHERE datname = current_database() AND application_name = 'tessera'";
    assert!(number(&database, end).await > 0);
    store.begin().await.expect("it begins on another").commit().await.expect("and commits");
    store.close().await;
}

#[tokio::test]
async fn time_is_the_servers_and_never_before_the_stored_one() {
    let database = Database::create().await;
    let store = open(&database).await;
    let micros = "SELECT (extract(epoch from clock_timestamp()) * 1000000)::bigint";
    let before = Timestamp::from_micros(number(&database, micros).await);
    let now = store.begin().await.expect("it begins").now();
    assert!(now >= before && now.since(before) < PATIENCE);
    let stored = "SELECT (extract(epoch from clock) * 1000000)::bigint FROM store";
    let stored = Timestamp::from_micros(number(&database, stored).await);
    assert!(now.since(stored) < BEHIND && stored >= before, "a time far ahead of the stored one is stored");
    let ahead = "WITH ahead AS (UPDATE store SET clock = clock + interval '1 hour' RETURNING clock) \
        SELECT (extract(epoch from clock) * 1000000)::bigint FROM ahead";
    let ahead = Timestamp::from_micros(number(&database, ahead).await);
    assert_eq!(store.begin().await.expect("it begins").now(), ahead);
    assert_eq!(store.snapshot().await.expect("it begins").now(), ahead);
    store.close().await;
}

#[tokio::test]
async fn time_is_given_although_the_stored_one_is_locked() {
    let database = Database::create().await;
    let store = open(&database).await;
    let mut holder = store.begin().await.expect("it begins");
    holder.sets_raise().await.expect("the row is locked");
    number(&database, "SELECT 1::bigint").await;
    let mut rival = store.begin().await.expect("it begins beside the holder");
    assert!(rival.now() >= holder.now());
    rival.meta().await.expect("it reads");
    drop((holder, rival));
    store.close().await;
}

#[tokio::test]
async fn database_of_another_program_is_refused() {
    let database = Database::create().await;
    let store = Postgres::connect(&database.url(), 1, Time::Database).await.expect("the database is there");
    sqlx::query("CREATE TABLE wp_posts (id bigint)")
        .execute(&mut database.connect().await)
        .await
        .expect("a table");
    assert!(matches!(store.schema().await, Err(StoreError::Schema(_))));
    store.close().await;
}

#[tokio::test]
async fn two_processes_may_migrate_at_once() {
    let database = Database::create().await;
    let url = database.url();
    let connect = || Postgres::connect(&url, 1, Time::Database);
    let (one, two) = (connect().await.expect("there"), connect().await.expect("there"));
    assert_eq!(tokio::join!(one.migrate(), two.migrate()), (Ok(()), Ok(())));
    tokio::join!(one.close(), two.close());
}

#[tokio::test]
async fn address_that_cannot_be_used_is_not_shown() {
    for url in ["postgres://ann:sesame@127.0.0.1:1/shop", "postgres://ann:sesame@127.0.0.1:port/shop"] {
        let refused = Postgres::connect(url, 1, Time::Database).await.err();
        assert!(matches!(refused, Some(StoreError::Unavailable(_))), "{refused:?}");
        assert!(!format!("{refused:?}").contains("sesame"), "{refused:?}");
    }
}
