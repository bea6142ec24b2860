//! Why a request to the broker failed, told apart as far as anyone acts on it.

use std::time::Duration;

use lapin::ErrorKind;
use tokio::time::timeout;

use crate::BrokerError;

/// How long an answer of the broker may take: opening, declaring, registering, closing.
///
/// A broker that needs longer is as good as away; heartbeats would say so after 10 s.
pub(super) const ANSWER_BOUND: Duration = Duration::from_secs(5);

/// AMQP's reply code for an exchange or queue that does not exist.
const NOT_FOUND: u16 = 404;
/// AMQP's reply code for a declaration that differs from what exists.
const PRECONDITION_FAILED: u16 = 406;
/// AMQP's reply code for a queue that another connection has for itself.
const RESOURCE_LOCKED: u16 = 405;

/// What came of a request.
#[derive(Debug)]
pub(super) enum Failure {
    /// No answer within the bound; the connection is not to be trusted.
    Silence,
    /// What it names does not exist; the channel is closed.
    NotFound,
    /// What it declares exists otherwise: the broker's text; the channel is closed.
    Differs(String),
    /// Everything else: the channel is of no use.
    Broken(String),
}

impl From<lapin::Error> for Failure {
    fn from(error: lapin::Error) -> Self {
        let ErrorKind::ProtocolError(refusal) = error.kind() else { return Self::Broken(error.to_string()) };
        match refusal.get_id() {
            NOT_FOUND => Self::NotFound,
            PRECONDITION_FAILED | RESOURCE_LOCKED => Self::Differs(refusal.get_message().to_string()),
            _ => Self::Broken(error.to_string()),
        }
    }
}

impl Failure {
    /// The failure, where a missing exchange or queue has no meaning of its own.
    pub(super) fn away(self) -> BrokerError {
        BrokerError::Away(match self {
            Self::Silence => "no answer in time".to_owned(),
            Self::NotFound => "an exchange or queue is missing; an issuer declares it".to_owned(),
            Self::Differs(text) | Self::Broken(text) => text,
        })
    }
}

/// Waits for an answer of the broker, not longer than [`ANSWER_BOUND`].
pub(super) async fn bounded<T>(answer: impl Future<Output = lapin::Result<T>>) -> Result<T, Failure> {
    match timeout(ANSWER_BOUND, answer).await {
        Ok(answer) => Ok(answer?),
        Err(_) => Err(Failure::Silence),
    }
}
