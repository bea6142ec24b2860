//! Who vouches for `customer.id`: limits per customer are worth what this is worth.
//!
//! Without proof whoever orders names the customer, and a limit of one a customer is one a name. With `key` the
//! merchant's own servers order, by a key of role `shop`. With `jwt` the buyer's page orders, with a token that the
//! merchant signed for one customer (RFC 7519, JWS compact form of RFC 7515): by a shared secret (HS256), or by a key of
//! which we have the public half (RS256, ES256, EdDSA with Ed25519). Which one it is, the configuration says alone.

use axum::extract::FromRequestParts;
use axum::http::HeaderMap;
use axum::http::request::Parts;
use data_encoding::{BASE64, BASE64URL_NOPAD};
use hmac::{Hmac, KeyInit, Mac};
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256, UnparsedPublicKey, VerificationAlgorithm,
};
use serde_json::Value;
use sha2::Sha256;
use subtle::ConstantTimeEq;
use tessera_model::text::CustomerId;
use tessera_model::time::Timestamp;
use tessera_store::operators::Role;

use crate::app::App;
use crate::problem::{Problem, Slug};
use crate::routes::request::bearer;
use crate::routes::{admin, request};

#[cfg(test)]
mod tests;

/// Bytes of the longest token that is looked at.
const JWT_BYTES_MAX: usize = 4_096;

/// Bytes of the shortest secret: those of the hash (RFC 7518, section 3.2).
const SECRET_BYTES_MIN: usize = 32;

/// What stands before a key in its `SubjectPublicKeyInfo` (RFC 8410, RFC 5480), for the two kinds of curves that are taken.
const ED25519_SPKI: &[u8] = b"\x30\x2a\x30\x05\x06\x03\x2b\x65\x70\x03\x21\x00";
const P256_SPKI: &[u8] =
    b"\x30\x59\x30\x13\x06\x07\x2a\x86\x48\xce\x3d\x02\x01\x06\x08\x2a\x86\x48\xce\x3d\x03\x01\x07\x03\x42\x00";

/// What stands in that of RSA between its length and that of the key (RFC 3279, section 2.3.1): of 2 048 bits or more, both
/// lengths take three bytes.
const RSA_SPKI: &[u8] = b"\x30\x0d\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x01\x05\x00";

/// Bytes of such keys: a point compressed (RFC 8032), and one that is not (SEC 1).
const ED25519_BYTES: usize = 32;
const P256_BYTES: usize = 65;

/// How far the merchant's clock may be from ours, in seconds.
const LEEWAY_SECONDS: i64 = 60;

/// Who vouches for the customers of new orders.
#[derive(Clone, Debug, Default)]
pub enum CustomerProof {
    /// Nobody: whoever orders names the customer.
    #[default]
    None,
    /// The merchant's servers, by a key of role `shop`.
    Key,
    /// A token that the merchant signed for one customer.
    Jwt(JwtKey),
}

/// What the merchant's tokens are checked by. What a token says of itself never chooses how.
#[derive(Clone)]
pub struct JwtKey(Kind);

#[derive(Clone)]
enum Kind {
    Hs256(Vec<u8>),
    Es256(Vec<u8>),
    EdDsa(Vec<u8>),
    Rs256(Vec<u8>),
}

impl std::fmt::Debug for JwtKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "JwtKey({})", self.algorithm())
    }
}

/// For whom a request may order.
pub(crate) enum Vouched {
    Anybody,
    For(CustomerId),
}

impl Vouched {
    /// Refuses an order in the name of another customer than the one vouched for, both compared folded.
    pub(crate) fn permits(&self, customer: &CustomerId) -> Result<(), Problem> {
        match self {
            Self::For(sub) if sub.folded() != customer.folded() => Err(Problem::new(
                Slug::Forbidden,
                "the token is another customer's: customer.id has to be its `sub`",
            )),
            Self::Anybody | Self::For(_) => Ok(()),
        }
    }
}

impl FromRequestParts<App> for Vouched {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        app.proof.of(app, &parts.headers).await
    }
}

impl CustomerProof {
    /// For whom a request with these headers may order.
    async fn of(&self, app: &App, headers: &HeaderMap) -> Result<Vouched, Problem> {
        match self {
            Self::None => Ok(Vouched::Anybody),
            Self::Key => admin::key_of(app, headers, Role::Shop).await.map(|_| Vouched::Anybody),
            Self::Jwt(key) => {
                let token = bearer(headers).ok_or_else(|| {
                    Problem::no_key(
                        "no token was sent: send the one your shop signed as Authorization: Bearer TOKEN",
                    )
                })?;
                key.customer(token, app.now()).map(Vouched::For).map_err(Problem::no_key)
            }
        }
    }
}

impl JwtKey {
    /// A secret of HS256: its bytes are the key, as they are; none when they are too few.
    pub fn secret(text: &str) -> Option<Self> {
        (text.len() >= SECRET_BYTES_MIN).then(|| Self(Kind::Hs256(text.as_bytes().to_vec())))
    }

