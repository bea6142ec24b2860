//! Who asks: an operator's key, looked up anew in each request, so that a revoked one ends at once.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::HeaderMap;
use axum::http::request::Parts;
use tessera_model::keys::api_key_hash;
use tessera_store::operators::{ApiKey, Role};
use tessera_store::run_alone;

use super::super::request::bearer;
use crate::app::App;
use crate::problem::{Problem, Slug};

macro_rules! roles {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        pub(crate) struct $name(ApiKey);

        impl $name {
            /// The name that audit entries call them by.
            pub(crate) fn actor(&self) -> String {
                actor(&self.0)
            }
        }

        impl FromRequestParts<App> for $name {
            type Rejection = Problem;

            async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
                key_of(app, &parts.headers, Role::$name).await.map(Self)
            }
        }
    )*};
}

roles! {
    /// A key that may look.
    Viewer;
    /// A key that may act.
    Operator;
}

/// A key by its id: its name may be anybody's.
fn actor(key: &ApiKey) -> String {
    format!("key:{}", key.id)
}

/// The key of a request, if it may do what `needed` may.
pub(crate) async fn key_of(app: &App, headers: &HeaderMap, needed: Role) -> Result<ApiKey, Problem> {
    let text =
        bearer(headers).ok_or_else(|| Problem::no_key("no key was sent: send Authorization: Bearer KEY"))?;
    let (store, hash) = (Arc::clone(&app.store), api_key_hash(text));
    let (found, now) = run_alone(async move {
        let mut tx = store.snapshot().await?;
        Ok((tx.api_keys_find(hash).await?, tx.now()))
    })
    .await?;
    let good = found.filter(|key| key.holds_at(now));
    let key = good.ok_or_else(|| {
        Problem::no_key("the key is unknown, revoked or at its end: make one with `tessera keys create`")
    })?;
    if key.role.allows(needed) {
        return Ok(key);
    }
    let (is, needed) = (key.role.as_str(), needed.as_str());
    Err(Problem::new(
        Slug::Forbidden,
        format!("the key is of role {is}, and this takes {needed}: use another"),
    ))
}
