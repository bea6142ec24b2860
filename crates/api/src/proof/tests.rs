//! Tokens of customers: signed, in time, and read in one way alone.

use serde_json::json;

use super::*;

const SECRET: &str = "a secret of at least thirty-two bytes";

fn now() -> Timestamp {
    Timestamp::from_micros(1_000_000_000_000)
}

fn secret() -> JwtSecret {
    JwtSecret::parse(SECRET).unwrap()
}

fn signed(header: &Value, payload: &Value) -> String {
    let text = [header, payload].map(|part| BASE64URL_NOPAD.encode(part.to_string().as_bytes())).join(".");
    let mut mac = Hmac::<Sha256>::new_from_slice(SECRET.as_bytes()).unwrap();
    mac.update(text.as_bytes());
    format!("{text}.{}", BASE64URL_NOPAD.encode(&mac.finalize().into_bytes()))
}

fn hs256(payload: &Value) -> String {
    signed(&json!({ "alg": "HS256", "typ": "JWT" }), payload)
}

fn customer(token: &str) -> Result<String, &'static str> {
    secret().customer(token, now()).map(|customer| customer.given().to_owned())
}

/// RFC 7515, appendix A.1: its key, and its token, whose payload has no sub.
#[test]
fn the_signature_of_the_rfc_is_good() {
    let key = "AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow";
    let secret = JwtSecret(BASE64URL_NOPAD.decode(key.as_bytes()).unwrap());
    let text = "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ";
    let signature = BASE64URL_NOPAD.decode(b"dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk").unwrap();
    assert!(secret.signed(text, &signature));
    assert!(!secret.signed(&text[1..], &signature));
    assert!(!secret.signed(text, &signature[1..]));
}

#[test]
fn a_token_vouches_for_its_sub_until_its_end_and_a_minute() {
    let at = |exp: i64| customer(&hs256(&json!({ "sub": "Ann", "exp": exp })));
    assert_eq!(at(1_000_001).as_deref(), Ok("Ann"));
    assert_eq!(at(1_000_000 - 59).as_deref(), Ok("Ann"), "clocks may be a minute apart");
    assert!(at(1_000_000 - 60).unwrap_err().contains("past its exp"));
    let begins = |nbf: i64| customer(&hs256(&json!({ "sub": "Ann", "exp": 2_000_000, "nbf": nbf })));
    assert!(begins(1_000_060).is_ok() && begins(1_000_061).is_err());
}

#[test]
fn what_a_token_says_of_its_algorithm_never_chooses_the_check() {
    let payload = json!({ "sub": "ann", "exp": 2_000_000 });
    for alg in ["none", "None", "hs256", "HS512", "RS256", "EdDSA", ""] {
        assert!(customer(&signed(&json!({ "alg": alg }), &payload)).is_err(), "{alg}");
    }
    assert!(customer(&signed(&json!({}), &payload)).is_err());
    assert!(customer(&signed(&json!({ "alg": "HS256", "crit": ["exp"] }), &payload)).is_err());
    let good = hs256(&payload);
    let (unsigned, _) = good.rsplit_once('.').unwrap();
    assert!(customer(&format!("{unsigned}.")).is_err());
}

#[test]
fn what_is_not_whole_vouches_for_nobody() {
    let good = hs256(&json!({ "sub": "ann", "exp": 2_000_000 }));
    assert!(customer(&good).is_ok());
    for (at, _) in good.char_indices() {
        assert!(customer(&good[..at]).is_err(), "cut at {at}");
    }
    for bad in [
        json!({ "exp": 2_000_000 }),
        json!({ "sub": "ann" }),
        json!({ "sub": "", "exp": 2_000_000 }),
        json!({ "sub": 7, "exp": 2_000_000 }),
        json!({ "sub": "ann", "exp": "2000000" }),
        json!({ "sub": "ann", "exp": 2_000_000, "nbf": "now" }),
        json!([]),
    ] {
        assert!(customer(&hs256(&bad)).is_err(), "{bad}");
    }
    let long = hs256(&json!({ "sub": "ann", "exp": 2_000_000, "more": "x".repeat(JWT_BYTES_MAX) }));
    assert!(customer(&long).is_err());
}

#[test]
fn a_secret_has_the_bytes_of_the_hash_and_is_not_printed() {
    assert!(JwtSecret::parse(&"x".repeat(31)).is_none());
    assert!(JwtSecret::parse(&"x".repeat(32)).is_some());
    assert!(!format!("{:?}", secret()).contains("secret of"));
}
