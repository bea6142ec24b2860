//! What a transaction is: all or nothing, one time, one state.

use std::slice::from_ref;
use std::sync::Arc;
use std::time::Duration;

use super::Fixture;
use super::shop::place;
use crate::generations::SUSPENDED;
use crate::{SchemaState, StoreError};

/// The clock may be set back; no transaction is given a time before that of a committed one.
pub async fn time_never_runs_backwards(fixture: &Fixture) {
    let first = fixture.now();
    assert_eq!(fixture.write(async |tx| Ok(tx.now())).await, first, "the clock's own time");
    fixture.clock.set(fixture.ago(3600));
    assert_eq!(fixture.write(async |tx| Ok(tx.now())).await, first);
    assert_eq!(fixture.read(async |tx| Ok(tx.now())).await, first);
    fixture.clock.set(first.plus(Duration::from_secs(1)));
    assert_eq!(fixture.write(async |tx| Ok(tx.now())).await, fixture.now());
}

/// Without a commit nothing is kept, and the next transaction is not kept waiting.
pub async fn dropped_transaction_never_was(fixture: &Fixture) {
    let product = fixture.new_product("card");
    let mut tx = fixture.begin().await;
    tx.products_put(from_ref(&product)).await.expect("the product is put");
    tx.sets_raise().await.expect("the count is raised");
    drop(tx);
    let (products, meta) =
        fixture.write(async |tx| Ok((tx.products_read(&[product.id]).await?, tx.meta().await?))).await;
    assert_eq!(products, []);
    assert_eq!(meta.sets, 0);
}

/// One faulty input spoils its whole set.
pub async fn refused_set_leaves_nothing(fixture: &Fixture) {
    let product = fixture.product("card").await;
    let good = fixture.new_order("ann", &[(&product, 1)]);
    let bad = fixture.new_order("bob", &[(&product, 1), (&product, 2)]);
    fixture.assert_refused(async |tx| place(tx, &[good.clone(), bad.clone()]).await).await;
    assert_eq!(fixture.read(async |tx| tx.orders_read(&[good.order.id, bad.order.id]).await).await, []);
    fixture.write(async |tx| place(tx, from_ref(&good)).await).await;
}

/// What was answered is there in the next process.
pub async fn committed_data_survives_a_restart(fixture: &Fixture) {
    let product = fixture.product("card").await;
    let meta = fixture.write(async |tx| tx.sets_raise().await).await;
    fixture.store.close().await;
    let store = fixture.open_again().await;
    let mut tx = store.snapshot().await.expect("a snapshot begins");
    assert_eq!(tx.products_read(&[product.id]).await, Ok(vec![product]));
    assert_eq!(tx.meta().await, Ok(meta));
    drop(tx);
    store.close().await;
}

/// A snapshot stays at its state; the next one sees what was committed meanwhile.
pub async fn snapshot_sees_one_state_while_another_commits(fixture: &Fixture) {
    let product = fixture.product("card").await;
    let mut snapshot = fixture.snapshot().await;
    fixture.write(async |tx| tx.stock_move(&[(product.id, 5)]).await).await;
    let before = snapshot.stock_read(&[product.id]).await.expect("the snapshot answers");
    assert_eq!(before[0].1.claimed, 0);
    drop(snapshot);
    let after = fixture.read(async |tx| tx.stock_read(&[product.id]).await).await;
    assert_eq!(after[0].1.claimed, 5);
}

/// Readers neither wait for a transaction that writes nor see it.
pub async fn snapshot_does_not_wait_for_a_writer(fixture: &Fixture) {
    let product = fixture.product("card").await;
    let mut tx = fixture.begin().await;
    tx.stock_move(&[(product.id, 5)]).await.expect("the claim rises");
    let seen = fixture.read(async |tx| tx.stock_read(&[product.id]).await).await;
    assert_eq!(seen[0].1.claimed, 0);
    tx.commit().await.expect("the transaction commits");
}

/// A hundred transactions at once, each raising two counters by one, raise them by a hundred.
pub async fn concurrent_transactions_lose_no_count(fixture: &Fixture) {
    let product = fixture.product("card").await.id;
    let raising: Vec<_> = (0..100)
        .map(|_| {
            let store = Arc::clone(&fixture.store);
            tokio::spawn(async move {
                let mut tx = store.begin().await?;
                tx.stock_lock(&[product]).await?;
                tx.stock_move(&[(product, 1)]).await?;
                tx.sets_raise().await?;
                tx.commit().await
            })
        })
        .collect();
    for task in raising {
        assert_eq!(task.await.expect("the task ends"), Ok(()));
    }
    let (stock, meta) =
        fixture.read(async |tx| Ok((tx.stock_read(&[product]).await?, tx.meta().await?))).await;
    assert_eq!((stock[0].1.claimed, meta.sets), (100, 100));
}

