//! `tessera-bench sale`: buyers against a serving shop, each ordering, paying and reading its codes.

use std::collections::HashSet;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// How to measure.
#[derive(Clone)]
pub(crate) struct Options {
    pub(crate) at: SocketAddr,
    pub(crate) sku: String,
    pub(crate) buyers: usize,
    pub(crate) seconds: u64,
    pub(crate) json: bool,
}

/// What one buyer saw.
#[derive(Default)]
struct Seen {
    codes: Vec<String>,
    waits: Vec<Duration>,
}

/// Measures and prints.
pub(crate) async fn run(options: &Options) -> anyhow::Result<()> {
    let began = Instant::now();
    let end = began + Duration::from_secs(options.seconds);
    let buyers: Vec<_> = (0..options.buyers).map(|n| tokio::spawn(buy(options.clone(), n, end))).collect();
    let mut all = Seen::default();
    for buyer in buyers {
        let seen = buyer.await??;
        all.codes.extend(seen.codes);
        all.waits.extend(seen.waits);
    }
    let took = began.elapsed();
    let distinct: HashSet<&String> = all.codes.iter().collect();
    ensure!(distinct.len() == all.codes.len(), "a code was seen twice");
    all.waits.sort_unstable();
    print(options, &all, took)
}

async fn buy(options: Options, buyer: usize, end: Instant) -> anyhow::Result<Seen> {
    let mut connection = Connection::open(options.at).await?;
    let (mut seen, mut turn) = (Seen::default(), 0_u64);
    while Instant::now() < end {
        turn += 1;
        let customer = format!("bench-{}-{buyer}-{turn}", std::process::id());
        let order =
            json!({ "customer": { "id": customer }, "lines": [{ "sku": options.sku, "quantity": 1 }] });
        let (status, placed) = connection.post("/v1/orders", "", &order).await?;
        if status != 201 {
            bail!("an order was answered {status}: {placed}");
        }
        let id = placed["id"].as_str().context("an id")?;
        let token = placed["token"].as_str().context("a token")?;
        let headers = format!("authorization: Bearer {token}\r\nprefer: wait=30\r\n");
        let asked = Instant::now();
        let path = format!("/v1/orders/{id}/pay");
        let (status, paid) = connection.post(&path, &headers, &json!({ "provider": "test" })).await?;
        let code = paid["lines"][0]["codes"][0]["code"].as_str();
        let code = code.with_context(|| format!("no code in a payment answered {status}"))?;
        seen.waits.push(asked.elapsed());
        seen.codes.push(code.to_owned());
    }
    Ok(seen)
}

/// One kept-alive connection that speaks as much HTTP/1.1 as this needs.
struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Connection {
    async fn open(at: SocketAddr) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(at).await.with_context(|| format!("nothing serves {at}"))?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, buffer: Vec::with_capacity(4_096) })
    }

    async fn post(&mut self, path: &str, headers: &str, body: &Value) -> anyhow::Result<(u16, Value)> {
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

#[expect(clippy::print_stdout, reason = "the result")]
fn print(options: &Options, seen: &Seen, took: Duration) -> anyhow::Result<()> {
    let count = seen.waits.len();
    ensure!(count > 0, "nobody bought anything");
    let at = |percent: usize| seen.waits[(count * percent / 100).min(count - 1)];
    let rate = f64::from(u32::try_from(count)?) / took.as_secs_f64();
    if options.json {
        let document = json!({
            "buyers": options.buyers, "sales": count, "sales_per_second": rate,
            "pay_to_codes_p50_ms": at(50).as_secs_f64() * 1e3, "pay_to_codes_p99_ms": at(99).as_secs_f64() * 1e3,
        });
        println!("{}", serde_json::to_string_pretty(&document)?);
        return Ok(());
    }
    println!("{count} sales by {} buyers, each code once: {rate:.0}/s", options.buyers);
    println!("  payment to codes: p50 {:?}, p99 {:?}, longest {:?}", at(50), at(99), at(100));
    Ok(())
}
