//! A backup put back under an issuer that has sold on.

use std::collections::HashSet;
use std::path::Path;

use serde_json::json;
use tessera_testbed::program::{Client, Program};

/// The files of a SQLite database, copied while nobody has it open.
fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for name in ["tessera.db", "tessera.db-wal", "tessera.db-shm"] {
        let (from, to) = (from.join(name), to.join(name));
        match from.exists() {
            true => drop(std::fs::copy(from, to).unwrap()),
            false => drop(std::fs::remove_file(to)),
        }
    }
}

async fn sold(client: &Client, from: usize, count: usize) -> Vec<String> {
    let mut codes = vec![];
    for buyer in from..from + count {
        let receipt = client.place(&format!("buyer-{buyer}"), &[("card", 1)]).await.unwrap().receipt();
        codes.extend(client.pay_waiting(&receipt, 10).await.unwrap().with_status(200).codes());
    }
    codes
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_an_old_backup_is_put_back_no_code_that_was_seen_is_sold_again() {
    let program = Program::embedded();
    program.json(&["migrate"]).await;
    let price = json!({"minor": 1_990, "currency": "CNY"});
    program.products(&json!({"sku": "card", "name": "A card", "kind": "codes", "price": price})).await;
    program.stock("card", 60).await;
    let (client, data, backup) = (program.client(), program.data(), program.folder().join("backup"));

    let server = program.serve().await;
    let mut seen: HashSet<String> = sold(&client, 0, 5).await.into_iter().collect();
    assert_eq!(server.terminate().await.code, Some(0));
    copy(&data, &backup);
    let server = program.serve().await;
    seen.extend(sold(&client, 5, 8).await);
    assert_eq!(server.terminate().await.code, Some(0));
    copy(&backup, &data);

    // It would sell the eight codes again: it does not, and says why. `ready` is not said either.
    let doctor = program.command(&["doctor"]).await;
    assert!(doctor.stdout.contains("tessera recover"), "{}", doctor.stdout);
    let line = program.line(&["serve"]);
    let server = program.start_line(line);
    server.until_said_often("until `tessera recover` was run", 1).await;
    let said = program.json(&["recover", "--burn", "10", "--reason", "restored the backup of noon"]).await;
    assert_eq!(said["burned"][0]["positions"], 10);
    assert!(said["payments"]["from"].is_string(), "{said}");
    server.until_line("ready").await;
    let after = sold(&client, 100, 20).await;
    assert!(after.iter().all(|code| seen.insert(code.clone())), "a code was given again");
    program.json(&["doctor"]).await;
    program.json(&["reconcile"]).await;
    program.close(server).await;
}
