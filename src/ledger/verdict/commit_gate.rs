//! Whether a commit may pass: only if a person approved exactly its diff.

use std::path::{Path, PathBuf};

use serde::Serialize;
use tokio_util::sync::CancellationToken;

use super::vouched::{Judged, NotTaken, PersonsApproval};
use crate::domain::access::UseCase;
use crate::domain::entity::Decision;
use crate::domain::excerpt::quoted;
use crate::domain::time::Timestamp;
use crate::domain::value::{ApprovalStatus, Confirmed, DecisionStatus};
use crate::domain::verdict::Verdict;
use crate::error::{Code, Error, Result};
use crate::git::{self, Repository};
use crate::ledger::settings::config::{self, ApprovalSettings, Unconfirmed};
use crate::ledger::verdict::staleness::AttachedChanges;
use crate::ledger::work::changes::off_thread;
use crate::ledger::work::projects::Found;
use crate::ledger::work::references::vanished;
use crate::ledger::{Service, path_text};
use crate::store;
use crate::store::engine::Connection;

/// What the gate says of a commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct GateAnswer {
    /// The commit, in full.
    pub commit_hash: String,
    /// The hash of its diff.
    pub diff_hash: String,
    /// Whether it may pass.
    pub passes: bool,
    pub reason: Reason,
    /// Display ID of the decision that the reason speaks of.
    pub decision_id: Option<String>,
    /// The verdict that the reason speaks of.
    pub verdict: Option<VerdictTold>,
    /// The reason in whole sentences, and what to do next.
    pub message: String,
}

/// Why a commit may pass, or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    Approved,
    NoDecision,
    NotApproved,
    ApprovedForAnotherDiff,
    /// The approval was asserted: nobody asked a person.
    Asserted,
    /// The approval is an agent's own.
    ByAnAgent,
    /// Another program than this one wrote the approval.
    AnotherProgram,
    /// The chain does not vouch for the approval, or for the decision's status.
    NotVouched,
}

/// A verdict as the gate tells of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct VerdictTold {
    pub approver: String,
    pub status: ApprovalStatus,
    /// How it is known to be a person's; `None` where the chain does not vouch for it.
    pub confirmed: Option<Confirmed>,
    /// Why the chain does not vouch for it.
    pub doubt: Option<&'static str>,
    pub given_at: Timestamp,
    /// The label of the token under which it was recorded.
    pub token: Option<String>,
    /// The kind of approval that the settings let pass, where no person confirmed it.
    pub accepted_as: Option<Unconfirmed>,
}

impl From<&Verdict> for VerdictTold {
    fn from(verdict: &Verdict) -> Self {
        Self {
            approver: verdict.approver().to_owned(),
            status: verdict.status(),
            confirmed: verdict.confirmed(),
            doubt: verdict.doubt(),
            given_at: verdict.created_at(),
            token: verdict.vouched().and_then(|vouched| vouched.token.clone()),
            accepted_as: None,
        }
    }
}

impl From<PersonsApproval<'_>> for VerdictTold {
    fn from(approval: PersonsApproval<'_>) -> Self {
        Self { accepted_as: approval.accepted_as(), ..approval.verdict().into() }
    }
}

/// A decision that has to do with the commit.
struct Candidate {
    display_id: String,
    status: DecisionStatus,
    /// Whether its newest change has the commit's diff.
    covers: bool,
    /// Whether a person approved it as its newest change stands.
    standing: Standing,
}

/// What came of the verdicts on a decision.
enum Standing {
    Approved(VerdictTold),
    /// The newest approval is not taken.
    NotTaken(VerdictTold, NotTaken),
    /// No approval stands, whatever the decision's row says: its events leave it there.
    NotApproved(Option<DecisionStatus>),
}

