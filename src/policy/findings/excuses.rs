//! Why a match is no finding, and the comment that says so: `govforge:allow <pattern name>` at
//! the end of a line.

use serde::Serialize;

/// Why a match is no finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::policy) enum Excuse {
    /// A comment at the end of the line names the pattern.
    Comment,
    /// The rule allows what else stands in the line.
    Allowed,
    /// The value is elsewhere: `${VAR}`, `os.environ[...]`.
    Reference,
    /// A word or a mark stands for the value: `changeme`, `<your password>`, `xxx`.
    Placeholder,
    /// The maker's documentation shows this value.
    Documented,
    /// A password for a host that is everybody's own or nobody's: `localhost`, `example.com`.
    Host,
}

/// What begins the names.
const MARK: &[u8] = b"govforge:allow";
/// What may close the comment behind them.
const CLOSING: [&str; 8] = ["*/", "-->", "--%>", "%>", "#}", "--}}", "*}", "\"\"\""];

/// The patterns that a comment at the end of a line excuses, separated by commas.
pub(in crate::policy) fn names(line: &[u8]) -> Vec<String> {
    let Some(start) = memchr::memmem::rfind(line, MARK) else { return Vec::new() };
    // Carriage returns alone end the lines of old files: a comment excuses its own line, not all.
    let body = line.strip_suffix(b"\r").unwrap_or(line);
    if memchr::memchr(b'\r', body).is_some() {
        return Vec::new();
    }
    let Ok(rest) = std::str::from_utf8(&line[start + MARK.len()..]) else { return Vec::new() };
    // Another word begins like the mark.
    if !rest.starts_with([' ', '\t']) {
        return Vec::new();
    }
    let rest = rest.trim();
    let rest = CLOSING.iter().find_map(|closing| rest.strip_suffix(closing)).unwrap_or(rest);
    rest.split(',').map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_names_at_the_end_of_a_line() {
        for (line, expected) in [
            ("x = 1 # govforge:allow jwt", &["jwt"][..]),
            ("x = 1 // govforge:allow jwt, password=", &["jwt", "password="]),
            ("x = 1 /* govforge:allow jwt */", &["jwt"]),
            ("<x> <!-- govforge:allow url_password -->", &["url_password"]),
            ("govforge:allow a b govforge:allow c\r", &["c"]),
            ("jwt\rx = 1 # govforge:allow jwt", &[]),
            ("# govforge:allow", &[]),
            ("# govforge:allowed jwt", &[]),
            ("# allow jwt", &[]),
        ] {
            assert_eq!(names(line.as_bytes()), expected, "{line}");
        }
        assert!(names(b"govforge:allow \xff").is_empty());
    }
}
