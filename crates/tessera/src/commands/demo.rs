//! `tessera demo`: a shop to try out, filled when it is empty.

mod goods;

use std::sync::Arc;

use async_trait::async_trait;
use data_encoding::BASE32_NOPAD;
use tessera_backoffice::import::{Chunks, Request, import};
use tessera_backoffice::{api_keys, products};
use tessera_model::import::Format;
use tessera_model::text::Sku;
use tessera_store::batches::Bought;
use tessera_store::operators::Role;
use tessera_store::run_alone;

use super::ACTOR;
use crate::Outcome;
use crate::cli::Demo;
use crate::failure::Failure;
use crate::output::Output;
use crate::roles::{self, Listeners, Lock, Roles};
use crate::settings::{Overrides, Settings};
use crate::shop::{Missing, Shop, private_folder};

pub(super) fn overrides(demo: &Demo) -> Overrides {
    // Its engine is the embedded one, whatever the configuration of the shop beside it says.
    let mut overrides = vec![
        ("payments.test.enabled", "true".to_owned()),
        ("database.url", String::new()),
        ("broker.url", String::new()),
    ];
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
    let roles = Roles::of(&[], settings)?;
    let listeners = Listeners::bind(settings, &roles).await?;
    let listens = listeners.http().unwrap_or(settings.http.listen);
    let key = fill(&shop).await?;
    greet(&listens.to_string(), key.as_deref())?;
    roles::serve(settings, &shop, &roles, listeners).await
}

fn greet(listens: &str, key: Option<&str>) -> Result<(), Failure> {
    let shop = format!("http://{listens}");
    let key = key.map_or_else(String::new, |key| format!("\nthe operator's key, shown once: {key}\n"));
    Output::line(&format!(
        "a shop to try out: {shop}

  what it sells      {shop}/v1/products
  how to talk to it  {shop}/docs
{key}
order a card:

  curl -s {shop}/v1/orders -H 'Content-Type: application/json' \\
    -d '{{\"customer\":{{\"id\":\"you\"}},\"lines\":[{{\"sku\":\"iqiyi-month\",\"quantity\":1}}]}}'

and pay it, with the `id` and `token` of that answer in place of ID and TOKEN:

  curl -s {shop}/v1/orders/ID/pay -H 'Authorization: Bearer TOKEN' -H 'Prefer: wait=5' \\
    -H 'Content-Type: application/json' -d '{{\"provider\":\"test\"}}'
"
    ))
}

/// Fills an empty store; returns the operator's key, or none if there was nothing to fill.
///
/// The key is made last, so a store that has none, and no product but these, is one that a demo did not get to
/// the end of.
async fn fill(shop: &Shop) -> Result<Option<String>, Failure> {
    let products = goods::products().ok_or_else(|| Failure::no("the demo's products are wrong"))?;
    let skus: Vec<Sku> = products.iter().map(|p| p.sku.clone()).collect();
    let store = Arc::clone(&shop.store);
    let (keys, figures) = run_alone(async move {
        let mut tx = store.snapshot().await?;
        Ok((tx.api_keys_list(None, 1).await?, tx.stock_figures(None).await?))
    })
    .await?;
    if !keys.is_empty() || figures.iter().any(|f| !skus.contains(&f.sku)) {
        return Ok(None);
    }
    products::apply(&shop.store, &shop.mint(), products, ACTOR.to_owned())
        .await
        .map_err(|e| Failure::no(e.to_string()))?;
    let stocked = |sku: &Sku| figures.iter().any(|f| f.sku == *sku && f.stock.unissued > 0);
    for (sku, count) in skus.into_iter().zip(goods::STOCK).filter(|(sku, _)| !stocked(sku)) {
        let request = Request {
            sku,
            layout: Format::Lines.into(),
            skip_malformed: false,
            patience: None,
            bought: Bought::default(),
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
    Ok(Some(made.await?.text))
}

/// A file that was made here.
struct Made(Option<Vec<u8>>);

#[async_trait]
impl Chunks for Made {
    async fn next(&mut self) -> Result<Option<Vec<u8>>, String> {
        Ok(self.0.take())
    }
}
