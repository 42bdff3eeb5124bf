//! Points in time, and where they and new ids come from.

use std::fmt;

use chrono::{DateTime, Datelike as _, NaiveDateTime, SecondsFormat, SubsecRound, TimeDelta, Utc};
use serde::{Serialize, Serializer};
use uuid::Uuid;

/// A point in time in UTC, to the microsecond: what the ledger can hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(DateTime<Utc>);

impl Timestamp {
    /// How the ledger writes it: `YYYY-MM-DD HH:MM:SS.ffffff`, as SQLAlchemy does.
    const STORED: &str = "%Y-%m-%d %H:%M:%S%.6f";

    /// The next point in time, a microsecond later. The last one that the ledger's format can
    /// hold, at the end of the year 9999, has none and stays.
    pub fn next(self) -> Self {
        let next = self.0 + TimeDelta::microseconds(1);
        if next.year() > 9999 { self } else { Self(next) }
    }

    /// What the clock gives for something that is recorded after what has the time `last`: later
    /// than that too, so that the timeline keeps its order where the clock was set back. A time
    /// far in the future is not followed, or all times from then on would be that one.
    pub fn after(self, last: Option<Self>) -> Self {
        match last {
            Some(last) if last <= self.a_day_ahead() => self.max(last.next()),
            _ => self,
        }
    }

    /// The latest point in time that something can honestly have which is recorded now, wherever
    /// clocks are a bit wrong.
    pub fn a_day_ahead(self) -> Self {
        self.days_later(1)
    }

    /// The point in time a minute earlier.
    pub fn a_minute_before(self) -> Self {
        Self(self.0 - TimeDelta::minutes(1))
    }

    /// The point in time that many days later.
    pub fn days_later(self, days: u32) -> Self {
        Self(self.0 + TimeDelta::days(days.into()))
    }

    /// Whole seconds since the beginning of 1970, as tokens have them.
    pub fn unix_seconds(self) -> i64 {
        self.0.timestamp()
    }

    /// As a person reads it, in UTC: `2026-05-10 14:02`.
    pub fn minute(self) -> String {
        self.0.format("%Y-%m-%d %H:%M").to_string()
    }

    /// The text for the ledger.
    pub fn stored(self) -> String {
        self.0.format(Self::STORED).to_string()
    }

    /// The text that no text of this time or a later one sorts before, whichever program wrote
    /// it: SQLite's own `CURRENT_TIMESTAMP` has no fraction.
    pub fn earliest_stored(self) -> String {
        let stored = self.stored();
        stored.strip_suffix(".000000").map(str::to_owned).unwrap_or(stored)
    }

    /// Reads the ledger's text; the fraction may be missing, as in SQLite's own
    /// `CURRENT_TIMESTAMP`, and `T` may stand for the blank. `None` if it is no such text.
    pub fn read(text: &str) -> Option<Self> {
        let text = text.trim().trim_end_matches('Z').trim_end_matches("+00:00");
        ["%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%dT%H:%M:%S%.f"]
            .iter()
            .find_map(|format| NaiveDateTime::parse_from_str(text, format).ok())
            .map(|naive| naive.and_utc().into())
    }
}

impl From<DateTime<Utc>> for Timestamp {
    fn from(time: DateTime<Utc>) -> Self {
        Self(time.trunc_subsecs(6))
    }
}

impl From<Timestamp> for DateTime<Utc> {
    fn from(time: Timestamp) -> Self {
        time.0
    }
}

/// RFC 3339 with `Z`, the fraction only where there is one.
impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.to_rfc3339_opts(SecondsFormat::AutoSi, true))
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Where the time comes from: the machine's clock, or a test's.
pub trait Clock: Send + Sync {
    /// The time now.
    fn now(&self) -> Timestamp;
}

/// Where new ids come from: time-ordered UUIDs (version 7), or a test's.
pub trait Ids: Send + Sync {
    /// An id that was never given before.
    fn next(&self) -> Uuid;
}

/// The machine's clock and random source.
#[derive(Debug, Clone, Copy)]
pub struct System;

#[allow(clippy::disallowed_methods, reason = "the one place that reads the machine's clock")]
impl Clock for System {
    fn now(&self) -> Timestamp {
        Utc::now().into()
    }
}

#[allow(clippy::disallowed_methods, reason = "the one place that makes ids")]
impl Ids for System {
    fn next(&self) -> Uuid {
        Uuid::now_v7()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_either_program_writes_and_shows_rfc_3339() {
        let whole = Timestamp::read("2026-05-10 14:02:11.000000").unwrap();
        assert_eq!(whole.to_string(), "2026-05-10T14:02:11Z");
        assert_eq!(whole.stored(), "2026-05-10 14:02:11.000000");
        let fraction = Timestamp::read("2026-05-10 14:02:11.120000").unwrap();
        assert_eq!(fraction.to_string(), "2026-05-10T14:02:11.120Z");
        assert_eq!(Timestamp::read("2026-05-10 14:02:11"), Some(whole));
        assert_eq!(Timestamp::read("2026-05-10T14:02:11Z"), Some(whole));
        assert_eq!(whole.earliest_stored(), "2026-05-10 14:02:11");
        assert_eq!(fraction.earliest_stored(), fraction.stored());
        assert_eq!(Timestamp::read("yesterday"), None);
        assert_eq!(whole.next().to_string(), "2026-05-10T14:02:11.000001Z");
        let last = Timestamp::read("9999-12-31 23:59:59.999999").unwrap();
        assert_eq!(last.next(), last);
    }

    #[test]
    fn a_clock_that_was_set_back_keeps_the_order_and_a_far_future_is_not_followed() {
        let time = |text| Timestamp::read(text).unwrap();
        let clock = time("2026-05-10 14:02:11");
        assert_eq!(clock.after(None), clock);
        assert_eq!(clock.after(Some(time("2026-05-10 14:02:10"))), clock);
        for last in [clock, time("2026-05-10 15:00:00"), time("2026-05-11 14:02:11")] {
            assert_eq!(clock.after(Some(last)), last.next());
        }
        for far in ["2026-05-11 14:02:12", "9999-12-31 23:59:59.999999"] {
            assert_eq!(clock.after(Some(time(far))), clock, "{far}");
        }
    }
}
