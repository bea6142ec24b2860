//! What a process says when what it needs is not there, or not as it must be.

use std::time::{Duration, Instant};

use lapin::options::QueueDeleteOptions;
use serde_json::{Value, json};
use tessera_testbed::program::Program;
use tessera_testbed::{Database, Engine, Queues, Scenario};

const DRIFTED: Scenario = Scenario {
    number: 19,
    fault: "a queue with other arguments, then deleted as the remedy says",
    until: "the shop serves",
    bound: Duration::from_secs(10),
};

fn wrong<'r>(report: &'r Value, word: &str) -> &'r Value {
    let checks = report["checks"].as_array().unwrap();
    let found =
        checks.iter().find(|c| c["ok"] == json!(false) && c["detail"].as_str().unwrap().contains(word));
    found.unwrap_or_else(|| panic!("nothing wrong with {word} in {report}"))
}

#[tokio::test]
async fn a_queue_with_other_arguments_is_named_with_the_difference_and_the_remedy() {
    let program = Program::on_servers();
    program.servers().queues.declare_with_limit(0, 7).await;
    let doctor = program.command(&["--json", "doctor"]).await;
    assert_eq!(doctor.code, Some(1), "{}", doctor.stderr);
    let report = doctor.json();
    let check = wrong(&report, ".issue.0");
    assert!(check["detail"].as_str().unwrap().contains("x-"), "{check}");
    assert!(check["remedy"].as_str().is_some_and(|remedy| !remedy.is_empty()), "{check}");

    let served = program.command(&["serve"]).await;
    assert_eq!(served.code, Some(3), "{}", served.stderr);
    for word in [".issue.0", "delete it", "broker.prefix"] {
        assert!(served.stderr.contains(word), "{word}: {}", served.stderr);
    }

    let queues = &program.servers().queues;
    let (_connection, channel) = queues.connect().await.unwrap();
    let name = format!("{}.issue.0", queues.prefix());
    channel.queue_delete(name.into(), QueueDeleteOptions::default()).await.unwrap();
    let mended = Instant::now();
    let server = program.serve().await;
    DRIFTED.recovered(Engine::Postgres, mended.elapsed());
    assert_eq!(program.json(&["doctor"]).await["ok"], json!(true));
    program.close(server).await;
}

#[tokio::test]
async fn a_database_without_a_shop_and_a_shop_without_its_keyring_are_told_with_the_remedy() {
    let program = Program::unprepared(Database::create().await, Queues::shared());
    let serve = ["serve", "--role", "api"];
    let empty = program.command(&serve).await;
    assert_eq!(empty.code, Some(3), "{}", empty.stderr);
    assert!(empty.stderr.contains("tessera migrate"), "{}", empty.stderr);

    program.json(&["migrate"]).await;
    let keyless = program.command(&serve).await;
    assert_eq!(keyless.code, Some(3), "{}", keyless.stderr);
    assert!(keyless.stderr.contains("tessera keyring create"), "{}", keyless.stderr);

    program.json(&["keyring", "create"]).await;
    let server = program.start(&["serve", "--role", "api,issuer,courier,housekeeper"]);
    server.until_line("ready").await;
    let mut foreign = program.line(&["keyring", "create"]);
    foreign.env("TESSERA_KEYRING__FILE", program.folder().join("foreign.toml"));
    assert_eq!(program.start_line(foreign).ended().await.code, Some(0));
    let mut stranger = program.line(&serve);
    stranger.env("TESSERA_KEYRING__FILE", program.folder().join("foreign.toml"));
    let stranger = program.start_line(stranger).ended().await;
    assert_eq!(stranger.code, Some(3), "{}", stranger.stderr);
    assert!(stranger.stderr.contains("keyring"), "{}", stranger.stderr);
    program.close(server).await;
}

#[tokio::test]
async fn servers_that_are_away_are_told_without_their_passwords() {
    let program = Program::on_servers();
    let nowhere = "postgres://tessera:HUNTER2@127.0.0.1:1/shop";
    for line in [&["serve"][..], &["orders", "list"], &["migrate"]] {
        let ended = program.command_with(("DATABASE__URL", nowhere), line).await;
        assert_eq!(ended.code, Some(3), "{line:?}: {}", ended.stderr);
        assert!(!ended.stderr.contains("HUNTER2"), "{}", ended.stderr);
    }
    let nowhere = ("BROKER__URL", "amqp://tessera:HUNTER2@127.0.0.1:1");
    let doctor = program.command_with(nowhere, &["--json", "doctor"]).await;
    assert_eq!(doctor.code, Some(1), "{}", doctor.stderr);
    assert!(!doctor.stdout.contains("HUNTER2"), "{}", doctor.stdout);
    program.close_stopped().await;
}

#[tokio::test]
async fn doctor_finds_a_shop_on_servers_well() {
    let program = Program::on_servers();
    let server = program.serve().await;
    let report = program.json(&["doctor"]).await;
    assert_eq!(report["ok"], json!(true), "{report}");
    let details: Vec<&str> =
        report["checks"].as_array().unwrap().iter().filter_map(|c| c["detail"].as_str()).collect();
    for word in ["PostgreSQL", "RabbitMQ", ".issue.0", ".dead", ".events"] {
        assert!(details.iter().any(|detail| detail.contains(word)), "no {word} in {details:?}");
    }
    program.close(server).await;
}
