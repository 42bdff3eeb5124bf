//! The rules that judge a project's changes: which file they come from, and what they say of a
//! change.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use tokio_util::sync::CancellationToken;

use crate::domain::digest;
use crate::domain::entity::Project;
use crate::domain::excerpt::quoted;
use crate::error::{Audience, Code, Error, Result};
use crate::git::{ChangedLine, Scan, Why};
use crate::ledger::settings::file;
use crate::ledger::settings::location::{DIRECTORY, POLICIES_FILE};
use crate::ledger::work::changes::off_thread;
use crate::ledger::{Service, path_text};
use crate::policy::{Line, PolicySet, Subject, Verdict};

/// The rules that were compiled last, by the digest of their file (`None` for the defaults): a
/// file is read for each run, and compiled once it has changed.
#[derive(Debug, Default)]
pub(in crate::ledger) struct Compiled(Mutex<Option<(Option<String>, Arc<PolicySet>)>>);

impl Compiled {
    fn get<E>(
        &self,
        hash: Option<&str>,
        compile: impl FnOnce() -> std::result::Result<PolicySet, E>,
    ) -> std::result::Result<Arc<PolicySet>, E> {
        let last = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((of, set)) = &*last()
            && of.as_deref() == hash
        {
            return Ok(Arc::clone(set));
        }
        let set = Arc::new(compile()?);
        *last() = Some((hash.map(str::to_owned), Arc::clone(&set)));
        Ok(set)
    }
}

/// The rules of a run, and where they came from.
pub(in crate::ledger) struct Rules {
    pub set: Arc<PolicySet>,
    /// The file, resolved; `None` for the defaults.
    pub path: Option<String>,
    /// `sha256:` and the hex SHA-256 of the file.
    pub hash: Option<String>,
}

impl Rules {
    /// The rules for the project at `root`: those of `config_path`, which counts from `base`,
    /// else of its own policy file, else the defaults.
    pub(in crate::ledger) fn read(
        root: &Path,
        config_path: Option<&str>,
        base: &Path,
        compiled: &Compiled,
    ) -> Result<Self> {
        let given = config_path.map(str::trim).filter(|path| !path.is_empty());
        let own = own_file(root);
        let path = match given {
            Some(given) => base.join(given),
            None if file::is_there(&own) => own,
            None => {
                let set = compiled.get(None, || Ok::<_, Error>(PolicySet::defaults()))?;
                return Ok(Self { set, path: None, hash: None });
            }
        };
        let refused = |message: String| Error::refused(Code::InvalidPolicyConfig, message);
        let named = given.map_or_else(
            || format!("The policy file {}", path.display()),
            |given| Audience::Agent.parameter("config_path") + &quoted(given),
        );
        let resolved = dunce::canonicalize(&path).map_err(|_error| {
            Error::refused_by_audience(Code::InvalidPolicyConfig, |to| {
                let next = to.pick(
                    format!(
                        "Send the path of a policy file inside {}, or leave config_path out to \
                         use .govforge/policies.toml or the defaults.",
                        root.display()
                    ),
                    "Put one there, or remove it to use the defaults.".to_owned(),
                );
                format!("{named} is no file that can be read. {next}")
            })
        })?;
        // The original may have stored a root that leads through a symlink.
        let resolved_root = dunce::canonicalize(root).unwrap_or_else(|_error| root.to_owned());
        if !resolved.starts_with(resolved_root) {
            return Err(Error::refused_by_audience(Code::InvalidPolicyConfig, |to| {
                format!(
                    "{named} lies outside the project {}. Policies must be part of the project: {}.",
                    root.display(),
                    to.pick(
                        "send a path inside it, or leave config_path out",
                        "put a file there instead of the link"
                    )
                )
            }));
        }
        let bytes = file::read(&resolved)
            .and_then(|bytes| bytes.ok_or_else(|| "was removed just now.".to_owned()))
            .map_err(|reason| refused(format!("{named} {reason}")))?;
        let hash = digest::of(&bytes);
        let parse = || PolicySet::parse(&bytes);
        let set = compiled.get(Some(&hash), parse).map_err(|mistakes| {
            let list: Vec<String> = mistakes.iter().map(ToString::to_string).collect();
            refused(format!("{named} cannot be used: {}", list.join("; ")))
        })?;
        Ok(Self { set, path: Some(path_text(&resolved)), hash: Some(hash) })
    }

