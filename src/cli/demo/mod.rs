//! `govforge demo`: the canonical story, played through the real server on a throwaway
//! repository, so that a newcomer sees in a second what a ledger of decisions is.

mod shop;
mod stage;
mod story;
mod timeline;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::runtime::Builder;

use crate::cli::Failure;
use crate::cli::terminal::screen::Screen;

use stage::Stage;

/// Watch one decision go from a task to a person's approval
///
/// Makes a throwaway repository and ledger in a temporary folder, starts the real server, and plays two agents and
/// a person who work on a change to a sign-in: each call and its answer, and the timeline
/// that stays. Needs no network, no client and no git, takes about a second, and leaves
/// nothing behind.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Keep the folder with the repository, the ledger and the server's log, and print its path
    #[arg(long)]
    keep: bool,
}

/// Plays the story.
///
/// # Errors
/// A temporary folder that cannot be made, a server that ends or refuses a call, a closed
/// output.
pub fn run(args: &Args) -> Result<(), Failure> {
    let folder = tempfile::Builder::new().prefix("govforge-demo-").tempdir().map_err(|error| {
        Failure::Refused(format!(
            "No temporary folder could be made: {error}. Set TMPDIR to one that can be written.",
        ))
    })?;
    let root = dunce::canonicalize(folder.path())
        .map_err(|error| Failure::Fault(format!("The temporary folder is gone: {error}")))?;
    let stopped = Arc::new(AtomicBool::new(false));
    if !args.keep {
        remove_when_stopped(root.clone(), stopped.clone());
    }
    let mut stage = Stage::new(Screen::stdout(), root.clone(), stopped);
    let played = story::play(&mut stage, &root);
    // What failed may have failed because the folder is being removed.
    stage.wait_if_stopped();
    if args.keep {
        let _ = folder.keep();
    }
    played?;
    farewell(&mut stage, args.keep.then_some(&root))
}

/// Leaves nothing behind where a person or the system stops the program on the way.
fn remove_when_stopped(folder: PathBuf, stopped: Arc<AtomicBool>) {
    // What 128 and the number of SIGINT are for a shell.
    const STOPPED: i32 = 130;
    const TRIES: usize = 20;
    /// Longer than a call takes that was under way.
    const PAUSE: Duration = Duration::from_millis(50);
    std::thread::spawn(move || {
        let runtime = Builder::new_current_thread().enable_all().build();
        let Ok(()) = runtime.and_then(|runtime| runtime.block_on(stop())) else { return };
        stopped.store(true, Ordering::SeqCst);
        // The call under way may still write, and make the folder anew.
        for _ in 0..TRIES {
            let was_there = folder.exists();
            let _ = std::fs::remove_dir_all(&folder);
            std::thread::sleep(PAUSE);
            if !was_there && !folder.exists() {
                break;
            }
        }
        std::process::exit(STOPPED);
    });
}

#[cfg(unix)]
async fn stop() -> std::io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminated = signal(SignalKind::terminate())?;
    let mut hung_up = signal(SignalKind::hangup())?;
    tokio::select! {
        interrupted = tokio::signal::ctrl_c() => interrupted,
        _ = terminated.recv() => Ok(()),
        _ = hung_up.recv() => Ok(()),
    }
}

#[cfg(not(unix))]
async fn stop() -> std::io::Result<()> {
    tokio::signal::ctrl_c().await
}

fn farewell(stage: &mut Stage, kept: Option<&Path>) -> Result<(), Failure> {
    stage.gap()?;
    stage.title("Where to go next")?;
    // Run out of a checkout by cargo, the program is on nobody's PATH yet.
    let is_built_here = std::env::current_exe()
        .is_ok_and(|path| path.components().any(|part| part.as_os_str() == "target"));
    if is_built_here {
        stage.hint("cargo install --path .", "puts govforge on your PATH")?;
    }
    stage.hint("govforge init", "in your repository: makes .govforge/")?;
    stage.hint("govforge connect", "lets your client use it: Claude Code, Codex, ...")?;
    stage.hint("govforge --help", "verbs, environment, where the ledger is")?;
    stage.gap()?;
    match kept {
        Some(folder) => stage.tell(&format!(
            "Kept: {} (the repository and its ledger in shop, the servers' logs beside it).",
            folder.display(),
        ))?,
        None => {
            stage.tell("The folder is removed; `govforge demo --keep` leaves it to look at.")?
        }
    }
    Ok(())
}
