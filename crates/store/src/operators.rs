//! What operators leave behind: audit entries, leases, keys.

use async_trait::async_trait;
use tessera_model::ids::ApiKeyId;
use tessera_model::time::Timestamp;

use crate::error::Result;

/// What someone did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditEntry {
    /// Who: a key's name, or `cli`.
    pub actor: String,
    /// What, such as `codes.import`.
    pub action: String,
    /// To what.
    pub subject: String,
    /// Why, if they said.
    pub reason: Option<String>,
}

/// Who holds a lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// A random id of the holder.
    pub holder: [u8; 16],
    /// What for, in words.
    pub purpose: String,
    /// Until when, unless it is renewed.
    pub expires_at: Timestamp,
}

/// What an operator's key allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Looks.
    Viewer,
    /// Acts.
    Operator,
    /// Acts, and gives out keys.
    Owner,
    /// A merchant's own servers: vouches for customers.
    Shop,
}

impl Role {
    /// Every role.
    pub const ALL: [Self; 4] = [Self::Viewer, Self::Operator, Self::Owner, Self::Shop];

    /// The word in SQL and JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Viewer => "viewer",
            Self::Operator => "operator",
            Self::Owner => "owner",
            Self::Shop => "shop",
        }
    }

    /// Reads the word.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|r| r.as_str() == text)
    }

    /// Whether a key of this role may do what `needed` may: an owner what an operator may, an operator what a viewer may.
    ///
    /// A shop's key stands beside them: it looks at nothing of the operators', and no person's key vouches for customers.
    pub const fn allows(self, needed: Self) -> bool {
        match (self, needed) {
            (Self::Shop, Self::Shop)
            | (Self::Owner, Self::Owner | Self::Operator | Self::Viewer)
            | (Self::Operator, Self::Operator | Self::Viewer)
            | (Self::Viewer, Self::Viewer) => true,
            (Self::Shop | Self::Viewer | Self::Operator, _) | (_, Self::Shop) => false,
        }
    }
}

/// An operator's key, without the key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiKey {
    /// Its id.
    pub id: ApiKeyId,
    /// What it allows.
    pub role: Role,
    /// Whose it is.
    pub name: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it ends.
    pub expires_at: Option<Timestamp>,
    /// When it was revoked.
    pub revoked_at: Option<Timestamp>,
}

impl ApiKey {
    /// Whether it may be used at `now`: neither revoked nor at its end.
    pub fn holds_at(&self, now: Timestamp) -> bool {
        self.revoked_at.is_none() && self.expires_at.is_none_or(|end| now < end)
    }
}

/// What the database knows of a key of the keyring.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyCheck {
    /// The key's id.
    pub key: String,
    /// Its use, in the word of `model::keys::KeyUse`.
    pub usage: String,
    /// A MAC of a fixed text under it.
    pub value: [u8; 16],
}

/// Operations for operators.
#[async_trait]
pub trait OperatorOps {
    /// Appends to the audit log.
    async fn audit_append(&mut self, entries: &[AuditEntry]) -> Result<()>;

    /// Takes or renews a lease until `until`, if it is free, run out or the holder's own; returns who holds
    /// it now.
    async fn lease_take(
        &mut self,
        name: &str,
        holder: [u8; 16],
        purpose: &str,
        until: Timestamp,
    ) -> Result<Lease>;

    /// The lease, if somebody holds it and it has not run out.
    async fn lease_read(&mut self, name: &str) -> Result<Option<Lease>>;

    /// Gives up a lease, if it is the holder's.
    async fn lease_release(&mut self, name: &str, holder: [u8; 16]) -> Result<()>;

    /// Stores a key under the hash of its text.
    async fn api_keys_put(&mut self, key: &ApiKey, hash: [u8; 32]) -> Result<()>;

    /// Keys, newest first.
    async fn api_keys_list(&mut self, before: Option<ApiKeyId>, limit: i64) -> Result<Vec<ApiKey>>;

    /// The key whose text has this hash, revoked and expired ones too.
    async fn api_keys_find(&mut self, hash: [u8; 32]) -> Result<Option<ApiKey>>;

    /// Revokes a key; false when there is none or it was revoked before.
    async fn api_keys_revoke(&mut self, id: ApiKeyId) -> Result<bool>;

    /// What is known of the keyring.
    async fn key_checks_read(&mut self) -> Result<Vec<KeyCheck>>;

    /// Learns keys of the keyring.
    async fn key_checks_put(&mut self, checks: &[KeyCheck]) -> Result<()>;
}
