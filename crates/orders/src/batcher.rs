//! Natural batching: while one set commits, the next gathers. No timer, no added delay when idle.

use tessera_store::SET_MAX;
use tokio::sync::{mpsc, oneshot};

/// The most inputs that wait for a set: 32 full ones, well under a second of work.
const WAITING_MAX: usize = 8_192;

/// Too many inputs wait already; nothing was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("too many requests are waiting")]
pub struct Busy;

struct Waiting<I, O> {
    input: I,
    answer: oneshot::Sender<O>,
}

/// A task that takes inputs one by one and runs them in sets, one set at a time.
///
/// Dropping the last handle ends the task after the set in hand.
pub struct Batcher<I, O> {
    waiting: mpsc::Sender<Waiting<I, O>>,
}

impl<I, O> Clone for Batcher<I, O> {
    fn clone(&self) -> Self {
        Self { waiting: self.waiting.clone() }
    }
}

impl<I: Send + 'static, O: Send + 'static> Batcher<I, O> {
    /// Starts the task. `run` gets at most [`SET_MAX`] inputs and returns one outcome an input, in order.
    pub fn spawn<F>(run: impl Fn(Vec<I>) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Vec<O>> + Send + 'static,
    {
        let (waiting, inbox) = mpsc::channel(WAITING_MAX);
        tokio::spawn(serve(inbox, run));
        Self { waiting }
    }

    /// Joins the next set; waits for a place in it, however long the queue.
    ///
    /// The input is run even if the caller stops waiting once it has its place.
    ///
    /// # Errors
    /// [`Busy`] when its set panicked.
    pub async fn submit(&self, input: I) -> Result<O, Busy> {
        let (answer, outcome) = oneshot::channel();
        self.waiting.send(Waiting { input, answer }).await.map_err(|_| Busy)?;
        outcome.await.map_err(|_| Busy)
    }

    /// Joins the next set, unless too many wait.
    ///
    /// # Errors
    /// [`Busy`] when they do.
    pub async fn try_submit(&self, input: I) -> Result<O, Busy> {
        let (answer, outcome) = oneshot::channel();
        self.waiting.try_send(Waiting { input, answer }).map_err(|_| Busy)?;
        outcome.await.map_err(|_| Busy)
    }
}

async fn serve<I, O, F>(mut inbox: mpsc::Receiver<Waiting<I, O>>, run: impl Fn(Vec<I>) -> F)
where
    O: Send + 'static,
    F: Future<Output = Vec<O>> + Send + 'static,
{
    let mut set = Vec::with_capacity(SET_MAX);
    while inbox.recv_many(&mut set, SET_MAX).await > 0 {
        let (inputs, answers): (Vec<I>, Vec<_>) = set.drain(..).map(|w| (w.input, w.answer)).unzip();
        // In a task of its own: a panic costs this set its answers, and no later one.
        let Ok(outcomes) = tokio::spawn(run(inputs)).await else { continue };
        for (answer, outcome) in answers.into_iter().zip(outcomes) {
            // A caller that went away is no fault of the set.
            let _gone = answer.send(outcome);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};
    use tokio::sync::Semaphore;

    #[tokio::test]
    async fn inputs_that_come_while_a_set_runs_make_one_set() {
        let (gate, sizes) = (Arc::new(Semaphore::new(0)), Arc::new(Mutex::new(vec![])));
        let started = Arc::new(Semaphore::new(0));
        let batcher = Batcher::spawn({
            let (gate, sizes, started) = (Arc::clone(&gate), Arc::clone(&sizes), Arc::clone(&started));
            move |set: Vec<u32>| {
                let (gate, sizes, started) = (Arc::clone(&gate), Arc::clone(&sizes), Arc::clone(&started));
                async move {
                    sizes.lock().unwrap().push(set.len());
                    started.add_permits(1);
                    gate.acquire().await.unwrap().forget();
                    set.into_iter().map(|n| n * 2).collect()
                }
            }
        });
        let ask = |n| {
            let batcher = batcher.clone();
            tokio::spawn(async move { batcher.submit(n).await.unwrap() })
        };
        let first = ask(1);
        started.acquire().await.unwrap().forget();
        let rest: Vec<_> = (2..=6).map(ask).collect();
        while batcher.waiting.capacity() > WAITING_MAX - 5 {
            tokio::task::yield_now().await;
        }
        gate.add_permits(2);
        assert_eq!(first.await.unwrap(), 2);
        for (n, answer) in (2..).zip(rest) {
            assert_eq!(answer.await.unwrap(), n * 2);
        }
        assert_eq!(*sizes.lock().unwrap(), [1, 5]);
    }

    #[tokio::test]
    async fn a_set_that_panics_takes_no_later_one_with_it() {
        let batcher = Batcher::spawn(async |set: Vec<u32>| {
            assert!(!set.contains(&13), "a fault of ours");
            set
        });
        assert_eq!(batcher.submit(13).await, Err(Busy));
        assert_eq!(batcher.submit(7).await, Ok(7));
    }

    #[tokio::test]
    async fn a_full_queue_refuses_and_forgets_nothing_it_took() {
        let gate = Arc::new(Semaphore::new(0));
        let batcher = Batcher::spawn({
            let gate = Arc::clone(&gate);
            move |set: Vec<usize>| {
                let gate = Arc::clone(&gate);
                async move {
                    let _permit = gate.acquire().await;
                    set
                }
            }
        });
        let mut taken = vec![];
        for n in 0..WAITING_MAX + SET_MAX {
            let batcher = batcher.clone();
            taken.push(tokio::spawn(async move { batcher.submit(n).await }));
        }
        while batcher.waiting.capacity() > 0 {
            tokio::task::yield_now().await;
        }
        assert_eq!(batcher.try_submit(0).await, Err(Busy));
        gate.close();
        for (n, answer) in taken.into_iter().enumerate() {
            assert_eq!(answer.await.unwrap(), Ok(n));
        }
    }
}
