//! The routes, each in the file of its path.

pub(crate) mod admin;
mod codes;
mod events;
pub(crate) mod health;
mod listing;
mod notify;
mod orders;
mod pay;
mod products;
pub(crate) mod request;
mod rounds;
mod unique;

use axum::Router;
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::cors::{AllowOrigin, CorsLayer};

use crate::app::App;
use crate::problem::{Problem, Slug};

pub(crate) use codes::__path_codes;
pub(crate) use events::__path_events;
pub(crate) use health::{__path_healthz, __path_metrics, __path_readyz};
pub(crate) use notify::__path_notify;
pub(crate) use orders::{__path_cancel, __path_place, __path_show};
pub(crate) use pay::__path_pay;
pub(crate) use products::{__path_list, __path_product};
pub(crate) use rounds::{__path_proof, __path_round, __path_rounds};

/// Everything the API answers.
pub fn router(app: App) -> Router {
    let cors = cors(&app);
    Router::new()
        .route("/", get(|| async { Redirect::temporary("/docs") }))
        .route("/v1/products", get(products::list))
        .route("/v1/products/{sku}", get(products::product))
        .route("/v1/products/{sku}/rounds", get(rounds::rounds))
        .route("/v1/rounds/{id}", get(rounds::round))
        .route("/v1/rounds/{id}/proof", get(rounds::proof))
        .route("/v1/orders", post(orders::place))
        .route("/v1/orders/{id}", get(orders::show))
        .route("/v1/orders/{id}/codes", get(codes::codes))
        .route("/v1/orders/{id}/events", get(events::events))
        .route("/v1/orders/{id}/pay", post(pay::pay))
        .route("/v1/orders/{id}/cancel", post(orders::cancel))
        .route("/v1/payments/{provider}/notify", post(notify::notify).fallback(notify::not_posted))
        .route("/healthz", get(health::healthz))
        .route("/readyz", get(health::readyz))
        .route("/metrics", get(health::metrics))
        .route("/openapi.json", get(crate::openapi::json))
        .route("/docs", get(crate::openapi::docs))
        .merge(admin::router())
        .fallback(|| async { Problem::new(Slug::NotFound, "there is no such path") })
        .method_not_allowed_fallback(|| async {
            Problem::new(Slug::MethodNotAllowed, "this path is not for that method")
        })
        .layer(axum::middleware::map_response(as_problem))
        .layer(CatchPanicLayer::custom(|_| {
            // The panic's message may quote a value, so it is not passed on.
            Problem::new(Slug::Internal, "the request broke something here").into_response()
        }))
        .layer(cors)
        .with_state(app)
}

/// Pages of the origins that were named may call, all for `*`; none by default.
fn cors(app: &App) -> CorsLayer {
    let origins = &app.http.allowed_origins;
    let allowed = match origins.iter().any(|origin| origin == "*") {
        // A token is sent by the page itself, never by the browser, so any page may be let in.
        true => AllowOrigin::any(),
        false => AllowOrigin::list(origins.iter().filter_map(|o| HeaderValue::from_str(o).ok())),
    };
    let headers: [HeaderName; 5] = [
        header::AUTHORIZATION,
        header::CONTENT_TYPE,
        header::IF_NONE_MATCH,
        HeaderName::from_static("prefer"),
        HeaderName::from_static("idempotency-key"),
    ];
    CorsLayer::new()
        .allow_origin(allowed)
        .allow_methods([Method::GET, Method::POST])
        .allow_headers(headers)
        .expose_headers([header::ETAG, header::LOCATION, header::RETRY_AFTER])
}

/// What the framework refuses by itself, a path it cannot read say, becomes a problem as well.
async fn as_problem(response: Response) -> Response {
    let is_problem = response
        .headers()
        .get(header::CONTENT_TYPE)
        .is_some_and(|kind| kind.as_bytes().starts_with(b"application/"));
    match response.status() {
        StatusCode::BAD_REQUEST if !is_problem => {
            Problem::new(Slug::Unreadable, "the path or query cannot be read").into_response()
        }
        _ => response,
    }
}
