//! Why was a request refused? Providers' own words for "too long", told apart from what only sounds like it.

mod table;

use crate::anthropic::raw_json;
use crate::json::{self, Value};
use table::{CODES, PARAMETERS, RATE_LIMITS, ROWS};

/// What a provider said about a request that is too long.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overflow {
    /// The window, where the answer names it.
    pub window_tokens: Option<u64>,
    /// What the input alone took, where the answer names it.
    pub request_tokens: Option<u64>,
    /// What helps.
    pub cure: Cure,
}

/// What helps against an overflow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cure {
    /// A shorter history.
    #[default]
    Shorter,
    /// Less room asked for the answer; a shorter history helps too.
    LessOutput,
    /// Fewer bytes: the limit is one of size, not of tokens.
    FewerBytes,
}

/// Why a provider refused a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It is too long.
    Overflow(Overflow),
    /// Too much was sent in a time. Waiting helps, compaction does not.
    RateLimit,
    /// One parameter is longer than it may be.
    Parameter,
    /// Something else.
    Other,
}

/// Errors inside errors are followed this far.
const NESTING: usize = 8;
/// What is read of an answer, in bytes.
const READ_BYTES: usize = 64 * 1024;
/// How full the window must be by our own count before a refusal without a word is taken for an overflow, in percent.
const NEAR_PERCENT: u128 = 90;

impl Refusal {
    /// Reads an answer that is an error.
    ///
    /// ```
    /// use epitome_wire::Refusal;
    ///
    /// let body = br#"{"error":{"message":"prompt is too long: 213462 tokens > 200000 maximum"}}"#;
    /// let Refusal::Overflow(overflow) = Refusal::read(400, body) else { panic!() };
    /// assert_eq!(overflow.window_tokens, Some(200_000));
    /// assert_eq!(Refusal::read(429, body), Refusal::RateLimit);
    /// ```
    #[must_use]
    pub fn read(status: u16, body: &[u8]) -> Self {
        let text = String::from_utf8_lossy(body.get(..READ_BYTES).unwrap_or(body));
        match status {
            429 => Self::RateLimit,
            400 | 413 | 422 | 500 => Self::in_text(&text, NESTING),
            _ => Self::Other,
        }
    }

    fn in_text(text: &str, depth: usize) -> Self {
        let lower = text.to_lowercase();
        let says = |words: &[&str]| {
            words
                .iter()
                .any(|word| lower.contains(&word.to_lowercase()))
        };
        if says(RATE_LIMITS) {
            return Self::RateLimit;
        }
        if says(PARAMETERS) {
            return Self::Parameter;
        }
        Overflow::in_text(text, depth).map_or(Self::Other, Self::Overflow)
    }
}

impl Overflow {
    /// Reads an answer that is an error; `None` when it does not say that the request is too long.
    #[must_use]
    pub fn read(status: u16, body: &[u8]) -> Option<Self> {
        match Refusal::read(status, body) {
            Refusal::Overflow(overflow) => Some(overflow),
            _ => None,
        }
    }

    /// Reads an answer that began well: a body under status 200, or the data of one event of a stream. Only what it
    /// marks as an error counts, or a stop reason; what the model says does not.
    ///
    /// ```
    /// use epitome_wire::Overflow;
    ///
    /// let event = br#"{"type":"response.failed","response":{"error":{"code":"context_length_exceeded"}}}"#;
    /// assert!(Overflow::in_success(event).is_some());
    /// let text = br#"{"choices":[{"delta":{"content":"prompt is too long"}}]}"#;
    /// assert!(Overflow::in_success(text).is_none());
    /// ```
    #[must_use]
    pub fn in_success(data: &[u8]) -> Option<Self> {
        // Deltas come by the thousand; hardly any has one of these words.
        let may_tell = |word: &[u8]| memchr::memmem::find(data, word).is_some();
        if !may_tell(b"error") && !may_tell(b"model_context_window_exceeded") {
            return None;
        }
        let value = json::read(data).ok()?;
        let response = value.get("response");
        let error = [Some(&value), response]
            .into_iter()
            .flatten()
            .filter_map(|holder| holder.get("error"))
            .find(|error| !error.is_null());
        if let Some(error) = error {
            let text = raw_json(error);
            let found = match Refusal::in_text(&text, NESTING) {
                Refusal::Overflow(overflow) => Some(overflow),
                _ => None,
            };
            return found.map(|found| found.with_numbers(error));
        }
        stop_reasons(&value)
            .any(|reason| reason == "model_context_window_exceeded")
            .then(Self::default)
    }

