//! A database that a later version wrote.

use epitome_engine::{Engine, EngineError};
use epitome_store::{AnyStore, Store};
use sqlx::Connection;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};

async fn start(location: &str) -> Result<Engine, EngineError> {
    let store = AnyStore::open(location).await?;
    Engine::builder().store(store).build().await
}

#[tokio::test]
async fn a_later_database_is_refused_with_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.db");
    let location = format!("sqlite:{}", path.display());
    AnyStore::open(&location).await.unwrap().close().await;
    let options = SqliteConnectOptions::new().filename(&path);
    let mut connection = SqliteConnection::connect_with(&options).await.unwrap();
    sqlx::query(
        "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) \
        VALUES (99, 'later', TRUE, x'00', 0)",
    )
    .execute(&mut connection)
    .await
    .unwrap();
    connection.close().await.unwrap();
    let before = std::fs::read(&path).unwrap();
    let refused = start(&location).await.unwrap_err().to_string();
    for words in [
        "a later version of epitome",
        "version 99",
        "use that version",
    ] {
        assert!(refused.contains(words), "{refused}");
    }
    assert_eq!(std::fs::read(&path).unwrap(), before);
}
