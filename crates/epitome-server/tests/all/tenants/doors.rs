//! Who is let in.

use epitome_server::{KeyDigest, Server, TenantSettings};
use epitome_store::{Conversations, Store};
use epitome_testkit::{ModelConfig, Wire};
use http::Method;

use super::{KEY_A, KEY_B, PROVIDER_KEY_A, for_two, get_as, id, post_as, rows, tenant, text, two};
use crate::support::{Folder, Proxy, action, config, last, pair, request, user};

#[tokio::test]
async fn only_who_has_tenants_listens_for_others() {
    let mut open = config("127.0.0.1:1".parse().unwrap());
    open.listen = "0.0.0.0:0".parse().unwrap();
    let error = Server::bind(open.clone()).await.unwrap_err().to_string();
    assert!(
        error.contains("[tenants.NAME]") && error.contains("127.0.0.1:7700"),
        "{error}"
    );
    open.tenants = two();
    let proxy = Proxy::start(open).await;
    // It is asked for by whatever name it has there, and tells nothing to who has no key.
    let port = proxy.address.port();
    let named = [("host", "proxy.example:7700")];
    let local = format!("127.0.0.1:{port}");
    let ask = async |path: &str, headers: &[(&str, &str)]| {
        let address = local.parse().unwrap();
        let asked = epitome_testkit::client::send(address, &Method::GET, path, headers, "".into());
        asked.await.unwrap()
    };
    assert_eq!(ask("/v1/models", &named).await.status, 401);
    assert_eq!(ask("/metrics", &[]).await.status, 401);
    assert_eq!(ask("/readyz", &[]).await.status, 200);
    let health = ask("/healthz", &[]).await.json();
    assert_eq!(health.as_object().unwrap().len(), 1, "{health}");
    let bearer = format!("Bearer {}", proxy.token);
    let operator = [("authorization", bearer.as_str())];
    let health = ask("/healthz", &operator).await.json();
    assert_eq!(health["unknown_tenant"], 1, "{health}");
    let metrics = ask("/metrics", &operator).await;
    let metrics = String::from_utf8(metrics.body.to_vec()).unwrap();
    assert!(
        metrics.contains("epitome_tenant_requests_total{tenant=\"alpha\"} 0"),
        "{metrics}"
    );
    assert_eq!(ask("/epitome/v1/overview", &[]).await.status, 401);
}

#[tokio::test]
async fn settings_that_let_nobody_in_or_two_at_once_are_refused() {
    let with = async |settings: TenantSettings| {
        let mut config = config("127.0.0.1:1".parse().unwrap());
        config.tenants = settings;
        Server::bind(config).await.unwrap_err().to_string()
    };
    let mut nobody = two();
    nobody.tenants[1].keys.clear();
    let said = with(nobody).await;
    assert!(
        said.contains("beta") && said.contains("config key"),
        "{said}"
    );
    let mut shared = two();
    shared.tenants[1].keys.push(KeyDigest::of(KEY_A));
    let said = with(shared).await;
    assert!(said.contains("alpha and beta"), "{said}");
    let mut untrusted = two();
    untrusted.tenants[0].principals.push("ann".to_owned());
    let said = with(untrusted).await;
    assert!(said.contains("trusted_peers"), "{said}");
    let mut named = two();
    named.tenants[0].principals.push("ann".to_owned());
    named.trusted_peers = vec!["10.0.0.0/8".parse().unwrap()];
    let mut anywhere = config("127.0.0.1:1".parse().unwrap());
    anywhere.listen = "0.0.0.0:0".parse().unwrap();
    anywhere.tenants = named.clone();
    let said = Server::bind(anywhere.clone()).await.unwrap_err();
    assert!(said.to_string().contains("server.hosts"), "{said}");
    anywhere.tenants.hosts = vec!["epitome.example".parse().unwrap()];
    assert!(Server::bind(anywhere.clone()).await.is_ok());
    // No way around it by a change.
    anywhere.tenants = two();
    let proxy = Proxy::start(anywhere.clone()).await;
    anywhere.tenants = named;
    let reloaded = proxy.reloader.reload(&anywhere, Vec::new()).await;
    let said = reloaded.unwrap_err().to_string();
    assert!(said.contains("server.hosts"), "{said}");
    proxy.stop().await;
    let mut uncounted = two();
    uncounted.tenants[0].limits.bytes = Some(1);
    let said = with(uncounted).await;
    assert!(
        said.contains("alpha") && said.contains("server.store"),
        "{said}"
    );
}

