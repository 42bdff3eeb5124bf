//! Synthetic histories from a seed, of everything that a diff text can hold.

use std::collections::BTreeMap;

use super::support::{Git, Place};
use crate::git::diff::quote;

/// splitmix64: the same numbers on every machine.
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `end`.
    pub(super) fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end as u64).unwrap()
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.below(from.len())]
    }
}

type Files = BTreeMap<Vec<u8>, (&'static str, Vec<u8>)>;

const NAMES: [&[u8]; 20] = [
    b"main.rs",
    b"a",
    b"a.b",
    b"a-b",
    b"a0",
    b"with space.txt",
    b" leading",
    b"tab\there",
    b"new\nline",
    b"quo\"te",
    b"back\\slash",
    b"caf\xc3\xa9.md",
    b"caf\xe9.md",
    b"\x01\x7f\x1b",
    b"view.py",
    b"data.bin",
    b"Makefile",
    b"\xff\xfe",
    b"test file \xe2\x82\xac",
    b".env",
];

/// Starts of lines that matter to hunk headers, and much that repeats.
const LINES: [&[u8]; 30] = [
    b"",
    b"",
    b"}",
    b"{",
    b"    }",
    b"    return 1;",
    b"    let x = y;",
    b"\treturn;",
    b"fn first() {",
    b"def second(self):   ",
    b"_private = 3",
    b"$variable = 4;",
    b"class Third\t \r",
    b"# comment",
    b"//",
    b"Abschnitt \xc3\x84\xc3\x96\xc3\x9c",
    b"latin \xe9t\xe9 done",
    b"name \x01 control \x1b[0m",
    b"\xc3\xa4 starts with a letter beyond ASCII",
    b"0 starts with a digit",
    b"carriage\r",
    b"fn long_function_name_that_goes_on_and_on(argument_one: u32, argument_two: u64) -> Result {",
    b"fn blanks_at_the_cut_are_dropped_after_it_012345678901234567890123456789           end",
    b"fn cut_inside_a_character_0123456789012345678901234567890123456789012345678901\xe2\x82\xac\xe2\x82\xac",
    b"fn cut_inside_b_character_012345678901234567890123456789012345678901234567890\xf0\x9f\x98\x80\xf0\x9f\x98\x80",
    b"fn wide \xe4\xb8\xad\xe6\x96\x87\xe4\xb8\xad\xe6\x96\x87\xe4\xb8\xad\xe6\x96\x87\xe4\xb8\xad\xe6\x96\x87\xe4\xb8\xad\xe6\x96\x87\xe4\xb8\xad\xe6\x96\x87\xe4\xb8\xad\xe6\x96\x87\xe4\xb8\xad\xe6\x96\x87\xe4\xb8\xad\xe6\x96\x87\xe4\xb8\xad\xe6\x96\x87\xe4\xb8\xad\xe6\x96\x87\xe4\xb8\xad\xe6\x96\x87\xe4\xb8\xad\xe6\x96\x87",
    b"overlong \xc0\xaf and surrogate \xed\xa0\x80 and beyond \xf4\x90\x80\x80",
    b"noncharacter \xef\xbf\xbf \xef\xb7\x90 end",
    b"\x0cform feed",
    b"word",
];

fn line(random: &mut Random, out: &mut Vec<u8>) {
    if random.chance(25) {
        out.extend(format!("    item {};", random.below(9)).bytes());
    } else {
        out.extend_from_slice(random.pick(&LINES));
    }
    if random.chance(1) {
        out.extend(std::iter::repeat_n(b'x', 5000));
    }
}

fn text(random: &mut Random) -> Vec<u8> {
    let mut out = Vec::new();
    let end: &[u8] = if random.chance(10) { b"\r\n" } else { b"\n" };
    for _ in 0..random.below(80) {
        line(random, &mut out);
        out.extend_from_slice(end);
    }
    if random.chance(15) {
        line(random, &mut out);
    }
    out
}

fn content(random: &mut Random) -> Vec<u8> {
    match random.below(12) {
        0 => Vec::new(),
        1 => {
            let mut bytes = text(random);
            let at = random.below(bytes.len() + 1);
            bytes.insert(at, 0);
            bytes
        }
        // A NUL on both sides of the limit that git looks up to.
        2 => {
            let mut bytes = b"line of text\n".repeat(700);
            bytes[7998 + random.below(4)] = 0;
            bytes
        }
        3 => {
            let units = "\u{feff}name = wert\r\nzwei\r\n".encode_utf16();
            units.flat_map(u16::to_le_bytes).collect()
        }
        4 => b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n".to_vec(),
        _ => text(random),
    }
}

/// Changes a few places, so that hunks come to lie near and far from each other.
fn edit(random: &mut Random, content: &mut Vec<u8>) {
    let mut lines: Vec<Vec<u8>> =
        content.split_inclusive(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect();
    for _ in 0..=random.below(5) {
        let at = random.below(lines.len() + 1);
        match random.below(4) {
            0 => {
                let end = (at + random.below(6)).min(lines.len());
                lines.drain(at..end);
            }
            1 if at < lines.len() => {
                let block: Vec<_> = lines[at..(at + 4).min(lines.len())].to_vec();
                let to = random.below(lines.len());
                lines.splice(to..to, block);
            }
            2 if lines.last().is_some_and(|last| last.ends_with(b"\n")) && random.chance(30) => {
                lines.last_mut().unwrap().pop();
            }
            _ => {
                for _ in 0..=random.below(4) {
                    let mut new = Vec::new();
                    line(random, &mut new);
                    new.push(b'\n');
                    lines.insert(at, new);
                }
            }
        }
    }
    *content = lines.concat();
}

fn path(random: &mut Random) -> Vec<u8> {
    let mut path = Vec::new();
    for _ in 0..random.below(3) {
        path.extend_from_slice(random.pick(&NAMES[..13]));
        path.push(b'/');
    }
    if random.chance(2) {
        for _ in 0..20 {
            path.extend(std::iter::repeat_n(b'd', 198));
            path.push(b'/');
        }
    }
    path.extend_from_slice(random.pick(&NAMES));
    path
}

/// Sets a path, and takes away what cannot be beside it: a file where it needs a directory.
fn put(files: &mut Files, path: Vec<u8>, mode: &'static str, content: Vec<u8>) {
    let below = [&path[..], b"/"].concat();
    files.retain(|other, _| {
        let parent = path.starts_with(other) && path.get(other.len()) == Some(&b'/');
        !other.starts_with(&below) && !parent
    });
    files.insert(path, (mode, content));
}

fn mutate(random: &mut Random, files: &mut Files) {
    let some =
        (!files.is_empty()).then(|| files.keys().nth(random.below(files.len())).unwrap().clone());
    let submodule = |random: &mut Random| format!("{:040x}", random.below(7) + 1).into_bytes();
    match (random.below(14), some) {
        (0..=4, _) | (_, None) => {
            let mode = if random.chance(20) { "100755" } else { "100644" };
            let content = content(random);
            put(files, path(random), mode, content);
        }
        (5..=8, Some(path)) => {
            let file = files.get_mut(&path).unwrap();
            if file.0.starts_with("100") {
                edit(random, &mut file.1);
            }
        }
        (9, Some(path)) => {
            files.remove(&path);
        }
        (10, Some(path)) => {
            let file = files.get_mut(&path).unwrap();
            file.0 = match file.0 {
                "100644" => "100755",
                "100755" => "100644",
                "120000" => "100644",
                other => other,
            };
        }
        (11, Some(path)) => {
            let target = text(random);
            let target = target.into_iter().filter(|&byte| byte != 0).take(300).collect();
            put(files, path, "120000", target);
        }
        (12, Some(path)) => put(files, path, "160000", submodule(random)),
        (_, Some(from)) => {
            let (mode, mut content) = files.remove(&from).unwrap();
            if mode.starts_with("100") {
                edit(random, &mut content);
            }
            put(files, path(random), mode, content);
        }
    }
}

/// Writes the commits for `git fast-import`.
struct Import {
    stream: Vec<u8>,
    commits: usize,
}

impl Import {
    /// Adds a commit; its mark.
    fn commit(&mut self, branch: &str, parents: &[usize], files: &Files) -> usize {
        self.commits += 1;
        let mark = self.commits;
        let who = format!("Test <test@example.com> {} +0000", 1_700_000_000 + mark);
        self.text(&format!("commit refs/heads/{branch}\nmark :{mark}\ncommitter {who}\n"));
        self.text("data 6\nchange\n");
        for (index, parent) in parents.iter().enumerate() {
            let word = if index == 0 { "from" } else { "merge" };
            self.text(&format!("{word} :{parent}\n"));
        }
        self.text("deleteall\n");
        for (path, (mode, content)) in files {
            let quoted = format!("\"{}\"", octal(path));
            if *mode == "160000" {
                let id = String::from_utf8(content.clone()).unwrap();
                self.text(&format!("M {mode} {id} {quoted}\n"));
            } else {
                self.text(&format!("M {mode} inline {quoted}\ndata {}\n", content.len()));
                self.stream.extend_from_slice(content);
                self.text("\n");
            }
        }
        mark
    }

    fn text(&mut self, text: &str) {
        self.stream.extend_from_slice(text.as_bytes());
    }
}

fn octal(path: &[u8]) -> String {
    path.iter().map(|byte| format!("\\{byte:03o}")).collect()
}

/// A history of `steps` commits on `main`, with side branches merged, and the repository.
pub(super) fn build(place: &Place, seed: u64, steps: usize) -> (Git, Vec<String>) {
    let mut random = Random::new(seed);
    let mut import = Import { stream: Vec::new(), commits: 0 };
    let mut files = Files::new();
    put(
        &mut files,
        b".gitattributes".to_vec(),
        "100644",
        b"*.py diff=python\n*.md binary\n*.rs -diff\na* -text\n".to_vec(),
    );
    let mut parent = import.commit("main", &[], &files);
    for step in 0..steps {
        let mut parents = vec![parent];
        if random.chance(10) {
            // One or more side branches, whose files the merge takes in part.
            for branch in 0..=random.below(3) {
                let mut side = files.clone();
                mutate(&mut random, &mut side);
                let name = format!("side-{step}-{branch}");
                parents.push(import.commit(&name, &[parent], &side));
                for (path, (mode, content)) in side {
                    if random.chance(50) {
                        put(&mut files, path, mode, content);
                    }
                }
            }
        }
        if !random.chance(4) {
            for _ in 0..=random.below(6) {
                mutate(&mut random, &mut files);
            }
        }
        parent = import.commit("main", &parents, &files);
    }
    import.text("done\n");
    let git = place.empty(&format!("history-{seed}"));
    git.bytes(&["fast-import", "--quiet", "--done"], &import.stream);
    let commits = git.run(&["rev-list", "--all"]);
    let commits = commits.lines().map(str::to_owned).collect();
    (git, commits)
}

/// How the extractor should show a path that git names.
pub(super) fn shown(paths: &[Vec<u8>]) -> Vec<String> {
    let mut shown: Vec<String> = paths.iter().map(|path| quote::shown(path).into_owned()).collect();
    shown.sort();
    shown
}
