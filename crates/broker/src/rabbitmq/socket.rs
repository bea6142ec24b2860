//! A second handle on a connection's socket, to end the connection whatever the library waits for.
//!
//! The library reads and writes on a thread of its own and stops when the socket ends. While it is
//! blocked, or before the handshake is done, nothing else stops it.

use std::net::{Shutdown, TcpStream};
use std::sync::{Mutex, PoisonError};
use std::{io, os::fd::AsFd};

/// The socket of one connection, once it is open.
#[derive(Debug, Default)]
pub(super) struct Socket(Mutex<Slot>);

#[derive(Debug, Default)]
enum Slot {
    #[default]
    Empty,
    Open(TcpStream),
    Ended,
}

impl Socket {
    /// Keeps a handle on the socket; ends it at once if the connection was given up meanwhile.
    pub(super) fn keep(&self, socket: &impl AsFd) -> io::Result<()> {
        let second = TcpStream::from(socket.as_fd().try_clone_to_owned()?);
        // Small frames, such as acknowledgements, must not wait for each other.
        second.set_nodelay(true)?;
        let mut slot = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if matches!(*slot, Slot::Ended) {
            return Err(io::ErrorKind::ConnectionAborted.into());
        }
        *slot = Slot::Open(second);
        Ok(())
    }

    /// Ends the connection: both sides see its end.
    pub(super) fn end(&self) {
        let mut slot = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Slot::Open(socket) = std::mem::replace(&mut *slot, Slot::Ended) {
            // It fails only if the socket has ended already.
            let _ = socket.shutdown(Shutdown::Both);
        }
    }
}
