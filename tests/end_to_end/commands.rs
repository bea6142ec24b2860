//! The commands: what they print, how they fail, what they leave.

mod cards;
mod codes;
mod export;
mod files;
mod letters;
mod orders;
mod others;
mod payments;
mod products;
mod rounds;

use serde_json::{Value, json};
use tessera_testbed::program::Program;

/// A product of codes with nothing special.
fn card(sku: &str) -> Value {
    json!({"sku": sku, "name": "A card", "kind": "codes", "price": {"minor": 1_990, "currency": "CNY"}})
}

/// A migrated, empty shop.
async fn empty() -> Program {
    let program = Program::default();
    program.json(&["migrate"]).await;
    program
}

/// The names of an object's fields, sorted.
fn fields(value: &Value) -> Vec<&str> {
    let mut names: Vec<&str> =
        value.as_object().into_iter().flatten().map(|(name, _)| name.as_str()).collect();
    names.sort_unstable();
    names
}

/// The strings that every item of a list has under a name.
fn column<'v>(list: &'v Value, name: &str) -> Vec<&'v str> {
    list.as_array().into_iter().flatten().filter_map(|item| item[name].as_str()).collect()
}
