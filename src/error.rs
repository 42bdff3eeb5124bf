//! The one error of the program, and which kind to use where.
//!
//! - [`Refusal`]: the caller can do something about it. Its message alone tells which value is
//!   wrong, what would be accepted and the next step, to an agent in words of the wire
//!   (parameters, tools), to a person in words of the terminal: see [`Audience`]. It becomes a
//!   tool result with `isError: true`, or exit code 1 of a verb.
//! - [`Fault`]: the server or its surroundings failed (a damaged ledger, a full disk). The
//!   caller sees a short summary as JSON-RPC error -32603, or exit code 3; the cause, which
//!   may carry a library's raw text, goes to the log on stderr and nowhere else.
//!
//! Layers below `mcp` and `cli` return [`Error`]; only those two know how it looks outside.

mod audience;
mod io_words;

use std::fmt;

pub use self::audience::Audience;
pub use self::io_words::in_words;
use crate::domain::excerpt::{printable, without_middle};

/// A result with the program's error.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a call did not succeed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The caller can put it right.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The server failed.
    #[error(transparent)]
    Fault(#[from] Fault),
}

/// The stable name of a refusal, the first word of its text: scripts and tests match on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, strum::Display, strum::EnumIter)]
pub enum Code {
    /// A parameter is missing, unknown, of the wrong type or out of its range.
    InvalidInput,
    /// No registered project holds the path.
    ProjectNotFound,
    /// No task has the id.
    TaskNotFound,
    /// No decision has the id.
    DecisionNotFound,
    /// No review has the id.
    ReviewNotFound,
    /// No single active token has the name.
    TokenNotFound,
    /// An active token has the label already.
    TokenExists,
    /// A display ID exists in several projects.
    AmbiguousId,
    /// A path leads outside the project.
    PathOutsideRepo,
    /// A path is not the root of a git repository.
    NotARepository,
    /// The repository is of a kind that cannot be read, or may not be read.
    UnreadableRepository,
    /// No commit has the name.
    CommitNotFound,
    /// The commit's content is not all there (shallow or partial clone).
    IncompleteHistory,
    /// The policy file is missing, outside the project, or wrong.
    InvalidPolicyConfig,
    /// `.govforge/config.toml` or an environment variable is wrong.
    InvalidConfig,
    /// Who gives a verdict is no person, or judges a decision of their own.
    ApproverNotAccepted,
    /// What the settings ask for before an approval does not hold yet.
    ApprovalNotReady,
    /// A person has given a verdict, which only another verdict changes.
    VerdictStands,
    /// A verdict that no person has confirmed.
    PersonMustDecide,
    /// The token does not cover the tool, or is not accepted.
    NotPermitted,
    /// No credential, or none that holds.
    Unauthenticated,
    /// The actor, the role, a permission or the scope does not allow it.
    Forbidden,
    /// It is not there, or not for the caller.
    NotFound,
    /// Somebody else has changed it meanwhile.
    Conflict,
    /// The state does not allow it.
    StateNotAllowed,
    /// More requests than the caller may send.
    TooManyRequests,
    /// Another process held the ledger's lock for too long; the call can be sent again.
    LedgerBusy,
    /// There is no ledger where one has to be.
    LedgerMissing,
    /// The ledger is not one that this version can use, or its directory cannot be written.
    UnusableLedger,
    /// A file is no export of a ledger.
    InvalidExport,
}

/// A refused call: the code and a message that says what to do next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The stable name.
    pub code: Code,
    to_agent: String,
    to_person: String,
}

impl Refusal {
    /// A refusal with the same message for everybody, which names nothing of the wire. Whatever
    /// it quotes, it stays short enough for an agent's context, and steers no terminal that it is
    /// printed on.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        let message = shown(&message.into());
        Self { code, to_person: message.clone(), to_agent: message }
    }

    /// A refusal whose message depends on whom it tells; as short and harmless as one of
    /// [`Refusal::new`].
    pub fn by_audience(code: Code, message: impl Fn(Audience) -> String) -> Self {
        let to = |audience| shown(&message(audience));
        Self { code, to_agent: to(Audience::Agent), to_person: to(Audience::Person) }
    }

    /// Whole sentences for the audience; never a library's raw text.
    pub fn told(&self, to: Audience) -> &str {
        to.pick(&self.to_agent, &self.to_person)
    }
}

fn shown(message: &str) -> String {
    printable(&without_middle(message))
}

/// As an agent is told.
impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.to_agent)
    }
}

impl std::error::Error for Refusal {}

/// A failure of the server: what the caller may see, and the cause for the log.
#[derive(Debug)]
pub struct Fault {
    /// A short sentence without any library's text.
    pub summary: String,
    cause: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl Fault {
    /// A fault that has no deeper cause.
    pub fn new(summary: impl Into<String>) -> Self {
        Self { summary: summary.into(), cause: None }
    }

    /// A fault with the error that led to it.
    pub fn caused_by(
        summary: impl Into<String>,
        cause: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        Self { summary: summary.into(), cause: Some(cause.into()) }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.summary)
    }
}

impl std::error::Error for Fault {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.cause.as_deref().map(|cause| cause as &(dyn std::error::Error + 'static))
    }
}

impl Error {
    /// A refusal in the same words for everybody, as [`Refusal::new`].
    pub fn refused(code: Code, message: impl Into<String>) -> Self {
        Self::Refused(Refusal::new(code, message))
    }

    /// A refusal in the words of whom it tells, as [`Refusal::by_audience`].
    pub fn refused_by_audience(code: Code, message: impl Fn(Audience) -> String) -> Self {
        Self::Refused(Refusal::by_audience(code, message))
    }

    /// A refusal of one value that was given.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::refused(Code::InvalidInput, message)
    }

    /// A fault with its cause.
    pub fn fault(
        summary: impl Into<String>,
        cause: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        Self::Fault(Fault::caused_by(summary, cause))
    }

    /// The code of a refusal, `None` for a fault.
    pub fn code(&self) -> Option<Code> {
        match self {
            Self::Refused(refusal) => Some(refusal.code),
            Self::Fault(_) => None,
        }
    }
}
