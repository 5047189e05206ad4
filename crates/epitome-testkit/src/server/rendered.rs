use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, header};
use serde_json::Value;

use super::cache::Split;
use crate::Wire;

/// A complete response before it is cut into pieces.
#[derive(Debug)]
pub(super) struct Rendered {
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
    /// Lengths of the events, when the body is a stream.
    pub(super) events: Option<Vec<usize>>,
}

impl Rendered {
    pub(super) fn json(status: u16, body: &Value) -> Self {
        Self::raw(status, "application/json", body.to_string().into())
    }

    pub(super) fn raw(status: u16, content_type: &str, body: Bytes) -> Self {
        Self {
            status,
            headers: HeaderMap::new(),
            body,
            events: None,
        }
        .with_header("content-type", content_type)
    }

    pub(super) fn stream(events: &[String]) -> Self {
        let mut rendered = Self::raw(
            200,
            "text/event-stream; charset=utf-8",
            events.concat().into(),
        );
        rendered
            .headers
            .insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        rendered.events = Some(events.iter().map(String::len).collect());
        rendered
    }

    /// Sets a header; a name or value that HTTP does not allow is left out.
    pub(super) fn with_header(mut self, name: &str, value: &str) -> Self {
        if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
            self.headers.insert(name, value);
        }
        self
    }

    /// Treats a raw body as a stream when its type says so.
    pub(super) fn recognise_stream(mut self) -> Self {
        let content_type = self.headers.get(header::CONTENT_TYPE);
        if content_type.is_some_and(|value| value.as_bytes().starts_with(b"text/event-stream")) {
            let ends = self
                .body
                .windows(2)
                .enumerate()
                .filter(|(_, pair)| pair == b"\n\n");
            let mut start = 0;
            let mut events = Vec::new();
            for (position, _) in ends {
                events.push(position + 2 - start);
                start = position + 2;
            }
            self.events = Some(events);
        }
        self
    }

    /// Puts bytes into the middle of a stream, between two events.
    pub(super) fn insert_in_stream(&mut self, bytes: &[u8], ends_there: bool) {
        let Some(events) = &self.events else {
            return;
        };
        let kept = events.len() / 2;
        let position: usize = events.iter().take(kept).sum();
        let mut lengths: Vec<usize> = events.iter().take(kept).copied().collect();
        lengths.push(bytes.len());
        let mut body = self.body.slice(..position).to_vec();
        body.extend_from_slice(bytes);
        if !ends_there {
            lengths.extend(events.iter().skip(kept));
            body.extend_from_slice(&self.body.slice(position..));
        }
        self.body = body.into();
        self.events = Some(lengths);
    }
}

/// What both formats need to know about a request to answer it.
pub(super) struct Exchange<'a> {
    pub(super) wire: Wire,
    pub(super) request: &'a Value,
    pub(super) input_tokens: u64,
    /// How the input divides for the bill.
    pub(super) split: Split,
    /// Digest of the body, from which identifiers are made.
    pub(super) digest: blake3::Hash,
}

impl Exchange<'_> {
    pub(super) fn model(&self) -> &str {
        self.request
            .get("model")
            .and_then(Value::as_str)
            .unwrap_or("scripted")
    }

    pub(super) fn wants_stream(&self) -> bool {
        self.request.get("stream").and_then(Value::as_bool) == Some(true)
    }

    /// An identifier that is the same for the same request and differs between its uses.
    pub(super) fn identifier(&self, prefix: &str, position: usize) -> String {
        let mut source = self.digest.as_bytes().to_vec();
        source.extend_from_slice(prefix.as_bytes());
        source.extend_from_slice(&position.to_le_bytes());
        format!("{prefix}{}", crate::signature::identifier(&source, 24))
    }

    /// The output the request leaves room for, if it says so.
    pub(super) fn maximum_output_tokens(&self) -> Option<u64> {
        let keys: &[&str] = match self.wire {
            Wire::OpenaiChat => &["max_completion_tokens", "max_tokens"],
            Wire::OpenaiResponses => &["max_output_tokens"],
            Wire::Anthropic => &["max_tokens"],
        };
        keys.iter()
            .find_map(|key| self.request.get(key))
            .and_then(Value::as_u64)
    }
}

/// Cuts a text into pieces of a few words, as models stream it.
pub(super) fn fragments(text: &str) -> Vec<&str> {
    let mut fragments = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest
            .char_indices()
            .map(|(position, _)| position)
            .find(|position| *position >= 24)
            .unwrap_or(rest.len());
        let (fragment, remainder) = rest.split_at(end);
        fragments.push(fragment);
        rest = remainder;
    }
    fragments
}
