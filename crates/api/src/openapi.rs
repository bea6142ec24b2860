//! OpenAPI, from the code, and a small page that shows it.

use axum::response::{Html, IntoResponse, Response};
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::{Modify, OpenApi};

use crate::routes;

#[derive(OpenApi)]
#[openapi(
    info(title = "Tessera", description = "Orders, payments and codes. Errors are RFC 9457 problems."),
    paths(routes::list, routes::product, routes::rounds, routes::round, routes::proof, routes::place, routes::show,
        routes::codes, routes::events, routes::pay, routes::cancel, routes::notify, routes::healthz, routes::readyz,
        routes::metrics,
        routes::admin::products::list, routes::admin::products::show, routes::admin::products::apply,
        routes::admin::batches::list, routes::admin::upload::upload, routes::admin::batches::void, routes::admin::batches::check,
        routes::admin::orders::list, routes::admin::orders::show, routes::admin::orders::replace,
        routes::admin::deeds::refund, routes::admin::deeds::accept, routes::admin::deeds::cancel,
        routes::admin::payments::list, routes::admin::payments::refunded, routes::admin::payments::notices,
        routes::admin::ledger::ledger, routes::admin::reconcile::reconcile),
    modifiers(&Bearers)
)]
struct Document;

struct Bearers;

impl Modify for Bearers {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        let Some(components) = document.components.as_mut() else { return };
        for (name, described) in [
            ("token", "an order's own token, from the answer that placed it"),
            ("customer", "a JWT that the shop signed for its `sub`, where customers.proof is jwt"),
            ("key", "a key of `tessera keys create`, of a role that may do this"),
        ] {
            let scheme =
                HttpBuilder::new().scheme(HttpAuthScheme::Bearer).description(Some(described)).build();
            components.add_security_scheme(name, SecurityScheme::Http(scheme));
        }
    }
}

/// The document, as JSON.
pub fn document() -> String {
    Document::openapi().to_pretty_json().unwrap_or_default()
}

pub(crate) async fn json() -> Response {
    ([(axum::http::header::CONTENT_TYPE, "application/json")], document()).into_response()
}

pub(crate) async fn docs() -> Html<&'static str> {
    Html(include_str!("docs.html"))
}
