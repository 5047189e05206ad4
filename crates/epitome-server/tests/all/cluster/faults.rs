//! What can go wrong with a PostgreSQL server under a running proxy: requests go through, health and metrics say it, it is well
//! again by itself, and nothing that was acknowledged is lost.

use std::path::Path;
use std::process::Command;

use epitome_server::{Server, StartError, StoreLocation};
use epitome_store::{AnyStore, CompactionState, Error, Store};
use epitome_testkit::postgres::{self, Cluster};
use epitome_testkit::{ScriptedModel, Wire};
use serde_json::Value;

use super::{metric, model, stored_compactions, stored_messages};
use crate::support::{
    Proxy, action, assistant, config, eventually_async, history, raw_messages, report_skip,
    request, user,
};

const WINDOW: u64 = 6_000;

const CUT: &str = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
    WHERE application_name = 'epitome'";

async fn post(proxy: &Proxy, messages: &[Value]) -> (String, String) {
    let body = request(Wire::OpenaiChat, "m", messages.to_vec());
    let received = proxy.post(Wire::OpenaiChat, &body).await;
    assert_eq!(received.status, 200, "{received:?}");
    let (action, reason) = action(&received);
    (action.to_owned(), reason.to_owned())
}

/// The messages as the client sends them.
fn as_sent(messages: &[Value]) -> Vec<String> {
    let body = request(Wire::OpenaiChat, "m", messages.to_vec()).to_string();
    let messages = raw_messages(body.as_bytes()).into_iter();
    messages.map(ToOwned::to_owned).collect()
}

/// A server with a fault that comes and goes.
async fn check(url: &str, read_by: &str, mut begin: impl AsyncFnMut(), mut end: impl AsyncFnMut()) {
    let model = ScriptedModel::start(model(WINDOW)).await;
    let mut config = config(model.address());
    config.window_tokens = Some(WINDOW);
    config.store = StoreLocation::Url(url.to_owned());
    let proxy = Proxy::start(config).await;
    let mut before = vec![user("What is kept before anything happens?")];
    post(&proxy, &before).await;
    let reader = AnyStore::open(read_by).await.unwrap();
    eventually_async("the first words are stored", async || {
        !stored_messages(&reader).await.is_empty()
    })
    .await;
    assert_eq!(proxy.health().await["status"], "ok");

    begin().await;
    let mut long = history(1, 12, 400);
    let said = post(&proxy, &long).await;
    assert_eq!(said, ("compacted".to_owned(), "hard_line".to_owned()));
    before.extend([assistant("Everything."), user("And in the middle of it?")]);
    eventually_async("health says it", async || {
        let said = post(&proxy, &before).await;
        assert_eq!(said, ("passthrough".to_owned(), "below_line".to_owned()));
        proxy.health().await["status"] == "degraded"
    })
    .await;
    let health = proxy.health().await;
    assert!(health["why"].to_string().contains("store"), "{health}");
    let told = metric(&proxy, "epitome_store_failures_total").await
        + metric(&proxy, "epitome_store_deadlines_total").await;
    assert!(told > 0, "the metrics do not say it");

    end().await;
    long.extend([assistant("The last answer."), user("Go on.")]);
    assert_eq!(post(&proxy, &long).await.0, "compacted");
    eventually_async("it is well again by itself", async || {
        post(&proxy, &before).await;
        post(&proxy, &long).await;
        proxy.health().await["status"] == "ok"
    })
    .await;
    let (before, long) = (as_sent(&before), as_sent(&long));
    eventually_async("everything is stored", async || {
        post(&proxy, &[user("Another one, so that somebody writes.")]).await;
        let stored = stored_messages(&reader).await;
        let rows = stored_compactions(&reader).await;
        let is_published =
            |row: &epitome_store::CompactionRow| row.state == CompactionState::Published;
        stored.contains(&before) && stored.contains(&long) && rows.iter().any(is_published)
    })
    .await;
    proxy.stop().await;
    reader.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_password_that_is_wrong_for_a_while() {
    let Some(cluster) = postgres::own_cluster() else {
        return;
    };
    let url = cluster.url("postgres");
    cluster.run("CREATE ROLE locked LOGIN SUPERUSER PASSWORD 'right'");
    let locked = url.replace("postgres@", "locked:right@");
    check(
        &locked,
        &url,
        async || {
            cluster.run("ALTER ROLE locked PASSWORD 'other'");
            cluster.run(CUT);
        },
        async || {
            cluster.run("ALTER ROLE locked PASSWORD 'right'");
        },
    )
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_gone_for_a_while() {
    let Some(cluster) = postgres::own_cluster() else {
        return;
    };
    let url = cluster.url("postgres");
    let cluster = std::cell::RefCell::new(cluster);
    let (kill, start) = (
        async || cluster.borrow_mut().kill(),
        async || cluster.borrow_mut().start_again(),
    );
    check(&url, &url, kill, start).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_replica_that_only_reads_for_a_while() {
    let Some(cluster) = postgres::own_cluster() else {
        return;
    };
    let url = cluster.url("postgres");
    let read_only = |on: &str| {
        // Who connects from now on finds it so.
        cluster.run(&format!(
            "ALTER SYSTEM SET default_transaction_read_only = {on}"
        ));
        cluster.run("SELECT pg_reload_conf()");
        cluster.run(CUT);
    };
    check(
        &url,
        &url,
        async || read_only("on"),
        async || read_only("off"),
    )
    .await;
}

/// Somebody holds every connection that the server has.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_connection_is_free_for_a_while() {
    let Some(cluster) = postgres::own_cluster() else {
        return;
    };
    let url = cluster.url("postgres");
    cluster.run("CREATE ROLE guest LOGIN");
    cluster.run("GRANT ALL ON SCHEMA public TO guest");
    let guest = url.replace("postgres@", "guest@");
    check(
        &guest,
        &url,
        async || {
            cluster.run("ALTER ROLE guest CONNECTION LIMIT 0");
            cluster.run(CUT);
        },
        async || {
            cluster.run("ALTER ROLE guest CONNECTION LIMIT -1");
        },
    )
    .await;
}

/// Somebody else keeps the tables to himself: every question waits.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_that_take_for_ever_for_a_while() {
    let Some(cluster) = postgres::own_cluster() else {
        return;
    };
    let url = cluster.url("postgres");
    let (slow, quick) = (locking(&url), url.clone());
    let mut slow = Some(slow);
    let holder = std::cell::RefCell::new(None);
    check(
        &format!("{quick}&max_connections=3"),
        &url,
        async || {
            let held = slow.take().unwrap().await;
            holder.replace(Some(held));
        },
        async || drop(holder.take()),
    )
    .await;
}

async fn locking(url: &str) -> sqlx::PgConnection {
    use sqlx::Connection as _;
    let mut somebody = sqlx::PgConnection::connect(url).await.unwrap();
    sqlx::raw_sql("BEGIN; LOCK TABLE nodes, conversations, compactions, counted")
        .execute(&mut somebody)
        .await
        .unwrap();
    somebody
}

/// A disk of the database's own, too small.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_disk_that_is_full_for_a_while() {
    let Some(cluster) = postgres::own_cluster() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let Some(_disk) = Disk::mount(folder.path(), &cluster) else {
        return;
    };
    let disk = folder.path().display();
    cluster.run(&format!("CREATE TABLESPACE small LOCATION '{disk}/space'"));
    cluster.run("CREATE DATABASE small TABLESPACE small");
    let url = cluster.url("small");
    let filler = folder.path().join("filler");
    check(
        &url,
        &url,
        async || {
            let status = Command::new("sh")
                .arg("-c")
                .arg(format!("cat /dev/zero > {} 2>/dev/null", filler.display()))
                .status();
            assert!(!status.unwrap().success(), "the disk is not full");
        },
        async || std::fs::remove_file(&filler).unwrap(),
    )
    .await;
}

