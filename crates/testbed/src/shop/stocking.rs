//! What operators do: products and imports.

#![expect(clippy::unwrap_used, reason = "a verb that a test did not expect to fail fails the test")]

use std::time::Duration;

use async_trait::async_trait;
use tessera_backoffice::import::{self, Chunks, ImportError, Progress, Report, Request};
use tessera_backoffice::products;
use tessera_model::coupon::Format as CouponFormat;
use tessera_model::draw::EntropyRule;
use tessera_model::ids::{BatchId, ProductId};
use tessera_model::import::Format;
use tessera_model::money::{Currency, Money};
use tessera_model::product::{Coupon, Kind, ProductRules, Raffle};
use tessera_model::text::{ProductName, Sku};
use tessera_model::time::Timestamp;
use tessera_store::batches::Bought;

use super::Shop;

/// Bytes that an import is handed at a time: little, so that a file comes in many.
const CHUNK_BYTES: usize = 8_192;

/// A file that is in memory.
struct Text(Vec<u8>);

#[async_trait]
impl Chunks for Text {
    async fn next(&mut self) -> Result<Option<Vec<u8>>, String> {
        let rest = self.0.split_off(self.0.len().min(CHUNK_BYTES));
        let chunk = std::mem::replace(&mut self.0, rest);
        Ok((!chunk.is_empty()).then_some(chunk))
    }
}

impl Shop {
    /// Applies a product of 10.00 CNY with a hold of 15 minutes, and whatever `change` makes of it.
    pub async fn product(&self, sku: &str, change: impl FnOnce(&mut ProductRules)) -> ProductId {
        let mut rules = ProductRules::new(
            Sku::parse(sku).unwrap(),
            ProductName::parse(sku).unwrap(),
            Kind::Codes,
            Money::new(1_000, Currency::parse("CNY").unwrap()),
        );
        change(&mut rules);
        let applied = products::apply(&self.store, &self.mint(), vec![rules], "test".to_owned()).await;
        applied.unwrap()[0].product.id
    }

    /// Applies a raffle of 1.00 CNY a share whose draw follows at once, and whatever `change` makes of it.
    pub async fn raffle(&self, sku: &str, shares: i64, change: impl FnOnce(&mut Raffle)) -> ProductId {
        let mut raffle = Raffle {
            shares,
            first_number: 10_000_001,
            draw_after: Duration::ZERO,
            last_round: None,
            entropy_rule: EntropyRule::None,
        };
        change(&mut raffle);
        self.product(sku, |rules| {
            rules.kind = Kind::Raffle(raffle);
            rules.price.minor = 100;
        })
        .await
    }

    /// Applies a coupon for nothing, and whatever `change` makes of it.
    pub async fn coupon(
        &self,
        sku: &str,
        format: &str,
        count: i64,
        change: impl FnOnce(&mut ProductRules),
    ) -> ProductId {
        let format = CouponFormat::parse(format).unwrap();
        self.product(sku, |rules| {
            rules.kind = Kind::Coupon(Coupon { count, format, expires_at: None });
            rules.price.minor = 0;
            change(rules);
        })
        .await
    }

    /// Puts `count` new codes on sale; returns them in the order of the file.
    pub async fn stock(&self, sku: &str, count: usize) -> Vec<String> {
        let batch = self.reference();
        let codes: Vec<String> = (0..count).map(|n| format!("{sku}-{batch}-{n:05}")).collect();
        let report = self.import(sku, &codes.join("\n")).await;
        assert_eq!(usize::try_from(report.new).unwrap(), count);
        codes
    }

    /// Imports a file of lines.
    pub async fn import(&self, sku: &str, text: &str) -> Report {
        self.try_import(self.request(sku), text.as_bytes(), &|_| ()).await.unwrap()
    }

    /// What an import of lines asks for.
    pub fn request(&self, sku: &str) -> Request {
        Request {
            sku: Sku::parse(sku).unwrap(),
            layout: Format::Lines.into(),
            skip_malformed: false,
            patience: None,
            bought: Bought::default(),
            source: format!("{sku}.txt"),
            dry_run: false,
            actor: "test".to_owned(),
            reason: None,
        }
    }

    /// Imports whatever comes of it.
    ///
    /// # Errors
    /// Those of [`import::import`].
    pub async fn try_import(
        &self,
        request: Request,
        bytes: &[u8],
        watch: &(dyn Fn(Progress) + Send + Sync),
    ) -> Result<Report, ImportError> {
        self.import_from(request, &mut Text(bytes.to_vec()), watch).await
    }

    /// Imports from a source of the test's own.
    ///
    /// # Errors
    /// Those of [`import::import`].
    pub async fn import_from(
        &self,
        request: Request,
        chunks: &mut dyn Chunks,
        watch: &(dyn Fn(Progress) + Send + Sync),
    ) -> Result<Report, ImportError> {
        import::import(&self.store, &self.keyring, &self.entropy, request, chunks, watch).await
    }

    /// Says when the codes of a batch end.
    pub async fn expire_batch(&self, batch: BatchId, end: Timestamp) {
        let (id, end) = (self.home.literal(batch.uuid()), self.home.instant(end));
        self.operate(&format!("UPDATE batch SET expires_at = {end} WHERE id = {id}")).await;
    }
}
