//! The envelope: keys of batches wrapped by the keyring, codes sealed by keys of batches.

use chacha20poly1305::aead::{Aead, Payload};
use chacha20poly1305::{KeyInit, XChaCha20Poly1305, XNonce};

use super::{KeyId, KeyUse, Keyring, Secret, mac};
use crate::ids::BatchId;
use crate::permutation::Permutation;

/// `nonce ‖ ciphertext ‖ tag`, XChaCha20-Poly1305 with a random 24-byte nonce.
pub type Sealed = Vec<u8>;

const NONCE_BYTES: usize = 24;

/// A random key as it is stored: wrapped by a key of the keyring.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrappedKey {
    /// Which key wrapped it.
    pub key: KeyId,
    /// The wrapped bytes.
    pub bytes: Sealed,
}

/// What cannot be opened: another key, another place, or bytes that were changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unsealable {
    /// The keyring lacks the key.
    #[error("the keyring has no wrapping key {0}: add it from a backup of the keyring")]
    NoKey(KeyId),
    /// The bytes do not open under the key at this place.
    #[error("a sealed value does not open: it was changed, or the keyring is another one")]
    Changed,
}

/// Wraps a random key for the row `id` of `table` under the active wrapping key.
///
/// # Errors
/// [`Unsealable::Changed`] if the cipher refuses, which it does only for lengths that do not occur here.
pub fn wrap(
    keyring: &Keyring,
    table: &str,
    id: &[u8],
    secret: &Secret,
    nonce: [u8; NONCE_BYTES],
) -> Result<WrappedKey, Unsealable> {
    let key = keyring.active(KeyUse::Wrap);
    let bytes = seal(&key.secret, &place(table, id), nonce, secret.bytes())?;
    Ok(WrappedKey { key: key.id.clone(), bytes })
}

/// Opens a wrapped key of the row `id` of `table`.
///
/// # Errors
/// [`Unsealable`] when the keyring lacks the key or the bytes do not open.
pub fn unwrap(keyring: &Keyring, table: &str, id: &[u8], wrapped: &WrappedKey) -> Result<Secret, Unsealable> {
    let key = keyring
        .get(wrapped.key.as_str(), KeyUse::Wrap)
        .ok_or_else(|| Unsealable::NoKey(wrapped.key.clone()))?;
    let bytes = open(&key.secret, &place(table, id), &wrapped.bytes)?;
    bytes.try_into().map(Secret::new).map_err(|_| Unsealable::Changed)
}

/// The keys derived from a batch's own key.
pub struct BatchKeys {
    batch: BatchId,
    sealing: XChaCha20Poly1305,
    ordering: [u8; 32],
}

impl BatchKeys {
    /// Derives them.
    pub fn new(batch: BatchId, secret: &Secret) -> Self {
        let sealing = XChaCha20Poly1305::new(&mac(secret, &[b"tessera seal 1"]).into());
        Self { batch, sealing, ordering: mac(secret, &[b"tessera order 1"]) }
    }

    /// Seals the code at `position`; it opens nowhere else.
    ///
    /// # Errors
    /// [`Unsealable::Changed`] if the cipher refuses, which it does only for lengths that do not occur here.
    pub fn seal(&self, position: i64, code: &[u8], nonce: [u8; NONCE_BYTES]) -> Result<Sealed, Unsealable> {
        seal_with(&self.sealing, &self.code_place(position), nonce, code)
    }

    /// Opens the code at `position`.
    ///
    /// # Errors
    /// [`Unsealable::Changed`] when it was sealed elsewhere or changed.
    pub fn open(&self, position: i64, sealed: &[u8]) -> Result<Vec<u8>, Unsealable> {
        open_with(&self.sealing, &self.code_place(position), sealed)
    }

    /// The order in which a batch of `size` gives out its codes when it picks at random.
    pub fn permutation(&self, size: i64) -> Permutation {
        Permutation::new(&self.ordering, size)
    }

    fn code_place(&self, position: i64) -> Vec<u8> {
        let mut place = self.batch.uuid().as_bytes().to_vec();
        place.extend(position.to_be_bytes());
        place
    }
}

fn place(table: &str, id: &[u8]) -> Vec<u8> {
    [table.as_bytes(), b"\0", id].concat()
}

fn seal(secret: &Secret, place: &[u8], nonce: [u8; NONCE_BYTES], text: &[u8]) -> Result<Sealed, Unsealable> {
    seal_with(&XChaCha20Poly1305::new(secret.bytes().into()), place, nonce, text)
}

fn open(secret: &Secret, place: &[u8], sealed: &[u8]) -> Result<Vec<u8>, Unsealable> {
    open_with(&XChaCha20Poly1305::new(secret.bytes().into()), place, sealed)
}

fn seal_with(
    cipher: &XChaCha20Poly1305,
    place: &[u8],
    nonce: [u8; NONCE_BYTES],
    text: &[u8],
) -> Result<Sealed, Unsealable> {
    let payload = Payload { msg: text, aad: place };
    let sealed = cipher.encrypt(&XNonce::from(nonce), payload).map_err(|_| Unsealable::Changed)?;
    Ok([nonce.as_slice(), &sealed].concat())
}

fn open_with(cipher: &XChaCha20Poly1305, place: &[u8], sealed: &[u8]) -> Result<Vec<u8>, Unsealable> {
    let (nonce, sealed) = sealed.split_first_chunk::<NONCE_BYTES>().ok_or(Unsealable::Changed)?;
    let payload = Payload { msg: sealed, aad: place };
    cipher.decrypt(&XNonce::from(*nonce), payload).map_err(|_| Unsealable::Changed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Timestamp;

    fn ring(n: u8) -> Keyring {
        Keyring::generate("x", [[n; 32], [2; 32], [3; 32]]).unwrap()
    }

    #[test]
    fn a_code_opens_only_at_its_own_position() {
        let batch = BatchId::new(Timestamp::from_micros(1), [1; 10]);
        let keys = BatchKeys::new(batch, &Secret::new([9; 32]));
        let sealed = keys.seal(5, b"ABCD", [1; 24]).unwrap();
        assert_eq!(keys.open(5, &sealed).unwrap(), b"ABCD");
        assert_eq!(keys.open(6, &sealed), Err(Unsealable::Changed));
        let other = BatchKeys::new(BatchId::new(Timestamp::from_micros(1), [2; 10]), &Secret::new([9; 32]));
        assert_eq!(other.open(5, &sealed), Err(Unsealable::Changed));
        assert_eq!(keys.open(5, b"short"), Err(Unsealable::Changed));
    }

    #[test]
    fn a_wrapped_key_opens_only_in_its_row_and_under_its_keyring() {
        let secret = Secret::new([9; 32]);
        let wrapped = wrap(&ring(1), "batch", b"id", &secret, [4; 24]).unwrap();
        assert_eq!(unwrap(&ring(1), "batch", b"id", &wrapped).unwrap(), secret);
        assert_eq!(unwrap(&ring(1), "batch", b"di", &wrapped), Err(Unsealable::Changed));
        assert_eq!(unwrap(&ring(2), "batch", b"id", &wrapped), Err(Unsealable::Changed));
        let unknown = WrappedKey { key: KeyId::parse("other").unwrap(), ..wrapped };
        assert!(matches!(unwrap(&ring(1), "batch", b"id", &unknown), Err(Unsealable::NoKey(_))));
    }
}
