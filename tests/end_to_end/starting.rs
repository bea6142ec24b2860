//! Starting: locks, ports, keys and settings that stop a server before it does harm.

use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use serde_json::json;
use tessera_testbed::program::{Ended, PATIENCE, Program};

fn failed(ended: &Ended, code: i32, words: &[&str]) {
    assert_eq!(ended.code, Some(code), "{}", ended.stderr);
    assert!(!ended.stdout.lines().any(|line| line == "ready"), "{}", ended.stdout);
    for word in words {
        assert!(ended.stderr.contains(word), "no `{word}` in: {}", ended.stderr);
    }
}

#[tokio::test]
async fn a_second_server_on_a_folder_is_told_to_use_another() {
    let program = Program::embedded();
    let server = program.serve().await;
    let other = ("HTTP__LISTEN", "127.0.0.1:0");
    failed(&program.command_with(other, &["serve"]).await, 3, &["another process serves", "data_dir"]);
    failed(&program.command_with(other, &["demo"]).await, 3, &["another process serves"]);
    server.kill9().await;
    let server = program.serve().await;
    program.close(server).await;
}

#[tokio::test]
async fn a_port_in_use_is_told_with_the_remedy() {
    let (program, other) = (Program::embedded(), Program::embedded());
    let server = other.serve().await;
    let taken = other.listen().to_string();
    let ended = program.command_with(("HTTP__LISTEN", &taken), &["serve"]).await;
    failed(&ended, 3, &[&taken, "http.listen"]);
    other.close(server).await;
    program.close_stopped().await;
}

#[tokio::test]
async fn the_embedded_engine_refuses_to_be_split() {
    let program = Program::embedded();
    failed(&program.command(&["serve", "--role", "api"]).await, 2, &["--role"]);
    failed(&program.command(&["serve", "--role", "api,issuer,courier"]).await, 2, &["--role"]);
    failed(&program.command(&["serve", "--role", "cook"]).await, 2, &["cook"]);
    assert!(!program.data().exists());
    let server = program.start(&["serve", "--role", "api,issuer,courier,housekeeper"]);
    server.until_line("ready").await;
    program.close(server).await;
}

#[tokio::test]
async fn an_unknown_setting_names_the_nearest_known_one() {
    let program = Program::embedded();
    let ended = program.command_with(("HTTP__LISTN", "127.0.0.1:1"), &["serve"]).await;
    failed(&ended, 2, &["TESSERA_HTTP__LISTN", "http.listen"]);
    let file = program.file("typo.toml", "[databse]\nurl = \"\"\n");
    failed(&program.command(&["--config", &file, "doctor"]).await, 1, &[]);
    failed(&program.command(&["--config", &file, "serve"]).await, 2, &["databse.url", "database.url"]);
    let none = program.command(&["--config", "nowhere.toml", "serve"]).await;
    failed(&none, 2, &["nowhere.toml"]);
    assert!(!program.data().exists());
    program.close_empty();
}

#[tokio::test]
async fn the_keyring_and_its_folder_are_their_owners_alone() {
    let program = Program::embedded();
    program.json(&["migrate"]).await;
    let mode = |name: &str| {
        let path = program.data().join(name);
        std::fs::metadata(path).unwrap().permissions().mode() & 0o777
    };
    assert_eq!((mode("keyring.toml"), mode("")), (0o600, 0o700));
    program.close_stopped().await;
}

#[tokio::test]
async fn a_missing_keyring_is_never_replaced_beside_a_database() {
    let program = Program::embedded();
    program.json(&["migrate"]).await;
    let keyring = program.data().join("keyring.toml");
    let kept = std::fs::read(&keyring).unwrap();
    std::fs::remove_file(&keyring).unwrap();
    for line in [&["serve"][..], &["migrate"], &["demo"], &["codes", "stock"]] {
        failed(&program.command(line).await, 3, &["keyring.toml", "restore"]);
        assert!(!keyring.exists(), "{line:?} made a keyring");
    }
    std::fs::write(&keyring, kept).unwrap();
    program.close_stopped().await;
}

#[tokio::test]
async fn a_foreign_keyring_is_refused() {
    let (program, other) = (Program::embedded(), Program::embedded());
    program.json(&["migrate"]).await;
    other.json(&["keyring", "create"]).await;
    let foreign = other.data().join("keyring.toml").display().to_string();
    for line in [&["serve"][..], &["migrate"], &["orders", "list"]] {
        let ended = program.command_with(("KEYRING__FILE", &foreign), line).await;
        failed(&ended, 3, &["is not this store's", "restore the keyring"]);
    }
    let kept = program.json(&["keyring", "show"]).await;
    assert_eq!(kept["keys"].as_array().unwrap().len(), 3);
    other.close_empty();
    program.close_stopped().await;
}

