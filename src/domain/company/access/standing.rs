//! How far somebody sees in a company, and as what: made from the stored roles at each request.

use std::collections::BTreeMap;

use uuid::Uuid;

use crate::domain::company::value::{Permission, Role};

/// The rows of one company that somebody sees. Every statement on a company's tables takes one,
/// so that no row of another company is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scope {
    company: Uuid,
    /// `None` for the whole company, also what belongs to no project.
    projects: Option<Vec<Uuid>>,
}

impl Scope {
    /// The company.
    pub fn company(&self) -> Uuid {
        self.company
    }

    /// The projects whose rows are seen, in order; `None` for the whole company.
    pub fn projects(&self) -> Option<&[Uuid]> {
        self.projects.as_deref()
    }

    /// Whether what belongs to that project is seen. What belongs to none is seen by those alone
    /// who see the whole company.
    pub fn holds(&self, project: Option<Uuid>) -> bool {
        match (&self.projects, project) {
            (None, _) => true,
            (Some(projects), Some(project)) => projects.binary_search(&project).is_ok(),
            (Some(_), None) => false,
        }
    }

    /// The whole of the company, for what the program itself has to find in it, such as the
    /// names of people beside a row that is shown.
    pub fn widened(&self) -> Self {
        Self { company: self.company, projects: None }
    }
}

/// As what somebody acts.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Rank {
    /// A person, or a key or token of one.
    Person {
        /// In the whole company.
        role: Role,
        /// In single projects, where it is more.
        in_projects: BTreeMap<Uuid, Role>,
    },
    /// An agent has no role; what it may is what is assigned to it.
    Agent,
}

/// What somebody is in a company.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    scope: Scope,
    rank: Rank,
    grants: Vec<Permission>,
}

/// A role as it is stored: in the whole company, or in one project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RoleRow {
    pub role: Role,
    pub project_id: Option<Uuid>,
}

impl Standing {
    /// A person with these roles. A founder of the company sees all of it; everybody else sees
    /// the projects of their roles, and nobody without a role sees any.
    pub fn person(company: Uuid, roles: &[RoleRow], grants: Vec<Permission>) -> Self {
        let everywhere = roles.iter().filter(|row| row.project_id.is_none());
        let role = everywhere.map(|row| row.role).min().unwrap_or(Role::TeamMember);
        let mut in_projects = BTreeMap::new();
        for row in roles {
            if let Some(project) = row.project_id {
                // In a project one leads; whoever founded the company is a founder everywhere.
                let here = row.role.max(Role::TeamLead).min(role);
                let highest = in_projects.entry(project).or_insert(here);
                *highest = here.min(*highest);
            }
        }
        let projects = (role != Role::Founder).then(|| in_projects.keys().copied().collect());
        Self {
            scope: Scope { company, projects },
            rank: Rank::Person { role, in_projects },
            grants,
        }
    }

    /// A founder of the company, whatever is stored.
    pub fn founder(company: Uuid) -> Self {
        let founder = RoleRow { role: Role::Founder, project_id: None };
        Self::person(company, &[founder], Vec::new())
    }

    /// An agent that is assigned to these projects.
    pub fn agent(company: Uuid, mut projects: Vec<Uuid>, grants: Vec<Permission>) -> Self {
        projects.sort_unstable();
        projects.dedup();
        Self { scope: Scope { company, projects: Some(projects) }, rank: Rank::Agent, grants }
    }

    /// The same standing with less: at most this role, and of its projects only these.
    #[must_use]
    pub fn narrowed(mut self, at_most: Option<Role>, only: Option<&[Uuid]>) -> Self {
        if let Some(only) = only {
            let mut only: Vec<Uuid> =
                only.iter().copied().filter(|project| self.scope.holds(Some(*project))).collect();
            only.sort_unstable();
            only.dedup();
            self.scope.projects = Some(only);
        }
        if let Rank::Person { role, in_projects } = &mut self.rank {
            // Who sees a part of the company does not speak for the whole.
            let most = at_most.unwrap_or(Role::Founder);
            let most = if only.is_some() { most.max(Role::TeamLead) } else { most };
            *role = most.max(*role);
            in_projects.values_mut().for_each(|role| *role = most.max(*role));
        }
        self
    }

    /// The rows that are seen.
    pub fn scope(&self) -> &Scope {
        &self.scope
    }

    /// The role in the whole company; `None` for an agent.
    pub fn role(&self) -> Option<Role> {
        match &self.rank {
            Rank::Person { role, in_projects } => {
                let highest = in_projects.values().copied().min().unwrap_or(*role);
                Some(highest.min(*role))
            }
            Rank::Agent => None,
        }
    }