/// Gone when dropped.
struct Disk<'p>(&'p Path);

impl<'p> Disk<'p> {
    fn mount(place: &'p Path, cluster: &Cluster) -> Option<Self> {
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=40m,mode=777", "tmpfs"])
            .arg(place)
            .output();
        let is_mounted = mounted.as_ref().is_ok_and(|output| output.status.success());
        if !is_mounted {
            report_skip(
                "postgres on a full disk",
                "only root may mount a disk of its own",
            );
            return None;
        }
        let disk = Self(place);
        cluster.own_folder(&place.join("space"));
        Some(disk)
    }
}

impl Drop for Disk<'_> {
    fn drop(&mut self) {
        // The server still has files open there.
        let _ = Command::new("umount").arg("-l").arg(self.0).status();
    }
}

/// A later version has brought the database up to date: who runs goes on, who starts says why he does not.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_newer_schema_is_said() {
    let Some(database) = postgres::database().await else {
        return;
    };
    let model = ScriptedModel::start(model(WINDOW)).await;
    let mut config = config(model.address());
    config.window_tokens = Some(WINDOW);
    config.store = StoreLocation::Url(database.url().to_owned());
    let proxy = Proxy::start(config.clone()).await;
    post(&proxy, &[user("hello")]).await;
    use sqlx::Connection as _;
    let mut somebody = sqlx::PgConnection::connect(database.url()).await.unwrap();
    sqlx::raw_sql("INSERT INTO epitome_migrations (version, checksum) VALUES (99, '')")
        .execute(&mut somebody)
        .await
        .unwrap();
    let refused = Server::bind(config).await.err();
    let Some(StartError::Store { source, .. }) = refused else {
        panic!("{refused:?}");
    };
    assert!(
        matches!(source, Error::NewerSchema { found: 99, .. }),
        "{source:?}"
    );
    let said = post(&proxy, &history(1, 12, 400)).await;
    assert_eq!(said, ("compacted".to_owned(), "hard_line".to_owned()));
    assert_eq!(proxy.health().await["status"], "ok");
    proxy.stop().await;
}
