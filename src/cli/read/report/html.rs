//! The report as one page that needs nothing else.

use std::io::{self, Write};

use super::Entry;
use super::classes::{of_policy, of_review, of_risk, of_severity, of_status, of_verdict};
use super::diff_lines::{FileDiff, Kind};
use super::picture;
use crate::cli::policy::places::excused;
use crate::cli::read::events;
use crate::domain::entity::Finding;
use crate::domain::excerpt::printable;
use crate::ledger::reading::context::ReviewInFull;
use crate::ledger::reading::named::{NamedRecord, Signed};
use crate::ledger::reading::overview::DecisionListed;

const STYLE: &str = include_str!("style.css");
const STALE: &str = " <span class=\"faint\">(about an older change)</span>";

/// A text for a page: markup is text, and nothing turns the direction of reading.
pub fn escaped(text: &str) -> String {
    let printable: Vec<String> = text.split('\t').map(printable).collect();
    let mut out = String::with_capacity(text.len());
    for character in printable.join("\t").chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            other => out.push(other),
        }
    }
    out
}

/// Writes the head of a page; with a list of contents if it holds several decisions.
///
/// # Errors
/// The sink's.
pub fn begin(
    title: &str,
    listed: Option<&[DecisionListed]>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let several = listed.map(|all| format!("{} decision(s)", all.len()));
    write!(
        out,
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" \
         content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <title>{}</title>\n<style>\n{STYLE}</style></head>\n<body>\n",
        escaped(several.as_deref().unwrap_or(title))
    )?;
    listed.map_or(Ok(()), |all| contents(all, out))
}

/// Writes the end of a page.
///
/// # Errors
/// The sink's.
pub fn end(out: &mut dyn Write) -> io::Result<()> {
    write!(
        out,
        "<footer>Written by govforge {} from its ledger; times are in UTC.</footer>\n\
         </body></html>\n",
        env!("CARGO_PKG_VERSION")
    )
}

fn contents(listed: &[DecisionListed], out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "<article><h1>{} decision(s)</h1>", listed.len())?;
    if listed.is_empty() {
        return writeln!(out, "<p>No decision has been recorded yet.</p></article>");
    }
    writeln!(
        out,
        "<table class=\"list stack\"><thead><tr><th>Decision</th><th>Title</th><th>Status</th>\
         <th>Risk</th><th>Author</th><th>Recorded</th></tr></thead><tbody>"
    )?;
    for (index, one) in listed.iter().enumerate() {
        writeln!(
            out,
            "<tr><td class=\"tight\"><a href=\"#d{index}\">{}</a></td><td>{}</td>\
             <td class=\"tight {}\">{}{}</td><td class=\"tight {}\">{}</td>\
             <td class=\"who\">{}</td><td class=\"tight faint\">{}</td></tr>",
            escaped(&one.decision_id),
            escaped(&one.title),
            of_status(one.status),
            words(one.status),
            one.caveat
                .as_ref()
                .map(|caveat| format!("<br>({})", escaped(caveat)))
                .unwrap_or_default(),
            of_risk(one.risk_level),
            one.risk_level,
            escaped(&one.author),
            one.created_at.minute()
        )?;
    }
    writeln!(out, "</tbody></table></article>")
}