    /// The role in what belongs to that project; `None` for an agent.
    pub fn role_in(&self, project: Option<Uuid>) -> Option<Role> {
        match &self.rank {
            Rank::Person { role, in_projects } => {
                let here = project.and_then(|project| in_projects.get(&project));
                Some(here.map_or(*role, |here| *role.min(here)))
            }
            Rank::Agent => None,
        }
    }

    /// Whether it is a founder, who speaks for the whole company.
    pub fn is_founder(&self) -> bool {
        self.role() == Some(Role::Founder)
    }

    /// Whether the permission was granted, or comes with the role.
    pub fn has(&self, permission: Permission) -> bool {
        self.is_founder() || self.grants.contains(&permission)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMPANY: Uuid = Uuid::from_u128(1);
    const SHOP: Uuid = Uuid::from_u128(2);
    const WEB: Uuid = Uuid::from_u128(3);

    fn row(role: Role, project_id: Option<Uuid>) -> RoleRow {
        RoleRow { role, project_id }
    }

    #[test]
    fn who_is_no_founder_sees_their_projects_and_nothing_else() {
        let founder = Standing::person(COMPANY, &[row(Role::Founder, None)], Vec::new());
        assert!(founder.scope().holds(None) && founder.scope().holds(Some(WEB)));
        assert_eq!(founder.role_in(Some(WEB)), Some(Role::Founder));

        let lead = Standing::person(COMPANY, &[row(Role::TeamLead, Some(SHOP))], Vec::new());
        assert_eq!(lead.scope().projects(), Some(&[SHOP][..]));
        assert!(!lead.scope().holds(None) && !lead.scope().holds(Some(WEB)));
        assert_eq!(lead.role_in(Some(SHOP)), Some(Role::TeamLead));
        assert_eq!(lead.role(), Some(Role::TeamLead));

        for roles in [&[][..], &[row(Role::TeamLead, None)]] {
            let nobody = Standing::person(COMPANY, roles, Vec::new());
            assert!(!nobody.scope().holds(None) && !nobody.scope().holds(Some(SHOP)), "{roles:?}");
        }
        let nobody = Standing::person(COMPANY, &[], Vec::new());
        assert_eq!(nobody.role(), Some(Role::TeamMember));
    }

    #[test]
    fn the_higher_of_two_roles_counts_and_no_project_makes_a_founder() {
        let roles = [row(Role::TeamMember, Some(SHOP)), row(Role::TeamLead, Some(SHOP))];
        let both = Standing::person(COMPANY, &roles, Vec::new());
        assert_eq!(both.role_in(Some(SHOP)), Some(Role::TeamLead));
        let roles = [row(Role::TeamLead, None), row(Role::TeamMember, Some(SHOP))];
        let everywhere = Standing::person(COMPANY, &roles, Vec::new());
        assert_eq!(everywhere.role_in(Some(SHOP)), Some(Role::TeamLead));
        let here = Standing::person(COMPANY, &[row(Role::Founder, Some(SHOP))], Vec::new());
        assert_eq!(here.role_in(Some(SHOP)), Some(Role::TeamLead));
        assert!(!here.is_founder() && !here.scope().holds(Some(WEB)));
    }

    #[test]
    fn a_narrower_standing_never_has_more() {
        let founder = || Standing::founder(COMPANY);
        let member = founder().narrowed(Some(Role::TeamMember), None);
        assert_eq!(member.role_in(Some(SHOP)), Some(Role::TeamMember));
        assert!(member.scope().holds(None) && !member.is_founder());

        let here = founder().narrowed(None, Some(&[SHOP]));
        assert!(!here.is_founder() && !here.scope().holds(None) && !here.scope().holds(Some(WEB)));
        assert_eq!(here.role_in(Some(SHOP)), Some(Role::TeamLead));

        let lead = Standing::person(COMPANY, &[row(Role::TeamMember, Some(SHOP))], Vec::new());
        let lead = lead.narrowed(Some(Role::Founder), Some(&[SHOP, WEB]));
        assert_eq!(lead.scope().projects(), Some(&[SHOP][..]));
        assert_eq!(lead.role_in(Some(SHOP)), Some(Role::TeamMember));
    }

    #[test]
    fn a_founder_has_every_permission_and_an_agent_what_it_was_granted() {
        assert!(Standing::founder(COMPANY).has(Permission::TasksAssign));
        let agent = Standing::agent(COMPANY, vec![WEB, SHOP, WEB], vec![Permission::TasksAssign]);
        assert_eq!(agent.scope().projects(), Some(&[SHOP, WEB][..]));
        assert!(agent.has(Permission::TasksAssign) && !agent.has(Permission::UsersInvite));
        assert_eq!(agent.role(), None);
    }
}
