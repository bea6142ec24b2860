//! Instants on the wire: RFC 3339, UTC, to the microsecond.

use tessera_model::time::Timestamp;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// An instant as RFC 3339 in UTC; whole seconds are written without a fraction.
pub fn rfc3339(at: Timestamp) -> String {
    OffsetDateTime::from_unix_timestamp_nanos(i128::from(at.micros()) * 1000)
        .ok()
        .and_then(|at| at.format(&Rfc3339).ok())
        .unwrap_or_default()
}

/// Reads RFC 3339 with any offset; none when it is no instant.
pub fn timestamp(text: &str) -> Option<Timestamp> {
    let nanos = OffsetDateTime::parse(text, &Rfc3339).ok()?.unix_timestamp_nanos();
    i64::try_from(nanos.div_euclid(1000)).ok().map(Timestamp::from_micros)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instant_reads_back_whatever_its_offset() {
        let at = Timestamp::from_micros(1_700_000_000_123_456);
        assert_eq!(rfc3339(at), "2023-11-14T22:13:20.123456Z");
        assert_eq!(timestamp(&rfc3339(at)), Some(at));
        assert_eq!(timestamp("2023-11-15T06:13:20.123456+08:00"), Some(at));
        for bad in ["", "2023-11-14", "2023-11-14 22:13:20", "now", "2023-13-01T00:00:00Z"] {
            assert_eq!(timestamp(bad), None, "{bad}");
        }
    }
}