/// Writes a decision, the `index`th of the page.
///
/// # Errors
/// The sink's.
pub fn article(entry: &Entry, index: usize, out: &mut dyn Write) -> io::Result<()> {
    let record = &entry.record;
    let decision = &record.decision;
    writeln!(
        out,
        "<article id=\"d{index}\"><h1><span class=\"id\">{}</span>{}</h1>\n\
         <p><span class=\"tag {}\">{}</span>{}<span class=\"tag {}\">risk {}</span>{}</p>",
        escaped(&decision.id),
        escaped(&decision.title),
        of_status(decision.status),
        words(decision.status),
        match &decision.caveat {
            Some(caveat) => format!("<span class=\"tag bad\">{}</span>", escaped(caveat)),
            None => String::new(),
        },
        of_risk(decision.risk_level),
        decision.risk_level,
        match decision.human_approval_required {
            true => "<span class=\"tag plain\">a person decides</span>",
            false => "",
        }
    )?;
    let task = match &record.task {
        Some(task) => format!("{} {}", task.id, task.title),
        None => "none".to_owned(),
    };
    let told = |text: &Option<String>| match text {
        Some(text) => format!("<p class=\"quote\">{}</p>", escaped(text)),
        None => "<span class=\"faint\">not told</span>".to_owned(),
    };
    writeln!(
        out,
        "<dl class=\"facts\"><dt>What</dt><dd>{}</dd><dt>Why</dt><dd>{}</dd>\
         <dt>Author</dt><dd>{}, {}</dd><dt>Task</dt><dd>{}</dd><dt>Project</dt><dd>{}</dd></dl>",
        told(&decision.summary),
        told(&decision.rationale),
        escaped(&record.author),
        record.created_at.minute(),
        escaped(&task),
        escaped(&record.project)
    )?;
    verdicts(record, out)?;
    change(record, out)?;
    policies(record, out)?;
    findings(record, out)?;
    reviews(record, out)?;
    disagreements(record, out)?;
    timeline(record, out)?;
    diff(entry, out)?;
    writeln!(out, "</article>")
}

fn verdicts(record: &NamedRecord, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "<h2>Verdicts</h2>")?;
    if record.approvals.is_empty() {
        return writeln!(out, "<p class=\"faint\">None yet.</p>");
    }
    for signed in &record.approvals {
        let approval = &signed.what;
        writeln!(
            out,
            "<div class=\"card {}\"><span class=\"tag\">{}</span> <span>{}, {}</span> \
             <span class=\"faint\">{}</span>{}{}</div>",
            if approval.vouched { of_verdict(approval.status) } else { "bad" },
            words(approval.status),
            escaped(&signed.by),
            escaped(&approval.known()),
            signed.created_at.minute(),
            stale(approval.stale),
            paragraph(approval.comment.as_deref())
        )?;
    }
    Ok(())
}

fn change(record: &NamedRecord, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "<h2>Change</h2>")?;
    let Some(change) = &record.git_change else {
        return writeln!(out, "<p class=\"faint\">None is attached.</p>");
    };
    let total = change.files_changed_total.unwrap_or(change.files_changed.len());
    let branch = change.branch_name.as_deref().unwrap_or("(detached)");
    writeln!(
        out,
        "<p><code>{}</code> on <code>{}</code>: {total} file(s), <span class=\"good\">+{}</span> \
         <span class=\"bad\">\u{2212}{}</span></p><p class=\"faint\"><code>{}</code></p>",
        escaped(&change.commit_hash),
        escaped(branch),
        change.insertions,
        change.deletions,
        escaped(change.diff_hash.as_deref().unwrap_or("no diff hash"))
    )?;
    writeln!(out, "<ul class=\"files\">")?;
    match &record.files {
        Some(files) => {
            let most = files.iter().map(|file| file.insertions + file.deletions).max();
            let most = most.unwrap_or(0).max(1);
            for file in files {
                let percent = |lines: u64| (lines * 100).div_ceil(most);
                writeln!(
                    out,
                    "<li><code>{}</code><span class=\"count\"><span class=\"good\">+{}</span> \
                     <span class=\"bad\">\u{2212}{}</span></span><span class=\"bar\">\
                     <i class=\"good\" style=\"width:{}%\"></i>\
                     <i class=\"bad\" style=\"width:{}%\"></i></span></li>",
                    escaped(&file.path),
                    file.insertions,
                    file.deletions,
                    percent(file.insertions),
                    percent(file.deletions)
                )?;
            }
        }
        None => {
            for file in &change.files_changed {
                writeln!(out, "<li><code>{}</code></li>", escaped(file))?;
            }
        }
    }
    writeln!(out, "</ul>")?;
    if record.files.is_none() {
        writeln!(out, "<p class=\"note\">The commit could not be read in the repository.</p>")?;
    }
    Ok(())
}

