//! A sale at a steady rate: each order has its instant, whatever became of those before it.

use std::collections::HashSet;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::ensure;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::buyer::Buyer;

/// Buyers, each with a connection. An order is late only while all of them wait for answers, and its lateness counts.
const BUYERS: u32 = 128;

/// One sale.
pub(super) struct Sold {
    /// When it was to be ordered.
    pub(super) due: Instant,
    /// From asking to pay to the code.
    pub(super) waited: Duration,
    /// From when it was to be ordered to the code.
    pub(super) whole: Duration,
    code: String,
}

/// A sale that goes on.
pub(super) struct Steady {
    over: watch::Sender<bool>,
    buyers: JoinSet<anyhow::Result<Vec<Sold>>>,
}

impl Steady {
    /// So many orders a second from now on, for one each; nobody buys at a rate of 0.
    pub(super) fn start(at: SocketAddr, sku: &'static str, rate: u32) -> Self {
        let (over, began, count) = (watch::Sender::new(false), Instant::now(), BUYERS.min(rate));
        let mut buyers = JoinSet::new();
        for number in 0..count {
            let turns = (number..).step_by(usize::try_from(count).unwrap_or(usize::MAX));
            let turns = turns.map(move |nth| (nth, began + instant(nth, rate)));
            buyers.spawn(buy(at, sku, turns, over.subscribe()));
        }
        Self { over, buyers }
    }

    /// Ends it; returns all that was sold, in no order.
    ///
    /// # Errors
    /// An order or a payment was refused, or a code was sold twice.
    pub(super) async fn end(mut self) -> anyhow::Result<Vec<Sold>> {
        self.over.send_replace(true);
        let mut all = vec![];
        while let Some(sold) = self.buyers.join_next().await {
            all.extend(sold??);
        }
        let codes: HashSet<&str> = all.iter().map(|sold: &Sold| sold.code.as_str()).collect();
        ensure!(codes.len() == all.len(), "a code was seen twice");
        Ok(all)
    }
}

/// When after the beginning the nth order is due.
fn instant(nth: u32, rate: u32) -> Duration {
    Duration::from_micros(u64::from(nth) * 1_000_000 / u64::from(rate.max(1)))
}

/// Buys once at each of these instants, or as soon after it as the one before is answered.
async fn buy(
    at: SocketAddr,
    sku: &'static str,
    turns: impl Iterator<Item = (u32, Instant)> + Send,
    over: watch::Receiver<bool>,
) -> anyhow::Result<Vec<Sold>> {
    let mut buyer = Buyer::open(at, sku.to_owned()).await?;
    let mut all = vec![];
    for (nth, due) in turns {
        tokio::time::sleep_until(due.into()).await;
        if *over.borrow() {
            break;
        }
        let bought = buyer.buy(&format!("steady-{}-{nth}", std::process::id())).await?;
        all.push(Sold { due, waited: bought.waited, whole: due.elapsed(), code: bought.code });
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_hundred_a_second_are_two_milliseconds_apart() {
        assert_eq!(instant(3, 500), Duration::from_millis(6));
        assert_eq!(instant(500, 500), Duration::from_secs(1));
    }
}
