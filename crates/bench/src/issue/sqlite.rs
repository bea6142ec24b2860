//! The ways on SQLite, in one file.

use std::sync::Arc;

use tessera_store_sqlite::Sqlite;

use super::{MANY, Options, Ours, note};
use crate::shop::{Shop, SystemClock};
use crate::way::{Ratio, Report};

pub(super) async fn measure(options: &Options) -> anyhow::Result<Report> {
    let folder = match &options.data {
        Some(data) => tempfile::tempdir_in(data)?,
        None => tempfile::tempdir()?,
    };
    let store = Sqlite::open(&folder.path().join("bench.db"), 4, Arc::new(SystemClock)).await?;
    let shop = Shop::open(Arc::new(store)).await?;
    let mut ours = Ours::stock(&shop, options).await?;
    for round in 1..=options.rounds {
        note(&format!("round {round} of {}", options.rounds));
        ours.round(&shop, options).await?;
    }
    shop.reconcile().await?;
    Ok(report(format!("{}, synchronous = FULL", shop.store.engine()), ours))
}

fn report(engine: String, ours: Ours) -> Report {
    let ratios = vec![
        Ratio {
            name: "sets over one order per transaction".to_owned(),
            key: "sets_over_one_per_transaction",
            value: ours.sets.rate() / ours.alone.rate(),
        },
        Ratio {
            name: format!("the time of an order for {MANY}, in that of one for 1"),
            key: "cost_of_388_over_1",
            value: ours.one.rate() / ours.many.rate(),
        },
    ];
    Report { engine, ways: vec![ours.sets, ours.alone, ours.one, ours.many], ratios }
}
