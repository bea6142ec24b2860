//! `tessera migrate`.

use serde_json::json;

use crate::Outcome;
use crate::failure::Exit;
use crate::output::Output;
use crate::settings::Settings;
use crate::shop::{Missing, Shop};

pub(super) async fn run(settings: &Settings, output: Output) -> Outcome {
    let shop = Shop::open(settings, Missing::Create).await?;
    let done = json!({
        "schema": "current",
        "engine": shop.store.engine(),
        "database": settings.database_file()?,
        "keyring": settings.keyring_file(),
    });
    shop.store.close().await;
    output.print(&done, |_| {
        format!(
            "the database is up to date ({})\nthe keyring is {}: keep a copy of it apart from the database's",
            shop.store.engine(),
            settings.keyring_file().display()
        )
    })?;
    Ok(Exit::Done)
}
