//! `tessera codes void`.

use std::collections::BTreeMap;
use std::io::Read;

use serde_json::json;
use tessera_api::wire::VoidBody;
use tessera_backoffice::cards::{self, Report, What, Wish};
use tessera_model::ids::BatchId;
use tessera_model::text::Reason;
use zeroize::Zeroizing;

use super::ACTOR;
use super::cards::id;
use crate::Outcome;
use crate::cli::Void;
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::shop::Shop;

/// Bytes of the longest list of codes; a larger one is a batch.
const CODES_BYTES_MAX: u64 = 16 * 1024 * 1024;

pub(super) async fn run(shop: &Shop, wanted: Void, output: Output) -> Outcome {
    let reason = reason(&wanted.reason)?;
    let wishes = match (&wanted.batch, &wanted.codes) {
        (Some(batch), _) => {
            let batch = id(batch, BatchId::parse, "batch")?;
            let what = if wanted.position.is_empty() { What::Rest } else { What::Positions(wanted.position) };
            vec![(batch, what)]
        }
        (None, Some(file)) => named(shop, file).await?,
        (None, None) => {
            return Err(Failure::usage("nothing was named").with_remedy("give --batch or --codes"));
        }
    };
    let mut reports = vec![];
    for (batch, what) in wishes {
        let (actor, reason) = (ACTOR.to_owned(), reason.clone());
        let wish = Wish { batch, what, actor, reason, force: wanted.force };
        let outcome = cards::void(&shop.store, &shop.keyring, wish).await?;
        reports.push((batch, outcome.map_err(|why| Failure::no(why.to_string()))?));
    }
    let bodies: Vec<VoidBody> = reports.iter().map(|(batch, report)| VoidBody::new(*batch, report)).collect();
    output.print(&json!({ "voids": bodies }), |_| {
        reports.iter().map(|(batch, report)| text(*batch, report)).collect::<Vec<_>>().join("\n")
    })?;
    Ok(Exit::Done)
}

pub(super) fn reason(text: &str) -> Result<String, Failure> {
    Reason::parse(text).map(|r| r.to_string()).map_err(|e| Failure::usage(format!("--reason {e}")))
}

/// What a file or standard input holds; codes never come as arguments, which every user of the machine can read.
pub(super) fn read(file: &str) -> Result<Zeroizing<String>, Failure> {
    let unreadable = |e: std::io::Error| Failure::usage(format!("{file} cannot be read: {e}"));
    let mut text = Zeroizing::new(String::new());
    let source: Box<dyn Read> = match file {
        "-" => Box::new(std::io::stdin()),
        file => Box::new(std::fs::File::open(file).map_err(unreadable)?),
    };
    source.take(CODES_BYTES_MAX).read_to_string(&mut text).map_err(unreadable)?;
    Ok(text)
}

/// The batches and positions of the codes of a file; a code that is not ours is named by its line.
async fn named(shop: &Shop, file: &str) -> Result<Vec<(BatchId, What)>, Failure> {
    let text = read(file)?;
    let mut found: BTreeMap<BatchId, Vec<i64>> = BTreeMap::new();
    for (line, code) in (1..).zip(text.lines()).filter(|(_, code)| !code.trim().is_empty()) {
        let code = cards::find(&shop.store, &shop.keyring, code).await?;
        let code =
            code.ok_or_else(|| Failure::no(format!("line {line} is no code of ours: nothing was voided")))?;
        found.entry(code.batch).or_default().push(code.position);
    }
    Ok(found.into_iter().map(|(batch, positions)| (batch, What::Positions(positions))).collect())
}

fn text(batch: BatchId, report: &Report) -> String {
    let done = &report.done;
    let mut lines = vec![format!("batch {batch}: {} codes were taken from sale", done.unissued)];
    if !done.taken.is_empty() {
        lines.push(format!("  {} codes that orders have are void now", done.taken.len()));
    }
    let sold: i64 = report.sold.iter().map(|movement| movement.quantity).sum();
    if sold > 0 {
        lines.push(format!(
            "  {sold} of its codes were sold before: see `tessera codes ledger --batch {batch}`"
        ));
    }
    let waits = |claimant: &tessera_store::ledger::Claimant| {
        format!("  order {} waits for {} ({})", claimant.order, claimant.quantity, claimant.status)
    };
    lines.extend(report.waiting.iter().map(waits));
    lines.join("\n")
}
