//! What is believed of models, for all tenants.

use sqlx::SqlitePool;

use super::SqliteStore;
use super::arguments::signed;
use super::decode;
use super::transaction::begin;
use crate::statements as sql;
use crate::{BeliefRow, Beliefs, LearnedWindow, Result};

const COUNT_TABLES: &str =
    "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'beliefs'";

impl Beliefs for SqliteStore {
    fn learn_window(
        &self,
        endpoint: &str,
        model: &str,
        window_tokens: u64,
        at_ms: i64,
    ) -> impl Future<Output = Result<()>> + Send {
        window(&self.writer, endpoint, model, window_tokens, at_ms)
    }

    fn learned_windows(&self) -> impl Future<Output = Result<Vec<LearnedWindow>>> + Send {
        windows(&self.readers)
    }

    fn save_belief(&self, belief: &BeliefRow) -> impl Future<Output = Result<()>> + Send {
        save(&self.writer, belief)
    }

    fn beliefs(&self) -> impl Future<Output = Result<Vec<BeliefRow>>> + Send {
        beliefs(&self.readers)
    }

    fn belief(
        &self,
        endpoint: &str,
        model: &str,
    ) -> impl Future<Output = Result<Option<BeliefRow>>> + Send {
        belief(&self.readers, endpoint, model)
    }

    fn forget_belief(
        &self,
        endpoint: &str,
        model: &str,
    ) -> impl Future<Output = Result<bool>> + Send {
        forget_belief(&self.writer, endpoint, model)
    }
}

async fn window(
    writer: &SqlitePool,
    endpoint: &str,
    model: &str,
    window_tokens: u64,
    at_ms: i64,
) -> Result<()> {
    sqlx::query(sql::UPSERT_WINDOW)
        .bind(endpoint)
        .bind(model)
        .bind(signed(window_tokens))
        .bind(at_ms)
        .execute(writer)
        .await?;
    Ok(())
}

async fn windows(readers: &SqlitePool) -> Result<Vec<LearnedWindow>> {
    let rows = sqlx::query(sql::SELECT_WINDOWS).fetch_all(readers).await?;
    rows.iter().map(decode::window).collect()
}

async fn save(writer: &SqlitePool, belief: &BeliefRow) -> Result<()> {
    sqlx::query(sql::UPSERT_BELIEF)
        .bind(&belief.endpoint)
        .bind(&belief.model)
        .bind(&belief.window)
        .bind(&belief.counts)
        .bind(belief.at_ms)
        .execute(writer)
        .await?;
    Ok(())
}

async fn beliefs(readers: &SqlitePool) -> Result<Vec<BeliefRow>> {
    // A file of an earlier version that may only be read has no such table.
    let tables: i64 = sqlx::query_scalar(COUNT_TABLES).fetch_one(readers).await?;
    if tables == 0 {
        return Ok(Vec::new());
    }
    let rows = sqlx::query(sql::SELECT_BELIEFS).fetch_all(readers).await?;
    rows.iter().map(decode::belief).collect()
}

async fn belief(readers: &SqlitePool, endpoint: &str, model: &str) -> Result<Option<BeliefRow>> {
    let row = sqlx::query(sql::SELECT_BELIEF)
        .bind(endpoint)
        .bind(model)
        .fetch_optional(readers)
        .await?;
    row.as_ref().map(decode::belief).transpose()
}

async fn forget_belief(writer: &SqlitePool, endpoint: &str, model: &str) -> Result<bool> {
    let mut gone = 0;
    let mut transaction = begin(writer).await?;
    for statement in [sql::DELETE_BELIEF, sql::DELETE_WINDOW] {
        let done = sqlx::query(statement)
            .bind(endpoint)
            .bind(model)
            .execute(&mut *transaction)
            .await?;
        gone += done.rows_affected();
    }
    transaction.commit().await?;
    Ok(gone > 0)
}
