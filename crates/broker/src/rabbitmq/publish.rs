//! Publishing one set on one channel, with confirms.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;

use futures_util::future::{MaybeDone, maybe_done};
use lapin::options::BasicPublishOptions;
use lapin::types::{AMQPValue, FieldTable, ShortString};
use lapin::{BasicProperties, Channel, PublisherConfirm};
use tessera_faults::{At, point};

use super::failure::Failure;
use super::verdict::{Confirmed, Unconfirmed};
use crate::Message;

/// AMQP's delivery mode of a message that is kept on disk.
const PERSISTENT: u8 = 2;

/// Sends every message, then waits for every confirm; one outcome per message, in order.
///
/// It waits for as long as the broker takes: the caller has to bound it.
pub(super) async fn confirmed(channel: &Channel, exchange: &str, messages: &[Message]) -> Vec<Confirmed> {
    let mut sending = Vec::with_capacity(messages.len());
    for message in messages {
        let mut sent = Box::pin(maybe_done(send(channel, exchange, message)));
        // Started in order, before any is waited for: numbering and queuing is done at the first poll.
        begin(sent.as_mut()).await;
        sending.push(sent);
    }
    if point("publish", At::AfterPublish) {
        return messages.iter().map(|_| Err(Unconfirmed::Lost)).collect();
    }
    let mut confirms = Vec::with_capacity(sending.len());
    for mut sent in sending {
        sent.as_mut().await;
        confirms.push(sent.as_mut().take_output().unwrap_or(Err(Unconfirmed::Lost)));
    }
    let mut confirmed = Vec::with_capacity(confirms.len());
    for confirm in confirms {
        confirmed.push(match confirm {
            Ok(confirm) => confirm.await.map_err(lost),
            Err(error) => Err(error),
        });
    }
    confirmed
}

/// Polls once, whatever comes of it.
async fn begin<F: Future>(mut future: Pin<&mut MaybeDone<F>>) {
    poll_fn(|context| {
        let _ = future.as_mut().poll(context);
        Poll::Ready(())
    })
    .await;
}

async fn send(channel: &Channel, exchange: &str, message: &Message) -> Result<PublisherConfirm, Unconfirmed> {
    // Without `mandatory` the broker confirms what it routes nowhere.
    let options = BasicPublishOptions { mandatory: true, immediate: false };
    let properties = properties(message)?;
    channel
        .basic_publish(exchange.into(), short(&message.routing_key)?, options, &message.body, properties)
        .await
        .map_err(lost)
}

fn lost(error: lapin::Error) -> Unconfirmed {
    match Failure::from(error) {
        Failure::NotFound => Unconfirmed::NoExchange,
        Failure::Silence | Failure::Differs(_) | Failure::Broken(_) => Unconfirmed::Lost,
    }
}

fn properties(message: &Message) -> Result<BasicProperties, Unconfirmed> {
    let properties = BasicProperties::default()
        .with_delivery_mode(PERSISTENT)
        .with_content_type("application/json".into())
        .with_message_id(short(&message.message_id)?)
        .with_type(short(&message.kind)?);
    let Some(traceparent) = &message.traceparent else { return Ok(properties) };
    let mut headers = FieldTable::default();
    headers.insert("traceparent".into(), AMQPValue::LongString(traceparent.as_str().into()));
    Ok(properties.with_headers(headers))
}

/// A text of at most 255 bytes, as AMQP has it; a longer one can never be published.
fn short(text: &str) -> Result<ShortString, Unconfirmed> {
    ShortString::try_new(text).map_err(|_| Unconfirmed::TooLong)
}
