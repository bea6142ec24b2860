//! `POST /v1/admin/products/{sku}/batches`: a file of codes, streamed.

use std::time::Duration;

use async_trait::async_trait;
use axum::body::{Body, BodyDataStream};
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_util::StreamExt;
use serde::Deserialize;
use tessera_backoffice::import::{self, Chunks, ImportError, Progress, Request};
use tessera_model::import::{Format, Layout};
use tessera_model::text::{Reason, Sku, Supplier};
use tessera_store::batches::Bought;
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout};

use super::Operator;
use super::products::no_product;
use crate::app::App;
use crate::instant::timestamp;
use crate::problem::{Problem, ProblemBody, Slug};
use crate::wire::ImportBody;

/// How long a client may take to send the next piece of a file.
const PIECE_WITHIN: Duration = Duration::from_secs(10);

/// How long a client may be waited for in all: so long, and a second more for so many bytes that came.
const WAITED_MAX: Duration = Duration::from_secs(30);
const BYTES_A_SECOND: u64 = 16_384;

/// How long another import is waited for.
const PATIENCE: Duration = Duration::from_secs(5);

/// What is said of the file.
#[derive(Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(in crate::routes) struct Told {
    /// Only say what would happen, with the first codes.
    #[serde(default)]
    dry_run: bool,
    /// Import the rest of a file that has malformed lines.
    #[serde(default)]
    skip_malformed: bool,
    /// `,` `;` `|` `----` or a tab, between fields of csv; told from its header if not given.
    separator: Option<String>,
    /// `utf-8`, `utf-16le`, `utf-16be` or `gb18030`; told from its bytes if not given.
    encoding: Option<String>,
    /// The first row of csv is a code, whatever it looks like.
    #[serde(default)]
    no_header: bool,
    /// Take what a spreadsheet seems to have damaged as it is.
    #[serde(default)]
    as_is: bool,
    supplier: Option<String>,
    /// What all of them cost, in minor units of the product's currency.
    cost: Option<i64>,
    /// RFC 3339: when they are worth nothing any more.
    expires: Option<String>,
    /// Why, for the audit log.
    reason: Option<String>,
}

/// Import a file of codes: `text/plain` with one a line, or `text/csv`. All of its new codes go on sale together, or none.
#[utoipa::path(post, operation_id = "admin_import", path = "/v1/admin/products/{sku}/batches", tag = "operators",
    security(("key" = [])), params(("sku" = String, Path), Told),
    request_body(content = String, content_type = "text/plain"),
    responses((status = 200, description = "nothing went on sale: a dry run, or no code was new", body = ImportBody),
        (status = 201, description = "on sale", body = ImportBody),
        (status = 401, description = "no good key", body = ProblemBody),
        (status = 403, description = "of a role that may not act", body = ProblemBody),
        (status = 404, description = "no such product", body = ProblemBody),
        (status = 409, description = "the product's codes are computed", body = ProblemBody),
        (status = 413, description = "the file is too large", body = ProblemBody),
        (status = 415, description = "neither text/plain nor text/csv", body = ProblemBody),
        (status = 422, description = "malformed lines: nothing was imported; or a parameter is wrong", body = ImportBody),
        (status = 503, description = "the rest of the file did not come", body = ProblemBody)))]
