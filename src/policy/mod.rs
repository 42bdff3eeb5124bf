//! The policy engine: TOML -> sections as written -> a validated [`PolicySet`] ->
//! verdicts on a change. Pure: it reads no file and knows no git.

mod evaluation;
mod file;
mod findings;
mod masking;
mod patterns;
mod rules;
mod set;
mod subject;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

pub use self::evaluation::{Evaluation, Verdict};
pub use self::file::mistake::Mistake;
pub use self::masking::{Masked, Masker, SecretSearch, TooMany};
pub use self::set::{Off, PolicyInfo, PolicySet};
pub use self::subject::{Author, Line, Subject};
