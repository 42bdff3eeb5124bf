//! Identifiers: display IDs such as `DEC-001`, and the references by which callers name
//! a record.

use std::fmt;

use uuid::Uuid;

use super::value::EntityType;

/// The kind of record that has display IDs, each with a sequence of its own per project.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// `TASK-001`
    Task,
    /// `DEC-001`
    Decision,
    /// `REV-001`
    Review,
}

impl Kind {
    /// The letters before the dash.
    pub fn prefix(self) -> &'static str {
        match self {
            Self::Task => "TASK",
            Self::Decision => "DEC",
            Self::Review => "REV",
        }
    }

    /// What a sentence calls it.
    pub fn noun(self) -> &'static str {
        EntityType::from(self).into()
    }
}

impl From<Kind> for EntityType {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Task => Self::Task,
            Kind::Decision => Self::Decision,
            Kind::Review => Self::Review,
        }
    }
}

/// A display ID: prefix, dash, number zero-padded to 3 digits and growing past them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct DisplayId {
    /// Which sequence.
    pub kind: Kind,
    /// The place in it, from 1 on.
    pub number: u64,
}

impl DisplayId {
    /// Reads a display ID of `kind` in any case, with surrounding blanks and with or without
    /// leading zeros. `None` if it is none.
    pub fn read(kind: Kind, text: &str) -> Option<Self> {
        let (prefix, digits) = text.trim().split_once('-')?;
        if !prefix.eq_ignore_ascii_case(kind.prefix())
            || !digits.bytes().all(|digit| digit.is_ascii_digit())
        {
            return None;
        }
        digits.parse().ok().filter(|number| *number > 0).map(|number| Self { kind, number })
    }
}

impl fmt::Display for DisplayId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{:03}", self.kind.prefix(), self.number)
    }
}

/// How a caller names a task, a decision or a review.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reference {
    /// By UUID, with or without dashes.
    Uuid(Uuid),
    /// By display ID, in the project of that name if one is given.
    Display {
        /// The part before the slash in `<project name>/DEC-001`.
        project: Option<String>,
        /// The display ID.
        id: DisplayId,
    },
}

impl Reference {
    /// Reads a reference to a record of `kind`; `None` if the text is none. The project's
    /// name may itself hold slashes: the last one counts.
    pub fn read(kind: Kind, text: &str) -> Option<Self> {
        let text = text.trim();
        if let Ok(uuid) = Uuid::try_parse(text) {
            return Some(Self::Uuid(uuid));
        }
        let (project, id) = match text.rsplit_once('/') {
            Some((project, id)) => (Some(project.trim().to_owned()), id),
            None => (None, text),
        };
        DisplayId::read(kind, id).map(|id| Self::Display { project, id })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn display_ids_pad_to_three_digits_and_grow() {
        for (number, text) in [(1, "DEC-001"), (999, "DEC-999"), (1000, "DEC-1000")] {
            assert_eq!(DisplayId { kind: Kind::Decision, number }.to_string(), text);
            assert_eq!(DisplayId::read(Kind::Decision, text).unwrap().number, number);
        }
    }

    #[test]
    fn reads_any_case_blanks_and_padding_but_no_other_kind() {
        let expected = Some(DisplayId { kind: Kind::Task, number: 7 });
        for text in ["TASK-007", " task-007 ", "Task-7", "task-0007"] {
            assert_eq!(DisplayId::read(Kind::Task, text), expected, "{text}");
        }
        for text in ["DEC-007", "TASK007", "TASK-", "TASK-0", "TASK-+7", "TASK-7a", "", "-7"] {
            assert_eq!(DisplayId::read(Kind::Task, text), None, "{text}");
        }
    }

    #[test]
    fn references_take_a_uuid_a_display_id_or_a_project_and_one() {
        let uuid = "0197f2d4-3c1b-7a20-9d1e-2b6f0c9a8e77";
        let dashless = uuid.replace('-', "");
        assert_eq!(Reference::read(Kind::Review, uuid), Reference::read(Kind::Review, &dashless));
        assert_eq!(
            Reference::read(Kind::Decision, "web/shop/dec-12"),
            Some(Reference::Display {
                project: Some("web/shop".into()),
                id: DisplayId { kind: Kind::Decision, number: 12 },
            })
        );
        assert_eq!(Reference::read(Kind::Decision, "the first one"), None);
    }
}
