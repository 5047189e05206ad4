//! What a web page could do to a proxy on the same machine, what a proxy could do to itself, and what it keeps to itself
//! (D3, D5).

use epitome_server::{Server, StartError};
use epitome_store::{Conversations, Store, TenantId};
use epitome_testkit::{ModelConfig, Wire};
use http::Method;

use crate::support::{Folder, Proxy, action, config, history, last, pair, request, user};

#[tokio::test]
async fn pages_of_other_origins_reach_nobody_and_leave_nothing() {
    let folder = Folder::new();
    let (model, proxy) = pair(ModelConfig::default(), |config| {
        config.store = folder.location();
    })
    .await;
    let page = request(Wire::OpenaiChat, "m", [user("Planted by a page.")]).to_string();
    let strangers: &[&[(&str, &str)]] = &[
        &[
            ("origin", "https://evil.example"),
            ("content-type", "text/plain"),
        ],
        &[("origin", "null")],
        &[("sec-fetch-site", "cross-site")],
        &[("host", "rebound.example")],
    ];
    for headers in strangers {
        for wire in Wire::ALL {
            let got = proxy
                .send(&Method::POST, wire.path(), headers, page.clone())
                .await;
            assert_eq!(got.status, 403, "{headers:?}");
            assert!(got.json()["error"].is_object(), "{headers:?}");
        }
        let got = proxy.send(&Method::GET, "/healthz", headers, "").await;
        assert_eq!(got.status, 403, "{headers:?}");
    }
    assert_eq!(model.requests().len(), 0);
    // Programs of this machine, and pages on it, are served.
    let local = [
        ("origin", "http://localhost:3000"),
        ("sec-fetch-site", "same-site"),
    ];
    let wire = Wire::OpenaiChat;
    let got = proxy
        .send(&Method::POST, wire.path(), &local, page.clone())
        .await;
    assert_eq!(action(&got), ("passthrough", "below_line"));
    assert_eq!(model.requests().len(), 1);
    proxy.stop().await;
    let store = folder.open().await;
    let kept = store.conversations(&TenantId::local(), 10).await.unwrap();
    assert_eq!(kept.len(), 1, "{kept:?}");
    store.close().await;
}

#[tokio::test]
async fn a_proxy_that_is_its_own_upstream_is_refused() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = free.local_addr().unwrap();
    drop(free);
    let mut own = config(address);
    own.listen = address;
    let error = Server::bind(own).await.unwrap_err();
    assert!(matches!(error, StartError::OwnUpstream(_)), "{error}");
}

#[tokio::test]
async fn a_request_that_comes_back_is_not_sent_round_again() {
    // Two proxies that have each other as upstream.
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = free.local_addr().unwrap();
    drop(free);
    let first = Proxy::start(config(address)).await;
    let mut second = config(first.address);
    second.listen = address;
    let second = Proxy::start(second).await;
    let hello = request(Wire::Anthropic, "m", [user("hello")]);
    let got = first.post(Wire::Anthropic, &hello).await;
    assert_eq!(got.status, 508, "{got:?}");
    drop(second);
}

#[tokio::test]
async fn paths_that_climb_reach_nobody() {
    let (model, proxy) = pair(ModelConfig::default(), |_| {}).await;
    for path in ["/v1/../admin", "/v1/%2e%2e/admin", "/v1/messages/../../x"] {
        for method in [Method::GET, Method::POST] {
            let got = proxy.send(&method, path, &[], "{}").await;
            assert_eq!(got.status, 400, "{path}");
            assert!(got.json()["error"].is_object(), "{path}");
        }
    }
    assert_eq!(model.requests().len(), 0);
}

#[tokio::test]
async fn headers_between_client_and_proxy_stay_there() {
    let (model, proxy) = pair(ModelConfig::default(), |_| {}).await;
    let headers = [
        ("x-epitome-store", "no"),
        ("x-epitome-anything", "1"),
        ("x-other", "1"),
    ];
    for wire in Wire::ALL {
        let body = request(wire, "m", [user("hello")]).to_string();
        for path in [wire.path(), "/v1/models"] {
            let got = proxy
                .send(&Method::POST, path, &headers, body.clone())
                .await;
            assert_ne!(got.header("x-epitome-action"), "");
            let sent = last(&model);
            assert_eq!(sent.header("x-other"), "1");
            let mut names = sent.headers.keys();
            assert!(names.all(|name| !name.as_str().starts_with("x-epitome")));
        }
    }
}

#[tokio::test]
async fn a_password_in_an_upstream_address_is_kept_nowhere() {
    const SECRET: &str = "hunter2-in-the-url";
    let folder = Folder::with_file();
    let (model, proxy) = pair(ModelConfig::default(), |config| {
        let with_password = |uri: &http::Uri| {
            let address = uri.authority().unwrap();
            format!("http://me:{SECRET}@{address}").parse().unwrap()
        };
        config.openai_upstream = config.openai_upstream.as_ref().map(with_password);
        config.anthropic_upstream = config.anthropic_upstream.as_ref().map(with_password);
        config.store = folder.location();
        config.window_tokens = Some(8_000);
    })
    .await;
    for wire in Wire::ALL {
        let body = request(wire, "m", history(7, 12, 500));
        let got = proxy.post(wire, &body).await;
        assert_eq!((got.status, action(&got).0), (200, "compacted"), "{got:?}");
        assert!(!format!("{:?}", last(&model)).contains(SECRET));
    }
    assert!(!proxy.health().await.to_string().contains(SECRET));
    proxy.stop().await;
    for file in std::fs::read_dir(folder.path().parent().unwrap()).unwrap() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        let holds = bytes
            .windows(SECRET.len())
            .any(|window| window == SECRET.as_bytes());
        assert!(!holds);
    }
    let mut bad = config("127.0.0.1:9".parse().unwrap());
    bad.openai_upstream = Some(format!("ftp://me:{SECRET}@host.example/").parse().unwrap());
    let error = Server::bind(bad).await.unwrap_err().to_string();
    assert!(
        error.contains("host.example") && !error.contains(SECRET),
        "{error}"
    );
}
