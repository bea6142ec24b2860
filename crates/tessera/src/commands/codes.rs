//! `tessera codes`; what moves stock is in files of its own.

use tessera_model::text::Sku;

use super::{cards, export, generate, import, void};
use crate::Outcome;
use crate::cli::Codes;
use crate::failure::Failure;
use crate::output::Output;
use crate::settings::Settings;
use crate::shop::{Missing, Shop};

pub(super) async fn run(settings: &Settings, command: Codes, output: Output) -> Outcome {
    let shop = Shop::open(settings, Missing::Refuse).await?;
    match command {
        Codes::Import(wanted) => import::import(&shop, &wanted, output).await,
        Codes::Generate(wanted) => generate::generate(&shop, &wanted, output).await,
        Codes::Export(wanted) => export::export(&shop, &wanted, output).await,
        Codes::Batches(wanted) => cards::batches(&shop, &wanted, output).await,
        Codes::Ledger(wanted) => cards::ledger(&shop, &wanted, output).await,
        Codes::Void(wanted) => void::run(&shop, wanted, output).await,
        Codes::Stock { sku } => cards::stock(&shop, sku.as_deref(), output).await,
    }
}

pub(super) fn sku(text: &str) -> Result<Sku, Failure> {
    Sku::parse(text).map_err(|e| Failure::usage(format!("the sku {e}")))
}
