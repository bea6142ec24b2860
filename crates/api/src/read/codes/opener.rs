//! What turns a position of a batch into its code.

use tessera_model::coupon::Format;
use tessera_model::draw;
use tessera_model::import::CodeText;
use tessera_model::keys::{BatchKeys, Keyring, Secret, WrappedKey, unwrap};
use tessera_model::permutation::Permutation;
use tessera_model::product::Pick;
use tessera_store::batches::{BatchReading, CodeSource};
use tessera_store::{Result, StoreError};

/// The keys of a batch, opened.
pub(super) enum Opener {
    /// Codes are stored, in the order of the file unless another is said.
    Stored { keys: Box<BatchKeys>, order: Option<Permutation> },
    /// Codes are those of a format from an index on.
    Pool { format: Format, order: Permutation, start: i64 },
    /// Codes are the numbers of a round.
    Round { numbers: Permutation, first_number: i64 },
}

impl Opener {
    /// Opens what is needed to read the codes of a batch.
    pub(super) fn new(keyring: &Keyring, batch: &BatchReading) -> Result<Self> {
        Ok(match &batch.source {
            CodeSource::Stored => {
                let secret = opened(keyring, "batch", batch.id.uuid().as_bytes(), &batch.key)?;
                let keys = BatchKeys::new(batch.id, &secret);
                let order = match batch.pick {
                    Pick::Fifo => None,
                    Pick::Random => Some(keys.permutation(batch.size)),
                };
                Self::Stored { keys: Box::new(keys), order }
            }
            CodeSource::Pool { format, key, start } => {
                let secret = opened(keyring, "coupon_format", format.as_str().as_bytes(), key)?;
                let order = format.order(&secret);
                Self::Pool { format: format.clone(), order, start: *start }
            }
            CodeSource::Round { product, key, number, first_number } => {
                let secret = opened(keyring, "raffle", product.uuid().as_bytes(), key)?;
                let numbers = draw::numbering(&draw::seed_of(&secret, *number, batch.id), batch.size);
                Self::Round { numbers, first_number: *first_number }
            }
        })
    }

    /// Whether codes are the numbers of a round.
    pub(super) const fn is_round(&self) -> bool {
        matches!(self, Self::Round { .. })
    }

    /// Where the code at a position of the chain is stored, if it is stored at all.
    pub(super) fn stored_at(&self, position: i64) -> Option<i64> {
        match self {
            Self::Stored { order, .. } => Some(match order {
                Some(order) => order.of(position).unwrap_or(position),
                None => position,
            }),
            Self::Pool { .. } | Self::Round { .. } => None,
        }
    }

    /// The code at a position of the chain, as it is shown; `sealed` is what is stored there.
    pub(super) fn text(&self, position: i64, sealed: Option<&[u8]>) -> Result<String> {
        self.code(position, sealed).map(|code| code.text().to_string())
    }

    /// The same with its fields apart.
    pub(super) fn code(&self, position: i64, sealed: Option<&[u8]>) -> Result<CodeText> {
        let lost = || StoreError::inconsistent("code", "sealed");
        let plain = |text: String| CodeText::from_canonical(text.into_bytes()).ok();
        let code = match self {
            Self::Stored { keys, .. } => {
                let at = self.stored_at(position).ok_or_else(lost)?;
                let bytes = keys.open(at, sealed.ok_or_else(lost)?).map_err(|_| lost())?;
                CodeText::from_canonical(bytes).ok()
            }
            Self::Pool { format, order, start } => {
                start.checked_add(position).and_then(|index| format.code(order, index)).and_then(plain)
            }
            Self::Round { numbers, first_number } => {
                let number = numbers.of(position).and_then(|offset| first_number.checked_add(offset));
                number.and_then(|number| plain(number.to_string()))
            }
        };
        code.ok_or_else(lost)
    }
}

fn opened(keyring: &Keyring, table: &str, id: &[u8], key: &WrappedKey) -> Result<Secret> {
    unwrap(keyring, table, id, key).map_err(|e| StoreError::Data(e.to_string()))
}
