//! What an error says: the places where providers put words about it, and no others. A body may quote the request back
//! (`input`, `ctx`, `loc` of a validation error), and the request may talk about errors.

use crate::json::{self, Value};

/// Errors inside errors, written as text, are followed this far.
const NESTING: usize = 8;
/// What is read of an answer, in bytes.
const READ_BYTES: usize = 1 << 20;
/// What is read of one sentence, or of an answer that has no form, in bytes.
const TEXT_BYTES: usize = 16 * 1024;
/// Objects that are looked into; an error that has more is none.
const OBJECTS: usize = 256;

/// Members that hold words. `__type` and its like are codes.
const TEXTS: &[&str] = &[
    "message",
    "Message",
    "msg",
    "detail",
    "error",
    "error_msg",
    "error_message",
    "raw",
];
/// Members that hold a code, a type or a status.
const CODES: &[&str] = &[
    "code",
    "type",
    "status",
    "param",
    "reason",
    "error_code",
    "error_type",
    "__type",
];
/// Members that hold another object, or several, of the same kind.
const HOLDERS: &[&str] = &[
    "error",
    "errors",
    "detail",
    "response",
    "metadata",
    "innererror",
];

/// What an error says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Said {
    /// Sentences, outermost first, with single spaces.
    pub(super) texts: Vec<String>,
    /// Codes, types and states.
    pub(super) codes: Vec<String>,
    /// The window, as a member of its own.
    pub(super) window_tokens: Option<u64>,
    /// The size of the input, as a member of its own.
    pub(super) request_tokens: Option<u64>,
    objects: usize,
}

impl Said {
    /// Of a whole body: JSON, the events of a stream, a page or plain text.
    pub(super) fn in_body(body: &[u8]) -> Self {
        let mut said = Self::default();
        let body = body.get(..READ_BYTES).unwrap_or(body);
        said.text(&String::from_utf8_lossy(body), NESTING + 1);
        said
    }

    /// Of the error inside a body or an event.
    pub(super) fn in_error(error: &Value<'_>) -> Self {
        let mut said = Self::default();
        said.value(error, NESTING);
        said
    }

    pub(super) fn has_code(&self, code: &str) -> bool {
        self.codes
            .iter()
            .any(|known| known.eq_ignore_ascii_case(code))
    }

    fn text(&mut self, text: &str, depth: usize) {
        let text = text.trim();
        let is_json = text.starts_with(['{', '[']);
        if is_json
            && depth > 0
            && let Ok(value) = json::read(text.as_bytes())
        {
            self.value(&value, depth - 1);
        } else if text.starts_with("data:") || text.starts_with("event:") {
            let events = text.lines().filter_map(|line| line.strip_prefix("data:"));
            for event in events.take(OBJECTS) {
                self.text(event, depth);
            }
        } else if !text.is_empty() {
            let end = text.floor_char_boundary(TEXT_BYTES);
            let text = text.get(..end).unwrap_or_default();
            self.texts.push(match text.starts_with('<') {
                true => spaced(&without_tags(text)),
                false => spaced(text),
            });
        }
    }

    fn value(&mut self, value: &Value<'_>, depth: usize) {
        self.objects += 1;
        if self.objects > OBJECTS {
            return;
        }
        if let Some(text) = value.as_text() {
            self.text(&text.decode(), depth);
            return;
        }
        for item in value.items() {
            self.value(item, depth);
        }
        for (name, member) in value.members() {
            let is = |names: &[&str]| names.iter().any(|known| name.is(known));
            let text = member.as_text();
            if is(CODES) {
                let code = text.map(|text| text.decode().into_owned());
                self.codes.extend(code);
            } else if let Some(text) = text.filter(|_| is(TEXTS)) {
                self.text(&text.decode(), depth);
            } else if is(HOLDERS) {
                self.value(member, depth);
            }
        }
        let number = |name| value.whole_number(name);
        self.window_tokens = self.window_tokens.or_else(|| number("n_ctx"));
        self.request_tokens = self.request_tokens.or_else(|| number("n_prompt_tokens"));
    }
}

/// The words apart by single spaces, whatever stood between them.
fn spaced(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The words of a page.
fn without_tags(page: &str) -> String {
    let pieces = page.split('<');
    let words = pieces.map(|piece| piece.split_once('>').map_or(piece, |(_, words)| words));
    words.collect::<Vec<_>>().join(" ")
}