fn policies(record: &NamedRecord, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "<h2>Policies</h2>")?;
    let results = record.newest_results();
    if results.is_empty() {
        return writeln!(out, "<p class=\"faint\">Not run yet.</p>");
    }
    writeln!(out, "<table class=\"list stack\"><tbody>")?;
    for full in results {
        let result = &full.result;
        writeln!(
            out,
            "<tr><td class=\"tight {}\">{}</td><td class=\"name\"><code>{}</code></td>\
             <td>{}{}{}</td></tr>",
            of_policy(result.status),
            result.status,
            escaped(&result.policy),
            escaped(result.message.as_deref().unwrap_or_default()),
            match (result.stale, result.current_config) {
                (false, Some(false)) => " <span class=\"faint\">(by older rules)</span>",
                (is_stale, _) => stale(is_stale),
            },
            match full.evidence.as_ref().and_then(excused) {
                Some(excused) => format!("<p class=\"faint\">{}</p>", escaped(&excused)),
                None => String::new(),
            }
        )?;
    }
    writeln!(out, "</tbody></table>")
}

fn findings(record: &NamedRecord, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "<h2>Findings</h2>")?;
    let findings = record.findings();
    if findings.is_empty() {
        return writeln!(out, "<p class=\"faint\">None.</p>");
    }
    for (review, finding) in findings {
        writeln!(out, "{}", card(review, finding))?;
    }
    Ok(())
}

fn card(review: &Signed<ReviewInFull>, finding: &Finding) -> String {
    let place = finding.place().map(|place| format!(" <code>{}</code>", escaped(&place)));
    let advice = finding.recommendation.as_deref().map(|advice| format!("\u{2192} {advice}"));
    format!(
        "<div class=\"card {}\"><span class=\"tag\">{}</span>{} <span class=\"faint\">{}, {} by \
         {}</span>{}{}{}</div>",
        of_severity(finding.severity),
        finding.severity,
        place.unwrap_or_default(),
        finding.category,
        escaped(&review.what.review.id),
        escaped(&review.by),
        stale(review.what.review.stale),
        paragraph(Some(&finding.message)),
        paragraph(advice.as_deref())
    )
}

fn reviews(record: &NamedRecord, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "<h2>Reviews</h2>")?;
    if record.reviews.is_empty() {
        return writeln!(out, "<p class=\"faint\">None.</p>");
    }
    for signed in &record.reviews {
        let review = &signed.what.review;
        writeln!(
            out,
            "<div class=\"card {}\"><span class=\"tag\">{}</span> <span>{} by {}</span> \
             <span class=\"faint\">{}, {} finding(s)</span>{}{}</div>",
            of_review(review.status),
            words(review.status),
            escaped(&review.id),
            escaped(&signed.by),
            signed.created_at.minute(),
            review.findings_count,
            stale(review.stale),
            paragraph(review.summary.as_deref())
        )?;
    }
    Ok(())
}

fn disagreements(record: &NamedRecord, out: &mut dyn Write) -> io::Result<()> {
    if record.disagreements.is_empty() {
        return Ok(());
    }
    writeln!(out, "<h2>Disagreements</h2>")?;
    for full in &record.disagreements {
        let disagreement = &full.disagreement;
        let side = |name: &str, text: &Option<String>| {
            format!(
                "<div><span class=\"faint\">{name}</span>{}</div>",
                paragraph(Some(text.as_deref().unwrap_or("(not told)")))
            )
        };
        let more = |name: &str, text: &Option<String>| {
            text.as_ref().map(|_| side(name, text)).unwrap_or_default()
        };
        writeln!(
            out,
            "<div class=\"card note\"><p><strong>{}</strong>{}</p>\
             <div class=\"sides\">{}{}</div>{}{}</div>",
            escaped(&disagreement.topic),
            match disagreement.requires_human_decision {
                true => " <span class=\"faint\">a person decides</span>",
                false => "",
            },
            side("The author", &full.author_position),
            side("The reviewer", &full.reviewer_position),
            more("The risk", &full.risk_summary),
            more("Settled", &disagreement.resolution)
        )?;
    }
    Ok(())
}

