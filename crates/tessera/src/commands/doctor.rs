//! `tessera doctor`: each line ok, or what to do.

mod broker;
mod copy;
mod customers;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use tessera_store::{Store, run_alone};

use crate::Outcome;
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::settings::{self, Settings};
use crate::shop::{Missing, Shop};

/// How far the machine's clock and the database's may be apart before they are doubted.
const APART_MAX: Duration = Duration::from_secs(30);

#[derive(Serialize)]
struct Check {
    name: &'static str,
    ok: bool,
    detail: String,
    remedy: Option<String>,
}

#[derive(Serialize)]
struct Report {
    ok: bool,
    checks: Vec<Check>,
}

impl Check {
    fn ok(name: &'static str, detail: impl Into<String>) -> Self {
        Self { name, ok: true, detail: detail.into(), remedy: None }
    }

    /// What may be meant so, and is worth a thought.
    fn warning(name: &'static str, detail: impl Into<String>, remedy: &str) -> Self {
        Self { name, ok: true, detail: detail.into(), remedy: Some(remedy.to_owned()) }
    }

    fn wrong(name: &'static str, failure: &Failure) -> Self {
        let remedy = failure.remedy().map(str::to_owned);
        Self { name, ok: false, detail: failure.to_string(), remedy }
    }
}

pub(super) async fn run(file: Option<&Path>, output: Output) -> Outcome {
    let checks = checks(file).await;
    let report = Report { ok: checks.iter().all(|c| c.ok), checks };
    output.print(&report, |report| {
        let line = |c: &Check| {
            let mark = match (c.ok, &c.remedy) {
                (true, None) => "ok   ",
                (true, Some(_)) => "warn ",
                (false, _) => "WRONG",
            };
            let remedy = c.remedy.as_ref().map(|r| format!("\n      → {r}")).unwrap_or_default();
            format!("{mark} {:<14} {}{remedy}", c.name, c.detail)
        };
        report.checks.iter().map(line).collect::<Vec<_>>().join("\n")
    })?;
    Ok(if report.ok { Exit::Done } else { Exit::No })
}

async fn checks(file: Option<&Path>) -> Vec<Check> {
    let settings = match settings::load(file, vec![]).and_then(|s| s.check().map(|()| s)) {
        Ok(settings) => settings,
        Err(failure) => return vec![Check::wrong("configuration", &failure)],
    };
    let mut checks = vec![Check::ok("configuration", "every setting is known"), keyring_mode(&settings)];
    match Shop::open(&settings, Missing::Refuse).await {
        Ok(shop) => {
            checks.push(match shop.store.ping().await {
                Ok(()) => Check::ok("database", shop.store.engine()),
                Err(error) => Check::wrong("database", &error.into()),
            });
            checks.push(Check::ok("keys", "the keyring belongs to the database"));
            checks.push(copy::check(&settings, &shop).await);
            checks.push(clock(&shop).await);
            checks.push(letters(&shop.store).await);
            checks.push(customers::check(&settings, &shop).await);
            checks.extend(broker::checks(&settings, &shop).await);
            shop.store.close().await;
        }
        Err(failure) => checks.push(Check::wrong("database", &failure)),
    }
    if !settings.payments.test.enabled && settings.payments.hmac.secret.expose().is_empty() {
        let failure = Failure::no("no payment provider is on: only free orders get codes")
            .with_remedy("set payments.hmac.secret");
        checks.push(Check::wrong("payments", &failure));
    }
    if settings.payments.test.enabled && !settings.http.listen.ip().is_loopback() {
        let failure = Failure::no("test payments are on, and buyers from outside can reach them")
            .with_remedy("set payments.test.enabled to false");
        checks.push(Check::wrong("payments", &failure));
    }
    checks
}

fn keyring_mode(settings: &Settings) -> Check {
    use std::os::unix::fs::PermissionsExt;
    let path = settings.keyring_file();
    match std::fs::metadata(&path) {
        Ok(meta) if meta.permissions().mode() & 0o077 != 0 => {
            let failure = Failure::no(format!("{} can be read by others", path.display()))
                .with_remedy(format!("chmod 600 {}", path.display()));
            Check::wrong("keyring file", &failure)
        }
        Ok(_) => Check::ok("keyring file", format!("{} is its owner's alone", path.display())),
        Err(_) => Check::ok("keyring file", format!("{} is not there yet", path.display())),
    }
}

/// A file that has seen a later time than the machine's tells that the clock was set back; a server has a clock
/// of its own, and ours must not be far from it.
async fn clock(shop: &Shop) -> Check {
    let store = Arc::clone(&shop.store);
    match run_alone(async move { Ok(store.snapshot().await?.now()) }).await {
        Ok(stored) => {
            let here = shop.clock.now();
            let apart = stored.since(here).max(here.since(stored));
            if apart <= APART_MAX {
                return Check::ok("clock", "agrees with the database");
            }
            let failure =
                Failure::no(format!("the machine's clock is {} s off the database's", apart.as_secs()))
                    .with_remedy("set the clocks, best by NTP");
            Check::wrong("clock", &failure)
        }
        Err(error) => Check::wrong("clock", &error.into()),
    }
}

async fn letters(store: &Arc<dyn Store>) -> Check {
    let store = Arc::clone(store);
    match run_alone(async move { store.snapshot().await?.letters_list(None, None, 1).await }).await {
        Ok(letters) if letters.is_empty() => Check::ok("dead letters", "none open"),
        Ok(_) => Check::ok("dead letters", "some are open: see `tessera dlq list`"),
        Err(error) => Check::wrong("dead letters", &error.into()),
    }
}
