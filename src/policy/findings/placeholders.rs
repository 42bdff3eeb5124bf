//! What stands for a secret without being one: `${VAR}`, `<your password>`, `changeme`, `xxx`,
//! and the values of well-known documentation.

use super::excuses::Excuse;

/// Words that people write instead of a value, in lower case.
const WORDS: [&str; 16] = [
    "changeme",
    "change_me",
    "change-me",
    "redacted",
    "[redacted]",
    "placeholder",
    "example",
    "dummy",
    "todo",
    "tbd",
    "none",
    "null",
    "nil",
    "undefined",
    "true",
    "false",
];
/// Where code takes a value from, instead of holding it.
const SOURCES: [&str; 26] = [
    "os.environ",
    "os.getenv(",
    "process.env",
    "import.meta.env",
    "getenv(",
    "System.getenv(",
    "System.getProperty(",
    "Environment.GetEnvironmentVariable(",
    "getpass",
    "env(",
    "ENV[",
    "env!(",
    "std::env",
    "secrets.",
    "settings.",
    "config.",
    "self.",
    "this.",
    "args.",
    "opts.",
    "options.",
    "params.",
    "request.",
    "req.",
    "form.",
    "user.",
];
/// What a variable that holds a secret is called, in lower case.
const NAMES: [&str; 6] = ["pass", "pwd", "secret", "key", "token", "cred"];
/// Parts that only an example has, in lower case.
const IN_EXAMPLES: [&str; 10] = [
    "example",
    "placeholder",
    "changeme",
    "redacted",
    "dummy",
    "your_",
    "your-",
    "yourkey",
    "yourtoken",
    "yoursecret",
];
/// Parts that no random token has, in lower case.
const SEQUENCES: [&str; 2] = ["12345678", "abcdefgh"];
/// Parts of the tokens that the documentation of their makers shows: the first JSON Web Token
/// that everyone sees, the storage emulator's account, a payment provider's first request.
const DOCUMENTED: [&str; 3] = ["eyJzdWIiOiIxMjM0NTY3ODkw", "Eby8vdM02xNO", "4eC39HqLyjWDarjtT1"];
/// Passwords in a URL that say that they are none, in lower case.
const URL_WORDS: [&str; 11] = [
    "password", "passwd", "pass", "pwd", "pw", "secret", "token", "user", "username", "apikey",
    "api_key",
];
/// Hosts that are nobody's, or everybody's own (RFC 2606, RFC 6761), and what they end in.
const HOSTS: [&str; 5] = ["localhost", "127.0.0.1", "example.com", "example.org", "example.net"];
const HOST_ENDINGS: [&str; 6] =
    [".example.com", ".example.org", ".example.net", ".example", ".test", ".invalid"];
/// So many equal characters in a row are no random token's.
const RUN: usize = 6;
/// A line of more bytes is no person's, but a bundler's.
const MINIFIED: usize = 1000;
/// A placeholder in brackets is no longer, in bytes.
const LONGEST: usize = 120;

/// Why the value that follows an `=` at the start of `rest`, which ends a `line` of so many bytes,
/// is no secret. Nothing at all is no placeholder.
pub(in crate::policy) fn follows(rest: &[u8], line: usize) -> Option<Excuse> {
    let value = trim_start(rest, b"= \t");
    let quotes = value.iter().take_while(|byte| b"\\\"'`".contains(byte)).count();
    let (quote, value) = value.split_at(quotes);
    if value.is_empty() && quote.is_empty() {
        return None;
    }
    // An empty text in quotes, unless a value follows that a shell joins to it. Three quotes
    // only open a text.
    let is_even = quote.len() >= 2 && quote.len().is_multiple_of(2);
    if is_even && quote[0] != b'\\' && quote.iter().all(|byte| *byte == quote[0]) {
        return ends(value, b".:?+").then_some(Excuse::Placeholder);
    }
    let is_source = |source: &&str| value.starts_with(source.as_bytes());
    let is_code = line >= MINIFIED && quote.is_empty() && is_short_name(value);
    let is_elsewhere = reference(value).is_some_and(|length| ends(&value[length..], b"/@:"))
        || SOURCES.iter().any(is_source)
        || is_code;
    let is_stand_in = || stand_in(value).is_some_and(|length| is_whole(quote, &value[length..]));
    if is_elsewhere {
        Some(Excuse::Reference)
    } else {
        (is_stand_in() || is_elided(value)).then_some(Excuse::Placeholder)
    }
}

