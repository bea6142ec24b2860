//! Tokens, fingerprints and hashes of keys: values made with a secret that are compared, never opened.

use data_encoding::BASE64URL_NOPAD;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use super::{KeyUse, Keyring, mac};
use crate::ids::OrderId;

/// A buyer's proof for one order: `keyid.HMAC(key, order id, epoch)`, base64url. Not stored, never logged.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl Token {
    /// The token of an order at an epoch, under the active key.
    pub fn issue(keyring: &Keyring, order: OrderId, epoch: i32) -> Self {
        let key = keyring.active(KeyUse::Token);
        Self(format!("{}.{}", key.id, BASE64URL_NOPAD.encode(&proof(&key.secret, order, epoch))))
    }

    /// Whether `text` is the order's token at `epoch`, under any key the keyring still has.
    ///
    /// Takes the same time wherever the difference is.
    pub fn verify(keyring: &Keyring, text: &str, order: OrderId, epoch: i32) -> bool {
        let Some((id, rest)) = text.split_once('.') else { return false };
        let Some(key) = keyring.get(id, KeyUse::Token) else { return false };
        let Ok(given) = BASE64URL_NOPAD.decode(rest.as_bytes()) else { return false };
        given.ct_eq(&proof(&key.secret, order, epoch)).into()
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token(…)")
    }
}

fn proof(secret: &super::Secret, order: OrderId, epoch: i32) -> [u8; 32] {
    mac(secret, &[b"tessera token 1", order.uuid().as_bytes(), &epoch.to_be_bytes()])
}

/// What recognises a code without revealing it: 16 bytes of HMAC, unique across the whole store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint([u8; 16]);

impl Fingerprint {
    /// The fingerprint of a code's canonical bytes under the active key.
    pub fn of(keyring: &Keyring, canonical: &[u8]) -> Self {
        let full = mac(&keyring.active(KeyUse::Fingerprint).secret, &[b"tessera code 1", canonical]);
        let mut short = [0; 16];
        short.copy_from_slice(&full[..16]);
        Self(short)
    }

    /// These stored bytes.
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// The bytes.
    pub const fn bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

/// What is stored of an operator's key: its SHA-256. The key has 32 random bytes, so a slow hash adds nothing.
pub fn api_key_hash(key: &str) -> [u8; 32] {
    Sha256::digest(key.as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Timestamp;

    #[test]
    fn a_token_is_good_for_its_order_and_epoch_alone() {
        let ring = Keyring::generate("x", [[1; 32], [2; 32], [3; 32]]).unwrap();
        let order = OrderId::new(Timestamp::from_micros(1), [1; 10]);
        let token = Token::issue(&ring, order, 0);
        assert!(token.as_str().len() >= 20);
        assert!(Token::verify(&ring, token.as_str(), order, 0));
        assert!(!Token::verify(&ring, token.as_str(), order, 1), "revoked by raising the epoch");
        let other = OrderId::new(Timestamp::from_micros(1), [2; 10]);
        assert!(!Token::verify(&ring, token.as_str(), other, 0));
        for bad in ["", ".", "x", "t-x.", "zz.AAAA", &token.as_str()[..token.as_str().len() - 1]] {
            assert!(!Token::verify(&ring, bad, order, 0), "{bad}");
        }
    }

    #[test]
    fn fingerprints_tell_codes_and_keys_apart() {
        let ring = Keyring::generate("x", [[1; 32], [2; 32], [3; 32]]).unwrap();
        let other = Keyring::generate("x", [[1; 32], [4; 32], [3; 32]]).unwrap();
        assert_eq!(Fingerprint::of(&ring, b"A"), Fingerprint::of(&ring, b"A"));
        assert_ne!(Fingerprint::of(&ring, b"A"), Fingerprint::of(&ring, b"B"));
        assert_ne!(Fingerprint::of(&ring, b"A"), Fingerprint::of(&other, b"A"));
    }
}
