//! Problems: every refusal is RFC 9457 `application/problem+json`.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use tessera_model::place::{Limit, Refusal};
use tessera_orders::Failure;
use tessera_store::{SetFault, StoreError};

/// The kinds of problem. Each variant's first word is its HTTP answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slug {
    /// `400`: the request cannot be read.
    Unreadable,
    /// `422`: it can be read, and a value in it is wrong.
    Invalid,
    /// `401`: no key or signature, or a wrong one.
    Unauthorized,
    /// `403`: the key does not allow this.
    Forbidden,
    /// `404`: no such thing, or not for you.
    NotFound,
    /// `405`: not by this method.
    MethodNotAllowed,
    /// `409`: too few are left.
    SoldOut,
    /// `409`: a limit is reached.
    LimitReached,
    /// `409`: only for new customers.
    NotANewCustomer,
    /// `409`: the sale has not begun.
    SaleNotOpen,
    /// `409`: the sale is over.
    SaleClosed,
    /// `409`: the order is past paying.
    OrderNotPayable,
    /// `409`: the order is past cancelling.
    OrderNotCancellable,
    /// `409`: the round has no winner yet.
    RoundNotDrawn,
    /// `409`: something fixed would change, or the state does not allow it.
    Conflict,
    /// `409`: the order has no money to pay back, or its shares are final.
    OrderNotRefundable,
    /// `409`: the order cannot be accepted as it is.
    OrderNotAcceptable,
    /// `409`: less is to be paid back than was.
    NotRefundDue,
    /// `409`: the reference names another refund.
    ReferenceReused,
    /// `413`: the body is too large.
    TooLarge,
    /// `415`: not JSON.
    UnsupportedMediaType,
    /// `422`: the `Idempotency-Key` was used for another request.
    IdempotencyKeyReused,
    /// `500`: our fault.
    Internal,
    /// `503`: try again in a moment.
    Unavailable,
}

impl Slug {
    const fn parts(self) -> (StatusCode, &'static str, &'static str) {
        use StatusCode as S;
        match self {
            Self::Unreadable => (S::BAD_REQUEST, "invalid-request", "The request cannot be read"),
            Self::Invalid => (S::UNPROCESSABLE_ENTITY, "invalid-request", "A value in the request is wrong"),
            Self::Unauthorized => (S::UNAUTHORIZED, "unauthorized", "Who you are is not known"),
            Self::Forbidden => (S::FORBIDDEN, "forbidden", "You may not do this"),
            Self::NotFound => (S::NOT_FOUND, "not-found", "There is no such thing"),
            Self::MethodNotAllowed => (S::METHOD_NOT_ALLOWED, "method-not-allowed", "Not by this method"),
            Self::SoldOut => (S::CONFLICT, "sold-out", "Sold out"),
            Self::LimitReached => (S::CONFLICT, "limit-reached", "A limit is reached"),
            Self::NotANewCustomer => (S::CONFLICT, "not-a-new-customer", "For new customers only"),
            Self::SaleNotOpen => (S::CONFLICT, "sale-not-open", "The sale has not begun"),
            Self::SaleClosed => (S::CONFLICT, "sale-closed", "The sale is over"),
            Self::OrderNotPayable => (S::CONFLICT, "order-not-payable", "The order cannot be paid"),
            Self::OrderNotCancellable => {
                (S::CONFLICT, "order-not-cancellable", "The order cannot be cancelled")
            }
            Self::RoundNotDrawn => (S::CONFLICT, "round-not-drawn", "The round is not drawn"),
            Self::Conflict => (S::CONFLICT, "conflict", "Its state does not allow this"),
            Self::OrderNotRefundable => (S::CONFLICT, "order-not-refundable", "The order cannot be refunded"),
            Self::OrderNotAcceptable => (S::CONFLICT, "order-not-acceptable", "The order cannot be accepted"),
            Self::NotRefundDue => (S::CONFLICT, "not-refund-due", "Less is to be paid back"),
            Self::ReferenceReused => (S::CONFLICT, "reference-reused", "The reference names another refund"),
            Self::TooLarge => (S::PAYLOAD_TOO_LARGE, "too-large", "The body is too large"),
            Self::UnsupportedMediaType => {
                (S::UNSUPPORTED_MEDIA_TYPE, "unsupported-media-type", "The body is not JSON")
            }
            Self::IdempotencyKeyReused => (
                S::UNPROCESSABLE_ENTITY,
                "idempotency-key-reused",
                "The Idempotency-Key was used for another request",
            ),
            Self::Internal => (S::INTERNAL_SERVER_ERROR, "internal", "Something broke here"),
            Self::Unavailable => (S::SERVICE_UNAVAILABLE, "unavailable", "Not available right now"),
        }
    }
}

/// One faulty value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct FieldError {
    /// Where it is: a JSON pointer (RFC 6901), or a header's name.
    pub pointer: String,
    /// Its fault and the remedy.
    pub detail: String,
}

/// A refusal.
#[derive(Clone, Debug)]
pub struct Problem {
    slug: Slug,
    detail: String,
    errors: Vec<FieldError>,
    limit: Option<Limit>,
    retry_after: Option<Duration>,
    /// By what one may say who one is, of a 401.
    challenge: &'static str,
}

