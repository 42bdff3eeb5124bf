//! The caller: who acts in a company, as what, and how far they see.

use uuid::Uuid;

use crate::domain::company::access::rules::{About, Act};
use crate::domain::company::access::standing::{Scope, Standing};
use crate::domain::company::entity::{Company, Principal};
use crate::domain::company::record::By;
use crate::domain::company::value::Actor;
use crate::domain::value::Value as _;
use crate::error::Result;

/// The person of this machine, who needs no credential on it: a founder of every company.
pub const LOCAL_BOARD: Uuid = Uuid::from_u128(0x0000_0000_0000_4000_8000_0000_0000_0001);

/// The name of [`LOCAL_BOARD`].
pub const LOCAL_BOARD_NAME: &str = "local-board";

/// What shows who somebody is: a credential that held when it was looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Proof {
    /// A key of a person, for MCP clients.
    Key { key_id: Uuid },
    /// A key of an agent, in one of its runs or in none.
    AgentKey { key_id: Uuid, run_id: Option<Uuid> },
    /// A token of a run, or in local_trusted mode the run's name alone.
    Run { agent_id: Uuid, run_id: Uuid, company_id: Option<Uuid> },
    /// A person who has signed in.
    Session { session_id: Uuid },
    /// The commander of a person.
    Commander { user_id: Uuid, company_id: Uuid },
    /// A request on the loopback, in local_trusted mode.
    Loopback,
    /// A verb that is typed on this machine.
    Terminal,
}

/// Who acts in a company. Made by nothing but a credential that holds.
#[derive(Debug, Clone)]
pub struct Caller {
    pub(super) company: Company,
    pub(super) proof: Proof,
    pub(super) principal: Principal,
    /// Of the person or the agent.
    pub(super) name: String,
    pub(super) standing: Standing,
}

impl Caller {
    /// The company.
    pub fn company(&self) -> &Company {
        &self.company
    }

    /// The kind of actor, as the gates of the tools have it.
    pub fn actor(&self) -> Actor {
        match self.proof {
            Proof::Key { .. } => Actor::Mcp,
            Proof::AgentKey { .. } | Proof::Run { .. } => Actor::Agent,
            Proof::Commander { .. } => Actor::Commander,
            Proof::Session { .. } | Proof::Loopback | Proof::Terminal => Actor::Board,
        }
    }

    /// The person or the agent.
    pub fn principal(&self) -> Principal {
        self.principal
    }

    /// The id of the person or the agent.
    pub fn id(&self) -> Uuid {
        let (Principal::User(id) | Principal::Agent(id)) = self.principal;
        id
    }

    /// The name of the person or the agent.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The run in which an agent acts.
    pub fn run_id(&self) -> Option<Uuid> {
        match self.proof {
            Proof::Run { run_id, .. } => Some(run_id),
            Proof::AgentKey { run_id, .. } => run_id,
            _ => None,
        }
    }

    /// What they are in the company.
    pub fn standing(&self) -> &Standing {
        &self.standing
    }

    /// The rows that they see.
    pub fn scope(&self) -> &Scope {
        self.standing.scope()
    }

    /// Refuses what they may not do.
    ///
    /// # Errors
    ///
    /// 403 with the rule that does not hold.
    pub fn may(&self, act: Act, about: About<'_>) -> Result<()> {
        Ok(self.standing.may(act, about)?)
    }

    /// What stands with every event: who, and under what.
    pub fn by(&self) -> By {
        let (key_id, session_id) = match self.proof {
            Proof::Key { key_id } | Proof::AgentKey { key_id, .. } => (Some(key_id), None),
            Proof::Session { session_id } => (None, Some(session_id)),
            _ => (None, None),
        };
        By {
            actor: match self.proof {
                Proof::Terminal => "terminal",
                _ => self.actor().wire(),
            },
            user_id: self.principal.user(),
            agent_id: self.principal.agent(),
            key_id,
            session_id,
            run_id: self.run_id(),
        }
    }

    /// Whose requests are counted together: those under one credential.
    pub fn rate_key(&self) -> String {
        let company = self.company.id.simple();
        match self.proof {
            Proof::Key { key_id } | Proof::AgentKey { key_id, .. } => {
                format!("{company} {}", key_id.simple())
            }
            _ => format!("{company} {:?} {}", self.actor(), self.id().simple()),
        }
    }
}
