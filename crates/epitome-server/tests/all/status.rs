//! What a server says of itself: health, readiness, metrics, and headers on every answer.

use epitome_server::Mode;
use epitome_store::{Conversations, Outcomes, Store, TenantId};
use epitome_testkit::client::Received;
use epitome_testkit::{Fault, Faults, ModelConfig, Wire};
use http::Method;
use serde_json::json;

use crate::support::{Folder, Proxy, action, config, history, pair, request, user};

/// What Prometheus would read.
async fn metrics(proxy: &Proxy) -> String {
    let received = get(proxy, "/metrics").await;
    assert_eq!(received.status, 200);
    assert!(received.header("content-type").starts_with("text/plain"));
    String::from_utf8(received.body.to_vec()).unwrap()
}

async fn get(proxy: &Proxy, path: &str) -> Received {
    proxy.send(&Method::GET, path, &[], "").await
}

#[tokio::test]
async fn a_quiet_server_is_well_and_ready() {
    let (_model, proxy) = pair(ModelConfig::default(), |_| {}).await;
    let health = proxy.health().await;
    assert_eq!(health["status"], "ok", "{health}");
    assert_eq!(health["why"], json!([]));
    assert_eq!(get(&proxy, "/readyz").await.status, 200);
    let metrics = metrics(&proxy).await;
    assert!(metrics.contains("# TYPE epitome_requests_total counter"));
}

#[tokio::test]
async fn what_could_not_be_helped_is_counted_by_reason() {
    let (_model, proxy) = pair(ModelConfig::default(), |config| {
        config.window_tokens = Some(2_000);
    })
    .await;
    for _ in 0..2 {
        let long = request(Wire::OpenaiChat, "m", [user("word ".repeat(20_000))]);
        let received = proxy.post(Wire::OpenaiChat, &long).await;
        assert_eq!(action(&received).1, "floor_above_window");
    }
    let health = proxy.health().await;
    assert_eq!(health["status"], "degraded", "{health}");
    let told = &health["unhelped"]["floor_above_window"];
    assert_eq!(told["requests"], 2, "{health}");
    assert!(told["advice"].as_str().unwrap().contains("window"));
    let metrics = metrics(&proxy).await;
    let line = r#"epitome_requests_total{action="passthrough",reason="floor_above_window"} 2"#;
    assert!(metrics.contains(line), "{metrics}");
    // One that is helped shows that the server does what it is for.
    let helped = request(Wire::OpenaiChat, "m", history(1, 12, 200));
    let received = proxy.post(Wire::OpenaiChat, &helped).await;
    assert_eq!(action(&received).0, "compacted");
    let health = proxy.health().await;
    assert_eq!(health["status"], "ok", "{health}");
    assert_eq!(health["acted_on"], 1);
}

#[tokio::test]
async fn an_upstream_that_is_gone_is_said_and_found_again() {
    // A port that nobody listens on, until somebody does.
    let reserved = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = reserved.local_addr().unwrap();
    drop(reserved);
    let proxy = Proxy::start(config(address)).await;
    assert_eq!(
        get(&proxy, "/readyz").await.status,
        200,
        "nothing is known yet"
    );
    for wire in [Wire::OpenaiChat, Wire::Anthropic] {
        let received = proxy.post(wire, &request(wire, "m", [user("hello")])).await;
        assert_eq!(received.status, 502);
        assert_eq!(action(&received), ("passthrough", "below_line"));
        assert!(!received.header("x-epitome-conversation").is_empty());
    }
    let ready = get(&proxy, "/readyz").await;
    assert_eq!(ready.status, 503);
    let health = proxy.health().await;
    assert_eq!(health["status"], "degraded");
    assert_eq!(health["upstreams"]["openai"]["failures"], 1, "{health}");
    let _listener = tokio::net::TcpListener::bind(address).await.unwrap();
    assert_eq!(get(&proxy, "/readyz").await.status, 200);
}