/// Why a token that a pattern found is none.
pub(in crate::policy) fn token(token: &[u8]) -> Option<Excuse> {
    let lower = token.to_ascii_lowercase();
    if DOCUMENTED.iter().any(|part| holds(token, part)) {
        return Some(Excuse::Documented);
    }
    let is_made_up = || {
        SEQUENCES.iter().any(|part| holds(&lower, part))
            || lower.chunk_by(|a, b| a == b).any(|run| run.len() >= RUN)
    };
    example(token).or_else(|| is_made_up().then_some(Excuse::Placeholder))
}

/// Why the password of a URL is none: a word for one, the user's name again, or for a host that
/// is nobody's.
pub(in crate::policy) fn url(user: &[u8], password: &[u8], host: &[u8]) -> Option<Excuse> {
    let (lower, host) = (password.to_ascii_lowercase(), host.to_ascii_lowercase());
    let is_word = is_elided(password)
        || user == password
        || URL_WORDS.iter().any(|word| lower == word.as_bytes());
    let is_nobodys = HOSTS.iter().any(|name| host == name.as_bytes())
        || HOST_ENDINGS.iter().any(|ending| host.ends_with(ending.as_bytes()));
    example(password)
        .or(is_word.then_some(Excuse::Placeholder))
        .or(is_nobodys.then_some(Excuse::Host))
}

fn example(text: &[u8]) -> Option<Excuse> {
    let lower = text.to_ascii_lowercase();
    if reference(text) == Some(text.len()) {
        return Some(Excuse::Reference);
    }
    let is_placeholder =
        stand_in(text) == Some(text.len()) || IN_EXAMPLES.iter().any(|part| holds(&lower, part));
    is_placeholder.then_some(Excuse::Placeholder)
}

fn holds(text: &[u8], part: &str) -> bool {
    memchr::memmem::find(text, part.as_bytes()).is_some()
}

fn trim_start<'t>(text: &'t [u8], bytes: &[u8]) -> &'t [u8] {
    let blanks = text.iter().take_while(|byte| bytes.contains(byte)).count();
    &text[blanks..]
}

/// Whether nothing of the value is left, or something that `also` parts it from what follows.
fn ends(rest: &[u8], also: &[u8]) -> bool {
    let parts = |byte: &u8| byte.is_ascii_whitespace() || b"\"'`&;,)]}|\\<>".contains(byte);
    rest.first().is_none_or(|byte| parts(byte) || also.contains(byte))
}

/// Whether what stands for a value is all of it: within quotes, words may follow that belong to
/// the value.
fn is_whole(quote: &[u8], rest: &[u8]) -> bool {
    match quote.last() {
        Some(quote) if *quote != b'\\' && rest.contains(quote) => {
            rest.first() == Some(quote) || rest.first() == Some(&b'\\')
        }
        _ => ends(rest, b""),
    }
}

/// Whether a value shows its form alone: `sk-...`, `sk-xxxxxxxx`, `sk-your-key`.
fn is_elided(value: &[u8]) -> bool {
    let value = &value[..value.len().min(LONGEST)];
    let end = (0..value.len()).find(|&at| ends(&value[at..], b"")).unwrap_or(value.len());
    let value = value[..end].to_ascii_lowercase();
    let is_run = |run: &[u8]| run.len() >= RUN && b"x*".contains(&run[0]);
    value.ends_with(b"...")
        || value.ends_with("…".as_bytes())
        || holds(&value, "-your-")
        || holds(&value, "_your_")
        || value.chunk_by(|one, other| one == other).any(is_run)
}

/// The length of what names a value that is elsewhere, at the start of `value`.
fn reference(value: &[u8]) -> Option<usize> {
    bracketed(value).or_else(|| variable(value))
}

/// The length of what stands for a value, at the start of `value`.
fn stand_in(value: &[u8]) -> Option<usize> {
    filler(value).or_else(|| your(value)).or_else(|| word(value))
}

