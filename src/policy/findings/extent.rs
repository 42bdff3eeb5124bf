//! How far a secret reaches in the line in which a pattern found it.

use std::ops::Range;

/// What opens or closes a text in code.
const QUOTES: &[u8] = b"\"'`";
/// Words that may stand before the name in a line that assigns one value and nothing else.
const KEYWORDS: [&[u8]; 8] =
    [b"export", b"set", b"local", b"declare", b"readonly", b"env", b"let", b"const"];

/// A secret in a line, in bytes from its start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::policy) struct Secret {
    /// What of the line is not shown.
    pub hidden: Range<usize>,
    /// The texts in it that are not shown elsewhere either.
    pub values: Vec<Range<usize>>,
}

/// The secret that an expression found at `found`: with what of the same word stands around it;
/// of a private key, with all of it that the line holds.
pub(in crate::policy) fn of_match(text: &[u8], found: Range<usize>) -> Secret {
    const KEY_BLOCK: &[u8] = b"PRIVATE KEY";
    if memchr::memmem::find(&text[found.clone()], KEY_BLOCK).is_some() {
        let rest = &text[found.end..];
        let closing = memchr::memmem::find(rest, b"-----END").map(|at| found.end + at);
        let hidden = found.start..closing.unwrap_or(text.len());
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/=".contains(byte);
        let values = runs(text, hidden.clone(), is_part);
        return Secret { hidden, values: values.filter(|run| run.len() >= 16).collect() };
    }
    let mut hidden = found.clone();
    let is_escape = |at: usize| matches!(text.get(at..at + 2), Some(b"\\n" | b"\\r"));
    while hidden.end < text.len() {
        match text[hidden.end] {
            byte if byte.is_ascii_alphanumeric() || b"_+/=~-".contains(&byte) => hidden.end += 1,
            _ if is_escape(hidden.end) => hidden.end += 2,
            _ => break,
        }
    }
    hidden.start -= text[..hidden.start].iter().rev().take_while(|byte| is_word(byte)).count();
    Secret { hidden, values: vec![found] }
}

/// The secret behind a literal that ends in `=`, at the byte where that ends.
pub(in crate::policy) fn of_assignment(text: &[u8], literal: Range<usize>) -> Secret {
    let mut at = literal.end;
    if is_quoted(text, &literal) {
        // The text ends with the literal: what it is joined with may follow, a list's next item not.
        let rest = &text[at + 1..];
        let joined = rest.iter().take_while(|byte| b" \t".contains(byte)).count();
        match rest.get(joined) {
            Some(sign) if b"+.&%|".contains(sign) => at += joined + 2,
            _ => return Secret { hidden: at..at, values: Vec::new() },
        }
    }
    let value = value(text, at, begins_line(&text[..literal.start]));
    Secret { values: pieces(text, &value), hidden: value }
}

/// The secrets at a literal that is a name or a part of a token: the rest of its word, and the
/// value that is assigned to it, unless `is_excused` says of what follows that it is none.
pub(in crate::policy) fn of_name(
    text: &[u8],
    literal: Range<usize>,
    is_excused: impl Fn(&[u8]) -> bool,
) -> Vec<Secret> {
    let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_+/~.-".contains(byte);
    let before = text[..literal.start].iter().rev().take_while(is_part).count();
    let after = text[literal.end..].iter().take_while(is_part).count();
    let word = literal.start - before..literal.end + after;
    let mut secrets = Vec::new();
    if word != literal {
        secrets.push(Secret { hidden: word.clone(), values: vec![word.clone()] });
    }
    let skip = |at: usize, bytes: &[u8]| {
        at + text[at..].iter().take_while(|byte| bytes.contains(byte)).count()
    };
    let closed = skip(word.end, b"\"'`\\]) \t");
    let separated = skip(closed, b":=>,");
    let is_told = separated > closed || closed > word.end;
    if is_told && !is_excused(&text[separated..]) {
        let mut value = value(text, separated, begins_line(&text[..word.start]));
        let sign = text[closed..separated].first();
        if sign.is_none() {
            // Without a sign between them only the next word.
            let next = &text[value.clone()];
            let end = next.iter().position(u8::is_ascii_whitespace).unwrap_or(next.len());
            value.end = value.start + end;
        }
        let is_word = text[value.clone()].iter().all(|byte| !byte.is_ascii_digit());
        if is_word && sign.is_none_or(|sign| *sign == b',') {
            // A word of a sentence, or the next item of a list.
            return secrets;
        }
        secrets.push(Secret { values: pieces(text, &value), hidden: value });
    }
    secrets
}

