//! The changed lines that the policies get.

use super::support::{Git, Place, go_on};
use crate::git::Scan;

/// The visited lines as `path:number:+text`.
fn lines(git: &Git, commit: &str) -> (Vec<String>, Scan) {
    let mut lines = Vec::new();
    let scan = git
        .open()
        .visit_lines(commit, &go_on, &mut |line| {
            let sign = if line.added { '+' } else { '-' };
            let text = line.text.escape_ascii();
            lines.push(format!("{}:{}:{sign}{text}", line.path, line.number));
        })
        .unwrap();
    (lines, scan)
}

#[test]
fn lines_carry_their_place() {
    let place = Place::new();
    let git = place.empty("project");
    git.commit_file("a.txt", "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13");
    git.commit_file("a.txt", "0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n10\nx\ny\r\n13\n");
    let (lines, scan) = lines(&git, "HEAD");
    assert_eq!(
        lines,
        [
            "a.txt:1:+0",
            "a.txt:11:-11",
            "a.txt:12:-12",
            "a.txt:13:-13",
            "a.txt:12:+x",
            "a.txt:13:+y\\r",
            "a.txt:14:+13",
        ]
    );
    assert_eq!(scan, Scan { added: 4, removed: 3, not_scanned: Vec::new() });
}

#[test]
fn attributes_hide_nothing() {
    let place = Place::new();
    let git = place.empty("project");
    git.commit_file(".gitattributes", "*.key -diff\n*.pem binary\n*.env filter=x -text\n");
    for name in ["a.key", "b.pem", "c.env"] {
        std::fs::write(git.root.join(name), "password=1\n").unwrap();
    }
    git.run(&["add", "."]);
    git.commit();
    let (lines, scan) = lines(&git, "HEAD");
    assert_eq!(lines, ["a.key:1:+password=1", "b.pem:1:+password=1", "c.env:1:+password=1"]);
    assert_eq!(scan.not_scanned, []);
}

#[test]
fn a_merge_shows_its_resolution_and_what_it_brings() {
    let place = Place::new();
    let git = place.small("project");
    git.run(&["checkout", "-q", "-b", "side"]);
    git.commit_file("side.txt", "side\n");
    git.run(&["checkout", "-q", "main"]);
    git.commit_file("main.txt", "main\n");
    git.run(&["merge", "-q", "--no-commit", "--no-ff", "side"]);
    let merge = git.commit_file("file.txt", "resolved\n");
    let (lines, _) = lines(&git, &merge);
    assert_eq!(lines, ["file.txt:1:-one", "file.txt:1:+resolved", "side.txt:1:+side"]);
}