#[tokio::test]
async fn without_any_upstream_nothing_is_ready() {
    let (_model, proxy) = pair(ModelConfig::default(), |config| {
        config.openai_upstream = None;
        config.anthropic_upstream = None;
    })
    .await;
    assert_eq!(get(&proxy, "/readyz").await.status, 503);
    for wire in Wire::ALL {
        let received = proxy.post(wire, &request(wire, "m", [user("hello")])).await;
        assert_eq!(received.status, 502);
        assert_eq!(action(&received), ("passthrough", "no_upstream"));
    }
    let nowhere = get(&proxy, "/elsewhere").await;
    assert_eq!(nowhere.status, 404);
    assert_eq!(action(&nowhere), ("passthrough", "not_found"));
}

#[tokio::test]
async fn watching_stores_counts_and_nothing_else() {
    let folder = Folder::new();
    let (model, proxy) = pair(ModelConfig::default(), |config| {
        config.window_tokens = Some(6_000);
        config.mode = Mode::Observe;
        config.store = folder.location();
    })
    .await;
    for (seed, wire) in (1..).zip(Wire::MESSAGES) {
        let body = request(wire, "m", history(seed, 12, 400));
        let received = proxy.post(wire, &body).await;
        assert_eq!(action(&received).0, "observed");
        assert_eq!(model.requests().pop().unwrap().body, body.to_string());
    }
    let metrics = metrics(&proxy).await;
    assert!(
        metrics.contains(r#"action="observed",reason="hard_line"} 2"#),
        "{metrics}"
    );
    proxy.stop().await;
    let store = folder.open().await;
    let tenant = TenantId::local();
    assert_eq!(store.conversations(&tenant, 10).await.unwrap(), []);
    let outcomes = store.outcomes(&tenant, 10).await.unwrap();
    assert_eq!(outcomes.len(), Wire::MESSAGES.len());
    assert!(outcomes.iter().all(
        |outcome| outcome.action == "observed" && outcome.tokens_after < outcome.tokens_before
    ));
    store.close().await;
}

#[tokio::test]
async fn a_store_that_was_removed_is_said() {
    let folder = Folder::with_file();
    let (_model, proxy) = pair(ModelConfig::default(), |config| {
        config.store = folder.location();
    })
    .await;
    assert_eq!(proxy.health().await["status"], "ok");
    std::fs::remove_file(folder.path()).unwrap();
    let hello = request(Wire::OpenaiChat, "m", [user("hello")]);
    let received = proxy.post(Wire::OpenaiChat, &hello).await;
    assert_eq!(received.status, 200);
    let health = proxy.health().await;
    assert_eq!(health["status"], "degraded", "{health}");
    assert!(health["why"].to_string().contains("removed or replaced"));
    // Another file in its place is another store.
    std::fs::write(folder.path(), "").unwrap();
    assert_eq!(proxy.health().await["status"], "degraded");
}

/// What was spared counts where the model worked on a shortened request: not where only its size was asked for, nor where the
/// provider had no time.
#[tokio::test]
async fn only_answers_spare_anything() {
    let model = ModelConfig {
        faults: Faults::none()
            .on(0, Fault::Overloaded)
            .on(2, Fault::ServerError),
        ..ModelConfig::default()
    };
    let (_model, proxy) = pair(model, |config| config.window_tokens = Some(2_000)).await;
    let body = request(Wire::Anthropic, "m", history(1, 12, 200));
    let spared = async || {
        let metrics = metrics(&proxy).await;
        let line = metrics
            .lines()
            .find(|line| line.starts_with("epitome_tokens_before_total"));
        line.unwrap()
            .rsplit(' ')
            .next()
            .unwrap()
            .parse::<u64>()
            .unwrap()
    };
    let refused = proxy.post(Wire::Anthropic, &body).await;
    assert_eq!((refused.status, action(&refused).0), (529, "compacted"));
    assert_eq!(spared().await, 0);
    let answered = proxy.post(Wire::Anthropic, &body).await;
    assert_eq!((answered.status, action(&answered).0), (200, "compacted"));
    let once = spared().await;
    assert!(once > 2_000, "{once}");
    let failed = proxy.post(Wire::Anthropic, &body).await;
    assert_eq!(failed.status, 500);
    let mut counted = body.clone();
    counted.as_object_mut().unwrap().remove("max_tokens");
    let path = "/v1/messages/count_tokens";
    let counted = proxy
        .send(&Method::POST, path, &[], counted.to_string())
        .await;
    assert_eq!((counted.status, action(&counted).0), (200, "compacted"));
    assert_eq!(spared().await, once);
}
