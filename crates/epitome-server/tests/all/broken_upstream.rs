//! What providers do wrong: the client hears it in its own API's shape, and the process lives.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::time::Duration;

use epitome_testkit::{Fault, Faults, ModelConfig, ScriptedModel, Wire, client};
use http::Method;

use crate::support::{Proxy, config, eventually, request, user};

/// An upstream that reads something and answers exactly these bytes, then closes. Ends with the process.
fn answering(bytes: &'static [u8]) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let mut buffer = [0; 65_536];
            let _ = stream.read(&mut buffer);
            let _ = stream.write_all(bytes);
        }
    });
    address
}

/// A port where nobody listens.
fn nobody() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap()
}

async fn assert_bad_gateway(proxy: &Proxy, wire: Wire, code: &str) {
    let received = proxy.post(wire, &request(wire, "m", [user("hi")])).await;
    assert_eq!(received.status, 502, "{received:?}");
    assert_eq!(received.header("content-type"), "application/json");
    let body = received.json();
    assert!(!body["error"]["message"].as_str().unwrap().is_empty());
    match wire {
        Wire::OpenaiChat | Wire::OpenaiResponses => {
            assert_eq!(body["error"]["code"], code);
            assert!(body["error"]["type"].is_string());
            assert!(body["error"]["param"].is_null());
        }
        Wire::Anthropic => {
            assert_eq!(body["type"], "error");
            assert_eq!(body["error"]["type"], "api_error");
            assert_eq!(body["epitome_code"], code);
        }
    }
    // Nothing of ours that a stranger should not know.
    let text = String::from_utf8_lossy(&received.body).into_owned();
    assert!(
        !text.contains("127.0.0.1") && !text.contains("test-key"),
        "{text}"
    );
}

#[tokio::test]
async fn an_upstream_that_is_down_is_a_bad_gateway_until_it_is_up() {
    let address = nobody();
    let proxy = Proxy::start(config(address)).await;
    for wire in Wire::ALL {
        assert_bad_gateway(&proxy, wire, "upstream_unreachable").await;
    }
    let received = proxy.send(&Method::GET, "/v1/models", &[], "").await;
    assert_eq!(received.status, 502);
    proxy.health().await;
    let _model = ScriptedModel::bind(address, ModelConfig::default())
        .await
        .unwrap();
    proxy.assert_works().await;
}

#[tokio::test]
async fn an_upstream_that_is_not_configured_says_which_setting_is_missing() {
    let model = ScriptedModel::start(ModelConfig::default()).await;
    let mut none = config(model.address());
    none.openai_upstream = None;
    none.anthropic_upstream = None;
    let proxy = Proxy::start(none).await;
    for (wire, flag) in [
        (Wire::OpenaiChat, "--openai-upstream"),
        (Wire::Anthropic, "--anthropic-upstream"),
    ] {
        assert_bad_gateway(&proxy, wire, "no_upstream").await;
        let received = proxy.post(wire, &request(wire, "m", [user("hi")])).await;
        assert!(
            received.json()["error"]["message"]
                .as_str()
                .unwrap()
                .contains(flag)
        );
    }
    assert!(model.requests().is_empty());
    proxy.health().await;
}

#[tokio::test]
async fn an_upstream_that_speaks_no_http_is_a_bad_gateway() {
    for bytes in [
        &b""[..],
        b"\x15\x03\x01\x00\x02\x02\x50",
        b"SSH-2.0-OpenSSH_9.6\r\n",
        b"HTTP/1.1 banana\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: nine\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nhalf a hea",
    ] {
        let proxy = Proxy::start(config(answering(bytes))).await;
        for wire in Wire::ALL {
            assert_bad_gateway(&proxy, wire, "upstream_unreachable").await;
        }
        proxy.health().await;
    }
}

#[tokio::test]
async fn answers_that_lie_about_their_length_are_passed_on_as_far_as_they_come() {
    for status in ["200 OK", "400 Bad Request", "500 Oops"] {
        let answer = format!(
            "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{{\"half\":"
        );
        let proxy = Proxy::start(config(answering(answer.leak().as_bytes()))).await;
        for wire in Wire::ALL {
            let body = request(wire, "m", [user("hi")]);
            // The end is missing, and the client can tell.
            match client::post(proxy.address, wire, &body).await {
                Ok(received) => {
                    assert_eq!(received.status.to_string(), status[..3]);
                    assert!(!received.is_complete, "{status}");
                    assert_eq!(received.body, "{\"half\":", "{status}");
                }
                Err(error) => panic!("{status}: {error}"),
            }
        }
        proxy.health().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn faults_of_an_answer_reach_the_client_and_end_there() {
    for wire in Wire::ALL {
        let model = ModelConfig {
            faults: Faults::none()
                .on(0, Fault::Close)
                .on(1, Fault::GarbageBody)
                .on(2, Fault::Cut)
                .on(3, Fault::Hang)
                .on(4, Fault::Delay(Duration::from_millis(200))),
            ..ModelConfig::default()
        };
        let model = ScriptedModel::start(model).await;
        let proxy = Proxy::start(config(model.address())).await;
        assert_bad_gateway(&proxy, wire, "upstream_unreachable").await;
        assert_eq!(
            model.requests().len(),
            1,
            "a closed connection is not tried again by us"
        );
        let body = request(wire, "m", [user("hi")]);
        let garbage = proxy.post(wire, &body).await;
        assert_eq!(garbage.status, 200);
        assert!(garbage.body.starts_with(b"<html>\xff\xfe"));
        let cut = proxy.post(wire, &body).await;
        assert_eq!((cut.status, cut.is_complete), (200, false));
        let hangs = client::post(proxy.address, wire, &body);
        assert!(
            tokio::time::timeout(Duration::from_millis(300), hangs)
                .await
                .is_err()
        );
        eventually("it was received", || model.requests().len() == 4).await;
        let late = proxy.post(wire, &body).await;
        assert_eq!((late.status, late.is_complete), (200, true));
        proxy.assert_works().await;
    }
}

/// A stream whose beginning is held back because the request nearly fills its window: that it broke off is not lost on the way.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_that_breaks_before_its_first_word_does_not_look_complete() {
    let upstream = answering(
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n",
    );
    let mut config = config(upstream);
    config.window_tokens = Some(3_000);
    let proxy = Proxy::start(config).await;
    for wire in [Wire::Anthropic, Wire::OpenaiResponses] {
        let mut body = request(wire, "m", [user("word ".repeat(1_700))]);
        body["stream"] = serde_json::json!(true);
        // Where not even the head had left, the client has no answer at all.
        let received = client::post(proxy.address, wire, &body).await;
        let is_complete = received.is_ok_and(|received| received.is_complete);
        assert!(!is_complete, "{wire:?}");
    }
}
