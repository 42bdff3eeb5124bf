//! Globs over changed paths, as a person writes them into an ignore file.

use regex::RegexSet;
use regex::RegexSetBuilder;

/// All globs of a list together compile to at most this, in bytes.
const LARGEST: usize = 32 * 1024 * 1024;

/// A list of globs.
#[derive(Debug)]
pub(in crate::policy) struct Globs {
    globs: Vec<String>,
    set: RegexSet,
}

impl Globs {
    /// Compiles globs that [`check`] has accepted; `None` if they are too large together.
    pub(in crate::policy) fn new(globs: Vec<String>) -> Option<Self> {
        let regexes: Vec<String> = globs.iter().filter_map(|glob| regex(glob).ok()).collect();
        let set = RegexSetBuilder::new(regexes)
            .size_limit(LARGEST)
            .dfa_size_limit(LARGEST)
            .build()
            .ok()?;
        Some(Self { globs, set })
    }

    /// Whether there is none.
    pub(in crate::policy) fn is_empty(&self) -> bool {
        self.globs.is_empty()
    }

    /// As configured.
    pub(in crate::policy) fn as_slice(&self) -> &[String] {
        &self.globs
    }

    /// Whether one of them matches a path.
    pub(in crate::policy) fn is_match(&self, path: &str) -> bool {
        self.set.is_match(path)
    }

    /// Those that match a path.
    pub(in crate::policy) fn matching(&self, path: &str) -> impl Iterator<Item = &String> {
        self.set.matches(path).into_iter().map(|index| &self.globs[index])
    }
}

/// Whether a text is a glob.
///
/// # Errors
///
/// The end of a sentence that begins with the glob as its subject. It shows nothing of it.
pub(in crate::policy) fn check(glob: &str) -> Result<(), String> {
    regex(glob).map(|_| ())
}

/// The glob as a regular expression.
fn regex(glob: &str) -> Result<String, String> {
    let no = |what: &str| Err(what.to_owned());
    if glob.contains('\\') {
        return no("has a backslash: write `/` between directories, and a special character in \
                   brackets, such as `[*]`.");
    }
    if glob.starts_with('!') {
        return no("begins with `!`: exceptions have a key of their own, `except_paths`, where a \
                   rule takes any.");
    }
    let (body, is_rooted) = match glob.strip_prefix('/') {
        Some(body) => (body, true),
        None => (glob, false),
    };
    let (body, is_directory) = match body.strip_suffix('/') {
        Some(body) => (body, true),
        None => (body, false),
    };
    let segments: Vec<&str> = body.split('/').collect();
    if segments.iter().any(|segment| matches!(*segment, "" | "." | "..")) {
        return no("has an empty segment, `.` or `..`: paths count from the repository's root.");
    }
    let mut regex = String::from("(?s)^");
    if !is_rooted && segments.len() == 1 {
        regex.push_str("(?:[^/]+/)*");
    }
    for (index, segment) in segments.iter().enumerate() {
        let is_last = index + 1 == segments.len();
        match (*segment, is_last) {
            ("**", false) => regex.push_str("(?:[^/]+/)*"),
            ("**", true) => regex.push_str(".+"),
            (segment, false) => {
                translate(segment, &mut regex)?;
                regex.push('/');
            }
            (segment, true) => {
                let is_plain = translate(segment, &mut regex)?;
                if is_directory {
                    regex.push_str("/.+");
                } else if is_plain {
                    regex.push_str("(?:/.+)?");
                }
            }
        }
    }
    regex.push('$');
    Ok(regex)
}

/// Adds one segment of a glob. Returns whether it is a plain name.
fn translate(segment: &str, regex: &mut String) -> Result<bool, String> {
    if segment.contains("**") {
        return Err("has `**` beside other characters: it stands alone between two `/`.".to_owned());
    }
    let mut is_plain = true;
    let mut in_braces = false;
    let mut rest = segment.chars();
    while let Some(character) = rest.next() {
        is_plain &= !matches!(character, '*' | '?' | '[' | '{');
        match character {
            '*' => regex.push_str("[^/]*"),
            '?' => regex.push_str("[^/]"),
            '[' => class(&mut rest, regex)?,
            '{' if in_braces => return Err("has braces within braces.".to_owned()),
            '{' => {
                in_braces = true;
                regex.push_str("(?:");
            }
            ',' if in_braces => regex.push('|'),
            '}' if in_braces => {
                in_braces = false;
                regex.push(')');
            }
            other => regex.push_str(&regex_syntax::escape(other.encode_utf8(&mut [0; 4]))),
        }
    }
    if in_braces {
        return Err("has a `{` that is not closed in the same segment.".to_owned());
    }
    Ok(is_plain)
}