impl Service {
    /// Looks for an approved decision whose newest change has the same diff as the commit that
    /// `revision` names in the repository around the working directory.
    ///
    /// # Errors
    ///
    /// Refuses a working directory outside any project, and a revision that names no commit.
    pub async fn gate(&self, revision: &str) -> Result<GateAnswer> {
        let located = git::locate(&self.location.directory)?.ok_or_else(|| {
            Error::refused(
                Code::NotARepository,
                format!(
                    "{} is in no git repository. Run this in the repository whose commit is \
                     meant.",
                    self.location.directory.display()
                ),
            )
        })?;
        let mut read = self.ledger.read(UseCase::Gate).await?;
        let root = path_text(&located.worktree_root);
        let (project, project_root) = match self.find_project(&mut read, &root).await? {
            Found::Registered(project) => {
                let root = PathBuf::from(&project.root_path);
                (Some(project), root)
            }
            Found::Registrable(located) => (None, located.main_root),
        };
        drop(read);
        let revision = revision.trim().to_owned();
        let change = off_thread(CancellationToken::new(), move |stop| {
            Repository::open(&root, &project_root, &project_root)?.change(&revision, stop)
        })
        .await?;
        let mut read = self.ledger.read(UseCase::Gate).await?;
        let mut candidates = Vec::new();
        if let Some(project) = project {
            let settings = config::approval_settings(Path::new(&project.root_path))?;
            let about = store::ledger::overview::about_commit(
                &mut read,
                project.id,
                &change.commit_hash,
                &change.diff_hash,
                change.parent_commit_hash.as_deref(),
            );
            for id in about.await? {
                let decision =
                    store::ledger::decisions::by_id(&mut read, id).await?.ok_or_else(vanished)?;
                let changes = AttachedChanges::of(&mut read, id).await?;
                candidates.push(Candidate {
                    covers: changes.diff_hash() == Some(change.diff_hash.as_str()),
                    standing: standing(&mut read, &decision, &changes, &settings).await?,
                    status: decision.status,
                    display_id: decision.display_id,
                });
            }
        }
        let commit = change.commit_hash.get(..12).unwrap_or(&change.commit_hash);
        let Judgement { reason, decision_id, verdict, message } = judge(commit, candidates);
        Ok(GateAnswer {
            passes: reason == Reason::Approved,
            reason,
            decision_id,
            verdict,
            message,
            commit_hash: change.commit_hash,
            diff_hash: change.diff_hash,
        })
    }
}

/// What came of the verdicts on a decision for its newest change: the newest approval that counts,
/// of those that no other verdict has overruled.
async fn standing(
    read: &mut Connection,
    decision: &Decision,
    changes: &AttachedChanges,
    settings: &ApprovalSettings,
) -> Result<Standing> {
    if decision.status != DecisionStatus::Approved {
        return Ok(Standing::NotApproved(Some(decision.status)));
    }
    let verdicts = store::ledger::approvals::of_decision(read, decision.id).await?;
    // Anybody can write the status in the row.
    let left_at = verdicts.left_at(settings.accepts(Unconfirmed::OtherPrograms));
    let mut refused = None;
    for verdict in verdicts.approvals() {
        match PersonsApproval::take(verdict, &Judged { settings, changes }) {
            Ok(approval) if left_at == Some(DecisionStatus::Approved) => {
                return Ok(Standing::Approved(approval.into()));
            }
            Ok(_) => return Ok(Standing::NotApproved(left_at)),
            Err(why) => {
                refused.get_or_insert((VerdictTold::from(verdict), why));
            }
        }
    }
    Ok(match refused {
        Some((verdict, why)) => Standing::NotTaken(verdict, why),
        None => Standing::NotApproved(left_at),
    })
}

/// What is said of a commit.
struct Judgement {
    reason: Reason,
    decision_id: Option<String>,
    verdict: Option<VerdictTold>,
    message: String,
}

