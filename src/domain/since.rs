//! A point in time as a person names it: `yesterday`, `2 weeks ago`, `2026-11-30`.

use chrono::{
    DateTime, Datelike as _, Days, Months, NaiveDate, NaiveDateTime, TimeDelta, Utc, Weekday,
};

use super::time::Timestamp;

/// A point in time, of which some depend on the time now. Days begin at midnight in UTC, like all
/// times of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Since {
    /// That very time.
    Time(Timestamp),
    /// So long before now.
    Ago(Age),
    /// The beginning of the day that many days before today.
    DaysBack(u32),
    /// The beginning of that day of the week: today's, unless only a past one is meant, or the
    /// last one.
    Day {
        /// Which day.
        day: Weekday,
        /// Whether today does not count.
        is_past: bool,
    },
}

/// A length of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Age {
    /// So many seconds.
    Seconds(i64),
    /// So many months of the calendar.
    Months(u32),
}

impl Since {
    /// What can be read, for a message.
    pub const EXAMPLES: &str = "2026-11-30, \"2026-11-30 14:02\", an RFC 3339 time, 12h, 7d, \
                                \"2 weeks ago\", yesterday or \"last monday\"";

    /// Reads a date, a time (RFC 3339, or without a zone, which is then UTC), an age, or a day, in
    /// any case. `None` if it is none of these.
    pub fn read(text: &str) -> Option<Self> {
        let text = text.trim().to_lowercase();
        if let Some(time) = read_time(&text) {
            return Some(Self::Time(time));
        }
        let words: Vec<&str> = text.split_whitespace().collect();
        match words[..] {
            ["now"] => Some(Self::Ago(Age::Seconds(0))),
            ["today"] => Some(Self::DaysBack(0)),
            ["yesterday"] => Some(Self::DaysBack(1)),
            ["last", "night"] => None,
            ["last", what] => match read_weekday(what) {
                Some(day) => Some(Self::Day { day, is_past: true }),
                None => age(1, what).map(Self::Ago),
            },
            [age] | [age, "ago"] => match read_weekday(age) {
                Some(day) if words.len() == 1 => Some(Self::Day { day, is_past: false }),
                _ => read_age(age).map(Self::Ago),
            },
            [count, unit] | [count, unit, "ago"] => age(read_count(count)?, unit).map(Self::Ago),
            _ => None,
        }
    }

    /// The point in time, if it is `now`; `None` if that is before the year 0.
    pub fn before(self, now: Timestamp) -> Option<Timestamp> {
        let now = DateTime::<Utc>::from(now);
        let today = now.date_naive();
        let midnight = |day: NaiveDate| day.and_time(chrono::NaiveTime::MIN).and_utc();
        let time = match self {
            Self::Time(time) => time.into(),
            Self::Ago(Age::Seconds(seconds)) => {
                now.checked_sub_signed(TimeDelta::try_seconds(seconds)?)?
            }
            Self::Ago(Age::Months(months)) => now.checked_sub_months(Months::new(months))?,
            Self::DaysBack(days) => midnight(today.checked_sub_days(Days::new(days.into()))?),
            Self::Day { day, is_past } => {
                let days = match today.weekday().days_since(day) {
                    0 if is_past => 7,
                    days => days,
                };
                midnight(today.checked_sub_days(Days::new(days.into()))?)
            }
        };
        (time.year() >= 0).then(|| time.into())
    }
}

fn read_time(text: &str) -> Option<Timestamp> {
    if let Ok(time) = DateTime::parse_from_rfc3339(&text.to_uppercase()) {
        return Some(time.to_utc().into());
    }
    if let Ok(date) = NaiveDate::parse_from_str(text, "%Y-%m-%d") {
        return Some(date.and_time(chrono::NaiveTime::MIN).and_utc().into());
    }
    ["%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%d %H:%M"]
        .iter()
        .find_map(|format| NaiveDateTime::parse_from_str(&text.replacen('t', " ", 1), format).ok())
        .map(|time| time.and_utc().into())
        // What the ledger cannot hold compares as a text with nothing in it.
        .filter(|time: &Timestamp| (0..=9999).contains(&DateTime::<Utc>::from(*time).year()))
}

