//! The listener: connections with a limit to their number and to the time a client may take.
//!
//! Without those a few hundred clients that say nothing would keep payment notices out.

use std::io::ErrorKind;
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tessera_api::Router;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

/// How long a client may take over a request's head, and be silent between two requests.
const HEAD_WITHIN: Duration = Duration::from_secs(20);

/// While fewer than one place in so many is free, a client is let go after its answer: one that keeps its connection
/// for its next request would keep those out who wait for a place.
const SCARCE: usize = 2;

/// How long accepting rests when the system has no more to give.
const REST: Duration = Duration::from_millis(200);

/// Serves until `stop`, and then until the answers under way are given. At most `clients` are connected at once;
/// further ones wait in the system's queue.
pub(super) async fn serve(listener: TcpListener, router: Router, clients: u64, stop: CancellationToken) {
    let clients = usize::try_from(clients).unwrap_or(Semaphore::MAX_PERMITS).min(Semaphore::MAX_PERMITS);
    let (graceful, places) = (GracefulShutdown::new(), Arc::new(Semaphore::new(clients)));
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD_WITHIN);
    loop {
        let accepted = tokio::select! {
            biased;
            () = stop.cancelled() => break,
            accepted = accept(&listener, &places) => accepted,
        };
        let Some((stream, place)) = accepted else { continue };
        http.keep_alive(places.available_permits() >= clients / SCARCE);
        let service = TowerToHyperService::new(router.clone());
        let connection = graceful.watch(http.serve_connection(TokioIo::new(stream), service));
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(%error, "a connection ended early");
            }
            drop(place);
        });
    }
    drop(listener);
    graceful.shutdown().await;
}

/// The next connection, once there is a place for it.
async fn accept(
    listener: &TcpListener,
    places: &Arc<Semaphore>,
) -> Option<(TcpStream, OwnedSemaphorePermit)> {
    let place = Arc::clone(places).acquire_owned().await.ok()?;
    match listener.accept().await {
        Ok((stream, _)) => {
            // An answer is one write: waiting to fill a packet only delays it.
            let _best_effort = stream.set_nodelay(true);
            Some((stream, place))
        }
        Err(error) => {
            let theirs = [ErrorKind::ConnectionAborted, ErrorKind::ConnectionReset];
            if !theirs.contains(&error.kind()) {
                tracing::warn!(%error, "no connection can be accepted right now");
                tokio::time::sleep(REST).await;
            }
            None
        }
    }
}
