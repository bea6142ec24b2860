//! The one place that reads the machine's clock and its randomness.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rand::TryRng;
use rand::rngs::SysRng;
use tessera_model::time::Timestamp;
use tessera_store::{Clock, Entropy};

use crate::failure::Failure;

/// The machine's clock.
pub(crate) struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the binary's clock")]
    fn now(&self) -> Timestamp {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
        Timestamp::from_micros(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
    }
}

/// A generator seeded by the operating system.
pub(crate) fn entropy() -> Result<Arc<Entropy>, Failure> {
    let mut seed = [0; 32];
    SysRng
        .try_fill_bytes(&mut seed)
        .map_err(|e| Failure::needs(format!("the system gives no randomness: {e}"), "see its log"))?;
    Ok(Arc::new(Entropy::from_seed(seed)))
}
