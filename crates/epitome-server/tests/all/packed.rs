//! Requests that come compressed: looked into, and sent on as they came unless they had to be made smaller.

use std::io::Write;

use epitome_testkit::{Echo, ModelConfig, Wire};
use http::Method;

use crate::support::{
    Proxy, action, assert_splice, config, history, last, pair, raw_messages, read_request, request,
    user,
};

const ENCODINGS: [&str; 6] = ["gzip", "deflate", "br", "zstd", "gzip, br", "x-gzip"];

/// A body as `encoding` packs it.
pub(crate) fn packed(encoding: &str, plain: &[u8]) -> Vec<u8> {
    let level = flate2::Compression::fast();
    let mut names: Vec<&str> = encoding.split(", ").collect();
    let last = names.pop().unwrap();
    let inner = match names.is_empty() {
        true => plain.to_vec(),
        false => packed(&names.join(", "), plain),
    };
    match last {
        "gzip" | "x-gzip" => {
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), level);
            encoder.write_all(&inner).unwrap();
            encoder.finish().unwrap()
        }
        "deflate" => {
            let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), level);
            encoder.write_all(&inner).unwrap();
            encoder.finish().unwrap()
        }
        "br" => {
            let mut out = Vec::new();
            let mut encoder = brotli::CompressorWriter::new(&mut out, 4096, 3, 20);
            encoder.write_all(&inner).unwrap();
            drop(encoder);
            out
        }
        "zstd" => zstd::stream::encode_all(&inner[..], 1).unwrap(),
        other => panic!("{other}"),
    }
}

fn echo() -> ModelConfig {
    ModelConfig {
        echo: Echo::Body,
        ..ModelConfig::default()
    }
}

#[tokio::test]
async fn a_packed_request_that_fits_goes_on_as_it_came() {
    let (model, proxy) = pair(echo(), |_| {}).await;
    for wire in Wire::ALL {
        let plain = request(wire, "m", [user("hello")]).to_string();
        for encoding in ENCODINGS {
            let body = packed(encoding, plain.as_bytes());
            let headers = [("content-encoding", encoding)];
            let got = proxy
                .send(&Method::POST, wire.path(), &headers, body.clone())
                .await;
            assert_eq!(action(&got), ("passthrough", "below_line"), "{encoding}");
            assert_eq!(got.body, body, "{encoding}");
            assert_eq!(last(&model).header("content-encoding"), encoding);
        }
    }
}

#[tokio::test]
async fn a_packed_request_that_does_not_fit_is_compacted_and_goes_on_plain() {
    let (model, proxy) = pair(ModelConfig::default(), |config| {
        config.window_tokens = Some(8_000);
    })
    .await;
    for wire in Wire::ALL {
        for (seed, encoding) in ENCODINGS.iter().enumerate() {
            let plain = request(wire, "m", history(seed as u64, 12, 500)).to_string();
            let headers = [("content-encoding", *encoding)];
            let body = packed(encoding, plain.as_bytes());
            let got = proxy.send(&Method::POST, wire.path(), &headers, body).await;
            assert_eq!(got.status, 200, "{encoding}: {got:?}");
            assert_eq!(action(&got).0, "compacted", "{encoding}");
            let sent = last(&model);
            assert_eq!(sent.header("content-encoding"), "");
            assert_eq!(sent.header("content-length"), sent.body.len().to_string());
            assert_splice(plain.as_bytes(), &sent.body);
            // The same request, plain, is the same conversation and gets the same bytes.
            let again = proxy.post_bytes(wire, plain).await;
            assert_eq!(again.status, 200);
            assert_eq!(raw_messages(&last(&model).body), raw_messages(&sent.body));
        }
    }
}

#[tokio::test]
async fn what_cannot_be_unpacked_goes_on_as_it_came_with_the_reason() {
    const LIMIT: usize = 100_000;
    let (_model, proxy) = pair(echo(), |config| {
        config.inspection_limit_bytes = LIMIT;
    })
    .await;
    let wire = Wire::OpenaiChat;
    let plain = request(wire, "m", [user("hello")]).to_string();
    let mut cut = packed("gzip", plain.as_bytes());
    cut.truncate(cut.len() - 4);
    let large = request(wire, "m", [user("x".repeat(LIMIT))]).to_string();
    let not_json = packed("zstd", b"not JSON");
    let cases: Vec<(&str, Vec<u8>, &str)> = vec![
        ("compress", plain.clone().into(), "body_encoded"),
        ("gzip", plain.clone().into(), "body_encoded"),
        ("gzip", cut, "body_encoded"),
        ("gzip, gzip, gzip", plain.clone().into(), "body_encoded"),
        ("br", packed("br", large.as_bytes()), "body_too_large"),
        ("zstd", not_json, "not_json"),
    ];
    for (encoding, body, reason) in cases {
        let headers = [("content-encoding", encoding)];
        let got = proxy
            .send(&Method::POST, wire.path(), &headers, body.clone())
            .await;
        assert_eq!(action(&got), ("passthrough", reason), "{encoding}");
        assert_eq!(got.body, body, "{encoding}");
    }
    // Nothing is packed here, whatever the header says.
    for encoding in ["identity", "", "Identity,, "] {
        let headers = [("content-encoding", encoding)];
        let got = proxy
            .send(&Method::POST, wire.path(), &headers, plain.clone())
            .await;
        assert_eq!(action(&got), ("passthrough", "below_line"), "{encoding}");
    }
}

/// A refusal of a packed request is answered with a smaller one, plain.
#[tokio::test]
async fn a_packed_request_that_was_refused_is_sent_again_plain() {
    let wire = Wire::Anthropic;
    let plain = request(wire, "m", history(3, 12, 500));
    let body = packed("gzip", plain.to_string().as_bytes());
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let server = std::thread::spawn(move || {
        let refusal = r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 9000 tokens > 8000 maximum"}}"#;
        let (mut stream, _) = listener.accept().unwrap();
        let mut read = Vec::new();
        for (status, body) in [("400 Bad Request", refusal), ("200 OK", "{}")] {
            read.push(read_request(&mut stream));
            let length = body.len();
            let answer = format!(
                "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
            );
            stream.write_all(answer.as_bytes()).unwrap();
        }
        read
    });
    let proxy = Proxy::start(config(address)).await;
    let headers = [("content-encoding", "gzip")];
    let got = proxy
        .send(&Method::POST, wire.path(), &headers, body.clone())
        .await;
    assert_eq!((got.status, action(&got).0), (200, "compacted"), "{got:?}");
    let read = server.join().unwrap();
    assert!(read[0].ends_with(&body));
    let second = String::from_utf8(read[1].clone()).unwrap();
    let (head, sent) = second.split_once("\r\n\r\n").unwrap();
    assert!(!head.contains("content-encoding"), "{head}");
    assert_splice(plain.to_string().as_bytes(), sent.as_bytes());
}
