//! `tessera orders export`.

use tessera_testbed::program::{Program, Receipt};

use super::{card, empty};

/// The records of an export, without the header, each split at its commas.
async fn export(program: &Program, more: &[&str]) -> Vec<Vec<String>> {
    let ended = program.command(&[&["orders", "export"], more].concat()).await;
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let mut records = ended.stdout.split_terminator("\r\n");
    let header = records.next().unwrap();
    assert!(
        header.starts_with("order_id,status,customer_id,lines,quantity,currency,amount_minor,"),
        "{header}"
    );
    records.map(|record| record.split(',').map(ToOwned::to_owned).collect()).collect()
}

fn ids(records: &[Vec<String>]) -> Vec<&str> {
    records.iter().map(|record| record[0].as_str()).collect()
}

async fn placed(count: usize) -> (Program, Vec<Receipt>) {
    let program = empty().await;
    program.products(&card("card")).await;
    program.stock("card", count).await;
    let server = program.serve().await;
    let client = program.client();
    let mut orders = vec![];
    for n in 0..count {
        let order = client.place(&format!("buyer-{n}"), &[("card", 1)]).await.unwrap().with_status(201);
        orders.insert(0, order.receipt());
    }
    client.pay_waiting(&orders[0], 5).await.unwrap().with_status(200).codes();
    assert_eq!(server.terminate().await.code, Some(0));
    (program, orders)
}

/// Case P109: there was no export of orders; its totals are those that are shown.
#[tokio::test]
async fn an_export_has_every_order_and_the_totals_that_are_shown() {
    let (program, orders) = placed(3).await;
    let exported = export(&program, &[]).await;
    let all: Vec<&str> = orders.iter().map(|order| order.id.as_str()).collect();
    assert_eq!(ids(&exported), all);
    let sum = |column: usize| exported.iter().map(|r| r[column].parse::<i64>().unwrap()).sum::<i64>();
    let shown = program.json(&["orders", "list"]).await;
    let amounts = shown["orders"].as_array().unwrap().iter().map(|o| o["amount"]["minor"].as_i64().unwrap());
    assert_eq!((sum(6), sum(7)), (amounts.sum(), 1_990));
    assert_eq!(
        exported[0][1..7],
        ["issued", "buyer-2", "1 x card", "1", "CNY", "1990"].map(ToOwned::to_owned)
    );
    program.close_stopped().await;
}

/// Case P103: fifteen rows were ticked, and fifteen others exported.
#[tokio::test]
async fn an_export_by_id_has_exactly_those() {
    let (program, orders) = placed(4).await;
    let wanted = [orders[2].id.as_str(), orders[0].id.as_str()];
    assert_eq!(ids(&export(&program, &["--id", wanted[0], "--id", wanted[1]]).await), wanted);
    let unknown = "01a22cc3-604b-726c-85a6-a678e1db2110";
    let ended = program.command(&["orders", "export", "--id", wanted[0], "--id", unknown]).await;
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(1), ""));
    assert!(ended.stderr.contains(unknown), "{}", ended.stderr);
    program.close_stopped().await;
}

/// A stretch of time has the zone of its days, and an order of now is in the day that holds now.
#[tokio::test]
async fn an_export_is_of_a_time_with_a_zone() {
    let (program, orders) = placed(1).await;
    let created =
        program.json(&["orders", "show", &orders[0].id]).await["created_at"].as_str().unwrap().to_owned();
    let (day, id) = (&created[..10], [orders[0].id.as_str()]);
    let exported = export(&program, &["--from", day, "--to", day]).await;
    assert_eq!((ids(&exported), exported[0][11].as_str()), (id.to_vec(), created.as_str()));
    assert_eq!(ids(&export(&program, &["--from", &created, "--zone", "+08:00"]).await), id);
    assert_eq!(ids(&export(&program, &["--to", &created]).await), [""; 0]);
    for wrong in [&["--zone", "Shanghai"][..], &["--from", "today"], &["--to", "2026-02-30"], &["--json"]] {
        let ended = program.command(&[&["orders", "export"], wrong].concat()).await;
        assert_eq!(ended.code, Some(2), "{wrong:?}");
    }
    program.close_stopped().await;
}
