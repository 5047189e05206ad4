//! What clients and disks do wrong: requests go on, the reason is said, and the process lives.

use std::fs;

use bytes::Bytes;
use epitome_server::{Config, Server, StartError, StoreLocation};
use epitome_store::Beliefs;
use epitome_testkit::{Echo, ModelConfig, ScriptedModel, Wire};
use futures_util::stream;
use http::{Method, Request};
use http_body::Frame;
use http_body_util::{BodyExt, StreamBody};
use serde_json::json;

use crate::support::{
    Folder, Proxy, action, config, history, last, open, pair, request, summary, user,
};

fn echo(echo: Echo) -> ModelConfig {
    ModelConfig {
        echo,
        ..ModelConfig::default()
    }
}

/// Posts `count` pieces without saying how many there will be.
async fn post_pieces(
    proxy: &Proxy,
    path: &str,
    piece: Bytes,
    count: usize,
) -> (u16, String, Bytes) {
    let pieces = (0..count).map(move |_| Ok::<_, std::io::Error>(Frame::data(piece.clone())));
    let post = Request::post(path)
        .header("host", "localhost")
        .body(StreamBody::new(stream::iter(pieces)))
        .unwrap();
    let answer = open(proxy.address, post).await;
    let status = answer.response.status().as_u16();
    let reason = answer.response.headers()["x-epitome-reason"]
        .to_str()
        .unwrap()
        .to_owned();
    let body = answer
        .response
        .into_body()
        .collect()
        .await
        .unwrap()
        .to_bytes();
    (status, reason, body)
}

