//! The report as Markdown, for a pull request.

use std::io::{self, Write};

use crate::cli::policy::places::excused;
use crate::cli::read::events;
use crate::domain::excerpt::printable;
use crate::ledger::reading::context::PolicyResultInFull;
use crate::ledger::reading::named::NamedRecord;

/// Writes a decision, the `index`th of the text.
///
/// # Errors
/// The sink's.
pub fn write(record: &NamedRecord, index: usize, out: &mut dyn Write) -> io::Result<()> {
    if index > 0 {
        writeln!(out, "\n---\n")?;
    }
    decision(record, &record.newest_results(), out)?;
    writeln!(out, "### Timeline (UTC)\n\n| when | who | what | |\n| --- | --- | --- | --- |")?;
    for signed in &record.events {
        let event = &signed.event;
        writeln!(
            out,
            "| {} | {} | {} | {} |",
            event.created_at.minute(),
            plain(signed.actor.as_deref().unwrap_or("-")),
            plain(&event.event_type),
            plain(&events::words(signed))
        )?;
    }
    Ok(())
}

/// A text on one line, in which nothing is markup and nobody is called upon.
pub fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in printable(text).replace('\n', " ").chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            // A backslash before it would still mention an account.
            '@' => out.push_str("&#64;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '(' | ')' | '#' | '|' | '~' | '!' => {
                out.push('\\');
                out.push(character);
            }
            other => out.push(other),
        }
    }
    out
}

/// A text as a quotation, line by line.
pub fn quoted(text: &str) -> String {
    text.trim_end().split('\n').map(|line| format!("> {}\n", plain(line))).collect()
}

/// A value's name without underscores.
pub fn words(value: impl ToString) -> String {
    value.to_string().replace('_', " ")
}

fn stale(is_stale: bool) -> &'static str {
    if is_stale { " *(about an older change)*" } else { "" }
}

/// Writes a decision with these of its policy results, without its timeline.
///
/// # Errors
/// The sink's.
pub fn decision(
    record: &NamedRecord,
    results: &[&PolicyResultInFull],
    out: &mut dyn Write,
) -> io::Result<()> {
    let decision = &record.decision;
    writeln!(out, "## {} {}\n", plain(&decision.id), plain(&decision.title))?;
    writeln!(
        out,
        "**{}**{}, risk {}, by {}, {} UTC{}\n",
        words(decision.status),
        decision.caveat.as_ref().map(|caveat| format!(" *({caveat})*")).unwrap_or_default(),
        decision.risk_level,
        plain(&record.author),
        record.created_at.minute(),
        match &record.task {
            Some(task) => format!(", for {} {}", plain(&task.id), plain(&task.title)),
            None => String::new(),
        }
    )?;
    for (name, text) in [("What", &decision.summary), ("Why", &decision.rationale)] {
        if let Some(text) = text {
            writeln!(out, "**{name}**\n\n{}", quoted(text))?;
        }
    }
    if let Some(change) = &record.git_change {
        let total = change.files_changed_total.unwrap_or(change.files_changed.len());
        writeln!(
            out,
            "**Change**: {} ({total} file(s), +{} \u{2212}{})  \n{}\n",
            plain(&change.commit_hash),
            change.insertions,
            change.deletions,
            plain(change.diff_hash.as_deref().unwrap_or("no diff hash"))
        )?;
        for file in &change.files_changed {
            writeln!(out, "- {}", plain(file))?;
        }
        writeln!(out)?;
    }
    let newest = record.newest_results();
    if !results.is_empty() {
        writeln!(out, "### Policies\n\n| result | policy | message |\n| --- | --- | --- |")?;
        for full in results {
            let result = &full.result;
            let is_of_the_last_run = newest.iter().any(|one| std::ptr::eq(*one, *full));
            writeln!(
                out,
                "| {} | {} | {}{}{} |",
                result.status,
                plain(&result.policy),
                plain(result.message.as_deref().unwrap_or_default()),
                match full.evidence.as_ref().and_then(excused) {
                    Some(excused) => format!(" {}", plain(&excused)),
                    None => String::new(),
                },
                match is_of_the_last_run {
                    true => stale(result.stale),
                    false => " *(an earlier run)*",
                }
            )?;
        }
        writeln!(out)?;
    }
    opinions(record, out)
}

fn opinions(record: &NamedRecord, out: &mut dyn Write) -> io::Result<()> {
    if !record.reviews.is_empty() {
        writeln!(out, "### Reviews\n")?;
        for signed in &record.reviews {
            let review = &signed.what.review;
            writeln!(
                out,
                "- {} by {}: **{}**{} {}",
                plain(&review.id),
                plain(&signed.by),
                words(review.status),
                stale(review.stale),
                plain(review.summary.as_deref().unwrap_or_default())
            )?;
        }
        for (review, finding) in record.findings() {
            writeln!(
                out,
                "- **{}** ({}, {}){}: {}{}{}",
                finding.severity,
                finding.category,
                plain(&review.what.review.id),
                finding.place().map(|place| format!(" {}", plain(&place))).unwrap_or_default(),
                plain(&finding.message),
                finding
                    .recommendation
                    .as_deref()
                    .map(|advice| format!(" \u{2192} {}", plain(advice)))
                    .unwrap_or_default(),
                stale(review.what.review.stale)
            )?;
        }
        writeln!(out)?;
    }
    if !record.disagreements.is_empty() {
        writeln!(out, "### Disagreements\n")?;
        for full in &record.disagreements {
            writeln!(out, "- **{}**", plain(&full.disagreement.topic))?;
            let sides = [
                ("the author", &full.author_position),
                ("the reviewer", &full.reviewer_position),
                ("the risk", &full.risk_summary),
                ("settled", &full.disagreement.resolution),
            ];
            for (name, text) in sides {
                if let Some(text) = text {
                    writeln!(out, "  - {name}: {}", plain(text))?;
                }
            }
        }
        writeln!(out)?;
    }
    if !record.approvals.is_empty() {
        writeln!(out, "### Verdicts\n")?;
        for signed in &record.approvals {
            let approval = &signed.what;
            writeln!(
                out,
                "- **{}** by {}, {}, {} UTC{} {}",
                words(approval.status),
                plain(&signed.by),
                approval.known(),
                signed.created_at.minute(),
                stale(approval.stale),
                plain(approval.comment.as_deref().unwrap_or_default())
            )?;
        }
        writeln!(out)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_an_agent_wrote_is_markup() {
        assert_eq!(
            plain("<img> ![x](y) @all `a`|b\n# c"),
            "&lt;img&gt; \\!\\[x\\]\\(y\\) &#64;all \\`a\\`\\|b \\# c"
        );
        assert_eq!(quoted("a\n# b\n"), "> a\n> \\# b\n");
    }
}
