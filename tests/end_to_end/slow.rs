//! Clients that send slowly, or nothing: they are cut off, and others are served meanwhile.

use std::time::Duration;

use tessera_testbed::program::Program;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// Longer than a request's head or body may take.
const CUT_OFF_WITHIN: Duration = Duration::from_secs(30);

#[tokio::test]
async fn half_a_request_is_cut_off_and_holds_up_nobody() {
    let program = Program::default();
    program.json(&["migrate"]).await;
    let server = program.serve().await;
    let head = "POST /v1/orders HTTP/1.1\r\nhost: x\r\n";
    let body = format!("{head}content-type: application/json\r\ncontent-length: 100\r\n\r\n{{");
    let mut slow = vec![];
    for half in ["", head, &body] {
        let mut stream = TcpStream::connect(program.listen()).await.unwrap();
        stream.write_all(half.as_bytes()).await.unwrap();
        slow.push(stream);
    }
    assert_eq!(program.client().look("/healthz").await.unwrap().status, 200);
    for mut stream in slow {
        let mut answer = vec![];
        let closed = timeout(CUT_OFF_WITHIN, stream.read_to_end(&mut answer)).await;
        assert!(closed.is_ok(), "a silent client keeps its connection");
    }
    program.close(server).await;
}
