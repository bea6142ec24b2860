//! The task that publishes: one channel, one set at a time.
//!
//! Two tasks on one channel would get each other's confirms. A channel that failed in any way is given
//! up, and the next set opens another.

use std::sync::Arc;
use std::time::Duration;

use lapin::Channel;
use lapin::options::ConfirmSelectOptions;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

use super::failure::Failure;
use super::line::Line;
use super::link::Link;
use super::publish::confirmed;
use super::verdict::{Unconfirmed, verdicts};
use crate::{Message, PublishError};

/// How many messages wait for their confirms at a time; a larger set goes out in parts.
const IN_FLIGHT_MAX: usize = 1_000;
/// How many sets wait for the task; who comes later waits until there is room.
const INBOX: usize = 16;
/// How long the confirms of one part may take. An answer that comes later is an unknown outcome.
const CONFIRM_BOUND: Duration = Duration::from_secs(5);
/// How long nothing is sent once the exchange was missing.
const MISSING_PAUSE: Duration = Duration::from_secs(1);

type Outcomes = Vec<Result<(), PublishError>>;

/// A set to publish, and who waits for it.
pub(super) struct Job {
    pub(super) messages: Vec<Message>,
    pub(super) answer: oneshot::Sender<Outcomes>,
}

/// The task's own state.
pub(super) struct Publisher {
    line: Arc<Line>,
    exchange: String,
    open: Option<(Arc<Link>, Channel)>,
    missing_until: Option<Instant>,
}

impl Publisher {
    /// The task to spawn, and the way to it. It ends after `closing`, when the inbox is empty.
    pub(super) fn task(
        line: Arc<Line>,
        exchange: String,
        closing: CancellationToken,
    ) -> (mpsc::Sender<Job>, impl Future<Output = ()> + Send) {
        let (inbox, mut jobs) = mpsc::channel::<Job>(INBOX);
        let mut publisher = Self { line, exchange, open: None, missing_until: None };
        let task = async move {
            loop {
                let job = tokio::select! {
                    biased;
                    () = closing.cancelled(), if !jobs.is_closed() => {
                        jobs.close();
                        continue;
                    }
                    job = jobs.recv() => job,
                };
                let Some(job) = job else { break };
                publisher.work(job).await;
            }
        };
        (inbox, task)
    }

    async fn work(&mut self, Job { messages, answer }: Job) {
        let mut outcomes = Vec::with_capacity(messages.len());
        for part in messages.chunks(IN_FLIGHT_MAX) {
            outcomes.extend(self.part(part).await);
        }
        // Whoever asked may have gone.
        let _ = answer.send(outcomes);
    }

    async fn part(&mut self, part: &[Message]) -> Outcomes {
        let away = || vec![Err(PublishError::Away); part.len()];
        let Some((link, channel)) = self.channel().await else { return away() };
        let Ok(confirmed) = timeout(CONFIRM_BOUND, confirmed(&channel, &self.exchange, part)).await else {
            self.open = None;
            if !link.blocked() {
                link.end();
            }
            return away();
        };
        let lost = |why| confirmed.iter().any(|one| matches!(one, Err(other) if *other == why));
        if lost(Unconfirmed::NoExchange) {
            self.missing_until = Some(Instant::now() + MISSING_PAUSE);
        }
        if lost(Unconfirmed::NoExchange) || lost(Unconfirmed::Lost) {
            self.open = None;
        }
        let ids: Vec<_> = part.iter().map(|message| message.message_id.clone()).collect();
        verdicts(&ids, confirmed)
    }

    /// The open channel, or a new one; none while the broker is away, blocked or without the exchange.
    async fn channel(&mut self) -> Option<(Arc<Link>, Channel)> {
        let link = self.line.link().await.ok()?;
        let waits = self.missing_until.is_some_and(|until| Instant::now() < until);
        if link.blocked() || waits {
            return None;
        }
        if let Some((on, channel)) = &self.open
            && Arc::ptr_eq(on, &link)
            && channel.status().connected()
        {
            return Some((link, channel.clone()));
        }
        let channel = open(&link).await.ok()?;
        self.open = Some((Arc::clone(&link), channel.clone()));
        Some((link, channel))
    }
}

async fn open(link: &Link) -> Result<Channel, Failure> {
    let channel = link.channel().await?;
    link.trusted(channel.confirm_select(ConfirmSelectOptions::default())).await?;
    Ok(channel)
}
