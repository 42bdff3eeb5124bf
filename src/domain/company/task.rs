//! A task: who has it, where it stands, and what moves it.

use uuid::Uuid;

use super::entity::Principal;
use super::value::{TaskPriority, TaskSource, TaskStatus};
use crate::domain::time::Timestamp;

/// What is to be done in a company.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    pub id: Uuid,
    pub company_id: Uuid,
    /// Such as `ACME-12`; unique in a ledger.
    pub identifier: String,
    pub title: String,
    pub description: Option<String>,
    pub status: TaskStatus,
    pub priority: TaskPriority,
    pub project_id: Option<Uuid>,
    pub goal_id: Option<Uuid>,
    pub parent_id: Option<Uuid>,
    /// One agent or one person, never both.
    pub assignee: Option<Principal>,
    /// The person whom the task's agent may ask.
    pub responsible_user_id: Option<Uuid>,
    /// The person who looks at it once it is in review.
    pub reviewer_user_id: Option<Uuid>,
    /// Sorted.
    pub label_ids: Vec<Uuid>,
    /// Its document.
    pub artifact_id: Option<Uuid>,
    /// The run that works on it.
    pub checkout_run_id: Option<Uuid>,
    pub source: TaskSource,
    pub created_by: Principal,
    pub started_at: Option<Timestamp>,
    pub completed_at: Option<Timestamp>,
    pub cancelled_at: Option<Timestamp>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// What a task may not be, as a sentence that says what to send instead.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    #[error(
        "A task has one assignee. Give assigneeAgentId or assigneeUserId, not both; the one that \
         is given takes the place of the other."
    )]
    TwoAssignees,
    #[error(
        "A task in progress has an assignee, and this one has none. Give assigneeAgentId or \
         assigneeUserId in the same call, or leave it at todo."
    )]
    NobodyWorks,
    #[error(
        "A task in review has somebody to review it, and this one has nobody: no responsible \
         person, no lead of its project, no founder. Set responsibleUserId first."
    )]
    NobodyReviews,
}

impl Task {
    /// Puts the task into a status, with the times that follow from it.
    pub fn move_to(&mut self, status: TaskStatus, now: Timestamp) {
        if status == self.status {
            return;
        }
        if self.status == TaskStatus::InProgress {
            self.checkout_run_id = None;
        }
        if status == TaskStatus::InProgress && self.started_at.is_none() {
            self.started_at = Some(now);
        }
        self.completed_at = (status == TaskStatus::Done).then_some(now);
        self.cancelled_at = (status == TaskStatus::Cancelled).then_some(now);
        self.status = status;
    }

    /// Gives the task to somebody, or to nobody. Whoever works on it for somebody else has lost
    /// it.
    pub fn assign_to(&mut self, assignee: Option<Principal>) {
        if assignee != self.assignee {
            self.assignee = assignee;
            self.checkout_run_id = None;
        }
    }

    /// Checks what holds for every task that is written.
    ///
    /// # Errors
    ///
    /// What the task may not be.
    pub fn check(&self) -> Result<(), Unfit> {
        match self.status {
            TaskStatus::InProgress if self.assignee.is_none() => Err(Unfit::NobodyWorks),
            TaskStatus::InReview if self.reviewer_user_id.is_none() => Err(Unfit::NobodyReviews),
            _ => Ok(()),
        }
    }
}

impl TaskStatus {
    /// Whether nothing is to be done any more.
    pub fn is_over(self) -> bool {
        matches!(self, Self::Done | Self::Cancelled)
    }
}

/// The one assignee that a call names.
///
/// # Errors
///
/// Both are named.
pub fn assignee(agent: Option<Uuid>, user: Option<Uuid>) -> Result<Option<Principal>, Unfit> {
    match (agent, user) {
        (Some(_), Some(_)) => Err(Unfit::TwoAssignees),
        (agent, user) => Ok(Principal::of(agent, user)),
    }
}

