//! `tessera orders export`.

use tessera_api::{ExportOf, Zone, orders_csv, orders_csv_header, orders_csv_of, timestamp};
use tessera_model::ids::OrderId;

use super::order_id;
use crate::Outcome;
use crate::cli::Export;
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::shop::Shop;

/// The years between which an order may have been placed, unless somebody says otherwise.
const ALWAYS: (&str, &str) = ("1970-01-02T00:00:00Z", "9999-12-31T00:00:00Z");

pub(super) async fn run(shop: &Shop, wanted: &Export, output: Output) -> Outcome {
    if output.is_json() {
        return Err(Failure::usage("an export is CSV").with_remedy("leave --json out"));
    }
    let zone = Zone::parse(&wanted.zone).ok_or_else(|| {
        Failure::usage(format!("--zone {} is no offset from UTC", wanted.zone))
            .with_remedy("give one such as +08:00")
    })?;
    if !wanted.id.is_empty() {
        return by_ids(shop, &wanted.id, zone).await;
    }
    let of = between(wanted, zone)?;
    print(&orders_csv_header())?;
    let mut before = None;
    while let Some((records, last)) = orders_csv(&shop.store, of, before).await? {
        print(&records)?;
        before = Some(last);
    }
    Ok(Exit::Done)
}

fn between(wanted: &Export, zone: Zone) -> Result<ExportOf, Failure> {
    let wrong = |name: &str, text: &str| {
        Failure::usage(format!("--{name} {text} is no day and no instant"))
            .with_remedy("give 2026-11-30 or 2026-11-30T08:00:00Z")
    };
    let from = match &wanted.from {
        Some(text) => zone.begin(text).ok_or_else(|| wrong("from", text))?,
        None => timestamp(ALWAYS.0).ok_or_else(|| wrong("from", ALWAYS.0))?,
    };
    let to = match &wanted.to {
        Some(text) => zone.end(text).ok_or_else(|| wrong("to", text))?,
        None => timestamp(ALWAYS.1).ok_or_else(|| wrong("to", ALWAYS.1))?,
    };
    Ok(ExportOf { from, to, zone })
}

/// Exactly these, in the order given; none if one of them is not there.
async fn by_ids(shop: &Shop, ids: &[String], zone: Zone) -> Outcome {
    let ids: Vec<OrderId> = ids.iter().map(|id| order_id(id)).collect::<Result<_, _>>()?;
    let records = orders_csv_of(&shop.store, ids, zone).await?;
    let records = records.map_err(|id| Failure::not_found(format!("there is no order {id}")))?;
    print(&orders_csv_header())?;
    print(&records)?;
    Ok(Exit::Done)
}

/// Records with their line endings, the last of which is the line's own.
fn print(records: &str) -> Result<(), Failure> {
    Output::line(records.strip_suffix('\n').unwrap_or(records))
}
