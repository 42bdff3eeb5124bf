//! A client's configuration file on the disk: read whole, replaced in one step, with the
//! version before beside it.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};

use crate::cli::Failure;
use crate::error::in_words;
use crate::ledger::settings::location::DIRECTORY;

/// What the version before is called, behind the file's own name.
const BACKUP_SUFFIX: &str = ".govforge-backup";
/// Far more than any client writes, in bytes.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// A file as it was found.
#[derive(Debug)]
pub struct ConfigFile {
    /// The file itself, behind any link.
    pub path: PathBuf,
    /// What it holds; `None` if it does not exist.
    pub text: Option<String>,
}

impl ConfigFile {
    /// Reads the file, through links.
    ///
    /// # Errors
    ///
    /// Refuses a link to nothing, what is no regular file of text, and what may not be read.
    pub fn read(path: &Path) -> Result<Self, Failure> {
        let refused = |what: &str| Failure::Refused(format!("{} {what}", path.display()));
        let resolved = match dunce::canonicalize(path) {
            Ok(resolved) => resolved,
            Err(_) if path.is_symlink() => {
                return Err(refused(
                    "is a link to a file that does not exist. Make that file, or remove the link.",
                ));
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Ok(Self { path: path.to_owned(), text: None });
            }
            Err(error) => return Err(unreadable(path, &error)),
        };
        let metadata = fs::metadata(&resolved).map_err(|error| unreadable(path, &error))?;
        if !metadata.is_file() {
            return Err(refused("is no regular file. Remove what is there."));
        }
        if metadata.len() > MAX_BYTES {
            return Err(refused("is larger than 64 MiB, which no client's configuration is."));
        }
        let mut bytes = Vec::new();
        File::open(&resolved)
            .and_then(|file| file.take(MAX_BYTES).read_to_end(&mut bytes))
            .map_err(|error| unreadable(path, &error))?;
        let text = String::from_utf8(bytes)
            .map_err(|_error| refused("is not UTF-8 text. Correct it, then connect again."))?;
        Ok(Self { path: resolved, text: Some(text) })
    }

    /// Replaces the file's content in one step and keeps its permissions. Gives the copy of
    /// the version before, if there was one: in `.govforge/backups/` of the working tree `root`,
    /// where git does not see it, or beside the file if that tree has no `.govforge/`.
    ///
    /// # Errors
    ///
    /// Refuses a place that cannot be written to; the file is then as it was.
    pub fn replace(&self, text: &str, root: Option<&Path>) -> Result<Option<PathBuf>, Failure> {
        let directory = self.path.parent().unwrap_or(Path::new("."));
        let written = fs::create_dir_all(directory).and_then(|()| {
            let permissions = match &self.text {
                Some(_) => Some(fs::metadata(&self.path)?.permissions()),
                None => None,
            };
            let backup = match &self.text {
                Some(before) => {
                    let backup = unseen_backup(&self.path, root)
                        .unwrap_or_else(|| backup_beside(&self.path));
                    write(&backup, before, permissions.clone())?;
                    Some(backup)
                }
                None => None,
            };
            write(&self.path, text, permissions)?;
            Ok(backup)
        });
        written.map_err(|error| {
            Failure::Refused(format!(
                "{} cannot be written ({}). Check the permissions of the file and of its \
                 directory, or let `--print` show what to write there.",
                self.path.display(),
                in_words(&error)
            ))
        })
    }
}

fn unreadable(path: &Path, error: &io::Error) -> Failure {
    Failure::Refused(format!(
        "{} cannot be read ({}). Check its permissions.",
        path.display(),
        in_words(error)
    ))
}

fn backup_beside(path: &Path) -> PathBuf {
    let mut name = path.file_name().map(OsString::from).unwrap_or_default();
    name.push(BACKUP_SUFFIX);
    path.with_file_name(name)
}

