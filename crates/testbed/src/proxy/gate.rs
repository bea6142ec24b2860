//! What a proxy does to its connections.

use std::time::Duration;

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

impl Way {
    fn covers(self, way: Self) -> bool {
        self == way || self == Self::Both
    }
}

/// How a connection is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// As a program closes that is done.
    Close,
    /// By a RST: what was on its way is thrown away.
    Reset,
}

/// How long bytes are on their way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Link {
    pub(super) delay: Duration,
    /// No limit without one.
    pub(super) bytes_per_second: Option<u32>,
}

/// What happens to connections, one thing at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Gate {
    /// Everything is forwarded.
    Open,
    /// Everything is forwarded, and takes its time.
    Slow(Link),
    /// Connections stay open, and nothing goes this way.
    Held(Way),
    /// A connection ends once so many bytes more have gone this way.
    CutAfter(u64, Way),
    /// Every connection is ended, and a new one as soon as it is made.
    Cut(End),
}

impl Gate {
    pub(super) fn lets(self, way: Way) -> bool {
        match self {
            Self::Open | Self::Slow(_) | Self::CutAfter(..) => true,
            Self::Held(held) => !held.covers(way),
            Self::Cut(_) => false,
        }
    }

    /// How many bytes may still go this way on each connection, counted from now.
    pub(super) fn allowance(self, way: Way) -> Option<u64> {
        match self {
            Self::CutAfter(bytes, cut) if cut.covers(way) => Some(bytes),
            _ => None,
        }
    }

    pub(super) fn link(self) -> Link {
        match self {
            Self::Slow(link) => link,
            _ => Link::default(),
        }
    }
}
