//! `tessera orders list|show|replace|refund|accept|cancel|export|reissue-link`.

use tessera_api::Deed;
use tessera_model::ids::OrderId;

use super::replace;
use crate::Outcome;
use crate::cli::Orders;
use crate::failure::Failure;
use crate::output::Output;
use crate::settings::Settings;
use crate::shop::{Missing, Shop};

mod deeds;
mod export;
mod list;
mod show;

pub(super) async fn run(settings: &Settings, command: Orders, output: Output) -> Outcome {
    let shop = Shop::open(settings, Missing::Refuse).await?;
    match command {
        Orders::List(wanted) => list::list(&shop, wanted, output).await,
        Orders::Show { id } => show::show(&shop, order_id(&id)?, output).await,
        Orders::Replace(wanted) => replace::replace(&shop, wanted, output).await,
        Orders::ReissueLink(wanted) => replace::reissue_link(&shop, wanted, output).await,
        Orders::Refund(wish) => deeds::run(&shop, Deed::Refund, &wish, output).await,
        Orders::Accept(wish) => deeds::run(&shop, Deed::Accept, &wish, output).await,
        Orders::Cancel(wish) => deeds::run(&shop, Deed::Cancel, &wish, output).await,
        Orders::Export(wanted) => export::run(&shop, &wanted, output).await,
    }
}

fn order_id(text: &str) -> Result<OrderId, Failure> {
    OrderId::parse(text).ok_or_else(|| {
        Failure::usage(format!("{text} is no order id")).with_remedy("`tessera orders list` shows them")
    })
}
