//! The condition that keeps a statement inside a scope.

use uuid::Uuid;

use crate::domain::company::access::standing::Scope;
use crate::store::engine::Query;
use crate::store::row;

/// A condition on rows, as text with placeholders and the values for them.
///
/// The company comes first and always; the projects only where the scope is not the whole
/// company, each with a placeholder of its own, so that an index on the project is used.
#[derive(Debug)]
pub struct Condition {
    pub text: String,
    values: Vec<String>,
}

impl Condition {
    /// The rows of a scope: `company` and `project` are columns of the statement, and `next` is
    /// the number of the first placeholder that is free in it.
    pub fn of(scope: &Scope, company: &str, project: &str, next: usize) -> Self {
        let mut values = vec![row::id(scope.company())];
        let mut text = format!("{company} = ${next}");
        if let Some(projects) = scope.projects() {
            text.push_str(&format!(" AND {}", one_of(project, projects.len(), next + 1)));
            values.extend(projects.iter().copied().map(row::id));
        }
        Self { text, values }
    }

    /// Gives the placeholders their values.
    pub fn bind<'q>(self, query: Query<'q>) -> Query<'q> {
        self.values.into_iter().fold(query, Query::bind)
    }

    /// How many placeholders there are.
    pub fn count(&self) -> usize {
        self.values.len()
    }
}

/// That a column has one of so many values, whose placeholders begin at `next`. None is one of no
/// values.
pub fn one_of(column: &str, count: usize, next: usize) -> String {
    if count == 0 {
        return "1 = 0".to_owned();
    }
    let placeholders: Vec<String> =
        (next..next + count).map(|number| format!("${number}")).collect();
    format!("{column} IN ({})", placeholders.join(", "))
}

/// Gives placeholders their ids.
pub fn bind_ids<'q>(query: Query<'q>, ids: &[Uuid]) -> Query<'q> {
    ids.iter().fold(query, |query, id| query.bind(row::id(*id)))
}
