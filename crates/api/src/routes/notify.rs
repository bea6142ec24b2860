//! `/v1/payments/{provider}/notify`: what payment providers tell us.
//!
//! A notice is answered with success as soon as it is stored, whatever it does to the order, so that the
//! provider stops repeating it. What is refused is counted, and kept for operators with its reason.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, HeaderName, Uri, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use tessera_model::ids::{NoticeId, PaymentId};
use tessera_model::pay::{PaymentOutcome, PaymentReason};
use tessera_model::text::Provider;
use tessera_model::time::Timestamp;
use tessera_orders::Failure;
use tessera_orders::pay::{Incoming, PayOutcome};
use tessera_store::payments::{Notice as KeptNotice, Payment};
use tessera_store::{SetFault, run_alone};

use super::request::{body, json, require_json};
use crate::app::App;
use crate::metrics::Metrics;
use crate::parse::{Notice, NoticeKind, SettledNotice, notice};
use crate::problem::{Problem, ProblemBody, Slug};
use crate::signature::WebhookSecret;
use crate::wire::NoticeRequest;

mod refund;

/// The provider that takes Standard Webhooks.
const HMAC_PROVIDER: &str = "hmac";

/// Why a notice that anybody may have sent is refused.
const FORGED: &str = "bad signature";
const NOT_POSTED: &str = "wrong method";
const NOT_JSON: &str = "wrong content type";
const ANYBODYS: [&str; 3] = [FORGED, NOT_POSTED, NOT_JSON];

/// How much of such a notice is kept, in bytes, and how many for each reason: strangers send as many as they like.
const ANYBODYS_BYTES: usize = 1_024;
const ANYBODYS_KEPT: i64 = 1_000;

/// How far a notice's own time may be from ours before it is worth a line in the log, in seconds.
const SKEW_SECONDS: u64 = 300;

/// What became of a notice.
#[derive(Serialize, utoipa::ToSchema)]
struct NoticeAnswer {
    /// `paid`, `duplicate`, `short`, `over`, `refund_due`, `unmatched`, `recorded` or `ignored`.
    outcome: &'static str,
}

/// Tell of a payment (Standard Webhooks: `webhook-id`, `webhook-timestamp`, `webhook-signature`).
#[utoipa::path(post, path = "/v1/payments/{provider}/notify", tag = "payments",
    params(("provider" = String, Path, example = "hmac"),
        ("webhook-id" = String, Header, description = "the notice's own id"),
        ("webhook-timestamp" = String, Header, description = "seconds since 1970"),
        ("webhook-signature" = String, Header, description = "v1,BASE64 of HMAC-SHA256 over id.timestamp.body")),
    request_body = NoticeRequest,
    responses((status = 200, description = "taken", body = NoticeAnswer),
        (status = 401, description = "bad signature", body = ProblemBody),
        (status = 404, description = "no such provider", body = ProblemBody),
        (status = 415, description = "not JSON", body = ProblemBody),
        (status = 422, description = "a value is wrong", body = ProblemBody),
        (status = 503, description = "not taken: send it again", body = ProblemBody)))]
pub(super) async fn notify(
    State(app): State<App>,
    Path(provider): Path<String>,
    request: Request,
) -> Result<Response, Problem> {
    let Some(secret) = secret_of(&app, &provider) else {
        return Err(Problem::new(Slug::NotFound, "there is no such provider"));
    };
    let headers = request.headers().clone();
    let bytes = body(request.into_body()).await?;
    // A good signature is worth more than a header that nobody set.
    if let Err(problem) = require_json(&headers)
        && headers.contains_key(header::CONTENT_TYPE)
    {
        return Err(refuse_anybodys(&app, &bytes, NOT_JSON, problem).await);
    }
    let (id, at, signatures) = (
        text(&headers, "webhook-id"),
        text(&headers, "webhook-timestamp"),
        text(&headers, "webhook-signature"),
    );
    if !secret.verify(id, at, &bytes, signatures) {
        let problem =
            Problem::new(Slug::Unauthorized, "no signature of this notice is good: check the secret");
        return Err(refuse_anybodys(&app, &bytes, FORGED, problem).await);
    }
    tell_skew(at, app.now());
    let parsed = match json(&bytes).and_then(notice) {
        Ok(parsed) => parsed,
        Err(problem) => return Err(refuse(&app, &bytes, "malformed", problem).await),
    };
    let outcome = match parsed {
        Notice::Settled(settled) => settle(&app, settled, &bytes).await?,
        Notice::Refunded(refunded) => refund::refund(&app, refunded, id, &bytes).await?,
        Notice::Other(NoticeKind::Disputed) => {
            tracing::warn!("a payment is disputed, says its provider; the notice was kept");
            app.metrics.alert("dispute");
            keep(&app, &bytes, "dispute").await?;
            PaymentOutcome::Recorded
        }
        Notice::Other(NoticeKind::Unsettled | NoticeKind::Unknown) => PaymentOutcome::Ignored,
    };
    Metrics::count(&app.metrics.payments, outcome.as_str());
    Ok(axum::Json(NoticeAnswer { outcome: outcome.as_str() }).into_response())
}

