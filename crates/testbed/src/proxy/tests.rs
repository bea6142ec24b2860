//! The proxy between a client and a server that sends back what it gets.

use std::io::ErrorKind;
use std::time::{Duration, Instant};

use sqlx::Connection as _;
use sqlx::postgres::PgConnection;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::{Proxy, Way};
use crate::Database;

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

#[tokio::test]
async fn an_abort_is_a_reset_of_the_connection() {
    let proxy = echo().await;
    let mut client = TcpStream::connect(proxy.address()).await.unwrap();
    say(&mut client, "a").await;
    hear(&mut client, 1).await;
    proxy.abort().await;
    let end = timeout(WITHIN, client.read_u8()).await.expect("it ends in time");
    assert_eq!(end.unwrap_err().kind(), ErrorKind::ConnectionReset);
    let mut after = TcpStream::connect(proxy.address()).await.unwrap();
    say(&mut after, "again").await;
    assert_eq!(hear(&mut after, 5).await, "again");
}

#[tokio::test]
async fn what_is_delayed_comes_whole_and_late_both_ways() {
    let delay = Duration::from_millis(60);
    let proxy = echo().await;
    proxy.delay(delay);
    let mut client = TcpStream::connect(proxy.address()).await.unwrap();
    let begun = Instant::now();
    say(&mut client, "first").await;
    say(&mut client, " and second").await;
    assert_eq!(hear(&mut client, 16).await, "first and second");
    assert!(begun.elapsed() >= 2 * delay, "{:?}", begun.elapsed());
}

#[tokio::test]
async fn a_slow_line_carries_no_more_than_its_rate_and_may_become_fast_again() {
    let proxy = echo().await;
    proxy.slow(Duration::ZERO, 10_000);
    let mut client = TcpStream::connect(proxy.address()).await.unwrap();
    let (begun, text) = (Instant::now(), "0123456789".repeat(100));
    say(&mut client, &text).await;
    assert_eq!(hear(&mut client, text.len()).await, text);
    assert!(begun.elapsed() >= Duration::from_millis(100), "{:?}", begun.elapsed());
    proxy.restore();
    let text = text.repeat(100);
    let (mut from, mut to) = client.split();
    let mut heard = vec![0; text.len()];
    let both = async { tokio::join!(to.write_all(text.as_bytes()), from.read_exact(&mut heard)) };
    // A tenth of what the slow line would take.
    let (said, read) = timeout(Duration::from_secs(2), both).await.expect("it is fast again");
    said.and(read.map(drop)).unwrap();
}

#[tokio::test]
async fn a_connection_ends_after_so_many_bytes_of_one_way() {
    let proxy = echo().await;
    let mut before = TcpStream::connect(proxy.address()).await.unwrap();
    say(&mut before, "much has gone already").await;
    hear(&mut before, 21).await;
    proxy.cut_after(4, Way::ToClient);
    for client in [&mut before, &mut TcpStream::connect(proxy.address()).await.unwrap()] {
        say(client, "ab").await;
        assert_eq!(hear(client, 2).await, "ab");
        say(client, "cdef").await;
        assert_eq!(hear(client, 2).await, "cd");
        assert_closed(client).await;
    }
}

#[tokio::test]
async fn nothing_of_the_reply_to_one_commit_comes_and_the_commit_is_done() {
    let (commit, server) = (b"Q\0\0\0\x0bCOMMIT\0", b"C\0\0\0\x0bCOMMIT\0Z\0\0\0\x05I");
    let (proxy, mut seen) = answering(server).await;
    let happened = proxy.drop_reply_to_commit();
    let mut client = TcpStream::connect(proxy.address()).await.unwrap();
    // The client's first message has no kind; what looks like a COMMIT within another message is none.
    client.write_all(b"\0\0\0\x08\0\x03\0\0P\0\0\0\x10Q\0\0\0\x0bCOMMIT\0").await.unwrap();
    for byte in commit {
        client.write_all(&[*byte]).await.unwrap();
        client.flush().await.unwrap();
        tokio::task::yield_now().await;
    }
    assert_closed(&mut client).await;
    timeout(WITHIN, happened).await.expect("the test hears of it");
    assert_eq!(timeout(WITHIN, seen.recv()).await.unwrap(), Some(25 + commit.len()));

    // The next one is answered.
    let mut client = TcpStream::connect(proxy.address()).await.unwrap();
    client.write_all(b"\0\0\0\x08\0\x03\0\0").await.unwrap();
    client.write_all(commit).await.unwrap();
    assert_eq!(hear(&mut client, server.len()).await.as_bytes(), server);
}

/// A server that answers what ends with a COMMIT, and says how many bytes it had come by then.
async fn answering(answer: &'static [u8]) -> (Proxy, mpsc::Receiver<usize>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let upstream = listener.local_addr().unwrap();
    let (sender, seen) = mpsc::channel(1);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut come = Vec::new();
            while !come.ends_with(b"\x0bCOMMIT\0") || come.len() == 25 {
                stream.read_buf(&mut come).await.unwrap();
            }
            sender.send(come.len()).await.ok();
            stream.write_all(answer).await.unwrap();
            let _ = stream.read_u8().await;
        }
    });
    (Proxy::start(upstream).await.unwrap(), seen)
}

#[tokio::test]
async fn a_commit_at_the_real_server_loses_its_reply_and_is_kept() {
    let database = Database::create().await;
    let (proxy, url) = Proxy::before(&database.url()).await.unwrap();
    let mut direct = database.connect().await;
    sqlx::raw_sql("CREATE TABLE kept (n int)").execute(&mut direct).await.unwrap();
    let mut client = PgConnection::connect(&url).await.unwrap();
    let happened = proxy.drop_reply_to_commit();
    sqlx::raw_sql("BEGIN").execute(&mut client).await.unwrap();
    sqlx::query("INSERT INTO kept SELECT generate_series(1, $1)")
        .bind(1000)
        .execute(&mut client)
        .await
        .unwrap();
    let reply = sqlx::raw_sql("COMMIT").execute(&mut client).await;
    assert!(matches!(reply, Err(sqlx::Error::Io(_))), "{reply:?}");
    timeout(WITHIN, happened).await.expect("the test hears of it");
    let kept =
        sqlx::query_scalar::<_, i64>("SELECT count(*) FROM kept").fetch_one(&mut direct).await.unwrap();
    assert_eq!(kept, 1000);
}
