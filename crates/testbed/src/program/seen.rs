//! What buyers and operators were told that must not be told to others.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;

#[derive(Default)]
struct Told {
    /// The order of each code.
    codes: HashMap<String, String>,
    /// Codes that were in the answers about two orders.
    twice: BTreeSet<String>,
    /// Tokens and keys.
    secrets: BTreeSet<String>,
}

/// Everything secret that was in an answer. Cheap to clone.
#[derive(Clone, Default)]
pub struct Seen(Arc<Mutex<Told>>);

impl Seen {
    fn told(&self) -> MutexGuard<'_, Told> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes what is in an answer.
    pub fn note(&self, answer: &Value) {
        for name in ["token", "key"] {
            if let Some(secret) = answer[name].as_str() {
                self.told().secrets.insert(secret.to_owned());
            }
        }
        if let Some(order) = answer["id"].as_str() {
            for code in named_codes(answer) {
                self.note_code(order, code);
            }
        }
        for order in answer["orders"].as_array().into_iter().flatten() {
            self.note(order);
        }
    }

    fn note_code(&self, order: &str, code: String) {
        let mut told = self.told();
        let owner = told.codes.entry(code.clone()).or_insert_with(|| order.to_owned()).clone();
        if owner != order {
            told.twice.insert(code);
        }
    }

    /// Fails the test if a code was seen on two orders.
    pub fn no_code_is_on_two_orders(&self) {
        let told = self.told();
        assert!(told.twice.is_empty(), "codes on two orders: {:?}", told.twice);
    }

    /// How many codes were seen.
    pub fn codes(&self) -> usize {
        self.told().codes.len()
    }

    /// Codes, tokens and keys.
    pub fn secrets(&self) -> Vec<String> {
        let told = self.told();
        told.codes.keys().chain(&told.secrets).cloned().collect()
    }
}

/// The codes of an order's JSON; a number with its round, for each round has the same numbers.
fn named_codes(order: &Value) -> Vec<String> {
    let name = |code: &Value| {
        let text = code["code"].as_str()?;
        Some(code["round"].as_str().map_or_else(|| text.to_owned(), |round| format!("{round}/{text}")))
    };
    of_lines(order).filter_map(name).collect()
}

fn of_lines(order: &Value) -> impl Iterator<Item = &Value> {
    let lines = order["lines"].as_array().into_iter().flatten();
    lines.flat_map(|line| line["codes"].as_array().into_iter().flatten())
}

/// The codes of an order's JSON.
pub(super) fn codes_in(order: &Value) -> Vec<String> {
    of_lines(order).filter_map(|code| code["code"].as_str().map(str::to_owned)).collect()
}
