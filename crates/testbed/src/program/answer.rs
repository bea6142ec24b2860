//! What the server answers.

use hyper::HeaderMap;
use serde_json::Value;

use super::seen::codes_in;

/// A buyer's handle of an order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Receipt {
    /// The order's id.
    pub id: String,
    /// The buyer's token.
    pub token: String,
}

/// An answer.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Its HTTP status.
    pub status: u16,
    /// Its headers.
    pub headers: HeaderMap,
    /// Its body as it came.
    pub text: String,
    /// Its body as JSON; null when it is none.
    pub body: Value,
}

impl Answer {
    /// The same answer, which has to have this status.
    #[must_use]
    pub fn with_status(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}", self.text);
        self
    }

    /// The order's handle.
    pub fn receipt(&self) -> Receipt {
        let text = |name: &str| match self.body[name].as_str() {
            Some(text) => text.to_owned(),
            None => panic!("no {name} in {}: {}", self.status, self.text),
        };
        Receipt { id: text("id"), token: text("token") }
    }

    /// The order's state.
    pub fn order_status(&self) -> &str {
        self.body["status"].as_str().unwrap_or_default()
    }

    /// The order's codes.
    pub fn codes(&self) -> Vec<String> {
        codes_in(&self.body)
    }

    /// What the problem's type says after `urn:tessera:problem:`; fails the test if it is no problem.
    pub fn problem(&self) -> &str {
        let kind = self.headers.get("content-type").and_then(|kind| kind.to_str().ok());
        assert_eq!(kind, Some("application/problem+json"), "{}: {}", self.status, self.text);
        assert_eq!(self.body["status"], Value::from(self.status), "{}", self.text);
        let kind = self.body["type"].as_str().and_then(|kind| kind.strip_prefix("urn:tessera:problem:"));
        kind.unwrap_or_default()
    }

    /// The pointers of a problem's errors.
    pub fn pointers(&self) -> Vec<&str> {
        let errors = self.body["errors"].as_array().into_iter().flatten();
        errors.filter_map(|error| error["pointer"].as_str()).collect()
    }
}