    /// A public key in PEM, `-----BEGIN PUBLIC KEY-----`, of RSA from 2 048 bits (RS256), P-256 (ES256) or Ed25519
    /// (EdDSA); none when it is no such.
    pub fn public(pem: &str) -> Option<Self> {
        let body = pem.split_once("-----BEGIN PUBLIC KEY-----")?.1.split_once("-----END PUBLIC KEY-----")?.0;
        let body: String = body.chars().filter(|c| !c.is_ascii_whitespace()).collect();
        let der = BASE64.decode(body.as_bytes()).ok()?;
        let key = |prefix: &[u8], length: usize| {
            der.strip_prefix(prefix).filter(|key| key.len() == length).map(<[u8]>::to_vec)
        };
        let ed25519 = key(ED25519_SPKI, ED25519_BYTES).map(Kind::EdDsa);
        let curve = ed25519.or_else(|| key(P256_SPKI, P256_BYTES).map(Kind::Es256));
        curve.or_else(|| rsa(&der).map(Kind::Rs256)).map(Self)
    }

    /// The one algorithm that its tokens are signed by.
    const fn algorithm(&self) -> &'static str {
        match self.0 {
            Kind::Hs256(_) => "HS256",
            Kind::Es256(_) => "ES256",
            Kind::EdDsa(_) => "EdDSA",
            Kind::Rs256(_) => "RS256",
        }
    }

    /// The customer of a token that holds at `now`, or why it does not.
    fn customer(&self, token: &str, now: Timestamp) -> Result<CustomerId, &'static str> {
        const FORM: &str = "the token is no JWT: send header.payload.signature";
        if token.len() > JWT_BYTES_MAX {
            return Err("the token is too long: sign no more than sub and exp");
        }
        let (signed, signature) = token.rsplit_once('.').ok_or(FORM)?;
        let (header, payload) = signed.split_once('.').ok_or(FORM)?;
        let header = part(header).ok_or(FORM)?;
        if header["alg"] != self.algorithm() {
            return Err("the token is not signed by the algorithm of this shop: see customers.proof");
        }
        // Whoever marks a header critical asks to be refused by those who do not know it.
        if header.get("crit").is_some() {
            return Err("the token has a critical header: leave it out");
        }
        let signature = BASE64URL_NOPAD.decode(signature.as_bytes()).map_err(|_| FORM)?;
        if !self.signed(signed, &signature) {
            return Err("the token's signature is not good: sign it with the key of this shop");
        }
        claims(&part(payload).ok_or(FORM)?, now)
    }

    /// Whether these bytes are the signature; of a secret, it takes the same time wherever they differ.
    fn signed(&self, text: &str, signature: &[u8]) -> bool {
        let by = |algorithm: &'static dyn VerificationAlgorithm, key: &Vec<u8>| {
            UnparsedPublicKey::new(algorithm, key).verify(text.as_bytes(), signature).is_ok()
        };
        match &self.0 {
            Kind::EdDsa(key) => by(&ED25519, key),
            Kind::Es256(key) => by(&ECDSA_P256_SHA256_FIXED, key),
            Kind::Rs256(key) => by(&RSA_PKCS1_2048_8192_SHA256, key),
            Kind::Hs256(secret) => {
                let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(secret) else { return false };
                mac.update(text.as_bytes());
                bool::from(mac.finalize().into_bytes().ct_eq(signature))
            }
        }
    }
}

/// The modulus and exponent of an RSA key (RFC 8017, appendix A.1.1); whether they are good, the first signature tells.
fn rsa(der: &[u8]) -> Option<Vec<u8>> {
    let key = sized(sized(der, 0x30)?.strip_prefix(RSA_SPKI)?, 0x03)?.strip_prefix(&[0])?;
    sized(key, 0x30).map(|_| key.to_vec())
}

/// What a value with this tag and a length of two bytes holds, if nothing follows it.
fn sized(der: &[u8], tag: u8) -> Option<&[u8]> {
    let [high, low, value @ ..] = der.strip_prefix(&[tag, 0x82])? else { return None };
    (value.len() == usize::from(u16::from_be_bytes([*high, *low]))).then_some(value)
}

/// Base64url of a JSON object in which no field is named twice.
fn part(text: &str) -> Option<Value> {
    let bytes = BASE64URL_NOPAD.decode(text.as_bytes()).ok()?;
    request::json(&bytes).ok().filter(Value::is_object)
}

/// The customer, if the token is in its time.
fn claims(payload: &Value, now: Timestamp) -> Result<CustomerId, &'static str> {
    let seconds = |name: &str| match payload.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(at) => at.as_i64().map(Some).ok_or("exp and nbf are whole seconds since 1970: write them so"),
    };
    let now = now.micros().div_euclid(1_000_000);
    let end = seconds("exp")?.ok_or("the token has no exp: sign one that ends")?;
    if now >= end.saturating_add(LEEWAY_SECONDS) {
        return Err("the token is past its exp: sign a new one");
    }
    if seconds("nbf")?.is_some_and(|begin| now < begin.saturating_sub(LEEWAY_SECONDS)) {
        return Err("the token is not good yet: see the clocks");
    }
    let sub = payload["sub"].as_str().ok_or("the token has no sub: sign the customer's id as it")?;
    CustomerId::parse(sub).map_err(|_| "the token's sub is no customer's id: sign 1 to 128 characters")
}