pub(in crate::routes) async fn upload(
    operator: Operator,
    State(app): State<App>,
    Path(sku): Path<String>,
    Query(told): Query<Told>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let sku = Sku::parse(&sku).map_err(|_| no_product())?;
    let request = told.request(sku, format(&headers)?, operator.actor())?;
    // In a task of its own: a client that hangs up ends the file, and what was read of it is cleared away.
    let (sender, outcome) = oneshot::channel();
    let asked = request.clone();
    tokio::spawn(async move {
        let mut pieces = Pieces { body: body.into_data_stream(), waited: Duration::ZERO, bytes: 0 };
        let watch = |_: Progress| ();
        let done = import::import(&app.store, &app.keyring, &app.entropy, request, &mut pieces, &watch).await;
        let _gone = sender.send(done);
    });
    let done = outcome.await.map_err(|_| Problem::unavailable("the import ended without a word"))?;
    let report = done.map_err(|error| match error {
        ImportError::NoProduct(_) => no_product(),
        ImportError::Store(error) => error.into(),
        ImportError::OtherKind(_) => Problem::new(Slug::Conflict, error.to_string()),
        ImportError::Ended => Problem::invalid_at("expires", error.to_string()),
        ImportError::TooLarge => Problem::new(Slug::TooLarge, error.to_string()),
        ImportError::Keys(_) => Problem::new(Slug::Internal, error.to_string()),
        ImportError::Source(_) | ImportError::LeaseLost | ImportError::Waits(_) => {
            Problem::unavailable(error.to_string())
        }
    })?;
    let status = match (report.refused, report.batch) {
        (true, _) => StatusCode::UNPROCESSABLE_ENTITY,
        (false, Some(_)) => StatusCode::CREATED,
        (false, None) => StatusCode::OK,
    };
    Ok((status, axum::Json(ImportBody::new(&asked, &report))).into_response())
}

fn format(headers: &HeaderMap) -> Result<Format, Problem> {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    match kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase().as_str() {
        "text/plain" => Ok(Format::Lines),
        "text/csv" => Ok(Format::Csv),
        _ => Err(Problem::new(
            Slug::UnsupportedMediaType,
            "the body is neither text/plain nor text/csv: say which",
        )),
    }
}

impl Told {
    fn request(self, sku: Sku, format: Format, actor: String) -> Result<Request, Problem> {
        fn told<T, E: std::fmt::Display>(
            name: &str,
            text: Option<&str>,
            parse: impl Fn(&str) -> Result<T, E>,
        ) -> Result<Option<T>, Problem> {
            text.map(parse).transpose().map_err(|e| Problem::invalid_at(name, e.to_string()))
        }
        let separator = told("separator", self.separator.as_deref(), str::parse)?;
        let encoding = told("encoding", self.encoding.as_deref(), str::parse)?;
        let instant =
            |text: &str| timestamp(text).ok_or("is no instant: give RFC 3339, such as 2026-11-30T12:00:00Z");
        if self.cost.is_some_and(|cost| cost < 0) {
            return Err(Problem::invalid_at("cost", "is below 0: give what they cost, or leave it out"));
        }
        let reason = told("reason", self.reason.as_deref(), Reason::parse)?;
        Ok(Request {
            sku,
            layout: Layout { format, separator, no_header: self.no_header, encoding, as_is: self.as_is },
            skip_malformed: self.skip_malformed,
            patience: Some(PATIENCE),
            bought: Bought {
                supplier: told("supplier", self.supplier.as_deref(), Supplier::parse)?,
                cost_minor: self.cost,
                expires_at: told("expires", self.expires.as_deref(), instant)?,
            },
            source: "an upload".to_owned(),
            dry_run: self.dry_run,
            actor,
            reason: reason.map(|reason| reason.to_string()),
        })
    }
}

/// A body, piece by piece.
///
/// Only the time spent waiting for the client counts: one that sends a byte now and then must not hold the import's lease.
struct Pieces {
    body: BodyDataStream,
    waited: Duration,
    bytes: u64,
}

#[async_trait]
impl Chunks for Pieces {
    async fn next(&mut self) -> Result<Option<Vec<u8>>, String> {
        let began = Instant::now();
        let next = timeout(PIECE_WITHIN, self.body.next()).await;
        self.waited += began.elapsed();
        if self.waited > WAITED_MAX + Duration::from_secs(self.bytes / BYTES_A_SECOND) {
            return Err("it came too slowly".to_owned());
        }
        match next {
            Ok(Some(Ok(piece))) => {
                self.bytes = self.bytes.saturating_add(u64::try_from(piece.len()).unwrap_or(u64::MAX));
                Ok(Some(piece.to_vec()))
            }
            Ok(None) => Ok(None),
            Ok(Some(Err(_))) => Err("the connection ended before the file did".to_owned()),
            Err(_) => Err(format!("no piece of it came for {} s", PIECE_WITHIN.as_secs())),
        }
    }
}
