//! Who vouches for customers.

use serde::Deserialize;
use tessera_api::{CustomerProof, JwtSecret};

use super::{Secret, Settings};
use crate::failure::Failure;

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Customers {
    proof: String,
    secret: Secret,
}

impl Settings {
    /// Who vouches for the customers of new orders.
    pub(crate) fn customer_proof(&self) -> Result<CustomerProof, Failure> {
        let Customers { proof, secret } = &self.customers;
        match (proof.as_str(), secret.expose()) {
            ("none", "") => Ok(CustomerProof::None),
            ("key", "") => Ok(CustomerProof::Key),
            ("none" | "key", _) => {
                Err(Failure::usage("customers.secret is given, and nothing is checked with it")
                    .with_remedy("set customers.proof to jwt, or leave the secret out"))
            }
            ("jwt", text) => JwtSecret::parse(text).map(CustomerProof::Jwt).ok_or_else(|| {
                Failure::usage("customers.secret is too short for tokens of customers")
                    .with_remedy("give at least 32 bytes, such as `openssl rand -base64 32` makes")
            }),
            _ => {
                Err(Failure::usage("customers.proof is none that is known")
                    .with_remedy("give none, key or jwt"))
            }
        }
    }
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
}
