//! Running statements on SQLite.

use futures_util::TryStreamExt as _;
use sqlx::sqlite::SqliteArguments;
use sqlx::{Arguments as _, AssertSqlSafe, Either, Executor as _, Sqlite, SqliteConnection};

use crate::error::Result;
use crate::store::engine::query::{Argument, Query};
use crate::store::row::Row;

type Prepared = sqlx::query::Query<'static, Sqlite, SqliteArguments>;

pub async fn execute(connection: &mut SqliteConnection, query: Query<'_>) -> sqlx::Result<()> {
    prepare(query)?.execute(connection).await.map(drop)
}

pub async fn fetch_all(
    connection: &mut SqliteConnection,
    query: Query<'_>,
) -> sqlx::Result<Vec<Row>> {
    prepare(query)?.fetch(connection).map_ok(Row::from).try_collect().await
}

pub async fn fetch_optional(
    connection: &mut SqliteConnection,
    query: Query<'_>,
) -> sqlx::Result<Option<Row>> {
    Ok(prepare(query)?.fetch_optional(connection).await?.map(Row::from))
}

pub async fn for_each(
    connection: &mut SqliteConnection,
    query: Query<'_>,
    mut see: impl FnMut(&Row) -> Result<()>,
) -> Result<()> {
    let mut rows = prepare(query)?.fetch(connection);
    while let Some(row) = rows.try_next().await? {
        see(&Row::from(row))?;
    }
    Ok(())
}

/// sqlx discourages several statements in one text because no other database can take their
/// values.
pub async fn fetch_of_each(
    connection: &mut SqliteConnection,
    query: Query<'_>,
) -> sqlx::Result<Vec<Vec<Row>>> {
    let mut steps = connection.fetch_many(prepare(query)?);
    let mut all = Vec::new();
    let mut rows = Vec::new();
    while let Some(step) = steps.try_next().await? {
        match step {
            Either::Right(row) => rows.push(Row::from(row)),
            Either::Left(_end) => all.push(std::mem::take(&mut rows)),
        }
    }
    Ok(all)
}

fn prepare(query: Query<'_>) -> sqlx::Result<Prepared> {
    let mut arguments = SqliteArguments::default();
    for argument in query.arguments {
        match argument {
            Argument::Text(text) => arguments.add(text.map(|text| text.into_owned())),
            Argument::Integer(number) => arguments.add(number),
            Argument::Boolean(value) => arguments.add(value),
            Argument::Bytes(bytes) => arguments.add(bytes.map(|bytes| bytes.into_owned())),
        }
        .map_err(sqlx::Error::Encode)?;
    }
    Ok(sqlx::query_with(AssertSqlSafe(query.text), arguments))
}

/// Lets a connection read the file as memory while a walk goes through all of it: a good tenth
/// quicker. Should another program cut the file short meanwhile, the process ends, so this is
/// for one that does nothing else.
pub async fn map_file(connection: &mut SqliteConnection) -> sqlx::Result<()> {
    // 1 TiB, or as much as SQLite was built for.
    let map = sqlx::raw_sql("PRAGMA mmap_size = 1099511627776");
    map.execute(connection).await.map(drop)
}
