//! The keyring: the shop's own secrets, by id and use.

use zeroize::{Zeroize, ZeroizeOnDrop};

use super::mac;

/// 32 secret bytes, wiped when dropped and never printed.
#[derive(Clone, PartialEq, Eq, Zeroize, ZeroizeOnDrop)]
pub struct Secret([u8; 32]);

impl Secret {
    /// These bytes, drawn at random by the caller.
    pub const fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The bytes.
    pub const fn bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// The public name of a key: 1–32 of `a-z`, `0-9` and `-`. No `.`, for it ends the id in a token.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyId(String);

impl KeyId {
    /// Reads an id.
    pub fn parse(text: &str) -> Option<Self> {
        let fits = (1..=32).contains(&text.len());
        let allowed = text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
        (fits && allowed).then(|| Self(text.to_owned()))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for KeyId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// What a key is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum KeyUse {
    /// Wraps the keys of batches.
    Wrap,
    /// Recognises a code that is in stock already.
    Fingerprint,
    /// Signs buyers' tokens.
    Token,
}

impl KeyUse {
    /// Every use.
    pub const ALL: [Self; 3] = [Self::Wrap, Self::Fingerprint, Self::Token];

    /// The word in the file and in SQL.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Wrap => "wrap",
            Self::Fingerprint => "fingerprint",
            Self::Token => "token",
        }
    }

    /// Reads the word.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|u| u.as_str() == text)
    }
}

/// Whether a key makes new things or only reads old ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyState {
    /// Known, so that every process has it before it is used.
    Added,
    /// Makes new things. One per use.
    Active,
    /// Reads old things only.
    Retired,
}

impl KeyState {
    /// The word in the file.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Active => "active",
            Self::Retired => "retired",
        }
    }

    /// Reads the word.
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Added, Self::Active, Self::Retired].into_iter().find(|s| s.as_str() == text)
    }
}

/// One key.
#[derive(Clone, Debug)]
pub struct Key {
    /// Its public name.
    pub id: KeyId,
    /// What it is for.
    pub usage: KeyUse,
    /// Whether it makes new things.
    pub state: KeyState,
    /// The secret.
    pub secret: Secret,
}

impl Key {
    /// What the database holds of a key, to notice a process that has another one under the same id.
    pub fn check_value(&self) -> [u8; 16] {
        let mut short = [0; 16];
        short.copy_from_slice(&mac(&self.secret, &[b"tessera key check 1"])[..16]);
        short
    }
}

/// All keys of a shop. Has exactly one active key of each use.
#[derive(Clone, Debug)]
pub struct Keyring {
    keys: Vec<Key>,
    active: [usize; 3],
}

/// Keys that make no keyring.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyringFault {
    /// Two keys with one id.
    #[error("two keys have the id {0}: give each its own")]
    Repeated(KeyId),
    /// None or several active keys of a use.
    #[error("there are {count} active {} keys: exactly one has to be active", usage.as_str())]
    Active {
        /// The use.
        usage: KeyUse,
        /// How many are active.
        count: usize,
    },
}

impl Keyring {
    /// A keyring of these keys.
    ///
    /// # Errors
    /// [`KeyringFault`] when an id repeats or a use has not exactly one active key.
    pub fn new(keys: Vec<Key>) -> Result<Self, KeyringFault> {
        for (n, key) in keys.iter().enumerate() {
            if keys[..n].iter().any(|k| k.id == key.id) {
                return Err(KeyringFault::Repeated(key.id.clone()));
            }
        }
        let mut active = [0; 3];
        for (slot, usage) in active.iter_mut().zip(KeyUse::ALL) {
            let is = |k: &Key| k.usage == usage && k.state == KeyState::Active;
            let found: Vec<usize> = (0..keys.len()).filter(|n| is(&keys[*n])).collect();
            match found.as_slice() {
                [one] => *slot = *one,
                several => return Err(KeyringFault::Active { usage, count: several.len() }),
            }
        }
        Ok(Self { keys, active })
    }

    /// A new keyring with one key of each use, named after `label`.
    pub fn generate(label: &str, secrets: [[u8; 32]; 3]) -> Option<Self> {
        let keys = KeyUse::ALL.into_iter().zip(secrets).map(|(usage, secret)| {
            let id = KeyId::parse(&format!("{}-{label}", &usage.as_str()[..1]))?;
            Some(Key { id, usage, state: KeyState::Active, secret: Secret::new(secret) })
        });
        Self::new(keys.collect::<Option<Vec<_>>>()?).ok()
    }

    /// Every key.
    pub fn keys(&self) -> &[Key] {
        &self.keys
    }

    /// The key that makes new things of a use.
    pub fn active(&self, usage: KeyUse) -> &Key {
        let slot = match usage {
            KeyUse::Wrap => 0,
            KeyUse::Fingerprint => 1,
            KeyUse::Token => 2,
        };
        &self.keys[self.active[slot]]
    }

    /// The key with this id and use.
    pub fn get(&self, id: &str, usage: KeyUse) -> Option<&Key> {
        self.keys.iter().find(|k| k.id.as_str() == id && k.usage == usage)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(id: &str, usage: KeyUse, state: KeyState) -> Key {
        Key { id: KeyId::parse(id).unwrap(), usage, state, secret: Secret::new([1; 32]) }
    }

    #[test]
    fn a_keyring_needs_one_active_key_of_each_use_and_ids_of_their_own() {
        let ring = Keyring::generate("x", [[1; 32], [2; 32], [3; 32]]).unwrap();
        assert_eq!(ring.active(KeyUse::Token).id.as_str(), "t-x");
        let mut keys = ring.keys().to_vec();
        keys.push(key("w-2", KeyUse::Wrap, KeyState::Active));
        assert_eq!(Keyring::new(keys).unwrap_err(), KeyringFault::Active { usage: KeyUse::Wrap, count: 2 });
        let mut keys = ring.keys().to_vec();
        keys.push(key("t-x", KeyUse::Wrap, KeyState::Added));
        assert!(matches!(Keyring::new(keys), Err(KeyringFault::Repeated(_))));
    }

    #[test]
    fn secrets_are_not_printed() {
        assert!(!format!("{:?}", key("a", KeyUse::Wrap, KeyState::Added)).contains('1'));
    }
}
