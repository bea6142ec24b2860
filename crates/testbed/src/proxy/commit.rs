//! Taking the reply to a COMMIT away from the client that sent it.
//!
//! Only so much of PostgreSQL's protocol is read as shows where a message begins and ends, and which one it is.

use std::io;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use tokio::sync::oneshot;

use super::pump::ended;

/// `COMMIT` as a query of its own, which is how the store sends it.
const COMMIT: &[u8] = b"Q\0\0\0\x0bCOMMIT\0";
/// Ready for the next query, and in no transaction.
const READY: &[u8] = b"Z\0\0\0\x05I";
/// How much of a message is kept: as much as the longest one looked for, and its first byte too many.
const KEPT: usize = COMMIT.len() + 1;
/// A message's length counts itself, and not its kind before it.
const LENGTH: usize = 4;
/// What a first message says that asks for encryption, and is followed by another first message.
const ENCRYPTION: [u32; 2] = [80_877_103, 80_877_104];

/// The test that waits for the next COMMIT to lose its reply.
#[derive(Debug, Clone, Default)]
pub(super) struct Armed(Arc<Mutex<Option<oneshot::Sender<()>>>>);

impl Armed {
    /// Arms it for the next COMMIT of any connection.
    pub(super) fn arm(&self) -> oneshot::Receiver<()> {
        let (happened, waiting) = oneshot::channel();
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(happened);
        waiting
    }

    fn take(&self) -> Option<oneshot::Sender<()>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Whether a connection has sent the COMMIT that is waited for: then nothing reaches its client any more.
#[derive(Debug)]
pub(super) struct Doom {
    armed: Armed,
    sealed: OnceLock<oneshot::Sender<()>>,
}

impl Doom {
    pub(super) fn new(armed: Armed) -> Self {
        Self { armed, sealed: OnceLock::new() }
    }

    pub(super) fn client(&self) -> Side<'_> {
        Side::Client(Messages::of_a_client(), self)
    }

    pub(super) fn server(&self) -> Side<'_> {
        Side::Server(Messages::of_a_server(), self)
    }

    /// Tells the test, once the connection is closed.
    pub(super) fn fulfil(self) {
        if let Some(happened) = self.sealed.into_inner() {
            // The test may have stopped waiting.
            let _ = happened.send(());
        }
    }
}

/// Whose bytes are looked at.
pub(super) enum Side<'a> {
    Client(Messages, &'a Doom),
    Server(Messages, &'a Doom),
}

impl Side<'_> {
    /// Whether these bytes may be forwarded; an error where the connection has to end.
    pub(super) fn lets(&mut self, bytes: &[u8]) -> io::Result<bool> {
        match self {
            Self::Client(messages, doom) => {
                if messages.contain(COMMIT, bytes)
                    && let Some(happened) = doom.armed.take()
                {
                    // A connection ends with its first, so none is there yet.
                    let _ = doom.sealed.set(happened);
                }
                Ok(true)
            }
            Self::Server(messages, doom) => {
                let ready = messages.contain(READY, bytes);
                match doom.sealed.get() {
                    None => Ok(true),
                    Some(_) if ready => Err(ended()),
                    Some(_) => Ok(false),
                }
            }
        }
    }
}

/// The messages in a stream of bytes, whatever packets they come in.
pub(super) struct Messages {
    /// The start of the message under way.
    head: Vec<u8>,
    /// How many bytes of it have come.
    come: usize,
    /// What the next message is.
    next: Next,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    /// A client's first: without a kind.
    First,
    /// A server's first: one byte alone where encryption was asked for.
    Answer,
    /// Any other: a kind, a length, a body.
    Usual,
}

impl Messages {
    fn of_a_client() -> Self {
        Self { head: Vec::with_capacity(KEPT), come: 0, next: Next::First }
    }

    fn of_a_server() -> Self {
        Self { next: Next::Answer, ..Self::of_a_client() }
    }

    /// Whether one of the messages that end in these bytes is `wanted`.
    fn contain(&mut self, wanted: &[u8], bytes: &[u8]) -> bool {
        let mut found = false;
        for byte in bytes {
            self.come += 1;
            if self.head.len() < KEPT {
                self.head.push(*byte);
            }
            if self.is_whole() {
                found |= self.next == Next::Usual && self.head == wanted;
                self.next = self.following();
                self.head.clear();
                self.come = 0;
            }
        }
        found
    }

    fn is_whole(&self) -> bool {
        let kind = match self.next {
            Next::First => 0,
            Next::Answer if matches!(self.head[0], b'N' | b'S') => return true,
            Next::Answer | Next::Usual => 1,
        };
        self.number(kind).is_some_and(|length| self.come >= kind + length.max(LENGTH))
    }

    fn following(&self) -> Next {
        let code = self.number(LENGTH).and_then(|code| u32::try_from(code).ok());
        match self.next {
            Next::First if code.is_some_and(|code| ENCRYPTION.contains(&code)) => Next::First,
            _ => Next::Usual,
        }
    }

    /// The number of four bytes at this place of the message under way.
    fn number(&self, at: usize) -> Option<usize> {
        let bytes = self.head.get(at..at + LENGTH)?;
        usize::try_from(u32::from_be_bytes(bytes.try_into().ok()?)).ok()
    }
}
