//! `tessera codes import`.

use std::fs::File;

use tessera_api::wire::ImportBody;
use tessera_backoffice::import::{self, ImportError, Progress, Report, Request};
use tessera_model::import::{Format, Layout};
use tessera_model::text::{Reason, Supplier};
use tessera_store::batches::Bought;

use super::ACTOR;
use super::codes::sku;
use crate::Outcome;
use crate::cli::Import;
use crate::failure::{Exit, Failure};
use crate::file_chunks::FileChunks;
use crate::output::Output;
use crate::shop::Shop;

/// Malformed lines that people are shown; `--json` has up to 10 000.
const SHOWN: usize = 20;

/// Imports a file, or says what that would come to.
pub(super) async fn import(shop: &Shop, wanted: &Import, output: Output) -> Outcome {
    let request = request(wanted)?;
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
    Ok(if report.refused { Exit::No } else { Exit::Done })
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
        layout: layout(wanted, format)?,
        skip_malformed: wanted.skip_malformed,
        patience: None,
        bought: bought(wanted)?,
        source: name,
        dry_run: wanted.dry_run,
        actor: ACTOR.to_owned(),
        reason: reason.map_err(|e| Failure::usage(format!("--reason {e}")))?.map(|r| r.to_string()),
    })
}

fn layout(wanted: &Import, format: Format) -> Result<Layout, Failure> {
    let encoding = wanted.encoding.as_deref().map(str::parse).transpose();
    let separator = wanted.separator.as_deref().map(str::parse).transpose();
    let layout = Layout {
        format,
        separator: separator.map_err(|e| Failure::usage(format!("--separator: {e}")))?,
        no_header: wanted.no_header,
        encoding: encoding.map_err(|e| Failure::usage(format!("--encoding: {e}")))?,
        as_is: wanted.as_is,
    };
    if format == Format::Lines && (layout.separator.is_some() || layout.no_header) {
        let why = "--separator and --no-header are about csv, and the file is read as lines";
        return Err(Failure::usage(why).with_remedy("say --format csv, or leave them out"));
    }
    Ok(layout)
}

fn bought(wanted: &Import) -> Result<Bought, Failure> {
    let supplier = wanted.supplier.as_deref().map(Supplier::parse).transpose();
    Ok(Bought {
        supplier: supplier.map_err(|e| Failure::usage(format!("--supplier {e}")))?,
        cost_minor: wanted.cost,
        expires_at: wanted.expires.as_deref().map(super::keys::expiry).transpose()?,
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
    let known = report.known.iter().take(SHOWN).map(|(line, known)| match known.parts() {
        (verdict, Some(sku)) => format!("line {line}: {} ({sku})", verdict.replace('_', " ")),
        (verdict, None) => format!("line {line}: {}", verdict.replace('_', " ")),
    });
    lines.extend(known.filter(|_| request.dry_run));
    lines.extend(report.shown.iter().map(|code| format!("  reads: {code}")));
    let verdict = match (report.refused, request.dry_run) {
        (true, _) => format!("nothing was imported: mend {} malformed lines", report.malformed_count),
        (false, false) if imported == 0 => format!("no code of the file is new to {}", request.sku),
        (false, false) => format!("{imported} codes of {} were put on sale", request.sku),
        (false, true) => format!("{imported} codes of {} would go on sale", request.sku),
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
