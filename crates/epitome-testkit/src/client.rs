//! A plain HTTP client for tests: one connection per request, and nothing is decoded or retried.

mod assemble;

use std::io;
use std::net::SocketAddr;

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, Method, Request, header};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use crate::Wire;

/// A response as it arrived.
#[derive(Clone, Debug)]
pub struct Received {
    /// HTTP status.
    pub status: u16,
    /// All headers.
    pub headers: HeaderMap,
    /// The body as far as it came.
    pub body: Bytes,
    /// Lengths of the pieces in which it came.
    pub pieces: Vec<usize>,
    /// Whether the body came to its proper end.
    pub is_complete: bool,
}

impl Received {
    /// The body as JSON, or null when it is none.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or(Value::Null)
    }

    /// The body as a stream of events.
    #[must_use]
    pub fn events(&self) -> Vec<Event> {
        events(&String::from_utf8_lossy(&self.body))
    }

    /// A header as text, or the empty string.
    #[must_use]
    pub fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .and_then(|value| value.to_str().ok())
            .unwrap_or("")
    }
}

/// One server-sent event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The event's name, empty when it has none.
    pub name: String,
    /// Its data lines, joined.
    pub data: String,
}

impl Event {
    /// The data as JSON, or null when it is none.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.data).unwrap_or(Value::Null)
    }
}

/// Reads a complete event stream; a last event without its empty line is left out, as the format demands.
#[must_use]
pub fn events(stream: &str) -> Vec<Event> {
    let mut events = Vec::new();
    let mut name = String::new();
    let mut data: Vec<&str> = Vec::new();
    for line in stream.lines() {
        if line.is_empty() {
            if !data.is_empty() {
                events.push(Event {
                    name: std::mem::take(&mut name),
                    data: data.join("\n"),
                });
            }
            name.clear();
            data.clear();
        } else if let Some(value) = line.strip_prefix("event:") {
            value.trim_start().clone_into(&mut name);
        } else if let Some(value) = line.strip_prefix("data:") {
            data.push(value.strip_prefix(' ').unwrap_or(value));
        }
    }
    events
}

/// Posts a request of the given format as JSON, with the headers its clients send.
///
/// # Errors
///
/// When there is no answer: no connection, or it closes before the head of the response.
pub async fn post(address: SocketAddr, wire: Wire, request: &Value) -> io::Result<Received> {
    let headers: &[(&str, &str)] = match wire {
        Wire::OpenaiChat | Wire::OpenaiResponses => &[("authorization", "Bearer test-key")],
        Wire::Anthropic => &[
            ("x-api-key", "test-key"),
            ("anthropic-version", "2023-06-01"),
        ],
    };
    let body = request.to_string().into();
    send(address, &Method::POST, wire.path(), headers, body).await
}

/// Sends any request. A body that breaks off is no error: see [`Received::is_complete`].
///
/// # Errors
///
/// When there is no answer: no connection, or it closes before the head of the response.
pub async fn send(
    address: SocketAddr,
    method: &Method,
    path: &str,
    headers: &[(&str, &str)],
    body: Bytes,
) -> io::Result<Received> {
    let stream = TcpStream::connect(address).await?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream))
        .await
        .map_err(io::Error::other)?;
    // The set ends the connection when this function returns or is cancelled.
    let mut driver = JoinSet::new();
    driver.spawn(connection);
    let mut request = Request::builder()
        .method(method)
        .uri(path)
        .header(header::HOST, address.to_string())
        .header(header::CONTENT_TYPE, "application/json");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let request = request.body(Full::new(body)).map_err(io::Error::other)?;
    let response = sender
        .send_request(request)
        .await
        .map_err(io::Error::other)?;
    let (head, mut incoming) = response.into_parts();
    let mut body = BytesMut::new();
    let mut pieces = Vec::new();
    let mut is_complete = true;
    while let Some(frame) = incoming.frame().await {
        let Ok(frame) = frame else {
            is_complete = false;
            break;
        };
        if let Some(data) = frame.data_ref() {
            pieces.push(data.len());
            body.extend_from_slice(data);
        }
    }
    Ok(Received {
        status: head.status.as_u16(),
        headers: head.headers,
        body: body.freeze(),
        pieces,
        is_complete,
    })
}

/// The assistant message that a response holds, whole or streamed, ready to be put into the next request.
///
/// Gives nothing when the response is an error or a stream that did not come to its end.
#[must_use]
pub fn assistant_message(wire: Wire, received: &Received) -> Option<Value> {
    if received.status != 200 {
        return None;
    }
    let is_stream = received
        .header("content-type")
        .starts_with("text/event-stream");
    match (wire, is_stream) {
        (Wire::OpenaiChat, false) => received.json().pointer("/choices/0/message").cloned(),
        (Wire::OpenaiChat, true) => assemble::openai_chat(&received.events()),
        (Wire::OpenaiResponses, _) => answer_items(received)?
            .into_iter()
            .find(|item| item.get("type").and_then(Value::as_str) == Some("message")),
        (Wire::Anthropic, false) => {
            Some(json!({"role": "assistant", "content": received.json().get("content")?}))
        }
        (Wire::Anthropic, true) => assemble::anthropic(&received.events()),
    }
}

/// The items that an answer of Responses holds, whole or streamed, ready to be put into the next request.
///
/// Gives nothing when the response is an error or a stream that did not come to its end.
#[must_use]
pub fn answer_items(received: &Received) -> Option<Vec<Value>> {
    let is_stream = received
        .header("content-type")
        .starts_with("text/event-stream");
    match (received.status, is_stream) {
        (200, true) => assemble::openai_responses(&received.events()),
        (200, false) => received.json().get("output")?.as_array().cloned(),
        _ => None,
    }
}
