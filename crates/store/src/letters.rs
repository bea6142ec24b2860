//! Dead letters and lone tries.

use async_trait::async_trait;
use tessera_model::ids::{LetterId, OrderId};
use tessera_model::time::Timestamp;

use crate::error::Result;

/// Where a dead letter is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LetterState {
    /// Waits for an operator.
    Open,
    /// Being replayed.
    Replaying,
    /// Its order was issued, or nothing was left to do.
    Resolved,
    /// An operator put it away.
    Discarded,
}

impl LetterState {
    /// Every state.
    pub const ALL: [Self; 4] = [Self::Open, Self::Replaying, Self::Resolved, Self::Discarded];

    /// The word in SQL and JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Replaying => "replaying",
            Self::Resolved => "resolved",
            Self::Discarded => "discarded",
        }
    }

    /// Reads the word.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|s| s.as_str() == text)
    }
}

/// A message that could not be done, kept until someone decides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Letter {
    /// Its id.
    pub id: LetterId,
    /// The message's id.
    pub message_id: Option<String>,
    /// The message's type.
    pub event: Option<String>,
    /// The order it was about.
    pub order: Option<OrderId>,
    /// Why.
    pub reason: String,
    /// The same for letters that failed alike.
    pub fingerprint: String,
    /// How often it was tried.
    pub attempts: i64,
    /// Where it is.
    pub state: LetterState,
    /// The message.
    pub body: Vec<u8>,
    /// When it failed first.
    pub first_failed_at: Timestamp,
    /// When it failed last.
    pub last_failed_at: Timestamp,
}

/// How much of a message a letter keeps, in bytes.
const BODY_MAX: usize = 65_536;

/// How much of a message's id and type, in characters: AMQP allows no more than 255 bytes.
const PROPERTY_MAX: usize = 255;

impl Letter {
    /// An open letter about a message, cut to what a database takes; why it failed, its id and its times are
    /// for the caller to say.
    pub fn about(message_id: Option<&str>, event: Option<&str>, body: &[u8]) -> Self {
        let never = Timestamp::from_micros(0);
        Self {
            id: LetterId::new(never, [0; 10]),
            message_id: message_id.map(printable),
            event: event.map(printable),
            order: None,
            reason: String::new(),
            fingerprint: String::new(),
            attempts: 0,
            state: LetterState::Open,
            body: body[..body.len().min(BODY_MAX)].to_vec(),
            first_failed_at: never,
            last_failed_at: never,
        }
    }

    /// The same letter, about a failure at `now`.
    #[must_use]
    pub fn failed_at(self, now: Timestamp, id: LetterId) -> Self {
        Self { id, first_failed_at: now, last_failed_at: now, ..self }
    }
}

/// What a stranger wrote into a message's properties, without what a database refuses.
fn printable(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(PROPERTY_MAX).collect()
}

/// Operations on dead letters.
#[async_trait]
pub trait LetterOps {
    /// Keeps letters. One about an order that has a live letter becomes that letter's latest failure.
    async fn letters_put(&mut self, letters: &[Letter]) -> Result<()>;

    /// Resolves the live letters of these orders.
    async fn letters_resolve(&mut self, orders: &[OrderId]) -> Result<()>;

    /// Letters newest first: in `state`, or else those open or replaying.
    async fn letters_list(
        &mut self,
        state: Option<LetterState>,
        before: Option<LetterId>,
        limit: i64,
    ) -> Result<Vec<Letter>>;

    /// One letter.
    async fn letters_read(&mut self, id: LetterId) -> Result<Option<Letter>>;

    /// Counts one more lone try of each order; returns the counts.
    async fn attempts_raise(&mut self, orders: &[OrderId]) -> Result<Vec<(OrderId, i64)>>;

    /// Forgets the lone tries of orders that have an outcome.
    async fn attempts_clear(&mut self, orders: &[OrderId]) -> Result<()>;
}
