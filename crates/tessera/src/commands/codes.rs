//! `tessera codes`; what moves stock is in files of its own.

use std::fs::File;

use tessera_api::wire::ImportBody;
use tessera_backoffice::import::{self, ImportError, Progress, Report, Request};
use tessera_model::import::Format;
use tessera_model::text::{Reason, Sku};

use super::{ACTOR, cards, generate, void};
use crate::Outcome;
use crate::cli::{Codes, Import};
use crate::failure::{Exit, Failure};
use crate::file_chunks::FileChunks;
use crate::output::Output;
use crate::settings::Settings;
use crate::shop::{Missing, Shop};

/// Malformed lines that people are shown; `--json` has up to 10 000.
const SHOWN: usize = 20;

pub(super) async fn run(settings: &Settings, command: Codes, output: Output) -> Outcome {
    let shop = Shop::open(settings, Missing::Refuse).await?;
    match command {
        Codes::Import(wanted) => import(&shop, wanted, output).await,
        Codes::Generate(wanted) => generate::generate(&shop, &wanted, output).await,
        Codes::Batches(wanted) => cards::batches(&shop, &wanted, output).await,
        Codes::Ledger(wanted) => cards::ledger(&shop, &wanted, output).await,
        Codes::Void(wanted) => void::run(&shop, wanted, output).await,
        Codes::Stock { sku } => cards::stock(&shop, sku.as_deref(), output).await,
    }
}

pub(super) fn sku(text: &str) -> Result<Sku, Failure> {
    Sku::parse(text).map_err(|e| Failure::usage(format!("the sku {e}")))
}

async fn import(shop: &Shop, wanted: Import, output: Output) -> Outcome {
    let request = request(&wanted)?;
    let unreadable =
        |e: std::io::Error| Failure::usage(format!("{} cannot be read: {e}", wanted.file.display()));
    let file = File::open(&wanted.file).map_err(unreadable)?;
    if !wanted.dry_run {
        shop.bind_keys().await?;
    }
    let bar = output.progress(file.metadata().ok().map(|m| m.len()));
    let watch = |progress: Progress| match progress {
        Progress::Waiting { purpose } => {
            bar.set_message(format!("waiting for: {purpose}"));
            tracing::info!(purpose, "another import holds the lease: waiting");
        }
        Progress::Read { bytes, lines } => {
            bar.set_position(bytes);
            bar.set_message(format!("{lines} lines"));
        }
    };
    let mut chunks = FileChunks(Some(file));
    let imported =
        import::import(&shop.store, &shop.keyring, &shop.entropy, request.clone(), &mut chunks, &watch).await;
    bar.finish_and_clear();
    let report = imported.map_err(|e| match e {
        ImportError::Store(error) => error.into(),
        other => Failure::no(other.to_string()),
    })?;
    print(&request, &report, output)?;
    Ok(if report.malformed_count == 0 { Exit::Done } else { Exit::No })
}

fn request(wanted: &Import) -> Result<Request, Failure> {
    let name = wanted.file.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let format = match &wanted.format {
        Some(format) => format.parse().map_err(|e| Failure::usage(format!("--format: {e}")))?,
        None => Format::of_name(&name),
    };
    let reason = wanted.reason.as_deref().map(Reason::parse).transpose();
    Ok(Request {
        sku: sku(&wanted.sku)?,
        format,
        source: name,
        dry_run: wanted.dry_run,
        actor: ACTOR.to_owned(),
        reason: reason.map_err(|e| Failure::usage(format!("--reason {e}")))?.map(|r| r.to_string()),
    })
}

fn print(request: &Request, report: &Report, output: Output) -> Result<(), Failure> {
    let body = ImportBody::new(request, report);
    output.print(&body, |_| text(request, report))
}

fn text(request: &Request, report: &Report) -> String {
    let imported = report.imported();
    let mut lines: Vec<String> =
        report.malformed.iter().take(SHOWN).map(|(line, reason)| format!("line {line}: {reason}")).collect();
    if let Some(more) =
        report.malformed_count.checked_sub(u64::try_from(SHOWN).unwrap_or(0)).filter(|n| *n > 0)
    {
        lines.push(format!("… and {more} more malformed lines"));
    }
    let verdict = match (report.malformed_count, request.dry_run) {
        (0, false) if imported == 0 => format!("no code of the file is new to {}", request.sku),
        (0, false) => format!("{imported} codes of {} were put on sale", request.sku),
        (0, true) => format!("{imported} codes of {} would go on sale", request.sku),
        (bad, _) => format!("nothing was imported: mend {bad} malformed lines"),
    };
    lines.push(verdict);
    let skipped = [
        (report.blank, "blank"),
        (report.repeated_in_file, "repeated in the file"),
        (report.in_stock, "in stock already"),
        (report.already_sold, "sold already"),
    ];
    let skipped = skipped.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("  {n} {what}"));
    lines.extend(skipped);
    lines.join("\n")
}

/// A file's name alone decides its format.
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_format_is_never_guessed_from_the_bytes() {
        assert_eq!(Format::of_name("a.CSV"), Format::Csv);
        assert_eq!(Format::of_name("codes.txt"), Format::Lines);
    }
}
