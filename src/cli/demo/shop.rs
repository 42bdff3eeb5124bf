//! The throwaway repository of the demo: a shop's sign-in in three commits.

/// A file of a commit: its path and content.
pub type File = (&'static str, &'static str);

/// What was there before the story begins.
pub const START: [File; 2] = [
    ("README.md", "# Shop\n\nA small shop, for the demo of govforge.\n"),
    (
        "auth.py",
        r#""""Who is signed in: a cookie that holds the user and a signature."""

import hmac


def sign(user, key):
    mac = hmac.new(key, user.encode(), "sha256").hexdigest()
    return f"{user}.{mac}"


def user_of(cookie, key):
    user, _, _ = cookie.partition(".")
    return user if hmac.compare_digest(cookie, sign(user, key)) else None
"#,
    ),
];

/// The change that the decision is about. It works, and has the bug that the review finds.
pub const IDLE_TIMEOUT: [File; 2] = [
    (
        "auth.py",
        r#""""Who is signed in: a cookie that holds the user, the last use and a signature."""

import hmac

IDLE_SECONDS = 30 * 60


def sign(user, last_use, key):
    text = f"{user}.{last_use}"
    mac = hmac.new(key, text.encode(), "sha256").hexdigest()
    return f"{text}.{mac}"


def user_of(cookie, key, now):
    user, last_use, _ = cookie.split(".")
    if not hmac.compare_digest(cookie, sign(user, last_use, key)):
        return None
    return user if now - int(last_use) < IDLE_SECONDS else None
"#,
    ),
    (
        "tests/test_idle.py",
        r#"from auth import IDLE_SECONDS, sign, user_of

KEY = b"only for tests"


def test_a_fresh_cookie_names_its_user():
    assert user_of(sign("user-1", 1000, KEY), KEY, now=1001) == "user-1"


def test_an_idle_user_is_signed_out():
    assert user_of(sign("user-1", 1000, KEY), KEY, now=1000 + IDLE_SECONDS) is None
"#,
    ),
];

/// The line of `auth.py` in [`IDLE_TIMEOUT`] that the review points at, counted from 1.
pub const BUG_LINE: usize = 15;

/// The answer to the review.
pub const FIX: [File; 2] = [
    (
        "auth.py",
        r#""""Who is signed in: a cookie that holds the user, the last use and a signature."""

import hmac

IDLE_SECONDS = 30 * 60


def sign(user, last_use, key):
    text = f"{user}.{last_use}"
    mac = hmac.new(key, text.encode(), "sha256").hexdigest()
    return f"{text}.{mac}"


def user_of(cookie, key, now):
    parts = cookie.split(".")
    if len(parts) != 3 or not hmac.compare_digest(cookie, sign(*parts[:2], key)):
        return None
    user, last_use, _ = parts
    return user if now - int(last_use) < IDLE_SECONDS else None
"#,
    ),
    (
        "tests/test_idle.py",
        r#"from auth import IDLE_SECONDS, sign, user_of

KEY = b"only for tests"


def test_a_fresh_cookie_names_its_user():
    assert user_of(sign("user-1", 1000, KEY), KEY, now=1001) == "user-1"


def test_an_idle_user_is_signed_out():
    assert user_of(sign("user-1", 1000, KEY), KEY, now=1000 + IDLE_SECONDS) is None


def test_a_malformed_cookie_is_nobody():
    assert user_of("no dots at all", KEY, now=1001) is None
"#,
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_review_points_at_the_line_with_the_bug() {
        let (_, text) = IDLE_TIMEOUT[0];
        assert!(text.lines().nth(BUG_LINE - 1).unwrap().contains("cookie.split"));
    }
}
