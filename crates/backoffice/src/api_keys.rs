//! Operators' and merchants' keys.

use std::sync::Arc;

use data_encoding::BASE64URL_NOPAD;
use tessera_model::ids::ApiKeyId;
use tessera_model::keys::api_key_hash;
use tessera_model::time::Timestamp;
use tessera_store::operators::{ApiKey, AuditEntry, Role};
use tessera_store::{Entropy, Result, Store, run_alone};

/// What every key begins with, so that it is known for what it is wherever it leaks to.
const PREFIX: &str = "tsk_";

/// A key just made. The text is shown once and not stored.
pub struct NewApiKey {
    /// The key without its text.
    pub key: ApiKey,
    /// The text: 32 random bytes.
    pub text: String,
}

/// Makes a key.
///
/// # Errors
/// The store's.
pub async fn create(
    store: &Arc<dyn Store>,
    entropy: &Arc<Entropy>,
    role: Role,
    name: String,
    expires_at: Option<Timestamp>,
    actor: String,
) -> Result<NewApiKey> {
    let text = format!("{PREFIX}{}", BASE64URL_NOPAD.encode(&entropy.bytes::<32>()));
    let (hash, random) = (api_key_hash(&text), entropy.bytes());
    let store = Arc::clone(store);
    run_alone(async move {
        let mut tx = store.begin().await?;
        let created_at = tx.now();
        let id = ApiKeyId::new(created_at, random);
        let key = ApiKey { id, role, name, created_at, expires_at, revoked_at: None };
        tx.api_keys_put(&key, hash).await?;
        tx.audit_append(&[entry(actor, "key.create", id)]).await?;
        tx.commit().await?;
        Ok(NewApiKey { key, text })
    })
    .await
}

/// Revokes a key; false when there is none, or it was revoked before.
///
/// # Errors
/// The store's.
pub async fn revoke(store: &Arc<dyn Store>, id: ApiKeyId, actor: String) -> Result<bool> {
    let store = Arc::clone(store);
    run_alone(async move {
        let mut tx = store.begin().await?;
        let revoked = tx.api_keys_revoke(id).await?;
        if revoked {
            tx.audit_append(&[entry(actor, "key.revoke", id)]).await?;
        }
        tx.commit().await?;
        Ok(revoked)
    })
    .await
}

fn entry(actor: String, action: &str, id: ApiKeyId) -> AuditEntry {
    AuditEntry { actor, action: action.to_owned(), subject: id.to_string(), reason: None }
}
