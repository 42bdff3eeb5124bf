//! A write in progress: the transaction, the one point in time that the whole call carries,
//! and what every writing use case needs of them.

use serde_json::{Value as Json, json};
use uuid::Uuid;

use crate::domain::access::UseCase;
use crate::domain::digest;
use crate::domain::entity::{Agent, Decision, Event};
use crate::domain::id::{DisplayId, Kind};
use crate::domain::names::agent;
use crate::domain::time::Timestamp;
use crate::domain::value::{AgentType, DecisionStatus, EntityType};
use crate::error::{Error, Result};
use crate::ledger::Service;
use crate::ledger::access::guard::Access;
use crate::store;
use crate::store::engine::Connection;
use crate::store::engine::WriteTransaction;

/// The transaction of a writing call.
pub struct Write<'a> {
    service: &'a Service,
    transaction: WriteTransaction<'a>,
    /// The events of this call.
    events: Vec<Uuid>,
    access: Access,
    /// The time of every row this call records, and of the first of its events.
    pub now: Timestamp,
}

/// What an event is about, and who caused it.
pub struct Subject {
    pub project_id: Uuid,
    pub entity_type: EntityType,
    pub entity_id: Uuid,
    pub actor: Option<Uuid>,
}

impl Subject {
    /// An event about a decision.
    pub fn decision(decision: &Decision, actor: Option<Uuid>) -> Self {
        Self {
            project_id: decision.project_id,
            entity_type: EntityType::Decision,
            entity_id: decision.id,
            actor,
        }
    }
}

impl Service {
    /// Begins a write for a use case. The time is taken once the lock is held, and is after what
    /// was recorded before, also where the clock was set back: the timeline keeps its order.
    pub(in crate::ledger) async fn begin(&self, use_case: UseCase) -> Result<Write<'_>> {
        let (mut transaction, access) = self.ledger.write(use_case, self.durability()?).await?;
        let last = transaction.last_event_time().await?;
        let now = self.clock.now().after(last);
        if let Access::Token(token) = &access {
            store::tokens::touch(&mut transaction, token.id, now).await?;
        }
        Ok(Write { service: self, transaction, events: Vec::new(), access, now })
    }
}

impl Write<'_> {
    /// The connection of the transaction.
    pub fn connection(&mut self) -> &mut Connection {
        &mut self.transaction
    }

    /// What kind of agent holds the token under which this happens, if there is one.
    pub fn holder(&self) -> Option<AgentType> {
        self.access.holder()
    }

    /// A new id.
    pub fn id(&self) -> Uuid {
        self.service.ids.next()
    }

    /// The next display ID of that kind in a project.
    pub async fn display_id(&mut self, project_id: Uuid, kind: Kind) -> Result<DisplayId> {
        store::sequences::next(&mut self.transaction, project_id, kind).await
    }

    /// The agent of that name, made on first use.
    ///
    /// # Errors
    ///
    /// Refuses a blank name.
    pub async fn agent(&mut self, name: &str) -> Result<Agent> {
        let name = name.trim();
        if name.is_empty() {
            return Err(Error::invalid(
                "An agent name is blank. Give the name under which the agent or person is to \
                 stand on the record, such as \"claude-code\".",
            ));
        }
        if let Some(agent) = store::ledger::agents::by_name(&mut self.transaction, name).await? {
            return Ok(agent);
        }
        let agent = Agent {
            id: self.id(),
            name: name.to_owned(),
            kind: agent::infer_type(name),
            created_at: self.now,
        };
        store::ledger::agents::insert(&mut self.transaction, &agent).await?;
        Ok(agent)
    }

    /// The id of the agent who acts, if one is named.
    pub async fn actor(&mut self, name: Option<&str>) -> Result<Option<Uuid>> {
        match name.map(str::trim).filter(|name| !name.is_empty()) {
            Some(name) => Ok(Some(self.agent(name).await?.id)),
            None => Ok(None),
        }
    }

    /// When the next event of this call happens: each a microsecond after the one before it, so
    /// that they keep their order in any reader.
    pub fn next_event_time(&self) -> Timestamp {
        self.events.iter().fold(self.now, |at, _| at.next())
    }

    /// Adds an event to the timeline. Returns its id.
    pub async fn event(
        &mut self,
        subject: &Subject,
        event_type: &str,
        payload: Json,
    ) -> Result<Uuid> {
        let event = Event {
            id: self.id(),
            project_id: subject.project_id,
            entity_type: subject.entity_type,
            entity_id: subject.entity_id,
            event_type: event_type.to_owned(),
            actor_agent_id: subject.actor,
            payload: Some(payload),
            created_at: self.next_event_time(),
        };
        self.events.push(event.id);
        store::events::insert(&mut self.transaction, &event).await?;
        Ok(event.id)
    }

    /// Marks the payload of an event whose content was recorded already within the last
    /// minute, as `duplicate_of` the first record: a client that timed out may have sent the
    /// call twice. Both stay on the record. `content` is everything that the caller sent;
    /// `record` is what the new record is called.
    pub async fn flag_repeat(
        &mut self,
        payload: &mut Json,
        event_type: &str,
        content: Json,
        record: &str,
    ) -> Result<()> {
        let digest = digest::of(json!([event_type, content]).to_string());
        let now = self.now;
        let first = store::recent_calls::first(
            &mut self.transaction,
            &digest,
            record,
            now,
            now.a_minute_before(),
        );
        if let Some(first) = first.await? {
            payload["duplicate_of"] = json!(first);
        }
        Ok(())
    }

    /// Puts a decision into a status; one it already has leaves the row alone.
    ///
    /// Returns whether it changed.
    pub async fn set_status(
        &mut self,
        decision: &Decision,
        status: DecisionStatus,
    ) -> Result<bool> {
        if decision.status == status {
            return Ok(false);
        }
        let now = self.now;
        store::ledger::decisions::set_status(&mut self.transaction, decision.id, status, now)
            .await?;
        Ok(true)
    }

    /// Puts a decision into a status and tells it on the timeline, if it changes, with the
    /// reason where the events around it do not tell.
    pub async fn change_status(
        &mut self,
        decision: &Decision,
        status: DecisionStatus,
        actor: Option<Uuid>,
        reason: Option<&str>,
    ) -> Result<()> {
        if self.set_status(decision, status).await? {
            let mut payload = json!({ "from": decision.status, "to": status });
            if let Some(reason) = reason {
                payload["reason"] = json!(reason);
            }
            let subject = Subject::decision(decision, actor);
            self.event(&subject, "decision.status_changed", payload).await?;
        }
        Ok(())
    }

    /// Takes the events of this call into the chain, after those that the original wrote
    /// meanwhile, and makes the whole call durable.
    pub async fn commit(mut self) -> Result<()> {
        let label = match &self.access {
            Access::Token(token) => Some(token.label.as_str()),
            Access::Everything | Access::Nothing(_) => None,
        };
        store::chain::take_in(&mut self.transaction, &self.events, label).await?;
        self.transaction.commit().await
    }
}