#[tokio::test]
async fn a_request_of_nobody_goes_nowhere() {
    let folder = Folder::new();
    let (model, proxy) = pair(ModelConfig::default(), |config| for_two(config, &folder)).await;
    for wire in Wire::ALL {
        let body = request(wire, "m", [user("hello, are you there?")]).to_string();
        let strangers: [&[(&str, &str)]; 5] = [
            &[],
            &[("x-epitome-key", "ep-guessed-guessed-guessed")],
            &[("x-epitome-key", KEY_A), ("x-epitome-key", KEY_B)],
            &[
                ("authorization", "Bearer test-key"),
                ("x-api-key", "test-key"),
            ],
            // Nobody is trusted to say who asks.
            &[("x-forwarded-user", "alpha")],
        ];
        for headers in strangers {
            for path in [wire.path(), "/v1/models", "/v1/files"] {
                let received = proxy.send(&Method::POST, path, headers, body.clone()).await;
                assert_eq!(received.status, 401, "{wire:?} {headers:?} {path}");
                assert_eq!(action(&received), ("passthrough", "unknown_tenant"));
                assert_eq!(received.header("x-epitome-conversation"), "");
            }
        }
        let received = proxy.post_bytes(wire, body).await.json();
        let (kind, message) = match wire {
            Wire::Anthropic => (&received["error"]["type"], &received["error"]["message"]),
            _ => (&received["error"]["code"], &received["error"]["message"]),
        };
        let expected = match wire {
            Wire::Anthropic => "authentication_error",
            _ => "unknown_tenant",
        };
        assert_eq!(kind, expected, "{received}");
        assert!(
            message.as_str().unwrap().contains("x-epitome-key"),
            "{received}"
        );
    }
    assert_eq!(model.requests().len(), 0);
    let health = proxy.health().await;
    assert_eq!(
        (&health["unknown_tenant"], &health["requests"]),
        (&48.into(), &0.into())
    );
    proxy.stop().await;
    let store = folder.open().await;
    for name in ["alpha", "beta", "local"] {
        assert_eq!(
            store.conversations(&id(name), 9).await.unwrap(),
            [],
            "{name}"
        );
    }
    store.close().await;
}

#[tokio::test]
async fn a_key_lets_in_and_is_neither_sent_on_nor_kept() {
    let folder = Folder::new();
    let mut hidden = vec![
        KEY_A.to_owned(),
        KEY_B.to_owned(),
        PROVIDER_KEY_A.to_owned(),
    ];
    let digests = hidden.iter().map(|key| KeyDigest::of(key).to_string());
    let digests: Vec<String> = digests.map(|digest| digest[8..].to_owned()).collect();
    hidden.extend(digests);
    let (model, proxy) = pair(ModelConfig::default(), |config| for_two(config, &folder)).await;
    for wire in Wire::ALL {
        let body = request(wire, "m", [user("hello, are you there?")]);
        let received = post_as(&proxy, KEY_A, wire, &body).await;
        assert_eq!(received.status, 200, "{received:?}");
        let sent = last(&model);
        assert!(!sent.headers.contains_key("x-epitome-key"));
        assert_eq!(sent.headers["authorization"], "Bearer provider-key");
        assert!(!format!("{received:?} {sent:?}").contains(KEY_A));
    }
    // The key of the provider is enough where that is known, and goes on to it.
    let bearer = format!("Bearer {PROVIDER_KEY_A}");
    let ways: [(&str, &str, Wire); 2] = [
        ("authorization", &bearer, Wire::OpenaiChat),
        ("x-api-key", PROVIDER_KEY_A, Wire::Anthropic),
    ];
    for (name, value, wire) in ways {
        let body = request(wire, "m", [user("and with this key?")]).to_string();
        let headers = [(name, value)];
        let received = proxy.send(&Method::POST, wire.path(), &headers, body).await;
        assert_eq!(received.status, 200, "{received:?}");
        assert_eq!(last(&model).headers[name], value);
    }
    let shown = get_as(&proxy, KEY_A, "/epitome/v1/settings").await;
    let shown = String::from_utf8_lossy(&shown.body).into_owned();
    proxy.stop().await;
    let kept = rows(&folder).await;
    assert!(kept.len() > 8, "{}", kept.len());
    for secret in &hidden {
        assert!(!shown.contains(secret));
        for row in &kept {
            let found = row.cells.iter().any(|cell| text(cell).contains(secret));
            assert!(!found, "{row:?}");
        }
    }
}