/// The letters of a company's tasks, made from its name: the first letters of its words, or
/// those of its only word; at least two, at most five.
pub fn prefix_of(company: &str) -> String {
    let is_letter = |c: &char| c.is_ascii_alphanumeric();
    let words: Vec<&str> =
        company.split(|c: char| !is_letter(&c)).filter(|w| !w.is_empty()).collect();
    let letters: String = match words.as_slice() {
        [word] => word.chars().take(4).collect(),
        words => words.iter().filter_map(|word| word.chars().next()).take(5).collect(),
    };
    let letters = letters.trim_start_matches(|c: char| c.is_ascii_digit()).to_ascii_uppercase();
    if letters.len() < 2 { "TASK".to_owned() } else { letters }
}

#[cfg(test)]
mod tests {
    use strum::IntoEnumIterator as _;

    use super::*;

    fn at(second: u32) -> Timestamp {
        Timestamp::read(&format!("2026-05-10 14:02:{second:02}")).unwrap()
    }

    fn task() -> Task {
        Task {
            id: Uuid::from_u128(1),
            company_id: Uuid::from_u128(2),
            identifier: "ACME-1".to_owned(),
            title: "Ship it".to_owned(),
            description: None,
            status: TaskStatus::Backlog,
            priority: TaskPriority::Medium,
            project_id: None,
            goal_id: None,
            parent_id: None,
            assignee: None,
            responsible_user_id: None,
            reviewer_user_id: None,
            label_ids: Vec::new(),
            artifact_id: None,
            checkout_run_id: None,
            source: TaskSource::Mcp,
            created_by: Principal::User(Uuid::from_u128(3)),
            started_at: None,
            completed_at: None,
            cancelled_at: None,
            created_at: at(0),
            updated_at: at(0),
        }
    }

    #[test]
    fn times_follow_the_status_there_and_back() {
        let mut task = task();
        task.move_to(TaskStatus::InProgress, at(1));
        task.move_to(TaskStatus::Done, at(2));
        assert_eq!((task.started_at, task.completed_at), (Some(at(1)), Some(at(2))));
        task.move_to(TaskStatus::Done, at(3));
        assert_eq!(task.completed_at, Some(at(2)), "the same status changes nothing");
        task.move_to(TaskStatus::InProgress, at(4));
        assert_eq!((task.started_at, task.completed_at), (Some(at(1)), None));
        task.move_to(TaskStatus::Cancelled, at(5));
        assert_eq!((task.completed_at, task.cancelled_at), (None, Some(at(5))));
    }

    #[test]
    fn a_run_loses_a_task_that_is_left_or_given_away() {
        let run = Some(Uuid::from_u128(7));
        let agent = Some(Principal::Agent(Uuid::from_u128(8)));
        let mut task = Task { assignee: agent, status: TaskStatus::InProgress, ..task() };
        task.checkout_run_id = run;
        task.assign_to(agent);
        assert_eq!(task.checkout_run_id, run);
        let mut left = task.clone();
        left.move_to(TaskStatus::InReview, at(1));
        assert_eq!(left.checkout_run_id, None);
        task.assign_to(Some(Principal::Agent(Uuid::from_u128(9))));
        assert_eq!(task.checkout_run_id, None);
    }

    #[test]
    fn somebody_works_on_what_is_in_progress_and_reviews_what_is_in_review() {
        for status in TaskStatus::iter() {
            let expected = match status {
                TaskStatus::InProgress => Err(Unfit::NobodyWorks),
                TaskStatus::InReview => Err(Unfit::NobodyReviews),
                _ => Ok(()),
            };
            assert_eq!(Task { status, ..task() }.check(), expected, "{status}");
        }
        let someone = Uuid::from_u128(4);
        assert_eq!(assignee(Some(someone), Some(someone)), Err(Unfit::TwoAssignees));
        assert_eq!(assignee(None, Some(someone)), Ok(Some(Principal::User(someone))));
    }

    #[test]
    fn a_prefix_is_made_of_the_name() {
        for (name, prefix) in [
            ("Acme", "ACME"),
            ("acmecorp", "ACME"),
            ("Blue Ocean Labs", "BOL"),
            ("3M", "TASK"),
            ("Ärzte", "RZTE"),
            ("日本", "TASK"),
            ("7 seas trading", "ST"),
        ] {
            assert_eq!(prefix_of(name), prefix, "{name}");
        }
    }
}
