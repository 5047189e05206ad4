//! Bytes are sacred: what is not compacted is forwarded as it came, and answers come back as they are.

use std::time::Duration;

use bytes::Bytes;
use epitome_server::Mode;
use epitome_testkit::{
    Chunking, Delivery, Echo, Fault, Faults, ModelConfig, Reply, Script, ScriptedModel, Wire,
    client, generate,
};
use futures_util::stream;
use http::{Method, Request};
use http_body::Frame;
use http_body_util::{BodyExt, Full, StreamBody};
use serde_json::json;

use crate::odd;
use crate::support::{Proxy, action, eventually, history, last, open, pair, request, user};

async fn echo() -> (ScriptedModel, Proxy) {
    let model = ModelConfig {
        echo: Echo::Body,
        ..ModelConfig::default()
    };
    pair(model, |config| config.window_tokens = Some(200_000)).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn odd_bodies_reach_the_upstream_unchanged_on_every_path() {
    let (model, proxy) = echo().await;
    let bodies = odd::bodies();
    assert!(bodies.len() >= 100, "{}", bodies.len());
    for path in [
        "/v1/chat/completions",
        "/v1/messages",
        "/v1/messages/count_tokens?beta=true",
        "/v1/some/new/endpoint?a=1&b=%20x&a=2",
    ] {
        for (name, body) in &bodies {
            let received = proxy.send(&Method::POST, path, &[], body.clone()).await;
            assert_eq!(received.status, 200, "{path} {name}");
            assert_eq!(received.body, body[..], "echo of {path} {name}");
            assert_eq!(received.header("x-epitome-action"), "passthrough", "{name}");
            let recorded = last(&model);
            assert_eq!(recorded.body, body[..], "{path} {name}");
            assert_eq!(recorded.path, path);
            assert_eq!(recorded.method, Method::POST);
            // Without a body there need not be a length.
            if !body.is_empty() || path.starts_with("/v1/messages") {
                let length = body.len().to_string();
                assert_eq!(recorded.header("content-length"), length, "{path} {name}");
            }
            model.clear();
        }
    }
    proxy.health().await;
}

#[tokio::test]
async fn reasons_name_what_was_odd() {
    let (_model, proxy) = echo().await;
    for (body, reason) in [
        ("not json", "not_json"),
        ("", "not_json"),
        ("\u{feff}{\"messages\":[]}", "not_json"),
        (r#"{"messages":[],"messages":[]}"#, "ambiguous_body"),
        (r#"{"messages":{}}"#, "no_messages"),
        (r#"{"messages":[]}"#, "no_messages"),
        (r#"{"messages":["wizard"]}"#, "unreadable_message"),
        (
            r#"{"messages":[{"role":"user","content":"x"}]}"#,
            "below_line",
        ),
        // What is strange in it stays where it is.
        (
            r#"{"messages":[{"role":"wizard","content":"x"}]}"#,
            "below_line",
        ),
    ] {
        for wire in Wire::MESSAGES {
            let received = proxy.post_bytes(wire, body).await;
            assert_eq!(
                action(&received),
                ("passthrough", reason),
                "{wire:?} {body}"
            );
        }
    }
}

#[tokio::test]
async fn end_to_end_headers_go_along_and_those_of_the_connection_do_not() {
    let (model, proxy) = echo().await;
    let kept = [
        ("authorization", "Bearer sk-test-123"),
        ("x-api-key", "sk-ant-test"),
        ("anthropic-version", "2023-06-01"),
        ("anthropic-beta", "brand-new-2031-01-01,other"),
        ("x-stainless-lang", "python"),
        ("x-stainless-retry-count", "2"),
        ("openai-organization", "org-1"),
        ("user-agent", "Agent/1.0 (test)"),
        ("accept-encoding", "gzip, br"),
        ("accept", "text/event-stream"),
        ("cookie", "a=b; c=d"),
        ("x-unknown", "ünïcode bytes"),
        ("x-empty", ""),
    ];
    let dropped = [
        ("connection", "keep-alive, x-hop"),
        ("x-hop", "mine"),
        ("keep-alive", "timeout=5"),
        ("te", "trailers"),
        ("proxy-authorization", "Basic abc"),
        ("proxy-connection", "keep-alive"),
    ];
    let headers: Vec<_> = kept.iter().chain(&dropped).copied().collect();
    let body = r#"{"model":"m","messages":[{"role":"user","content":"hi"}]}"#;
    for path in [
        "/v1/messages?beta=true",
        "/v1/files?x=1",
        "/v1/messages/batches",
    ] {
        proxy.send(&Method::POST, path, &headers, body).await;
        let recorded = last(&model);
        assert_eq!(recorded.path, path);
        for (name, value) in kept {
            let got = recorded.headers.get(name).unwrap();
            assert_eq!(got.as_bytes(), value.as_bytes(), "{path} {name}");
        }
        for (name, _) in dropped {
            assert!(!recorded.headers.contains_key(name), "{path} {name}");
        }
        assert_eq!(recorded.header("host"), model.address().to_string());
        assert_eq!(recorded.header("content-length"), body.len().to_string());
    }
    let twice = [("x-twice", "one"), ("x-twice", "two")];
    proxy
        .send(&Method::POST, "/v1/messages", &twice, body)
        .await;
    let recorded = last(&model);
    let values: Vec<_> = recorded.headers.get_all("x-twice").iter().collect();
    assert_eq!(values, ["one", "two"]);
}

#[tokio::test]
async fn methods_and_paths_are_kept() {
    let (model, proxy) = echo().await;
    for method in [
        Method::GET,
        Method::PUT,
        Method::PATCH,
        Method::DELETE,
        Method::OPTIONS,
        Method::HEAD,
    ] {
        let path = "/v1/files/file-1%2F2/content?limit=3&after=%E2%9C%93&empty=&flag";
        let received = proxy.send(&method, path, &[], "").await;
        assert_eq!(received.status, 200, "{method}");
        assert_eq!(action(&received), ("passthrough", "not_a_conversation"));
        let recorded = last(&model);
        assert_eq!((recorded.method, recorded.path.as_str()), (method, path));
    }
}

#[tokio::test]
async fn the_path_decides_whose_api_it_is() {
    let openai = ScriptedModel::start(ModelConfig::default()).await;
    let anthropic = ScriptedModel::start(ModelConfig::default()).await;
    let mut config = crate::support::config(openai.address());
    config.anthropic_upstream = Some(anthropic.base_url().parse().unwrap());
    let proxy = Proxy::start(config).await;
    let headers = [("x-api-key", "k"), ("anthropic-version", "2023-06-01")];
    for (path, model) in [
        ("/v1/chat/completions", &openai),
        ("/v1/responses", &openai),
        ("/v1/messages", &anthropic),
        ("/v1/messages/count_tokens", &anthropic),
        ("/v1/models", &anthropic),
    ] {
        proxy.send(&Method::POST, path, &headers, "{}").await;
        assert_eq!(model.requests().len(), 1, "{path}");
        openai.clear();
        anthropic.clear();
    }
    proxy.send(&Method::GET, "/v1/models", &[], "").await;
    assert_eq!(openai.requests().len(), 1);
}

#[tokio::test]
async fn streamed_answers_come_back_byte_for_byte_in_single_bytes() {
    for wire in Wire::MESSAGES {
        let model = ModelConfig {
            chunking: Chunking::Bytes(1),
            ..ModelConfig::default()
        };
        let (model, proxy) = pair(model, |_| {}).await;
        for (kind, seed) in [(generate::Kind::Thinking, 1), (generate::Kind::Parallel, 2)] {
            let request = generate::request(wire, kind, seed, 4);
            let direct = client::post(model.address(), wire, &request).await.unwrap();
            let received = proxy.post(wire, &request).await;
            assert_eq!(direct.status, 200);
            assert!(
                direct
                    .header("content-type")
                    .starts_with("text/event-stream")
            );
            assert_eq!(received.body, direct.body, "{wire:?}");
            assert!(received.is_complete);
            assert!(received.pieces.len() > 10, "{}", received.pieces.len());
            assert!(client::assistant_message(wire, &received).is_some());
            let sent = model.requests();
            assert_eq!(sent[sent.len() - 2].body, sent[sent.len() - 1].body);
        }
    }
}

#[tokio::test]
async fn a_chunked_body_without_length_arrives_whole_and_gets_a_length() {
    let (model, proxy) = echo().await;
    let body: &'static [u8] =
        br#"{"model":"m","messages":[{"role":"user","content":"in \u00e9 pieces"}]}"#;
    for size in [1, 7, body.len()] {
        for path in ["/v1/chat/completions", "/v1/messages", "/v1/embeddings"] {
            let pieces = body
                .chunks(size)
                .map(|piece| Ok::<_, std::io::Error>(Frame::data(Bytes::from_static(piece))));
            let request = Request::post(path)
                .header("host", "localhost")
                .body(StreamBody::new(stream::iter(pieces)))
                .unwrap();
            let answer = open(proxy.address, request).await;
            assert_eq!(answer.response.status(), 200);
            let recorded = last(&model);
            assert_eq!(recorded.body, body, "{path} in pieces of {size}");
            if path != "/v1/embeddings" {
                assert_eq!(recorded.header("content-length"), body.len().to_string());
                assert!(!recorded.headers.contains_key("transfer-encoding"));
            }
        }
    }
}

#[tokio::test]
async fn encoded_answers_and_all_headers_come_back_untouched() {
    // A real gzip member, which nothing on the way may look into.
    let gzip: &[u8] = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\xabV*I-.Q\xb2R\xcaH\xcd\xc9\xc9W\xaa\x05\x00\x8e\x2a\x1c\x9e\x11\x00\x00\x00";
    let reply = Reply::raw(200, "application/json", gzip)
        .with_header("content-encoding", "gzip")
        .with_header("x-request-id", "req_1")
        .with_header("anthropic-ratelimit-tokens-remaining", "79999")
        .with_header("set-cookie", "a=1; Path=/")
        .with_header("keep-alive", "timeout=9");
    let model = ModelConfig {
        script: Script::Fixed(vec![reply.clone(), reply]),
        ..ModelConfig::default()
    };
    let (_model, proxy) = pair(model, |_| {}).await;
    for wire in Wire::MESSAGES {
        let received = proxy.post(wire, &request(wire, "m", [user("hi")])).await;
        assert_eq!(received.body, gzip);
        assert_eq!(received.header("content-encoding"), "gzip");
        assert_eq!(received.header("content-length"), gzip.len().to_string());
        assert_eq!(received.header("x-request-id"), "req_1");
        assert_eq!(
            received.header("anthropic-ratelimit-tokens-remaining"),
            "79999"
        );
        assert_eq!(received.header("set-cookie"), "a=1; Path=/");
        assert!(!received.headers.contains_key("keep-alive"));
        assert_eq!(action(&received), ("passthrough", "below_line"));
        let (before, after) = received.header("x-epitome-tokens").split_once(';').unwrap();
        assert_eq!(
            before.parse::<u64>().unwrap(),
            after.parse::<u64>().unwrap()
        );
        assert_eq!(received.header("x-epitome-conversation").len(), 32);
    }
}

#[tokio::test]
async fn bypass_and_observe_forward_the_same_bytes_above_the_line() {
    for mode in [Mode::Act, Mode::Observe] {
        let model = ModelConfig {
            echo: Echo::Body,
            ..ModelConfig::default()
        };
        let (model, proxy) = pair(model, |config| {
            config.window_tokens = Some(6_000);
            config.mode = mode;
        })
        .await;
        for (seed, wire) in (1..).zip(Wire::MESSAGES) {
            let body = request(wire, "m", history(seed, 12, 400)).to_string();
            let bypass: &[(&str, &str)] = match mode {
                Mode::Act => &[("x-epitome-bypass", "1")],
                Mode::Observe => &[],
            };
            let received = proxy
                .send(&Method::POST, wire.path(), bypass, body.clone())
                .await;
            assert_eq!(last(&model).body, body, "{mode:?} {wire:?}");
            let expected = match mode {
                Mode::Act => ("bypassed", "bypassed"),
                Mode::Observe => ("observed", "hard_line"),
            };
            assert_eq!(action(&received), expected);
            if mode == Mode::Observe {
                let (before, after) = received.header("x-epitome-tokens").split_once(';').unwrap();
                assert!(before.parse::<u64>().unwrap() > 2 * after.parse::<u64>().unwrap());
            }
            // The same body without the header is compacted: it really was above the line.
            let other = proxy
                .send(&Method::POST, wire.path(), &[], body.clone())
                .await;
            let is_changed = last(&model).body != body;
            assert_eq!(is_changed, mode == Mode::Act);
            assert_eq!(other.header("x-epitome-action") == "compacted", is_changed);
            if mode == Mode::Observe {
                // What was thought of once is not thought of again: watching costs no more than acting.
                assert_eq!(action(&other), ("observed", "epoch"));
            }
        }
    }
}

#[tokio::test]
async fn observe_says_observed_below_the_line_too() {
    let (_model, proxy) = pair(ModelConfig::default(), |config| {
        config.mode = Mode::Observe;
    })
    .await;
    let received = proxy
        .post(
            Wire::Anthropic,
            &request(Wire::Anthropic, "m", [user("hi")]),
        )
        .await;
    assert_eq!(action(&received), ("observed", "below_line"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_first_byte_does_not_wait_for_the_last_and_hanging_up_reaches_the_upstream() {
    for wire in Wire::MESSAGES {
        let model = ModelConfig {
            chunking: Chunking::Events,
            faults: Faults::none().on(0, Fault::Stall).on(1, Fault::Hang),
            ..ModelConfig::default()
        };
        let (model, proxy) = pair(model, |_| {}).await;
        let mut request = request(wire, "m", [user("tell me a story")]);
        request["stream"] = json!(true);
        let body = Full::new(Bytes::from(request.to_string()));
        let post = Request::post(wire.path())
            .header("host", "localhost")
            .body(body.clone())
            .unwrap();
        let mut answer = open(proxy.address, post).await;
        assert_eq!(answer.response.status(), 200);
        let first = answer.piece().await.unwrap();
        assert!(!first.is_empty());
        assert_eq!(model.requests()[0].delivery, Delivery::Pending, "not done");
        drop(answer);
        eventually("the upstream sees the hang-up", || {
            model.requests()[0].delivery == Delivery::Abandoned
        })
        .await;
        // A client that gives up before there is an answer.
        let post = client::post(proxy.address, wire, &request);
        let given_up = tokio::time::timeout(Duration::from_millis(300), post).await;
        assert!(given_up.is_err());
        eventually("the upstream got it", || model.requests().len() == 2).await;
        proxy.assert_works().await;
    }
}

#[tokio::test]
async fn trailers_and_cut_streams_are_not_mended() {
    for wire in Wire::MESSAGES {
        let model = ModelConfig {
            faults: Faults::none()
                .on(0, Fault::Cut)
                .on(1, Fault::GarbageInStream)
                .on(2, Fault::ErrorInStream)
                .on(4, Fault::GarbageInStream)
                .on(5, Fault::ErrorInStream),
            ..ModelConfig::default()
        };
        let (model, proxy) = pair(model, |_| {}).await;
        let mut request = request(wire, "m", [user("go")]);
        request["stream"] = json!(true);
        let cut = proxy.post(wire, &request).await;
        assert_eq!((cut.status, cut.is_complete), (200, false));
        assert!(!cut.body.is_empty());
        let through = [
            proxy.post(wire, &request).await,
            proxy.post(wire, &request).await,
        ];
        let whole = client::post(model.address(), wire, &request).await.unwrap();
        assert!(whole.body.starts_with(&cut.body));
        for received in through {
            let direct = client::post(model.address(), wire, &request).await.unwrap();
            assert_eq!(received.body, direct.body);
            assert_ne!(received.body, whole.body);
        }
        proxy.assert_works().await;
    }
}

#[tokio::test]
async fn a_body_read_as_it_comes_is_passed_on_as_it_comes() {
    // Unknown paths are not collected first: the upstream has the head while the body is still on its way.
    let (model, proxy) = echo().await;
    let (sender, receiver) = tokio::sync::mpsc::channel::<Bytes>(1);
    let body = StreamBody::new(stream::unfold(receiver, |mut receiver| async move {
        let piece = receiver.recv().await?;
        Some((Ok::<_, std::io::Error>(Frame::data(piece)), receiver))
    }));
    let post = Request::post("/v1/audio")
        .header("host", "localhost")
        .body(body)
        .unwrap();
    let send = async {
        for _ in 0..20 {
            sender.send(Bytes::from(vec![7; 50_000])).await.unwrap();
        }
        drop(sender);
    };
    let (answer, ()) = tokio::join!(open(proxy.address, post), send);
    let echoed = answer.response.into_body().collect().await;
    drop(echoed);
    assert_eq!(last(&model).body, vec![7; 1_000_000]);
}
