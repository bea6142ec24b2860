//! Ways of doing one thing, measured round by round, and how they are printed.

use std::time::Duration;

use serde_json::{Value, json};

use crate::waits::rate;

/// One way: its rate in each round.
pub(crate) struct Way {
    /// As people read it.
    name: String,
    /// As programs do.
    key: &'static str,
    rates: Vec<f64>,
}

impl Way {
    pub(crate) fn new(name: impl Into<String>, key: &'static str) -> Self {
        Self { name: name.into(), key, rates: vec![] }
    }

    /// Adds a round in which `orders` took this long.
    pub(crate) fn add(&mut self, orders: usize, took: Duration) {
        self.rates.push(rate(orders, took));
    }

    /// Orders a second: the median of the rounds, so that one round beside something else does not count.
    pub(crate) fn rate(&self) -> f64 {
        let mut rates = self.rates.clone();
        rates.sort_by(f64::total_cmp);
        rates.get(rates.len() / 2).copied().unwrap_or(f64::NAN)
    }

    fn lowest_and_highest(&self) -> (f64, f64) {
        self.rates.iter().fold((f64::INFINITY, 0.0), |(low, high), rate| (rate.min(low), rate.max(high)))
    }
}

/// How often one way's rate is another's.
pub(crate) struct Ratio {
    pub(crate) name: String,
    pub(crate) key: &'static str,
    pub(crate) value: f64,
}

/// What one run on one engine found.
pub(crate) struct Report {
    /// The engine, its version, and how durable its commits are.
    pub(crate) engine: String,
    pub(crate) ways: Vec<Way>,
    pub(crate) ratios: Vec<Ratio>,
}

/// The width of names, and of figures.
const NAME: usize = 74;
const FIGURE: usize = 9;

impl Report {
    pub(crate) fn text(&self) -> String {
        let rounds = self.ways.first().map_or(0, |way| way.rates.len());
        let mut lines = vec![format!("{}; medians of {rounds} rounds (lowest to highest)", self.engine)];
        for way in &self.ways {
            let (low, high) = way.lowest_and_highest();
            let rate = way.rate();
            lines.push(format!("  {:<NAME$} {rate:>FIGURE$.0} orders/s ({low:.0} to {high:.0})", way.name));
        }
        for Ratio { name, value, .. } in &self.ratios {
            lines.push(format!("  {name:<NAME$} {value:>FIGURE$.2}"));
        }
        lines.join("\n")
    }

    pub(crate) fn json(&self) -> Value {
        let rates = self.ways.iter().map(|way| (way.key.to_owned(), json!(way.rate())));
        let ratios = self.ratios.iter().map(|ratio| (ratio.key.to_owned(), json!(ratio.value)));
        json!({
            "engine": self.engine,
            "orders_per_second": rates.collect::<serde_json::Map<_, _>>(),
            "ratios": ratios.collect::<serde_json::Map<_, _>>(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_slow_round_moves_no_median() {
        let mut way = Way::new("a way", "a_way");
        for millis in [100, 100, 9_000] {
            way.add(10, Duration::from_millis(millis));
        }
        assert!((way.rate() - 100.0).abs() < 0.001, "{}", way.rate());
    }
}
