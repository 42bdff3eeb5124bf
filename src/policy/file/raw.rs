//! The bytes of a policy file as sections, in the order of the file, before any rule has
//! looked at them.

use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use super::mistake::Mistakes;
use super::section::{Section, is_plain, kind, listed, shown};
use crate::domain::names::nearest::nearest;

/// A longer policy file is refused unread.
pub(in crate::policy) const LARGEST_FILE: usize = 1024 * 1024;

/// The names and keys that a policy file may have.
pub(in crate::policy) struct Known {
    /// Each built-in policy with its keys.
    pub policies: Vec<(&'static str, Vec<&'static str>)>,
    /// Each kind of a rule of one's own with its keys.
    pub kinds: Vec<(&'static str, Vec<&'static str>)>,
}

impl Known {
    fn policies(&self) -> Vec<&'static str> {
        self.policies.iter().map(|(name, _)| *name).collect()
    }

    fn kinds(&self) -> Vec<&'static str> {
        self.kinds.iter().map(|(name, _)| *name).collect()
    }

    /// What a section can be.
    fn told(&self) -> String {
        format!(
            "The policies are {}; a rule of your own has a `kind`, one of {}.",
            listed(&self.policies()),
            listed(&self.kinds())
        )
    }
}

/// Reads `bytes` as UTF-8. An error is a mistake without a text to place it in, so it comes
/// with the part of the file that precedes it.
pub(in crate::policy) fn text(bytes: &[u8]) -> Result<&str, (Mistakes, &str)> {
    let mut mistakes = Mistakes::default();
    if bytes.len() > LARGEST_FILE {
        let size = bytes.len();
        mistakes.add(
            0,
            format!("The file has {size} bytes; a policy file has at most {LARGEST_FILE} (1 MiB)."),
        );
        return Err((mistakes, ""));
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    std::str::from_utf8(bytes).map_err(|error| {
        let valid = error.valid_up_to();
        mistakes.add(valid, "The file is not UTF-8 text from here on. Save it as UTF-8.");
        (mistakes, std::str::from_utf8(&bytes[..valid]).unwrap_or_default())
    })
}

/// The sections of `text`, and what is wrong with the file as such.
///
/// Where the TOML itself is broken, what could still be read is returned too, so that the
/// other mistakes are told at once.
pub(in crate::policy) fn sections<'i>(
    text: &'i str,
    known: &Known,
) -> (Vec<Section<'i>>, Mistakes) {
    let (table, errors) = DeTable::parse_recoverable(text);
    let mut entries: Vec<_> = table.into_inner().into_iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);

    let names = known.policies();
    let is_policy_file = entries.iter().any(|(key, value)| {
        let inner = value.get_ref().as_table();
        resembles_one_of(key.get_ref(), &names)
            || inner.is_some_and(|inner| {
                let of_rule = |value: &Spanned<DeValue<'_>>| {
                    value.get_ref().as_table().is_some_and(|inner| declares_rule(inner, known))
                };
                inner.keys().any(|key| names.contains(&&**key.get_ref()))
                    || declares_rule(inner, known)
                    || inner.values().any(of_rule)
            })
    });

    let mut syntax = Mistakes::default();
    let mut list_is_open = false;
    for error in &errors {
        // A list that is not closed misses a comma on each of the lines that follow.
        let misses_comma = error.message().starts_with("missing comma");
        if std::mem::replace(&mut list_is_open, misses_comma) && misses_comma {
            continue;
        }
        let span = error.span().unwrap_or_default();
        let name = text.get(span.clone()).filter(|_| is_policy_file).unwrap_or_default();
        syntax.add(span.start, explain(error.message(), name));
    }
    syntax.keep_first_of_lines(text);

    let mut mistakes = Mistakes::default();
    let mut sections = Vec::new();
    let budget = Section::budget();
    if !is_policy_file && !entries.is_empty() {
        mistakes.add(
            0,
            format!(
                "This is no policy file: none of its sections is named after a policy, and none \
                 declares a rule. {}",
                known.told()
            ),
        );
        entries.clear();
    }
    for (key, value) in entries {
        let at = key.span().start;
        let name = key.into_inner();
        match value.into_inner() {
            DeValue::Table(table) if names.contains(&&*name) || table.contains_key("kind") => {
                sections.push(Section::new(&name, at, table).within(&budget));
            }
            DeValue::Table(table) => mistakes.add(at, unknown_section(&name, &table, known)),
            value => mistakes.add(at, stray_key(&name, &value, known)),
        }
    }
    mistakes.drop_lines_of(&syntax, text);
    mistakes.append(syntax);
    (sections, mistakes)
}

/// Whether a section is a policy's, or so much like one that it was meant to be.
fn resembles_one_of(name: &str, names: &[&str]) -> bool {
    const SIMILAR: f64 = 0.7;
    names.iter().any(|known| strsim::normalized_levenshtein(&name.to_lowercase(), known) >= SIMILAR)
}

