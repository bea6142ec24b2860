//! `tessera keys create|list|revoke`.

use std::sync::Arc;

use serde_json::json;
use tessera_api::{rfc3339, timestamp};
use tessera_backoffice::api_keys;
use tessera_model::ids::ApiKeyId;
use tessera_model::text::ProductName;
use tessera_model::time::Timestamp;
use tessera_store::operators::Role;
use tessera_store::run_alone;

use super::{ACTOR, cursor, next};
use crate::Outcome;
use crate::cli::{Keys, Listing};
use crate::failure::{Exit, Failure};
use crate::output::{Output, or_dash, table};
use crate::settings::Settings;
use crate::shop::{Missing, Shop};

pub(super) async fn run(settings: &Settings, command: Keys, output: Output) -> Outcome {
    let shop = Shop::open(settings, Missing::Refuse).await?;
    match command {
        Keys::Create { role, name, expires } => {
            create(&shop, role_of(&role)?, name_of(name)?, expires.as_deref(), output).await
        }
        Keys::List(listing) => list(&shop, &listing, output).await,
        Keys::Revoke { id } => revoke(&shop, &id, output).await,
    }
}

fn role_of(text: &str) -> Result<Role, Failure> {
    let known = Role::ALL.map(Role::as_str).join(", ");
    Role::parse(text).ok_or_else(|| {
        Failure::usage(format!("--role {text} is no role")).with_remedy(format!("give one of {known}"))
    })
}

/// A name may be left out; otherwise it is bounded and in one line, as a product's is.
fn name_of(text: String) -> Result<String, Failure> {
    if !text.is_empty() {
        ProductName::parse(&text).map_err(|e| Failure::usage(format!("--name {e}")))?;
    }
    Ok(text)
}

/// RFC 3339, or a date, which ends at its midnight UTC.
pub(super) fn expiry(text: &str) -> Result<Timestamp, Failure> {
    timestamp(text)
        .or_else(|| timestamp(&format!("{text}T00:00:00Z")))
        .ok_or_else(|| Failure::usage(format!("--expires {text} is no date")).with_remedy("give 2027-01-31"))
}

async fn create(shop: &Shop, role: Role, name: String, expires: Option<&str>, output: Output) -> Outcome {
    let expires = expires.map(expiry).transpose()?;
    if expires.is_some_and(|end| end <= shop.clock.now()) {
        return Err(Failure::usage("--expires is past").with_remedy("give a later date"));
    }
    let new = api_keys::create(&shop.store, &shop.entropy, role, name, expires, ACTOR.to_owned()).await?;
    let body = json!({
        "id": new.key.id.to_string(), "key": new.text, "role": role.as_str(), "name": new.key.name,
        "created_at": rfc3339(new.key.created_at), "expires_at": new.key.expires_at.map(rfc3339),
    });
    output.print(&body, |_| format!("{}\nshown once: keep it now (id {})", new.text, new.key.id))?;
    Ok(Exit::Done)
}

async fn list(shop: &Shop, listing: &Listing, output: Output) -> Outcome {
    let (before, limit) = (cursor(listing.cursor.as_deref(), ApiKeyId::parse)?, listing.limit);
    let store = Arc::clone(&shop.store);
    let keys = run_alone(async move { store.snapshot().await?.api_keys_list(before, limit).await }).await?;
    let body = keys.iter().map(|k| {
        json!({
            "id": k.id.to_string(), "role": k.role.as_str(), "name": k.name,
            "created_at": rfc3339(k.created_at), "expires_at": k.expires_at.map(rfc3339),
            "revoked_at": k.revoked_at.map(rfc3339),
        })
    });
    let listed =
        json!({ "keys": body.collect::<Vec<_>>(), "next": next(&keys, limit, |k| k.id.to_string()) });
    output.print(&listed, |_| {
        let rows = keys.iter().map(|k| {
            [
                k.id.to_string(),
                k.role.as_str().to_owned(),
                k.name.clone(),
                rfc3339(k.created_at),
                or_dash(k.expires_at.map(rfc3339)),
                or_dash(k.revoked_at.map(rfc3339)),
            ]
        });
        table(&["id", "role", "name", "created at", "expires at", "revoked at"], rows)
    })?;
    Ok(Exit::Done)
}

async fn revoke(shop: &Shop, id: &str, output: Output) -> Outcome {
    let id = ApiKeyId::parse(id)
        .ok_or_else(|| Failure::usage("that is no key's id").with_remedy("`tessera keys list` shows them"))?;
    if !api_keys::revoke(&shop.store, id, ACTOR.to_owned()).await? {
        return Err(Failure::not_found(format!("there is no key {id} that is not revoked")));
    }
    output.print(&json!({ "id": id.to_string(), "revoked": true }), |_| format!("revoked {id}"))?;
    Ok(Exit::Done)
}