    /// A refusal without a word, as some providers send it: an overflow only if the request nearly fills the window by
    /// our own count.
    #[must_use]
    pub fn wordless(status: u16, body: &[u8], tokens: u64, window_tokens: u64) -> Option<Self> {
        let is_silent = matches!(status, 400 | 413) && body.trim_ascii().is_empty();
        let is_near = u128::from(tokens) * 100 >= u128::from(window_tokens) * NEAR_PERCENT;
        (is_silent && is_near).then(Self::default)
    }

    fn in_text(text: &str, depth: usize) -> Option<Self> {
        let value = json::read(text.as_bytes()).ok();
        let messages = value.as_ref().map(strings).unwrap_or_default();
        let direct = messages
            .iter()
            .find_map(|message| matched(message))
            .or_else(|| matched(text));
        let nested = || {
            messages
                .iter()
                .filter(|message| depth > 0 && message.trim_start().starts_with('{'))
                .find_map(|message| Self::in_text(message, depth - 1))
        };
        let by_code = || {
            let mut codes = CODES.iter();
            let (_, cure) = codes.find(|(code, _)| messages.iter().any(|text| text == code))?;
            Some(Self {
                cure: *cure,
                ..Self::default()
            })
        };
        let overflow = direct.or_else(nested).or_else(by_code)?;
        let error = value.as_ref().and_then(|value| value.get("error"));
        Some(error.map_or(overflow, |error| overflow.with_numbers(error)))
    }

    /// Fills in the numbers that an error object has as members.
    fn with_numbers(mut self, error: &Value<'_>) -> Self {
        self.window_tokens = self.window_tokens.or_else(|| error.whole_number("n_ctx"));
        self.request_tokens = self
            .request_tokens
            .or_else(|| error.whole_number("n_prompt_tokens"));
        self
    }
}

/// Why an answer ended, wherever an API says it.
fn stop_reasons<'v>(value: &'v Value<'_>) -> impl Iterator<Item = String> + 'v {
    let holders = [Some(value), value.get("delta"), value.get("message")];
    let choices = value.get("choices").into_iter().flat_map(Value::items);
    holders
        .into_iter()
        .flatten()
        .chain(choices)
        .flat_map(|holder| [holder.get("stop_reason"), holder.get("finish_reason")])
        .filter_map(|reason| Some(reason?.as_text()?.decode().into_owned()))
}

/// Every string in the error object.
fn strings(value: &Value<'_>) -> Vec<String> {
    let mut out = Vec::new();
    let mut queue = vec![value];
    while let Some(value) = queue.pop() {
        queue.extend(value.items());
        queue.extend(value.members().iter().map(|(_, value)| value));
        if let Some(text) = value.as_text() {
            out.push(text.decode().into_owned());
        }
    }
    out
}

fn matched(text: &str) -> Option<Overflow> {
    let text: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    ROWS.iter().find_map(|row| {
        let found = try_pattern(&text, row.text)?;
        Some(Overflow {
            cure: row.cure,
            ..found
        })
    })
}

/// Matches a pattern anywhere in `text`; numbers may be grouped by commas.
fn try_pattern(text: &str, pattern: &str) -> Option<Overflow> {
    let start = pattern.split('{').next().unwrap_or(pattern);
    text.match_indices(start)
        .find_map(|(at, _)| match_here(text.get(at..)?, pattern))
}

fn match_here(text: &str, pattern: &str) -> Option<Overflow> {
    let mut overflow = Overflow::default();
    let (mut text, mut pattern) = (text, pattern);
    while let Some((literal, rest)) = pattern.split_once('{') {
        text = text.strip_prefix(literal)?;
        let (name, after) = rest.split_once('}')?;
        if name == "*" {
            let next = after.split('{').next().unwrap_or(after);
            text = text.get(text.find(next)?..)?;
            pattern = after;
            continue;
        }
        let length = text
            .find(|c: char| !c.is_ascii_digit() && c != ',')
            .unwrap_or(text.len());
        let digits: String = text
            .get(..length)?
            .chars()
            .filter(char::is_ascii_digit)
            .collect();
        let number = digits.parse().ok()?;
        match name {
            "w" => overflow.window_tokens = Some(number),
            "r" => overflow.request_tokens = Some(number),
            _ => {}
        }
        text = text.get(length..)?;
        pattern = after;
    }
    text.starts_with(pattern).then_some(overflow)
}
