//! What tells how a process without the API is.

use tessera_testbed::program::free_address;

use super::{close, selling};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_issuer_tells_how_it_is_where_it_was_told_to() {
    let program = selling(1).await;
    let listen = free_address();
    let mut line = program.line_elsewhere("issuer", &["serve", "--role", "issuer"]);
    line.env("TESSERA_OPS__LISTEN", listen.to_string());
    let issuer = program.start_line(line);
    issuer.until_line("ready").await;
    let client = program.client_of(listen);
    assert_eq!(client.look("/healthz").await.unwrap().status, 200);
    let ready = client.look("/readyz").await.unwrap().with_status(200);
    assert_eq!(ready.body["checks"][1]["name"], "issuer", "{}", ready.text);
    let metrics = client.look("/metrics").await.unwrap().with_status(200);
    assert!(metrics.text.contains("tessera_messages_published_total 0"), "{}", metrics.text);
    assert_eq!(client.look("/v1/products").await.unwrap().status, 404);
    close(program, vec![issuer]).await;
}