/// The generation is the store's own; each raise counts one set.
pub async fn generation_stays_while_sets_rise(fixture: &Fixture) {
    let first = fixture.read(async |tx| tx.meta().await).await;
    assert_eq!((first.sets, first.partitions), (0, 1));
    assert_ne!(first.generation, [0; 16]);
    for sets in 1..=3 {
        let raised = fixture.write(async |tx| tx.sets_raise().await).await;
        assert_eq!((raised.sets, raised.generation), (sets, first.generation));
    }
}

/// A generation that ended is known by the copy that was recovered, and had once only.
pub async fn generation_that_ended_is_known(fixture: &Fixture) {
    let before = fixture.write(async |tx| tx.sets_raise().await).await;
    let had = async |generation| fixture.read(async |tx| tx.generations_had(generation).await).await;
    assert!(!had(before.generation).await);
    fixture.write(async |tx| tx.generations_renew([7; 16], &[[8; 16], before.generation], 40).await).await;
    let after = fixture.read(async |tx| tx.meta().await).await;
    assert_eq!((after.generation, after.sets), ([7; 16], before.sets));
    assert!(had(before.generation).await && had([8; 16]).await && !had([7; 16]).await);
    fixture.write(async |tx| tx.generations_renew(before.generation, &[], 0).await).await;
    fixture.assert_refused(async |tx| tx.generations_renew([9; 16], &[], 0).await).await;
}

/// While issuing is suspended no set is counted; another generation ends that.
pub async fn suspended_store_counts_no_set(fixture: &Fixture) {
    fixture.write(async |tx| tx.sets_raise().await).await;
    for is_first in [true, false] {
        assert_eq!(fixture.write(async |tx| tx.generations_suspend().await).await, is_first);
    }
    let meta = fixture.read(async |tx| tx.meta().await).await;
    assert_eq!((meta.suspended, meta.sets), (true, 1));
    let mut tx = fixture.begin().await;
    let raised = tx.sets_raise().await;
    assert_eq!(raised, Err(StoreError::Unavailable(SUSPENDED.to_owned())));
    drop(tx);
    fixture.write(async |tx| tx.generations_renew([7; 16], &[], 0).await).await;
    let raised = fixture.write(async |tx| tx.sets_raise().await).await;
    assert_eq!((raised.suspended, raised.sets), (false, 2));
}

/// The server that was seen last is kept, where the engine is one.
pub async fn server_is_the_one_that_was_seen(fixture: &Fixture) {
    assert_eq!(fixture.read(async |tx| tx.server_seen().await).await, None);
    let Some(server) = fixture.store.server().await.expect("it answers") else { return };
    fixture.write(async |tx| tx.server_put(server).await).await;
    assert_eq!(fixture.read(async |tx| tx.server_seen().await).await, Some(server));
}

/// The number of issuer queues is kept; none, or more than there can be, is refused.
pub async fn partitions_are_read_as_they_were_put(fixture: &Fixture) {
    fixture.write(async |tx| tx.partitions_put(256).await).await;
    for partitions in [0, 257] {
        fixture.assert_refused(async |tx| tx.partitions_put(partitions).await).await;
    }
    assert_eq!(fixture.read(async |tx| tx.meta().await).await.partitions, 256);
}

/// A store says how its schema stands; a migration may be run again.
pub async fn migrating_again_changes_nothing(fixture: &Fixture) {
    assert_eq!(fixture.store.schema().await, Ok(SchemaState::Current));
    let meta = fixture.read(async |tx| tx.meta().await).await;
    fixture.store.migrate().await.expect("nothing is left to migrate");
    assert_eq!(fixture.store.schema().await, Ok(SchemaState::Current));
    assert_eq!(fixture.read(async |tx| tx.meta().await).await, meta);
}

/// Before its migration a store holds nothing, and says so.
pub async fn new_store_is_empty_until_it_is_migrated(fixture: &Fixture) {
    assert_eq!(fixture.store.schema().await, Ok(SchemaState::Empty));
    assert!(matches!(fixture.store.begin().await.err(), Some(StoreError::Schema(_))));
    fixture.store.migrate().await.expect("the schema is brought up to date");
    assert_eq!(fixture.store.schema().await, Ok(SchemaState::Current));
}

/// A store answers, and names its engine, until it is closed.
pub async fn closed_store_is_unavailable(fixture: &Fixture) {
    assert_eq!(fixture.store.ping().await, Ok(()));
    assert_ne!(fixture.store.engine(), "");
    fixture.store.close().await;
    assert!(matches!(fixture.store.ping().await, Err(StoreError::Unavailable(_))));
    assert!(matches!(fixture.store.begin().await.err(), Some(StoreError::Unavailable(_))));
    assert!(matches!(fixture.store.snapshot().await.err(), Some(StoreError::Unavailable(_))));
}
