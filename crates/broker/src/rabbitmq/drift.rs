//! How an exchange or queue differs from what is wanted, read from the broker's refusal.
//!
//! RabbitMQ names one argument at a time, as in: `PRECONDITION_FAILED - inequivalent arg 'x-delivery-limit'
//! for queue 'tessera.issue.0' in vhost '/': received the value '1000' of type 'signedint' but current is none`.

/// Says what differs and what to do about it.
pub(super) fn difference(title: &str, refusal: &str) -> String {
    let remedy = if title.starts_with("queue") {
        "let it run empty, delete it and start again; or use another broker.prefix"
    } else {
        "delete it and start again; or use another broker.prefix"
    };
    match parse(refusal) {
        Some((argument, wanted, there)) => {
            format!("{title} has {argument} {there}, wanted is {wanted}: {remedy}")
        }
        None => format!("{title} is not as wanted ({refusal}): {remedy}"),
    }
}

/// The argument, what was wanted, what is there.
fn parse(refusal: &str) -> Option<(&str, &str, &str)> {
    let (_, rest) = refusal.split_once("inequivalent arg '")?;
    let (argument, rest) = rest.split_once('\'')?;
    let (_, values) = rest.split_once(": received ")?;
    let (wanted, there) = values.split_once(" but current is ")?;
    Some((argument, value(wanted), value(there)))
}

/// `'1000'` from `the value '1000' of type 'signedint'`; `none` and `'true'` as they are.
fn value(text: &str) -> &str {
    let text = text.strip_prefix("the value ").unwrap_or(text);
    text.split_once(" of type ").map_or(text, |(value, _)| value)
}

#[cfg(test)]
mod tests {
    use super::difference;

    #[test]
    fn a_refusal_becomes_a_sentence_with_both_values_and_a_remedy() {
        let refusal = "PRECONDITION_FAILED - inequivalent arg 'x-delivery-limit' for queue 't.issue.0' in vhost \
                       '/': received the value '1000' of type 'signedint' but current is the value '20' of type 'long'";
        let expected = "queue t.issue.0 has x-delivery-limit '20', wanted is '1000': let it run empty, delete \
                        it and start again; or use another broker.prefix";
        assert_eq!(difference("queue t.issue.0", refusal), expected);

        let refusal = "PRECONDITION_FAILED - inequivalent arg 'type' for exchange 't.events' in vhost '/': \
                       received 'topic' but current is 'direct'";
        let expected = "exchange t.events has type 'direct', wanted is 'topic': delete it and start again; or \
                        use another broker.prefix";
        assert_eq!(difference("exchange t.events", refusal), expected);
    }

    #[test]
    fn an_argument_that_is_not_there_is_none() {
        let refusal = "PRECONDITION_FAILED - inequivalent arg 'x-queue-type' for queue 'q' in vhost '/': received \
                       the value 'quorum' of type 'longstr' but current is none";
        assert!(
            difference("queue q", refusal).starts_with("queue q has x-queue-type none, wanted is 'quorum': ")
        );
    }

    #[test]
    fn an_unknown_refusal_is_repeated() {
        let text = difference("queue q", "RESOURCE_LOCKED - exclusive");
        assert!(text.starts_with("queue q is not as wanted (RESOURCE_LOCKED - exclusive): "));
    }
}
