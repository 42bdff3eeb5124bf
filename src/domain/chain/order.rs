//! In which order things were recorded. The chain tells, since nobody can put a link between two
//! others; clocks can be wrong, and a row can hold any time.

use super::HIGHEST;

/// When something was recorded, as against other records: by its place in the chain. What waits
/// to be taken in, such as what the original wrote since this program's last write, comes after
/// everything that is in the chain, by its turn. What no event tells of comes first: it is about
/// nothing, and follows nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Recorded(i64);

impl Recorded {
    /// Of what no event tells.
    pub const UNTOLD: Self = Self(0);

    /// Of what this call is about to record.
    pub const NOW: Self = Self(i64::MAX);

    /// From the store: the place, or above all places the turn; `None` where there is neither.
    pub fn new(rank: Option<i64>) -> Self {
        Self(rank.unwrap_or_default().max(0))
    }

    /// Whether it waits to be taken in.
    pub fn waits(self) -> bool {
        self.0 > HIGHEST
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_comes_last_and_what_nobody_tells_of_first() {
        let (first, second) = (Recorded::new(Some(3)), Recorded::new(Some(4)));
        let waiting = Recorded::new(Some(HIGHEST + 1));
        let all = [Recorded::UNTOLD, first, second, waiting, Recorded::NOW];
        assert!(all.is_sorted_by(|one, next| one < next));
        assert!(waiting.waits() && !second.waits());
        assert_eq!(Recorded::new(None), Recorded::UNTOLD);
        assert_eq!(Recorded::new(Some(-1)), Recorded::UNTOLD);
    }
}