#[tokio::test]
async fn bodies_above_the_inspection_limit_are_streamed_through() {
    const LIMIT: usize = 10_000;
    let (model, proxy) = pair(echo(Echo::Digest), |config| {
        config.inspection_limit_bytes = LIMIT;
        config.window_tokens = Some(1_000);
    })
    .await;
    let body_of = |length: usize| {
        let empty = request(Wire::OpenaiChat, "m", [user("")]).to_string().len();
        request(Wire::OpenaiChat, "m", [user("x".repeat(length - empty))]).to_string()
    };
    for wire in Wire::MESSAGES {
        for (length, is_inspected) in [
            (LIMIT - 1, true),
            (LIMIT, true),
            (LIMIT + 1, false),
            (50_000, false),
        ] {
            let body = body_of(length);
            assert_eq!(body.len(), length);
            let received = proxy.post_bytes(wire, body.clone()).await;
            assert_eq!(received.status, 200);
            assert_eq!(last(&model).body, body);
            assert_eq!(
                action(&received) == ("passthrough", "body_too_large"),
                !is_inspected,
                "{length}"
            );
            assert_eq!(last(&model).header("content-length"), length.to_string());
            // The same without a length.
            let chunks: Vec<_> = body
                .into_bytes()
                .chunks(999)
                .map(|chunk| Ok::<_, std::io::Error>(Frame::data(Bytes::copy_from_slice(chunk))))
                .collect();
            let post = Request::post(wire.path())
                .header("host", "localhost")
                .body(StreamBody::new(stream::iter(chunks)))
                .unwrap();
            let answer = open(proxy.address, post).await;
            let reason = &answer.response.headers()["x-epitome-reason"];
            assert_eq!(
                reason == "body_too_large",
                !is_inspected,
                "{length} in chunks"
            );
            assert_eq!(last(&model).body, body_of(length), "{length} in chunks");
        }
    }
    let health = proxy.health().await;
    assert_eq!(health["status"], "degraded", "nothing could be helped");
    assert!(health["unhelped"]["body_too_large"]["requests"].as_u64() > Some(0));
    assert_eq!(health["store_failures"], 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_megabytes_go_through_unread() {
    let model = ModelConfig {
        keeps_records: false,
        ..echo(Echo::Digest)
    };
    let (_model, proxy) = pair(model, |_| {}).await;
    let piece = Bytes::from(vec![b' '; 1_000_000]);
    let (status, reason, body) = post_pieces(&proxy, "/v1/messages", piece, 100).await;
    assert_eq!((status, reason.as_str()), (200, "body_too_large"));
    let told: serde_json::Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(told["length"], 100_000_000);
    proxy.health().await;
}

#[tokio::test]
async fn what_is_no_conversation_gets_the_providers_answer() {
    let (model, proxy) = pair(ModelConfig::default(), |_| {}).await;
    for body in [
        "",
        "not json",
        "{",
        "[]",
        r#"{"model":"m"}"#,
        r#"{"model":"m","messages":null}"#,
        r#"{"model":"m","messages":"text"}"#,
        r#"{"model":"m","messages":{}}"#,
        r#"{"model":"m","messages":[]}"#,
        r#"{"model":"m","messages":[17]}"#,
    ] {
        for wire in Wire::MESSAGES {
            let received = proxy.post_bytes(wire, body).await;
            assert_eq!(received.status, 400, "{wire:?} {body}");
            assert_eq!(received.header("x-epitome-action"), "passthrough");
            assert_eq!(last(&model).body, body);
            let direct = epitome_testkit::client::send(
                model.address(),
                &Method::POST,
                wire.path(),
                &[],
                body.into(),
            );
            assert_eq!(
                received.body,
                direct.await.unwrap().body,
                "the provider's own words"
            );
        }
    }
    proxy.assert_works().await;
}

#[tokio::test]
async fn a_web_socket_is_sent_back_to_http_and_other_upgrades_are_ignored() {
    let (model, proxy) = pair(ModelConfig::default(), |_| {}).await;
    let headers = [("connection", "upgrade"), ("upgrade", "WebSocket")];
    for path in ["/v1/responses", "/v1/realtime?model=m"] {
        let received = proxy.send(&Method::GET, path, &headers, "").await;
        assert_eq!(received.status, 426);
        assert_eq!(received.json()["error"]["code"], "upgrade_required");
    }
    assert!(model.requests().is_empty());
    // What Java's client asks on every plain connection.
    let headers = [
        ("connection", "Upgrade, HTTP2-Settings"),
        ("upgrade", "h2c"),
        ("http2-settings", "AAEAAEAAAAIAAAAB"),
    ];
    let body = request(Wire::OpenaiChat, "m", [user("hi")]).to_string();
    let received = proxy
        .send(&Method::POST, "/v1/chat/completions", &headers, body)
        .await;
    assert_eq!(received.status, 200);
    for name in ["upgrade", "http2-settings", "connection"] {
        assert!(!last(&model).headers.contains_key(name), "{name}");
    }
    proxy.assert_works().await;
}

#[tokio::test]
async fn head_and_options_pass_and_many_headers_are_no_trouble() {
    let (model, proxy) = pair(ModelConfig::default(), |_| {}).await;
    for method in [Method::HEAD, Method::OPTIONS, Method::GET] {
        for path in ["/v1/models", "/v1/chat/completions", "/v1/messages"] {
            let received = proxy.send(&method, path, &[], "").await;
            assert_eq!(action(&received), ("passthrough", "not_a_conversation"));
            let recorded = last(&model);
            assert_eq!(
                (recorded.method.clone(), recorded.path.as_str()),
                (method.clone(), path)
            );
            assert_eq!(Some(received.status), recorded.status);
        }
    }
    let names: Vec<String> = (0..80).map(|at| format!("x-many-{at}")).collect();
    let long = "v".repeat(2_000);
    let headers: Vec<(&str, &str)> = names
        .iter()
        .map(|name| (name.as_str(), long.as_str()))
        .collect();
    let body = request(Wire::Anthropic, "m", [user("hi")]).to_string();
    let received = proxy
        .send(&Method::POST, "/v1/messages", &headers, body.clone())
        .await;
    assert_eq!(received.status, 200);
    assert_eq!(last(&model).header("x-many-79"), long);
    // More than any client sends: refused, not crashed.
    let names: Vec<String> = (0..5_000).map(|at| format!("x-many-{at}")).collect();
    let headers: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "v")).collect();
    let sent = epitome_testkit::client::send(
        proxy.address,
        &Method::POST,
        "/v1/messages",
        &headers,
        body.into(),
    )
    .await;
    assert!(sent.is_err() || sent.unwrap().status == 431);
    proxy.assert_works().await;
}

#[tokio::test]
async fn other_addresses_than_loopback_refuse_to_start() {
    let model = ScriptedModel::start(ModelConfig::default()).await;
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.7:7700"] {
        let mut config = config(model.address());
        config.listen = address.parse().unwrap();
        let error = Server::bind(config).await.unwrap_err();
        assert!(matches!(error, StartError::NotLoopback(_)), "{error}");
        assert!(error.to_string().contains("127.0.0.1:7700"), "{error}");
    }
    let mut bad = config(model.address());
    bad.openai_upstream = Some("/just/a/path".parse().unwrap());
    let error = Server::bind(bad).await.unwrap_err();
    assert!(matches!(error, StartError::BadUpstream(_)), "{error}");
    let mut taken = config(model.address());
    taken.listen = model.address();
    let error = Server::bind(taken).await.unwrap_err();
    assert!(
        error.to_string().contains(&model.address().to_string()),
        "{error}"
    );
}

