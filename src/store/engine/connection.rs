//! What every statement runs on: a transaction of whichever engine holds the ledger.

use sqlx::Sqlite;

use super::sqlite::statement;

/// A transaction on the ledger; dropped without a commit it is rolled back.
#[derive(Debug)]
pub struct Connection(pub(super) Driver);

/// sqlx's own drivers, one for each engine.
#[derive(Debug)]
pub(super) enum Driver {
    Sqlite(sqlx::Transaction<'static, Sqlite>),
}

impl Connection {
    pub(super) fn sqlite(transaction: sqlx::Transaction<'static, Sqlite>) -> Self {
        Self(Driver::Sqlite(transaction))
    }

    /// Prepares for a walk through the whole ledger.
    ///
    /// # Errors
    ///
    /// As for any statement.
    pub async fn read_all_of_it(&mut self) -> sqlx::Result<()> {
        match &mut self.0 {
            Driver::Sqlite(driver) => statement::map_file(driver).await,
        }
    }

    pub(super) async fn commit(self) -> sqlx::Result<()> {
        match self.0 {
            Driver::Sqlite(transaction) => transaction.commit().await,
        }
    }
}
