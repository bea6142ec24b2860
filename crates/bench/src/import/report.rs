//! What an import came to, as people and programs read it.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::steady::Sold;
use crate::waits::{Waits, rate};

/// What an import has to come to: its rate in that of plain rows, and the most memory it takes (150 MB), in KiB.
const RATIO_MIN: f64 = 0.3;
const MEMORY_KIB_MAX: u64 = 150_000_000 / 1_024;

/// What the import took.
pub(super) struct Took {
    pub(super) time: Duration,
    /// The most memory that its process was seen to have.
    pub(super) memory_kib_max: u64,
}

/// A time during which something was done.
pub(super) struct Stretch {
    pub(super) name: &'static str,
    pub(super) from: Instant,
    pub(super) upto: Instant,
}

/// All that was measured.
pub(super) struct Measured {
    pub(super) shop: String,
    pub(super) lines: usize,
    /// Orders a second that were to be placed.
    pub(super) rate: u32,
    pub(super) import: Took,
    /// How the plain rows were stored, and how long it took.
    pub(super) way: String,
    pub(super) plain: Duration,
    pub(super) stretches: Vec<Stretch>,
    pub(super) sold: Vec<Sold>,
}

/// What buyers saw during a stretch.
struct Seen {
    name: &'static str,
    rate: f64,
    /// From paying to the code, and from when the order was due.
    waited: Waits,
    whole: Waits,
}

impl Seen {
    fn json(&self) -> Value {
        json!({
            "during": self.name, "sales": self.waited.count(), "sales_per_second": self.rate,
            "pay_to_codes_p50_ms": self.waited.millis(50), "pay_to_codes_p99_ms": self.waited.millis(99),
            "pay_to_codes_longest_ms": self.waited.millis(100),
            "due_to_codes_p99_ms": self.whole.millis(99), "due_to_codes_longest_ms": self.whole.millis(100),
        })
    }

    fn line(&self) -> String {
        let [p50, p99, longest] = [50, 99, 100].map(|percent| self.waited.millis(percent));
        let (whole, latest) = (self.whole.millis(99), self.whole.millis(100));
        let (name, rate) = (self.name, self.rate);
        format!("{name:<16} {rate:>9.1} {p50:>9.1} {p99:>9.1} {longest:>9.1} {whole:>9.1} {latest:>9.1}")
    }
}

impl Measured {
    /// The import's rate in that of plain rows.
    pub(super) fn ratio(&self) -> f64 {
        self.plain.as_secs_f64() / self.import.time.as_secs_f64()
    }

    /// Of each stretch in which something was sold.
    fn seen(&self) -> Vec<Seen> {
        self.stretches.iter().filter_map(|stretch| self.seen_during(stretch)).collect()
    }

    fn seen_during(&self, stretch: &Stretch) -> Option<Seen> {
        let sold = || self.sold.iter().filter(|sold| (stretch.from..stretch.upto).contains(&sold.due));
        let waited = Waits::new(sold().map(|sold| sold.waited).collect())?;
        let whole = Waits::new(sold().map(|sold| sold.whole).collect())?;
        let rate = waited.rate(stretch.upto.duration_since(stretch.from));
        Some(Seen { name: stretch.name, rate, waited, whole })
    }

    pub(super) fn json(&self) -> Value {
        let (import, plain) = (self.import.time, self.plain);
        json!({
            "shop": self.shop, "lines": self.lines, "orders_per_second_asked": self.rate,
            "import": {
                "lines_per_second": rate(self.lines, import), "seconds": import.as_secs_f64(),
                "memory_kib_max": self.import.memory_kib_max,
            },
            "plain": {
                "way": self.way, "rows_per_second": rate(self.lines, plain), "seconds": plain.as_secs_f64(),
            },
            "ratio": self.ratio(), "ratio_min": RATIO_MIN, "memory_kib_limit": MEMORY_KIB_MAX,
            "sale": self.seen().iter().map(Seen::json).collect::<Vec<_>>(),
        })
    }

    fn text(&self) -> String {
        let row = |name: &str, took: Duration, more: String| {
            let (lines, seconds) = (rate(self.lines, took), took.as_secs_f64());
            format!("{name:<24} {lines:>9.0} {seconds:>8.1} s{more}")
        };
        let (ratio, memory) = (self.ratio(), self.import.memory_kib_max);
        let met = |holds| if holds { "met" } else { "missed" };
        let mut text = vec![
            format!("{} codes into {}, beside {} orders/s", self.lines, self.shop, self.rate),
            format!("{:<24} {:>9}", "", "lines/s"),
            row("tessera codes import", self.import.time, format!(", at most {} MiB", memory / 1_024)),
            row(&self.way, self.plain, String::new()),
            format!("ratio {ratio:.2} (mark: {RATIO_MIN} or more, {})", met(ratio >= RATIO_MIN)),
            format!("memory (mark: below 150 MB, {})", met(memory < MEMORY_KIB_MAX)),
        ];
        let seen = self.seen();
        if !seen.is_empty() {
            text.push(
                "\nthe sale meanwhile; ms from paying to the code, and from when the order was due"
                    .to_owned(),
            );
            let names = ["sales/s", "p50", "p99", "longest", "due p99", "longest"];
            text.push(format!("{:<16}", "") + &names.map(|name| format!(" {name:>9}")).concat());
            text.extend(seen.iter().map(Seen::line));
        }
        text.join("\n")
    }
}

#[expect(clippy::print_stdout, reason = "the result")]
pub(super) fn print(measured: &Measured, as_json: bool) -> anyhow::Result<()> {
    match as_json {
        true => println!("{}", serde_json::to_string_pretty(&measured.json())?),
        false => println!("{}", measured.text()),
    }
    Ok(())
}