/// Whether a section of another name is a rule of one's own, or meant to be one.
fn declares_rule(table: &DeTable<'_>, known: &Known) -> bool {
    let kind = table.iter().find(|(key, _)| key.get_ref() == "kind");
    let Some(kind) = kind.and_then(|(_, value)| value.get_ref().as_str()) else { return false };
    let is_own_key = |key: &str| known.kinds.iter().any(|(_, keys)| keys.contains(&key));
    known.kinds().contains(&kind)
        || (resembles_one_of(kind, &known.kinds())
            && table.keys().any(|key| key.get_ref() != "kind" && is_own_key(key.get_ref())))
}

fn unknown_section(name: &str, table: &DeTable<'_>, known: &Known) -> String {
    let names = known.policies();
    let is_section = |(inner, value): &(&Spanned<DeString<'_>>, &Spanned<DeValue<'_>>)| {
        names.contains(&&**inner.get_ref())
            || value.get_ref().as_table().is_some_and(|inner| declares_rule(inner, known))
    };
    if let Some((within, _)) = table.iter().find(is_section) {
        let within = within.get_ref();
        let header = if is_plain(within) { format!("[{within}]") } else { "its name".to_owned() };
        return format!(
            "{} is at the wrong level: it is a section of its own. Write `{header}` without \
             anything before it.",
            shown(within)
        );
    }
    let owner = known.policies.iter().find(|(_, keys)| keys.contains(&name));
    if let Some((policy, _)) = owner {
        return format!("`{name}` is at the wrong level: write `[{policy}.{name}]`.");
    }
    let hint = nearest(name, names.iter().copied())
        .map(|known| format!(" Did you mean `{known}`?"))
        .unwrap_or_default();
    format!("There is no policy {}.{hint} {}", shown(name), known.told())
}

fn stray_key(name: &str, value: &DeValue<'_>, known: &Known) -> String {
    if let Some((policy, _)) = known.policies.iter().find(|(policy, _)| *policy == name) {
        return format!(
            "`{policy}` must be a section, `[{policy}]` with its keys below it, not {}.",
            kind(value)
        );
    }
    let owners: Vec<&str> = known
        .policies
        .iter()
        .filter(|(_, keys)| keys.contains(&name))
        .map(|(policy, _)| *policy)
        .collect();
    if !owners.is_empty() {
        return format!(
            "`{name}` is at the wrong level: write it below its section, {}.",
            one_of(&owners)
        );
    }
    if known.kinds.iter().any(|(_, keys)| keys.contains(&name)) {
        return format!("`{name}` is at the wrong level: write it below the section of its rule.");
    }
    format!(
        "There is no key {} outside the sections. A policy file has nothing but sections. {}",
        shown(name),
        known.told()
    )
}

fn one_of(names: &[&str]) -> String {
    match names {
        [name] => format!("`[{name}]`"),
        names => format!("one of {}", listed(names)),
    }
}

/// What is wrong with the TOML, in words of our own; `name` is what stands at the place, if
/// it may be shown.
fn explain(library: &str, name: &str) -> String {
    let says = |start: &str| library.starts_with(start);
    if says("duplicate key") {
        return match name {
            "" => "A section or key is given twice. Keep one of the two.".to_owned(),
            name => {
                format!("A section or key {} is given twice. Keep one of the two.", shown(name))
            }
        };
    }
    let what = if says("invalid boolean") {
        "only true and false, in lower case, stand without quotes"
    } else if says("string values must be quoted") {
        "a text needs quotes, \" or ', around it"
    } else if says("key with no value") || says("missing value") || says("missing assignment") {
        "a key is followed by `=` and a value on the same line"
    } else if says("unclosed") {
        "a bracket is not closed before this place"
    } else if says("missing comma") {
        "a comma is missing before this place, or a list is not closed"
    } else if says("extra comma") {
        "there is a comma too many"
    } else if says("unexpected key or value") {
        "something follows the value on the same line, or a quote ends the text too early"
    } else if says("missing escaped value") || says("too few unicode") {
        "a backslash is written twice between double quotes, or once between single ones"
    } else if says("invalid basic") || says("invalid literal") || says("invalid multi-line") {
        "the text is not closed by the quote that opened it, or holds a control character"
    } else if says("unquoted keys") || says("invalid unquoted key") {
        "a name has letters, digits, `-` and `_` only, and a comment begins with `#`"
    } else if says("cannot extend") {
        "a key that has a value is used as a section"
    } else if says("cannot recurse") || says("recursion limit") {
        "values are nested too deeply"
    } else {
        "this is neither a section, a key with its value, nor a comment"
    };
    format!("This is not valid TOML: {what}.")
}
