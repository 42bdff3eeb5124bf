//! The URIs of the resources: the one place that knows their form.

use std::fmt;
use std::str::FromStr;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use strum::{EnumIter, IntoEnumIterator};

/// The five kinds of resources, in the order in which they are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, EnumIter)]
pub enum Resource {
    /// The policies that would run for a project. By the project's UUID.
    Policies,
    /// A decision in full. By display ID or UUID, as are the following.
    Decision,
    /// What happened to a task and its decisions.
    Timeline,
    /// A review with its findings.
    Review,
    /// A project's conventions.
    Conventions,
}

impl Resource {
    /// The URI template, with the id's name in braces.
    pub fn template(self) -> &'static str {
        match self {
            Self::Policies => "govforge://project/{project_id}/policies",
            Self::Decision => "govforge://decision/{decision_id}",
            Self::Timeline => "govforge://task/{task_id}/timeline",
            Self::Review => "govforge://review/{review_id}",
            Self::Conventions => "govforge://project/{project_id}/conventions",
        }
    }

    /// What stands before and after the id.
    fn around(self) -> (&'static str, &'static str) {
        let template = self.template();
        let before = template.find('{').unwrap_or(template.len());
        let after = template.find('}').map_or(template.len(), |brace| brace + 1);
        (&template[..before], &template[after..])
    }
}

/// A resource of one record.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ResourceUri {
    /// Which kind.
    pub resource: Resource,
    /// The id of the record it is about, as the caller wrote it: decoded, without surrounding
    /// blanks, not checked further.
    pub id: String,
}

/// The text is no URI of a resource.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no resource has this URI; the forms are {}", forms())]
pub struct NoSuchForm;

fn forms() -> String {
    Resource::iter().map(Resource::template).collect::<Vec<_>>().join(", ")
}

impl fmt::Display for ResourceUri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// All but the unreserved characters of RFC 3986, section 2.3.
        const RESERVED: &AsciiSet =
            &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
        let (before, after) = self.resource.around();
        write!(f, "{before}{}{after}", utf8_percent_encode(&self.id, RESERVED))
    }
}

/// Reads a URI with scheme and segments in any case, with surrounding blanks or a slash at its
/// end. The id may hold slashes, encoded or not: `web/DEC-001` names a project's decision.
impl FromStr for ResourceUri {
    type Err = NoSuchForm;

    fn from_str(uri: &str) -> Result<Self, NoSuchForm> {
        let uri = uri.trim();
        let uri = uri.strip_suffix('/').unwrap_or(uri);
        Resource::iter()
            .find_map(|resource| {
                let (before, after) = resource.around();
                let id = strip_suffix(strip_prefix(uri, before)?, after)?;
                let id = percent_decode_str(id).decode_utf8().ok()?.trim().to_owned();
                (!id.is_empty()).then_some(Self { resource, id })
            })
            .ok_or(NoSuchForm)
    }
}

/// As `str::strip_prefix`, in any case.
fn strip_prefix<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let (start, rest) = text.split_at_checked(prefix.len())?;
    start.eq_ignore_ascii_case(prefix).then_some(rest)
}

/// As `str::strip_suffix`, in any case.
fn strip_suffix<'a>(text: &'a str, suffix: &str) -> Option<&'a str> {
    let (rest, end) = text.split_at_checked(text.len().checked_sub(suffix.len())?)?;
    end.eq_ignore_ascii_case(suffix).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uri(resource: Resource, id: &str) -> ResourceUri {
        ResourceUri { resource, id: id.into() }
    }

    #[test]
    fn what_is_shown_reads_back() {
        for resource in Resource::iter() {
            for id in ["DEC-001", "web/DEC-001", "a b%2F/ü", "0197f2d4-3c1b-7a20-9d1e-2b6f0c9a8e77"]
            {
                let uri = uri(resource, id);
                assert_eq!(uri.to_string().parse(), Ok(uri));
            }
        }
    }

    #[test]
    fn shows_ids_encoded() {
        let cases = [
            (uri(Resource::Decision, "DEC-001"), "govforge://decision/DEC-001"),
            (uri(Resource::Decision, "my web/DEC-001"), "govforge://decision/my%20web%2FDEC-001"),
            (uri(Resource::Timeline, "TASK-7"), "govforge://task/TASK-7/timeline"),
            (uri(Resource::Policies, "0197f2d4"), "govforge://project/0197f2d4/policies"),
        ];
        for (uri, shown) in cases {
            assert_eq!(uri.to_string(), shown);
        }
    }

    #[test]
    fn reads_the_spellings_of_clients() {
        let cases = [
            ("GovForge://Decision/dec-001", uri(Resource::Decision, "dec-001")),
            (" govforge://decision/DEC-001/ ", uri(Resource::Decision, "DEC-001")),
            ("govforge://decision/web%2FDEC-001", uri(Resource::Decision, "web/DEC-001")),
            ("govforge://decision/web/DEC-001", uri(Resource::Decision, "web/DEC-001")),
            ("govforge://task/web/TASK-001/timeline", uri(Resource::Timeline, "web/TASK-001")),
            ("govforge://project/a1/Conventions", uri(Resource::Conventions, "a1")),
            ("govforge://review/%20REV-001", uri(Resource::Review, "REV-001")),
        ];
        for (text, expected) in cases {
            assert_eq!(text.parse(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn refuses_everything_else_and_names_the_forms() {
        for text in [
            "",
            "govforge://",
            "govforge://decision",
            "govforge://decision/",
            "govforge://decision/%20",
            "govforge://decision/%ff",
            "govforge://task/TASK-001",
            "govforge://task/timeline",
            "govforge://project//policies",
            "govforge://project/a1/rules",
            "file:///etc/passwd",
            "gövforge://decision/DEC-001",
        ] {
            assert_eq!(text.parse::<ResourceUri>(), Err(NoSuchForm), "{text}");
        }
        assert_eq!(
            NoSuchForm.to_string(),
            "no resource has this URI; the forms are govforge://project/{project_id}/policies, \
             govforge://decision/{decision_id}, govforge://task/{task_id}/timeline, \
             govforge://review/{review_id}, govforge://project/{project_id}/conventions"
        );
    }
}