/// Whether a line ends where its value only begins, so that it stands in the next one.
pub(in crate::policy) fn goes_on(text: &[u8], secret: &Secret) -> bool {
    let rest = text[secret.hidden.start..].trim_ascii();
    let before = text[..secret.hidden.start].trim_ascii_end();
    let opens = |byte: &u8| QUOTES.contains(byte) || *byte == b'\\';
    match rest {
        b"" => before.last().is_some_and(opens),
        rest => matches!(rest, b"(" | b"[" | b"|" | b">" | b"|-" | b">-"),
    }
}

/// Whether a line is a part of a key block: nothing but Base64, however code quotes it.
pub(in crate::policy) fn is_key_body(line: &[u8], follows_another: bool) -> bool {
    const LONG: usize = 16;
    let is_frame = |byte: &u8| byte.is_ascii_whitespace() || b"\"'`#*|>,;\\.".contains(byte);
    let is_start = |byte: &u8| is_frame(byte) || b"+-".contains(byte);
    let mut body = line;
    while let [first, rest @ ..] = body
        && is_start(first)
    {
        body = rest;
    }
    while let [rest @ .., last] = body
        && (is_frame(last) || (*last == b'+' && rest.last().is_some_and(u8::is_ascii_whitespace)))
    {
        body = rest;
    }
    while let Some(rest) = body.strip_suffix(b"\\n").or_else(|| body.strip_suffix(b"\\r")) {
        body = rest;
    }
    body = body.trim_ascii();
    let is_base64 = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/=".contains(byte);
    let is_escaped = |part: &[u8]| !part.is_empty() && part.iter().all(is_base64);
    let is_all = match memchr::memmem::find(body, b"\\n") {
        None => is_escaped(body),
        Some(_) => body.split(|byte| *byte == b'\\').enumerate().all(|(index, part)| {
            is_escaped(if index == 0 { part } else { part.get(1..).unwrap_or_default() })
        }),
    };
    is_all && (follows_another || body.len() >= LONG)
}

/// The value that begins at `at`, after blanks and signs: what is in quotes, else up to a blank or
/// a quote, or to the end of a line that holds nothing but this assignment.
fn value(text: &[u8], at: usize, is_whole_line: bool) -> Range<usize> {
    let blanks = text[at..].iter().take_while(|byte| b"= \t".contains(byte)).count();
    let at = at + blanks;
    let is_quote = |byte: &&u8| QUOTES.contains(byte) || **byte == b'\\';
    let quotes = text[at..].iter().take_while(is_quote).count();
    let start = at + quotes;
    let rest = &text[start..];
    let ends = |byte: &u8| byte.is_ascii_whitespace() || QUOTES.contains(byte);
    let end = match text[at..start].last() {
        Some(quote) if QUOTES.contains(quote) => {
            let is_escaped = quotes > 1 && text[start - 2] == b'\\';
            let is_closing = |end: &usize| {
                rest[*end] == *quote && (is_escaped || *end == 0 || rest[*end - 1] != b'\\')
            };
            match (0..rest.len()).find(is_closing) {
                None => rest.len(),
                // A shell joins what follows a quote at once.
                Some(closing) => {
                    let parts =
                        |byte: &u8| byte.is_ascii_whitespace() || b",;)]}>&:.+\\/<".contains(byte);
                    let tail = &rest[closing + 1..];
                    let joined = tail.iter().position(parts).unwrap_or(tail.len());
                    match tail[..joined].iter().all(|byte| QUOTES.contains(byte)) {
                        true => closing,
                        false => closing + 1 + joined,
                    }
                }
            }
        }
        _ if is_whole_line => rest.trim_ascii_end().len(),
        _ => rest.iter().position(ends).unwrap_or(rest.len()),
    };
    start..start + end
}

/// The texts of a value that may stand elsewhere: all of it without what closes it, and its first
/// part where it may hold several.
fn pieces(text: &[u8], value: &Range<usize>) -> Vec<Range<usize>> {
    let bytes = &text[value.clone()];
    let closing = bytes.iter().rev().take_while(|byte| b";,)&]}>\"'`\\ \t".contains(byte)).count();
    let whole = value.start..value.end - closing;
    let first = bytes.iter().position(|byte| b"&;,) \t\"'".contains(byte));
    let first = value.start..value.start + first.unwrap_or(bytes.len());
    let mut pieces = vec![whole];
    if first != pieces[0] {
        pieces.push(first);
    }
    pieces.retain(|piece| !piece.is_empty());
    pieces
}

/// Whether only a name stands before a literal, so that the line is one assignment.
fn begins_line(before: &[u8]) -> bool {
    let before = before.trim_ascii_start();
    let before = before
        .iter()
        .position(|byte| !b"#;/*- ".contains(byte))
        .map_or(&b""[..], |start| &before[start..]);
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"_.-".contains(byte);
    let rest = KEYWORDS.iter().find_map(|word| {
        before.strip_prefix(*word).filter(|rest| rest.first().is_some_and(u8::is_ascii_whitespace))
    });
    rest.unwrap_or(before).trim_ascii_start().iter().all(is_name)
}

