//! A stored verdict, and what stands behind it. Nothing but what is judged here leaves the store,
//! so nobody can take a row of `approvals` for a verdict without knowing what vouches for it.

use serde_json::Value as Json;
use strum::IntoEnumIterator as _;
use uuid::Uuid;

use super::chain::order::Recorded;
use super::chain::tables::RecordKind;
use super::chain::{BY_ANOTHER_PROGRAM, Cell, GENESIS, Link, OWN, event_cell};
use super::entity::Approval;
use super::names::approver::reads_as_agent;
use super::names::lookalike::read_the_same;
use super::time::Timestamp;
use super::value::{AgentType, ApprovalStatus, Confirmed, DecisionStatus, Value as _};

/// An event about a decision, with what the chain has of it.
#[derive(Debug, Clone)]
pub struct Testimony<'a> {
    /// In the order of [`super::chain::tables::EVENT_COLUMNS`].
    pub event: Vec<Cell<'a>>,
    /// `None` while it is not in the chain.
    pub link: Option<Link<'a>>,
    /// The hash of the link before.
    pub before: Cell<'a>,
    pub recorded: Recorded,
}

impl Testimony<'_> {
    /// Whether this program wrote the event, and its link is as it was made and follows from the
    /// one before.
    pub fn is_own(&self) -> bool {
        self.link.as_ref().is_some_and(|link| {
            let before = match link.place {
                1 => Some(GENESIS),
                _ => self.before.as_deref(),
            };
            link.place > 0
                && link.origin == OWN
                && before.is_some_and(|before| link.is_linked(before))
        })
    }

    /// A column of the event.
    pub fn cell(&self, column: &str) -> Option<&str> {
        event_cell(&self.event, column)
    }

    /// The event's payload; null where it is none.
    pub fn payload(&self) -> Json {
        let text = self.cell("payload_json").unwrap_or("null");
        serde_json::from_str(text).unwrap_or_default()
    }

    /// The decision that the event is about.
    pub fn decision_id(&self) -> Option<Uuid> {
        self.id("entity_id")
    }

    fn id(&self, column: &str) -> Option<Uuid> {
        self.cell(column).and_then(|id| Uuid::try_parse(id).ok())
    }

    /// Whether it tells of the verdict with that id, which `stored` is as the ledger writes it.
    fn tells_of(&self, id: Uuid, stored: &str) -> bool {
        match &self.link {
            Some(link) => {
                link.record_kind.as_deref() == Some(RecordKind::Approval.name())
                    && link.record_id.as_deref() == Some(stored)
            }
            None => id_in(&self.payload(), "approval_id") == Some(id),
        }
    }

    /// What the chain vouches for, if the event is this program's and fits the row.
    fn vouch(&self, approval: &Approval) -> Option<Vouched> {
        let link = self.link.as_ref().filter(|_| self.is_own())?;
        let payload = self.payload();
        let comment = match &payload["comment"] {
            Json::Null => None,
            Json::String(comment) => Some(comment.as_str()),
            _ => return None,
        };
        let fits = link.vouches_for_rows()
            && self.cell("entity_type") == Some("decision")
            && self.cell("event_type") == Some(event_type(approval.status))
            && self.decision_id() == Some(approval.decision_id)
            && self.id("actor_agent_id") == Some(approval.approver_agent_id)
            && given_at(link) == Some(approval.created_at)
            && id_in(&payload, "approval_id") == Some(approval.id)
            && payload["to"] == DecisionStatus::after_verdict(approval.status).wire()
            && comment == approval.comment.as_deref();
        fits.then(|| Vouched {
            event_id: self.id("id"),
            // What does not tell was asserted, for all that is known.
            confirmed: payload["confirmed"]
                .as_str()
                .and_then(Confirmed::read)
                .unwrap_or(Confirmed::Asserted),
            diff_hash: payload["diff_hash"].as_str().map(str::to_owned),
            token: link.token.as_deref().map(str::to_owned),
            settings: payload["settings"].clone(),
        })
    }
}

/// The time of the verdict that a link vouches for; its event may have a later one.
fn given_at(link: &Link<'_>) -> Option<Timestamp> {
    link.rows.first()?.cell("created_at").and_then(Timestamp::read)
}

fn id_in(payload: &Json, key: &str) -> Option<Uuid> {
    payload[key].as_str().and_then(|id| Uuid::try_parse(id).ok())
}

