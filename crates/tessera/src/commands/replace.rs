//! `tessera orders replace|reissue-link`.

use serde_json::json;
use tessera_backoffice::cards;
use tessera_issuer::Replacement;
use tessera_model::ids::OrderId;
use tessera_model::keys::Token;
use tessera_model::replace::{CannotReplace, Faulty};

use super::ACTOR;
use super::cards::id;
use super::void::reason;
use crate::Outcome;
use crate::cli::{ReissueLink, Replace};
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::shop::Shop;

pub(super) async fn replace(shop: &Shop, wanted: Replace, output: Output) -> Outcome {
    let order = id(&wanted.id, OrderId::parse, "order")?;
    let Replace { line, force, .. } = wanted;
    let faulty = Faulty { order, line, positions: wanted.position.into_iter().collect(), force };
    let wish = Replacement { faulty, actor: ACTOR.to_owned(), reason: reason(&wanted.reason)? };
    let positions = cards::replace(&shop.store, wish).await?.map_err(|why| match why {
        CannotReplace::NoOrder => Failure::not_found(why.to_string()),
        CannotReplace::NoLine(_) | CannotReplace::NoPosition { .. } | CannotReplace::Count => {
            Failure::usage(why.to_string())
        }
        CannotReplace::NotIssued(_)
        | CannotReplace::Replaced(_)
        | CannotReplace::Raffle
        | CannotReplace::NoStock { .. } => Failure::no(why.to_string()),
    })?;
    let body = json!({ "order_id": order.to_string(), "line": line, "positions": positions });
    output.print(&body, |_| {
        let positions: Vec<String> = positions.iter().map(ToString::to_string).collect();
        format!("line {line} of {order} has new codes at {}", positions.join(", "))
    })?;
    Ok(Exit::Done)
}

pub(super) async fn reissue_link(shop: &Shop, wanted: ReissueLink, output: Output) -> Outcome {
    let order = id(&wanted.id, OrderId::parse, "order")?;
    let reason = wanted.reason.as_deref().map(reason).transpose()?;
    let epoch = cards::reissue_link(&shop.store, order, ACTOR.to_owned(), reason).await?;
    let epoch = epoch.ok_or_else(|| Failure::not_found(format!("there is no order {order}")))?;
    let token = Token::issue(&shop.keyring, order, epoch);
    let body = json!({
        "id": order.to_string(), "token": token.as_str(), "links": { "self": format!("/v1/orders/{order}") },
    });
    output.print(&body, |_| {
        format!("order  {order}\ntoken  {}\nthe tokens of before are worth nothing now", token.as_str())
    })?;
    Ok(Exit::Done)
}
