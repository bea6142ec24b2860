//! Who vouches for customers.

use serde::Deserialize;
use tessera_api::{CustomerProof, JwtKey};

use super::{Secret, Settings};
use crate::failure::Failure;

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Customers {
    proof: String,
    secret: Secret,
    public_key: String,
}

impl Settings {
    /// Who vouches for the customers of new orders.
    pub(crate) fn customer_proof(&self) -> Result<CustomerProof, Failure> {
        let Customers { proof, secret, public_key } = &self.customers;
        match (proof.as_str(), secret.expose(), public_key.as_str()) {
            ("none", "", "") => Ok(CustomerProof::None),
            ("key", "", "") => Ok(CustomerProof::Key),
            ("none" | "key", ..) => {
                Err(Failure::usage("customers.secret or public_key is given, and nothing is checked with it")
                    .with_remedy("set customers.proof to jwt, or leave both out"))
            }
            ("jwt", text, "") => JwtKey::secret(text).map(CustomerProof::Jwt).ok_or_else(|| {
                Failure::usage("customers.secret is too short for tokens of customers")
                    .with_remedy("give at least 32 bytes, such as `openssl rand -base64 32` makes")
            }),
            ("jwt", "", file) => public(file),
            ("jwt", ..) => Err(Failure::usage("customers.secret and public_key are both given")
                .with_remedy("give the one that tokens are signed for")),
            _ => {
                Err(Failure::usage("customers.proof is none that is known")
                    .with_remedy("give none, key or jwt"))
            }
        }
    }
}

fn public(file: &str) -> Result<CustomerProof, Failure> {
    let pem = std::fs::read_to_string(file)
        .map_err(|e| Failure::usage(format!("customers.public_key: {file} cannot be read: {e}")))?;
    JwtKey::public(&pem).map(CustomerProof::Jwt).ok_or_else(|| {
        Failure::usage(format!("customers.public_key: {file} is no public key that is taken")).with_remedy(
            "give PEM of an RSA (from 2048 bits), P-256 or Ed25519 key, as `openssl pkey -pubout` writes it",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::with_all;
    use super::*;

    fn proof(proof: &str, secret: &str) -> Result<CustomerProof, Failure> {
        let settings =
            with_all(&[("TESSERA_CUSTOMERS__PROOF", proof), ("TESSERA_CUSTOMERS__SECRET", secret)]);
        let settings = settings.unwrap();
        settings.check()?;
        settings.customer_proof()
    }

    #[test]
    fn a_proof_has_the_secret_that_it_needs_and_no_other() {
        let secret = "x".repeat(32);
        assert!(matches!(proof("none", ""), Ok(CustomerProof::None)));
        assert!(matches!(proof("key", ""), Ok(CustomerProof::Key)));
        assert!(matches!(proof("jwt", &secret), Ok(CustomerProof::Jwt(_))));
        let wrong =
            [("none", &*secret), ("key", &secret), ("jwt", ""), ("jwt", &secret[1..]), ("JWT", &secret)];
        for (word, given) in wrong {
            let failure = proof(word, given).unwrap_err();
            assert!(failure.remedy().is_some() && !failure.to_string().contains("xxx"), "{word}: {failure}");
        }
    }

    #[test]
    fn a_public_key_is_read_from_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let with = |text: &str, secret: &str| {
            let file = folder.path().join("shop.pem");
            std::fs::write(&file, text).unwrap();
            let file = file.display().to_string();
            let all = [
                ("TESSERA_CUSTOMERS__PROOF", "jwt"),
                ("TESSERA_CUSTOMERS__PUBLIC_KEY", &*file),
                ("TESSERA_CUSTOMERS__SECRET", secret),
            ];
            with_all(&all).unwrap().customer_proof()
        };
        // `openssl genpkey -algorithm ed25519 | openssl pkey -pubout`
        let key = "MCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=";
        let pem = format!("-----BEGIN PUBLIC KEY-----\n{key}\n-----END PUBLIC KEY-----\n");
        assert!(matches!(with(&pem, ""), Ok(CustomerProof::Jwt(_))));
        assert!(with(key, "").is_err());
        assert!(with(&pem, &"x".repeat(32)).is_err());
    }
}
