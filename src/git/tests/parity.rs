//! The diff text, the counts and the file lists are git's.

use sha2::{Digest, Sha256};

use super::histories::{self, Random};
use super::support::{Git, Place, difference, go_on};

/// Compares the commits and reports the first that differs.
fn check(git: &Git, commits: &[String]) {
    let repository = git.open();
    for commit in commits {
        let judged = git.judge(commit);
        let mut text = Vec::new();
        repository
            .diff_text(commit, &go_on, &mut |piece| text.extend_from_slice(piece))
            .unwrap_or_else(|error| panic!("{commit}: {error}"));
        assert!(
            text == judged.text,
            "the text of {commit} differs {}",
            difference(&text, &judged.text)
        );
        let change = repository.change(commit, &go_on).unwrap();
        let hash: String =
            Sha256::digest(&judged.text).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(change.diff_hash, format!("sha256:{hash}"), "{commit}");
        assert_eq!(change.files_changed, histories::shown(&judged.paths), "{commit}");
        assert_eq!(
            (change.insertions, change.deletions),
            (judged.insertions, judged.deletions),
            "{commit}"
        );
    }
}

#[test]
fn synthetic_histories_are_equal() {
    for seed in 1..=4 {
        let place = Place::new();
        let (git, commits) = histories::build(&place, seed, 60);
        check(&git, &commits);
    }
}

/// `PARITY_SEEDS=100..200` looks further than the suite has time for.
#[test]
#[ignore = "as long as the range of seeds in PARITY_SEEDS"]
fn many_synthetic_histories_are_equal() {
    let range = std::env::var("PARITY_SEEDS").unwrap_or_else(|_| "100..110".to_owned());
    let (from, to) = range.split_once("..").expect("PARITY_SEEDS is FROM..TO");
    for seed in from.parse().unwrap()..to.parse().unwrap() {
        let place = Place::new();
        let (git, commits) = histories::build(&place, seed, 100);
        check(&git, &commits);
    }
}
