//! PostgreSQL with the embedded broker: for exactly one process.

use super::{bought, codes_of, selling};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_server_with_the_embedded_broker_is_served_by_one_process() {
    let program = selling(3).await.with("BROKER__URL", "embedded:");
    let server = program.serve().await;
    let client = program.client();
    let receipts = bought(&client, 3).await;
    assert_eq!(codes_of(&client, &receipts).await.len(), 3);

    let mut second = program.line_elsewhere("second", &["serve"]);
    second.env("TESSERA_HTTP__LISTEN", tessera_testbed::program::free_address().to_string());
    let second = program.start_line(second).ended().await;
    assert_eq!(second.code, Some(3), "{}", second.stderr);
    assert!(second.stderr.contains("another process") && second.stderr.contains("broker.url"));

    // A killed one is followed once its lease ran out.
    server.kill9().await;
    let server = program.serve().await;
    program.close(server).await;
}
