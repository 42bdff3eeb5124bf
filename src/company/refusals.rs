//! The refusals that every use case shares, in the same words.

use crate::domain::company::access::rules::Denied;
use crate::domain::company::task::Unfit;
use crate::domain::excerpt::quoted;
use crate::error::{Code, Error};

/// Why no credential holds. The words tell nothing about which ones there are.
pub fn unauthenticated(why: &str) -> Error {
    Error::refused(
        Code::Unauthenticated,
        format!("{why} Send a key or a token that holds as `Authorization: Bearer ...`."),
    )
}

/// A company that is not there, or not for the caller.
pub fn no_company(named: &str) -> Error {
    Error::refused(Code::NotFound, format!("There is no company {} for you.", quoted(named)))
}

/// A record that is not there, another company's, or outside the caller's scope on a read: the
/// same words in all three.
pub fn not_found(parameter: &str, what: &str, named: &str) -> Error {
    Error::refused(
        Code::NotFound,
        format!("`{parameter}`: there is no {what} {} for you.", quoted(named)),
    )
}

/// Something that the actor, the role, a permission or the scope does not allow.
pub fn forbidden(why: impl Into<String>) -> Error {
    Error::refused(Code::Forbidden, why)
}

/// Something that somebody else has changed meanwhile.
pub fn conflict(why: impl Into<String>) -> Error {
    Error::refused(Code::Conflict, why)
}

/// Something that the state does not allow.
pub fn not_allowed_now(why: impl Into<String>) -> Error {
    Error::refused(Code::StateNotAllowed, why)
}

impl From<Denied> for Error {
    fn from(denied: Denied) -> Self {
        forbidden(denied.to_string())
    }
}

impl From<Unfit> for Error {
    fn from(unfit: Unfit) -> Self {
        not_allowed_now(unfit.to_string())
    }
}
