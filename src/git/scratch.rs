//! A throwaway repository for the demonstration.
//!
//! The only code of the program that writes to a repository; it only ever works on one
//! that it has made itself in an empty directory.

use std::fs;
use std::path::{Path, PathBuf};

use super::opening::libgit2::accept_harmless_extensions;
use crate::error::{Error, Fault, Result};

/// Who commits, and when.
#[derive(Debug, Clone)]
pub struct Author<'a> {
    /// The name in the commit.
    pub name: &'a str,
    /// The address in the commit.
    pub email: &'a str,
    /// Seconds since 1970-01-01T00:00:00Z.
    pub seconds: i64,
}

/// A new repository with the branch `main` and no commit.
pub struct ScratchRepository {
    inner: git2::Repository,
    root: PathBuf,
}

impl ScratchRepository {
    /// Makes the repository in `root`, a directory that must exist and be empty.
    ///
    /// # Errors
    ///
    /// A fault if the directory is not empty or cannot be written.
    pub fn init(root: &Path) -> Result<Self> {
        let fault = |cause| Error::fault("the scratch repository could not be made", cause);
        let root = dunce::canonicalize(root)
            .map_err(|cause| Error::fault("the scratch directory does not exist", cause))?;
        let mut entries = fs::read_dir(&root)
            .map_err(|cause| Error::fault("the scratch directory cannot be read", cause))?;
        if entries.next().is_some() {
            return Err(Fault::new("the scratch directory is not empty").into());
        }
        accept_harmless_extensions();
        let mut options = git2::RepositoryInitOptions::new();
        // No template of the user's, whose hooks and files do not belong here.
        options.initial_head("main").external_template(false).no_reinit(true);
        let inner = git2::Repository::init_opts(&root, &options).map_err(fault)?;
        Ok(Self { inner, root })
    }

    /// The root of the working tree, resolved.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Writes the files (path relative to the root, with `/`; content) and commits them on
    /// top of the branch. Returns the commit's full hash.
    ///
    /// # Errors
    ///
    /// A fault if something cannot be written.
    pub fn commit(
        &self,
        message: &str,
        author: &Author<'_>,
        files: &[(&str, &str)],
    ) -> Result<String> {
        for (path, content) in files {
            let file = self.root.join(path);
            let parent = file.parent().unwrap_or(&self.root);
            fs::create_dir_all(parent)
                .and_then(|()| fs::write(&file, content))
                .map_err(|cause| Error::fault(format!("{path} could not be written"), cause))?;
        }
        self.commit_paths(message, author, files)
            .map_err(|cause| Error::fault("the scratch commit failed", cause))
    }

    fn commit_paths(
        &self,
        message: &str,
        author: &Author<'_>,
        files: &[(&str, &str)],
    ) -> Result<String, git2::Error> {
        let mut index = self.inner.index()?;
        for (path, _) in files {
            index.add_path(Path::new(path))?;
        }
        index.write()?;
        let tree = self.inner.find_tree(index.write_tree()?)?;
        let time = git2::Time::new(author.seconds, 0);
        let signature = git2::Signature::new(author.name, author.email, &time)?;
        let parent = self.inner.head().ok().map(|head| head.peel_to_commit()).transpose()?;
        let parents: Vec<_> = parent.iter().collect();
        let id =
            self.inner.commit(Some("HEAD"), &signature, &signature, message, &tree, &parents)?;
        Ok(id.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commits_stack_up_on_main() {
        let directory = tempfile::tempdir().unwrap();
        let scratch = ScratchRepository::init(directory.path()).unwrap();
        let author = Author { name: "Demo", email: "demo@example.com", seconds: 1_700_000_000 };
        let first = scratch.commit("one", &author, &[("src/a.py", "a = 1\n")]).unwrap();
        let second = scratch
            .commit("two", &author, &[("src/a.py", "a = 2\n"), ("tests/test_a.py", "")])
            .unwrap();
        let repository = crate::git::Repository::open(".", scratch.root(), scratch.root());
        let change = repository.unwrap().change("main", &|| false).unwrap();
        assert_eq!(change.commit_hash, second);
        assert_eq!(change.parent_commit_hash, Some(first));
        assert_eq!(change.branch_name.as_deref(), Some("main"));
        assert_eq!(change.files_changed, ["src/a.py", "tests/test_a.py"]);
        assert!(ScratchRepository::init(directory.path()).is_err());
    }
}
