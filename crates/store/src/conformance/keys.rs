//! Operators' keys, what is known of the keyring, and the audit log.

use tessera_model::ids::ApiKeyId;

use super::Fixture;
use crate::operators::{ApiKey, AuditEntry, KeyCheck, Role};

async fn put(fixture: &Fixture, role: Role) -> (ApiKey, [u8; 32]) {
    let key = ApiKey {
        id: fixture.id(ApiKeyId::new),
        role,
        name: format!("a {}", role.as_str()),
        created_at: fixture.now(),
        expires_at: None,
        revoked_at: None,
    };
    let hash = fixture.bytes();
    fixture.write(async |tx| tx.api_keys_put(&key, hash).await).await;
    (key, hash)
}

/// A key is found by the hash of its text, and by nothing else.
pub async fn api_key_is_found_by_its_hash(fixture: &Fixture) {
    for role in Role::ALL {
        let (key, hash) = put(fixture, role).await;
        assert_eq!(fixture.read(async |tx| tx.api_keys_find(hash).await).await, Some(key));
    }
    assert_eq!(fixture.read(async |tx| tx.api_keys_find(fixture.bytes()).await).await, None);
}

/// A hash is one key's.
pub async fn hash_of_another_key_is_a_data_fault(fixture: &Fixture) {
    let (key, hash) = put(fixture, Role::Viewer).await;
    let another = ApiKey { id: fixture.id(ApiKeyId::new), ..key };
    fixture.assert_refused(async |tx| tx.api_keys_put(&another, hash).await).await;
}

/// A key is revoked once; it is found and listed with when that was.
pub async fn api_key_is_revoked_once(fixture: &Fixture) {
    let (key, hash) = put(fixture, Role::Owner).await;
    fixture.clock.set(fixture.later(10));
    let revoke = async |id| fixture.write(async |tx| tx.api_keys_revoke(id).await).await;
    assert!(revoke(key.id).await);
    let revoked = ApiKey { revoked_at: Some(fixture.now()), ..key.clone() };
    fixture.clock.set(fixture.later(10));
    assert!(!revoke(key.id).await, "it was revoked before");
    assert!(!revoke(fixture.id(ApiKeyId::new)).await, "there is none");
    assert_eq!(fixture.read(async |tx| tx.api_keys_find(hash).await).await, Some(revoked));
}

/// A list goes from the newest back, page by page, and leaves no key out.
pub async fn api_keys_are_listed_newest_first(fixture: &Fixture) {
    let mut keys = vec![];
    for role in [Role::Shop, Role::Owner] {
        keys.push(put(fixture, role).await.0);
    }
    let ended = ApiKey {
        id: fixture.id(ApiKeyId::new),
        expires_at: Some(fixture.ago(1)),
        revoked_at: Some(fixture.ago(2)),
        ..keys[0].clone()
    };
    fixture.write(async |tx| tx.api_keys_put(&ended, fixture.bytes()).await).await;
    let first = fixture.read(async |tx| tx.api_keys_list(None, 2).await).await;
    assert_eq!(first, [ended, keys[1].clone()]);
    let rest = fixture.read(async |tx| tx.api_keys_list(Some(keys[1].id), 2).await).await;
    assert_eq!(rest, [keys[0].clone()]);
}

/// What is known of a key stays as it was learned first.
pub async fn keyring_is_learned_once(fixture: &Fixture) {
    let check = |key: &str, usage: &str| KeyCheck {
        key: key.to_owned(),
        usage: usage.to_owned(),
        value: fixture.bytes(),
    };
    let known = [check("a-1", "wrap"), check("b-1", "fingerprint"), check("c-1", "token")];
    assert_eq!(fixture.read(async |tx| tx.key_checks_read().await).await, []);
    fixture.write(async |tx| tx.key_checks_put(&known).await).await;
    fixture.write(async |tx| tx.key_checks_put(&[check("a-1", "wrap")]).await).await;
    let mut read = fixture.read(async |tx| tx.key_checks_read().await).await;
    read.sort_by(|a, b| a.key.cmp(&b.key));
    assert_eq!(read, known);
}

/// The audit log takes entries with a reason and without, one like the other too.
pub async fn audit_log_takes_entries(fixture: &Fixture) {
    let entry = |reason: Option<&str>| AuditEntry {
        actor: "cli".to_owned(),
        action: "codes.import".to_owned(),
        subject: "card".to_owned(),
        reason: reason.map(str::to_owned),
    };
    let entries = [entry(None), entry(Some("new stock")), entry(None)];
    fixture.write(async |tx| tx.audit_append(&entries).await).await;
    fixture.write(async |tx| tx.audit_append(&entries).await).await;
}
