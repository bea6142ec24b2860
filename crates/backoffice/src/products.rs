//! Products: apply what an operator says of them.

use std::collections::HashMap;
use std::sync::Arc;

use tessera_issuer::Mint;
use tessera_model::coupon::Format;
use tessera_model::ids::ProductId;
use tessera_model::product::{CannotChange, Product, ProductRules};
use tessera_model::text::Sku;
use tessera_store::operators::AuditEntry;
use tessera_store::{Store, StoreError, run_alone};

mod made;

/// What applying did with one product.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Applied {
    /// The product as it is now.
    pub product: Product,
    /// Whether it is new.
    pub created: bool,
}

/// Why nothing was applied.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ApplyError {
    /// One sku twice.
    #[error("the sku {0} is given twice: give each product once")]
    Repeated(Sku),
    /// Something fixed would change.
    #[error("product {sku}: {why}")]
    Fixed {
        /// Which product.
        sku: Sku,
        /// What would change.
        why: CannotChange,
    },
    /// A format whose codes could be another format's.
    #[error("product {sku}: a code of its format could be one of {other}: use a format of another shape")]
    Collides {
        /// Which product.
        sku: Sku,
        /// The other format.
        other: Format,
    },
    /// More codes than a format has without being guessed.
    #[error(
        "product {sku}: {format} has {free} codes left if one in a million guesses is to be a code: use a format with more X"
    )]
    TooMany {
        /// Which product.
        sku: Sku,
        /// Its format.
        format: Format,
        /// How many more it may give out.
        free: i64,
    },
    /// The store could not.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Creates products or replaces what is said of them, all or none, with an audit entry each.
///
/// # Errors
/// [`ApplyError`] names the product; nothing was changed.
pub async fn apply(
    store: &Arc<dyn Store>,
    mint: &Mint,
    rules: Vec<ProductRules>,
    actor: String,
) -> Result<Vec<Applied>, ApplyError> {
    for (n, one) in rules.iter().enumerate() {
        if rules[..n].iter().any(|other| other.sku == one.sku) {
            return Err(ApplyError::Repeated(one.sku.clone()));
        }
    }
    let (store, mint) = (Arc::clone(store), mint.clone());
    run_alone(async move {
        let mut tx = store.begin().await?;
        let coupons = rules.iter().any(|rules| rules.kind.coupon().is_some());
        // Before the stock: whoever opens pools of a format waits here for whoever does already.
        let formats = if coupons { tx.formats_lock().await? } else { vec![] };
        let skus: Vec<Sku> = rules.iter().map(|r| r.sku.clone()).collect();
        let known: HashMap<Sku, Product> =
            tx.products_of(&skus).await?.into_iter().map(|p| (p.rules.sku.clone(), p)).collect();
        let ids: Vec<ProductId> = known.values().map(|p| p.id).collect();
        tx.stock_lock(&ids).await?;
        // Asked only where the answer decides: it is a look through all customers, with the stock locked.
        let asked: Vec<ProductId> = rules
            .iter()
            .filter_map(|new| known.get(&new.sku).filter(|old| old.rules.may_become(new, true).is_err()))
            .map(|product| product.id)
            .collect();
        let mut sold = if asked.is_empty() { vec![] } else { tx.products_sold(&asked).await? };
        let other_kind: Vec<ProductId> = rules.iter().filter_map(|new| other_kind(&known, new)).collect();
        if !other_kind.is_empty() {
            // Codes that are there cannot be sold as another kind, whether or not any was sold.
            sold.extend(tx.products_stocked(&other_kind).await?);
        }
        let fixed = rules.iter().find_map(|new| {
            let old = known.get(&new.sku)?;
            let why = old.rules.may_become(new, sold.contains(&old.id)).err()?;
            Some(ApplyError::Fixed { sku: new.sku.clone(), why })
        });
        if let Some(error) = fixed {
            return Ok(Err(error));
        }
        let now = tx.now();
        let applied: Vec<Applied> = rules
            .into_iter()
            .map(|rules| {
                let old = known.get(&rules.sku).map(|p| p.id);
                let id = old.unwrap_or_else(|| ProductId::new(now, mint.bytes()));
                Applied { product: Product { id, rules }, created: old.is_none() }
            })
            .collect();
        let products: Vec<Product> = applied.iter().map(|a| a.product.clone()).collect();
        tx.products_put(&products).await?;
        made::raffles(&mut *tx, &mint, &products).await?;
        if let Err(refused) = made::coupons(&mut *tx, &mint, &products, (&known, &actor), formats).await? {
            return Ok(Err(refused));
        }
        let entry = |product: &Product| AuditEntry {
            actor: actor.clone(),
            action: "product.apply".to_owned(),
            subject: product.rules.sku.to_string(),
            reason: None,
        };
        tx.audit_append(&products.iter().map(entry).collect::<Vec<_>>()).await?;
        tx.commit().await?;
        Ok(Ok(applied))
    })
    .await?
}

/// A product that is to become one of another kind.
fn other_kind(known: &HashMap<Sku, Product>, new: &ProductRules) -> Option<ProductId> {
    let old = known.get(&new.sku)?;
    (old.rules.kind.as_str() != new.kind.as_str()).then_some(old.id)
}
