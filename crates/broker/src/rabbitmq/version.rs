//! Which RabbitMQ it is, from the first thing a broker says on a new connection.
//!
//! The library keeps that to itself, so this asks on a connection of its own, which ends before any login.

use std::io;
use std::pin::Pin;

use futures_util::{AsyncReadExt, AsyncWriteExt};
use lapin::tcp::{AMQPUriTcpExt, OwnedTLSConfig};
use lapin::uri::AMQPUri;
use tokio::time::timeout;

use super::failure::ANSWER_BOUND;
use crate::{Finding, Found};

/// Asks for AMQP 0-9-1.
const HEADER: &[u8; 8] = b"AMQP\0\0\x09\x01";
/// The longest first frame that is read; RabbitMQ's has about 500 bytes.
const FRAME_MAX: usize = 16 * 1024;
/// Before a frame's payload: its type, channel and length.
const FRAME_HEAD: usize = 7;

/// What `doctor` says about the broker's version; nothing if it does not say.
pub(super) async fn finding(uri: &AMQPUri) -> Option<Finding> {
    let frame = timeout(ANSWER_BOUND, first_frame(uri)).await.ok()?.ok()?;
    let version = version_in(&frame)?;
    Some(Finding { name: format!("RabbitMQ {version}"), found: judge(&version) })
}

async fn first_frame(uri: &AMQPUri) -> io::Result<Vec<u8>> {
    let runtime = lapin::runtime::default_runtime().map_err(io::Error::other)?;
    let config = OwnedTLSConfig::default();
    let mut stream = uri.connect_with_config_async(config.as_ref(), &runtime).await?;
    let mut stream = Pin::new(&mut stream);
    stream.write_all(HEADER).await?;
    let mut head = [0; FRAME_HEAD];
    stream.read_exact(&mut head).await?;
    let [_, _, _, length @ ..] = head;
    let length = usize::try_from(u32::from_be_bytes(length)).map_err(io::Error::other)?;
    let mut frame = vec![0; length.min(FRAME_MAX)];
    stream.read_exact(&mut frame).await?;
    Ok(frame)
}

/// The server property `version`: a short string for a name, `S`, a long string for the value.
fn version_in(frame: &[u8]) -> Option<String> {
    const KEY: &[u8] = b"\x07versionS";
    let at = frame.windows(KEY.len()).position(|window| window == KEY)? + KEY.len();
    let (length, rest) = frame.get(at..)?.split_first_chunk::<4>()?;
    let value = rest.get(..usize::try_from(u32::from_be_bytes(*length)).ok()?)?;
    String::from_utf8(value.to_vec()).ok()
}

fn judge(version: &str) -> Found {
    let mut numbers = version.split(['.', '-', '+']).map_while(|number| number.parse::<u16>().ok());
    let mut next = || numbers.next().unwrap_or(0);
    match (next(), next(), next()) {
        old if old < (3, 10, 20) => Found::Noted(
            "faults of its dead-lettering and of consumers that come back were mended by 3.10.20: update it"
                .to_owned(),
        ),
        (4, 3, 0..=5) => Found::Noted(
            "a queue with a single active consumer can stop for ever after an acknowledgement timed out \
             (RabbitMQ #17317): use another version"
                .to_owned(),
        ),
        _ => Found::AsWanted,
    }
}

#[cfg(test)]
mod tests {
    use super::{judge, version_in};
    use crate::Found;

    #[test]
    fn old_versions_and_those_that_stall_are_noted() {
        for version in ["3.8.9", "3.10.8", "3.10.19", "4.3.0", "4.3.5"] {
            assert!(matches!(judge(version), Found::Noted(_)), "{version}");
        }
        for version in ["3.10.20", "3.13.7", "4.0.5", "4.2.9", "4.3.6", "4.10.0-rc.1"] {
            assert_eq!(judge(version), Found::AsWanted, "{version}");
        }
    }

    #[test]
    fn the_version_is_read_from_the_properties() {
        let frame = b"\x00\x0a\x00\x0a\x00\x09\x00\x00\x00\x40\x07productS\x00\x00\x00\x08RabbitMQ\
                      \x07versionS\x00\x00\x00\x063.10.8\x00";
        assert_eq!(version_in(frame).as_deref(), Some("3.10.8"));
        assert_eq!(version_in(&frame[..frame.len() - 4]), None);
        assert_eq!(version_in(b""), None);
    }
}
