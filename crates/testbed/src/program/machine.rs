//! Where the program was built, and what the machine has: ports, and tools that watch.

#![expect(clippy::expect_used, reason = "a program that is not there fails its test")]

use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU16, Ordering};

/// Ports are taken from below those that systems give to outgoing connections: a client that asks while its
/// server is down must not be given the server's port.
const PORTS: std::ops::Range<u16> = 20_000..30_000;

/// The program that was built beside this one: `target/PROFILE/tessera`, next to `target/PROFILE/deps/TEST` or
/// `target/PROFILE/tessera-bench`.
pub fn binary() -> PathBuf {
    built("tessera", "-p tessera")
}

/// The program with fault points, likewise.
pub(super) fn faulty() -> PathBuf {
    built("tessera-faulty", "--workspace --all-features --bin tessera-faulty")
}

/// A program built beside this one, and the arguments of `cargo build` that build it.
pub(crate) fn built(name: &str, how: &str) -> PathBuf {
    let this = std::env::current_exe().expect("this program's own path");
    let folder = this.parent().expect("a program is in a folder");
    let profile = if folder.ends_with("deps") { folder.parent().unwrap_or(folder) } else { folder };
    let binary = profile.join(name);
    assert!(binary.is_file(), "there is no {}: run `cargo build {how}` first", binary.display());
    binary
}

/// Whether this machine lets one process watch another's system calls.
pub fn strace_works() -> bool {
    Command::new("strace").args(["-f", "-o", "/dev/null", "true"]).output().is_ok_and(|o| o.status.success())
}

/// A loopback address on which nothing listens.
pub fn free_address() -> SocketAddr {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let begin = u16::try_from(std::process::id() % 500).unwrap_or_default() * 20;
    for _ in PORTS {
        let at = begin.wrapping_add(NEXT.fetch_add(1, Ordering::SeqCst)) % (PORTS.end - PORTS.start);
        let address = SocketAddr::from(([127, 0, 0, 1], PORTS.start + at));
        if TcpListener::bind(address).is_ok() {
            return address;
        }
    }
    panic!("no port is free");
}