    /// Judges a change whose changed lines `scan` visits, if any policy asks for them. Where it
    /// refuses, the policies that read lines say that they did not see them.
    pub(in crate::ledger) fn judge(
        &self,
        subject: Subject<'_>,
        scan: impl FnOnce(&mut dyn FnMut(ChangedLine<'_>)) -> Result<Scan>,
    ) -> Result<Vec<Verdict>> {
        let mut evaluation = self.set.evaluate(subject);
        if evaluation.needs_lines() {
            let scan = scan(&mut |line| {
                evaluation.line(Line {
                    path: line.path,
                    number: line.number,
                    added: line.added,
                    binary: line.binary,
                    text: line.text,
                });
            });
            match scan {
                Ok(scan) => {
                    for missed in scan.not_scanned {
                        evaluation.not_scanned(Some(&missed.path), reason(missed.why));
                    }
                }
                Err(Error::Refused(refusal)) => {
                    // It is stored, and read by both.
                    evaluation.not_scanned(None, refusal.told(Audience::Person))
                }
                Err(fault) => return Err(fault),
            }
        }
        Ok(evaluation.finish())
    }
}

fn reason(why: Why) -> &'static str {
    match why {
        Why::Missing => "is not in this clone",
    }
}

/// Where a project keeps its policies.
pub(in crate::ledger) fn own_file(root: &Path) -> PathBuf {
    root.join(DIRECTORY).join(POLICIES_FILE)
}

/// The digest of the rules that a project has now: of its policy file, whatever that says, or
/// `None` for the defaults.
pub(in crate::ledger) struct Current(Option<String>);

impl Current {
    /// Those of a project. The file is small, and asking another thread for it would take longer
    /// than reading it.
    pub(in crate::ledger) fn of(project: &Project) -> Self {
        Self(match file::read(&own_file(Path::new(&project.root_path))) {
            Ok(bytes) => bytes.map(digest::of),
            // What cannot be read is no rules that ever judged.
            Err(reason) => Some(reason),
        })
    }

    /// Rules that nobody has looked at: no run was by them.
    pub(in crate::ledger) fn unread() -> Self {
        Self(Some(String::new()))
    }

    /// Whether a run by the rules of that digest would be by the same rules now.
    pub(in crate::ledger) fn is(&self, hash: Option<&str>) -> bool {
        self.0.as_deref() == hash
    }
}

impl Service {
    /// The rules that a run would use now for a project.
    pub(in crate::ledger) async fn rules_of(&self, project: &Project) -> Result<Rules> {
        let root = PathBuf::from(&project.root_path);
        let compiled = Arc::clone(&self.compiled);
        let read = move |_stop: crate::git::Stop<'_>| Rules::read(&root, None, &root, &compiled);
        off_thread(CancellationToken::new(), read).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_policy_file_that_cannot_be_read_is_not_taken_for_a_missing_one() {
        let root = tempfile::tempdir().unwrap();
        let own = own_file(root.path());
        std::fs::create_dir(root.path().join(DIRECTORY)).unwrap();
        let read = || Rules::read(root.path(), None, root.path(), &Compiled::default());
        assert!(read().is_ok());
        for target in [Path::new("nothing"), own.as_path()] {
            std::os::unix::fs::symlink(target, &own).unwrap();
            let error = read().err().expect("a refusal");
            assert_eq!(error.code(), Some(Code::InvalidPolicyConfig));
            std::fs::remove_file(&own).unwrap();
        }
    }
}
