//! Days and instants as a place tells them: a fixed offset from UTC, stated, never guessed.

use std::time::Duration;

use tessera_model::time::Timestamp;
use time::format_description::well_known::{Iso8601, Rfc3339};
use time::{Date, OffsetDateTime, UtcOffset};

use crate::instant::timestamp;

/// A zone such as `+08:00`. Zones that move with the season are two: an export says which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Zone(UtcOffset);

impl Zone {
    /// Reads an offset from UTC such as `+08:00`, or `Z`.
    pub fn parse(text: &str) -> Option<Self> {
        if text == "Z" {
            return Some(Self(UtcOffset::UTC));
        }
        let digits = |text: &str| (text.len() == 2).then(|| text.parse::<i8>().ok()).flatten();
        let (sign, rest) = match text.split_at_checked(1)? {
            ("+", rest) => (1, rest),
            ("-", rest) => (-1, rest),
            _ => return None,
        };
        let (hours, minutes) = rest.split_once(':')?;
        let (hours, minutes) = (digits(hours)?, digits(minutes)?);
        // Offsets in use go from −12 to +14 hours.
        let is_offset = (0..=14).contains(&hours) && (0..60).contains(&minutes);
        UtcOffset::from_hms(sign * hours, sign * minutes, 0).ok().filter(|_| is_offset).map(Self)
    }

    /// An instant as RFC 3339 in this zone.
    pub fn rfc3339(self, at: Timestamp) -> String {
        OffsetDateTime::from_unix_timestamp_nanos(i128::from(at.micros()) * 1000)
            .ok()
            .and_then(|at| at.to_offset(self.0).format(&Rfc3339).ok())
            .unwrap_or_default()
    }

    /// Where a stretch of time begins: an instant, or a day of this zone at its midnight.
    pub fn begin(self, text: &str) -> Option<Timestamp> {
        timestamp(text).or_else(|| self.midnight(text))
    }

    /// Where it ends, not in it any more: an instant, or the midnight after a day of this zone.
    pub fn end(self, text: &str) -> Option<Timestamp> {
        timestamp(text).or_else(|| Some(self.midnight(text)?.plus(Duration::from_hours(24))))
    }

    fn midnight(self, text: &str) -> Option<Timestamp> {
        let day = Date::parse(text, &Iso8601::DATE).ok().filter(|_| text.len() == 10)?;
        let seconds = day.midnight().assume_offset(self.0).unix_timestamp();
        seconds.checked_mul(1_000_000).map(Timestamp::from_micros)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn zone(text: &str) -> Zone {
        Zone::parse(text).unwrap()
    }

    #[test]
    fn a_day_is_its_zones() {
        let at = |text: &str| timestamp(text).unwrap();
        let shanghai = zone("+08:00");
        assert_eq!(shanghai.begin("2026-12-01"), Some(at("2026-11-30T16:00:00Z")));
        assert_eq!(shanghai.end("2026-12-01"), Some(at("2026-12-01T16:00:00Z")));
        assert_eq!(zone("-03:30").begin("2026-12-01"), Some(at("2026-12-01T03:30:00Z")));
        assert_eq!(zone("Z").end("2026-12-01T05:00:00Z"), Some(at("2026-12-01T05:00:00Z")));
        assert_eq!(shanghai.rfc3339(at("2026-11-30T16:30:00Z")), "2026-12-01T00:30:00+08:00");
    }

    #[test]
    fn what_is_no_day_or_zone_is_refused() {
        for text in ["", "8", "08:00", "+8:00", "+15:00", "+08:60", "+0800", "Asia/Shanghai", "+é8:00"] {
            assert_eq!(Zone::parse(text), None, "{text}");
        }
        for text in ["", "2026-13-01", "2026-02-30", "2026-1-1", "yesterday", "20261201"] {
            assert_eq!(zone("Z").begin(text), None, "{text}");
        }
    }
}