/// A provider that was told to notify by another method tells us nothing for ever unless somebody sees it.
pub(super) async fn not_posted(State(app): State<App>, Path(provider): Path<String>, uri: Uri) -> Problem {
    let problem = Problem::new(Slug::MethodNotAllowed, "notices are told by POST");
    if secret_of(&app, &provider).is_none() {
        return problem;
    }
    let told = Bytes::from(uri.query().unwrap_or_default().to_owned());
    refuse_anybodys(&app, &told, NOT_POSTED, problem).await
}

/// The secret of a provider that is there.
fn secret_of(app: &App, provider: &str) -> Option<WebhookSecret> {
    (provider == HMAC_PROVIDER).then(|| app.payments.hmac.clone()).flatten()
}

fn text<'h>(headers: &'h HeaderMap, name: &'static str) -> &'h str {
    headers.get(HeaderName::from_static(name)).and_then(|v| v.to_str().ok()).unwrap_or_default()
}

/// An old notice with a good signature is taken: its reference makes a replay harmless, and a wrong clock
/// must not lose money.
fn tell_skew(at: &str, now: Timestamp) {
    let Some(at) = at.parse::<i64>().ok().and_then(|s| s.checked_mul(1_000_000)).map(Timestamp::from_micros)
    else {
        return;
    };
    let skew = now.since(at).max(at.since(now)).as_secs();
    if skew > SKEW_SECONDS {
        tracing::info!(skew_seconds = skew, "a payment notice is old, or a clock is wrong");
    }
}

async fn settle(app: &App, settled: SettledNotice, bytes: &Bytes) -> Result<PaymentOutcome, Problem> {
    let provider = hmac_provider()?;
    let payment = Payment {
        id: PaymentId::new(app.now(), app.entropy.bytes()),
        provider,
        reference: settled.reference,
        order_reference: settled.order,
        amount: settled.amount,
        paid_at: settled.paid_at,
    };
    let notice = NoticeId::new(app.now(), app.entropy.bytes());
    match app.desk.pay(Incoming::Notice { payment, notice, body: bytes.to_vec() }).await {
        Ok(PayOutcome::Taken { outcome, reason, .. }) => {
            let contradicts = (outcome == PaymentOutcome::Recorded).then_some("contradiction");
            if let Some(reason) = reason.map(PaymentReason::as_str).or(contradicts) {
                app.metrics.alert(reason);
            }
            Ok(outcome)
        }
        // Answers of the `test` provider, and of a first round that is always followed by a second.
        Ok(PayOutcome::NotFound | PayOutcome::NotPayable(_) | PayOutcome::Late) => {
            Ok(PaymentOutcome::Recorded)
        }
        // It fails however often it is sent, and money came: an operator has to see it.
        Err(failure @ Failure::Set(SetFault::Data(_))) => {
            Err(refuse(app, bytes, "could not be stored", failure.into()).await)
        }
        Err(failure) => Err(failure.into()),
    }
}

fn hmac_provider() -> Result<Provider, Problem> {
    Provider::parse(HMAC_PROVIDER).map_err(|e| Problem::new(Slug::Internal, e.to_string()))
}

/// Counts a notice that anybody may have sent, and keeps it while the allowance lasts.
async fn refuse_anybodys(app: &App, bytes: &Bytes, reason: &'static str, problem: Problem) -> Problem {
    if app.refused.allow(app.now()) {
        let some = bytes.slice(..bytes.len().min(ANYBODYS_BYTES));
        return refuse(app, &some, reason, problem).await;
    }
    Metrics::count(&app.metrics.notices_refused, reason);
    problem
}

/// Counts and keeps a refused notice; returns why it was refused.
async fn refuse(app: &App, bytes: &Bytes, reason: &'static str, problem: Problem) -> Problem {
    Metrics::count(&app.metrics.notices_refused, reason);
    tracing::warn!(reason, "a payment notice was refused and kept");
    if let Err(kept) = keep(app, bytes, reason).await {
        tracing::warn!(problem = ?kept, "a refused notice could not be kept");
    }
    problem
}

async fn keep(app: &App, bytes: &Bytes, reason: &str) -> Result<(), Problem> {
    let notice = KeptNotice {
        id: NoticeId::new(app.now(), app.entropy.bytes()),
        provider: hmac_provider()?,
        reason: reason.to_owned(),
        body: bytes.to_vec(),
        received_at: app.now(),
    };
    let anybodys = ANYBODYS.iter().find(|anybodys| **anybodys == reason);
    let store = Arc::clone(&app.store);
    Ok(run_alone(async move {
        let mut tx = store.begin().await?;
        tx.notices_put(&[notice]).await?;
        if let Some(reason) = anybodys {
            tx.notices_trim(reason, ANYBODYS_KEPT).await?;
        }
        tx.commit().await
    })
    .await?)
}
