//! How the story is shown: who does what and why, each call and its reply in short.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value as Json;

use crate::cli::Failure;
use crate::cli::set_up::mcp_client::Client;
use crate::cli::terminal::screen::{BAD, CODE, FAINT, GOOD, NOTE, PLAIN, STRONG, Screen, styled};

/// Enough digits to tell one hash from another.
const SHORT_HASH: usize = 10;
/// Left out of a call as shown: who acts and where is told by the scene.
const TOLD_BY_SCENE: [&str; 3] = ["actor_agent", "author_agent", "approver"];

/// The screen, and what it has to know about the play.
pub struct Stage {
    screen: Screen,
    /// Paths below it are shown relative to it.
    folder: PathBuf,
    scene: usize,
    /// Whether somebody stops the program: then nothing more may be written.
    stopped: Arc<AtomicBool>,
}

impl Stage {
    /// A stage for a story that happens in `folder`, until it is stopped.
    pub fn new(screen: Screen, folder: PathBuf, stopped: Arc<AtomicBool>) -> Self {
        Self { screen, folder, scene: 0, stopped }
    }

    /// Does nothing any more once the program is being stopped; another thread ends it.
    pub fn wait_if_stopped(&self) {
        while self.stopped.load(Ordering::SeqCst) {
            std::thread::park();
        }
    }

    /// A heading.
    pub fn title(&mut self, text: &str) -> io::Result<()> {
        self.screen.hanging(("", PLAIN), text, |line| styled(STRONG, line))
    }

    /// A paragraph.
    pub fn tell(&mut self, text: &str) -> io::Result<()> {
        self.screen.hanging(("  ", PLAIN), text, str::to_owned)
    }

    /// An empty line.
    pub fn gap(&mut self) -> io::Result<()> {
        self.screen.line("")
    }

    /// A command to type, and what it is good for.
    pub fn hint(&mut self, command: &str, purpose: &str) -> io::Result<()> {
        let lead = format!("  {command:<37}");
        self.screen.hanging((&lead, CODE), purpose, str::to_owned)
    }

    /// Begins the next scene: `actor`, and what they do and why.
    pub fn scene(&mut self, actor: &str, deed: &str) -> io::Result<()> {
        self.wait_if_stopped();
        self.scene += 1;
        self.gap()?;
        let lead = format!("{:>2}  ", self.scene);
        self.screen.hanging((&lead, FAINT), &format!("{actor} {deed}"), |line| {
            match line.strip_prefix(actor) {
                Some(rest) => format!("{}{rest}", styled(STRONG, actor)),
                None => line.to_owned(),
            }
        })
    }

    /// A command that is run beside the server, such as a commit.
    pub fn command(&mut self, text: &str) -> io::Result<()> {
        self.wait_if_stopped();
        self.screen.hanging(("    $ ", FAINT), text, |line| styled(CODE, line))
    }

    /// The first line of an answer.
    pub fn reply(&mut self, text: &str) -> io::Result<()> {
        self.screen.hanging(("    < ", FAINT), text, mark)
    }

    /// A further line of an answer.
    pub fn more(&mut self, text: &str) -> io::Result<()> {
        self.screen.hanging(("      ", PLAIN), text, mark)
    }

    /// A further part of an answer: its name, and text that wraps under itself.
    pub fn detail(&mut self, name: &str, text: &str) -> io::Result<()> {
        let lead = format!("      {name} ");
        self.screen.hanging((&lead, name_style(name)), text, mark)
    }

    /// A row of the timeline: columns of fixed width, then text that wraps under itself.
    pub fn row(&mut self, columns: &str, text: &str) -> io::Result<()> {
        self.screen.hanging((&format!("  {columns}"), PLAIN), text, mark)
    }

