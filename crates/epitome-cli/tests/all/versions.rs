//! Databases of other versions: a later one is refused, an earlier one is used.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use epitome_store::{AnyStore, Compactions, Conversations, Store, TenantId};
use epitome_testkit::museum::{Version, versions};
use serde_json::Value;
use sqlx::Connection;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};

use crate::support::{epitome, json, stderr};

fn location(path: &Path) -> String {
    format!("sqlite:{}", path.display())
}

fn run(path: &Path, arguments: &[&str]) -> Output {
    let mut command = epitome();
    command.args(arguments).args(["--store", &location(path)]);
    command.output().unwrap()
}

async fn connection(path: &Path) -> SqliteConnection {
    let options = SqliteConnectOptions::new().filename(path);
    SqliteConnection::connect_with(&options).await.unwrap()
}

async fn schema_version(path: &Path) -> i64 {
    let mut connection = connection(path).await;
    let version = sqlx::query_scalar("SELECT max(version) FROM _sqlx_migrations")
        .fetch_one(&mut connection)
        .await
        .unwrap();
    connection.close().await.unwrap();
    version
}

/// A database as a version will write it whose schema nobody knows yet.
async fn of_a_later_version(path: &Path) {
    AnyStore::open(&location(path)).await.unwrap().close().await;
    let mut connection = connection(path).await;
    sqlx::query(
        "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) \
        VALUES (99, 'later', TRUE, x'00', 0)",
    )
    .execute(&mut connection)
    .await
    .unwrap();
    connection.close().await.unwrap();
}

#[tokio::test]
async fn a_later_database_is_refused_by_every_command_and_stays_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.db");
    of_a_later_version(&path).await;
    let before = fs::read(&path).unwrap();
    let commands: [&[&str]; 12] = [
        &["pins", "--session", "talk"],
        &["pins", "--session", "talk", "--drop", "1"],
        &["log"],
        &["log", "--session", "talk"],
        &["show", "k1"],
        &["show", "--entry", &"a".repeat(64)],
        &["recall", "--session", "talk", "words"],
        &["models"],
        &["models", "--forget", "scripted"],
        &["undo", "--session", "talk"],
        &["fork", "--session", "talk", "--at", "1"],
        &["serve", "--listen", "127.0.0.1:0"],
    ];
    for arguments in commands {
        let output = run(&path, arguments);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        for words in [
            "a later version of epitome wrote this store",
            "version 99",
            "use that version",
            "log.db",
        ] {
            assert!(
                said.contains(words),
                "{arguments:?}: no {words:?} in {said}"
            );
        }
        assert_eq!(said.trim_end().lines().count(), 1, "{arguments:?}: {said}");
        assert_eq!(fs::read(&path).unwrap(), before, "{arguments:?}");
    }
}

/// A copy of what the proxy of a version stored, with a conversation that has a compaction in force.
fn copy(version: &Version, folder: &Path) -> (PathBuf, String, String) {
    let path = folder.join("log.db");
    version.copy("proxy", "log.db", &path);
    let manifest = version.manifest("proxy");
    let conversations = manifest
        .get("conversations")
        .and_then(Value::as_array)
        .unwrap();
    let found = conversations.iter().find_map(|one| {
        let compactions = one["compactions"].as_array()?;
        let newest = compactions
            .iter()
            .rfind(|row| row["state"] == "published")?;
        Some((one["session"].as_str()?, newest["id"].as_str()?))
    });
    let (session, compaction) = found.unwrap();
    (path, session.to_owned(), compaction.to_owned())
}

/// Commands that only read leave an earlier database to the version that wrote it; the first that writes brings it up
/// to date, and whoever was reading meanwhile goes on.
#[tokio::test]
async fn an_earlier_database_is_read_as_it_is_and_brought_up_to_date_by_the_first_write() {
    let folder = tempfile::tempdir().unwrap();
    let new = folder.path().join("new.db");
    AnyStore::open(&location(&new)).await.unwrap().close().await;
    let newest = schema_version(&new).await;
    let mut earlier = 0;
    for version in versions() {
        let folder = tempfile::tempdir().unwrap();
        let (path, session, compaction) = copy(&version, folder.path());
        let before = fs::read(&path).unwrap();
        let written = schema_version(&path).await;
        earlier += usize::from(written < newest);
        let reading: [&[&str]; 5] = [
            &["pins", "--session", &session],
            &["log", "--session", &session],
            &["show", &compaction],
            &["recall", "--session", &session, "vendor"],
            &["models"],
        ];
        let read = |when: &str| -> Vec<Value> {
            let answers = reading.iter().map(|arguments| {
                let output = run(&path, &[arguments, &["--json"][..]].concat());
                let said = stderr(&output);
                assert_eq!(
                    output.status.code(),
                    Some(0),
                    "{when}: {arguments:?}: {said}"
                );
                json(&output)
            });
            answers.collect()
        };
        let found = read("before");
        assert_eq!(fs::read(&path).unwrap(), before, "{}", version.name());
        assert_eq!(schema_version(&path).await, written, "{}", version.name());

        let tenant = TenantId::local();
        let reader = AnyStore::open_read_only(&location(&path)).await.unwrap();
        let conversations = reader.conversations(&tenant, 100).await.unwrap();
        let output = run(&path, &["fork", "--session", &session, "--at", "1"]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert_eq!(schema_version(&path).await, newest, "{}", version.name());
        let now = reader.conversations(&tenant, 100).await.unwrap();
        assert_eq!(now.len(), conversations.len() + 1, "{}", version.name());
        let row = reader.compaction(&tenant, &compaction).await.unwrap();
        assert!(row.is_some(), "{}", version.name());
        reader.close().await;
        assert_eq!(read("after"), found, "{}", version.name());
    }
    assert!(earlier > 0, "no database of an earlier schema is kept");
}