/// Adds the class whose `[` was just read.
fn class(rest: &mut std::str::Chars<'_>, regex: &mut String) -> Result<(), String> {
    let text = rest.as_str();
    // A `]` that comes first is a member.
    let first = text.strip_prefix(['!', '^']).unwrap_or(text);
    let skipped = text.len() - first.len() + first.chars().next().map_or(0, char::len_utf8);
    let Some(end) = text[skipped..].find(']').map(|end| skipped + end) else {
        return Err("has a `[` that is not closed in the same segment.".to_owned());
    };
    let members = text[..end].strip_prefix(['!', '^']).unwrap_or(&text[..end]);
    regex.push_str(if members.len() < end { "[^/" } else { "[" });
    let members: Vec<char> = members.chars().collect();
    let mut index = 0;
    while index < members.len() {
        let member = |at: usize| regex_syntax::escape(members[at].encode_utf8(&mut [0; 4]));
        match members.get(index + 1..index + 3) {
            Some(['-', last]) => {
                if members[index] > *last {
                    return Err("has a range that runs backwards, such as `[z-a]`.".to_owned());
                }
                regex.push_str(&format!("{}-{}", member(index), member(index + 2)));
                index += 3;
            }
            _ => {
                regex.push_str(&member(index));
                index += 1;
            }
        }
    }
    regex.push(']');
    *rest = text[end + 1..].chars();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_match_as_in_an_ignore_file() {
        for (glob, matching, others) in [
            ("*.sql", &["a.sql", "db/a.sql", ".sql"][..], &["a.sql.bak", "a.sqlx"][..]),
            ("src/**", &["src/a", "src/a/b.rs"], &["src", "lib/src/a"]),
            ("src/*", &["src/a.rs"], &["src/a/b.rs", "src"]),
            ("src/**/test.rs", &["src/test.rs", "src/a/b/test.rs"], &["src/atest.rs", "test.rs"]),
            ("**/auth/**", &["auth/a", "x/auth/a/b"], &["auth", "x/author/a"]),
            ("docs/", &["docs/a", "x/docs/a/b"], &["docs", "mydocs/a"]),
            ("/docs", &["docs", "docs/a/b"], &["x/docs"]),
            ("LICENSE", &["LICENSE", "x/LICENSE", "LICENSE/a"], &["LICENSE2", "license"]),
            ("src/payments", &["src/payments", "src/payments/a.rs"], &["src/payments.rs"]),
            ("a?c.[ch]", &["abc.c", "x/aéc.h"], &["ac.c", "abc.d", "a/c.c"]),
            ("[!a-c]x", &["dx"], &["ax", "/x", "x"]),
            ("[]x]y", &["]y", "xy"], &["zy"]),
            ("*.{yml,yaml}", &["a.yml", "b/c.yaml"], &["a.yam", "a.{yml,yaml}"]),
            (".github/workflows/*.yml", &[".github/workflows/ci.yml"], &["github/workflows/a.yml"]),
            ("a+b(1).txt", &["a+b(1).txt"], &["aab1.txt"]),
            ("a}b,c", &["a}b,c"], &["ab"]),
            ("**", &["a", "a/b"], &[]),
        ] {
            let globs = Globs::new(vec![glob.to_owned()]).unwrap();
            check(glob).unwrap();
            for path in matching {
                assert!(globs.is_match(path), "{glob} matches {path}");
            }
            for path in others {
                assert!(!globs.is_match(path), "{glob} does not match {path}");
            }
        }
    }

    #[test]
    fn what_is_no_glob_is_told() {
        for (glob, expected) in [
            ("src\\*.rs", "backslash"),
            ("!src", "except_paths"),
            ("./src", "root"),
            ("a//b", "empty segment"),
            ("../x", "`..`"),
            ("a**b", "stands alone"),
            ("[ab", "`[` that is not closed"),
            ("[b/c]", "`[` that is not closed"),
            ("{a,b", "`{` that is not closed"),
            ("{a,{b}}", "within braces"),
            ("[z-a]", "backwards"),
            ("/", "empty segment"),
        ] {
            let told = check(glob).unwrap_err();
            assert!(told.contains(expected), "{glob}: {told}");
        }
    }

    #[test]
    fn tells_which_globs_match() {
        let globs = Globs::new(vec!["*.rs".into(), "src/".into(), "*.md".into()]).unwrap();
        assert_eq!(globs.matching("src/a.rs").collect::<Vec<_>>(), ["*.rs", "src/"]);
    }
}
