//! The tools of the endpoint and the actors that may call each: the gate before every handler.

use super::rules::{About, Act, Denied};
use super::standing::Standing;
use crate::domain::company::value::Actor::{self, Agent, Board, Commander, Mcp};

/// What a tool is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, strum::Display)]
pub enum Kind {
    Read,
    Write,
    Workflow,
    Document,
    Approval,
}

/// What a caller needs for what a tool is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needs {
    /// Nothing: it shows what the caller sees, and takes what is their own.
    Nothing,
    /// That the caller sees it.
    Sight,
    /// That the caller may do it.
    Leave(Act),
}

/// A tool's name, who may call it, and what they need.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tool {
    pub name: &'static str,
    pub kind: Kind,
    pub actors: &'static [Actor],
    pub needs: Needs,
}

/// Why somebody does not get what a tool does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Barred {
    /// The tool is not for this kind of actor.
    Actor,
    /// They do not see what it is about.
    OutOfSight,
    /// They may not do it.
    Denied(Denied),
}

impl Tool {
    /// What stands between somebody and what the tool does, if anything does.
    ///
    /// # Errors
    ///
    /// The first that stands in the way.
    pub fn check(&self, actor: Actor, standing: &Standing, about: About<'_>) -> Result<(), Barred> {
        if !self.actors.contains(&actor) {
            return Err(Barred::Actor);
        }
        match self.needs {
            Needs::Nothing => Ok(()),
            Needs::Sight if standing.scope().holds(about.project) => Ok(()),
            Needs::Sight => Err(Barred::OutOfSight),
            Needs::Leave(act) => standing.may(act, about).map_err(Barred::Denied),
        }
    }
}

const ALL: &[Actor] = &[Mcp, Board, Agent, Commander];
const NOTHING: Needs = Needs::Nothing;
const SIGHT: Needs = Needs::Sight;

const fn leave(act: Act) -> Needs {
    Needs::Leave(act)
}

/// Every tool of the endpoint.
pub static TOOLS: [Tool; 38] = [
    tool("me", Kind::Read, ALL, NOTHING),
    tool("list-agents", Kind::Read, ALL, NOTHING),
    tool("get-agent", Kind::Read, ALL, SIGHT),
    tool("list-projects", Kind::Read, ALL, NOTHING),
    tool("get-project", Kind::Read, ALL, SIGHT),
    tool("list-tasks", Kind::Read, ALL, NOTHING),
    tool("get-heartbeat-context", Kind::Read, ALL, SIGHT),
    tool("list-task-comments", Kind::Read, ALL, SIGHT),
    tool("get-task-comment", Kind::Read, ALL, SIGHT),
    tool("memory.search", Kind::Read, ALL, NOTHING),
    tool("memory.get", Kind::Read, ALL, SIGHT),
    tool("debrief-push", Kind::Write, ALL, leave(Act::CreateMemory)),
    tool("suggest-memory", Kind::Write, ALL, leave(Act::CreateMemory)),
    tool("memory.write", Kind::Write, ALL, leave(Act::CreateMemory)),
    tool("memory.retain", Kind::Write, ALL, leave(Act::CreateMemory)),
    tool("update-task-status", Kind::Write, ALL, leave(Act::UpdateTask)),
    tool("create-task", Kind::Write, ALL, leave(Act::CreateTask)),
    tool("update-task", Kind::Write, ALL, leave(Act::UpdateTask)),
    tool("add-task-comment", Kind::Write, ALL, leave(Act::Comment)),
    tool("attach-artifact-version", Kind::Write, &[Mcp, Board], leave(Act::WriteVersion)),
    tool("use_skill", Kind::Workflow, &[Board, Commander], NOTHING),
    tool("ask_human", Kind::Workflow, &[Agent], NOTHING),
    tool("ask_founder", Kind::Workflow, &[Agent], NOTHING),
    tool("upsert-task-document", Kind::Document, ALL, leave(Act::CreateDocument)),
    tool("list-task-documents", Kind::Document, ALL, SIGHT),
    tool("get-task-document", Kind::Document, ALL, SIGHT),
    tool("list-task-document-revisions", Kind::Document, ALL, SIGHT),
    tool("restore-task-document-revision", Kind::Document, ALL, leave(Act::WriteVersion)),
    tool("list-approvals", Kind::Approval, ALL, NOTHING),
    tool("get-approval", Kind::Approval, ALL, SIGHT),
    tool("get-approval-tasks", Kind::Approval, ALL, SIGHT),
    tool("list-approval-comments", Kind::Approval, ALL, SIGHT),
    tool("list-task-approvals", Kind::Approval, ALL, SIGHT),
    tool("create-approval", Kind::Approval, ALL, leave(Act::CreateApproval)),
    tool("approval-decision", Kind::Approval, ALL, leave(Act::DecideApproval)),
    tool("add-approval-comment", Kind::Approval, ALL, leave(Act::Comment)),
    tool("link-task-approval", Kind::Approval, ALL, leave(Act::LinkApproval)),
    tool("unlink-task-approval", Kind::Approval, ALL, leave(Act::LinkApproval)),
];