    /// Calls a tool, showing the call.
    ///
    /// # Errors
    /// As [`Client::call`].
    pub fn ask(
        &mut self,
        client: &mut Client,
        tool: &str,
        arguments: &Json,
    ) -> Result<Json, Failure> {
        self.wait_if_stopped();
        let fields = self.fields(arguments);
        // What the call is about stands behind the tool's name, the rest below.
        let (subject, rest) = match fields.split_first() {
            Some(((name, value), rest)) if !name.ends_with("title") => (value.as_str(), rest),
            _ => ("", fields.as_slice()),
        };
        self.screen.hanging(("    > ", FAINT), &format!("{tool} {subject}"), |line| match line
            .strip_prefix(tool)
        {
            Some(rest) => format!("{}{rest}", styled(CODE, tool)),
            None => line.to_owned(),
        })?;
        let width = rest.iter().map(|(name, _)| name.len()).max().unwrap_or_default();
        for (name, value) in rest {
            let lead = format!("      {name:<width$}  ");
            self.screen.hanging((&lead, FAINT), value, mark)?;
        }
        client.call(tool, arguments)
    }

    /// Calls a tool, showing the call and the reply's fields, but for those that only repeat
    /// an argument.
    ///
    /// # Errors
    /// As [`Client::call`].
    pub fn call(
        &mut self,
        client: &mut Client,
        tool: &str,
        arguments: &Json,
    ) -> Result<Json, Failure> {
        let reply = self.ask(client, tool, arguments)?;
        let parts: Vec<_> = self
            .fields(&reply)
            .into_iter()
            .filter(|(name, _)| arguments[name] != reply[name] && !holds_objects(&reply[name]))
            .map(|(name, value)| format!("{name} {value}"))
            .collect();
        self.reply(&parts.join(", "))?;
        Ok(reply)
    }

    /// The fields of an object worth showing, each value in short; a list of objects gives a
    /// field for each.
    fn fields(&self, object: &Json) -> Vec<(String, String)> {
        let mut fields = vec![];
        for (name, value) in object.as_object().into_iter().flatten() {
            if TOLD_BY_SCENE.contains(&name.as_str()) {
                continue;
            }
            match value.as_array() {
                Some(items) if holds_objects(value) => {
                    fields.extend(items.iter().map(|item| (singular(name), self.inline(item))));
                }
                _ => fields.push((name.clone(), self.short(value))),
            }
        }
        fields
    }

    /// The values of an object in a row, such as a finding's.
    fn inline(&self, object: &Json) -> String {
        let values = object.as_object().into_iter().flatten().map(|(_, value)| self.short(value));
        values.collect::<Vec<_>>().join(" | ")
    }

    fn short(&self, value: &Json) -> String {
        match value {
            Json::String(text) => self.short_text(text),
            Json::Array(items) => {
                items.iter().map(|item| self.short(item)).collect::<Vec<_>>().join(", ")
            }
            other => other.to_string(),
        }
    }

    fn short_text(&self, text: &str) -> String {
        if let Ok(inside) = Path::new(text).strip_prefix(&self.folder) {
            return inside.display().to_string();
        }
        match text.strip_prefix("sha256:") {
            Some(digits) if digits.len() > SHORT_HASH => {
                format!("sha256:{}...", &digits[..SHORT_HASH])
            }
            _ => text.to_owned(),
        }
    }
}

fn holds_objects(value: &Json) -> bool {
    value.as_array().is_some_and(|items| items.iter().any(Json::is_object))
}

fn singular(name: &str) -> String {
    name.strip_suffix('s').unwrap_or(name).to_owned()
}

/// How a policy's result is shown where it names the line, and anything else faintly.
fn name_style(name: &str) -> anstyle::Style {
    match name.trim() {
        "passed" => GOOD,
        "warning" => NOTE,
        "blocked" => BAD,
        _ => FAINT,
    }
}

/// Colours the words that say how something ended.
fn mark(line: &str) -> String {
    let words: Vec<_> = line
        .split(' ')
        .map(|word| match word.trim_end_matches([',', '.', ':', ';']) {
            "passed" | "approved" => styled(GOOD, word),
            "warning" | "changes_requested" | "review_required" => styled(NOTE, word),
            "blocked" | "rejected" => styled(BAD, word),
            _ => word.to_owned(),
        })
        .collect();
    words.join(" ")
}
