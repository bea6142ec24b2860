//! `tessera serve`.

use crate::Outcome;
use crate::cli::Serve;
use crate::roles::{self, Listeners, Lock, Roles};
use crate::settings::{Database, Settings};
use crate::shop::{Missing, Shop, private_folder};

pub(super) async fn run(settings: &Settings, serve: &Serve) -> Outcome {
    let roles = Roles::of(&serve.role, settings)?;
    private_folder(&settings.data_dir)?;
    let _lock = match settings.database()? {
        Database::Sqlite(_) => Some(Lock::take(&settings.data_dir)?),
        Database::Postgres(_) => None,
    };
    let shop = Shop::open(settings, Missing::Create).await?;
    let listeners = Listeners::bind(settings, &roles).await?;
    roles::serve(settings, &shop, &roles, listeners).await
}
