//! What a person sees who types verbs, kept as text files in `tests/it/terminal/screens/`.

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Output, Stdio};
use std::sync::LazyLock;

use regex::Regex;

use super::app::TestApp;

static TIME: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\b20\d\d-\d\d-\d\d( |T)\d\d:\d\d(:\d\d(\.\d+)?Z)?").unwrap());
static UUID: LazyLock<Regex> =
    LazyLock::new(|| Regex::new("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}").unwrap());
/// The hash of a link in the chain; one of a diff says so before it.
static LINK: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"(^|[^:])\b[0-9a-f]{64}\b").unwrap());
static TOKEN: LazyLock<Regex> = LazyLock::new(|| Regex::new("gfp_[0-9a-f]{4,64}").unwrap());

/// Verbs and what they printed, in the order they were run.
#[derive(Default)]
pub struct Transcript(String);

impl Transcript {
    /// Runs a verb in a pipe; gives what it printed and said, masked.
    pub fn run(&mut self, app: &TestApp, arguments: &[&str]) -> String {
        let output = app.govforge(arguments);
        self.add(app, &shown(arguments), &output)
    }

    /// Runs a verb in a terminal so many columns wide, without colours. `None` where the system
    /// cannot make one.
    pub fn run_in_terminal(
        &mut self,
        app: &TestApp,
        columns: usize,
        arguments: &[&str],
    ) -> Option<String> {
        let output = in_terminal(app, columns, arguments)?;
        let title = format!("{} ({columns} columns)", shown(arguments));
        Some(self.add(app, &title, &output))
    }

    /// Compares with the file of that name; `GOVFORGE_BLESS=1` writes it.
    pub fn compare(&self, name: &str) {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/terminal/screens");
        let path = folder.join(name);
        if std::env::var_os("GOVFORGE_BLESS").is_some_and(|value| value != "0") {
            std::fs::create_dir_all(folder).unwrap();
            std::fs::write(&path, &self.0).unwrap();
        }
        let kept = std::fs::read_to_string(&path).unwrap_or_default().replace("\r\n", "\n");
        if kept == self.0 {
            return;
        }
        let differs = kept.lines().zip(self.0.lines()).position(|(kept, came)| kept != came);
        let line = differs.unwrap_or(kept.lines().count().min(self.0.lines().count()));
        let from = |text: &str| {
            text.lines().skip(line.saturating_sub(3)).take(12).collect::<Vec<_>>().join("\n")
        };
        panic!(
            "{} differs from line {} on.\n--- kept:\n{}\n--- came:\n{}",
            path.display(),
            line + 1,
            from(&kept),
            from(&self.0)
        );
    }

    fn add(&mut self, app: &TestApp, title: &str, output: &Output) -> String {
        let told = [masked(app, &output.stdout), masked(app, &output.stderr)].concat();
        let code = output.status.code().map_or("killed".to_owned(), |code| code.to_string());
        let _ = write!(self.0, "$ {title}\n{told}");
        if !told.is_empty() && !told.ends_with('\n') {
            self.0.push_str("(no line end)\n");
        }
        let _ = writeln!(self.0, "[{code}]\n");
        told
    }
}

/// Runs a verb in a terminal of its own; `None` where the system cannot make one.
fn in_terminal(app: &TestApp, columns: usize, arguments: &[&str]) -> Option<Output> {
    let quote = |word: &&str| format!("'{}'", word.replace('\'', r"'\''"));
    let words: Vec<String> = arguments.iter().map(quote).collect();
    let binary = env!("CARGO_BIN_EXE_govforge");
    let command = format!("stty cols {columns} rows 24 && '{binary}' {}", words.join(" "));
    let mut script = app.hermetic("script");
    script.args(["-qec", &command, "/dev/null"]).stdin(Stdio::null());
    script.env("PAGER", "").env("TERM", "xterm").env("NO_COLOR", "1").output().ok()
}

fn shown(arguments: &[&str]) -> String {
    let word = |word: &&str| match word.chars().all(|c| c.is_alphanumeric() || "-_./=".contains(c))
    {
        true if !word.is_empty() => (*word).to_owned(),
        _ => format!("'{word}'"),
    };
    let words: Vec<String> = arguments.iter().map(word).collect();
    format!("govforge {}", words.join(" "))
}

/// What differs from run to run under a name; where columns are counted, as wide as before.
fn masked(app: &TestApp, text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text).replace('\r', "");
    let text = text.replace(app.root().to_str().unwrap(), "<tmp>");
    let text = text.replace(env!("CARGO_BIN_EXE_govforge"), "<govforge>");
    let text = text.replace(env!("CARGO_PKG_VERSION"), "<version>");
    let text = TIME.replace_all(&text, |found: &regex::Captures| match &found[0] {
        minute if minute.len() == 16 => format!("YYYY-MM-DD{}hh:mm", &found[1]),
        _ => "<time>".to_owned(),
    });
    let text = UUID.replace_all(&text, "<uuid>");
    let text = TOKEN.replace_all(&text, "gfp_<secret>");
    LINK.replace_all(&text, "$1<hash>").into_owned()
}
