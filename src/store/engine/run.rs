//! Running a statement on whichever engine holds the ledger.

use super::connection::{Connection, Driver};
use super::query::Query;
use super::sqlite::statement as sqlite;
use crate::error::{Fault, Result};
use crate::store::row::{Columns as _, Row};

impl Query<'_> {
    /// Runs a statement whose rows nobody reads.
    ///
    /// # Errors
    ///
    /// Refuses what the engine has words for, such as a full disk; faults on the rest.
    pub async fn execute(self, connection: &mut Connection) -> Result<()> {
        match &mut connection.0 {
            Driver::Sqlite(driver) => Ok(sqlite::execute(driver, self).await?),
        }
    }

    /// Every row.
    ///
    /// # Errors
    ///
    /// As [`execute`](Self::execute).
    pub async fn fetch_all(self, connection: &mut Connection) -> Result<Vec<Row>> {
        match &mut connection.0 {
            Driver::Sqlite(driver) => Ok(sqlite::fetch_all(driver, self).await?),
        }
    }

    /// The first row, if there is one.
    ///
    /// # Errors
    ///
    /// As [`execute`](Self::execute).
    pub async fn fetch_optional(self, connection: &mut Connection) -> Result<Option<Row>> {
        match &mut connection.0 {
            Driver::Sqlite(driver) => Ok(sqlite::fetch_optional(driver, self).await?),
        }
    }

    /// The first row of a statement that always gives one.
    ///
    /// # Errors
    ///
    /// As [`execute`](Self::execute), and faults without a row.
    pub async fn fetch_one(self, connection: &mut Connection) -> Result<Row> {
        let row = self.fetch_optional(connection).await?;
        row.ok_or_else(|| Fault::new("a statement gave no row").into())
    }

    /// The integer that a statement gives as its one row's `number`.
    ///
    /// # Errors
    ///
    /// As [`fetch_one`](Self::fetch_one).
    pub async fn fetch_number(self, connection: &mut Connection) -> Result<i64> {
        self.fetch_one(connection).await?.integer("number")
    }

    /// Shows each row as it comes, so that not all of them are in memory at once.
    ///
    /// # Errors
    ///
    /// As [`execute`](Self::execute), and the first that `see` gives.
    pub async fn for_each(
        self,
        connection: &mut Connection,
        see: impl FnMut(&Row) -> Result<()>,
    ) -> Result<()> {
        match &mut connection.0 {
            Driver::Sqlite(driver) => sqlite::for_each(driver, self, see).await,
        }
    }

    /// Runs statements that stand in one text, separated by semicolons, and gives the rows of
    /// each. `$1` is the same value in all of them.
    ///
    /// Each hand-over to the engine and back takes longer than a small statement, so what needs
    /// many of them hands them over together.
    ///
    /// # Errors
    ///
    /// As [`execute`](Self::execute), for the first that fails; those after it did not run.
    pub async fn fetch_of_each(self, connection: &mut Connection) -> Result<Vec<Vec<Row>>> {
        match &mut connection.0 {
            Driver::Sqlite(driver) => Ok(sqlite::fetch_of_each(driver, self).await?),
        }
    }

    /// As [`fetch_of_each`](Self::fetch_of_each), for as many statements as there are.
    ///
    /// # Errors
    ///
    /// Also where a statement gave no end.
    pub async fn fetch_of_all<const COUNT: usize>(
        self,
        connection: &mut Connection,
    ) -> Result<[Vec<Row>; COUNT]> {
        let all = self.fetch_of_each(connection).await?;
        all.try_into().map_err(|_all| Fault::new("a statement gave no end").into())
    }
}
