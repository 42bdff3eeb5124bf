//! The secret that signs run tokens, and where new secrets come from.

use std::io::{ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::domain::secret::Secret;
use crate::error::{Code, Error, Result};

/// What a key of an MCP client begins with.
pub const MCP_MARK: &str = "aoa_mcp_";
/// What a key of an agent begins with.
pub const AGENT_MARK: &str = "aoa_agent_";

/// Random bytes in a key.
const RANDOM: usize = 24;

/// Bytes of the secret that signs.
const SIGNING: usize = 32;

/// The secret that signs run tokens: a file beside the ledger that its owner alone may read.
#[derive(Debug)]
pub struct Keyring {
    file: PathBuf,
    secret: OnceLock<Secret>,
}

impl Keyring {
    /// The keyring of that file; touches nothing yet.
    pub fn new(file: PathBuf) -> Self {
        Self { file, secret: OnceLock::new() }
    }

    /// The secret, if one was made.
    ///
    /// # Errors
    ///
    /// Refuses a file that others may read, or that holds no secret.
    pub fn there(&self) -> Result<Option<&Secret>> {
        if self.secret.get().is_none() {
            match read(&self.file)? {
                Some(secret) => drop(self.secret.set(secret)),
                None => return Ok(None),
            }
        }
        Ok(self.secret.get())
    }

    /// The secret, made if there is none.
    ///
    /// # Errors
    ///
    /// As [`there`](Self::there); faults where the file cannot be written.
    pub fn ensured(&self) -> Result<&Secret> {
        if self.there()?.is_none() {
            make(&self.file)?;
        }
        self.there()?.ok_or_else(|| {
            let what = format!("the secret {} went away", self.file.display());
            Error::fault(what, "the file was removed just after it was made")
        })
    }
}

/// A new key behind a mark.
///
/// # Errors
///
/// Faults where the system gives no random bytes.
pub fn new_key(mark: &str) -> Result<Secret> {
    Secret::random(mark, RANDOM)
}

fn read(file: &Path) -> Result<Option<Secret>> {
    let wrong = |what: &str| {
        let message = format!("The secret {} {what}", file.display());
        Err(Error::refused(Code::InvalidConfig, message))
    };
    let failed = |error: std::io::Error| {
        Error::fault(format!("the secret {} cannot be read", file.display()), error)
    };
    let mut opened = match std::fs::File::open(file) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        opened => opened.map_err(failed)?,
    };
    if is_open_to_others(&opened).map_err(failed)? {
        return wrong(
            "may be read by others. Run chmod 600 on it, or remove it: then all run \
                      tokens end and a new one is made.",
        );
    }
    let mut text = String::new();
    opened.read_to_string(&mut text).map_err(failed)?;
    let text = text.trim();
    if text.len() != 2 * SIGNING || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return wrong("holds no secret. Remove it: then all run tokens end and a new one is made.");
    }
    Ok(Some(Secret::new(text)))
}

/// Makes the file, unless another process just has.
fn make(file: &Path) -> Result<()> {
    let failed = |error: std::io::Error| {
        Error::fault(format!("the secret {} cannot be written", file.display()), error)
    };
    let directory = file.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(directory).map_err(failed)?;
    // Whole before it has its name: another process reads it as soon as it is there.
    let mut made = tempfile::Builder::new().prefix(".aoa-secret").tempfile_in(directory);
    let made = made.as_mut().map_err(|error| failed(std::io::Error::from(error.kind())));
    let made = made?;
    let secret = Secret::random("", SIGNING)?;
    writeln!(made, "{}", secret.reveal())
        .and_then(|()| made.as_file().sync_all())
        .map_err(failed)?;
    match std::fs::hard_link(made.path(), file) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(failed(error)),
        _ => Ok(()),
    }
}

#[cfg(unix)]
fn is_open_to_others(file: &std::fs::File) -> std::io::Result<bool> {
    use std::os::unix::fs::PermissionsExt as _;
    Ok(file.metadata()?.permissions().mode() & 0o077 != 0)
}

/// Elsewhere the directory's own list of who may read it counts.
#[cfg(not(unix))]
fn is_open_to_others(_file: &std::fs::File) -> std::io::Result<bool> {
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_secret_is_made_once_and_for_its_owner_alone() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("below/aoa.secret");
        let keyring = Keyring::new(file.clone());
        assert_eq!(keyring.there().unwrap(), None);
        let made = keyring.ensured().unwrap().clone();
        assert_eq!(Keyring::new(file.clone()).ensured().unwrap(), &made);
        assert_eq!(std::fs::read_dir(folder.path().join("below")).unwrap().count(), 1);
        std::fs::write(&file, "short\n").unwrap();
        assert_eq!(Keyring::new(file).there().unwrap_err().code(), Some(Code::InvalidConfig));
    }

    #[cfg(unix)]
    #[test]
    fn a_secret_that_others_may_read_is_not_used() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("aoa.secret");
        Keyring::new(file.clone()).ensured().unwrap();
        let mode = file.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640)).unwrap();
        let error = Keyring::new(file).there().unwrap_err();
        assert!(error.to_string().contains("chmod 600"), "{error}");
    }
}
