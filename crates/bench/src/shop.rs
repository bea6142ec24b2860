//! A shop on a store of its own, driven step by step without HTTP.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, bail};
use async_trait::async_trait;
use tessera_backoffice::import::{Chunks, Request, import};
use tessera_backoffice::products;
use tessera_issuer::Mint;
use tessera_issuer::rounds::reconcile;
use tessera_model::ids::{OrderId, PaymentId};
use tessera_model::import::Format;
use tessera_model::keys::Keyring;
use tessera_model::money::{Currency, Money};
use tessera_model::place::NewOrder;
use tessera_model::product::{Kind, ProductRules};
use tessera_model::text::{CustomerId, ProductName, Sku};
use tessera_model::time::Timestamp;
use tessera_orders::pay::{Incoming, Pay, PayOutcome, TestPayment};
use tessera_orders::place::{Place, PlaceOutcome};
use tessera_store::batches::Bought;
use tessera_store::{Clock, Entropy, SET_MAX, Store, run_set};

/// The machine's clock.
pub(crate) struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "a measurement happens now")]
    fn now(&self) -> Timestamp {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp::from_micros(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
    }
}

/// An open shop.
pub(crate) struct Shop {
    pub(crate) store: Arc<dyn Store>,
    keyring: Arc<Keyring>,
    entropy: Arc<Entropy>,
    clock: SystemClock,
}

impl Shop {
    /// A new shop in an empty store.
    pub(crate) async fn open(store: Arc<dyn Store>) -> anyhow::Result<Self> {
        store.migrate().await?;
        let entropy = Arc::new(Entropy::from_seed([7; 32]));
        let secrets = [entropy.bytes(), entropy.bytes(), entropy.bytes()];
        let keyring = Keyring::generate("bench", secrets).context("a keyring")?;
        Ok(Self { store, keyring: Arc::new(keyring), entropy, clock: SystemClock })
    }

    /// What opening rounds and pools takes.
    pub(crate) fn mint(&self) -> Mint {
        Mint::new(&self.keyring, &self.entropy)
    }

    /// A product with `count` imported codes.
    pub(crate) async fn product(&self, sku: &str, count: usize) -> anyhow::Result<()> {
        products::apply(&self.store, &self.mint(), vec![rules(sku)?], "bench".to_owned()).await?;
        let request = Request {
            sku: Sku::parse(sku)?,
            layout: Format::Lines.into(),
            skip_malformed: false,
            patience: None,
            bought: Bought::default(),
            source: "bench".to_owned(),
            dry_run: false,
            actor: "bench".to_owned(),
            reason: None,
        };
        let mut codes = Codes { prefix: sku.to_owned(), next: 0, count };
        let report = import(&self.store, &self.keyring, &self.entropy, request, &mut codes, &|_| {}).await?;
        anyhow::ensure!(report.new == u64::try_from(count)?, "not every code was imported");
        Ok(())
    }

    /// Places and pays `count` orders of `quantity`, ready to be issued.
    pub(crate) async fn paid(&self, sku: &str, count: usize, quantity: i64) -> anyhow::Result<Vec<OrderId>> {
        let mut paid = Vec::with_capacity(count);
        while paid.len() < count {
            let size = SET_MAX.min(count - paid.len());
            let set = (0..size).map(|_| self.order(sku, quantity)).collect::<anyhow::Result<Vec<_>>>()?;
            let ids: Vec<OrderId> = set.iter().map(|new| new.id).collect();
            for outcome in run_set(Arc::clone(&self.store), Arc::new(Place), set).await {
                if !matches!(outcome?, PlaceOutcome::Placed(_)) {
                    bail!("an order was refused");
                }
            }
            let set = ids.iter().map(|order| {
                let payment = PaymentId::new(self.clock.now(), self.entropy.bytes());
                Incoming::Test(TestPayment { payment, order: *order, epoch: 0 })
            });
            for outcome in run_set(Arc::clone(&self.store), Arc::new(Pay), set.collect()).await {
                if !matches!(outcome?, PayOutcome::Taken { .. }) {
                    bail!("a payment was refused");
                }
            }
            paid.extend(ids);
        }
        Ok(paid)
    }

    fn order(&self, sku: &str, quantity: i64) -> anyhow::Result<NewOrder> {
        let id = OrderId::new(self.clock.now(), self.entropy.bytes());
        let customer = CustomerId::parse(&format!("customer-{id}"))?;
        Ok(NewOrder::new(id, customer, None, vec![(Sku::parse(sku)?, quantity)], None)?)
    }

    /// Fails unless every balance holds: a fast way that is wrong is no way.
    pub(crate) async fn reconcile(&self) -> anyhow::Result<()> {
        let checks = reconcile(&mut *self.store.snapshot().await?).await?;
        anyhow::ensure!(checks.iter().all(|c| c.faults.is_empty()), "a balance is off: {checks:?}");
        Ok(())
    }
}

fn rules(sku: &str) -> anyhow::Result<ProductRules> {
    let price = Money::new(100, Currency::parse("CNY")?);
    Ok(ProductRules::new(Sku::parse(sku)?, ProductName::parse(sku)?, Kind::Codes, price))
}

/// A made-up file of codes, a chunk at a time.
struct Codes {
    prefix: String,
    next: usize,
    count: usize,
}

#[async_trait]
impl Chunks for Codes {
    async fn next(&mut self) -> Result<Option<Vec<u8>>, String> {
        let upto = self.count.min(self.next + 2_000);
        let lines = (self.next..upto).flat_map(|n| format!("{}-{n:08}\n", self.prefix).into_bytes());
        let chunk: Vec<u8> = lines.collect();
        self.next = upto;
        Ok((!chunk.is_empty()).then_some(chunk))
    }
}
