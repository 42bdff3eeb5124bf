//! From what a request shows to the caller: which credential it is, whether it holds, and what
//! its holder is now.

use uuid::Uuid;

use super::caller::{Caller, LOCAL_BOARD, LOCAL_BOARD_NAME, Proof};
use super::keyring::{AGENT_MARK, MCP_MARK};
use super::run_token::{self, Holder};
use crate::company::Service;
use crate::company::refusals::{forbidden, no_company, unauthenticated};
use crate::domain::company::access::standing::Standing;
use crate::domain::company::entity::{Company, Principal, Run};
use crate::domain::company::value::{Actor, RunStatus};
use crate::domain::secret::Secret;
use crate::domain::time::Timestamp;
use crate::error::Result;
use crate::store::company::{agents, companies, keys, people, runs, sessions};
use crate::store::engine::Connection;

/// What a request shows of who sends it.
#[derive(Debug, Default)]
pub struct Presented {
    /// What stands behind `Bearer`; empty for an `Authorization` of another kind.
    pub bearer: Option<String>,
    /// The cookie of a person who has signed in.
    pub session: Option<String>,
    /// `X-AoA-Run-Id`
    pub run: Option<String>,
    /// Whether who shows nothing is the person of this machine.
    pub is_trusted: bool,
}

const REVOKED: &str = "The key was revoked.";
const UNKNOWN: &str = "The credential is not known.";
const RUN_ENDED: &str = "The run has ended, and its token with it.";
const AGENT_GONE: &str = "The agent is not active any more.";
const NO_MEMBER: &str = "The person is no active member of the company.";

impl Service {
    /// The caller of a request to a company.
    ///
    /// # Errors
    ///
    /// 401 for no credential, or none that holds; 404 for a company that is not there or not the
    /// credential's; 403 for a key where the company takes none.
    pub async fn authenticate(&self, company: &str, presented: &Presented) -> Result<Caller> {
        let mut read = self.ledger.read().await?;
        let now = self.clock.now();
        let proof = self.proof(&mut read, presented, now).await?;
        let Ok(id) = Uuid::try_parse(company) else { return Err(no_company(company)) };
        let found = companies::by_id(&mut read, id).await?;
        let company = found.ok_or_else(|| no_company(company))?;
        caller(&mut read, company, proof, now).await
    }

    /// The caller of a verb, for the company of that id or name.
    ///
    /// # Errors
    ///
    /// 404 for a company that is not there.
    pub async fn operator(&self, company: &str) -> Result<Caller> {
        let mut read = self.ledger.read().await?;
        let named = company.trim();
        let mut found = companies::by_name(&mut read, named).await?;
        if let (None, Ok(id)) = (&found, Uuid::try_parse(named)) {
            found = companies::by_id(&mut read, id).await?;
        }
        let company = found.ok_or_else(|| no_company(named))?;
        Caller::at_terminal(&mut read, company, self.clock.now()).await
    }

    /// Which credential a request shows. A bearer or a cookie that does not hold is not passed
    /// over for something else.
    async fn proof(
        &self,
        connection: &mut Connection,
        presented: &Presented,
        now: Timestamp,
    ) -> Result<Proof> {
        let run = presented.run.as_deref().map(|run| {
            let unreadable = |_| unauthenticated("X-AoA-Run-Id is no id of a run.");
            Uuid::try_parse(run.trim()).map_err(unreadable)
        });
        let run = run.transpose()?;
        if let Some(bearer) = &presented.bearer {
            return self.bearer(connection, bearer, run, now).await;
        }
        if let Some(cookie) = &presented.session {
            let found = sessions::by_hash(connection, &Secret::new(cookie).hash()).await?;
            let session = found.ok_or_else(|| unauthenticated(UNKNOWN))?;
            return Ok(Proof::Session { session_id: session.id });
        }
        match (presented.is_trusted, run) {
            (true, Some(run_id)) => {
                let run = runs::by_id(connection, run_id).await?;
                let run = run.ok_or_else(|| unauthenticated(RUN_ENDED))?;
                Ok(Proof::Run { agent_id: run.agent_id, run_id, company_id: None })
            }
            (true, None) => Ok(Proof::Loopback),
            (false, _) => Err(unauthenticated("No credential was sent.")),
        }
    }

    async fn bearer(
        &self,
        connection: &mut Connection,
        bearer: &str,
        run: Option<Uuid>,
        now: Timestamp,
    ) -> Result<Proof> {
        let hash = || Secret::new(bearer).hash();
        if bearer.starts_with(MCP_MARK) {
            let key = keys::by_hash(connection, &hash()).await?;
            let key = key.ok_or_else(|| unauthenticated(UNKNOWN))?;
            return Ok(Proof::Key { key_id: key.id });
        }
        if bearer.starts_with(AGENT_MARK) {
            let key = agents::key_by_hash(connection, &hash()).await?;
            let key = key.ok_or_else(|| unauthenticated(UNKNOWN))?;
            return Ok(Proof::AgentKey { key_id: key.id, run_id: run });
        }
        // Without a secret no token was ever signed.
        let secret = self.keyring.there()?.ok_or_else(|| unauthenticated(UNKNOWN))?;
        match run_token::read(bearer, secret, now).map_err(unauthenticated)? {
            Holder::Run { agent_id, company_id, run_id } => {
                if run.is_some_and(|run| run != run_id) {
                    let why = "X-AoA-Run-Id names another run than the token.";
                    return Err(unauthenticated(why));
                }
                Ok(Proof::Run { agent_id, run_id, company_id: Some(company_id) })
            }
            Holder::Commander { user_id, company_id } => {
                Ok(Proof::Commander { user_id, company_id })
            }
        }
    }
}

