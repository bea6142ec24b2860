//! What a RabbitMQ broker is built from, checked before anything connects.

use std::fmt;

use lapin::uri::AMQPUri;

/// Seconds between heartbeats unless the URL's `heartbeat` says otherwise; a silent peer is given up
/// after twice as long. Below 5 s false alarms begin, says RabbitMQ.
const HEARTBEAT_SECONDS: u16 = 5;

/// Milliseconds to connect and shake hands unless the URL's `connection_timeout` says otherwise.
const CONNECTION_TIMEOUT_MS: u64 = 5_000;

/// How long a prefix may be: a name is at most 255 bytes, and the longest ending is 16.
const PREFIX_MAX: usize = 200;

/// How often a message may come back before the broker gives it up, unless told otherwise.
///
/// Far above what crashes of an issuer add up to: a message is not at fault because its neighbour is.
pub const DELIVERY_LIMIT: u16 = 1_000;

/// What [`RabbitMq`](super::RabbitMq) needs to know.
#[derive(Clone)]
pub struct Options {
    /// `amqp://user:password@host:port/vhost`, or `amqps:`; `?heartbeat=` in s, `&connection_timeout=` in ms.
    pub url: String,
    /// What the name of every exchange and queue begins with: `tessera`.
    pub prefix: String,
    /// How many issue queues there are: `0..partitions`.
    pub partitions: u16,
    /// How often a message may come back before it becomes a dead letter.
    pub delivery_limit: u16,
}

impl Options {
    /// Options with the usual delivery limit.
    pub fn new(url: impl Into<String>, prefix: impl Into<String>, partitions: u16) -> Self {
        Self { url: url.into(), prefix: prefix.into(), partitions, delivery_limit: DELIVERY_LIMIT }
    }

    /// Whether a broker can be made of them.
    ///
    /// # Errors
    /// The URL or the prefix cannot be used.
    pub fn check(&self) -> Result<(), OptionsError> {
        self.uri()?;
        self.checked_prefix().map(drop)
    }

    pub(super) fn uri(&self) -> Result<AMQPUri, OptionsError> {
        let (_, rest) = self.url.split_once("://").ok_or(OptionsError::Url)?;
        let authority = rest.split(['/', '?']).next().unwrap_or_default();
        // The parser would take an address in brackets for no host at all, and connect to this one.
        if authority.rsplit('@').next().is_some_and(|host| host.starts_with('[')) {
            return Err(OptionsError::Address);
        }
        // Its own errors may repeat the URL with its password.
        let mut uri: AMQPUri = self.url.parse().map_err(|_| OptionsError::Url)?;
        uri.query.heartbeat.get_or_insert(HEARTBEAT_SECONDS);
        uri.query.connection_timeout.get_or_insert(CONNECTION_TIMEOUT_MS);
        Ok(uri)
    }

    pub(super) fn checked_prefix(&self) -> Result<&str, OptionsError> {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        let fine = !self.prefix.is_empty()
            && self.prefix.len() <= PREFIX_MAX
            && self.prefix.bytes().all(plain)
            && !self.prefix.starts_with("amq.");
        fine.then_some(self.prefix.as_str()).ok_or(OptionsError::Prefix)
    }
}

/// Without the URL, which holds a password.
impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("prefix", &self.prefix)
            .field("partitions", &self.partitions)
            .field("delivery_limit", &self.delivery_limit)
            .finish_non_exhaustive()
    }
}

/// Why the options cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum OptionsError {
    /// It is no URL of a broker.
    #[error("the broker's URL has to be like amqp://user:password@host:5672/%2f or amqps://…")]
    Url,
    /// It has an IPv6 address for a host.
    #[error("the broker's URL has an IPv6 address: give it a host name")]
    Address,
    /// The prefix cannot begin a name.
    #[error(
        "the broker's prefix has to be 1 to {PREFIX_MAX} letters, digits and -_., and not begin with amq."
    )]
    Prefix,
}

#[cfg(test)]
mod tests {
    use super::{Options, OptionsError};

    fn uri(url: &str) -> Result<lapin::uri::AMQPUri, OptionsError> {
        Options::new(url, "tessera", 1).uri()
    }

    #[test]
    fn heartbeat_and_timeout_have_defaults_that_the_url_overrides() {
        let plain = uri("amqp://guest:guest@127.0.0.1:5673").unwrap();
        assert_eq!((plain.query.heartbeat, plain.query.connection_timeout), (Some(5), Some(5_000)));
        assert_eq!((plain.authority.host.as_str(), plain.vhost.as_str()), ("127.0.0.1", "/"));
        let own = uri("amqps://u:p@mq.example/shop?heartbeat=30&connection_timeout=100").unwrap();
        assert_eq!((own.query.heartbeat, own.query.connection_timeout), (Some(30), Some(100)));
    }

    #[test]
    fn an_error_does_not_repeat_the_url() {
        for (url, expected) in [
            ("amqp", OptionsError::Url),
            ("http://u:secret@host", OptionsError::Url),
            ("amqp://u:secret@host:port", OptionsError::Url),
            ("amqp://u:secret@[::1]:5672", OptionsError::Address),
        ] {
            let error = uri(url).unwrap_err();
            assert_eq!(error, expected, "{url}");
            assert!(!error.to_string().contains("secret"));
        }
        assert!(!format!("{:?}", Options::new("amqp://u:secret@host", "t", 1)).contains("secret"));
    }

    #[test]
    fn a_prefix_is_a_plain_name() {
        for strange in ["", "amq.x", "a b", "a*", &"x".repeat(201)] {
            let options = Options::new("amqp://host", strange, 1);
            assert_eq!(options.checked_prefix(), Err(OptionsError::Prefix), "{strange}");
        }
        assert_eq!(Options::new("amqp://host", "shop-2.tessera", 1).checked_prefix(), Ok("shop-2.tessera"));
    }
}
