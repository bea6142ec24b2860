//! A proxy before a server that is given by its URL.

use std::io;

use tokio::net::lookup_host;

use super::Proxy;

impl Proxy {
    /// Starts one before the server at `url`, and gives the URL that leads through it.
    ///
    /// # Errors
    /// The URL has no host and port, the host is not known, or no port could be had.
    pub async fn before(url: &str) -> io::Result<(Self, String)> {
        let authority = authority(url);
        let upstream = lookup_host(authority).await?.next().ok_or(io::ErrorKind::NotFound)?;
        let proxy = Self::start(upstream).await?;
        let through = url.replacen(authority, &proxy.address().to_string(), 1);
        Ok((proxy, through))
    }
}

/// `host:port` in `scheme://user:password@host:port/path`.
fn authority(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?']).next().unwrap_or_default();
    authority.rsplit('@').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::authority;

    #[test]
    fn a_server_is_found_in_its_url() {
        for url in ["amqp://guest:guest@host:5672/%2f?heartbeat=5", "postgres://host:5672", "host:5672"] {
            assert_eq!(authority(url), "host:5672");
        }
    }
}
