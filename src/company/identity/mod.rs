//! Who somebody is in a company: the credentials, what they prove, and the caller that only a
//! credential that holds makes.

pub mod authentication;
pub mod caller;
pub mod keyring;
pub mod me;
pub mod run_token;
