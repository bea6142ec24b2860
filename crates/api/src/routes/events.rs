//! `/v1/orders/{id}/events`: an order as a stream of server-sent events.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::sse::{Event, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream::{self, Stream};
use tessera_model::ids::OrderId;

use super::orders::current;
use super::request::buyer;
use crate::app::App;
use crate::problem::{Problem, ProblemBody};
use crate::read::OrderView;
use crate::waiting::Until;
use crate::wire::OrderBody;

/// A stream that says nothing for longer is taken for dead by what stands between.
const COMMENT_EVERY: Duration = Duration::from_secs(15);

/// Where a stream is.
enum At {
    /// The order as it is now is to be sent first.
    Begin(Arc<OrderView>),
    /// This version was sent.
    Sent(i64),
    /// A final state was sent, or there is nothing more to say.
    End,
}

/// Follow an order: `event: order`, `id: VERSION`, at once and at every change, until a final state.
#[utoipa::path(get, path = "/v1/orders/{id}/events", tag = "orders", security(("token" = [])),
    params(("id" = String, Path)),
    responses((status = 200, description = "a stream of text/event-stream", content_type = "text/event-stream"),
        (status = 404, description = "no such order, or not its token", body = ProblemBody)))]
pub(super) async fn events(
    State(app): State<App>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let (order, epoch) = buyer(&app, &id, &headers)?;
    let view = current(&app, order, epoch).await?;
    let mut response = Sse::new(follow(app, order, epoch, view)).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("private, no-store"));
    Ok(response)
}

fn follow(
    app: App,
    order: OrderId,
    epoch: i32,
    view: Arc<OrderView>,
) -> impl Stream<Item = Result<Event, Infallible>> {
    stream::unfold((app, At::Begin(view)), move |(app, at)| async move {
        let (event, at) = match at {
            At::Begin(view) => told(&app, &view),
            At::Sent(version) => next(&app, order, epoch, version).await?,
            At::End => return None,
        };
        Some((Ok(event), (app, at)))
    })
}

/// The next thing to send after a version; none when the process stops or the order cannot be read.
async fn next(app: &App, order: OrderId, epoch: i32, version: i64) -> Option<(Event, At)> {
    // The place is taken before the look, so that no change falls between.
    let ticket = app.waiters.enter(order, Until::Not(version));
    let view = current(app, order, epoch).await.ok()?;
    if view.order.version != version {
        return Some(told(app, &view));
    }
    match ticket.wait(COMMENT_EVERY, &app.stop).await {
        Some(view) => Some(told(app, &view)),
        None if app.stop.is_cancelled() => None,
        None => Some((Event::default().comment("still here"), At::Sent(version))),
    }
}

fn told(app: &App, view: &OrderView) -> (Event, At) {
    let version = view.order.version;
    // Strings and numbers always serialise.
    let data = serde_json::to_string(&OrderBody::new(view, app.now())).unwrap_or_default();
    let event = Event::default().event("order").id(version.to_string()).data(data);
    (event, if view.is_final() { At::End } else { At::Sent(version) })
}
