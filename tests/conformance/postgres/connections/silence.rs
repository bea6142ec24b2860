//! A server that is there and says nothing: frozen, or behind a network that swallows everything.

use std::net::SocketAddr;
use std::time::Instant;

use tessera_store::{Store, StoreError};
use tessera_store_postgres::{Postgres, Time};
use tessera_testbed::Database;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

use super::PATIENCE;

/// Passes bytes on while it `speaks`; keeps every connection open when it does not.
async fn relay(listener: TcpListener, server: String, speaks: watch::Receiver<bool>) {
    while let Ok((client, _)) = listener.accept().await {
        let Ok(server) = TcpStream::connect(&server).await else { continue };
        let ((client_reads, client_writes), (server_reads, server_writes)) =
            (client.into_split(), server.into_split());
        tokio::spawn(pass(client_reads, server_writes, speaks.clone()));
        tokio::spawn(pass(server_reads, client_writes, speaks.clone()));
    }
}

async fn pass(
    mut from: tokio::net::tcp::OwnedReadHalf,
    mut to: tokio::net::tcp::OwnedWriteHalf,
    mut speaks: watch::Receiver<bool>,
) {
    let mut bytes = [0; 8_192];
    while let Ok(read @ 1..) = from.read(&mut bytes).await {
        if speaks.wait_for(|speaks| *speaks).await.is_err() || to.write_all(&bytes[..read]).await.is_err() {
            return;
        }
    }
}

/// `postgres://user@host:port/name` by way of another address.
fn by_way_of(url: &str, address: SocketAddr) -> (String, String) {
    let (user, rest) = url.rsplit_once('@').expect("a user");
    let (server, name) = rest.split_once('/').expect("a name");
    (format!("{user}@{address}/{name}"), server.to_owned())
}

#[tokio::test]
async fn silent_server_is_unavailable_in_time_and_served_again_when_it_speaks() {
    let database = Database::create().await;
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let (url, server) = by_way_of(&database.url(), listener.local_addr().expect("an address"));
    let (voice, speaks) = watch::channel(true);
    let relay = tokio::spawn(relay(listener, server, speaks));
    let store = Postgres::connect(&url, 1, Time::Database).await.expect("the database is there");
    store.migrate().await.expect("the schema is brought up to date");
    let mut inside = store.begin().await.expect("it begins");

    voice.send_replace(false);
    let began = Instant::now();
    let cut = inside.meta().await;
    assert!(matches!(cut, Err(StoreError::Unavailable(_))), "{cut:?}");
    assert!(inside.commit().await.is_err());
    // The only place is free again at once, though nobody was told that its connection is closed.
    let refused = store.begin().await.err();
    assert!(matches!(refused, Some(StoreError::Unavailable(_))), "{refused:?}");
    assert!(began.elapsed() < PATIENCE, "{:?}", began.elapsed());

    voice.send_replace(true);
    let mut again = store.begin().await.expect("it is served again");
    assert_eq!(again.meta().await.map(|meta| meta.sets), Ok(0));
    drop(again);
    store.close().await;
    relay.abort();
}
