//! How many requests a caller may send in a minute.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use axum::http::StatusCode;
use tokio::time::Instant;

use super::answer::Problem;

/// Over how long requests are counted.
const WINDOW: Duration = Duration::from_secs(60);

/// From how many callers on those whose minute is over are forgotten.
const MANY: usize = 4096;

/// The requests of each caller in its minute.
#[derive(Debug)]
pub struct Rate {
    /// 0 for no limit.
    most: u32,
    callers: Mutex<HashMap<String, Minute>>,
}

#[derive(Debug)]
struct Minute {
    begun: Instant,
    requests: u32,
}

impl Rate {
    pub fn new(most: u32) -> Self {
        Self { most, callers: Mutex::default() }
    }

    /// Counts so many requests of a caller, at `now`.
    ///
    /// # Errors
    ///
    /// 429 if they are more than may be sent in a minute; those are not counted.
    pub fn take(&self, caller: &str, requests: u32, now: Instant) -> Result<(), Problem> {
        if self.most == 0 {
            return Ok(());
        }
        let mut callers = self.callers.lock().unwrap_or_else(PoisonError::into_inner);
        let is_over = |minute: &Minute| now.duration_since(minute.begun) >= WINDOW;
        if callers.len() >= MANY && !callers.contains_key(caller) {
            callers.retain(|_, minute| !is_over(minute));
        }
        let minute = callers
            .entry(caller.to_owned())
            .and_modify(|minute| {
                if is_over(minute) {
                    *minute = Minute { begun: now, requests: 0 };
                }
            })
            .or_insert(Minute { begun: now, requests: 0 });
        let sum = minute.requests.saturating_add(requests);
        if sum > self.most {
            let left = WINDOW.saturating_sub(now.duration_since(minute.begun));
            let seconds = left.as_secs() + u64::from(left.subsec_nanos() > 0);
            let message = format!(
                "More than {} requests in a minute. Wait {seconds} s, then go on.",
                self.most
            );
            let problem = Problem::new(StatusCode::TOO_MANY_REQUESTS, -32029, message);
            return Err(Problem { retry_after: Some(seconds.max(1)), ..problem });
        }
        minute.requests = sum;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_caller_has_a_number_of_requests_in_a_minute() {
        let rate = Rate::new(2);
        let start = Instant::now();
        assert!(rate.take("a", 1, start).is_ok());
        assert!(rate.take("a", 2, start).is_err(), "what is refused is not counted");
        assert!(rate.take("a", 1, start).is_ok());
        let refused = rate.take("a", 1, start + Duration::from_secs(20)).unwrap_err();
        assert_eq!((refused.status.as_u16(), refused.retry_after), (429, Some(40)));
        assert!(rate.take("b", 1, start).is_ok());
        assert!(rate.take("a", 1, start + WINDOW).is_ok());
        assert!(Rate::new(0).take("a", 1_000_000, start).is_ok());
    }
}
