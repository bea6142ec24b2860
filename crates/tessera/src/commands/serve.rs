//! `tessera serve`.

use std::collections::BTreeSet;

use crate::Outcome;
use crate::cli::{RoleName, Serve};
use crate::failure::Failure;
use crate::roles::{self, Lock};
use crate::settings::Settings;
use crate::shop::{Missing, Shop, private_folder};

pub(super) async fn run(settings: &Settings, serve: &Serve) -> Outcome {
    let roles: BTreeSet<RoleName> = serve.role.iter().copied().collect();
    if !roles.is_empty() && roles.len() < 4 {
        return Err(Failure::usage("the embedded engine lives in one process, which takes all roles")
            .with_remedy("leave --role out"));
    }
    private_folder(&settings.data_dir)?;
    let _lock = Lock::take(&settings.data_dir)?;
    let shop = Shop::open(settings, Missing::Create).await?;
    let listener = roles::bind(settings).await?;
    roles::serve(settings, &shop, listener).await
}
