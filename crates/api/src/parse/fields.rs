//! Reads the fields of an object, gathering every fault.

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use tessera_model::money::{Currency, Money};
use tessera_model::time::Timestamp;

use crate::instant::timestamp;
use crate::problem::{FieldError, Problem};

/// An object being read. Fields that nobody asked for are faults too.
pub struct Fields {
    pointer: String,
    object: Map<String, Value>,
    errors: Vec<FieldError>,
}

impl Fields {
    /// The object at the root of a document.
    ///
    /// # Errors
    /// A [`Problem`] when it is no object.
    pub fn root(value: Value) -> Result<Self, Problem> {
        Self::at(String::new(), value).map_err(|e| Problem::invalid(vec![e]))
    }

    /// The object at `pointer`.
    ///
    /// # Errors
    /// The fault, when it is no object.
    pub fn at(pointer: String, value: Value) -> Result<Self, FieldError> {
        match value {
            Value::Object(object) => Ok(Self { pointer, object, errors: vec![] }),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                Err(FieldError { pointer, detail: "is not an object: give {…}".to_owned() })
            }
        }
    }

    /// Notes a fault of a field.
    pub fn fault(&mut self, name: &str, detail: impl std::fmt::Display) {
        let pointer = self.pointer_of(name);
        self.errors.push(FieldError { pointer, detail: detail.to_string() });
    }

    /// Notes faults found elsewhere in this object.
    pub fn faults(&mut self, errors: Vec<FieldError>) {
        self.errors.extend(errors);
    }

    /// Where a field is.
    pub fn pointer_of(&self, name: &str) -> String {
        format!("{}/{}", self.pointer, name.replace('~', "~0").replace('/', "~1"))
    }

    /// Takes a field out; `null` is the same as none.
    pub fn take(&mut self, name: &str) -> Option<Value> {
        self.object.remove(name).filter(|value| !value.is_null())
    }

    /// Takes a field that has to be there.
    pub fn require(&mut self, name: &str) -> Option<Value> {
        let value = self.take(name);
        if value.is_none() {
            self.fault(name, "is missing: give it");
        }
        value
    }

    /// A text that may be absent.
    pub fn optional_text<T, E: std::fmt::Display>(
        &mut self,
        name: &str,
        parse: impl FnOnce(&str) -> Result<T, E>,
    ) -> Option<T> {
        let value = self.take(name)?;
        self.text_of(name, &value, parse)
    }

    /// A text that has to be there.
    pub fn text<T, E: std::fmt::Display>(
        &mut self,
        name: &str,
        parse: impl FnOnce(&str) -> Result<T, E>,
    ) -> Option<T> {
        let value = self.require(name)?;
        self.text_of(name, &value, parse)
    }

    fn text_of<T, E: std::fmt::Display>(
        &mut self,
        name: &str,
        value: &Value,
        parse: impl FnOnce(&str) -> Result<T, E>,
    ) -> Option<T> {
        let Some(text) = value.as_str() else {
            self.fault(name, "is not a string: give it in quotes");
            return None;
        };
        parse(text).map_err(|e| self.fault(name, e)).ok()
    }

    /// A whole number within bounds that may be absent.
    pub fn optional_integer(&mut self, name: &str, least: i64, most: i64) -> Option<i64> {
        let value = self.take(name)?;
        self.integer_of(name, &value, least, most)
    }

    /// A whole number within bounds that has to be there.
    pub fn integer(&mut self, name: &str, least: i64, most: i64) -> Option<i64> {
        let value = self.require(name)?;
        self.integer_of(name, &value, least, most)
    }

    fn integer_of(&mut self, name: &str, value: &Value, least: i64, most: i64) -> Option<i64> {
        let number = value.as_i64().filter(|n| (least..=most).contains(n));
        if number.is_none() {
            self.fault(name, format!("is not a whole number from {least} to {most}: give one"));
        }
        number
    }

    /// A switch; `default` when absent.
    pub fn switch(&mut self, name: &str, default: bool) -> bool {
        match self.take(name) {
            None => default,
            Some(Value::Bool(value)) => value,
            Some(_) => {
                self.fault(name, "is neither true nor false: give one of them");
                default
            }
        }
    }

    /// An instant that may be absent.
    pub fn optional_instant(&mut self, name: &str) -> Option<Timestamp> {
        self.optional_text(name, |text| {
            timestamp(text).ok_or("is no instant: give RFC 3339, such as 2026-11-30T12:00:00Z")
        })
    }

    /// An object that has to be there.
    pub fn object(&mut self, name: &str) -> Option<Self> {
        let value = self.require(name)?;
        let pointer = self.pointer_of(name);
        Self::at(pointer, value).map_err(|e| self.errors.push(e)).ok()
    }

    /// `{"minor": 1990, "currency": "CNY"}` with at least `least` minor units.
    pub fn money(&mut self, name: &str, least: i64, most: i64) -> Option<Money> {
        let mut money = self.object(name)?;
        let minor = money.integer("minor", least, most);
        let currency = money.text("currency", Currency::parse);
        self.errors.extend(money.finish());
        Some(Money::new(minor?, currency?))
    }

    /// The faults found, those of unknown fields among them.
    pub fn finish(mut self) -> Vec<FieldError> {
        let unknown: Vec<String> = self.object.keys().cloned().collect();
        for name in unknown {
            self.fault(&name, "is not a field here: remove it");
        }
        self.errors
    }

    /// The value, if there was no fault.
    ///
    /// # Errors
    /// A [`Problem`] that lists all faults.
    pub fn done<T>(self, value: Option<T>) -> Result<T, Problem> {
        let errors = self.finish();
        match value {
            Some(value) if errors.is_empty() => Ok(value),
            _ => Err(Problem::invalid(errors)),
        }
    }
}

/// SHA-256 of parsed values, each behind its length: bodies are compared after parsing.
pub fn body_hash<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> [u8; 32] {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes());
        hash.update(part);
    }
    hash.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn errors(value: Value, read: impl FnOnce(&mut Fields)) -> Vec<String> {
        let mut fields = Fields::root(value).unwrap();
        read(&mut fields);
        fields.finish().into_iter().map(|e| e.pointer).collect()
    }

    #[test]
    fn every_fault_is_named_by_its_pointer() {
        let found = errors(json!({"a": 0, "b/c": 1, "m": {"minor": 1.5}}), |f| {
            f.integer("a", 1, 9);
            f.text("z", |t| Ok::<_, &str>(t.to_owned()));
            f.money("m", 0, 9);
        });
        assert_eq!(found, ["/a", "/z", "/m/minor", "/m/currency", "/b~1c"]);
    }

    #[test]
    fn numbers_that_are_not_whole_are_refused() {
        for bad in [json!(1.0), json!("1"), json!([1]), json!(true), json!(1e2), json!(-1), json!({})] {
            let found = errors(json!({ "n": bad }), |f| assert_eq!(f.integer("n", 0, 100), None));
            assert_eq!(found, ["/n"]);
        }
    }

    #[test]
    fn null_is_none() {
        let found = errors(json!({"n": null}), |f| assert_eq!(f.optional_integer("n", 1, 9), None));
        assert!(found.is_empty());
    }

    #[test]
    fn an_array_in_place_of_an_object_is_refused() {
        assert!(Fields::root(json!([])).is_err());
    }
}
