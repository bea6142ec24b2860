//! Servers of a test's own: they come back with what they kept, stand still when told, and leave nothing behind.

use std::time::Duration;

use lapin::options::{BasicGetOptions, BasicPublishOptions, ConfirmSelectOptions, QueueDeclareOptions};
use lapin::types::{AMQPValue, FieldTable};
use lapin::{BasicProperties, Channel, Confirmation, Connection, ConnectionProperties};
use sqlx::{ConnectOptions, Connection as _, PgConnection, Row, postgres::PgConnectOptions};
use tessera_testbed::servers::{DECLARED_AFTER, Own, processes};
use tokio::time::timeout;

/// Persistent, as AMQP numbers it.
const PERSISTENT: u8 = 2;

/// How long a frozen server is given to answer, which it must not; as long as an answer takes a hundred times over.
const SILENCE: Duration = Duration::from_millis(500);

async fn connected(server: &Own) -> PgConnection {
    let options: PgConnectOptions = server.url().parse().unwrap();
    options.connect().await.unwrap()
}

async fn channel(server: &Own) -> (Connection, Channel) {
    let connection = Connection::connect(server.url(), ConnectionProperties::default()).await.unwrap();
    let channel = connection.create_channel().await.unwrap();
    channel.confirm_select(ConfirmSelectOptions::default()).await.unwrap();
    (connection, channel)
}

async fn declare(channel: &Channel, queue: &str) {
    let mut arguments = FieldTable::default();
    arguments.insert("x-queue-type".into(), AMQPValue::LongString("quorum".into()));
    let options = QueueDeclareOptions { durable: true, ..QueueDeclareOptions::default() };
    channel.queue_declare(queue.into(), options, arguments).await.unwrap();
}

/// Takes the next message; a quorum queue's count would lag behind.
async fn taken(channel: &Channel, queue: &str) -> Option<Vec<u8>> {
    let got = channel.basic_get(queue.into(), BasicGetOptions { no_ack: true }).await.unwrap();
    got.map(|message| message.delivery.data.clone())
}

async fn published(channel: &Channel, queue: &str) -> Confirmation {
    let properties = BasicProperties::default().with_delivery_mode(PERSISTENT);
    let confirmed =
        channel.basic_publish("".into(), queue.into(), BasicPublishOptions::default(), b"kept", properties);
    confirmed.await.unwrap().await.unwrap()
}

fn ends_whole(server: Own) {
    let folder = server.folder().map(ToOwned::to_owned);
    let processes = || folder.as_deref().map(processes::within).unwrap_or_default();
    assert!(folder.is_none() || !processes().is_empty(), "the server has no processes to end");
    drop(server);
    assert!(processes().is_empty(), "processes are left");
    assert!(folder.is_none_or(|folder| !folder.exists()), "the folder is left");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_postgres_comes_back_with_its_rows() {
    let server = Own::postgres().await;
    let mut connection = connected(&server).await;
    sqlx::query("CREATE TABLE kept (n int8)").execute(&mut connection).await.unwrap();
    sqlx::query("INSERT INTO kept VALUES (7)").execute(&mut connection).await.unwrap();
    server.kill().await;
    connection.ping().await.unwrap_err();
    server.start().await;
    let row = sqlx::query("SELECT n FROM kept").fetch_one(&mut connected(&server).await).await.unwrap();
    assert_eq!(row.get::<i64, _>(0), 7);
    ends_whole(server);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_rabbit_comes_back_with_its_queues() {
    let server = Own::rabbit().await;
    let (connection, channel_before) = channel(&server).await;
    declare(&channel_before, "kept").await;
    assert!(matches!(published(&channel_before, "kept").await, Confirmation::Ack(None)));
    tokio::time::sleep(DECLARED_AFTER).await;
    server.kill().await;
    server.start().await;
    drop(connection);
    let (_connection, channel_after) = channel(&server).await;
    assert_eq!(taken(&channel_after, "kept").await.as_deref(), Some(&b"kept"[..]));
    ends_whole(server);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_frozen_server_keeps_its_connections_and_answers_nothing() {
    let server = Own::postgres().await;
    let mut connection = connected(&server).await;
    server.freeze().await;
    let mut asked = Box::pin(sqlx::query("SELECT 7").fetch_one(&mut connection));
    assert!(timeout(SILENCE, &mut asked).await.is_err(), "a frozen server answered");
    server.thaw().await;
    assert_eq!(asked.await.unwrap().get::<i32, _>(0), 7);
    server.freeze().await;
    ends_whole(server);
}
