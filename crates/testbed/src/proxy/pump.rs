//! One direction of one connection.

use std::io;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::watch;

use super::{Gate, Way};

/// How many bytes are taken at a time.
const CHUNK: usize = 16 * 1024;

impl Gate {
    fn lets(self, way: Way) -> bool {
        match self {
            Self::Open => true,
            Self::Held(held) => held != way && held != Way::Both,
            Self::Cut => false,
        }
    }
}

/// Copies until the source ends or either side fails; while held, it reads nothing.
pub(super) async fn run(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    way: Way,
    mut gate: watch::Receiver<Gate>,
) -> io::Result<()> {
    let mut chunk = vec![0; CHUNK];
    loop {
        let count = from.read(&mut chunk).await?;
        if count == 0 {
            return Ok(());
        }
        // What was read before the hold came waits here; an error says that the proxy is gone.
        if gate.wait_for(|gate| gate.lets(way)).await.is_err() {
            return Ok(());
        }
        to.write_all(&chunk[..count]).await?;
    }
}
