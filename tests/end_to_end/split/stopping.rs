//! SIGTERM while nothing that the process speaks to answers.

use std::time::Duration;

use tessera_testbed::proxy::Way;
use tessera_testbed::{Database, Proxy, Queues, program::Program};

use super::{bought, codes_of, stock};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_whose_servers_fell_silent_ends_in_time_and_has_lost_nothing() {
    let (database, queues) = (Database::create().await, Queues::shared());
    let (before_database, database_url) = Proxy::before(&database.url()).await.unwrap();
    let (before_broker, broker_url) = Proxy::before(queues.url()).await.unwrap();
    let program = Program::on(database, queues);
    stock(&program, 10).await;
    let serve = || {
        let mut line = program.line(&["serve"]);
        line.env("TESSERA_DATABASE__URL", &database_url).env("TESSERA_BROKER__URL", &broker_url);
        program.start_line(line)
    };
    let server = serve();
    server.until_line("ready").await;
    let receipts = bought(&program.client(), 3).await;

    before_database.hold(Way::Both);
    before_broker.hold(Way::Both);
    let ended = server.terminate().await;
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(ended.took < Duration::from_secs(10), "{:?}", ended.took);

    before_database.release();
    before_broker.release();
    let server = serve();
    server.until_line("ready").await;
    assert_eq!(codes_of(&program.client(), &receipts).await.len(), 3);
    program.close(server).await;
}

#[tokio::test]
async fn a_process_that_waits_for_its_broker_ends_at_once() {
    let program = Program::on_servers();
    let mut line = program.line(&["serve"]);
    line.env("TESSERA_BROKER__URL", "amqp://guest:guest@127.0.0.1:1");
    let server = program.start_line(line);
    // It serves, but is not ready: nobody hands out codes.
    let client = program.client();
    while client.look("/healthz").await.is_err() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(client.look("/readyz").await.unwrap().status, 503);
    let ended = server.terminate().await;
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), ""), "{}", ended.stderr);
    assert!(ended.took < Duration::from_secs(5), "{:?}", ended.took);
    program.close_stopped().await;
}
