//! One direction of one connection: bytes are taken as they come, and given when they are due.

use std::io::{self, ErrorKind};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{ReadHalf, WriteHalf};
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep_until};

use super::commit::Side;
use super::gate::{Gate, Link, Way};

/// How many bytes are taken at a time.
const CHUNK: usize = 16 * 1024;
/// How many chunks are on their way at once; with more to come, nothing is read.
const ON_THE_WAY: usize = 16;

/// Bytes, and when they arrive.
struct Chunk {
    bytes: Vec<u8>,
    due: Instant,
}

/// Copies until the source ends, either side fails, or the connection's end is due.
pub(super) async fn run(
    from: ReadHalf<'_>,
    to: WriteHalf<'_>,
    way: Way,
    gate: watch::Receiver<Gate>,
    side: Side<'_>,
) -> io::Result<()> {
    let (sender, chunks) = mpsc::channel(ON_THE_WAY);
    let giving = Giving { to, way, allowance: gate.borrow().allowance(way), gate: gate.clone(), side };
    tokio::try_join!(take(from, sender, gate), giving.run(chunks)).map(drop)
}

/// Reads until the source ends.
async fn take(
    mut from: ReadHalf<'_>,
    chunks: mpsc::Sender<Chunk>,
    gate: watch::Receiver<Gate>,
) -> io::Result<()> {
    let mut buffer = vec![0; CHUNK];
    let mut line = Line { free: Instant::now() };
    loop {
        let count = from.read(&mut buffer).await?;
        if count == 0 {
            return Ok(());
        }
        let due = line.due(gate.borrow().link(), count);
        let bytes = buffer[..count].to_vec();
        chunks.send(Chunk { bytes, due }).await.map_err(|_| ended())?;
    }
}

/// A line that carries one chunk after the other.
struct Line {
    free: Instant,
}

impl Line {
    fn due(&mut self, link: Link, count: usize) -> Instant {
        let sending = link.bytes_per_second.map_or(Duration::ZERO, |rate| {
            // A chunk's size is far below the type's bound.
            Duration::from_secs(1) * u32::try_from(count).unwrap_or(u32::MAX) / rate.max(1)
        });
        self.free = self.free.max(Instant::now()) + sending;
        self.free + link.delay
    }
}

/// Where bytes go, and what may stop them.
struct Giving<'a> {
    to: WriteHalf<'a>,
    way: Way,
    /// How many bytes more may go, where there is a limit.
    allowance: Option<u64>,
    gate: watch::Receiver<Gate>,
    side: Side<'a>,
}

impl Giving<'_> {
    async fn run(mut self, mut chunks: mpsc::Receiver<Chunk>) -> io::Result<()> {
        while let Some(Chunk { bytes, due }) = chunks.recv().await {
            sleep_until(due).await;
            self.pass().await?;
            let count = self.allowed(bytes.len());
            if self.side.lets(&bytes[..count])? {
                self.to.write_all(&bytes[..count]).await?;
            }
            if self.allowance == Some(0) {
                return Err(ended());
            }
        }
        Ok(())
    }

    /// Waits at the gate; what was read before a hold came waits here.
    async fn pass(&mut self) -> io::Result<()> {
        let way = self.way;
        // A limit counts from when it was set. An error says that the proxy is gone.
        if self.gate.has_changed().map_err(|_| ended())? {
            self.allowance = self.gate.borrow_and_update().allowance(way);
        }
        if self.gate.borrow().lets(way) {
            return Ok(());
        }
        let gate = self.gate.wait_for(|gate| gate.lets(way)).await.map_err(|_| ended())?;
        self.allowance = gate.allowance(way);
        Ok(())
    }

    /// How many of so many bytes may go.
    fn allowed(&mut self, count: usize) -> usize {
        let Some(left) = &mut self.allowance else { return count };
        let allowed = usize::try_from(*left).map_or(count, |left| left.min(count));
        *left = left.saturating_sub(u64::try_from(allowed).unwrap_or(u64::MAX));
        allowed
    }
}

/// The connection is to end, as if a side had failed.
pub(super) fn ended() -> io::Error {
    ErrorKind::ConnectionAborted.into()
}
