//! In which order things were recorded. The chain tells, since nobody can put a link between two
//! others; clocks can be wrong, and a row can hold any time.

use crate::domain::time::Timestamp;

/// When something was recorded, as against other records: by its place in the chain. What no
/// link stands for yet, such as what the original wrote since this program's last write, comes
/// after everything that is in the chain, among itself by its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Recorded {
    /// Its place in the chain.
    At(i64),
    /// Its time, where it has no place.
    Waiting(Timestamp),
}

impl Recorded {
    /// From the place, if it has one, and the time.
    pub fn new(place: Option<i64>, at: Timestamp) -> Self {
        place.map_or(Self::Waiting(at), Self::At)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_decides_whatever_the_time_says() {
        let time = |text| Timestamp::read(text).unwrap();
        let late = Recorded::new(Some(3), time("9999-12-31 23:59:59.999999"));
        let early = Recorded::new(Some(4), time("2026-05-10 14:02:11"));
        assert!(late < early);
        let waiting = Recorded::new(None, time("2020-01-01 00:00:00"));
        assert!(early < waiting);
        assert!(waiting < Recorded::new(None, time("2020-01-01 00:00:01")));
    }
}
