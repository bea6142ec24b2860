//! The ways on PostgreSQL, beside the way shops issue today, on one server in one run.

use std::sync::Arc;

use anyhow::Context;
use sqlx::postgres::PgConnection;
use sqlx::{Connection, Row};
use tessera_store_postgres::{Postgres, Time};
use tessera_testbed::Database;

use super::rival::{CONNECTIONS, Rival, Table};
use super::{MANY, Options, Ours, note};
use crate::shop::Shop;
use crate::way::{Ratio, Report, Way};

/// Connections of the store; a step uses one at a time.
const STORE_CONNECTIONS: u32 = 4;

/// Each way has a database of its own. They take turns within each round, so that whatever else the machine does
/// meets all of them.
pub(super) async fn measure(options: &Options, url: &str) -> anyhow::Result<Report> {
    let server = about(url).await.context("the server of --postgres")?;
    let database = || Database::create_in(url.to_owned());
    let (own, theirs, theirs_indexed) = (database().await, database().await, database().await);
    let store = Arc::new(Postgres::connect(&own.url(), STORE_CONNECTIONS, Time::Database).await?);
    let shop = Shop::open(store).await?;
    // Statistics of empty tables are the worst that plans are made from.
    sqlx::raw_sql("ANALYZE").execute(&mut own.connect().await).await?;
    let mut ours = Ours::stock(&shop, options).await?;
    let mut rivals = [
        Rival::open(&theirs.url(), Table::Plain, options).await?,
        Rival::open(&theirs_indexed.url(), Table::Indexed, options).await?,
    ];
    for round in 1..=options.rounds {
        note(&format!("round {round} of {}", options.rounds));
        ours.round(&shop, options).await?;
        for rival in &mut rivals {
            rival.round().await?;
        }
    }
    shop.reconcile().await?;
    for rival in &mut rivals {
        rival.check().await?;
    }
    shop.store.close().await;
    Ok(report(format!("{}, {server}", shop.store.engine()), ours, rivals.map(|rival| rival.way)))
}

/// What the server's commits are worth, which both sides share.
pub(crate) async fn about(url: &str) -> anyhow::Result<String> {
    let mut connection = PgConnection::connect(url).await?;
    let settings = "SELECT 'fsync ' || current_setting('fsync') || ', full_page_writes ' || \
        current_setting('full_page_writes') || ', synchronous_commit on, ' || \
        current_setting('wal_sync_method')";
    Ok(sqlx::query(settings).fetch_one(&mut connection).await?.try_get(0)?)
}

fn report(engine: String, ours: Ours, [plain, indexed]: [Way; 2]) -> Report {
    let sets = ours.sets.rate();
    let ratios = vec![
        Ratio {
            name: format!("sets over SKIP LOCKED on {CONNECTIONS} connections"),
            key: "sets_over_skip_locked",
            value: sets / plain.rate(),
        },
        Ratio {
            name: "sets over SKIP LOCKED whose free codes are indexed".to_owned(),
            key: "sets_over_skip_locked_indexed",
            value: sets / indexed.rate(),
        },
        Ratio {
            name: "sets over one order per transaction".to_owned(),
            key: "sets_over_one_per_transaction",
            value: sets / ours.alone.rate(),
        },
        Ratio {
            name: format!("the time of an order for {MANY}, in that of one for 1"),
            key: "cost_of_388_over_1",
            value: ours.one.rate() / ours.many.rate(),
        },
    ];
    Report { engine, ways: vec![ours.sets, plain, indexed, ours.alone, ours.one, ours.many], ratios }
}
