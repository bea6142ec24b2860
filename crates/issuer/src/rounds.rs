//! Rounds of raffles: opened as they are sold, drawn when it is time, called off by an operator.

use std::sync::Arc;

use tessera_model::coupon::Format;
use tessera_model::draw::LedgerEntry;
use tessera_model::ids::{BatchId, ProductId};
use tessera_model::keys::{Keyring, Secret, WrappedKey, unwrap, wrap};
use tessera_model::product::{Product, Raffle};
use tessera_model::round::{NewRound, RaffleRoom, Turned};
use tessera_model::time::Timestamp;
use tessera_store::coupons::NewPool;
use tessera_store::rounds::{RoundToOpen, StoredRaffle};
use tessera_store::{Entropy, Result, StoreError, Tx};

mod beacon;
mod call_off;
mod draw;
mod go_on;
mod look;
mod pay_back;
mod prove;

pub use beacon::{BeaconOutcome, keep_beacon};
pub(crate) use call_off::cancel;
pub use call_off::{CallOff, CallOffOutcome, call_off};
pub use draw::{Draw, DrawOutcome, proof};
pub use go_on::go_on;
pub(crate) use go_on::go_on_without;
pub use look::Draws;
pub use pay_back::{pay_back, pay_back_rest};
pub use prove::reconcile;

/// The table that a raffle's own key is wrapped for.
const RAFFLE: &str = "raffle";

/// What opening and drawing rounds takes: the keyring, and randomness for ids and keys.
#[derive(Clone)]
pub struct Mint {
    keyring: Arc<Keyring>,
    entropy: Arc<Entropy>,
}

impl Mint {
    /// A mint of these.
    pub fn new(keyring: &Arc<Keyring>, entropy: &Arc<Entropy>) -> Self {
        Self { keyring: Arc::clone(keyring), entropy: Arc::clone(entropy) }
    }

    /// A new raffle's own key.
    ///
    /// # Errors
    /// `Data` if it cannot be wrapped.
    pub fn raffle_key(&self, product: ProductId) -> Result<WrappedKey> {
        self.wrapped(RAFFLE, product.uuid().as_bytes())
    }

    /// A new coupon format's own key.
    ///
    /// # Errors
    /// `Data` if it cannot be wrapped.
    pub fn format_key(&self, format: &Format) -> Result<WrappedKey> {
        self.wrapped("coupon_format", format.as_str().as_bytes())
    }

    /// A pool of these many indexes of a format, from `start` on, about to be written.
    ///
    /// # Errors
    /// `Data` if its key cannot be wrapped.
    pub fn pool(
        &self,
        product: ProductId,
        format: &Format,
        (start, size): (i64, i64),
        expires_at: Option<Timestamp>,
        now: Timestamp,
    ) -> Result<NewPool> {
        let id = BatchId::new(now, self.bytes());
        let (format, key) = (format.clone(), self.batch_key(id)?);
        Ok(NewPool { id, product, format, start, size, key, expires_at })
    }

    /// A new batch's own key.
    ///
    /// # Errors
    /// `Data` if it cannot be wrapped.
    pub fn batch_key(&self, batch: BatchId) -> Result<WrappedKey> {
        self.wrapped("batch", batch.uuid().as_bytes())
    }

    /// Random bytes, for an id.
    pub fn bytes<const N: usize>(&self) -> [u8; N] {
        self.entropy.bytes()
    }

    /// A raffle as a set decides on it. `None` for a product that is none.
    ///
    /// # Errors
    /// `Data` when its key does not open.
    pub fn room(
        &self,
        stored: StoredRaffle,
        product: &Product,
        now: Timestamp,
    ) -> Result<Option<RaffleRoom>> {
        let Some(raffle) = product.rules.kind.raffle() else { return Ok(None) };
        let entropy = Arc::clone(&self.entropy);
        Ok(Some(RaffleRoom {
            product: product.id,
            sku: product.rules.sku.clone(),
            raffle: Raffle::clone(raffle),
            active: product.rules.active,
            secret: self.secret(product.id, &stored.key)?,
            last: stored.last,
            round: stored.round,
            ids: Box::new(move || BatchId::new(now, entropy.bytes())),
        }))
    }

    /// A round with what the store needs to open it.
    ///
    /// # Errors
    /// `Data` if its batch's key cannot be wrapped.
    pub fn to_open(&self, round: NewRound, turned: Option<Turned>) -> Result<RoundToOpen> {
        Ok(RoundToOpen { key: self.batch_key(round.id)?, round, turned })
    }

    /// A raffle's own key.
    pub(crate) fn secret(&self, product: ProductId, key: &WrappedKey) -> Result<Secret> {
        unwrap(&self.keyring, RAFFLE, product.uuid().as_bytes(), key)
            .map_err(|e| StoreError::Data(e.to_string()))
    }

    fn wrapped(&self, table: &str, id: &[u8]) -> Result<WrappedKey> {
        let secret = Secret::new(self.entropy.bytes());
        wrap(&self.keyring, table, id, &secret, self.entropy.bytes())
            .map_err(|e| StoreError::Data(e.to_string()))
    }
}

/// Who has which shares of a round, as its proof says it.
async fn ledger(tx: &mut dyn Tx, round: BatchId) -> Result<Vec<LedgerEntry>> {
    let shares = tx.rounds_shares(round).await?;
    Ok(shares.into_iter().map(|share| LedgerEntry::new(share.order, share.start, share.upto)).collect())
}
