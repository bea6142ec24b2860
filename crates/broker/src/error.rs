//! Why something did not happen. No error carries a message's body.

/// Why one message is not known to be in a queue; the sweeper will publish it again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PublishError {
    /// The queue holds as much as it may.
    #[error("the queue is full")]
    Full,
    /// No queue is bound for the routing key.
    #[error("no queue is bound for the routing key")]
    Unroutable,
    /// The broker answered, and did not take it.
    #[error("the broker refused the message")]
    Refused,
    /// The broker cannot be reached or did not answer in time. It may have the message after all.
    #[error("the broker is away")]
    Away,
}

/// Why the broker could not do what it was asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BrokerError {
    /// It cannot be reached, for the reason given; try again later.
    #[error("the broker is away: {0}")]
    Away(String),
    /// The consumer's session is over; what it had not acknowledged comes again to the next one.
    #[error("the consumer's session is lost")]
    SessionLost,
    /// This side closed the broker for good; trying again is of no use.
    #[error("the broker is closed")]
    Closed,
    /// An exchange or a queue is not what this program wants; says which, how, and what to do.
    #[error("{0}")]
    Topology(String),
    /// There is no issue queue for this partition.
    #[error("partition {0} has no queue")]
    NoQueue(u16),
}
