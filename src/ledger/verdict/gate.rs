//! Who may pass the human gate, and what must hold before.

use std::path::Path;

use crate::domain::entity::{Agent, Decision, Disagreement};
use crate::domain::names::agent::infer_type;
use crate::domain::names::approver::{may_be_one, reads_as_agent};
use crate::domain::names::hidden::first_hidden;
use crate::domain::names::lookalike::read_the_same;
use crate::domain::value::AgentType;
use crate::domain::verdict::Verdict;
use crate::error::{Audience, Code, Error, Result};
use crate::ledger::Service;
use crate::ledger::policies::rules::Current;
use crate::ledger::settings::config::{self, ApprovalSettings, Requirement};
use crate::ledger::verdict::staleness::AttachedChanges;
use crate::ledger::verdict::vouched;
use crate::ledger::work::references::vanished;
use crate::store;
use crate::store::engine::Connection;

pub use crate::domain::value::Confirmed;

/// How a verdict came, and what the person had before them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Confirmation {
    pub how: Confirmed,
    /// What was shown, where something was, by the fingerprint of the question: a verdict on
    /// what has changed meanwhile is none.
    pub seen: Option<String>,
}

impl Confirmation {
    /// Nobody was asked.
    pub fn asserted() -> Self {
        Self { how: Confirmed::Asserted, seen: None }
    }
}

impl Service {
    /// The `[approval]` settings of the project that a decision belongs to, and the rules that
    /// its policies judge by now.
    pub(in crate::ledger) async fn approval_settings(
        &self,
        connection: &mut Connection,
        decision: &Decision,
    ) -> Result<(ApprovalSettings, Current)> {
        let project = self.project_of(connection, decision.project_id).await?;
        let settings = config::approval_settings(Path::new(&project.root_path))?;
        Ok((settings, Current::of(&project)))
    }
}

pub(in crate::ledger) async fn author_of(
    connection: &mut Connection,
    decision: &Decision,
) -> Result<String> {
    let author = store::ledger::agents::by_id(connection, decision.author_agent_id).await?;
    Ok(author.ok_or_else(vanished)?.name)
}

/// The longest name of an agent or a person, in characters.
const MAX_NAME: usize = 255;

/// Refuses who may not judge: a name that cannot be read, and, of a decision that needs a person,
/// whoever is no person, and whoever made the decision, in any spelling.
pub(in crate::ledger) async fn check_approver(
    connection: &mut Connection,
    decision: &Decision,
    approver: &str,
) -> Result<()> {
    let approver = approver.trim();
    check_readable(approver)?;
    if !decision.human_approval_required {
        return Ok(());
    }
    let refused = |why: String| {
        Err(Error::refused_by_audience(Code::ApproverNotAccepted, |to| {
            let (required, next) = to.pick(
                (
                    " (human_approval_required)",
                    "Ask that person, and send the verdict under their name; never under yours.",
                ),
                ("", "Sign with your own name: --as NAME, GOVFORGE_USER or git's user.name."),
            );
            format!(
                "{}\"{approver}\" {why} {} needs the verdict of a person who did not author \
                 it{required}. {next} Nothing was recorded.",
                to.parameter("approver"),
                decision.display_id
            )
        }))
    };
    let agents = store::ledger::agents::not_human(connection).await?;
    // Whoever spells a name that tells its kind is known by the spelling itself.
    let unknown = |agent: &Agent| infer_type(&agent.name) == AgentType::Human;
    let stored =
        agents.into_iter().filter(unknown).find(|agent| read_the_same(&agent.name, approver));
    if let Some(kind) = stored.map(|agent| agent.kind).or_else(|| reads_as_agent(approver)) {
        return refused(format!("is a coding agent ({kind}), or reads like one."));
    }
    let known = store::ledger::agents::by_name(connection, approver).await?;
    let author = author_of(connection, decision).await?;
    if known.is_some_and(|agent| agent.id == decision.author_agent_id)
        || may_be_one(approver, &author)
    {
        return refused(format!("is the author of the decision (\"{author}\"), in some spelling."));
    }
    Ok(())
}

/// A name on a verdict is one that whoever reads the record sees as it is. A blank one is refused
/// where agents are made.
fn check_readable(approver: &str) -> Result<()> {
    let length = approver.chars().count();
    if length > MAX_NAME {
        return Err(Error::refused_by_audience(Code::ApproverNotAccepted, |to| {
            format!(
                "{} has {length} characters; a name has at most {MAX_NAME}. Shorten it. Nothing \
                 was recorded.",
                to.pick("approver", "The name of the signer")
            )
        }));
    }
    let refused = |why: &str| {
        Err(Error::refused_by_audience(Code::ApproverNotAccepted, |to| {
            format!(
                "{}\"{approver}\" {why} {}, in letters that show. Nothing was recorded.",
                to.parameter("approver"),
                to.pick("Send the name as the person writes it", "Write the name as it is read")
            )
        }))
    };
    if let Some(hidden) = first_hidden(approver) {
        let code = u32::from(hidden);
        return refused(&format!("holds U+{code:04X}, which hides or turns what is read."));
    }
    if !approver.is_empty() && !approver.chars().any(char::is_alphabetic) {
        return refused("has no letter, so that it cannot be told from others.");
    }
    Ok(())
}