const fn tool(name: &'static str, kind: Kind, actors: &'static [Actor], needs: Needs) -> Tool {
    Tool { name, kind, actors, needs }
}

/// The tool of that name.
pub fn find(name: &str) -> Option<&'static Tool> {
    TOOLS.iter().find(|tool| tool.name == name)
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use uuid::Uuid;

    use super::*;
    use crate::domain::company::access::rules::Rule;
    use crate::domain::company::access::standing::RoleRow;
    use crate::domain::company::value::Role;

    const COMPANY: Uuid = Uuid::from_u128(1);
    const OWN: Uuid = Uuid::from_u128(2);
    const ANOTHER: Uuid = Uuid::from_u128(3);

    fn callers() -> Vec<(String, Actor, Standing)> {
        let mut callers = Vec::new();
        for actor in [Mcp, Board, Commander] {
            for role in [Role::Founder, Role::TeamLead, Role::TeamMember] {
                let project_id = (role != Role::Founder).then_some(OWN);
                let standing =
                    Standing::person(COMPANY, &[RoleRow { role, project_id }], Vec::new());
                callers.push((format!("{actor} {role}"), actor, standing));
            }
        }
        let agent = Standing::agent(COMPANY, vec![OWN], Vec::new());
        callers.push(("agent".to_owned(), Agent, agent));
        callers
    }

    fn places(tool: &Tool) -> &'static [(&'static str, Uuid, bool)] {
        const ANYWHERE: (&str, Uuid, bool) = ("anywhere", OWN, false);
        const IN: (&str, Uuid, bool) = ("own project", OWN, false);
        const ASSIGNED: (&str, Uuid, bool) = ("own task", OWN, true);
        const OUT: (&str, Uuid, bool) = ("another project", ANOTHER, false);
        match tool.needs {
            Needs::Nothing => &[ANYWHERE],
            Needs::Sight => &[IN, OUT],
            Needs::Leave(act) => {
                let roles = [Role::Founder, Role::TeamLead, Role::TeamMember].map(Some);
                let mut rules = roles.into_iter().chain([None]).map(|role| act.rule(role));
                match rules.any(|rule| rule == Rule::IfAssigned) {
                    true => &[IN, ASSIGNED, OUT],
                    false => &[IN, OUT],
                }
            }
        }
    }

    /// The table that a person reads, and that the tests over HTTP walk.
    fn table() -> String {
        let callers = callers();
        let names: Vec<&str> = callers.iter().map(|(name, ..)| name.as_str()).collect();
        let mut table = format!("tool\tabout\t{}\n", names.join("\t"));
        for tool in &TOOLS {
            for (place, project, is_assigned) in places(tool) {
                let _ = write!(table, "{}\t{place}", tool.name);
                for (_, actor, standing) in &callers {
                    let linked = [Some(*project)];
                    let about = About {
                        project: Some(*project),
                        is_assigned: *is_assigned,
                        linked: &linked,
                    };
                    let cell = match tool.check(*actor, standing, about) {
                        Ok(()) => "yes",
                        Err(Barred::OutOfSight) => "404",
                        Err(Barred::Actor | Barred::Denied(_)) => "403",
                    };
                    let _ = write!(table, "\t{cell}");
                }
                table.push('\n');
            }
        }
        table
    }

    /// `tests/fixtures/company/permissions.tsv` is what the rules come to; `GOVFORGE_BLESS=1`
    /// rewrites it.
    #[test]
    fn the_table_of_permissions_is_what_the_rules_come_to() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/fixtures/company/permissions.tsv");
        let expected = table();
        if std::env::var_os("GOVFORGE_BLESS").is_some_and(|value| value != "0") {
            std::fs::write(&path, &expected).expect("the table can be written");
        }
        let found = std::fs::read_to_string(&path).unwrap_or_default().replace("\r\n", "\n");
        let wrong: Vec<_> = expected.lines().filter(|line| !found.contains(line)).collect();
        assert!(
            found == expected,
            "run `GOVFORGE_BLESS=1 cargo test permissions` and read it; not there: {wrong:#?}"
        );
    }
}
