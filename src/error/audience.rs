//! Whom a refusal tells.

/// Who reads a message. A refusal is made once, where the rule is, and read by both: what one
/// of them calls or types to go on means nothing to the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Audience {
    /// An agent, which sends parameters and calls tools.
    Agent,
    /// A person, who types verbs.
    Person,
}

impl Audience {
    /// What this audience is told of the two.
    pub fn pick<T>(self, agent: T, person: T) -> T {
        match self {
            Self::Agent => agent,
            Self::Person => person,
        }
    }

    /// The name of a parameter and a blank, to stand before its value; nothing for a person, who
    /// typed the value alone.
    pub fn parameter(self, name: &str) -> String {
        self.pick(format!("{name} "), String::new())
    }

    /// How to try once more, in the middle of a sentence.
    pub fn again(self) -> &'static str {
        self.pick("send the call again", "run this again")
    }
}
