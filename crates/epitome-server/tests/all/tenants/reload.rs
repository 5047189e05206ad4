//! Tenants that change while the proxy runs and its store is slow or away.

use std::time::Duration;

use bytes::Bytes;
use epitome_server::{Config, TenantSettings};
use epitome_testkit::{ModelConfig, Wire};
use http::Request;
use http_body_util::Empty;
use sqlx::{Connection as _, SqliteConnection};

use super::{KEY_A, KEY_B, for_two, get_as, post_as, tenant};
use crate::support::{Folder, Proxy, config, open, request, user};

const OTHER_KEY: &str = "ep-another-key-of-alpha";
const KEY_C: &str = "ep-key-of-the-tenant-gamma";

/// Another key for the one, nothing for the other, and somebody new.
fn changed(config: &Config) -> Config {
    Config {
        tenants: TenantSettings {
            tenants: vec![tenant("alpha", OTHER_KEY), tenant("gamma", KEY_C)],
            ..TenantSettings::default()
        },
        ..config.clone()
    }
}

async fn status(proxy: &Proxy, key: &str) -> u16 {
    let received = get_as(proxy, key, "/epitome/v1/tenants").await;
    received.status
}

/// Somebody else who has the file open.
async fn somebody(folder: &Folder) -> SqliteConnection {
    let file = format!("sqlite:{}", folder.path().display());
    SqliteConnection::connect(&file).await.unwrap()
}

async fn run(connection: &mut SqliteConnection, statement: &'static str) {
    sqlx::query(statement).execute(connection).await.unwrap();
}

#[tokio::test]
async fn a_withdrawn_key_waits_for_nobody() {
    let folder = Folder::with_file();
    let model = epitome_testkit::ScriptedModel::start(ModelConfig::default()).await;
    let mut config = config(model.address());
    for_two(&mut config, &folder);
    let proxy = Proxy::start(config.clone()).await;
    assert_eq!(status(&proxy, KEY_A).await, 200);
    let mut connection = somebody(&folder).await;
    run(&mut connection, "BEGIN IMMEDIATE").await;
    let next = changed(&config);
    let reload = proxy.reloader.reload(&next, Vec::new());
    let seen = async {
        for _ in 0..200 {
            if status(&proxy, KEY_A).await == 401 {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let mut seen = Vec::new();
        for key in [KEY_A, KEY_B, OTHER_KEY, KEY_C] {
            seen.push(status(&proxy, key).await);
        }
        run(&mut connection, "ROLLBACK").await;
        seen
    };
    let (reloaded, seen) = tokio::join!(reload, seen);
    reloaded.unwrap();
    assert_eq!(seen, [401, 401, 200, 401]);
    assert_eq!(status(&proxy, KEY_C).await, 200);
    proxy.stop().await;
}

#[tokio::test]
async fn who_came_while_the_store_was_away_is_stored_later() {
    let folder = Folder::with_file();
    let model = epitome_testkit::ScriptedModel::start(ModelConfig::default()).await;
    let mut config = config(model.address());
    for_two(&mut config, &folder);
    let proxy = Proxy::start(config.clone()).await;
    let mut connection = somebody(&folder).await;
    run(&mut connection, "ALTER TABLE tenants RENAME TO away").await;
    let next = changed(&config);
    proxy.reloader.reload(&next, Vec::new()).await.unwrap();
    let body = request(Wire::OpenaiChat, "m", [user("Count the boats.")]);
    let answer = post_as(&proxy, KEY_C, Wire::OpenaiChat, &body).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    run(&mut connection, "ALTER TABLE away RENAME TO tenants").await;
    proxy.reloader.reload(&next, Vec::new()).await.unwrap();
    let answer = post_as(&proxy, KEY_C, Wire::OpenaiChat, &body).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    folder.wait_for("gamma").await;
    proxy.stop().await;
}

#[tokio::test]
async fn news_end_with_the_key() {
    let folder = Folder::new();
    let model = epitome_testkit::ScriptedModel::start(ModelConfig::default()).await;
    let mut config = config(model.address());
    for_two(&mut config, &folder);
    let proxy = Proxy::start(config.clone()).await;
    let asked = Request::get("/epitome/v1/events")
        .header("host", "localhost")
        .header("x-epitome-key", KEY_A)
        .body(Empty::<Bytes>::new())
        .unwrap();
    let mut news = open(proxy.address, asked).await;
    assert_eq!(news.response.status(), 200);
    assert!(news.piece().await.is_some());
    let next = changed(&config);
    proxy.reloader.reload(&next, Vec::new()).await.unwrap();
    let ended = async { while news.piece().await.is_some() {} };
    let ended = tokio::time::timeout(Duration::from_secs(20), ended).await;
    assert!(ended.is_ok(), "whose key was withdrawn is told more");
    proxy.stop().await;
}
