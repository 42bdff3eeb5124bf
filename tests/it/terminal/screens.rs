//! What the verbs that look show, as a whole, in a wide and in a narrow terminal and in a pipe.

use crate::support::transcript::Transcript;
use crate::support::{skipped, story};

/// The verbs that show something without a path of the machine that runs them.
const LOOKING: [&[&str]; 3] = [&["list"], &["show", "DEC-001"], &["timeline", "TASK-001"]];

#[test]
fn what_a_pipe_gets() {
    let app = story::told();
    let mut transcript = Transcript::default();
    for verb in LOOKING {
        transcript.run(&app, verb);
    }
    transcript.run(&app, &["status"]);
    transcript.compare("pipe.txt");
}

#[cfg(target_os = "linux")]
#[test]
fn what_a_terminal_shows_at_80_columns() {
    let app = story::told();
    for columns in [80] {
        let mut transcript = Transcript::default();
        for verb in LOOKING {
            let Some(text) = transcript.run_in_terminal(&app, columns, verb) else {
                return skipped("there is no `script`: no terminal is made narrow");
            };
            let too_wide = text.lines().find(|line| line.chars().count() > columns);
            assert_eq!(too_wide, None, "{verb:?} at {columns}");
        }
        transcript.compare(&format!("terminal-{columns}.txt"));
    }
}
