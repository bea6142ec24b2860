//! Tokens of customers: signed, in time, and read in one way alone.

use serde_json::json;

use super::*;

const SECRET: &str = "a secret of at least thirty-two bytes";

fn now() -> Timestamp {
    Timestamp::from_micros(1_000_000_000_000)
}

fn secret() -> JwtKey {
    JwtKey::secret(SECRET).unwrap()
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
fn the_mac_of_the_rfc_is_good() {
    let key = "AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow";
    let secret = JwtKey(Kind::Hs256(BASE64URL_NOPAD.decode(key.as_bytes()).unwrap()));
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
    assert!(JwtKey::secret(&"x".repeat(31)).is_none());
    assert!(JwtKey::secret(&"x".repeat(32)).is_some());
    assert!(!format!("{:?}", secret()).contains("secret of"));
}

fn pem(prefix: &[u8], key: &[u8]) -> String {
    let body = BASE64.encode(&[prefix, key].concat());
    format!("-----BEGIN PUBLIC KEY-----\n{}\n{}\n-----END PUBLIC KEY-----\n", &body[..20], &body[20..])
}

fn bytes(text: &str) -> Vec<u8> {
    BASE64URL_NOPAD.decode(text.as_bytes()).unwrap()
}

/// RFC 8037, appendix A.4, and RFC 7515, appendix A.3.
#[test]
fn the_public_keys_signatures_of_the_rfcs_are_good() {
    let ed25519 = pem(ED25519_SPKI, &bytes("11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"));
    let (x, y) =
        ("f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU", "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0");
    let p256 = pem(P256_SPKI, &[vec![4], bytes(x), bytes(y)].concat());
    for (pem, algorithm, text, signature) in [
        (
            ed25519,
            "EdDSA",
            "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc",
            "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg",
        ),
        (
            p256,
            "ES256",
            "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ",
            "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q",
        ),
    ] {
        let key = JwtKey::public(&pem).unwrap();
        assert_eq!(key.algorithm(), algorithm);
        assert!(key.signed(text, &bytes(signature)), "{algorithm}");
        assert!(!key.signed(&text[1..], &bytes(signature)) && !key.signed(text, &bytes(&signature[4..])));
    }
}

/// Made by openssl: a key of 2 048 bits and a token of it, and a key of 1 024.
#[test]
fn a_token_that_is_signed_by_rsa_is_good_and_a_short_key_is_none() {
    const KEY: &str = "MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAuevWQWPH85lVPSpB8D7U7e+hk0Hmd9aknvur+a7ji+KFFDSQKfFfz5Nl\
         LQpBbx+ObrHWPV85oQazLS+Ke1eRBZVi2r0x7ommqkMECy5auy8VUa45tHF1yKmHmA4V7opVMqrkWE2b7vJ9CazhNYUJwyBI0ScI\
         PlvDWp7ZJU9NswtUdsdwd6/hGNbhSNCgmdPPArkht9c5GvtbmpyDSIQBHO9hWcsbjagKIRl+03wjvgsaCoOboaGVQyt74Ft+bzS8\
         uxe88zSVlnlanscStK1kKPpHYapRD9/v9dOE6pxoL+wn8xup/ymhhe68D6VLggzwdT2yWCPwiHjphU04iLdqkQIDAQAB";
    const SHORT: &str = "MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQDYK9hx2dwOVUR3lQykA1d/mMdfQmU2ULLoNlZKOxqvhru+zYgNhHsPnoyC4Xy2\
         488FLxrL8qs7p6vJ77EN3qt3pzxGsi66MRtKf91pXNQMD1CaoXnxG1FKc+yViWsoOdddQP7jRixGWzpCN8sJaF+xA93JwLHuR47f\
         z2nWPnWbaQIDAQAB";
    const TOKEN: &str = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhbm4iLCJleHAiOjIwMDAwMDB9.gqThZ-hcE4tfBzxG9OFR6LmY1IkUhpfPYYKmmZBQ3i\
         Q2012CzZkYUMBjw_FM-kmYQyFTjHYDRgWkQo1OECWDDV9ybDdmTiQzkD7uqnkWVyxFheL26N33nqzxnGdtv57FGkhk1E_VKZ16pP\
         hNZB0NpuHVoL6eyeVZyoHWDVB-u3nOJOob-9XRhU2JR3XeI97EGM68txx6RdHiNm9Z0sJ-9zY6XzkCipnBj_7M9_sMKoAGomn2i9\
         dcEE_BJ1YOccAEqWahJ_GgetWNLK6WfkaDzTZEvnn-a0qWYbhV2FrBU-_6gGIc_6Vt48q1RF36lw_uXSRupeHZnO4lqRUb2E-o3A";
    let pem = |body: &str| format!("-----BEGIN PUBLIC KEY-----\n{body}\n-----END PUBLIC KEY-----\n");
    let key = JwtKey::public(&pem(KEY)).unwrap();
    assert_eq!(key.customer(TOKEN, now()).unwrap().given(), "ann");
    let (text, _) = TOKEN.rsplit_once('.').unwrap();
    assert!(key.customer(&TOKEN.replace(".gqTh", ".gqTi"), now()).is_err());
    assert!(key.customer(&format!("{text}."), now()).is_err());
    for other in [SHORT.to_owned(), KEY[..KEY.len() - 4].to_owned(), KEY.replacen("MIIBIj", "MIIBIz", 1)] {
        assert!(JwtKey::public(&pem(&other)).is_none(), "{other}");
    }
}

/// A public key is known to everybody: taken for a secret, it would let anybody sign.
#[test]
fn a_public_key_is_never_taken_for_a_secret() {
    let pair = ring::signature::Ed25519KeyPair::from_seed_unchecked(&[7; 32]).unwrap();
    let public = ring::signature::KeyPair::public_key(&pair).as_ref().to_vec();
    let key = JwtKey::public(&pem(ED25519_SPKI, &public)).unwrap();
    let payload = json!({ "sub": "ann", "exp": 2_000_000 });
    let text = [json!({ "alg": "EdDSA" }), payload.clone()]
        .map(|part| BASE64URL_NOPAD.encode(part.to_string().as_bytes()))
        .join(".");
    let good = format!("{text}.{}", BASE64URL_NOPAD.encode(pair.sign(text.as_bytes()).as_ref()));
    assert_eq!(key.customer(&good, now()).unwrap().given(), "ann");
    for secret in [public.clone(), pem(ED25519_SPKI, &public).into_bytes()] {
        let text = [json!({ "alg": "HS256" }), payload.clone()]
            .map(|part| BASE64URL_NOPAD.encode(part.to_string().as_bytes()))
            .join(".");
        let mut mac = Hmac::<Sha256>::new_from_slice(&secret).unwrap();
        mac.update(text.as_bytes());
        let forged = format!("{text}.{}", BASE64URL_NOPAD.encode(&mac.finalize().into_bytes()));
        assert!(key.customer(&forged, now()).is_err());
    }
    assert!(secret().customer(&good, now()).is_err());
    for bad in ["", "-----BEGIN PUBLIC KEY-----\n-----END PUBLIC KEY-----", &pem(ED25519_SPKI, &public[1..])]
    {
        assert!(JwtKey::public(bad).is_none(), "{bad}");
    }
}