/// Where git sees no backup: in a directory that ignores itself. `None` if there is no
/// `.govforge/` (making one would change which ledger is found), or a link stands there, which
/// may lead anywhere.
fn unseen_backup(path: &Path, root: Option<&Path>) -> Option<PathBuf> {
    let root = dunce::canonicalize(root?).ok()?;
    let inside = path.strip_prefix(&root).ok()?;
    let is_own =
        |directory: &Path| dunce::canonicalize(directory).is_ok_and(|own| own == directory);
    let mut directory = root.join(DIRECTORY);
    if !is_own(&directory) {
        return None;
    }
    directory.push("backups");
    let below = inside.parent().into_iter().flat_map(Path::components);
    for part in std::iter::once(None).chain(below.map(Some)) {
        directory.extend(part);
        // One that is there already is judged like a new one.
        let _ = fs::create_dir(&directory);
        if !is_own(&directory) {
            return None;
        }
    }
    write(&root.join(DIRECTORY).join("backups/.gitignore"), "*\n", None).ok()?;
    Some(directory.join(inside.file_name()?))
}

/// Whatever is at `path` is replaced, not followed: a link there may lead anywhere.
fn write(path: &Path, text: &str, permissions: Option<fs::Permissions>) -> io::Result<()> {
    let directory = path.parent().unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    builder.prefix(".govforge-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        // As for any new file: the umask takes away from it.
        let mode = if permissions.is_some() { 0o600 } else { 0o666 };
        builder.permissions(fs::Permissions::from_mode(mode));
    }
    let mut file = builder.tempfile_in(directory)?;
    file.write_all(text.as_bytes())?;
    if let Some(permissions) = permissions {
        file.as_file().set_permissions(permissions)?;
    }
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_file_has_no_backup_and_an_old_one_has() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("deep/mcp.json");
        let new = ConfigFile::read(&path).unwrap();
        assert_eq!((new.text.as_deref(), new.replace("one", None).unwrap()), (None, None));
        let old = ConfigFile::read(&path).unwrap();
        let backup = old.replace("two", None).unwrap().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "two");
        assert_eq!(fs::read_to_string(&backup).unwrap(), "one");
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 2);
    }

    #[cfg(unix)]
    #[test]
    fn a_backup_in_a_working_tree_is_where_git_does_not_see_it() {
        let directory = tempfile::tempdir().unwrap();
        let root = dunce::canonicalize(directory.path()).unwrap();
        let path = root.join(".vscode/mcp.json");
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let change = |text| {
            fs::write(&path, "one").unwrap();
            ConfigFile::read(&path).unwrap().replace(text, Some(&root)).unwrap().unwrap()
        };
        assert_eq!(change("two"), root.join(".vscode/mcp.json.govforge-backup"));
        fs::create_dir(root.join(".govforge")).unwrap();
        let backup = change("two");
        assert_eq!(backup, root.join(".govforge/backups/.vscode/mcp.json"));
        assert_eq!(fs::read_to_string(backup).unwrap(), "one");
        assert_eq!(fs::read_to_string(root.join(".govforge/backups/.gitignore")).unwrap(), "*\n");

        // A link that a repository brings along leads nowhere.
        fs::remove_dir_all(root.join(".govforge/backups")).unwrap();
        fs::create_dir(root.join("precious")).unwrap();
        std::os::unix::fs::symlink("../precious", root.join(".govforge/backups")).unwrap();
        assert_eq!(change("two"), root.join(".vscode/mcp.json.govforge-backup"));
        assert_eq!(fs::read_dir(root.join("precious")).unwrap().count(), 0);
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_permissions_kept_and_planted_links_replaced() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};
        let directory = tempfile::tempdir().unwrap();
        let root = dunce::canonicalize(directory.path()).unwrap();
        let (link, target) = (root.join("link.json"), root.join("target.json"));
        let precious = root.join("precious");
        fs::write(&target, "one").unwrap();
        fs::write(&precious, "kept").unwrap();
        fs::set_permissions(&target, fs::Permissions::from_mode(0o640)).unwrap();
        symlink("target.json", &link).unwrap();
        symlink(&precious, root.join("target.json.govforge-backup")).unwrap();

        let file = ConfigFile::read(&link).unwrap();
        assert_eq!(file.path, target);
        file.replace("two", None).unwrap();
        assert!(link.is_symlink());
        assert_eq!(fs::read_to_string(&target).unwrap(), "two");
        assert_eq!(fs::metadata(&target).unwrap().permissions().mode() & 0o777, 0o640);
        assert_eq!(fs::read_to_string(&precious).unwrap(), "kept");

        symlink("nothing", root.join("dangling.json")).unwrap();
        assert!(ConfigFile::read(&root.join("dangling.json")).is_err());
        assert!(ConfigFile::read(&root).is_err());
    }
}
