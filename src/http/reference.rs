//! The reference of the endpoint, `docs/aoa-tools.md`: generated from what a client is shown and
//! from the table of the rules, so that it cannot say anything else.

use std::fmt::Write as _;

use crate::domain::company::access::rules::{RULES, Rule};
use crate::domain::company::access::tools::TOOLS;
use crate::domain::value::Value as _;
use crate::http::tools::Tools;
use crate::mcp::reference;

const INTRODUCTION: &str = "\
# Tools of the endpoint

Generated from the schemas that the endpoint publishes and from the rules that it applies; a test
compares. To change this page, change the doc comments of the tools and run
`GOVFORGE_BLESS=1 cargo test reference`. [aoa.md](aoa.md) says what the endpoint is.

A result is given as one text of JSON, and where it is an object as `structuredContent` too. A
refused call is a JSON-RPC error whose `data` has the HTTP status; it changed nothing. `null` and an
absent key mean the default of an optional parameter, except where `null` is said to take something
away. Tasks are named by UUID or by identifier (`ACME-12`) in any case. Texts without a length here
are at most 1 MiB.
";

const WRITING: &str = "Writes to the company; each write is an event of the ledger's chain.";

/// The page.
pub fn markdown() -> String {
    let mut introduction = INTRODUCTION.to_owned();
    write_rules(&mut introduction);
    write_gates(&mut introduction);
    introduction.push_str("\n## Reference\n");
    reference::markdown(&introduction, &Tools::all().published(), WRITING)
}

fn write_rules(page: &mut String) {
    page.push_str(
        "\n## Who may do what\n\n| may | founder | team_lead | team_member | agent |\n\
         | --- | --- | --- | --- | --- |\n",
    );
    for (act, rules) in &RULES {
        let cells = rules.map(told);
        let _ = writeln!(page, "| {} | {} |", act.phrase(), cells.join(" | "));
    }
    page.push_str(
        "\nOutside of what somebody sees nobody may do anything; a founder sees the whole company. \
         [permissions.tsv](../tests/fixtures/company/permissions.tsv) has what comes of it, for \
         every tool, every kind of caller, and inside and outside of the caller's projects.\n",
    );
}

fn told(rule: Rule) -> String {
    match rule {
        Rule::Yes => "yes".to_owned(),
        Rule::InOwnProjects => "in own projects".to_owned(),
        Rule::IfAssigned => "if the task is assigned to it".to_owned(),
        Rule::With(permission) => format!("with `{}`", permission.wire()),
        Rule::IfLinked => "if a linked task is in own projects".to_owned(),
        Rule::Never => "no".to_owned(),
    }
}

fn write_gates(page: &mut String) {
    page.push_str(
        "\n## Which actor may call what\n\n| tool | kind | actors |\n| --- | --- | --- |\n",
    );
    for tool in &TOOLS {
        let actors = match tool.actors.len() {
            4 => "all".to_owned(),
            _ => tool.actors.iter().map(|actor| actor.wire()).collect::<Vec<_>>().join(", "),
        };
        let _ = writeln!(page, "| `{}` | {} | {actors} |", tool.name, tool.kind);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `docs/aoa-tools.md` is what the endpoint publishes. `GOVFORGE_BLESS=1` rewrites it.
    #[test]
    fn the_reference_of_the_endpoint_is_up_to_date() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/aoa-tools.md");
        let expected = markdown();
        if std::env::var_os("GOVFORGE_BLESS").is_some_and(|value| value != "0") {
            std::fs::write(&path, &expected).expect("docs/aoa-tools.md can be written");
        }
        let found = std::fs::read_to_string(&path).unwrap_or_default().replace("\r\n", "\n");
        assert!(
            found == expected,
            "docs/aoa-tools.md is out of date: run `GOVFORGE_BLESS=1 cargo test reference`"
        );
    }
}
