//! The proxy between a client and a server that sends back what it gets.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

use super::{Proxy, Way};

/// How long a test waits for what must come.
const WITHIN: Duration = Duration::from_secs(10);
/// How long a test watches that nothing comes.
const QUIET: Duration = Duration::from_millis(50);

async fn echo() -> Proxy {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let upstream = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let (mut from, mut to) = stream.split();
                let _ = tokio::io::copy(&mut from, &mut to).await;
            });
        }
    });
    Proxy::start(upstream).await.unwrap()
}

async fn say(stream: &mut TcpStream, text: &str) {
    stream.write_all(text.as_bytes()).await.unwrap();
}

async fn hear(stream: &mut TcpStream, length: usize) -> String {
    let mut heard = vec![0; length];
    timeout(WITHIN, stream.read_exact(&mut heard)).await.expect("it comes in time").unwrap();
    String::from_utf8(heard).unwrap()
}

async fn assert_silence(stream: &mut TcpStream) {
    assert!(timeout(QUIET, stream.read_u8()).await.is_err(), "nothing may come");
}

async fn assert_closed(stream: &mut TcpStream) {
    let end = timeout(WITHIN, stream.read(&mut [0; 1])).await.expect("it ends in time");
    assert!(matches!(end, Ok(0) | Err(_)), "{end:?}");
}

#[tokio::test]
async fn bytes_go_through_in_both_directions() {
    let proxy = echo().await;
    let mut client = TcpStream::connect(proxy.address()).await.unwrap();
    say(&mut client, "hello").await;
    assert_eq!(hear(&mut client, 5).await, "hello");
    assert_eq!(proxy.connections(), 1);
}

#[tokio::test]
async fn a_cut_closes_what_is_open_and_what_comes() {
    let proxy = echo().await;
    let mut before = TcpStream::connect(proxy.address()).await.unwrap();
    say(&mut before, "x").await;
    hear(&mut before, 1).await;
    proxy.cut().await;
    assert_eq!(proxy.connections(), 0);
    assert_closed(&mut before).await;
    let ((), closed) = tokio::join!(proxy.made(1), TcpStream::connect(proxy.address()));
    assert_closed(&mut closed.unwrap()).await;

    proxy.restore();
    let mut after = TcpStream::connect(proxy.address()).await.unwrap();
    say(&mut after, "again").await;
    assert_eq!(hear(&mut after, 5).await, "again");
}

#[tokio::test]
async fn a_hold_keeps_connections_and_delivers_after_the_release() {
    let proxy = echo().await;
    let mut client = TcpStream::connect(proxy.address()).await.unwrap();
    say(&mut client, "a").await;
    hear(&mut client, 1).await;
    for way in [Way::ToServer, Way::ToClient, Way::Both] {
        proxy.hold(way);
        say(&mut client, "late").await;
        assert_silence(&mut client).await;
        assert_eq!(proxy.connections(), 1);
        proxy.release();
        assert_eq!(hear(&mut client, 4).await, "late", "{way:?}");
    }
}

#[tokio::test]
async fn a_held_connection_can_be_cut() {
    let proxy = echo().await;
    let mut client = TcpStream::connect(proxy.address()).await.unwrap();
    say(&mut client, "a").await;
    hear(&mut client, 1).await;
    proxy.hold(Way::Both);
    say(&mut client, "x").await;
    proxy.reset().await;
    assert_closed(&mut client).await;
}
