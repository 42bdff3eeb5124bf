//! What a panic of one call looks like to its caller.

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;

use crate::error::Fault;

/// Does some work.
///
/// # Errors
///
/// The fault that a caller may see, if the work panics; the panic itself is in the log.
pub async fn caught<T>(work: impl Future<Output = T>) -> Result<T, Fault> {
    let mut work = pin!(work);
    poll_fn(|context| match catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(context))) {
        Ok(Poll::Pending) => Poll::Pending,
        Ok(Poll::Ready(done)) => Poll::Ready(Ok(done)),
        Err(_panic) => {
            Poll::Ready(Err(Fault::new("The server made an error; its log on stderr says more")))
        }
    })
    .await
}
