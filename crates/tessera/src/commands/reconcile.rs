//! `tessera reconcile`.

use std::sync::Arc;

use tessera_api::wire::ReconcileBody;
use tessera_issuer::rounds::reconcile;
use tessera_store::reconcile::Check;
use tessera_store::run_alone;

use crate::Outcome;
use crate::failure::Exit;
use crate::output::{Output, table};
use crate::settings::Settings;
use crate::shop::{Missing, Shop};

pub(super) async fn run(settings: &Settings, output: Output) -> Outcome {
    let shop = Shop::open(settings, Missing::Refuse).await?;
    let store = Arc::clone(&shop.store);
    let checks = run_alone(async move { reconcile(&mut *store.snapshot().await?).await }).await?;
    let body = ReconcileBody::new(&checks);
    let balanced = body.balanced;
    output.print(&body, |_| text(&checks, balanced))?;
    Ok(if balanced { Exit::Done } else { Exit::No })
}

fn text(checks: &[Check], balanced: bool) -> String {
    let rows = checks.iter().map(|c| {
        let verdict =
            if c.faults.is_empty() { "ok".to_owned() } else { format!("{} rows off", c.faults.len()) };
        [c.name.to_owned(), c.checked.to_string(), verdict]
    });
    let mut lines = vec![table(&["balance", "checked", "verdict"], rows)];
    let faults = checks.iter().flat_map(|c| &c.faults);
    lines.extend(faults.map(|f| format!("{} {}: {}", f.table, f.id, f.detail)));
    lines.push(if balanced { "everything balances" } else { "the rows above are off" }.to_owned());
    lines.join("\n")
}
