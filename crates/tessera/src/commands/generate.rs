//! `tessera codes generate`: one more pool of a coupon.

use tessera_backoffice::products::apply;
use tessera_model::product::{Coupon, Kind};

use super::codes::sku;
use super::{ACTOR, products};
use crate::Outcome;
use crate::cli::Generate;
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::shop::Shop;

/// A coupon's count says how many codes were asked for, so asking for more is saying a higher one.
pub(super) async fn generate(shop: &Shop, wanted: &Generate, output: Output) -> Outcome {
    let sku = sku(&wanted.sku)?;
    let found = products::one(&shop.store, sku.clone()).await?;
    let mut rules =
        found.ok_or_else(|| Failure::not_found(format!("there is no product {sku}")))?.product.rules;
    let Kind::Coupon(Coupon { count, .. }) = &mut rules.kind else {
        let why = format!("{sku} is of the kind {}: only coupons are generated", rules.kind.as_str());
        return Err(Failure::no(why).with_remedy("`tessera codes import` takes a file of codes"));
    };
    let more = || Failure::usage("so many codes do not fit").with_remedy("give a lower --count");
    *count = count.checked_add(wanted.count).ok_or_else(more)?;
    let total = *count;
    shop.bind_keys().await?;
    apply(&shop.store, &shop.mint(), vec![rules], ACTOR.to_owned()).await.map_err(products::refused)?;
    let said = serde_json::json!({ "sku": sku.as_str(), "generated": wanted.count, "count": total });
    output.print(&said, |_| format!("{} more codes of {sku} are on sale, {total} in all", wanted.count))?;
    Ok(Exit::Done)
}
