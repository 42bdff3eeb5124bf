//! What there is, and what waits for whom.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::{Value as Json, json};
use uuid::Uuid;

use crate::domain::access::UseCase;
use crate::domain::entity::Project;
use crate::domain::since::Since;
use crate::domain::time::Timestamp;
use crate::domain::value::{DecisionStatus, PolicyResultStatus, RiskLevel};
use crate::domain::verdict::Verdicts;
use crate::error::Result;
use crate::ledger::Service;
use crate::ledger::policies::rules::Current;
use crate::ledger::settings::config;
use crate::ledger::verdict::staleness::AttachedChanges;
use crate::store;
use crate::store::events::AheadOfTime;
pub use crate::store::ledger::overview::Author;
use crate::store::ledger::overview::{Filter, Line, OfOpen, ResultGiven, ReviewAsked, ReviewGiven};

/// Which decisions to list.
#[derive(Debug, Clone, Default)]
pub struct ListDecisions {
    pub status: Option<DecisionStatus>,
    pub risk_level: Option<RiskLevel>,
    /// The name of the author, in any case.
    pub author: Option<String>,
    /// Recorded then or later.
    pub since: Option<Since>,
    /// At most so many, the newest.
    pub limit: Option<u32>,
    /// Of every project of the ledger, also inside one.
    pub all_projects: bool,
}

/// The decisions that were looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecisionList {
    pub decisions: Vec<DecisionListed>,
    /// How many there are, of which `decisions` may hold fewer.
    pub total: usize,
    /// Where nobody of the name that was given has decided: everybody who has.
    pub authors: Option<Vec<Author>>,
}

/// A decision in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DecisionListed {
    /// What to name it by here: a display ID; its UUID if several projects are listed.
    #[serde(skip)]
    pub reference: String,
    /// Display ID.
    pub decision_id: String,
    pub project: String,
    pub title: String,
    pub author: String,
    pub status: DecisionStatus,
    /// What to know of its approval, if it is approved and no person is known to have confirmed
    /// that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub caveat: Option<String>,
    pub risk_level: RiskLevel,
    pub human_approval_required: bool,
    pub created_at: Timestamp,
}

/// Everything that waits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Overview {
    pub ledger: PathBuf,
    pub projects: Vec<ProjectOverview>,
}

/// What waits in one project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ProjectOverview {
    pub name: String,
    pub root_path: String,
    /// How many decisions there are in each status.
    pub decisions: BTreeMap<DecisionStatus, usize>,
    /// Reviews that an agent was asked for and has not submitted since.
    pub reviews: Vec<Waiting>,
    /// Decisions that wait for a person's verdict.
    pub verdicts: Vec<Waiting>,
    /// Decisions whose policy run or reviews are about another change than the one attached.
    pub stale: Vec<Waiting>,
    /// Policies that block.
    pub blocked: Vec<Waiting>,
    /// How many approved decisions no person is known to have confirmed, by what is to be said of
    /// the approval; of the newest thousand.
    pub unconfirmed: BTreeMap<String, usize>,
    /// The settings of the human gate.
    pub settings: SettingsShown,
    /// Events that are dated more than a day ahead of this machine's clock, at most 20.
    pub ahead: Vec<AheadOfTime>,
}

/// The settings of the human gate, as a verdict given now would record them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct SettingsShown {
    #[serde(flatten)]
    pub in_force: Json,
    /// What is looser than the default, a sentence without its full stop for each.
    pub looser: Vec<&'static str>,
    /// The mistake in the file, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mistake: Option<String>,
}

impl SettingsShown {
    fn of(project: &Project) -> Self {
        match config::approval_settings(Path::new(&project.root_path)) {
            Ok(settings) => {
                Self { in_force: settings.recorded(), looser: settings.looser(), mistake: None }
            }
            Err(error) => {
                Self { in_force: json!({}), mistake: Some(error.to_string()), ..Self::default() }
            }
        }
    }
}

/// How many of the newest approved decisions of a project are looked at.
const APPROVED: u32 = 1000;