#[test]
fn binary_contents_are_searched_and_utf16_and_utf32_are_read() {
    let place = Place::new();
    let git = place.empty("project");
    let utf16 = |text: &str, big: bool| -> Vec<u8> {
        let text = format!("\u{feff}{text}");
        let units = text.encode_utf16();
        units.flat_map(|unit| if big { unit.to_be_bytes() } else { unit.to_le_bytes() }).collect()
    };
    git.commit_file("was-binary", b"\0\n");
    git.commit_file("deleted", b"\0\n");
    git.commit_file("little.txt", utf16("one\r\n", false));
    std::fs::write(git.root.join("little.txt"), utf16("one\r\nkey=\u{e9}\r\n", false)).unwrap();
    std::fs::write(git.root.join("big.txt"), utf16("key", true)).unwrap();
    std::fs::write(git.root.join("latin"), b"\xff\xfepassword=\n").unwrap();
    std::fs::write(git.root.join("image"), b"\x89PNG\0\npassword=1\0\n").unwrap();
    let behind = [&utf16("decoy\n", false)[..], b"password=2\n"].concat();
    std::fs::write(git.root.join("behind"), behind).unwrap();
    std::fs::write(git.root.join("unmarked"), &utf16("key=1\n", false)[2..]).unwrap();
    let wide = |text: &str| -> Vec<u8> {
        text.chars().flat_map(|letter| u32::from(letter).to_le_bytes()).collect()
    };
    std::fs::write(git.root.join("wide"), wide("\u{feff}key=2\n")).unwrap();
    let mut reversed = wide("key=3\n");
    reversed.chunks_exact_mut(4).for_each(<[u8]>::reverse);
    std::fs::write(git.root.join("wide-unmarked"), reversed).unwrap();
    std::fs::write(git.root.join("was-binary"), b"text\n").unwrap();
    std::fs::remove_file(git.root.join("deleted")).unwrap();
    git.run(&["add", "-A"]);
    git.commit();
    let (lines, scan) = lines(&git, "HEAD");
    assert_eq!(
        lines,
        [
            "behind:1:+decoy",
            "behind:2:+\\xe6\\x85\\xb0\\xe7\\x8d\\xb3\\xe6\\xbd\\xb7\\xe6\\x91\\xb2\\xe3\\x88\\xbd",
            "behind:2:+\\x00password=2",
            "big.txt:1:+key",
            "deleted:1:-\\x00",
            "image:1:+\\x89PNG\\x00",
            "image:2:+password=1\\x00",
            "latin:1:+\\xff\\xfepassword=",
            "little.txt:2:+key=\\xc3\\xa9\\r",
            "unmarked:1:+key=1",
            "was-binary:1:-\\x00",
            "was-binary:1:+text",
            "wide:1:+key=2",
            "wide-unmarked:1:+key=3",
        ]
    );
    assert_eq!(scan.not_scanned, []);
}

#[test]
fn a_nul_hides_nothing() {
    let place = Place::new();
    let git = place.empty("project");
    git.commit_file("a.py", "one\ntwo\n");
    git.commit_file("a.py", "one\0\ntwo\npassword=1\n");
    let mut seen = Vec::new();
    let mut visit = |line: crate::git::ChangedLine<'_>| {
        seen.push((line.added, line.binary, line.number, line.text.to_owned()));
    };
    git.open().visit_lines("HEAD", &go_on, &mut visit).unwrap();
    assert_eq!(
        seen,
        [
            (false, false, 1, b"one".to_vec()),
            (true, true, 1, b"one\0".to_vec()),
            (true, true, 3, b"password=1".to_vec()),
        ]
    );
}

#[test]
fn links_and_long_lines_are_whole_and_submodules_have_none() {
    let place = Place::new();
    let git = place.empty("project");
    git.commit();
    let long = "x".repeat(3 << 20) + "password=";
    let blob = git.bytes(&["hash-object", "-w", "--stdin"], b"target-of-link");
    let blob = String::from_utf8(blob).unwrap();
    let submodule = format!("160000,{},sub", "1".repeat(40));
    git.run(&["update-index", "--add", "--cacheinfo", &submodule]);
    git.run(&["update-index", "--add", "--cacheinfo", &format!("120000,{},link", blob.trim())]);
    let commit = git.commit_file("long", &long);
    let (lines, scan) = lines(&git, &commit);
    assert_eq!(lines, ["link:1:+target-of-link".to_owned(), format!("long:1:+{long}")]);
    assert_eq!((scan.added, scan.removed), (2, 0));
}

#[test]
fn a_cancelled_call_stops() {
    let place = Place::new();
    let git = place.empty("project");
    let commit = git.commit_file("big", "line\n".repeat(100_000));
    let repository = git.open();
    let asked = std::sync::atomic::AtomicUsize::new(0);
    let stop = || asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed) >= 5;
    let mut visited = 0;
    let error = repository.visit_lines(&commit, &stop, &mut |_| visited += 1).unwrap_err();
    assert_eq!(error.code(), None);
    assert!(visited < 10_000, "{visited}");
    assert!(repository.change(&commit, &|| true).is_err());
}