#[tokio::test]
async fn a_store_that_is_none_is_named() {
    let model = ScriptedModel::start(ModelConfig::default()).await;
    let folder = tempfile::tempdir().unwrap();
    let garbage = folder.path().join("garbage.db");
    fs::write(
        &garbage,
        "this is no database, it only has the name of one\n".repeat(100),
    )
    .unwrap();
    let below_file = garbage.join("below.db");
    for path in [folder.path(), garbage.as_path(), below_file.as_path()] {
        let mut config = config(model.address());
        config.store = StoreLocation::Url(format!("sqlite:{}", path.display()));
        let error = Server::bind(config).await.unwrap_err();
        assert!(matches!(error, StartError::Store { .. }), "{error}");
        assert!(
            error.to_string().contains(&path.display().to_string()),
            "{error}"
        );
    }
    let text = fs::read_to_string(&garbage).unwrap();
    assert!(text.starts_with("this is no database"), "left as it was");
    let mut config = config(model.address());
    config.store = StoreLocation::Url("floppy:/a".into());
    let error = Server::bind(config).await.unwrap_err();
    assert!(error.to_string().contains("floppy:/a"), "{error}");
}

/// A proxy with a small window on a store in `folder`.
fn on(folder: &Folder, model: &ScriptedModel) -> Config {
    let mut config = config(model.address());
    config.store = folder.location();
    config.window_tokens = Some(8_000);
    config
}

/// Requests work and are compacted as ever; the failures are counted where people look.
async fn assert_degraded_but_working(proxy: &Proxy, model: &ScriptedModel, seed: u64) {
    for (seed, wire) in (seed..).zip(Wire::MESSAGES) {
        let mut messages = history(seed, 12, 400);
        let received = proxy
            .post(wire, &request(wire, "m", messages.clone()))
            .await;
        assert_eq!(received.status, 200);
        assert_eq!(action(&received), ("compacted", "hard_line"));
        let frozen = summary(&last(model).body).unwrap();
        messages.extend([crate::support::assistant("ok"), user("next")]);
        let received = proxy.post(wire, &request(wire, "m", messages)).await;
        assert_eq!(action(&received), ("compacted", "epoch"));
        assert_eq!(summary(&last(model).body).unwrap(), frozen);
    }
    // Writes trail the answers.
    for _ in 0..6_000 {
        let health = proxy.health().await;
        if health["status"] == "degraded" {
            assert!(health["store_failures"].as_u64().unwrap() > 0);
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    panic!("all is said to be well");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_that_cannot_be_written_breaks_no_request() {
    let folder = Folder::with_file();
    let model = ScriptedModel::start(ModelConfig::default()).await;
    let proxy = Proxy::start(on(&folder, &model)).await;
    let body = request(Wire::Anthropic, "m", history(1, 12, 400));
    let first = proxy.post(Wire::Anthropic, &body).await;
    assert_eq!(action(&first), ("compacted", "hard_line"));
    let frozen = last(&model).body;
    proxy.stop().await;

    // The file says that it must not be written; unlike its rights, that binds the superuser too.
    let mut bytes = fs::read(folder.path()).unwrap();
    assert!(bytes.starts_with(b"SQLite format 3\0"));
    bytes[18] = 3;
    fs::write(folder.path(), bytes).unwrap();
    let mut rights = fs::metadata(folder.path()).unwrap().permissions();
    rights.set_readonly(true);
    fs::set_permissions(folder.path(), rights).unwrap();

    let proxy = Proxy::start(on(&folder, &model)).await;
    let again = proxy.post(Wire::Anthropic, &body).await;
    assert_eq!(
        action(&again),
        ("compacted", "epoch"),
        "what was known is still read"
    );
    assert_eq!(last(&model).body, frozen);
    assert_degraded_but_working(&proxy, &model, 5).await;
    proxy.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_that_breaks_while_running_breaks_no_request() {
    let folder = Folder::with_file();
    let model = ScriptedModel::start(ModelConfig::default()).await;
    let proxy = Proxy::start(on(&folder, &model)).await;
    proxy.assert_works().await;
    let health = proxy.health().await;
    for (name, expected) in [
        ("status", json!("ok")),
        ("store_failures", json!(0)),
        ("store_deadlines", json!(0)),
    ] {
        assert_eq!(health[name], expected, "{health}");
    }
    // As a dying disk does: every page of the file is something else now. Somebody else's write before that
    // makes SQLite look at the pages again instead of its cache.
    let store = folder.open().await;
    store.learn_window("somewhere", "m", 1, 1).await.unwrap();
    for entry in fs::read_dir(folder.path().parent().unwrap()).unwrap() {
        let path = entry.unwrap().path();
        if !path.to_string_lossy().ends_with("-shm") {
            let length = fs::metadata(&path).unwrap().len().max(8_192);
            fs::write(&path, vec![0x5a; usize::try_from(length).unwrap()]).unwrap();
        }
    }
    assert_degraded_but_working(&proxy, &model, 9).await;
    drop(store);
    proxy.assert_works().await;
}
