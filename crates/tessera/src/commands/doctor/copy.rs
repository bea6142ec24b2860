//! Whether the data is what issuers here worked with last.

use tessera_issuer::{OLDER, same_copy};

use super::Check;
use crate::failure::Failure;
use crate::settings::Settings;
use crate::shop::Shop;

/// Whether the issuers that worked from this folder may go on with this database.
pub(super) async fn check(settings: &Settings, shop: &Shop) -> Check {
    for known in crate::note::copies(&settings.data_dir) {
        match same_copy(&shop.store, Some(known)).await {
            Ok(true) => {}
            Ok(false) => {
                let failure = Failure::no(OLDER).with_remedy("`tessera recover`, as docs/restore.md says");
                return Check::wrong("copy", &failure);
            }
            Err(error) => return Check::wrong("copy", &error.into()),
        }
    }
    Check::ok("copy", "the data is what issuers here worked with last")
}