fn timeline(record: &NamedRecord, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "<h2>Timeline</h2>{}", picture::draw(&record.events))?;
    writeln!(out, "<table class=\"list stack\"><tbody>")?;
    for (index, signed) in record.events.iter().enumerate() {
        let event = &signed.event;
        writeln!(
            out,
            "<tr><td class=\"tight faint\">{}</td><td class=\"tight faint\">{}</td>\
             <td class=\"who\">{}</td><td class=\"tight {}\">{}</td><td>{}</td></tr>",
            index + 1,
            event.created_at.minute(),
            escaped(signed.actor.as_deref().unwrap_or("-")),
            picture::class(&event.event_type),
            escaped(&event.event_type),
            escaped(&events::words(signed))
        )?;
    }
    writeln!(out, "</tbody></table>")
}

fn diff(entry: &Entry, out: &mut dyn Write) -> io::Result<()> {
    let files = match &entry.diff {
        Ok(files) if files.is_empty() => return Ok(()),
        Ok(files) => files,
        Err(why) => {
            return writeln!(out, "<h2>Diff</h2><p class=\"note\">{}</p>", escaped(why));
        }
    };
    writeln!(out, "<h2>Diff</h2>")?;
    let findings = entry.record.findings();
    for file in files {
        writeln!(out, "<details open><summary><code>{}</code></summary>", escaped(&file.path))?;
        for note in &file.notes {
            writeln!(out, "<p class=\"faint\">&nbsp;{}</p>", escaped(note))?;
        }
        lines(file, &findings, out)?;
        if file.is_cut {
            writeln!(
                out,
                "<p class=\"note\">The rest is left out; govforge diff {} shows it.</p>",
                escaped(&entry.record.decision.id)
            )?;
        }
        writeln!(out, "</details>")?;
    }
    Ok(())
}

fn lines(
    file: &FileDiff,
    findings: &[(&Signed<ReviewInFull>, &Finding)],
    out: &mut dyn Write,
) -> io::Result<()> {
    let placed: Vec<_> = findings
        .iter()
        // A review of an older change counted other lines.
        .filter(|(review, _)| !review.what.review.stale)
        .filter_map(|(review, finding)| Some((file.place(finding)?, review, finding)))
        .collect();
    writeln!(out, "<table class=\"diff\"><tbody>")?;
    for (index, line) in file.lines.iter().enumerate() {
        let (class, sign) = match line.kind {
            Kind::Hunk => ("hunk", ""),
            Kind::Added => ("added", "+"),
            Kind::Removed => ("removed", "\u{2212}"),
            Kind::Same => ("same", ""),
            Kind::Note => ("hunk", "\\"),
        };
        let number = |number: Option<u64>| number.map(|n| n.to_string()).unwrap_or_default();
        writeln!(
            out,
            "<tr class=\"{class}\"><td class=\"number old\">{}</td><td class=\"number\">{}</td>\
             <td class=\"sign\">{sign}</td><td>{}</td></tr>",
            number(line.old),
            number(line.new),
            escaped(&line.text)
        )?;
        for (_, review, finding) in placed.iter().filter(|(at, ..)| *at == index) {
            let card = card(review, finding);
            writeln!(out, "<tr class=\"finding\"><td colspan=\"4\">{card}</td></tr>")?;
        }
    }
    writeln!(out, "</tbody></table>")
}

fn paragraph(text: Option<&str>) -> String {
    text.map(|text| format!("<p class=\"quote\">{}</p>", escaped(text))).unwrap_or_default()
}

fn stale(is_stale: bool) -> &'static str {
    if is_stale { STALE } else { "" }
}

fn words(value: impl ToString) -> String {
    value.to_string().replace('_', " ")
}
