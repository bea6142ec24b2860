//! Keys: the keyring, the keys of batches, and what is made with them: sealed codes, fingerprints, tokens.
//!
//! Envelope encryption. Each batch has a random key of its own, stored wrapped by the keyring; from it are
//! derived the key that seals its codes and the key that orders them. Rotating the keyring re-wraps one row
//! per batch. Nothing here reads a file: the binary parses `keyring.toml` into a [`Keyring`].

mod envelope;
mod keyring;
mod token;

pub use envelope::{BatchKeys, Sealed, Unsealable, WrappedKey, unwrap, wrap};
pub use keyring::{Key, KeyId, KeyState, KeyUse, Keyring, KeyringFault, Secret};
pub use token::{Fingerprint, Token, api_key_hash};

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// HMAC-SHA256 of the parts, each behind its length, so that no two lists of parts collide.
pub(crate) fn mac(key: &Secret, parts: &[&[u8]]) -> [u8; 32] {
    // HMAC takes keys of any length (RFC 2104), so the alternative is never taken.
    let mut mac =
        Hmac::<Sha256>::new_from_slice(key.bytes()).unwrap_or_else(|_| Hmac::new(&Default::default()));
    for part in parts {
        mac.update(&u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes());
        mac.update(part);
    }
    mac.finalize().into_bytes().into()
}
