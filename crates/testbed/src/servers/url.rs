//! The addresses of the servers that tests share, and addresses with a proxy in between.

use std::net::{SocketAddr, ToSocketAddrs};

/// The AMQP URL of a RabbitMQ that tests may fill, from `TEST_AMQP_URL`.
///
/// # Panics
/// The variable is not set: the message says what to do.
pub fn amqp_url() -> String {
    required("TEST_AMQP_URL")
}

/// The URL of a PostgreSQL in which tests may create databases, from `TEST_POSTGRES_URL`.
///
/// # Panics
/// The variable is not set: the message says what to do.
pub fn postgres_url() -> String {
    required("TEST_POSTGRES_URL")
}

/// Host and port of a URL, to put a proxy before it.
///
/// # Panics
/// It has none, or the name is not known.
pub fn address_of(url: &str) -> SocketAddr {
    let found = authority(url).to_socket_addrs().ok().and_then(|mut addresses| addresses.next());
    found.unwrap_or_else(|| panic!("the URL needs a host that is known, and a port"))
}

/// The same URL for another host and port.
pub fn at(url: &str, address: SocketAddr) -> String {
    url.replacen(authority(url), &address.to_string(), 1)
}

/// `host:port` in `scheme://user:password@host:port/path`.
fn authority(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?']).next().unwrap_or_default();
    authority.rsplit('@').next().unwrap_or_default()
}

#[expect(clippy::disallowed_methods, reason = "a test's servers are given by the environment")]
fn required(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| panic!("set {name} or run `cargo xtask test`"))
}

#[cfg(test)]
mod tests {
    use super::{address_of, at};

    #[test]
    fn a_url_is_given_another_address() {
        let url = "amqp://guest:guest@127.0.0.1:5672/%2f?heartbeat=5";
        let address = address_of("tcp://127.0.0.1:9");
        assert_eq!(at(url, address), "amqp://guest:guest@127.0.0.1:9/%2f?heartbeat=5");
        assert_eq!(address_of(url).port(), 5672);
    }
}
