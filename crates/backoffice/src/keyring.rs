//! Whether a process has the keyring that the store was made with.

use std::collections::HashMap;
use std::sync::Arc;

use tessera_model::keys::{Key, KeyUse, Keyring};
use tessera_store::operators::KeyCheck;
use tessera_store::{Result, Store, StoreError, run_alone};

/// How a keyring stands to a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyringStanding {
    /// Every key the store knows is in it. Keys the store does not know yet are listed.
    Fits {
        /// Ids of keys that are new to the store.
        new: Vec<String>,
    },
    /// The store was used with keys that this keyring lacks, or has otherwise.
    Differs {
        /// Ids of keys that are missing.
        missing: Vec<String>,
        /// Ids of keys whose secret is another one, or of the fingerprint key that is no longer the active one.
        other: Vec<String>,
    },
}

/// Compares a keyring with what the store knows of it.
///
/// # Errors
/// The store's.
pub async fn compare(store: &Arc<dyn Store>, keyring: &Keyring) -> Result<KeyringStanding> {
    let reader = Arc::clone(store);
    let known = run_alone(async move { reader.snapshot().await?.key_checks_read().await }).await?;
    Ok(standing(&known, keyring))
}

fn standing(known: &[KeyCheck], keyring: &Keyring) -> KeyringStanding {
    let ours: HashMap<&str, &Key> = keyring.keys().iter().map(|k| (k.id.as_str(), k)).collect();
    let missing: Vec<String> =
        known.iter().filter(|c| !ours.contains_key(c.key.as_str())).map(|c| c.key.clone()).collect();
    // Codes are recognised under one fingerprint key: another active one would put sold codes on sale again.
    let fingerprint = keyring.active(KeyUse::Fingerprint).id.as_str();
    let differs = |c: &&KeyCheck| {
        let other = ours.get(c.key.as_str()).is_some_and(|k| k.check_value() != c.value);
        other || (c.usage == KeyUse::Fingerprint.as_str() && c.key != fingerprint)
    };
    let other: Vec<String> = known.iter().filter(differs).map(|c| c.key.clone()).collect();
    if missing.is_empty() && other.is_empty() {
        let is_new = |id: &&&str| !known.iter().any(|c| c.key == **id);
        let mut new: Vec<String> = ours.keys().filter(is_new).map(|id| (*id).to_owned()).collect();
        new.sort();
        return KeyringStanding::Fits { new };
    }
    KeyringStanding::Differs { missing, other }
}

/// Whether the store was ever used with a keyring.
///
/// # Errors
/// The store's.
pub async fn store_has_keys(store: &Arc<dyn Store>) -> Result<bool> {
    let store = Arc::clone(store);
    run_alone(async move { Ok(!store.snapshot().await?.key_checks_read().await?.is_empty()) }).await
}

/// The lease whose row is locked while keys are learnt.
const LEARNING: &str = "keyring";

/// Teaches the store the keys of a keyring that fits.
///
/// # Errors
/// The store's; `Data` when the keyring does not fit, so that no key is learnt over another.
pub async fn learn(store: &Arc<dyn Store>, keyring: &Keyring) -> Result<()> {
    let checks: Vec<KeyCheck> = keyring
        .keys()
        .iter()
        .map(|key| KeyCheck {
            key: key.id.to_string(),
            usage: key.usage.as_str().to_owned(),
            value: key.check_value(),
        })
        .collect();
    let (store, ring) = (Arc::clone(store), keyring.clone());
    run_alone(async move {
        let mut tx = store.begin().await?;
        // Processes that start together learn one after the other: a lease's row is one that can be locked
        // before the keys are there.
        tx.lease_take(LEARNING, [0; 16], LEARNING, tx.now()).await?;
        match standing(&tx.key_checks_read().await?, &ring) {
            KeyringStanding::Fits { .. } => {
                tx.key_checks_put(&checks).await?;
                // Whoever waits for the row goes on when this commits; the row itself has served.
                tx.lease_release(LEARNING, [0; 16]).await?;
                tx.commit().await
            }
            KeyringStanding::Differs { .. } => {
                Err(StoreError::Data("the keyring is not the store's".to_owned()))
            }
        }
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;
    use tessera_model::keys::{KeyId, KeyState, Secret};

    fn checks(keyring: &Keyring) -> Vec<KeyCheck> {
        let check = |key: &Key| KeyCheck {
            key: key.id.to_string(),
            usage: key.usage.as_str().to_owned(),
            value: key.check_value(),
        };
        keyring.keys().iter().map(check).collect()
    }

    #[test]
    fn a_keyring_fits_the_store_that_learnt_it_and_no_other() {
        let ring = Keyring::generate("x", [[1; 32], [2; 32], [3; 32]]).expect("a keyring");
        let other = Keyring::generate("x", [[4; 32], [2; 32], [3; 32]]).expect("a keyring");
        assert_eq!(standing(&checks(&ring), &ring), KeyringStanding::Fits { new: vec![] });
        let differs = KeyringStanding::Differs { missing: vec![], other: vec!["w-x".to_owned()] };
        assert_eq!(standing(&checks(&ring), &other), differs);
    }

    #[test]
    fn another_active_fingerprint_key_does_not_fit_for_it_would_sell_sold_codes_again() {
        let ring = Keyring::generate("x", [[1; 32], [2; 32], [3; 32]]).expect("a keyring");
        let mut keys = ring.keys().to_vec();
        for key in keys.iter_mut().filter(|k| k.usage == KeyUse::Fingerprint) {
            key.state = KeyState::Retired;
        }
        let id = KeyId::parse("f-2").expect("an id");
        let secret = Secret::new([5; 32]);
        keys.push(Key { id, usage: KeyUse::Fingerprint, state: KeyState::Active, secret });
        let rotated = Keyring::new(keys).expect("a keyring");
        let differs = KeyringStanding::Differs { missing: vec![], other: vec!["f-x".to_owned()] };
        assert_eq!(standing(&checks(&ring), &rotated), differs);
    }
}
