//! `tessera demo`: a shop to try out, filled when it is empty.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use data_encoding::BASE32_NOPAD;
use tessera_backoffice::import::{Chunks, Request, import};
use tessera_backoffice::{api_keys, products};
use tessera_model::import::Format;
use tessera_model::money::{Currency, Money};
use tessera_model::product::{Kind, Pick, ProductRules};
use tessera_model::text::{Note, ProductName, Sku};
use tessera_store::operators::Role;
use tessera_store::run_alone;

use super::ACTOR;
use crate::Outcome;
use crate::cli::Demo;
use crate::failure::Failure;
use crate::output::Output;
use crate::roles::{self, Lock};
use crate::settings::{Overrides, Settings};
use crate::shop::{Missing, Shop, private_folder};

/// Codes of the card, and places of the flash sale.
const STOCK: [usize; 2] = [5_000, 300];

pub(super) fn overrides(demo: &Demo) -> Overrides {
    let mut overrides = vec![("payments.test.enabled", "true".to_owned())];
    overrides.extend(demo.listen.map(|l| ("http.listen", l.to_string())));
    overrides.extend(demo.data.as_ref().map(|d| ("data_dir", d.display().to_string())));
    overrides
}

pub(super) async fn run(settings: &Settings) -> Outcome {
    if !settings.http.listen.ip().is_loopback() {
        return Err(Failure::usage("the demo takes test payments, so it listens on loopback addresses only")
            .with_remedy("give --listen 127.0.0.1:PORT, or use `tessera serve`"));
    }
    private_folder(&settings.data_dir)?;
    let _lock = Lock::take(&settings.data_dir)?;
    let shop = Shop::open(settings, Missing::Create).await?;
    let listener = roles::bind(settings).await?;
    let listens = listener.local_addr().unwrap_or(settings.http.listen);
    let key = if is_empty(&shop).await? { Some(fill(&shop).await?) } else { None };
    greet(&listens.to_string(), key.as_deref())?;
    roles::serve(settings, &shop, listener).await
}

fn greet(listens: &str, key: Option<&str>) -> Result<(), Failure> {
    let shop = format!("http://{listens}");
    let key = key.map_or_else(String::new, |key| format!("\nthe operator's key, shown once: {key}\n"));
    Output::line(&format!(
        "a shop to try out: {shop}

  what it sells    {shop}/v1/products
  how to talk to it {shop}/docs
{key}
buy a card:

  curl -s {shop}/v1/orders -H 'Content-Type: application/json' \\
    -d '{{\"customer\":{{\"id\":\"you\"}},\"lines\":[{{\"sku\":\"iqiyi-month\",\"quantity\":1}}]}}'

  curl -s {shop}/v1/orders/ID/pay -H 'Authorization: Bearer TOKEN' -H 'Prefer: wait=5' \\
    -H 'Content-Type: application/json' -d '{{\"provider\":\"test\"}}'
"
    ))
}

async fn is_empty(shop: &Shop) -> Result<bool, Failure> {
    let store = Arc::clone(&shop.store);
    let products = run_alone(async move { store.snapshot().await?.products_list(None, 1).await });
    Ok(products.await?.is_empty())
}

/// Fills an empty store; returns the operator's key.
async fn fill(shop: &Shop) -> Result<String, Failure> {
    let products = products().ok_or_else(|| Failure::no("the demo's products are wrong"))?;
    let skus: Vec<Sku> = products.iter().map(|p| p.sku.clone()).collect();
    products::apply(&shop.store, &shop.entropy, products, ACTOR.to_owned())
        .await
        .map_err(|e| Failure::no(e.to_string()))?;
    for (sku, count) in skus.into_iter().zip(STOCK) {
        let request = Request {
            sku,
            format: Format::Lines,
            source: "the demo".to_owned(),
            dry_run: false,
            actor: ACTOR.to_owned(),
            reason: None,
        };
        let codes = (0..count).map(|_| BASE32_NOPAD.encode(&shop.entropy.bytes::<10>()));
        let mut file = Made(Some(codes.flat_map(|code| format!("{code}\n").into_bytes()).collect()));
        import(&shop.store, &shop.keyring, &shop.entropy, request, &mut file, &|_| {})
            .await
            .map_err(|e| Failure::no(e.to_string()))?;
    }
    let made =
        api_keys::create(&shop.store, &shop.entropy, Role::Owner, "demo".to_owned(), None, ACTOR.to_owned());
    Ok(made.await?.text)
}

/// A file that was made here.
struct Made(Option<Vec<u8>>);

#[async_trait]
impl Chunks for Made {
    async fn next(&mut self) -> Result<Option<Vec<u8>>, String> {
        Ok(self.0.take())
    }
}

/// A card of seed 003 and a flash sale of seed 001.
fn products() -> Option<Vec<ProductRules>> {
    let price = |minor| Some(Money::new(minor, Currency::parse("CNY").ok()?));
    let card = ProductRules {
        sku: Sku::parse("iqiyi-month").ok()?,
        name: ProductName::parse("iQiyi, one month").ok()?,
        note: Note::parse("Redeem at iqiyi.com within a year.").ok()?,
        kind: Kind::Codes,
        price: price(1_990)?,
        hold: Duration::from_mins(15),
        max_per_order: Some(100),
        per_customer_limit: None,
        new_customers_only: false,
        open_orders_per_customer: Some(5),
        sale_starts_at: None,
        sale_ends_at: None,
        backorders: false,
        pick: Pick::Fifo,
        low_stock_at: Some(50),
        active: true,
    };
    let flash = ProductRules {
        sku: Sku::parse("flash-place").ok()?,
        name: ProductName::parse("A place at the workshop (one a person)").ok()?,
        note: Note::parse("Show the code at the door.").ok()?,
        price: price(9_900)?,
        hold: Duration::from_mins(1),
        max_per_order: Some(1),
        per_customer_limit: Some(1),
        open_orders_per_customer: Some(1),
        pick: Pick::Random,
        low_stock_at: None,
        ..card.clone()
    };
    Some(vec![card, flash])
}