/// `12h`
fn read_age(text: &str) -> Option<Age> {
    let digits = text.find(|character: char| !character.is_ascii_digit())?;
    age(text[..digits].parse().ok()?, &text[digits..])
}

fn read_count(text: &str) -> Option<u32> {
    match text {
        "a" | "an" | "one" => Some(1),
        digits if digits.bytes().all(|digit| digit.is_ascii_digit()) => digits.parse().ok(),
        _ => None,
    }
}

fn age(count: u32, unit: &str) -> Option<Age> {
    const MINUTE: i64 = 60;
    const HOUR: i64 = 60 * MINUTE;
    const DAY: i64 = 24 * HOUR;
    let seconds = |each: i64| Some(Age::Seconds(i64::from(count) * each));
    match unit {
        "min" | "mins" | "minute" | "minutes" => seconds(MINUTE),
        "h" | "hour" | "hours" => seconds(HOUR),
        "d" | "day" | "days" => seconds(DAY),
        "w" | "week" | "weeks" => seconds(7 * DAY),
        "month" | "months" => Some(Age::Months(count)),
        "y" | "year" | "years" => count.checked_mul(12).map(Age::Months),
        _ => None,
    }
}

/// `mon` or `monday`; chrono reads these two forms alone.
fn read_weekday(text: &str) -> Option<Weekday> {
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of a Sunday.
    fn read(text: &str) -> Option<String> {
        let now = Timestamp::read("2026-05-10 14:02:11").unwrap();
        Some(Since::read(text)?.before(now)?.to_string())
    }

    #[test]
    fn what_a_person_writes_is_a_time() {
        for (text, time) in [
            ("2026-05-09", "2026-05-09T00:00:00Z"),
            ("2026-05-09T10:00:00Z", "2026-05-09T10:00:00Z"),
            ("2026-05-09t10:00:00z", "2026-05-09T10:00:00Z"),
            ("2026-05-09T10:00:00+02:00", "2026-05-09T08:00:00Z"),
            ("2026-05-09 10:00:00", "2026-05-09T10:00:00Z"),
            ("2026-05-09T10:00", "2026-05-09T10:00:00Z"),
            ("now", "2026-05-10T14:02:11Z"),
            ("Today", "2026-05-10T00:00:00Z"),
            (" yesterday ", "2026-05-09T00:00:00Z"),
            ("12h", "2026-05-10T02:02:11Z"),
            ("30 min", "2026-05-10T13:32:11Z"),
            ("1w", "2026-05-03T14:02:11Z"),
            ("2 weeks ago", "2026-04-26T14:02:11Z"),
            ("7d ago", "2026-05-03T14:02:11Z"),
            ("an hour  ago", "2026-05-10T13:02:11Z"),
            ("3 months", "2026-02-10T14:02:11Z"),
            ("last month", "2026-04-10T14:02:11Z"),
            ("last week", "2026-05-03T14:02:11Z"),
            ("1 year ago", "2025-05-10T14:02:11Z"),
            ("monday", "2026-05-04T00:00:00Z"),
            ("last Mon", "2026-05-04T00:00:00Z"),
            ("sunday", "2026-05-10T00:00:00Z"),
            ("last sunday", "2026-05-03T00:00:00Z"),
            ("9999-01-01", "9999-01-01T00:00:00Z"),
        ] {
            assert_eq!(read(text).as_deref(), Some(time), "{text}");
        }
    }

    #[test]
    fn what_is_no_time_is_told_apart() {
        for wrong in [
            "",
            "soon",
            "d",
            "-1d",
            "+1d",
            "1",
            "2026",
            "1x",
            "9999-99-99",
            "2026-02-30",
            "ago",
            "monday ago",
            "last",
            "last 2 weeks",
            "tomorrow",
            "4294967296d",
            "٣d",
            "1 d d",
            "next monday",
            "99999-01-01",
        ] {
            assert_eq!(Since::read(wrong), None, "{wrong}");
        }
        // Read, and before all times.
        for early in ["4000000000d", "4294967295w", "300000 years", "4294967295 months"] {
            assert_eq!(read(early), None, "{early}");
        }
    }
}
