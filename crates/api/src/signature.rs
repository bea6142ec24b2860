//! Signatures of payment notices: Standard Webhooks, symmetric (`v1`).
//!
//! <https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md>

use data_encoding::BASE64;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use subtle::ConstantTimeEq;

/// Signatures of one notice that are looked at: old and new secrets while they are exchanged.
const SIGNATURES_MAX: usize = 16;

/// A shared secret: `whsec_` and base64 of 24 to 64 bytes.
#[derive(Clone)]
pub struct WebhookSecret(Vec<u8>);

impl std::fmt::Debug for WebhookSecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("WebhookSecret(…)")
    }
}

impl WebhookSecret {
    /// Reads it; none when it is not written so.
    pub fn parse(text: &str) -> Option<Self> {
        let bytes = BASE64.decode(text.strip_prefix("whsec_")?.as_bytes()).ok()?;
        (24..=64).contains(&bytes.len()).then_some(Self(bytes))
    }

    /// Whether one of the space-separated signatures is of `id.timestamp.body`.
    pub fn verify(&self, id: &str, timestamp: &str, body: &[u8], signatures: &str) -> bool {
        let Some(mac) = self.mac(id, timestamp, body) else { return false };
        // Computed once, however many signatures a stranger sends.
        let right = mac.finalize().into_bytes();
        signatures
            .split(' ')
            .take(SIGNATURES_MAX)
            .filter_map(|signature| signature.strip_prefix("v1,"))
            .filter_map(|signature| BASE64.decode(signature.as_bytes()).ok())
            .any(|signature| bool::from(right.ct_eq(signature.as_slice())))
    }

    /// The signature of `id.timestamp.body`.
    pub fn sign(&self, id: &str, timestamp: &str, body: &[u8]) -> String {
        let mac = self.mac(id, timestamp, body).map(|m| m.finalize().into_bytes());
        format!("v1,{}", BASE64.encode(mac.as_deref().unwrap_or_default()))
    }

    fn mac(&self, id: &str, timestamp: &str, body: &[u8]) -> Option<Hmac<Sha256>> {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).ok()?;
        for part in [id.as_bytes(), b".", timestamp.as_bytes(), b".", body] {
            mac.update(part);
        }
        Some(mac)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of the specification's reference libraries.
    #[test]
    fn the_published_example_verifies() {
        let secret = WebhookSecret::parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let (id, at, body) = ("msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", br#"{"test": 2432232314}"#);
        let signature = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";
        assert_eq!(secret.sign(id, at, body), signature);
        assert!(secret.verify(id, at, body, &format!("v1,AAAA v2,x {signature}")));
        assert!(!secret.verify(id, at, b"{}", signature));
        assert!(!secret.verify(id, "1614265331", body, signature));
        assert!(!secret.verify(id, at, body, ""));
    }

    #[test]
    fn a_few_signatures_are_looked_at_and_no_more() {
        let secret = WebhookSecret::parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let good = secret.sign("id", "1", b"{}");
        assert!(secret.verify("id", "1", b"{}", &format!("{}{good}", "v1,AAAA ".repeat(SIGNATURES_MAX - 1))));
        assert!(!secret.verify("id", "1", b"{}", &format!("{}{good}", "v1,AAAA ".repeat(SIGNATURES_MAX))));
    }

    #[test]
    fn short_and_odd_secrets_are_refused() {
        for bad in ["", "whsec_", "whsec_AAAA", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_!!!"] {
            assert!(WebhookSecret::parse(bad).is_none(), "{bad}");
        }
    }
}
