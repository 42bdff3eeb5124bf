//! How a path is written: in git's diff text, and in the program's results.

use std::borrow::Cow;

/// `prefix` and `path` as git prints them in a diff header: as they are, or, if the path
/// holds a control character, a quote, a backslash or a byte from 0x80 on, C-style in
/// double quotes.
pub(super) fn in_diff(prefix: &str, path: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(prefix.len() + path.len() + 2);
    if !path.iter().copied().any(is_special) {
        out.extend_from_slice(prefix.as_bytes());
        out.extend_from_slice(path);
        return out;
    }
    out.push(b'"');
    out.extend_from_slice(prefix.as_bytes());
    for &byte in path {
        escape(byte, &mut out);
    }
    out.push(b'"');
    out
}

/// A path as text, without loss: UTF-8 as it is, anything else (and a path that itself
/// starts with a double quote, so that no two paths look alike) C-style in double quotes.
pub(in crate::git) fn shown(path: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(path) {
        Ok(text) if !text.starts_with('"') => Cow::Borrowed(text),
        _ => Cow::Owned(in_diff("", path).into_iter().map(char::from).collect()),
    }
}

fn is_special(byte: u8) -> bool {
    !(0x20..0x7f).contains(&byte) || byte == b'"' || byte == b'\\'
}

fn escape(byte: u8, out: &mut Vec<u8>) {
    let letter = match byte {
        0x07 => b'a',
        0x08 => b'b',
        b'\t' => b't',
        b'\n' => b'n',
        0x0b => b'v',
        0x0c => b'f',
        b'\r' => b'r',
        b'"' | b'\\' => byte,
        _ if is_special(byte) => {
            let digit = |shift: u8| b'0' + ((byte >> shift) & 7);
            out.extend_from_slice(&[b'\\', digit(6), digit(3), digit(0)]);
            return;
        }
        _ => {
            out.push(byte);
            return;
        }
    };
    out.extend_from_slice(&[b'\\', letter]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_paths_stay_as_they_are() {
        assert_eq!(in_diff("a/", b"src/a file.rs"), b"a/src/a file.rs");
        assert_eq!(shown("caf\u{e9}\t.txt".as_bytes()), "caf\u{e9}\t.txt");
    }

    #[test]
    fn special_bytes_are_escaped_in_diffs() {
        let path = b"\x07\x08\t\n\x0b\x0c\r\"\\\x01\x7f\xc3\xa9";
        assert_eq!(in_diff("b/", path), br#""b/\a\b\t\n\v\f\r\"\\\001\177\303\251""#);
    }

    #[test]
    fn shown_paths_never_collide() {
        assert_eq!(shown(b"caf\xe9"), r#""caf\351""#);
        assert_eq!(shown(br#""caf\351""#), r#""\"caf\\351\"""#);
    }
}
