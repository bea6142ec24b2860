//! A TCP proxy between a program and a server, to take the server away or make it go silent.
//!
//! It forwards bytes, and knows of protocols only what PostgreSQL's COMMIT looks like. What a test does to it holds
//! for open connections and for those that come later, until the test does something else or restores it.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use self::connection::Shared;
pub use self::gate::Way;
use self::gate::{End, Gate, Link};
use crate::servers;

mod commit;
mod connection;
mod gate;
mod pump;

#[cfg(test)]
mod tests;

/// A proxy on a port of its own; dropping it cuts everything.
#[derive(Debug)]
pub struct Proxy {
    address: SocketAddr,
    shared: Shared,
    accepting: JoinHandle<()>,
}

impl Proxy {
    /// Listens on a free loopback port and forwards to `upstream`, which need not be there yet.
    ///
    /// # Errors
    /// No port could be had.
    pub async fn start(upstream: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        let shared = Shared::default();
        let accepting = tokio::spawn(connection::accept(listener, upstream, shared.clone()));
        Ok(Self { address, shared, accepting })
    }

    /// Starts one before the server at `url`, and gives the URL that leads through it.
    ///
    /// # Errors
    /// No port could be had.
    ///
    /// # Panics
    /// The URL has no host and port, or the host is not known.
    pub async fn before(url: &str) -> io::Result<(Self, String)> {
        let proxy = Self::start(servers::address_of(url)).await?;
        let through = servers::at(url, proxy.address);
        Ok((proxy, through))
    }

    /// Where the program has to connect to.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// How many connections are open.
    pub fn connections(&self) -> usize {
        *self.shared.open.borrow()
    }

    /// Waits until the program has made so many connections more, closed at once or not.
    pub async fn made(&self, more: usize) {
        let mut made = self.shared.made.subscribe();
        let upto = *made.borrow() + more;
        // The sender is ours, so waiting cannot fail.
        let _ = made.wait_for(|made| *made >= upto).await;
    }

    /// Closes every connection, and new ones at once, until [`Proxy::restore`]; returns once all are closed.
    pub async fn cut(&self) {
        self.end(End::Close).await;
    }

    /// Forwards everything at once again.
    pub fn restore(&self) {
        self.set(Gate::Open);
    }

    /// Closes every connection, and lets the program make new ones.
    pub async fn reset(&self) {
        self.cut().await;
        self.restore();
    }

    /// Ends every connection by a RST, and lets the program make new ones.
    pub async fn abort(&self) {
        self.end(End::Reset).await;
        self.restore();
    }

    /// Forwards nothing this way any more, and closes nothing: a peer that has vanished.
    pub fn hold(&self, way: Way) {
        self.set(Gate::Held(way));
    }

    /// Forwards again after [`Proxy::hold`], first what has come meanwhile.
    pub fn release(&self) {
        self.restore();
    }

    /// Lets everything arrive so much later, each way.
    pub fn delay(&self, delay: Duration) {
        self.set(Gate::Slow(Link { delay, bytes_per_second: None }));
    }

    /// Lets everything arrive so much later, and no faster than this, each way of each connection.
    pub fn slow(&self, delay: Duration, bytes_per_second: u32) {
        self.set(Gate::Slow(Link { delay, bytes_per_second: Some(bytes_per_second) }));
    }

    /// Closes each connection, open now or made later, once so many bytes more have gone this way on it.
    pub fn cut_after(&self, bytes: u64, way: Way) {
        self.set(Gate::CutAfter(bytes, way));
    }

    /// Lets the server do the next COMMIT that any connection sends as a query of its own, and closes that connection
    /// before the client hears of it. Returns at once; what it returns ends when this has happened.
    pub fn drop_reply_to_commit(&self) -> impl Future<Output = ()> + use<> {
        let happened = self.shared.armed.arm();
        // It is never dropped unsent, but by a test that arms again before: that has no use for the first.
        async move { drop(happened.await) }
    }

    fn set(&self, gate: Gate) {
        self.shared.gate.send_replace(gate);
    }

    async fn end(&self, end: End) {
        self.set(Gate::Cut(end));
        // The sender is ours, so waiting cannot fail.
        let _ = self.shared.open.subscribe().wait_for(|open| *open == 0).await;
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.accepting.abort();
        self.set(Gate::Cut(End::Close));
    }
}
