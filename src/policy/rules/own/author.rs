//! `kind = "author"`: certain agents, and no others, decide on certain files.

use serde_json::{Value, json};

use super::kind::{Finding, Holds, Kind};
use crate::domain::value::Value as _;
use crate::policy::file::section::Section;
use crate::policy::findings::evidence::{files, matching};
use crate::policy::patterns::globs::Globs;
use crate::policy::rules::rule::Facts;
use crate::policy::subject::Author;

#[derive(Debug)]
pub(super) struct OtherAuthor {
    /// Names or types.
    agents: Vec<String>,
    /// All paths, if empty.
    paths: Globs,
}

impl OtherAuthor {
    pub(super) fn read(section: &mut Section<'_>) -> Self {
        let rule = Self { agents: section.patterns("agents", &[]), paths: section.globs("paths") };
        if rule.agents.is_empty() {
            section.refuse(
                "agents",
                "`agents` is missing or empty, so nobody could decide. Name agents or types such \
                 as `human`, or write `enabled = false`.",
            );
        }
        rule
    }

    fn is_one(&self, author: &Author<'_>) -> bool {
        self.agents.iter().map(|agent| agent.trim()).any(|agent| {
            agent.to_lowercase() == author.name.trim().to_lowercase()
                || agent.eq_ignore_ascii_case(author.kind.wire())
        })
    }
}

impl Kind for OtherAuthor {
    fn holds_when(&self) -> &'static str {
        "an agent that is none of `agents` decides on a changed path of `paths`"
    }

    fn config(&self) -> Value {
        json!({ "agents": self.agents, "paths": self.paths.as_slice() })
    }

    fn find(&self, facts: &Facts<'_>) -> Option<Finding> {
        let author = facts.subject.author?;
        let paths = facts.subject.files_changed;
        let theirs = matching(paths, |path| self.paths.is_empty() || self.paths.is_match(path));
        let holds = theirs.total() > 0 && !self.is_one(&author);
        let mut evidence = files(&theirs);
        evidence["author"] = json!(author.name);
        evidence["author_type"] = json!(author.kind);
        Some(Finding {
            holds: if holds { Holds::Yes } else { Holds::No },
            count: theirs.total(),
            files: theirs.kept().to_vec(),
            files_total: theirs.total(),
            message: match holds {
                true => "{count} file(s) on which other agents decide: {files}.".to_owned(),
                false => "No file on which other agents decide.".to_owned(),
            },
            evidence,
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::domain::value::PolicyResultStatus::{Passed, Warning};
    use crate::policy::testing::change;

    const RULE: &str = "[payments]\nkind = \"author\"\nagents = [\"human\", \"Codex-Payments\"]\n\
                        paths = [\"src/payments/\"]";

    #[test]
    fn another_agent_holds() {
        for (author, path, expected) in [
            ("claude-code", "src/payments/a.rs", Warning),
            ("codex", "src/payments/a.rs", Warning),
            ("codex-payments", "src/payments/a.rs", Passed),
            ("Maria", "src/payments/a.rs", Passed),
            ("claude-code", "src/orders/a.rs", Passed),
        ] {
            let result = change(&[path]).by(author).result(RULE).unwrap();
            assert_eq!(result.0, expected, "{author} {path}");
        }
    }

    #[test]
    fn without_paths_it_is_about_all_of_them() {
        let rule = "[people]\nkind = \"author\"\nagents = [\"human\"]";
        assert_eq!(change(&["a"]).by("claude").result(rule).unwrap().0, Warning);
    }

    #[test]
    fn without_an_author_it_does_not_apply() {
        assert_eq!(change(&["src/payments/a.rs"]).result(RULE), None);
    }

    #[test]
    fn the_evidence_names_the_author() {
        let changed = change(&["src/payments/a.rs"]).by("claude-code");
        let (_, _, evidence) = changed.verdict(RULE).unwrap();
        assert_eq!(
            evidence,
            json!({
                "files": [{ "path": "src/payments/a.rs" }],
                "files_total": 1,
                "author": "claude-code",
                "author_type": "claude",
            })
        );
    }
}