/// A decision that waits, for whom or why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Waiting {
    pub decision_id: String,
    pub title: String,
    pub risk_level: RiskLevel,
    /// The agent that was asked, what is stale, or the policy with its message.
    pub what: String,
}

impl Service {
    /// The decisions that pass the filter, newest first: those of the current project, or of the
    /// whole ledger outside any.
    ///
    /// # Errors
    ///
    /// Refuses a `GOVFORGE_PROJECT` that names no project.
    pub async fn list_decisions(&self, input: ListDecisions) -> Result<DecisionList> {
        let mut read = self.ledger.read(UseCase::ListDecisions).await?;
        let project = match input.all_projects {
            true => None,
            false => self.current_project(&mut read).await?,
        };
        let filter = Filter {
            project_id: project.as_ref().map(|project| project.id),
            status: input.status,
            risk_level: input.risk_level,
            author: input.author,
            // Before all times, everything is later.
            since: input.since.and_then(|since| since.before(self.clock.now())),
            open: false,
        };
        let mut lines = store::ledger::overview::decisions(&mut read, &filter).await?;
        let authors = match &filter.author {
            Some(author) if lines.is_empty() => {
                let all = store::ledger::overview::authors(&mut read, filter.project_id).await?;
                let is_known = all.iter().any(|one| one.is_named(author));
                (!is_known).then_some(all)
            }
            _ => None,
        };
        let total = lines.len();
        let limit = input.limit.and_then(|limit| usize::try_from(limit).ok());
        lines.truncate(limit.unwrap_or(usize::MAX));
        let approved = |line: &&Line| line.status == DecisionStatus::Approved;
        let approved: Vec<Uuid> = lines.iter().filter(approved).map(|line| line.id).collect();
        let verdicts = store::ledger::approvals::of_decisions(&mut read, &approved).await?;
        let listed = |line: Line| {
            let caveat = verdicts.get(&line.id).and_then(Verdicts::caveat);
            listed(line, caveat, project.is_some())
        };
        let decisions = lines.into_iter().map(listed).collect();
        Ok(DecisionList { decisions, total, authors })
    }

    /// What waits in each project; the current one comes first.
    ///
    /// # Errors
    ///
    /// Refuses a `GOVFORGE_PROJECT` that names no project.
    pub async fn overview(&self) -> Result<Overview> {
        let mut read = self.ledger.read(UseCase::Overview).await?;
        let current = self.current_project(&mut read).await?.map(|project| project.id);
        let mut projects = store::ledger::projects::all(&mut read).await?;
        projects.sort_by_key(|project| current != Some(project.id));
        let names = store::ledger::agents::names(&mut read).await?;
        let mut overviews = Vec::new();
        for project in projects {
            let rules = Current::of(&project);
            let settings = SettingsShown::of(&project);
            let horizon = self.clock.now().a_day_ahead();
            let ahead = store::events::dated_after(&mut read, Some(project.id), horizon).await?;
            let approved =
                store::ledger::overview::approved(&mut read, project.id, APPROVED).await?;
            let verdicts = store::ledger::approvals::of_decisions(&mut read, &approved).await?;
            let mut unconfirmed = BTreeMap::new();
            for caveat in verdicts.values().filter_map(Verdicts::caveat) {
                *unconfirmed.entry(caveat).or_default() += 1;
            }
            let mut overview = ProjectOverview {
                name: project.name,
                root_path: project.root_path,
                decisions: BTreeMap::new(),
                reviews: Vec::new(),
                verdicts: Vec::new(),
                stale: Vec::new(),
                blocked: Vec::new(),
                unconfirmed,
                settings,
                ahead,
            };
            for (status, count) in store::ledger::overview::counts(&mut read, project.id).await? {
                overview.decisions.insert(status, usize::try_from(count).unwrap_or(0));
            }
            let filter = Filter { project_id: Some(project.id), open: true, ..Filter::default() };
            let open = store::ledger::overview::decisions(&mut read, &filter).await?;
            let mut of_open = store::ledger::overview::of_open(&mut read, project.id).await?;
            // Oldest first: who has waited longest.
            for line in open.iter().rev() {
                look_at(line, &names, &mut of_open, &rules, &mut overview);
            }
            // One agent's after the other's, each oldest first.
            overview.reviews.sort_by(|a, b| a.what.cmp(&b.what));
            overviews.push(overview);
        }
        Ok(Overview { ledger: self.ledger.path().to_owned(), projects: overviews })
    }
}

