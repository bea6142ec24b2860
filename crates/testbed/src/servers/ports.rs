//! Ports for servers that are started here.

use std::net::{Ipv4Addr, TcpListener};
use std::sync::atomic::{AtomicU16, Ordering};

use super::Trouble;

/// Above those of the programs under test, below those that systems give to outgoing connections: a server that
/// is down must find its port free again.
const PORTS: std::ops::Range<u16> = 30_000..32_600;

/// How far apart two processes with neighbouring numbers begin to look; one starts at most a handful.
const STRIDE: u16 = 8;

/// A port of loopback that nobody listens on, and that this process has not named before.
pub(super) fn free() -> Result<u16, Trouble> {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let span = PORTS.end - PORTS.start;
    let process = u16::try_from(std::process::id() % u32::from(span / STRIDE)).unwrap_or_default();
    for _ in PORTS {
        let at = (process * STRIDE + NEXT.fetch_add(1, Ordering::SeqCst)) % span;
        let port = PORTS.start + at;
        if TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok() {
            return Ok(port);
        }
    }
    Err(Trouble::new(format!("no port of {} to {} is free", PORTS.start, PORTS.end)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_free_ports_are_two() {
        let (one, other) = (free().unwrap(), free().unwrap());
        assert!(one != other && PORTS.contains(&one) && PORTS.contains(&other));
    }

    #[test]
    fn a_port_in_use_is_passed_over() {
        let taken = free().unwrap();
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, taken + 1)).unwrap();
        assert_ne!(free().unwrap(), listener.local_addr().unwrap().port());
    }
}
