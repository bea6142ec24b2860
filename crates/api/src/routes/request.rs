//! What requests carry: a JSON body, a buyer's token, preferences.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{FromRequest, Request};
use axum::http::{HeaderMap, HeaderName, header};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde_json::Value;
use tessera_faults::{At, point};
use tessera_model::ids::OrderId;
use tessera_model::keys::Token;

use super::unique::Unique;
use crate::app::App;
use crate::problem::{Problem, Slug};

/// The largest body of a request, in bytes.
const BODY_MAX: usize = 65_536;

/// How long a client may take to send it.
const BODY_WITHIN: Duration = Duration::from_secs(10);

/// The longest wait a client may ask for.
const WAIT_MAX: Duration = Duration::from_secs(30);

/// A request is done, and its answer comes next: a fault point.
pub(super) fn answering(who: &str) -> Result<(), Problem> {
    match point(who, At::BeforeAnswer) {
        true => Err(Problem::unavailable("a fault point before the answer")),
        false => Ok(()),
    }
}

/// A JSON body.
pub(super) struct Json(pub(super) Value);

impl<S: Send + Sync> FromRequest<S> for Json {
    type Rejection = Problem;

    async fn from_request(request: Request, _state: &S) -> Result<Self, Problem> {
        require_json(request.headers())?;
        let bytes = body(request.into_body()).await?;
        json(&bytes).map(Self)
    }
}

/// Reads a body up to the limit.
pub(super) async fn body(body: Body) -> Result<Bytes, Problem> {
    let read = Limited::new(body, BODY_MAX).collect();
    let Ok(read) = tokio::time::timeout(BODY_WITHIN, read).await else {
        return Err(Problem::new(Slug::Unreadable, "the body took too long: send it at once"));
    };
    match read {
        Ok(collected) => Ok(collected.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => {
            Err(Problem::new(Slug::TooLarge, format!("the body is longer than {BODY_MAX} bytes: send less")))
        }
        Err(_) => Err(Problem::new(Slug::Unreadable, "the body broke off")),
    }
}

/// Refuses a body that does not say it is JSON.
pub(super) fn require_json(headers: &HeaderMap) -> Result<(), Problem> {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|v| v.to_str().ok()).unwrap_or_default();
    let essence = kind.split(';').next().unwrap_or_default().trim();
    if essence.eq_ignore_ascii_case("application/json") || essence.ends_with("+json") {
        return Ok(());
    }
    Err(Problem::new(Slug::UnsupportedMediaType, "send Content-Type: application/json"))
}

/// Reads JSON.
pub(crate) fn json(bytes: &[u8]) -> Result<Value, Problem> {
    serde_json::from_slice(bytes).map(|Unique(value)| value).map_err(|error| {
        let place = format!("line {}, column {}", error.line(), error.column());
        let what = if error.is_data() { "names a field twice" } else { "is not JSON" };
        Problem::new(Slug::Unreadable, format!("the body {what}: mend it at {place}"))
    })
}

/// The order of a path and the epoch of its token, which is checked before the database is asked.
pub(super) fn buyer(app: &App, id: &str, headers: &HeaderMap) -> Result<(OrderId, i32), Problem> {
    let order = OrderId::parse(id).ok_or_else(Problem::no_order)?;
    let token = bearer(headers).ok_or_else(Problem::no_order)?;
    let epoch = Token::verify(&app.keyring, token, order).ok_or_else(Problem::no_order)?;
    Ok((order, epoch))
}

/// What was sent as `Authorization: Bearer …`.
pub(crate) fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then_some(token.trim())
}

/// `Prefer: wait=N` (RFC 7240), at most [`WAIT_MAX`].
pub(super) fn prefer_wait(headers: &HeaderMap) -> Option<Duration> {
    let prefer = HeaderName::from_static("prefer");
    let values = headers.get_all(prefer).into_iter().filter_map(|v| v.to_str().ok());
    let preferences = values.flat_map(|v| v.split(','));
    let seconds = preferences
        .filter_map(|p| p.split(';').next()?.trim().split_once('='))
        .find(|(name, _)| name.trim().eq_ignore_ascii_case("wait"))
        .and_then(|(_, n)| n.trim().trim_matches('"').parse::<u64>().ok())?;
    Some(Duration::from_secs(seconds).min(WAIT_MAX))
}

/// The version a client has seen: the first weak or strong tag of `If-None-Match` that is one of ours.
pub(super) fn seen_version(headers: &HeaderMap) -> Option<i64> {
    let value = headers.get(header::IF_NONE_MATCH)?.to_str().ok()?;
    value.split(',').find_map(|tag| {
        let tag = tag.trim();
        tag.strip_prefix("W/").unwrap_or(tag).trim_matches('"').parse().ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    fn headers(name: &'static str, value: &'static str) -> HeaderMap {
        HeaderMap::from_iter([(HeaderName::from_static(name), HeaderValue::from_static(value))])
    }

    #[test]
    fn a_wait_is_read_among_other_preferences_and_bounded() {
        let wait = |v| prefer_wait(&headers("prefer", v)).map(|d| d.as_secs());
        assert_eq!(wait("wait=5"), Some(5));
        assert_eq!(wait("respond-async, Wait = 7 ; x=1"), Some(7));
        assert_eq!(wait("wait=999"), Some(30));
        for none in ["wait", "wait=-1", "wait=x", "return=minimal"] {
            assert_eq!(wait(none), None, "{none}");
        }
    }

    #[test]
    fn a_version_is_read_from_weak_and_strong_tags() {
        let seen = |v| seen_version(&headers("if-none-match", v));
        assert_eq!(seen("W/\"3\""), Some(3));
        assert_eq!(seen("\"4\""), Some(4));
        assert_eq!(seen("\"x\", W/\"5\""), Some(5));
        assert_eq!(seen("*"), None);
    }
}
