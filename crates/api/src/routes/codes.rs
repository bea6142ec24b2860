//! `/v1/orders/{id}/codes`.

use std::collections::HashMap;
use std::fmt::Write;

use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use tessera_model::order::QUANTITY_MAX;
use tessera_model::text::Sku;

use super::orders::current;
use super::request::buyer;
use crate::app::App;
use crate::problem::{Problem, ProblemBody};
use crate::read::{CodeMark, CodePage, OrderView, code_page};
use crate::wire::{CodeItem, CodeList};

/// The most codes in one JSON answer.
const LIMIT_MAX: i64 = 1_000;

/// Where to begin and how many.
#[derive(Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct Stretch {
    /// Codes to pass over; `next` of the answer before.
    after: Option<i64>,
    /// How many, 1 to 1 000; 100 by default.
    limit: Option<i64>,
}

/// The order's codes, a stretch at a time; all of them as `text/plain` or `text/csv`.
#[utoipa::path(get, path = "/v1/orders/{id}/codes", tag = "orders", security(("token" = [])),
    params(("id" = String, Path), Stretch,
        ("Accept" = Option<String>, Header, description = "text/plain or text/csv for all codes at once")),
    responses((status = 200, description = "the codes; empty until the order is issued", body = CodeList),
        (status = 404, description = "no such order, or not its token", body = ProblemBody)))]
pub(super) async fn codes(
    State(app): State<App>,
    Path(id): Path<String>,
    Query(stretch): Query<Stretch>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let (order, epoch) = buyer(&app, &id, &headers)?;
    let view = current(&app, order, epoch).await?;
    let form = Form::accepted(&headers);
    let (after, limit) = match form {
        Form::Json => bounds(&stretch)?,
        Form::Text | Form::Csv => (0, QUANTITY_MAX),
    };
    let page = code_page(&app.store, &app.keyring, order, after, limit).await?;
    let mut response = match form {
        Form::Json => axum::Json(list(&view, page, after)).into_response(),
        Form::Text => plain(&page, "text/plain; charset=utf-8", |text, _, code| {
            text.push_str(code);
            text.push('\n');
        }),
        Form::Csv => {
            let skus = skus(&view);
            plain(&page, "text/csv; charset=utf-8; header=absent", |text, line, code| {
                let sku = skus.get(&line).map_or("", |sku| sku.as_str());
                // RFC 4180: quoted, quotes doubled. Writing into a string does not fail.
                let _infallible = write!(text, "{sku},\"{}\"\r\n", code.replace('"', "\"\""));
            })
        }
    };
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("private, no-store"));
    Ok(response)
}

/// How the codes are written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Json,
    Text,
    Csv,
}

impl Form {
    fn accepted(headers: &HeaderMap) -> Self {
        let accept = headers.get(header::ACCEPT).and_then(|v| v.to_str().ok()).unwrap_or_default();
        match accept.split([',', ';']).next().unwrap_or_default().trim() {
            "text/plain" => Self::Text,
            "text/csv" => Self::Csv,
            _ => Self::Json,
        }
    }
}

fn bounds(stretch: &Stretch) -> Result<(i64, i64), Problem> {
    let after = stretch.after.unwrap_or(0);
    if after < 0 {
        return Err(Problem::invalid_at("after", "is below 0: give `next` of the answer before"));
    }
    let limit = stretch.limit.unwrap_or(100);
    if !(1..=LIMIT_MAX).contains(&limit) {
        return Err(Problem::invalid_at("limit", format!("is not from 1 to {LIMIT_MAX}: give one that is")));
    }
    Ok((after, limit))
}

fn skus(view: &OrderView) -> HashMap<i32, Sku> {
    view.lines.iter().map(|line| (line.number, line.sku.clone())).collect()
}

fn list(view: &OrderView, page: CodePage, after: i64) -> CodeList {
    let skus = skus(view);
    let upto = after.saturating_add(i64::try_from(page.codes.len()).unwrap_or(i64::MAX));
    let item = |code: crate::read::IssuedCode| CodeItem {
        sku: skus.get(&code.line).map(Sku::to_string).unwrap_or_default(),
        code: code.text,
        position: code.position,
        round: code.round.map(|round| round.to_string()),
        state: code.state.as_str(),
    };
    CodeList {
        next: (upto < page.total).then_some(upto),
        total: page.total,
        codes: page.codes.into_iter().map(item).collect(),
    }
}

fn plain(page: &CodePage, kind: &'static str, mut line: impl FnMut(&mut String, i32, &str)) -> Response {
    let mut text = String::new();
    // A plain list cannot mark a code that is not to be used, so it has the others alone.
    for code in page.codes.iter().filter(|code| code.state == CodeMark::Issued) {
        line(&mut text, code.line, &code.text);
    }
    let mut response = text.into_response();
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}