fn judge(commit: &str, mut candidates: Vec<Candidate>) -> Judgement {
    // What lets it pass; else what is about this very diff; else what is approved for another.
    candidates.sort_by_key(|one| match (&one.standing, one.covers) {
        (Standing::Approved(_), true) => 0,
        (Standing::NotTaken(..), true) => 1,
        (Standing::NotApproved(_), true) => 2,
        (Standing::Approved(_), false) => 3,
        (_, false) => 4,
    });
    let Some(first) = candidates.into_iter().next().filter(Candidate::is_worth_telling) else {
        return Judgement {
            reason: Reason::NoDecision,
            decision_id: None,
            verdict: None,
            message: format!(
                "No decision has the diff of commit {commit}. Have its author record one and attach \
                 the commit; then a person approves it with `govforge approve`."
            ),
        };
    };
    let id = &first.display_id;
    let (reason, verdict, message) = match first.standing {
        Standing::Approved(verdict) if first.covers => {
            let message =
                format!("The diff of commit {commit} is approved by {id}: {}.", told(&verdict));
            (Reason::Approved, Some(verdict), message)
        }
        Standing::Approved(verdict) => {
            let message = format!(
                "{id} is approved, but for another diff than that of commit {commit}. Have the \
                 author attach this commit, then approve it again: `govforge approve {id}`."
            );
            (Reason::ApprovedForAnotherDiff, Some(verdict), message)
        }
        Standing::NotTaken(verdict, why) => {
            let (reason, because, next) = refusal(why, id);
            let message = format!(
                "The diff of commit {commit} belongs to {id}, whose approval ({}) does not \
                 count: {because}. {next}",
                told(&verdict)
            );
            (reason, Some(verdict), message)
        }
        Standing::NotApproved(_) if first.status != DecisionStatus::Approved => {
            let message = format!(
                "The diff of commit {commit} belongs to {id}, which is not approved (its status is \
                 {}). Look at it with `govforge show {id}`; `govforge approve {id}` approves it.",
                first.status
            );
            (Reason::NotApproved, None, message)
        }
        Standing::NotApproved(left_at) => {
            let leaves = match left_at {
                None | Some(DecisionStatus::Approved) => "no approval is behind that".to_owned(),
                Some(status) => format!("its events leave it at {status}"),
            };
            let message = format!(
                "The diff of commit {commit} belongs to {id}, which stands at approved, but \
                 {leaves}: the ledger was changed past the program. `govforge audit verify` tells \
                 more; `govforge approve {id}` approves it."
            );
            (Reason::NotVouched, None, message)
        }
    };
    Judgement { reason, decision_id: Some(first.display_id), verdict, message }
}

impl Candidate {
    /// One with another diff is worth telling of only if it is approved.
    fn is_worth_telling(&self) -> bool {
        self.covers || matches!(self.standing, Standing::Approved(_))
    }
}

/// Whose a verdict is, how it is known, and when it was given.
fn told(verdict: &VerdictTold) -> String {
    let known = match (verdict.confirmed, verdict.doubt) {
        (Some(confirmed), _) => confirmed.to_string(),
        (None, doubt) => doubt.unwrap_or_default().to_owned(),
    };
    let accepted = match verdict.accepted_as {
        Some(_) => ", which [approval] gate_accepts takes",
        None => "",
    };
    let when = verdict.given_at.minute();
    format!("{}, {known}{accepted}, {when} UTC", quoted(&verdict.approver))
}

/// The reason why an approval of a decision is not taken: its code, in words, and what to do.
fn refusal(why: NotTaken, id: &str) -> (Reason, String, String) {
    let approve = format!("`govforge approve {id}` in a person's terminal approves it.");
    match why {
        NotTaken::AnotherDiff => {
            (Reason::ApprovedForAnotherDiff, "it was given on another diff".to_owned(), approve)
        }
        NotTaken::ByAnAgent => {
            (Reason::ByAnAgent, "it is an agent's, and only a person's counts".to_owned(), approve)
        }
        NotTaken::Asserted => (
            Reason::Asserted,
            "whoever brought it asserted it, and nobody asked a person".to_owned(),
            format!(
                "{approve} [approval] gate_accepts = [\"asserted\"] in .govforge/config.toml takes \
                 such approvals from then on."
            ),
        ),
        NotTaken::AssertedBefore => (
            Reason::Asserted,
            "it was asserted while the settings did not accept that".to_owned(),
            format!("{approve} One that is asserted now counts too."),
        ),
        NotTaken::AnotherProgram => (
            Reason::AnotherProgram,
            "another program than govforge wrote it, and nothing vouches for it".to_owned(),
            format!(
                "{approve} If no other program has this ledger, it is forged: `govforge audit \
                 verify` tells more. If the original has, [approval] gate_accepts = \
                 [\"other_programs\"] in .govforge/config.toml takes what it writes."
            ),
        ),
        NotTaken::Unvouched(flaw) => (
            Reason::NotVouched,
            format!("{}, so the ledger was changed past the program", flaw.told()),
            format!("`govforge audit verify` tells more. {approve}"),
        ),
    }
}