/// Whether a literal is the whole of a text in quotes.
fn is_quoted(text: &[u8], literal: &Range<usize>) -> bool {
    let before = literal.start.checked_sub(1).map(|at| text[at]);
    before.is_some_and(|quote| QUOTES.contains(&quote) && text.get(literal.end) == Some(&quote))
}

fn is_word(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || *byte == b'_'
}

/// The longest stretches of bytes for which `is_part` holds.
fn runs(
    text: &[u8],
    within: Range<usize>,
    is_part: impl Fn(&u8) -> bool,
) -> impl Iterator<Item = Range<usize>> {
    let mut at = within.start;
    std::iter::from_fn(move || {
        at += text[at..within.end].iter().position(&is_part)?;
        let start = at;
        at += text[at..within.end].iter().take_while(|byte| is_part(byte)).count();
        Some(start..at)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hidden(text: &str, literal: &str) -> String {
        let start = text.to_lowercase().find(&literal.to_lowercase()).unwrap();
        let literal = start..start + literal.len();
        let secret = of_assignment(text.as_bytes(), literal);
        text[secret.hidden].to_owned()
    }

    #[test]
    fn a_value_reaches_to_its_end() {
        for (text, expected) in [
            ("password=hunter2", "hunter2"),
            ("  db.password=correct horse battery", "correct horse battery"),
            ("export password='a b' # x", "a b"),
            ("connect(password=\"a b\\\"c\", x)", "a b\\\"c"),
            ("\"Server=db;Password=x1;y2;\"", "x1;y2;"),
            ("run --password=hunter2 shop", "hunter2"),
            ("?password=hunter2&user=x", "hunter2&user=x"),
            ("password='a''b' x", "a''b'"),
            ("f(password=\\\"hunter2\\\")", "hunter2\\"),
            ("password=", ""),
            ("password=\"hunter2", "hunter2"),
            ("[\"password=\", \"api_key=\"]", ""),
            ("\"password=\" + \"hunter2\"", "hunter2"),
        ] {
            assert_eq!(hidden(text, "password="), expected, "{text}");
        }
    }

    #[test]
    fn a_name_hides_its_word_and_its_value() {
        let hidden = |text: &str, literal: &str| {
            let start = text.find(literal).unwrap();
            let secrets = of_name(text.as_bytes(), start..start + literal.len(), |_| false);
            secrets.into_iter().map(|one| text[one.hidden].to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(hidden("\"PRIVATE_KEY\": \"abc d\",", "PRIVATE_KEY"), ["abc d"]);
        assert_eq!(hidden("x xoxb-12-ab y", "xoxb-"), ["xoxb-12-ab"]);
        assert_eq!(hidden("aws set PRIVATE_KEY a1b2 x", "PRIVATE_KEY"), ["a1b2"]);
        assert_eq!(hidden("set('PRIVATE_KEY', 'a1b2')", "PRIVATE_KEY"), ["a1b2"]);
        assert_eq!(hidden("the PRIVATE_KEY is here", "PRIVATE_KEY"), [""; 0]);
        assert_eq!(hidden("[\"PRIVATE_KEY\", \"password=\"]", "PRIVATE_KEY"), [""; 0]);
    }

    #[test]
    fn a_match_takes_its_word_along() {
        let text = b"x = 'ab_12cd-ef==' y";
        assert_eq!(&text[of_match(text, 8..10).hidden], b"ab_12cd-ef==");
        let key = b"k = \"-----BEGIN PRIVATE KEY-----\\nQUJDREVGR0hJSktMTU5P\\nUQ==\\n-----END\"";
        let secret = of_match(key, 5..40);
        assert!(key[secret.hidden.end..].starts_with(b"-----END"));
        assert!(secret.values.iter().any(|run| key[run.clone()].ends_with(b"SktMTU5P")));
    }

    #[test]
    fn the_body_of_a_key_is_told_from_code() {
        for line in
            ["QUJDREVGR0hJSktMTU5P", "  \"QUJDREVGR0hJSktMTU5P\\n\" +", "# QUJDREVGR0hJSktMTU5P=="]
        {
            assert!(is_key_body(line.as_bytes(), false), "{line}");
        }
        for line in ["return total", "", "x", "let key = QUJDREVGR0hJSktMTU5P"] {
            assert!(!is_key_body(line.as_bytes(), false), "{line}");
        }
        assert!(is_key_body(b"UQ==", true));
    }
}