fn look_at(
    line: &Line,
    names: &HashMap<Uuid, String>,
    of_open: &mut OfOpen,
    rules: &Current,
    overview: &mut ProjectOverview,
) {
    let waiting = |what: String| Waiting {
        decision_id: line.display_id.clone(),
        title: line.title.clone(),
        risk_level: line.risk_level,
        what,
    };
    let changes = AttachedChanges::from(of_open.changes.remove(&line.id).unwrap_or_default());
    let reviews = of_open.reviews.remove(&line.id).unwrap_or_default();
    let requests = of_open.requests.remove(&line.id).unwrap_or_default();
    let results = of_open.results.remove(&line.id).unwrap_or_default();
    if line.human_approval_required && line.status.awaits_verdict() {
        overview.verdicts.push(waiting(line.status.to_string()));
    }
    for agent in asked(&requests, &reviews, names, &changes) {
        overview.reviews.push(waiting(agent.to_owned()));
    }
    let newest = results.last();
    let is_stale = |result: &ResultGiven| changes.is_stale(result.recorded);
    let is_by_other_rules = |result: &ResultGiven| {
        result.run.as_ref().is_some_and(|(_, hash)| !rules.is(hash.as_deref()))
    };
    let all_reviews_are_stale =
        !reviews.is_empty() && reviews.iter().all(|review| changes.is_stale(review.recorded));
    let stale = [
        ("the policy run", newest.is_some_and(is_stale)),
        ("the rules of the policy run", newest.is_some_and(is_by_other_rules)),
        ("every review", all_reviews_are_stale),
    ];
    let stale: Vec<&str> =
        stale.iter().filter(|(_, stale)| *stale).map(|(what, _)| *what).collect();
    if !stale.is_empty() {
        overview.stale.push(waiting(stale.join(" and ")));
    }
    let run_of = |result: &ResultGiven| result.run.as_ref().map(|(run, _)| *run);
    let run = newest.and_then(run_of);
    let mut newest = BTreeMap::new();
    for result in results.iter().filter(|one| run_of(one) == run && !is_stale(one)) {
        newest.insert(&result.policy, result);
    }
    for (policy, result) in newest {
        if result.status == PolicyResultStatus::Blocked {
            let message = result.message.as_deref().unwrap_or_default();
            overview.blocked.push(waiting(format!("{policy}: {message}")));
        }
    }
}

/// The agents that were asked for a review of a decision and have not reviewed the change
/// attached now since, each once, in the order they were asked.
fn asked<'a>(
    requests: &[ReviewAsked],
    reviews: &[ReviewGiven],
    names: &'a HashMap<Uuid, String>,
    changes: &AttachedChanges,
) -> Vec<&'a str> {
    let mut asked = Vec::new();
    for request in requests {
        let id = request.payload.as_ref().and_then(|payload| payload["reviewer_agent_id"].as_str());
        let Some(id) = id.and_then(|id| Uuid::try_parse(id).ok()) else { continue };
        let answered = reviews.iter().any(|review| {
            review.reviewer_agent_id == id
                && review.recorded >= request.recorded
                && !changes.is_stale(review.recorded)
        });
        let name = names.get(&id).map(String::as_str);
        if let Some(name) = name.filter(|name| !answered && !asked.contains(name)) {
            asked.push(name);
        }
    }
    asked
}

fn listed(line: Line, caveat: Option<String>, in_one_project: bool) -> DecisionListed {
    DecisionListed {
        reference: match in_one_project {
            true => line.display_id.clone(),
            false => line.id.to_string(),
        },
        decision_id: line.display_id,
        project: line.project,
        title: line.title,
        author: line.author,
        status: line.status,
        caveat,
        risk_level: line.risk_level,
        human_approval_required: line.human_approval_required,
        created_at: line.created_at,
    }
}
