//! Taking connections, and one of them from its start to its end.

use std::net::SocketAddr;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

use super::commit::{Armed, Doom};
use super::gate::{End, Gate, Way};
use super::pump;

/// What the proxy and its connections share.
#[derive(Debug, Clone)]
pub(super) struct Shared {
    pub(super) gate: watch::Sender<Gate>,
    pub(super) open: watch::Sender<usize>,
    pub(super) made: watch::Sender<usize>,
    pub(super) armed: Armed,
}

impl Default for Shared {
    fn default() -> Self {
        let (open, made) = (watch::Sender::new(0), watch::Sender::new(0));
        Self { gate: watch::Sender::new(Gate::Open), open, made, armed: Armed::default() }
    }
}

pub(super) async fn accept(listener: TcpListener, upstream: SocketAddr, shared: Shared) {
    // An error is one connection's that ended before it was taken, or the test's own lack of descriptors.
    while let Ok((client, _)) = listener.accept().await {
        let Shared { gate, open, made, armed } = shared.clone();
        open.send_modify(|open| *open += 1);
        made.send_modify(|made| *made += 1);
        // Subscribed before the proxy could be cut: it would wait for this one.
        let gate = gate.subscribe();
        tokio::spawn(async move {
            let doom = Doom::new(armed);
            connection(client, upstream, gate, &doom).await;
            open.send_modify(|open| *open -= 1);
            doom.fulfil();
        });
    }
}

/// Forwards until one side closes or the gate is cut, then closes both.
async fn connection(mut client: TcpStream, upstream: SocketAddr, gate: watch::Receiver<Gate>, doom: &Doom) {
    let mut cut = gate.clone();
    let cut = async {
        // Without the proxy there is nothing more to forward either.
        match cut.wait_for(|gate| matches!(gate, Gate::Cut(_))).await.as_deref() {
            Ok(Gate::Cut(end)) => *end,
            _ => End::Close,
        }
    };
    let mut server = None;
    let end = tokio::select! {
        // First, so that nothing is forwarded once it is cut.
        biased;
        end = cut => end,
        () = forward(&mut client, upstream, &mut server, gate, doom) => End::Close,
    };
    if end == End::Reset {
        for stream in server.iter().chain([&client]) {
            // One that is gone already needs no reset.
            let _ = stream.set_zero_linger();
        }
    }
}

async fn forward(
    client: &mut TcpStream,
    upstream: SocketAddr,
    server: &mut Option<TcpStream>,
    gate: watch::Receiver<Gate>,
    doom: &Doom,
) {
    let Ok(connected) = TcpStream::connect(upstream).await else { return };
    let (from_client, to_client) = client.split();
    let (from_server, to_server) = server.insert(connected).split();
    tokio::select! {
        _ = pump::run(from_client, to_server, Way::ToServer, gate.clone(), doom.client()) => {}
        _ = pump::run(from_server, to_client, Way::ToClient, gate, doom.server()) => {}
    }
}