/// The type of the event that tells of a verdict.
pub fn event_type(verdict: ApprovalStatus) -> &'static str {
    match verdict {
        ApprovalStatus::Approved => "decision.approved",
        ApprovalStatus::Rejected => "decision.rejected",
        ApprovalStatus::NeedsChanges => "decision.needs_changes",
    }
}

/// Whether an event of that type tells of a verdict.
pub fn is_of_a_verdict(event_type: &str) -> bool {
    ApprovalStatus::iter().any(|verdict| self::event_type(verdict) == event_type)
}

/// What the chain says of a verdict that it vouches for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vouched {
    /// The event of the verdict.
    pub event_id: Option<Uuid>,
    pub confirmed: Confirmed,
    /// The hash of the diff that the verdict was given on; `None` if there was none.
    pub diff_hash: Option<String>,
    /// The label of the token under which it was written.
    pub token: Option<String>,
    /// The settings in force then; null before they were recorded.
    pub settings: Json,
}

/// What stands behind a verdict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Backing {
    /// This program wrote it, and it is as it was recorded.
    Vouched(Vouched),
    /// Another program wrote it: the original, or somebody with SQL.
    AnotherProgram,
    /// Nothing does, and why.
    Nothing(Flaw),
}

/// Why nothing stands behind a verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flaw {
    /// No event tells of it.
    NoEvent,
    /// Its event is neither in the chain nor waits to be taken in.
    PastTheChain,
    /// The verdict, its event or its link is not as it was recorded.
    Changed,
}

impl Flaw {
    /// In words that stand behind the verdict.
    pub fn told(self) -> &'static str {
        match self {
            Self::NoEvent => "no event tells of it",
            Self::PastTheChain => "added past the chain",
            Self::Changed => "not as it was recorded",
        }
    }
}

/// A stored verdict with what stands behind it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    approval: Approval,
    names: Names,
    backing: Backing,
}

/// Whose a verdict is, and whose the decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Names {
    /// The name that the verdict was given under.
    pub approver: String,
    /// What the ledger knows of whoever bears it.
    pub approver_type: AgentType,
    /// The name of the decision's author.
    pub author: String,
}

impl Verdict {
    /// Judges a row of `approvals` by the events about its decision.
    pub fn judge(approval: Approval, names: Names, testimonies: &[Testimony<'_>]) -> Self {
        let stored = approval.id.simple().to_string();
        let about = |one: &&Testimony<'_>| one.tells_of(approval.id, &stored);
        let told: Vec<_> = testimonies.iter().filter(about).collect();
        let claims_to_be_own =
            |one: &Testimony<'_>| one.link.as_ref().is_some_and(|link| link.origin == OWN);
        let backing = if let Some(vouched) = told.iter().find_map(|one| one.vouch(&approval)) {
            Backing::Vouched(vouched)
        } else if told.iter().any(|one| claims_to_be_own(one)) {
            Backing::Nothing(Flaw::Changed)
        } else if told.iter().any(|one| one.recorded > Recorded::UNTOLD) {
            Backing::AnotherProgram
        } else if told.is_empty() {
            Backing::Nothing(Flaw::NoEvent)
        } else {
            Backing::Nothing(Flaw::PastTheChain)
        };
        Self { approval, names, backing }
    }

    pub fn id(&self) -> Uuid {
        self.approval.id
    }

    pub fn decision_id(&self) -> Uuid {
        self.approval.decision_id
    }

    pub fn status(&self) -> ApprovalStatus {
        self.approval.status
    }

    pub fn comment(&self) -> Option<&str> {
        self.approval.comment.as_deref()
    }

    pub fn created_at(&self) -> Timestamp {
        self.approval.created_at
    }

    /// The name that the verdict was given under.
    pub fn approver(&self) -> &str {
        &self.names.approver
    }

    /// Whether it stands under the name of an agent, however it was confirmed, or was asserted
    /// under the name of the decision's own author.
    pub fn is_an_agents(&self) -> bool {
        let Names { approver, approver_type, author } = &self.names;
        *approver_type != AgentType::Human
            || reads_as_agent(approver).is_some()
            || (self.confirmed() == Some(Confirmed::Asserted) && read_the_same(approver, author))
    }

    pub fn backing(&self) -> &Backing {
        &self.backing
    }

    /// What the chain says of it, if it vouches for it.
    pub fn vouched(&self) -> Option<&Vouched> {
        match &self.backing {
            Backing::Vouched(vouched) => Some(vouched),
            _ => None,
        }
    }

    /// When it was recorded, as against other records.
    pub fn recorded(&self) -> Recorded {
        self.approval.recorded
    }

    /// How it is known to be a person's; `None` where the chain does not vouch for it.
    pub fn confirmed(&self) -> Option<Confirmed> {
        self.vouched().map(|vouched| vouched.confirmed)
    }

    /// What to say beside it and how it was confirmed, if it is no person's or nothing vouches
    /// for it.
    pub fn caveat(&self) -> Option<&'static str> {
        self.doubt().or_else(|| self.is_an_agents().then_some("by an agent"))
    }