/// The JSON of a problem.
#[derive(Serialize, utoipa::ToSchema)]
pub struct ProblemBody {
    /// `urn:tessera:problem:SLUG`.
    #[serde(rename = "type")]
    kind: String,
    /// The kind in words.
    title: &'static str,
    /// The HTTP status.
    status: u16,
    /// This case in words.
    detail: String,
    /// Which limit, when one was reached.
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<&'static str>,
    /// Every faulty value.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    errors: Vec<FieldError>,
}

impl Problem {
    /// A problem of a kind, this case in words.
    pub fn new(slug: Slug, detail: impl Into<String>) -> Self {
        Self {
            slug,
            detail: detail.into(),
            errors: vec![],
            limit: None,
            retry_after: None,
            challenge: "Signature",
        }
    }

    /// Not known by any key: what was sent as `Authorization: Bearer KEY` is missing or good for nothing here.
    pub fn no_key(detail: impl Into<String>) -> Self {
        Self { challenge: "Bearer", ..Self::new(Slug::Unauthorized, detail) }
    }

    /// Values that are wrong, each with its place.
    pub fn invalid(errors: Vec<FieldError>) -> Self {
        let place =
            |e: &FieldError| if e.pointer.is_empty() { "the body".to_owned() } else { e.pointer.clone() };
        let first = errors.first().map(|e| format!("{} {}", place(e), e.detail));
        Self { errors, ..Self::new(Slug::Invalid, first.unwrap_or_default()) }
    }

    /// One value that is wrong.
    pub fn invalid_at(pointer: impl Into<String>, detail: impl std::fmt::Display) -> Self {
        Self::invalid(vec![FieldError { pointer: pointer.into(), detail: detail.to_string() }])
    }

    /// The one answer to a wrong token, a missing one and an unknown order: they look the same.
    pub fn no_order() -> Self {
        Self::new(Slug::NotFound, "there is no such order, or the token is not its own")
    }

    /// Try again in a moment.
    pub fn unavailable(detail: impl Into<String>) -> Self {
        Self { retry_after: Some(Duration::from_secs(1)), ..Self::new(Slug::Unavailable, detail) }
    }

    /// The JSON.
    pub fn body(&self) -> ProblemBody {
        let (status, slug, title) = self.slug.parts();
        ProblemBody {
            kind: format!("urn:tessera:problem:{slug}"),
            title,
            status: status.as_u16(),
            detail: self.detail.clone(),
            limit: self.limit.map(Limit::as_str),
            errors: self.errors.clone(),
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let (status, ..) = self.slug.parts();
        let body = serde_json::to_vec(&self.body()).unwrap_or_default();
        let mut response = (status, body).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static(self.challenge));
        }
        if let Some(after) = self.retry_after {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(after.as_secs()));
        }
        response
    }
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Self {
        let detail = refusal.to_string();
        match refusal {
            Refusal::NotFound(_) => Self::new(Slug::NotFound, detail),
            Refusal::MixedCurrencies | Refusal::AmountTooLarge => Self::invalid_at("/lines", detail),
            Refusal::SaleNotOpen(_) => Self::new(Slug::SaleNotOpen, detail),
            Refusal::SaleClosed(_) => Self::new(Slug::SaleClosed, detail),
            Refusal::LimitReached { limit, .. } => {
                Self { limit: Some(limit), ..Self::new(Slug::LimitReached, detail) }
            }
            Refusal::NotANewCustomer(_) => Self::new(Slug::NotANewCustomer, detail),
            Refusal::SoldOut { .. } => Self::new(Slug::SoldOut, detail),
        }
    }
}

impl From<Failure> for Problem {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Busy(busy) => Self::unavailable(busy.to_string()),
            Failure::Late => Self::unavailable("it is not known yet whether this was done: ask again"),
            Failure::Set(SetFault::Data(detail)) => {
                tracing::warn!(detail, "an input failed alone");
                Self::new(Slug::Invalid, "this request cannot be stored; nothing was changed")
            }
            Failure::Set(SetFault::Store(error)) => Self::from(error),
        }
    }
}

/// How often it is logged that the store is away: an outage under a crowd is one event, not one a request.
const TELL_EVERY: Duration = Duration::from_secs(5);

/// Whether the log has lately been told; if not, it is told now.
fn told_lately() -> bool {
    static TOLD: Mutex<Option<Instant>> = Mutex::new(None);
    // An instant is never half-written, so a poisoned lock is as good as any.
    let mut told = TOLD.lock().unwrap_or_else(PoisonError::into_inner);
    let lately = told.is_some_and(|at| at.elapsed() < TELL_EVERY);
    if !lately {
        *told = Some(Instant::now());
    }
    lately
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Unavailable(_) | StoreError::InDoubt(_) | StoreError::Schema(_) => {
                if !told_lately() {
                    tracing::warn!(%error, "the store could not answer; others may have been told the same");
                }
                Self::unavailable("the database is not available right now")
            }
            StoreError::Data(_) => {
                tracing::error!(%error, "a stored row is at fault");
                Self::new(Slug::Internal, "a stored row is at fault; it was logged")
            }
        }
    }
}
