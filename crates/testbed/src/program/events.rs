//! An order's stream of events, read one by one.

use std::collections::VecDeque;

use http_body_util::BodyExt;
use hyper::body::Incoming;
use serde_json::Value;
use tokio::time::timeout;

use super::{Away, PATIENCE, Seen};

/// One event of an order.
#[derive(Clone, Debug, PartialEq)]
pub struct OrderEvent {
    /// What a client sends as `Last-Event-ID` to go on after it: the order's version.
    pub id: String,
    /// The order.
    pub order: Value,
}

/// A stream that is open.
pub struct Events {
    body: Incoming,
    /// What came and is no whole event yet.
    rest: Vec<u8>,
    come: VecDeque<OrderEvent>,
    seen: Seen,
}

impl Events {
    pub(super) fn new(body: Incoming, seen: Seen) -> Self {
        Self { body, rest: vec![], come: VecDeque::new(), seen }
    }

    /// The next event, comments passed over; none once the stream has ended in order.
    ///
    /// # Errors
    /// [`Away`] when it was cut off.
    ///
    /// # Panics
    /// Nothing at all came for as long as a test waits.
    pub async fn next(&mut self) -> Result<Option<OrderEvent>, Away> {
        loop {
            if let Some(event) = self.come.pop_front() {
                return Ok(Some(event));
            }
            let Ok(frame) = timeout(PATIENCE, self.body.frame()).await else {
                panic!("the stream is silent")
            };
            let Some(frame) = frame else { return Ok(None) };
            let frame = frame.map_err(|e| Away(format!("{e:?}")))?;
            self.rest.extend_from_slice(frame.data_ref().map(AsRef::as_ref).unwrap_or_default());
            self.split();
        }
    }

    /// Takes whole events from what came.
    fn split(&mut self) {
        while let Some(end) = self.rest.windows(2).position(|bytes| bytes == b"\n\n") {
            let told: Vec<u8> = self.rest.drain(..end + 2).collect();
            let told = String::from_utf8_lossy(&told);
            let field = |name: &str| told.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
            if let (Some(id), Some(data)) = (field("id:"), field("data:")) {
                let order: Value = serde_json::from_str(data).unwrap_or_default();
                self.seen.note(&order);
                self.come.push_back(OrderEvent { id: id.to_owned(), order });
            }
        }
    }
}
