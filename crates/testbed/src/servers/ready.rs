//! Whether a server accepts clients, asked in its own protocol: an open port alone may be a proxy's, or a server
//! that still recovers.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// The longest one look may take.
const LOOK_MAX: Duration = Duration::from_secs(2);

/// Protocol 3.0, user and database `postgres`: <https://www.postgresql.org/docs/17/protocol-message-formats.html>.
const STARTUP: &[u8] = b"\x00\x00\x00\x29\x00\x03\x00\x00user\0postgres\0database\0postgres\0\0";

/// The header of AMQP 0-9-1, which the server answers with `Connection.Start`.
const AMQP: &[u8] = b"AMQP\x00\x00\x09\x01";

/// What shows that a server is there.
#[derive(Debug, Clone, Copy)]
pub(super) enum Ready {
    /// PostgreSQL asks for the password, or for none: it has recovered.
    Postgres,
    /// RabbitMQ begins the handshake: it listens last, after its queues have recovered.
    Rabbit,
    /// Any program that accepts connections.
    Listens,
}

impl Ready {
    pub(super) async fn holds(self, host: &str, port: u16) -> bool {
        timeout(LOOK_MAX, self.asked(host, port)).await.is_ok_and(|answer| answer.unwrap_or(false))
    }

    async fn asked(self, host: &str, port: u16) -> std::io::Result<bool> {
        let mut server = TcpStream::connect((host, port)).await?;
        let (hello, wanted) = match self {
            Self::Postgres => (STARTUP, b'R'),
            Self::Rabbit => (AMQP, 1), // a method frame
            Self::Listens => return Ok(true),
        };
        server.write_all(hello).await?;
        Ok(server.read_u8().await? == wanted)
    }
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;

    use super::*;

    async fn seen(ready: Ready, answer: &'static [u8]) -> bool {
        let server = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = server.local_addr().unwrap().port();
        let answers = async {
            let (mut client, _) = server.accept().await.unwrap();
            client.write_all(answer).await.unwrap();
        };
        tokio::join!(ready.holds("127.0.0.1", port), answers).0
    }

    #[test]
    fn the_startup_message_says_its_length() {
        let length = u32::from_be_bytes(*STARTUP.first_chunk().unwrap());
        assert_eq!(usize::try_from(length), Ok(STARTUP.len()));
    }

    #[tokio::test]
    async fn a_server_that_still_starts_is_not_ready() {
        assert!(seen(Ready::Postgres, b"R").await);
        assert!(!seen(Ready::Postgres, b"E").await);
        assert!(!seen(Ready::Postgres, b"").await);
        assert!(seen(Ready::Rabbit, &[1]).await);
        assert!(!seen(Ready::Rabbit, b"AMQP").await);
    }
}
