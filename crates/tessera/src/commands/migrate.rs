//! `tessera migrate`.

use std::sync::Arc;

use serde_json::json;
use tessera_store::{SchemaState, Store, run_alone};

use crate::Outcome;
use crate::ambient::SystemClock;
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::settings::{Database, Settings};
use crate::shop::{self, Missing, Shop};

pub(super) async fn run(settings: &Settings, output: Output) -> Outcome {
    let store = match settings.database()? {
        // A file's keyring is made with it.
        Database::Sqlite(_) => Shop::open(settings, Missing::Create).await?.store,
        // A server's is given to those who serve; the schema needs none.
        Database::Postgres(_) => migrated(settings).await?,
    };
    let partitions = partitions(&store, settings.broker.partitions).await?;
    let done = json!({
        "schema": "current",
        "engine": store.engine(),
        "database": settings.database()?.to_string(),
        "keyring": settings.keyring_file(),
        "partitions": partitions,
    });
    store.close().await;
    output.print(&done, |_| {
        let keyring = settings.keyring_file();
        let keyring = match keyring.exists() {
            true => {
                format!("the keyring is {}: keep a copy of it apart from the database's", keyring.display())
            }
            false => "there is no keyring yet: make one with `tessera keyring create`".to_owned(),
        };
        format!("the database is up to date ({})\n{keyring}", store.engine())
    })?;
    Ok(Exit::Done)
}

async fn migrated(settings: &Settings) -> Result<Arc<dyn Store>, Failure> {
    let store = shop::connect(settings, Missing::Create, Arc::new(SystemClock)).await?;
    if store.schema().await? == SchemaState::Ahead {
        return Err(shop::ahead());
    }
    store.migrate().await?;
    Ok(store)
}

/// Writes the number of queues that was asked for, if one was; returns the number there is.
async fn partitions(store: &Arc<dyn Store>, wanted: u16) -> Result<u16, Failure> {
    let store = Arc::clone(store);
    Ok(run_alone(async move {
        let mut tx = store.begin().await?;
        if wanted != 0 {
            tx.partitions_put(wanted).await?;
        }
        let partitions = tx.meta().await?.partitions;
        tx.commit().await?;
        Ok(partitions)
    })
    .await?)
}
