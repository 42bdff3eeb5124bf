//! A write in progress: the transaction, the caller as they are now, the one point in time that
//! the whole call carries, and its events.

use serde_json::{Value as Json, json};
use uuid::Uuid;

use crate::company::Service;
use crate::company::identity::caller::Caller;
use crate::company::refusals::{conflict, no_company, not_allowed_now};
use crate::domain::company::access::standing::Scope;
use crate::domain::company::entity::Company;
use crate::domain::company::record::{By, Event, Record};
use crate::domain::company::value::CompanyStatus;
use crate::domain::digest;
use crate::domain::time::Timestamp;
use crate::error::Result;
use crate::store;
use crate::store::company::{companies, idempotency};
use crate::store::engine::{Connection, WriteTransaction};

/// The transaction of a writing call.
pub struct Write<'a> {
    service: &'a Service,
    transaction: WriteTransaction<'a>,
    caller: Caller,
    /// The events of this call.
    events: Vec<Uuid>,
    /// The time of everything this call records.
    pub now: Timestamp,
}

impl Service {
    /// Begins a read of one consistent state.
    pub(in crate::company) async fn read(&self) -> Result<Connection> {
        self.ledger.read().await
    }

    /// Begins a write. Who was let in is looked at once more, now that nobody else writes: a key
    /// that was revoked meanwhile writes nothing.
    ///
    /// # Errors
    ///
    /// As [`authenticate`](Self::authenticate), and 422 for a company that takes no write.
    pub(in crate::company) async fn write(&self, caller: &Caller) -> Result<Write<'_>> {
        let write = self.write_in_any_state(caller).await?;
        match write.caller.company().status {
            CompanyStatus::Active => Ok(write),
            status => Err(not_allowed_now(format!(
                "The company is {status} and takes no writes. `govforge company resume` puts it \
                 back to work."
            ))),
        }
    }

    /// Begins a write also in a company that is paused or archived.
    ///
    /// # Errors
    ///
    /// As [`authenticate`](Self::authenticate).
    pub(in crate::company) async fn write_in_any_state(
        &self,
        caller: &Caller,
    ) -> Result<Write<'_>> {
        let (mut transaction, now) = self.begin().await?;
        let id = caller.company().id;
        let company = companies::by_id(&mut transaction, id).await?;
        let company = company.ok_or_else(|| no_company(&id.to_string()))?;
        let caller = caller.looked_at_again(&mut transaction, company, now).await?;
        Ok(Write { service: self, transaction, caller, events: Vec::new(), now })
    }

    /// Begins the write that makes a company: `make` adds its row, and what stands in the way it
    /// refuses.
    ///
    /// # Errors
    ///
    /// What `make` refuses.
    pub(in crate::company) async fn write_new(
        &self,
        make: impl AsyncFnOnce(&mut Connection, Uuid, Timestamp) -> Result<Company>,
    ) -> Result<Write<'_>> {
        let (mut transaction, now) = self.begin().await?;
        let company = make(&mut transaction, self.ids.next(), now).await?;
        let caller = Caller::at_terminal(&mut transaction, company, now).await?;
        Ok(Write { service: self, transaction, caller, events: Vec::new(), now })
    }

    /// The time is taken once the lock is held, and is after everything that was recorded before,
    /// whatever the clock says.
    async fn begin(&self) -> Result<(WriteTransaction<'_>, Timestamp)> {
        let mut transaction = self.ledger.write(self.durability).await?;
        let last = store::company::events::last_time(&mut transaction).await?;
        let now = self.clock.now();
        Ok((transaction, last.map_or(now, |last| now.max(last.next()))))
    }
}

/// What was sent under a key of the caller's own.
pub enum Sent {
    /// Nothing yet, or no key was given.
    New,
    /// The same: the record that came of it.
    Before(Uuid),
}

impl Write<'_> {
    /// The connection of the transaction.
    pub fn connection(&mut self) -> &mut Connection {
        &mut self.transaction
    }

    /// The caller as they are now.
    pub fn caller(&self) -> &Caller {
        &self.caller
    }

    /// The rows that the caller sees.
    pub fn scope(&self) -> Scope {
        self.caller.scope().clone()
    }

    /// The connection and the scope, for a statement.
    pub fn scoped(&mut self) -> (&mut Connection, &Scope) {
        (&mut self.transaction, self.caller.scope())
    }

    /// A new id.
    pub fn id(&self) -> Uuid {
        self.service.ids.next()
    }

    /// Tells on the record what was done to a row, which is there as it is to be by now.
    pub async fn event(
        &mut self,
        record: Record,
        record_id: Uuid,
        event_type: &str,
        payload: Json,
    ) -> Result<()> {
        let event = Event {
            id: self.id(),
            company_id: self.caller.company().id,
            record,
            record_id,
            event_type: event_type.to_owned(),
            by: self.by(),
            payload,
            created_at: self.now,
        };
        store::company::events::insert(&mut self.transaction, &event).await?;
        self.events.push(event.id);
        Ok(())
    }

    fn by(&self) -> By {
        self.caller.by()
    }

    /// Whether the caller has sent this under that key before. `content` is the tool and all that
    /// was sent.
    ///
    /// # Errors
    ///
    /// 409 for other content under the same key.
    pub async fn sent(&mut self, key: Option<&str>, content: &Json) -> Result<Sent> {
        let Some(key) = key else { return Ok(Sent::New) };
        let caller = self.caller.id();
        let (connection, scope) = self.scoped();
        match idempotency::find(connection, scope, caller, key).await? {
            None => Ok(Sent::New),
            Some((digest, record)) if digest == digest_of(content) => Ok(Sent::Before(record)),
            Some(_) => Err(conflict(format!(
                "idempotencyKey \"{key}\" was sent before with other content. Choose another key \
                 for another call."
            ))),
        }
    }

    /// Keeps what came of a call under that key.
    pub async fn keep_sent(
        &mut self,
        key: Option<&str>,
        content: &Json,
        record_id: Uuid,
    ) -> Result<()> {
        let Some(key) = key else { return Ok(()) };
        let (caller, now, digest) = (self.caller.id(), self.now, digest_of(content));
        let (connection, scope) = self.scoped();
        idempotency::insert(connection, scope, caller, key, &digest, record_id, now).await
    }

    /// Takes the events of this call into the chain, and makes the whole call durable.
    pub async fn commit(mut self) -> Result<()> {
        let token = self.service.token.as_deref();
        store::chain::company::take_in(&mut self.transaction, &self.events, token).await?;
        self.transaction.commit().await
    }
}

fn digest_of(content: &Json) -> String {
    digest::of(json!(content).to_string()).trim_start_matches("sha256:").to_owned()
}
