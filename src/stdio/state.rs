//! What the handlers of the tools and prompts work with.

use crate::ledger::Service;
use crate::stdio::asking::Asking;

/// The use cases, and how the person at the client is asked. Tools and prompts are methods on it.
pub struct State {
    pub service: Service,
    pub asking: Asking,
}
