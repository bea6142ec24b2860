//! What became of each message of a set, once all its confirms are in.

use std::collections::HashSet;

use lapin::Confirmation;
use tessera_faults::{Break, broken};

use crate::PublishError;

/// Why a message has no confirm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unconfirmed {
    /// Its id, kind or routing key is longer than AMQP can carry.
    TooLong,
    /// The exchange does not exist.
    NoExchange,
    /// The channel or the connection is gone.
    Lost,
}

/// One message's own confirm, as the library hands it out.
pub(super) type Confirmed = Result<Confirmation, Unconfirmed>;

/// Decides a set: `ids[n]` is the message that `confirmed[n]` belongs to.
///
/// A returned message comes with whichever confirm was resolved next, its own or not, so only its
/// own id says which one it was; that is why a set is decided as a whole.
pub(super) fn verdicts(ids: &[String], confirmed: Vec<Confirmed>) -> Vec<Result<(), PublishError>> {
    let mut returned = HashSet::new();
    let taken: Vec<_> = confirmed
        .into_iter()
        .map(|confirmed| {
            let confirmation = confirmed.map_err(unconfirmed)?;
            let taken = confirmation.is_ack();
            if let Some(message) = confirmation.take_message() {
                returned.extend(message.properties.message_id().as_ref().map(ToString::to_string));
            }
            if taken { Ok(()) } else { Err(PublishError::Refused) }
        })
        .collect();
    let unroutable = |id: &String| returned.contains(id) && !broken(Break::ReturnedIsPublished);
    ids.iter()
        .zip(taken)
        .map(|(id, taken)| if unroutable(id) { Err(PublishError::Unroutable) } else { taken })
        .collect()
}

fn unconfirmed(why: Unconfirmed) -> PublishError {
    match why {
        Unconfirmed::TooLong => PublishError::Refused,
        // An issuer will declare the exchange, as a broker that is away will come back.
        Unconfirmed::NoExchange | Unconfirmed::Lost => PublishError::Away,
    }
}

#[cfg(test)]
mod tests {
    use lapin::BasicProperties;
    use lapin::message::{BasicReturnMessage, Delivery};

    use super::*;

    fn returned(id: &str) -> BasicReturnMessage {
        let mut delivery = Delivery::mock(0, "e".into(), "k".into(), false, vec![]);
        delivery.properties = BasicProperties::default().with_message_id(id.into());
        BasicReturnMessage { delivery, reply_code: 312, reply_text: "NO_ROUTE".into() }
    }

    fn ids(ids: &[&str]) -> Vec<String> {
        ids.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_returned_message_is_told_by_its_id_and_not_by_the_confirm_it_came_with() {
        let confirmed = vec![Ok(Confirmation::Ack(Some(returned("b")))), Ok(Confirmation::Ack(None))];
        let verdicts = verdicts(&ids(&["a", "b"]), confirmed);
        assert_eq!(verdicts, [Ok(()), Err(PublishError::Unroutable)]);
    }

    #[test]
    fn only_an_acknowledgement_is_a_success() {
        let confirmed = vec![
            Ok(Confirmation::Nack(None)),
            Err(Unconfirmed::Lost),
            Err(Unconfirmed::TooLong),
            Ok(Confirmation::NotRequested),
            Ok(Confirmation::Ack(None)),
        ];
        let verdicts = verdicts(&ids(&["a", "b", "c", "d", "e"]), confirmed);
        let refused = Err(PublishError::Refused);
        assert_eq!(verdicts, [refused, Err(PublishError::Away), refused, refused, Ok(())]);
    }
}