/// `<…>`, `{{…}}`, `${{…}}`, `${NAME}`, `$(…)`, `{name}`, `%(name)s`, `%NAME%`.
fn bracketed(value: &[u8]) -> Option<usize> {
    let between = |open: &str, close: &str, inner: fn(&[u8]) -> bool| {
        let rest = value.strip_prefix(open.as_bytes())?;
        let end = memchr::memmem::find(&rest[..rest.len().min(LONGEST)], close.as_bytes())?;
        inner(&rest[..end]).then_some(open.len() + end + close.len())
    };
    let any = |_: &[u8]| true;
    let words = |text: &[u8]| {
        text.first().is_some_and(u8::is_ascii_alphabetic)
            && text.iter().all(|byte| byte.is_ascii_alphanumeric() || b" _-.:/'".contains(byte))
    };
    between("${{", "}}", any)
        .or_else(|| between("{{", "}}", any))
        .or_else(|| between("${", "}", is_reference))
        .or_else(|| between("#{", "}", is_name))
        .or_else(|| between("$(", ")", any))
        .or_else(|| between("<", ">", words))
        .or_else(|| between("{", "}", |text| text.is_empty() || is_name(text)))
        .or_else(|| between("%(", ")s", is_name))
        .or_else(|| between("%", "%", is_name))
}

/// `NAME`, or one whose default is empty or a complaint: `NAME:-`, `NAME:?must be set`.
fn is_reference(text: &[u8]) -> bool {
    let name = text.iter().position(|&byte| byte == b':').unwrap_or(text.len());
    let (name, default) = text.split_at(name);
    is_name(name) && (default.is_empty() || default == b":-" || default.starts_with(b":?"))
}

fn is_name(text: &[u8]) -> bool {
    text.first().is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_')
        && text.iter().all(|byte| byte.is_ascii_alphanumeric() || b"_.".contains(byte))
}

/// `$NAME`, `$env:NAME`, `$password`, `%s`.
fn variable(value: &[u8]) -> Option<usize> {
    if value.starts_with(b"%s") {
        return Some(2);
    }
    let rest = value.strip_prefix(b"$")?;
    let scope = if rest.starts_with(b"env:") { 4 } else { 0 };
    let name = &rest[scope..];
    let end = name
        .iter()
        .position(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_')
        .unwrap_or(name.len());
    let name = &name[..end];
    let is_constant = is_name(name) && !name.iter().any(u8::is_ascii_lowercase);
    let lower = name.to_ascii_lowercase();
    let is_secret = is_name(name)
        && name.iter().all(|byte| byte.is_ascii_alphabetic() || *byte == b'_')
        && NAMES.iter().any(|part| holds(&lower, part));
    (is_constant || is_secret || (scope > 0 && is_name(name))).then_some(1 + scope + end)
}

/// `xxx`, `***`, `...`, `…`.
fn filler(value: &[u8]) -> Option<usize> {
    let first = value.first()?.to_ascii_lowercase();
    let run = value.iter().take_while(|byte| byte.to_ascii_lowercase() == first).count();
    if b"x*.".contains(&first) && run >= 3 {
        return Some(run);
    }
    value.starts_with("…".as_bytes()).then_some("…".len())
}

/// `your_password`, `YOUR-API-KEY`.
fn your(value: &[u8]) -> Option<usize> {
    let start = value.get(..5)?.to_ascii_lowercase();
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-".contains(byte);
    let length = value.iter().take_while(|byte| is_part(byte)).count();
    matches!(&start[..], b"your_" | b"your-").then_some(length)
}

fn word(value: &[u8]) -> Option<usize> {
    let is_start = |word: &&&str| {
        value.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word.as_bytes()))
    };
    WORDS.iter().find(is_start).map(|word| word.len())
}

