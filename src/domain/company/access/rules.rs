//! What each role may do: one table, from which the documentation's is made.

use uuid::Uuid;

use super::standing::Standing;
use crate::domain::company::value::{Permission, Role};

/// What somebody is about to do to what they have found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, strum::EnumIter)]
pub enum Act {
    CreateTask,
    UpdateTask,
    SetResponsible,
    Comment,
    CreateDocument,
    WriteVersion,
    CreateApproval,
    DecideApproval,
    LinkApproval,
    CreateMemory,
    CreateIdentityMemory,
    ApproveMemory,
    ApproveActiveContext,
    ApproveOwnMemory,
}

/// When a role may do something. Outside the scope nobody may.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// Wherever it is seen.
    Yes,
    /// In their own projects.
    InOwnProjects,
    /// If the task is assigned to them.
    IfAssigned,
    /// With a grant.
    With(Permission),
    /// If a linked task is in scope.
    IfLinked,
    Never,
}

/// The table: founder, team_lead, team_member, agent.
pub static RULES: [(Act, [Rule; 4]); 14] = {
    use Rule::{IfAssigned, IfLinked, InOwnProjects, Never, With, Yes};
    const ASSIGN: Rule = With(Permission::TasksAssign);
    [
        (Act::CreateTask, [Yes, InOwnProjects, InOwnProjects, InOwnProjects]),
        (Act::UpdateTask, [Yes, InOwnProjects, IfAssigned, IfAssigned]),
        (Act::SetResponsible, [Yes, ASSIGN, ASSIGN, ASSIGN]),
        (Act::Comment, [Yes, Yes, Yes, Yes]),
        (Act::CreateDocument, [Yes, Yes, Yes, IfAssigned]),
        (Act::WriteVersion, [Yes, Yes, Never, IfAssigned]),
        (Act::CreateApproval, [Yes, IfLinked, Never, Never]),
        (Act::DecideApproval, [Yes, IfLinked, Never, Never]),
        (Act::LinkApproval, [Yes, IfLinked, Never, Never]),
        (Act::CreateMemory, [Yes, Yes, Yes, Yes]),
        (Act::CreateIdentityMemory, [Yes, Never, Yes, Yes]),
        (Act::ApproveMemory, [Yes, Never, Never, Never]),
        (Act::ApproveActiveContext, [Yes, InOwnProjects, Never, Never]),
        (Act::ApproveOwnMemory, [Never, Never, Never, Yes]),
    ]
};

impl Act {
    /// As the object of "may not".
    pub fn phrase(self) -> &'static str {
        match self {
            Self::CreateTask => "create a task",
            Self::UpdateTask => "change this task",
            Self::SetResponsible => "set or clear who is responsible",
            Self::Comment => "comment here",
            Self::CreateDocument => "write a document here",
            Self::WriteVersion => "write another version",
            Self::CreateApproval => "ask for an approval",
            Self::DecideApproval => "decide this approval",
            Self::LinkApproval => "link or unlink this approval",
            Self::CreateMemory => "add to the memory here",
            Self::CreateIdentityMemory => "add to the identity",
            Self::ApproveMemory | Self::ApproveActiveContext => "approve this memory",
            Self::ApproveOwnMemory => "approve memory of its own",
        }
    }

    /// The rule for somebody of that role, or for an agent.
    pub fn rule(self, role: Option<Role>) -> Rule {
        let column = match role {
            Some(Role::Founder) => 0,
            Some(Role::TeamLead) => 1,
            Some(Role::TeamMember) => 2,
            None => 3,
        };
        let row = RULES.iter().find(|(act, _)| *act == self);
        row.map_or(Rule::Never, |(_, rules)| rules[column])
    }
}

/// What an act is about, as far as the rules ask.
#[derive(Debug, Clone, Copy, Default)]
pub struct About<'a> {
    /// The project that it belongs to.
    pub project: Option<Uuid>,
    /// Whether the task is assigned to who acts.
    pub is_assigned: bool,
    /// The projects of the tasks that are linked.
    pub linked: &'a [Option<Uuid>],
}

/// Why somebody may not do something, as a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Denied {
    pub act: Act,
    /// `None` for an agent.
    pub role: Option<Role>,
    /// The rule that does not hold; `None` for what is outside the scope.
    pub rule: Option<Rule>,
}

impl std::fmt::Display for Denied {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let act = self.act.phrase();
        match self.role {
            Some(role) => write!(f, "As {role} you may ")?,
            None => f.write_str("As an agent you may ")?,
        }
        match self.rule {
            None => write!(f, "{act} only inside your projects, and this is outside of them."),
            Some(Rule::InOwnProjects) => write!(f, "{act} only in a project of yours."),
            Some(Rule::IfAssigned) => write!(f, "{act} only if the task is assigned to you."),
            Some(Rule::With(permission)) => write!(
                f,
                "{act} only with the permission {permission}, which a person grants with \
                 `govforge company grant`."
            ),
            Some(Rule::IfLinked) => write!(f, "{act} only if a linked task is in your projects."),
            Some(Rule::Yes | Rule::Never) => write!(f, "not {act}."),
        }
    }
}

