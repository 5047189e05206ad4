//! What is believed of models, for all tenants.

use super::PostgresStore;
use super::connections::Connections;
use super::decode;
use super::query::{query, signed};
use crate::statements as sql;
use crate::{BeliefRow, Beliefs, LearnedWindow, Result};

impl Beliefs for PostgresStore {
    fn learn_window(
        &self,
        endpoint: &str,
        model: &str,
        window_tokens: u64,
        at_ms: i64,
    ) -> impl Future<Output = Result<()>> + Send {
        window(&self.connections, endpoint, model, window_tokens, at_ms)
    }

    fn learned_windows(&self) -> impl Future<Output = Result<Vec<LearnedWindow>>> + Send {
        windows(&self.connections)
    }

    fn save_belief(&self, belief: &BeliefRow) -> impl Future<Output = Result<()>> + Send {
        save(&self.connections, belief)
    }

    fn beliefs(&self) -> impl Future<Output = Result<Vec<BeliefRow>>> + Send {
        beliefs(&self.connections)
    }

    fn belief(
        &self,
        endpoint: &str,
        model: &str,
    ) -> impl Future<Output = Result<Option<BeliefRow>>> + Send {
        belief(&self.connections, endpoint, model)
    }

    fn forget_belief(
        &self,
        endpoint: &str,
        model: &str,
    ) -> impl Future<Output = Result<bool>> + Send {
        forget_belief(&self.connections, endpoint, model)
    }
}

async fn window(
    connections: &Connections,
    endpoint: &str,
    model: &str,
    window_tokens: u64,
    at_ms: i64,
) -> Result<()> {
    let mut transaction = connections.begin().await?;
    query(sql::UPSERT_WINDOW)
        .bind(endpoint.as_bytes())
        .bind(model.as_bytes())
        .bind(signed(window_tokens))
        .bind(at_ms)
        .execute(&mut *transaction)
        .await?;
    transaction.commit().await?;
    Ok(())
}

async fn windows(connections: &Connections) -> Result<Vec<LearnedWindow>> {
    let mut transaction = connections.begin().await?;
    let rows = query(sql::SELECT_WINDOWS)
        .fetch_all(&mut *transaction)
        .await?;
    rows.iter().map(decode::window).collect()
}

async fn save(connections: &Connections, belief: &BeliefRow) -> Result<()> {
    let mut transaction = connections.begin().await?;
    query(sql::UPSERT_BELIEF)
        .bind(belief.endpoint.as_bytes())
        .bind(belief.model.as_bytes())
        .bind(belief.window.as_ref().map(String::as_bytes))
        .bind(belief.counts.as_ref().map(String::as_bytes))
        .bind(belief.at_ms)
        .execute(&mut *transaction)
        .await?;
    transaction.commit().await?;
    Ok(())
}

async fn beliefs(connections: &Connections) -> Result<Vec<BeliefRow>> {
    let mut transaction = connections.begin().await?;
    let rows = query(sql::SELECT_BELIEFS)
        .fetch_all(&mut *transaction)
        .await?;
    rows.iter().map(decode::belief).collect()
}

async fn belief(
    connections: &Connections,
    endpoint: &str,
    model: &str,
) -> Result<Option<BeliefRow>> {
    let mut transaction = connections.begin().await?;
    let row = query(sql::SELECT_BELIEF)
        .bind(endpoint.as_bytes())
        .bind(model.as_bytes())
        .fetch_optional(&mut *transaction)
        .await?;
    row.as_ref().map(decode::belief).transpose()
}

async fn forget_belief(connections: &Connections, endpoint: &str, model: &str) -> Result<bool> {
    let mut gone = 0;
    let mut transaction = connections.begin().await?;
    for statement in [sql::DELETE_BELIEF, sql::DELETE_WINDOW] {
        let done = query(statement)
            .bind(endpoint.as_bytes())
            .bind(model.as_bytes())
            .execute(&mut *transaction)
            .await?;
        gone += done.rows_affected();
    }
    transaction.commit().await?;
    Ok(gone > 0)
}