#[tokio::test]
async fn a_keyring_is_never_made_over_another() {
    let program = Program::embedded();
    program.json(&["keyring", "create"]).await;
    let before = std::fs::read(program.data().join("keyring.toml")).unwrap();
    failed(&program.command(&["keyring", "create"]).await, 1, &["keyring.toml"]);
    assert_eq!(std::fs::read(program.data().join("keyring.toml")).unwrap(), before);
    program.close_empty();
}

#[tokio::test]
async fn commands_without_a_database_say_how_to_make_one() {
    let program = Program::embedded();
    for line in [&["orders", "list"][..], &["codes", "stock"], &["reconcile"], &["products", "list"]] {
        failed(&program.command(line).await, 3, &["tessera migrate"]);
    }
    assert!(!program.data().exists());
    program.close_empty();
}

#[tokio::test]
async fn the_demo_fills_an_empty_store_once_and_sells() {
    let program = Program::embedded();
    let listen = program.listen().to_string();
    let data = program.data().display().to_string();
    let demo = ["demo", "--listen", listen.as_str(), "--data", data.as_str()];
    let server = program.start(&demo);
    server.until_line("ready").await;
    let said = server.stdout();
    let key = said.lines().find_map(|line| line.strip_prefix("the operator's key, shown once: ")).unwrap();
    program.seen().note(&json!({ "key": key }));
    assert!(said.contains(&format!("http://{listen}")), "{said}");
    let keys = program.json(&["keys", "list"]).await;
    assert_eq!(keys["keys"][0]["role"], "owner");

    let client = program.client();
    let products = client.look("/v1/products").await.unwrap().with_status(200);
    assert!(products.body["products"].as_array().unwrap().len() >= 2, "{}", products.text);
    let receipt = client.place("you", &[("iqiyi-month", 2)]).await.unwrap().with_status(201).receipt();
    assert_eq!(client.pay_waiting(&receipt, 5).await.unwrap().with_status(200).codes().len(), 2);
    assert_eq!(server.terminate().await.code, Some(0));

    let server = program.start(&demo);
    server.until_line("ready").await;
    assert!(!server.stdout().contains("shown once"), "{}", server.stdout());
    assert_eq!(program.json(&["keys", "list"]).await["keys"].as_array().unwrap().len(), 1);
    assert_eq!(program.client().get(&receipt).await.unwrap().codes().len(), 2);
    program.close(server).await;
}

#[tokio::test]
async fn the_demo_listens_on_loopback_only() {
    let program = Program::embedded();
    for listen in ["0.0.0.0:0", "[::]:0", "192.0.2.1:80"] {
        failed(&program.command(&["demo", "--listen", listen]).await, 2, &["loopback", "--listen"]);
    }
    assert!(!program.data().exists());
    program.close_empty();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_demo_killed_while_it_fills_is_whole_the_next_time() {
    let program = Program::embedded();
    let server = program.start(&["demo"]);
    let filling = async {
        // Not there, or without tables, is no number yet.
        while !program.data().join("tessera.db-wal").exists() || !has_products(&program).await {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    tokio::time::timeout(PATIENCE, filling).await.unwrap();
    server.kill9().await;
    let server = program.start(&["demo"]);
    server.until_line("ready").await;
    let said = server.stdout();
    let key = said.lines().find_map(|line| line.strip_prefix("the operator's key, shown once: ")).unwrap();
    program.seen().note(&json!({ "key": key }));
    let stock = program.json(&["codes", "stock"]).await;
    for product in stock["stock"].as_array().unwrap() {
        assert!(product["available"].as_u64() > Some(0), "{product}");
    }
    program.close(server).await;
}

async fn has_products(program: &Program) -> bool {
    let tables = "SELECT count(*) FROM sqlite_master WHERE name IN ('product', 'api_key')";
    program.number(tables).await == 2 && program.number("SELECT count(*) FROM product").await > 0
}

#[tokio::test]
async fn a_file_that_is_no_database_of_ours_is_left_alone() {
    let program = Program::embedded();
    std::fs::create_dir(program.data()).unwrap();
    let file = program.data().join("tessera.db");
    let noise = "no database at all ".repeat(1_000);
    std::fs::write(&file, &noise).unwrap();
    for line in [&["serve"][..], &["migrate"], &["orders", "list"]] {
        failed(&program.command(line).await, 3, &["database"]);
    }
    assert_eq!(std::fs::read_to_string(&file).unwrap(), noise);
    std::fs::remove_file(&file).unwrap();
    program.json(&["migrate"]).await;
    let newer = "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) \
                 VALUES (9999, 'of a newer version', 1, x'00', 0)";
    program.operate(newer).await;
    for line in [&["serve"][..], &["migrate"], &["orders", "list"]] {
        failed(&program.command(line).await, 3, &["newer version"]);
    }
    program.operate("DELETE FROM _sqlx_migrations WHERE version = 9999").await;
    program.close_stopped().await;
}