impl Standing {
    /// Whether this may be done.
    ///
    /// # Errors
    ///
    /// What stands against it.
    pub fn may(&self, act: Act, about: About<'_>) -> Result<(), Denied> {
        let scope = self.scope();
        if matches!(act, Act::CreateApproval | Act::DecideApproval | Act::LinkApproval) {
            return self.may_for_linked(act, about.linked);
        }
        let role = self.role_in(about.project);
        let rule = act.rule(role);
        // Whoever names no project is told of what they are somewhere.
        let shown = about.project.map_or_else(|| self.role(), |_| role);
        let denied = |rule| Err(Denied { act, role: shown, rule });
        if !scope.holds(about.project) {
            // Whoever names no project where only own ones will do is told so.
            let is_nowhere = about.project.is_none() && rule == Rule::InOwnProjects;
            return denied(is_nowhere.then_some(rule));
        }
        let holds = match rule {
            Rule::Yes => true,
            Rule::InOwnProjects => about.project.is_some(),
            Rule::IfAssigned => about.is_assigned,
            Rule::With(permission) => self.has(permission),
            Rule::IfLinked | Rule::Never => false,
        };
        if holds { Ok(()) } else { denied(Some(rule)) }
    }

    /// What is about an approval belongs to the projects of its linked tasks.
    fn may_for_linked(&self, act: Act, linked: &[Option<Uuid>]) -> Result<(), Denied> {
        let everywhere = self.role_in(None);
        if act.rule(everywhere) == Rule::Yes {
            return Ok(());
        }
        let here = linked.iter().filter(|project| self.scope().holds(**project));
        let mut roles = here.map(|project| self.role_in(*project));
        if roles.any(|role| act.rule(role) == Rule::IfLinked) {
            return Ok(());
        }
        let role = self.role();
        Err(Denied { act, role, rule: Some(act.rule(role)) })
    }
}

#[cfg(test)]
mod tests {
    use strum::IntoEnumIterator as _;

    use super::*;
    use crate::domain::company::access::standing::RoleRow;

    const COMPANY: Uuid = Uuid::from_u128(1);
    const SHOP: Option<Uuid> = Some(Uuid::from_u128(2));
    const WEB: Option<Uuid> = Some(Uuid::from_u128(3));

    fn of(role: Option<Role>) -> Standing {
        match role {
            Some(Role::Founder) => Standing::founder(COMPANY),
            Some(role) => {
                Standing::person(COMPANY, &[RoleRow { role, project_id: SHOP }], Vec::new())
            }
            None => Standing::agent(COMPANY, SHOP.into_iter().collect(), Vec::new()),
        }
    }

    #[test]
    fn every_act_stands_in_the_table() {
        for act in Act::iter() {
            assert_eq!(RULES.iter().filter(|(one, _)| *one == act).count(), 1, "{act:?}");
        }
    }

    #[test]
    fn outside_the_scope_nobody_but_a_founder_may_do_anything() {
        for act in Act::iter() {
            for role in [Some(Role::TeamLead), Some(Role::TeamMember), None] {
                for project in [WEB, None] {
                    let about = About { project, is_assigned: true, linked: &[project] };
                    assert!(of(role).may(act, about).is_err(), "{act:?} {role:?} {project:?}");
                }
            }
        }
    }

    #[test]
    fn the_rules_ask_for_what_they_name() {
        let here = |is_assigned| About { project: SHOP, is_assigned, linked: &[] };
        for role in [Some(Role::TeamMember), None] {
            assert!(of(role).may(Act::UpdateTask, here(true)).is_ok());
            let denied = of(role).may(Act::UpdateTask, here(false)).unwrap_err();
            assert!(denied.to_string().ends_with("only if the task is assigned to you."));
            let denied = of(role).may(Act::SetResponsible, here(true)).unwrap_err();
            assert!(denied.to_string().contains("tasks:assign"), "{denied}");
        }
        assert!(of(Some(Role::TeamLead)).may(Act::UpdateTask, here(false)).is_ok());
        assert!(of(Some(Role::TeamLead)).may(Act::CreateTask, About::default()).is_err());
        let granted = Standing::agent(COMPANY, vec![SHOP.unwrap()], vec![Permission::TasksAssign]);
        assert!(granted.may(Act::SetResponsible, here(false)).is_ok());
    }

    #[test]
    fn a_lead_decides_with_a_linked_task_in_scope() {
        let linked = |linked| About { linked, ..About::default() };
        let lead = of(Some(Role::TeamLead));
        assert!(lead.may(Act::DecideApproval, linked(&[WEB, SHOP])).is_ok());
        assert!(lead.may(Act::DecideApproval, linked(&[WEB, None])).is_err());
        assert!(lead.may(Act::CreateApproval, linked(&[])).is_err());
        assert!(of(Some(Role::TeamMember)).may(Act::DecideApproval, linked(&[SHOP])).is_err());
        assert!(of(Some(Role::Founder)).may(Act::DecideApproval, linked(&[])).is_ok());
    }
}
