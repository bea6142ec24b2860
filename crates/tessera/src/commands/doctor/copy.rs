//! Whether the data is what issuers here worked with last.

use tessera_issuer::{OLDER, same_copy};

use super::Check;
use crate::failure::Failure;
use crate::settings::Settings;
use crate::shop::Shop;

/// Whether the issuers that worked from this folder may go on with this database.
pub(super) async fn check(settings: &Settings, shop: &Shop) -> Check {
    match same_copy(&shop.store, crate::note::seen(&settings.data_dir)).await {
        Ok(Some(_)) => Check::ok("copy", "the data is what issuers here worked with last"),
        Ok(None) => {
            let failure = Failure::no(OLDER).with_remedy("`tessera recover`, as docs/restore.md says");
            Check::wrong("copy", &failure)
        }
        Err(error) => Check::wrong("copy", &error.into()),
    }
}
