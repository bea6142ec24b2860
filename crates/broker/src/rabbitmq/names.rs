//! What the exchanges and queues are called.

/// The names that follow from a prefix.
#[derive(Debug, Clone)]
pub(super) struct Names {
    prefix: String,
}

impl Names {
    pub(super) fn new(prefix: &str) -> Self {
        Self { prefix: prefix.to_owned() }
    }

    /// The topic exchange of all events.
    pub(super) fn events(&self) -> String {
        format!("{}.events", self.prefix)
    }

    /// The fanout exchange of wake-ups.
    pub(super) fn wake(&self) -> String {
        format!("{}.wake", self.prefix)
    }

    /// The queue of a partition's issuer.
    pub(super) fn issue(&self, partition: u16) -> String {
        format!("{}.issue.{partition}", self.prefix)
    }

    /// The queue of what could not be delivered.
    pub(super) fn dead(&self) -> String {
        format!("{}.dead", self.prefix)
    }
}
