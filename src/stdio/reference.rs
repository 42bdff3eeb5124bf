//! The tool reference, `docs/tools.md`: generated from what a client is shown, so that it
//! cannot say anything else.

use rmcp::model::Tool;

use crate::mcp::reference;

const INTRODUCTION: &str = "\
# Tools

Generated from the schemas that the server publishes; a test compares. To change this page,
change the doc comments of the tools and run `GOVFORGE_BLESS=1 cargo test reference`.

Every result is given twice, as `structuredContent` and as one text with the same JSON. A
refused call is a result with `isError: true` whose text begins with a stable code, such as
`DecisionNotFound`, and says what to do next; it leaves nothing in the ledger. `null`, an
absent key and, for agent names, `commit_hash`, `config_path` and enums, an empty string mean
the default of an optional parameter. Tasks, decisions and reviews are named by display ID in
any case (`DEC-001`), by `<project name>/DEC-001`, or by UUID. Texts without a length here are at
most 1048576 characters.
";

const WRITING: &str = "Writes to the ledger; changes and deletes nothing that was recorded before.";

/// The reference of `tools` as Markdown, in the given order.
pub fn markdown(tools: &[Tool]) -> String {
    reference::markdown(INTRODUCTION, tools, WRITING)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `docs/tools.md` is what the server publishes. `GOVFORGE_BLESS=1` rewrites it.
    #[test]
    fn the_tool_reference_is_up_to_date() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/tools.md");
        let expected = markdown(&crate::stdio::server::Server::published_tools());
        if std::env::var_os("GOVFORGE_BLESS").is_some_and(|value| value != "0") {
            std::fs::write(&path, &expected).expect("docs/tools.md can be written");
        }
        let found = std::fs::read_to_string(&path).unwrap_or_default().replace("\r\n", "\n");
        assert!(
            found == expected,
            "docs/tools.md is out of date: run `GOVFORGE_BLESS=1 cargo test reference`"
        );
    }
}
