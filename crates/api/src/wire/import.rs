//! What an import did, as JSON.

use serde::Serialize;
use tessera_backoffice::import::{Known, Report, Request};

/// A verdict on a file.
///
/// ```json
/// {"sku":"card","batch":"0193…","dry_run":false,"lines":5,"imported":3,"blank":1,
///  "skipped":{"repeated_in_file":1,"in_stock":0,"already_sold":0},"malformed":[]}
/// ```
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct ImportBody {
    sku: String,
    /// The batch that is on sale now; none when nothing is.
    batch: Option<String>,
    dry_run: bool,
    lines: u64,
    /// Codes that are, or with `dry_run` would be, on sale.
    imported: u64,
    blank: u64,
    skipped: SkippedBody,
    /// Lines that refuse the file, or with `skip_malformed` were passed over; at most 10 000.
    malformed: Vec<MalformedBody>,
    /// Lines whose code is known, at most 10 000.
    known: Vec<KnownBody>,
    /// The first codes of a dry run, to see that the file was read as it was meant.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    first: Vec<String>,
}

/// A line whose code is known.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
struct KnownBody {
    line: u64,
    /// `repeated_in_file`, `in_stock` or `already_sold`.
    verdict: &'static str,
    /// The product that has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    sku: Option<String>,
}

/// Codes that were known.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
struct SkippedBody {
    repeated_in_file: u64,
    in_stock: u64,
    already_sold: u64,
}

/// A line that is no code.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
struct MalformedBody {
    line: u64,
    reason: String,
}

impl KnownBody {
    fn new(line: u64, known: &Known) -> Self {
        let (verdict, sku) = known.parts();
        Self { line, verdict, sku: sku.map(ToString::to_string) }
    }
}

impl ImportBody {
    /// The verdict on what `request` asked for.
    pub fn new(request: &Request, report: &Report) -> Self {
        let malformed = report.malformed.iter();
        Self {
            sku: request.sku.to_string(),
            batch: report.batch.map(|b| b.to_string()),
            dry_run: request.dry_run,
            lines: report.lines,
            imported: report.imported(),
            blank: report.blank,
            skipped: SkippedBody {
                repeated_in_file: report.repeated_in_file,
                in_stock: report.in_stock,
                already_sold: report.already_sold,
            },
            malformed: malformed
                .map(|(line, reason)| MalformedBody { line: *line, reason: reason.clone() })
                .collect(),
            known: report.known.iter().map(|(line, known)| KnownBody::new(*line, known)).collect(),
            first: report.shown.clone(),
        }
    }
}
