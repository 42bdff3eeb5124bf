//! Who is calling, what their token lets them do, and the one way to the ledger, which asks both.

pub mod caller;
pub mod guard;
pub mod tokens;
