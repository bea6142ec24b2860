//! One connection, from its handshake to its end. It is never repaired; [`Line`](super::line) builds the next.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use lapin::tcp::{AsyncTcpStream, OwnedTLSConfig};
use lapin::uri::{AMQPScheme, AMQPUri};
use lapin::{Channel, Connection, ConnectionProperties, Event};
use tokio::time::{interval, timeout};
use tokio_util::sync::CancellationToken;

use super::failure::{ANSWER_BOUND, Failure, bounded};
use super::socket::Socket;

/// How often the connection's state is looked at, for ends that send no event.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// How long a connection may take to close.
const CLOSE_BOUND: Duration = Duration::from_secs(2);
/// AMQP's reply code for a close without a fault.
const REPLY_SUCCESS: u16 = 200;

/// An open connection; dropping it ends it.
pub(super) struct Link {
    connection: Connection,
    /// From here on nothing is answered.
    over: CancellationToken,
    socket: EndOnDrop,
}

impl Link {
    /// Connects and shakes hands within the address's timeout; an error says why not.
    pub(super) async fn connect(uri: &AMQPUri, name: &str) -> Result<Self, String> {
        let bound = uri.query.connection_timeout.map_or(ANSWER_BOUND, Duration::from_millis);
        let socket = EndOnDrop::default();
        match timeout(bound, handshake(uri.clone(), name, Arc::clone(&socket.0))).await {
            Ok(Ok(connection)) => Ok(Self { connection, over: CancellationToken::new(), socket }),
            Ok(Err(error)) => Err(error.to_string()),
            Err(_) => Err("no connection in time".to_owned()),
        }
    }

    /// Opens a channel.
    pub(super) async fn channel(&self) -> Result<Channel, Failure> {
        self.trusted(self.connection.create_channel()).await
    }

    /// Waits for an answer; a link that stays silent is ended.
    ///
    /// The library forgets a request that it is handed while the connection ends: its answer never comes.
    pub(super) async fn trusted<T>(
        &self,
        answer: impl Future<Output = lapin::Result<T>>,
    ) -> Result<T, Failure> {
        let answer = tokio::select! {
            biased;
            answer = bounded(answer) => answer,
            () = self.over.cancelled() => Err(Failure::Broken("the connection ended".to_owned())),
        };
        if matches!(answer, Err(Failure::Silence)) {
            self.end();
        }
        answer
    }

    /// Closes a channel; everything unacknowledged goes back before this returns.
    pub(super) async fn close_channel(&self, channel: &Channel) {
        if channel.status().connected() {
            // One that is gone is closed as well.
            let _ = self.trusted(channel.close(REPLY_SUCCESS, "OK".into())).await;
        }
    }

    /// Whether the broker has stopped reading from this connection, because memory or disk run out.
    pub(super) fn blocked(&self) -> bool {
        self.connection.status().blocked()
    }

    /// Waits until the connection is over.
    pub(super) async fn lost(&self) -> String {
        let mut events = pin!(self.connection.events_listener());
        let mut look = interval(LOOK_EVERY);
        let mut reason = "the connection ended".to_owned();
        while self.connection.status().connected() {
            tokio::select! {
                event = events.next() => match event {
                    // Also sent for a channel; then the connection goes on.
                    Some(Event::Error(error)) => reason = error.to_string(),
                    Some(Event::ConnectionBlocked(_)) => {
                        tracing::warn!("the broker is short of memory or disk and takes no messages");
                    }
                    Some(Event::ConnectionUnblocked) => tracing::info!("the broker takes messages again"),
                    Some(_) => {}
                    None => break,
                },
                _ = look.tick() => {}
            }
        }
        reason
    }

    /// Closes in order, or ends it if the broker does not answer; nothing is sent while it is blocked.
    pub(super) async fn close(&self) {
        if !self.blocked() {
            let _ = timeout(CLOSE_BOUND, self.connection.close(REPLY_SUCCESS, "OK".into())).await;
        }
        self.end();
    }

    /// Ends the connection without a word.
    pub(super) fn end(&self) {
        self.socket.0.end();
        self.over.cancel();
    }
}

/// Ends the socket with its owner: the library's thread would wait on for a handshake given up.
#[derive(Default)]
struct EndOnDrop(Arc<Socket>);

impl Drop for EndOnDrop {
    fn drop(&mut self) {
        self.0.end();
    }
}

async fn handshake(uri: AMQPUri, name: &str, socket: Arc<Socket>) -> lapin::Result<Connection> {
    let properties = ConnectionProperties::default().with_connection_name(name.into());
    let runtime = lapin::runtime::default_runtime()?;
    // In place, because only here its types are known: they cannot be named.
    Connection::connector(
        uri,
        runtime,
        async move |uri, runtime| {
            let place = (uri.authority.host.clone(), uri.authority.port);
            let addresses: Vec<_> = tokio::net::lookup_host(place).await?.collect();
            let stream = AsyncTcpStream::connect(&runtime, addresses).await?;
            if let AsyncTcpStream::Plain(plain) = &stream {
                socket.keep(plain.get_ref())?;
            }
            Ok(match uri.scheme {
                AMQPScheme::AMQP => stream,
                AMQPScheme::AMQPS => {
                    stream.into_tls(&uri.authority.host, OwnedTLSConfig::default().as_ref()).await?
                }
            })
        },
        properties,
    )
    .await
}