/// A bundler's code: `e`, `t.password`, `!0`, and no value that a person would choose.
fn is_short_name(value: &[u8]) -> bool {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"_$".contains(byte);
    let name = value.iter().take_while(|byte| is_part(byte)).count();
    let is_negation = value.starts_with(b"!0") || value.starts_with(b"!1");
    let is_call = value.get(name).is_some_and(|byte| b",;)}.([&|?:+".contains(byte));
    is_negation
        || value.starts_with(b"void 0")
        || value.starts_with(b"function")
        || ((1..=2).contains(&name) && !value[0].is_ascii_digit() && is_call)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_told_from_values() {
        for value in [
            "<your password>",
            "${DB_PASSWORD}",
            "${DB_PASSWORD:-}",
            "${DB_PASSWORD:?set it}",
            "${{ secrets.DB_PASSWORD }}",
            "$DB_PASSWORD",
            "\"$DB_PASSWORD\"",
            "$password",
            "$env:DB_PASSWORD",
            "%DB_PASSWORD%",
            "$(cat /run/secrets/db)",
            "{{ db_password }}",
            "{{x}}",
            "{password}",
            "{}",
            "%s",
            "%(password)s",
            "#{password}",
            "changeme",
            "ChangeMe&user=me",
            "YOUR_PASSWORD",
            "your-api-key-here",
            "xxx",
            "XXXXXXXX",
            "'***'",
            "...",
            "…",
            "None,",
            "null)",
            "\"\"",
            "\"\", user)",
            "''.join(parts)",
            "\"\"\"${DB_PASSWORD}\"\"\"",
            "\"changeme\" # later",
            "=null",
            "os.environ[\"DB\"]",
            "process.env.DB",
            "settings.DB_PASSWORD",
            "sk-...",
            "\"sk-xxxxxxxx\"",
            "sk-your-key",
        ] {
            assert!(follows(value.as_bytes(), 80).is_some(), "{value} is a placeholder");
        }
        for value in [
            "",
            "hunter2",
            "\"hunter2\"",
            "x",
            "xx",
            "xxx1",
            "${DB_PASSWORD:-hunter2}",
            "${DB_PASSWORD}hunter2",
            "$ecret",
            "$2b$12$hunter",
            "changeme2",
            "nonesuch",
            "example/hunter2",
            "xxx#hunter2",
            "<hunter",
            "{hunter",
            "*hunter*",
            "yours",
            "\"\"\"hunter2\"\"\"",
            "\"\"hunter2",
            "''hunter2''",
            "\"xxx hunter2\"",
            "'changeme;hunter2'",
            "e,",
            "t.password",
        ] {
            assert_eq!(follows(value.as_bytes(), 80), None, "{value} is a value");
        }
    }

    #[test]
    fn code_of_a_bundler_is_no_value_in_a_long_line() {
        for value in ["e,", "t.password", "!0", "void 0", "n(e)"] {
            assert_eq!(follows(value.as_bytes(), 5000), Some(Excuse::Reference), "{value}");
        }
        for value in ["hunter2", "\"e\"", "x", "1,", "abc,"] {
            assert_eq!(follows(value.as_bytes(), 5000), None, "{value}");
        }
    }

    #[test]
    fn tokens_of_the_documentation_are_known() {
        for text in
            ["AKIAIOSFODNN7EXAMPLE", "ghp_xxxxxxxxxxxxxxxx", "sk-your-key-here-0f3a", "a12345678b"]
        {
            assert_eq!(token(text.as_bytes()), Some(Excuse::Placeholder), "{text}");
        }
        assert_eq!(token(b"sk_test_4eC39HqLyjWDarjtT1zdp7dc"), Some(Excuse::Documented));
        assert_eq!(token(b"Zm9vYmFyYmF6cXV4"), None);
        for (user, password, host, why) in [
            ("user", "password", "db.internal", Some(Excuse::Placeholder)),
            ("app", "app", "db", Some(Excuse::Placeholder)),
            ("app", "q8Zk1", "localhost", Some(Excuse::Host)),
            ("app", "q8Zk1", "db.example.com", Some(Excuse::Host)),
            ("app", "${DB_PASSWORD}", "db.internal", Some(Excuse::Reference)),
            ("app", "q8Zk1", "db.internal", None),
            ("app", "12345678", "db.internal", None),
            ("app", "Abcdefgh9", "db.internal", None),
        ] {
            let excuse = url(user.as_bytes(), password.as_bytes(), host.as_bytes());
            assert_eq!(excuse, why, "{password} {host}");
        }
    }
}
