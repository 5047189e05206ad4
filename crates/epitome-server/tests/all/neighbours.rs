//! What a web page could do to a proxy on the same machine, and what a proxy could do to itself (D3, D5).

use epitome_server::{Server, StartError};
use epitome_store::{Conversations, Store, TenantId};
use epitome_testkit::{ModelConfig, Wire};
use http::Method;

use crate::support::{Folder, Proxy, action, config, pair, request, user};

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
