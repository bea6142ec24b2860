//! Audit, leases and keys. See [`OperatorOps`].

use async_trait::async_trait;
use tessera_model::ids::ApiKeyId;
use tessera_model::time::Timestamp;
use tessera_store::operators::{ApiKey, AuditEntry, KeyCheck, Lease, OperatorOps, Role};
use tessera_store::{Result, StoreError};

use crate::encode::{At, before, column};
use crate::row::Fields;
use crate::tx::PostgresTx;

const AUDIT: &str = "\
    INSERT INTO audit (at, actor, action, subject, reason)
    SELECT $5, actor, action, subject, reason
    FROM unnest($1::text[], $2::text[], $3::text[], $4::text[])
        WITH ORDINALITY AS j(actor, action, subject, reason, n) ORDER BY n";
const TAKE: &str = "\
    INSERT INTO lease (name, holder, purpose, expires_at) VALUES ($1, $2, $3, $4)
    ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, purpose = excluded.purpose,
        expires_at = excluded.expires_at
    WHERE lease.holder = excluded.holder OR lease.expires_at <= $5";
const LEASE: &str = "SELECT holder, purpose, expires_at FROM lease WHERE name = $1";
const RELEASE: &str = "DELETE FROM lease WHERE name = $1 AND holder = $2";
const KEY_PUT: &str = "\
    INSERT INTO api_key (id, hash, role, name, created_at, expires_at, revoked_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7)";
macro_rules! key_columns {
    () => {
        "SELECT id, role, name, created_at, expires_at, revoked_at FROM api_key "
    };
}
const KEYS: &str = concat!(key_columns!(), "WHERE id < ", before!("$1"), " ORDER BY id DESC LIMIT $2");
const KEY_FIND: &str = concat!(key_columns!(), "WHERE hash = $1");
const KEY_REVOKE: &str = "UPDATE api_key SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL";
const CHECKS: &str = "SELECT key_id, key_use, value FROM key_check ORDER BY key_id";
const CHECKS_PUT: &str = "\
    INSERT INTO key_check (key_id, key_use, value, seen_at)
    SELECT key_id, key_use, value, $4 FROM unnest($1::text[], $2::text[], $3::bytea[]) AS j(key_id, key_use, value)
    ORDER BY key_id COLLATE \"C\" ON CONFLICT DO NOTHING";

fn lease(fields: &Fields<'_>) -> Result<Lease> {
    Ok(Lease {
        holder: fields.bytes("holder")?,
        purpose: fields.get("purpose")?,
        expires_at: fields.time("expires_at")?,
    })
}

fn api_key(fields: &Fields<'_>) -> Result<ApiKey> {
    Ok(ApiKey {
        id: fields.id("id", ApiKeyId::from_uuid)?,
        role: fields.parse("role", Role::parse)?,
        name: fields.get("name")?,
        created_at: fields.time("created_at")?,
        expires_at: fields.optional_time("expires_at")?,
        revoked_at: fields.optional_time("revoked_at")?,
    })
}

#[async_trait]
impl OperatorOps for PostgresTx {
    async fn audit_append(&mut self, entries: &[AuditEntry]) -> Result<()> {
        let append = sqlx::query(AUDIT)
            .bind(column(entries, |e| e.actor.as_str()))
            .bind(column(entries, |e| e.action.as_str()))
            .bind(column(entries, |e| e.subject.as_str()))
            .bind(column(entries, |e| e.reason.as_deref()))
            .bind(self.at());
        self.execute(append).await.map(drop)
    }

    async fn lease_take(
        &mut self,
        name: &str,
        holder: [u8; 16],
        purpose: &str,
        until: Timestamp,
    ) -> Result<Lease> {
        let take = sqlx::query(TAKE)
            .bind(name.to_owned())
            .bind(holder)
            .bind(purpose.to_owned())
            .bind(At(until))
            .bind(self.at());
        self.execute(take).await?;
        let row = self.one(sqlx::query(LEASE).bind(name.to_owned())).await?;
        let row = row.ok_or_else(|| StoreError::inconsistent("lease", "name"))?;
        lease(&Fields::of(&row, "lease"))
    }

    async fn lease_read(&mut self, name: &str) -> Result<Option<Lease>> {
        let row = self.one(sqlx::query(LEASE).bind(name.to_owned())).await?;
        let held = row.map(|row| lease(&Fields::of(&row, "lease"))).transpose()?;
        Ok(held.filter(|l| l.expires_at > self.time()))
    }

    async fn lease_release(&mut self, name: &str, holder: [u8; 16]) -> Result<()> {
        self.execute(sqlx::query(RELEASE).bind(name.to_owned()).bind(holder)).await.map(drop)
    }

    async fn api_keys_put(&mut self, key: &ApiKey, hash: [u8; 32]) -> Result<()> {
        let put = sqlx::query(KEY_PUT)
            .bind(key.id.uuid())
            .bind(hash)
            .bind(key.role.as_str())
            .bind(key.name.clone())
            .bind(At(key.created_at))
            .bind(key.expires_at.map(At))
            .bind(key.revoked_at.map(At));
        self.execute(put).await.map(drop)
    }

    async fn api_keys_list(&mut self, before: Option<ApiKeyId>, limit: i64) -> Result<Vec<ApiKey>> {
        let list = sqlx::query(KEYS).bind(before.map(ApiKeyId::uuid)).bind(limit);
        self.read(list, "api_key", api_key).await
    }

    async fn api_keys_find(&mut self, hash: [u8; 32]) -> Result<Option<ApiKey>> {
        let row = self.one(sqlx::query(KEY_FIND).bind(hash)).await?;
        row.map(|row| api_key(&Fields::of(&row, "api_key"))).transpose()
    }

    async fn api_keys_revoke(&mut self, id: ApiKeyId) -> Result<bool> {
        let revoke = sqlx::query(KEY_REVOKE).bind(id.uuid()).bind(self.at());
        self.execute(revoke).await.map(|changed| changed == 1)
    }

    async fn key_checks_read(&mut self) -> Result<Vec<KeyCheck>> {
        self.read(sqlx::query(CHECKS), "key_check", |f| {
            Ok(KeyCheck { key: f.get("key_id")?, usage: f.get("key_use")?, value: f.bytes("value")? })
        })
        .await
    }

    async fn key_checks_put(&mut self, checks: &[KeyCheck]) -> Result<()> {
        let put = sqlx::query(CHECKS_PUT)
            .bind(column(checks, |c| c.key.as_str()))
            .bind(column(checks, |c| c.usage.as_str()))
            .bind(column(checks, |c| c.value))
            .bind(self.at());
        self.execute(put).await.map(drop)
    }
}
