//! A TCP proxy between a program and a server, to take the server away or make it go silent.
//!
//! It forwards bytes and knows no protocol. What a test does to it holds for open connections and for those
//! that come later, until the test takes it back.

use std::io;
use std::net::SocketAddr;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::servers;

mod pump;

#[cfg(test)]
mod tests;

/// Which way bytes go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// From the program to the server.
    ToServer,
    /// From the server to the program.
    ToClient,
    /// Both.
    Both,
}

/// What happens to connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Gate {
    /// Everything is forwarded.
    Open,
    /// Connections stay open, and nothing goes this way.
    Held(Way),
    /// Every connection is closed, and a new one as soon as it is made.
    Cut,
}

/// A proxy on a port of its own; dropping it cuts everything.
#[derive(Debug)]
pub struct Proxy {
    address: SocketAddr,
    gate: watch::Sender<Gate>,
    open: watch::Sender<usize>,
    made: watch::Sender<usize>,
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
        let gate = watch::Sender::new(Gate::Open);
        let (open, made) = (watch::Sender::new(0), watch::Sender::new(0));
        let accepting = accept(listener, upstream, gate.clone(), open.clone(), made.clone());
        Ok(Self { address, gate, open, made, accepting: tokio::spawn(accepting) })
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
        *self.open.borrow()
    }

    /// Waits until the program has made so many connections more, closed at once or not.
    pub async fn made(&self, more: usize) {
        let mut made = self.made.subscribe();
        let upto = *made.borrow() + more;
        // The sender is ours, so waiting cannot fail.
        let _ = made.wait_for(|made| *made >= upto).await;
    }

    /// Closes every connection, and new ones at once, until [`Proxy::restore`]; returns once all are closed.
    pub async fn cut(&self) {
        self.gate.send_replace(Gate::Cut);
        // The sender is ours, so waiting cannot fail.
        let _ = self.open.subscribe().wait_for(|open| *open == 0).await;
    }

    /// Takes connections again after [`Proxy::cut`].
    pub fn restore(&self) {
        self.gate.send_replace(Gate::Open);
    }

    /// Closes every connection, and lets the program make new ones.
    pub async fn reset(&self) {
        self.cut().await;
        self.restore();
    }

    /// Forwards nothing this way any more, and closes nothing: a peer that has vanished.
    pub fn hold(&self, way: Way) {
        self.gate.send_replace(Gate::Held(way));
    }

    /// Forwards again after [`Proxy::hold`], first what has come meanwhile.
    pub fn release(&self) {
        self.gate.send_replace(Gate::Open);
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.accepting.abort();
        self.gate.send_replace(Gate::Cut);
    }
}

async fn accept(
    listener: TcpListener,
    upstream: SocketAddr,
    gate: watch::Sender<Gate>,
    open: watch::Sender<usize>,
    made: watch::Sender<usize>,
) {
    // An error is one connection's that ended before it was taken, or the test's own lack of descriptors.
    while let Ok((client, _)) = listener.accept().await {
        let (gate, open) = (gate.subscribe(), open.clone());
        open.send_modify(|open| *open += 1);
        made.send_modify(|made| *made += 1);
        tokio::spawn(async move {
            connection(client, upstream, gate).await;
            open.send_modify(|open| *open -= 1);
        });
    }
}

/// Forwards until one side closes or the gate is cut, then closes both.
async fn connection(client: TcpStream, upstream: SocketAddr, gate: watch::Receiver<Gate>) {
    let mut cut = gate.clone();
    let forward = async {
        let Ok(server) = TcpStream::connect(upstream).await else { return };
        let ((from_client, to_client), (from_server, to_server)) = (client.into_split(), server.into_split());
        tokio::select! {
            _ = pump::run(from_client, to_server, Way::ToServer, gate.clone()) => {}
            _ = pump::run(from_server, to_client, Way::ToClient, gate) => {}
        }
    };
    tokio::select! {
        // First, so that nothing is forwarded once it is cut.
        biased;
        _ = cut.wait_for(|gate| *gate == Gate::Cut) => {}
        () = forward => {}
    }
}