/// Refuses an approval before everything that the settings ask for holds for the change that
/// is attached now.
pub(in crate::ledger) async fn check_ready(
    connection: &mut Connection,
    decision: &Decision,
    settings: &ApprovalSettings,
    rules: &Current,
) -> Result<()> {
    let changes = AttachedChanges::of(connection, decision.id).await?;
    let mut missing = Vec::new();
    for requirement in &settings.require {
        match requirement {
            Requirement::PolicyChecks => {
                if !are_checked(connection, decision, &changes, rules).await? {
                    missing.push(Missing::PolicyChecks);
                }
            }
            Requirement::Review => {
                if !is_reviewed(connection, decision, &changes).await? {
                    missing.push(Missing::Review);
                }
            }
            Requirement::NoOpenDisagreement => {
                let verdict = vouched::persons(connection, decision).await?;
                let all =
                    store::ledger::disagreements::of_decision(connection, decision.id).await?;
                let open = open_ones(all, verdict.as_ref());
                if !open.is_empty() {
                    let topics = open.into_iter().map(|one| one.topic).collect();
                    missing.push(Missing::Settlement(topics));
                }
            }
        }
    }
    if missing.is_empty() {
        return Ok(());
    }
    Err(Error::refused_by_audience(Code::ApprovalNotReady, |to| {
        let missing: Vec<String> = missing.iter().map(|one| one.told(to)).collect();
        format!(
            "{} cannot be approved yet; [approval] require in .govforge/config.toml asks for \
             more: {}. Nothing was recorded.",
            decision.display_id,
            missing.join("; ")
        )
    }))
}

/// What the settings ask for and does not hold yet.
enum Missing {
    PolicyChecks,
    Review,
    /// Of the open disagreements on these topics.
    Settlement(Vec<String>),
}

impl Missing {
    /// What is missing, and how to bring it about.
    fn told(&self, to: Audience) -> String {
        match self {
            Self::PolicyChecks => format!(
                "the policies have not been run for the change attached now by the project's \
                 rules as they are now: {}",
                to.pick("call run_policy_checks without config_path", "have its author run them")
            ),
            Self::Review => format!(
                "nobody but the author has reviewed the change attached now: {}",
                to.pick(
                    "call request_review, and have the reviewer call submit_review",
                    "have another agent review it"
                )
            ),
            Self::Settlement(topics) => format!(
                "open disagreements ({}): {} with the reason as {}",
                topics.join("; "),
                to.pick(
                    "a person settles them by a verdict of needs_changes or rejected,",
                    "settle them by `govforge needs-changes` or `govforge reject`,"
                ),
                to.pick("comment", "message (-m)")
            ),
        }
    }
}

/// Whether this program has run the policies for the change attached now, by the rules that the
/// project has now: `config_path` may name laxer ones. Without a change there is nothing that
/// they could judge, and any run by these rules counts.
pub(in crate::ledger) async fn are_checked(
    connection: &mut Connection,
    decision: &Decision,
    changes: &AttachedChanges,
    rules: &Current,
) -> Result<bool> {
    let runs = store::chain::testimony::policy_runs(connection, decision.id).await?;
    Ok(runs
        .iter()
        .any(|run| !changes.is_stale(run.recorded) && rules.is(run.config_hash.as_deref())))
}

async fn is_reviewed(
    connection: &mut Connection,
    decision: &Decision,
    changes: &AttachedChanges,
) -> Result<bool> {
    let author = author_of(connection, decision).await?;
    for review in store::ledger::reviews::of_decision(connection, decision.id).await? {
        if changes.is_stale(review.recorded) {
            continue;
        }
        let reviewer = store::ledger::agents::by_id(connection, review.reviewer_agent_id).await?;
        if !read_the_same(&reviewer.ok_or_else(vanished)?.name, &author) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The disagreements that are open: without a resolution, and not yet before a
/// person, who settles them by a verdict; `verdict` is the newest of a person.
pub(in crate::ledger) fn open_ones(
    disagreements: Vec<Disagreement>,
    verdict: Option<&Verdict>,
) -> Vec<Disagreement> {
    let judged = verdict.map(Verdict::recorded);
    disagreements
        .into_iter()
        .filter(|one| one.resolution.is_none())
        .filter(|one| judged.is_none_or(|judged| one.recorded > judged))
        .collect()
}
