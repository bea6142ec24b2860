//! Requests and their answers.

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, Request, StatusCode};
use serde_json::Value;

/// A request being put together.
#[derive(Clone, Debug)]
pub(crate) struct Ask {
    method: &'static str,
    path: String,
    headers: Vec<(&'static str, String)>,
    body: Vec<u8>,
}

/// `GET` of a path.
pub(crate) fn get(path: impl Into<String>) -> Ask {
    ask("GET", path)
}

/// `POST` to a path.
pub(crate) fn post(path: impl Into<String>) -> Ask {
    ask("POST", path)
}

/// Any method.
pub(crate) fn ask(method: &'static str, path: impl Into<String>) -> Ask {
    Ask { method, path: path.into(), headers: vec![], body: vec![] }
}

impl Ask {
    /// With a header more.
    pub(crate) fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// With a buyer's token.
    pub(crate) fn token(self, token: &str) -> Self {
        self.header("authorization", format!("Bearer {token}"))
    }

    /// With `Prefer: wait=N`.
    pub(crate) fn wait(self, seconds: u64) -> Self {
        self.header("prefer", format!("wait={seconds}"))
    }

    /// With a JSON body.
    pub(crate) fn json(self, body: &Value) -> Self {
        self.header("content-type", "application/json").raw(body.to_string())
    }

    /// With these bytes as its body, and no word of what they are.
    pub(crate) fn raw(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    /// The request.
    pub(crate) fn build(self) -> Request<Body> {
        let mut request = Request::builder().method(self.method).uri(self.path);
        for (name, value) in self.headers {
            request = request.header(name, value);
        }
        request.body(Body::from(self.body)).unwrap()
    }
}

/// What came back.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) bytes: Bytes,
}

impl Answer {
    /// The body as text.
    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.bytes).unwrap()
    }

    /// A header, if it is there.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    /// The JSON of an answer that has this status.
    #[track_caller]
    pub(crate) fn json(&self, status: u16) -> Value {
        assert_eq!(self.status.as_u16(), status, "{}", self.text());
        assert_eq!(self.header("content-type"), Some("application/json"));
        serde_json::from_slice(&self.bytes).unwrap()
    }

    /// The problem of an answer that is one, of this status and kind.
    #[track_caller]
    pub(crate) fn problem(&self, status: u16, slug: &str) -> Value {
        assert_eq!(self.status.as_u16(), status, "{}", self.text());
        assert_eq!(self.header("content-type"), Some("application/problem+json"), "{}", self.text());
        let problem: Value = serde_json::from_slice(&self.bytes).unwrap();
        assert_eq!(problem["type"], format!("urn:tessera:problem:{slug}"));
        assert_eq!(problem["status"], status);
        for told in ["title", "detail"] {
            assert!(problem[told].as_str().is_some_and(|text| !text.is_empty()), "{told} of {problem}");
        }
        problem
    }

    /// The pointers of a problem's faulty values.
    #[track_caller]
    pub(crate) fn pointers(&self) -> Vec<String> {
        let problem = self.problem(422, "invalid-request");
        let errors = problem["errors"].as_array().expect("errors");
        errors.iter().map(|e| e["pointer"].as_str().unwrap().to_owned()).collect()
    }
}

/// The names of an object's fields, sorted.
pub(crate) fn keys(object: &Value) -> Vec<&str> {
    let mut keys: Vec<&str> = object.as_object().expect("an object").keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}