#[tokio::test]
async fn a_name_counts_only_from_where_it_is_trusted() {
    for (peers, status) in [("127.0.0.0/8", 200), ("10.0.0.0/8", 401)] {
        let (model, proxy) = pair(ModelConfig::default(), |config| {
            config.tenants = two();
            config.tenants.tenants[0]
                .principals
                .push("ann@example".to_owned());
            config.tenants.principal_header = "x-remote-user".parse().unwrap();
            config.tenants.trusted_peers = vec![peers.parse().unwrap()];
        })
        .await;
        let body = request(Wire::OpenaiChat, "m", [user("hello?")]).to_string();
        let named = [("x-remote-user", "ann@example")];
        let path = Wire::OpenaiChat.path();
        let received = proxy.send(&Method::POST, path, &named, body.clone()).await;
        assert_eq!(received.status, status, "{peers}");
        let twice = [("x-remote-user", "eve"), ("x-remote-user", "ann@example")];
        let received = proxy.send(&Method::POST, path, &twice, body.clone()).await;
        assert_eq!(received.status, 401, "{peers}");
        for sent in model.requests() {
            assert!(!sent.headers.contains_key("x-remote-user"));
        }
        // A key counts from everywhere.
        let known = [("x-epitome-key", KEY_B)];
        let received = proxy.send(&Method::POST, path, &known, body).await;
        assert_eq!(received.status, 200, "{peers}");
    }
}

#[tokio::test]
async fn keys_and_tenants_change_while_it_runs() {
    let folder = Folder::new();
    let model = epitome_testkit::ScriptedModel::start(ModelConfig::default()).await;
    let mut config = config(model.address());
    for_two(&mut config, &folder);
    let proxy = Proxy::start(config.clone()).await;
    let body = request(Wire::OpenaiChat, "m", [user("hello?")]);
    let ask = async |key: &str| post_as(&proxy, key, Wire::OpenaiChat, &body).await;
    let first = ask(KEY_A).await;
    assert_eq!(
        (first.status, ask("ep-another-key").await.status),
        (200, 401)
    );
    // A new key for the one, nothing for the other, and somebody new.
    config.tenants = TenantSettings {
        tenants: vec![
            tenant("alpha", "ep-another-key"),
            tenant("gamma", "ep-key-of-gamma"),
        ],
        ..TenantSettings::default()
    };
    proxy.reloader.reload(&config, Vec::new()).await.unwrap();
    for (key, status) in [(KEY_A, 401), (KEY_B, 401), ("ep-key-of-gamma", 200)] {
        assert_eq!(ask(key).await.status, status, "{key}");
    }
    let again = ask("ep-another-key").await;
    let conversation = "x-epitome-conversation";
    assert_eq!(again.header(conversation), first.header(conversation));
    // Without tenants everybody would be one: that takes a restart.
    config.tenants = TenantSettings::default();
    let error = proxy
        .reloader
        .reload(&config, Vec::new())
        .await
        .unwrap_err();
    assert!(error.to_string().contains("start it again"), "{error}");
    assert_eq!(ask(KEY_A).await.status, 401);
    assert_eq!(ask("ep-another-key").await.status, 200);
    proxy.stop().await;
    // All of them were written to the end.
    let store = folder.open().await;
    for (name, count) in [("alpha", 1), ("beta", 0), ("gamma", 1)] {
        let rows = store.conversations(&id(name), 9).await.unwrap();
        assert_eq!(rows.len(), count, "{name}");
    }
    store.close().await;
}