    /// What to say beside what follows from it, if no person is known to have confirmed it.
    fn remark(&self) -> Option<&'static str> {
        let asserted = self.confirmed() == Some(Confirmed::Asserted);
        self.caveat().or_else(|| asserted.then_some("asserted"))
    }

    /// Why the chain does not vouch for it, in words that stand behind it.
    pub fn doubt(&self) -> Option<&'static str> {
        match &self.backing {
            Backing::Vouched(_) => None,
            Backing::AnotherProgram => Some(BY_ANOTHER_PROGRAM),
            Backing::Nothing(flaw) => Some(flaw.told()),
        }
    }
}

/// The verdicts on a decision, oldest first, and where the events leave it that move its status.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verdicts {
    all: Vec<Verdict>,
    /// By this program's own events.
    left_at: Option<DecisionStatus>,
    /// By another program's too.
    left_at_by_others: Option<DecisionStatus>,
    /// When the last verdict that is no approval was given, as the events tell: its row may be
    /// gone.
    overruled: Option<Recorded>,
}

impl Verdicts {
    /// From the verdicts, and the events about their decision in order.
    pub fn new(all: Vec<Verdict>, testimonies: &[Testimony<'_>]) -> Self {
        let status = |one: &Testimony<'_>| match one.cell("event_type")? {
            "review.requested" => Some(DecisionStatus::ReviewRequired),
            _ => one.payload()["to"].as_str().and_then(DecisionStatus::read),
        };
        let recorded = || testimonies.iter().filter(|one| one.recorded > Recorded::UNTOLD);
        // What approves has to be known, what does not is believed: else whoever makes an event
        // doubtful would take it back.
        let left_at = |is_known: &dyn Fn(&Testimony<'_>) -> bool| {
            let told = recorded().rev().filter_map(|one| Some((status(one)?, one)));
            told.filter(|(status, one)| *status != DecisionStatus::Approved || is_known(one))
                .map(|(status, _)| status)
                .next()
        };
        let withholds = |one: &&Testimony<'_>| {
            let kind = one.cell("event_type");
            [ApprovalStatus::Rejected, ApprovalStatus::NeedsChanges]
                .iter()
                .any(|verdict| kind == Some(event_type(*verdict)))
        };
        Self {
            all,
            left_at: left_at(&|one| one.is_own()),
            left_at_by_others: left_at(&|_| true),
            overruled: recorded().filter(withholds).map(|one| one.recorded).max(),
        }
    }

    /// The status at which the events leave the decision, which its row may not have: those of
    /// this program, or with others' too. `None` if none moved it.
    pub fn left_at(&self, with_others: bool) -> Option<DecisionStatus> {
        if with_others { self.left_at_by_others } else { self.left_at }
    }

    /// The approvals that no other verdict has overruled, newest first.
    pub fn approvals(&self) -> impl Iterator<Item = &Verdict> {
        self.all.iter().rev().take_while(|verdict| {
            verdict.status() == ApprovalStatus::Approved
                && Some(verdict.recorded()) > self.overruled
        })
    }

    /// What to say beside the status of the decision if it is approved: nothing if a person
    /// confirmed that.
    pub fn caveat(&self) -> Option<String> {
        let mut remarks = self.approvals().map(Verdict::remark).peekable();
        let Some(newest) = remarks.peek().copied() else {
            return Some("no approval stands behind it".to_owned());
        };
        let is_confirmed = remarks.any(|remark| remark.is_none());
        match self.left_at {
            Some(DecisionStatus::Approved) if is_confirmed => None,
            _ => newest.map(str::to_owned).or_else(|| {
                let left_at = self.left_at.map_or("draft", |status| status.wire());
                Some(format!("its events leave it at {}", left_at.replace('_', " ")))
            }),
        }
    }
}

impl std::ops::Deref for Verdicts {
    type Target = [Verdict];

    fn deref(&self) -> &[Verdict] {
        &self.all
    }
}

impl IntoIterator for Verdicts {
    type Item = Verdict;
    type IntoIter = std::vec::IntoIter<Verdict>;

    fn into_iter(self) -> Self::IntoIter {
        self.all.into_iter()
    }
}
