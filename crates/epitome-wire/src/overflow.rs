//! Why was a request refused? Providers' own words for "too long", told apart from what only sounds like it.
//!
//! Only the places where providers put what they say about an error are read (`said`): a body that quotes the request
//! back says nothing by it. What was read is looked up in tables of wordings (`table`, `signs`); whether the request
//! itself has the same words is told by `echo`.

mod echo;
mod pattern;
mod refusal;
mod said;
mod signs;
mod table;

pub use refusal::Refusal;

use crate::json;
use said::Said;
use table::{CODES, ROWS};

/// What a provider said about a request that is too long.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overflow {
    /// The window, where the answer names it.
    pub window_tokens: Option<u64>,
    /// What the input alone took, where the answer names it.
    pub request_tokens: Option<u64>,
    /// What helps.
    pub cure: Cure,
    /// Whether the answer says that input and output are counted together. `false` where it does not say.
    pub counts_output: bool,
    /// Whether the words that say so stand in the request that was refused. The provider may only be quoting it, so
    /// nothing is to be learned from them.
    pub is_echoed: bool,
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

/// How full the window must be by our own count before a refusal without a word is taken for an overflow, in percent.
const NEAR_PERCENT: u128 = 90;
/// What gateways write when a body is too large for them, which is no word about a model.
const TOO_LARGE: &[&str] = &[
    "request entity too large",
    "payload too large",
    "content too large",
    "request too long",
];
/// A page or a line that says no more than that is this long at most, in bytes.
const BARE_BYTES: usize = 2_000;

impl Overflow {
    /// Reads an answer that is an error to the request `sent`; `None` when it does not say that the request is too long.
    #[must_use]
    pub fn read(status: u16, body: &[u8], sent: &[u8]) -> Option<Self> {
        match Refusal::read(status, body, sent) {
            Refusal::Overflow(overflow) => Some(overflow),
            _ => None,
        }
    }

    /// Reads an answer that began well: a body under status 200, or the data of one event of a stream. Only what it
    /// marks as an error counts. What the model says does not, and neither does a stop reason: an answer that ended at the
    /// window (`model_context_window_exceeded`) is an answer.
    ///
    /// ```
    /// use epitome_wire::Overflow;
    ///
    /// let event = br#"{"type":"response.failed","response":{"error":{"code":"context_length_exceeded"}}}"#;
    /// assert!(Overflow::in_success(event).is_some());
    /// let text = br#"{"choices":[{"delta":{"content":"prompt is too long"}}]}"#;
    /// assert!(Overflow::in_success(text).is_none());
    /// let end = br#"{"type":"message_delta","delta":{"stop_reason":"model_context_window_exceeded"}}"#;
    /// assert!(Overflow::in_success(end).is_none());
    /// ```
    #[must_use]
    pub fn in_success(data: &[u8]) -> Option<Self> {
        // Deltas come by the thousand; hardly any has this word.
        memchr::memmem::find(data, b"error")?;
        let value = json::read(data).ok()?;
        let error = [Some(&value), value.get("response")]
            .into_iter()
            .flatten()
            .filter_map(|holder| holder.get("error"))
            .find(|error| !error.is_null())?;
        match refusal::of(&Said::in_error(error), &[]) {
            Refusal::Overflow(overflow) => Some(overflow),
            _ => None,
        }
    }

    /// A refusal without a word about the model, as some providers and gateways send it: no body, or no more than
    /// "Request Entity Too Large". An overflow only if the request nearly fills the window by our own count.
    #[must_use]
    pub fn wordless(status: u16, body: &[u8], tokens: u64, window_tokens: u64) -> Option<Self> {
        let is_silent = matches!(status, 400 | 413) && is_silent(body);
        let is_bare = status == 413 && is_bare(body);
        let is_near = u128::from(tokens) * 100 >= u128::from(window_tokens) * NEAR_PERCENT;
        ((is_silent || is_bare) && is_near).then(Self::default)
    }

    /// The overflow that an error tells of, by its words or its code.
    fn in_said(said: &Said, sent: &[u8]) -> Option<Self> {
        let code = CODES.iter().find(|code| said.has_code(code.text));
        let mut matches = said.texts.iter().flat_map(|text| matched(text));
        let by_words = match code {
            // The code is the provider's own: nobody's words are taken for it.
            Some(_) => matches.next().map(|(overflow, _)| overflow),
            None => by_words(matches, sent),
        };
        let found = by_words.or_else(|| {
            Some(Self {
                cure: code?.cure,
                ..Self::default()
            })
        })?;
        Some(Self {
            window_tokens: found.window_tokens.or(said.window_tokens),
            request_tokens: found.request_tokens.or(said.request_tokens),
            ..found
        })
    }
}

/// The first wording that the request does not have itself; if it has all of them, the first, marked as an echo.
fn by_words(matches: impl Iterator<Item = (Overflow, String)>, sent: &[u8]) -> Option<Overflow> {
    let mut echoed = None;
    for (overflow, words) in matches {
        if !echo::is_in(&words, sent) {
            return Some(overflow);
        }
        echoed.get_or_insert(Overflow {
            is_echoed: true,
            ..overflow
        });
    }
    echoed
}

/// What a text says by the rows of the table, and the stretch of it that says so.
fn matched(text: &str) -> impl Iterator<Item = (Overflow, String)> {
    let text = pattern::Haystack::new(text);
    ROWS.iter().filter_map(move |row| {
        let found = text.find(row.text)?;
        let mut overflow = Overflow {
            window_tokens: found.window_tokens,
            request_tokens: found.request_tokens,
            cure: row.cure,
            counts_output: row.counts_output,
            is_echoed: false,
        };
        // Where the input alone is above the window, no answer is short enough.
        if overflow.cure == Cure::LessOutput
            && overflow.window_tokens.is_some()
            && overflow.request_tokens >= overflow.window_tokens
        {
            overflow.cure = Cure::Shorter;
        }
        Some((overflow, found.words))
    })
}

fn is_silent(body: &[u8]) -> bool {
    matches!(body.trim_ascii(), b"" | b"{}" | b"null")
}

fn is_bare(body: &[u8]) -> bool {
    let said = Said::in_body(body);
    let says_more = said.texts.iter().any(|text| text.len() > BARE_BYTES);
    let mut texts = said.texts.iter().map(|text| text.to_lowercase());
    !says_more && texts.any(|text| TOO_LARGE.iter().any(|words| text.contains(words)))
}