impl Caller {
    /// The caller of a verb.
    ///
    /// # Errors
    ///
    /// As for any reading.
    pub(in crate::company) async fn at_terminal(
        connection: &mut Connection,
        company: Company,
        now: Timestamp,
    ) -> Result<Self> {
        caller(connection, company, Proof::Terminal, now).await
    }

    /// The same caller as the ledger has them now.
    ///
    /// # Errors
    ///
    /// 401 if the credential does not hold any more.
    pub(in crate::company) async fn looked_at_again(
        &self,
        connection: &mut Connection,
        company: Company,
        now: Timestamp,
    ) -> Result<Self> {
        caller(connection, company, self.proof, now).await
    }
}

/// Who a credential shows to be in a company, as the ledger has it now.
///
/// # Errors
///
/// 401 if it does not hold any more, 404 if the company is not its own, 403 for a key where the
/// company takes none.
async fn caller(
    connection: &mut Connection,
    company: Company,
    proof: Proof,
    now: Timestamp,
) -> Result<Caller> {
    let is_own = |id: Uuid| match id == company.id {
        true => Ok(()),
        false => Err(no_company(&company.id.to_string())),
    };
    let (principal, name, standing) = match proof {
        Proof::Key { key_id } => {
            let key = keys::by_id(connection, key_id).await?;
            let key = key.ok_or_else(|| unauthenticated(UNKNOWN))?;
            if key.revoked_at.is_some() {
                return Err(unauthenticated(REVOKED));
            }
            is_own(key.company_id)?;
            let (user, name, standing) = person(connection, company.id, key.user_id).await?;
            (user, name, standing.narrowed(key.role, key.projects.as_deref()))
        }
        Proof::Session { session_id } => {
            let session = sessions::by_id(connection, session_id).await?;
            let session = session.ok_or_else(|| unauthenticated(UNKNOWN))?;
            if session.ended_at.is_some() || session.expires_at <= now {
                return Err(unauthenticated("You are not signed in any more."));
            }
            // Whoever has signed in elsewhere learns nothing of this company.
            let known = people::rights(connection, company.id, session.user_id).await?;
            known.ok_or_else(|| no_company(&company.id.to_string()))?;
            person(connection, company.id, session.user_id).await?
        }
        Proof::Commander { user_id, company_id } => {
            is_own(company_id)?;
            person(connection, company.id, user_id).await?
        }
        Proof::AgentKey { key_id, run_id } => {
            let key = agents::key_by_id(connection, key_id).await?;
            let key = key.ok_or_else(|| unauthenticated(UNKNOWN))?;
            if key.revoked_at.is_some() {
                return Err(unauthenticated(REVOKED));
            }
            is_own(key.company_id)?;
            if let Some(run_id) = run_id {
                running(connection, run_id, key.agent_id).await?;
            }
            agent(connection, company.id, key.agent_id).await?
        }
        Proof::Run { agent_id, run_id, company_id } => {
            let run = running(connection, run_id, agent_id).await?;
            is_own(company_id.unwrap_or(run.company_id))?;
            is_own(run.company_id)?;
            agent(connection, company.id, agent_id).await?
        }
        Proof::Loopback | Proof::Terminal => (
            Principal::User(LOCAL_BOARD),
            LOCAL_BOARD_NAME.to_owned(),
            Standing::founder(company.id),
        ),
    };
    let caller = Caller { company, proof, principal, name, standing };
    if caller.actor() == Actor::Mcp && !caller.company.mcp_enabled {
        return Err(forbidden(
            "This company takes no keys of MCP clients: a founder switched \
                              them off.",
        ));
    }
    Ok(caller)
}

type Known = (Principal, String, Standing);

async fn person(connection: &mut Connection, company: Uuid, user: Uuid) -> Result<Known> {
    let found = people::by_id(connection, user).await?;
    let rights = people::rights(connection, company, user).await?;
    let Some((found, rights)) = found.zip(rights) else { return Err(unauthenticated(NO_MEMBER)) };
    let standing = Standing::person(company, &rights.roles, rights.grants);
    Ok((Principal::User(user), found.name, standing))
}

async fn agent(connection: &mut Connection, company: Uuid, agent: Uuid) -> Result<Known> {
    let everywhere = Standing::founder(company);
    let found = agents::in_company(connection, everywhere.scope(), agent).await?;
    let found = found.filter(|agent| agent.status.is_alive());
    let found = found.ok_or_else(|| unauthenticated(AGENT_GONE))?;
    let (projects, grants) = agents::rights(connection, company, agent).await?;
    Ok((Principal::Agent(agent), found.name, Standing::agent(company, projects, grants)))
}

/// The run, which is this agent's and has not ended.
async fn running(connection: &mut Connection, run: Uuid, agent: Uuid) -> Result<Run> {
    let found = runs::by_id(connection, run).await?;
    let found = found.filter(|run| run.agent_id == agent && run.status == RunStatus::Running);
    found.ok_or_else(|| unauthenticated(RUN_ENDED))
}
