//! Tokens, fingerprints and hashes of keys: values made with a secret that are compared, never opened.

use data_encoding::BASE64URL_NOPAD;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use super::{KeyUse, Keyring, mac};
use crate::ids::OrderId;

/// A buyer's proof for one order: `keyid.epoch.HMAC(key, order id, epoch)`, base64url. Not stored, never
/// logged. The epoch is written in it so that a forgery is known before the database is asked.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl Token {
    /// The token of an order at an epoch, under the active key.
    pub fn issue(keyring: &Keyring, order: OrderId, epoch: i32) -> Self {
        let key = keyring.active(KeyUse::Token);
        let proof = BASE64URL_NOPAD.encode(&proof(&key.secret, order, epoch));
        Self(format!("{}.{epoch}.{proof}", key.id))
    }

    /// The epoch of a token of this order, made under any key the keyring still has; none for a forgery.
    ///
    /// Good only while the order has that epoch. Takes the same time wherever the difference is.
    pub fn verify(keyring: &Keyring, text: &str, order: OrderId) -> Option<i32> {
        let (id, rest) = text.split_once('.')?;
        let (epoch, given) = rest.split_once('.')?;
        let key = keyring.get(id, KeyUse::Token)?;
        let epoch = epoch.parse().ok()?;
        let given = BASE64URL_NOPAD.decode(given.as_bytes()).ok()?;
        bool::from(given.ct_eq(&proof(&key.secret, order, epoch))).then_some(epoch)
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
        assert_eq!(Token::verify(&ring, token.as_str(), order), Some(0));
        let other = OrderId::new(Timestamp::from_micros(1), [2; 10]);
        assert_eq!(Token::verify(&ring, token.as_str(), other), None);
        let raised = token.as_str().replacen(".0.", ".1.", 1);
        let cut = &token.as_str()[..token.as_str().len() - 1];
        for bad in ["", ".", "x", "t-x.", "t-x.0.", "zz.0.AAAA", &raised, cut] {
            assert_eq!(Token::verify(&ring, bad, order), None, "{bad}");
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
