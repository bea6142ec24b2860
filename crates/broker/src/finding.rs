//! What `doctor` reads about the broker.

/// One exchange, queue or property of the broker that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What it is: `queue tessera.issue.0`, `exchange tessera.events`, `RabbitMQ 3.10.8`.
    pub name: String,
    /// How it is.
    pub found: Found,
}

/// How something was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// As this program wants it.
    AsWanted,
    /// Not there; the first issuer declares it.
    Missing,
    /// There with other arguments: what differs and what to do.
    Different(String),
    /// It works, and is worth a note: why, and what would be better.
    Noted(String),
}
