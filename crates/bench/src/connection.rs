//! A client for as many requests as the machine can send: nothing is pooled, and little is parsed.

use std::net::SocketAddr;

use anyhow::{Context, ensure};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// One kept-alive connection that speaks as much HTTP/1.1 as this needs.
pub(crate) struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Connection {
    pub(crate) async fn open(at: SocketAddr) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(at).await.with_context(|| format!("nothing serves {at}"))?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, buffer: Vec::with_capacity(4_096) })
    }

    pub(crate) async fn post(
        &mut self,
        path: &str,
        headers: &str,
        body: &Value,
    ) -> anyhow::Result<(u16, Value)> {
        let body = body.to_string();
        let request = format!(
            "POST {path} HTTP/1.1\r\nhost: bench\r\ncontent-type: application/json\r\n{headers}content-length: {}\r\n\r\n{body}",
            body.len()
        );
        self.stream.write_all(request.as_bytes()).await?;
        self.buffer.clear();
        loop {
            ensure!(self.stream.read_buf(&mut self.buffer).await? > 0, "the connection was closed");
            if let Some(answer) = answer(&self.buffer)? {
                return Ok(answer);
            }
        }
    }
}

/// The status and JSON of an answer, once all of it is there.
fn answer(bytes: &[u8]) -> anyhow::Result<Option<(u16, Value)>> {
    let Some(end) = bytes.windows(4).position(|w| w == b"\r\n\r\n") else { return Ok(None) };
    let head = std::str::from_utf8(&bytes[..end])?.to_ascii_lowercase();
    let status = head.split(' ').nth(1).context("a status")?.parse()?;
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    let length: usize = length.context("a length")?.trim().parse()?;
    let body = &bytes[end + 4..];
    if body.len() < length {
        return Ok(None);
    }
    Ok(Some((status, serde_json::from_slice(&body[..length])?)))
}
