//! A request body: the original bytes, and where its messages stand.

use std::ops::Range;

use bytes::Bytes;
use epitome::Reason;

use crate::json::{self, JsonError, Kind, Value};
use crate::scan::Scanner;
use crate::wire::Wire;

/// A request body as it arrived. Never re-serialised: what leaves is these bytes, or a [`Splice`](crate::Splice) of them.
#[derive(Clone, Debug)]
pub struct Body {
    bytes: Bytes,
    wire: Wire,
    fields: Vec<(Field, Range<usize>)>,
    list: Range<usize>,
    messages: Vec<Range<usize>>,
    separator: Separator,
    /// The items that are only named, in order.
    named: Vec<Named>,
}

/// An item that a body only names, and what it is as far as that is known.
#[derive(Clone, Debug)]
pub(crate) struct Named {
    pub(crate) index: usize,
    pub(crate) item: Option<Bytes>,
}

/// What stands between two messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Separator {
    Comma,
    Line,
}

/// Top-level members that matter here; all others are left alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Field {
    /// The model's name.
    Model,
    /// How long the answer may be.
    MaxTokens,
    /// The same, by its newer name.
    MaxCompletionTokens,
    /// The same, by the name that Responses gives it.
    MaxOutputTokens,
    /// Whether the answer is streamed.
    Stream,
    /// The system prompt that stands apart from the messages.
    System,
    /// The same, by the name that Responses gives it.
    Instructions,
    /// The tools.
    Tools,
    /// Which tools may, or must, be called.
    ToolChoice,
    /// The response that this request continues.
    PreviousResponseId,
    /// The conversation that the provider keeps.
    Conversation,
    /// What the provider is asked to do about the context.
    ContextManagement,
    /// Whether the provider is to leave out what does not fit.
    Truncation,
    /// Servers whose tools the provider calls.
    McpServers,
    /// That the provider is to look on the web.
    WebSearchOptions,
    /// What a gateway adds, such as pages of the web.
    Plugins,
    /// Whether the provider keeps the answer.
    Store,
}

impl Field {
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "model" => Self::Model,
            "max_tokens" => Self::MaxTokens,
            "max_completion_tokens" => Self::MaxCompletionTokens,
            "max_output_tokens" => Self::MaxOutputTokens,
            "stream" => Self::Stream,
            "system" => Self::System,
            "instructions" => Self::Instructions,
            "tools" => Self::Tools,
            "tool_choice" => Self::ToolChoice,
            "previous_response_id" => Self::PreviousResponseId,
            "conversation" => Self::Conversation,
            "context_management" => Self::ContextManagement,
            "truncation" => Self::Truncation,
            "mcp_servers" => Self::McpServers,
            "web_search_options" => Self::WebSearchOptions,
            "plugins" => Self::Plugins,
            "store" => Self::Store,
            _ => return None,
        })
    }
}

/// Why a body cannot be worked on. It can still be forwarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BodyError {
    /// Not JSON, or not an object.
    #[error("not a JSON object: {0}")]
    NotJson(JsonError),
    /// There is no array of messages under the name that the format gives it. A Responses `input` may also be a
    /// string: one message, of which nothing can be removed.
    #[error("there is no `{0}` array")]
    NoMessages(&'static str),
    /// The array of messages is given twice; readers would disagree about which one counts.
    #[error("`{0}` is given more than once")]
    RepeatedMessages(&'static str),
}

impl BodyError {
    /// The reason code.
    #[must_use]
    pub const fn reason(&self) -> Reason {
        match self {
            Self::NotJson(_) => Reason::NotJson,
            Self::NoMessages(_) => Reason::NoMessages,
            Self::RepeatedMessages(_) => Reason::AmbiguousBody,
        }
    }
}

impl Body {
    /// Scans a request body once, without decoding anything.
    ///
    /// # Errors
    /// [`BodyError`] when it is no JSON object with one array of messages (`messages`, or `input`).
    pub fn scan(bytes: Bytes, wire: Wire) -> Result<Self, BodyError> {
        let name = wire.list_name();
        let Members {
            fields,
            mut lists,
            messages,
        } = Members::scan(&bytes, name).map_err(BodyError::NotJson)?;
        if lists.len() > 1 {
            return Err(BodyError::RepeatedMessages(name));
        }
        let list = lists.pop().zip(messages);
        let (list, messages) = list.ok_or(BodyError::NoMessages(name))?;
        Ok(Self {
            bytes,
            wire,
            fields,
            list,
            messages,
            separator: Separator::Comma,
            named: Vec::new(),
        })
    }

    /// Scans a bare array of messages.
    ///
    /// # Errors
    /// [`BodyError::NotJson`] when it is no array.
    pub fn scan_array(bytes: Bytes, wire: Wire) -> Result<Self, BodyError> {
        let mut scanner = Scanner::new(&bytes, 0);
        scanner.space();
        let start = scanner.at();
        let messages = scanner.items().map_err(BodyError::NotJson)?;
        let list = start..scanner.at();
        scanner.space();
        if scanner.peek().is_some() {
            return Err(BodyError::NotJson(
                scanner.error("more text after the array"),
            ));
        }
        Ok(Self {
            bytes,
            wire,
            fields: Vec::new(),
            list,
            messages,
            separator: Separator::Comma,
            named: Vec::new(),
        })
    }

    /// Scans one message per line; blank lines are passed over.
    ///
    /// # Errors
    /// [`BodyError::NotJson`] with the position of the first line that is no value.
    pub fn scan_lines(bytes: Bytes, wire: Wire) -> Result<Self, BodyError> {
        let mut scanner = Scanner::new(&bytes, 0);
        let mut messages = Vec::new();
        scanner.space();
        while scanner.peek().is_some() {
            messages.push(scanner.value().map_err(BodyError::NotJson)?);
            scanner.space();
        }
        let list = 0..bytes.len();
        Ok(Self {
            bytes,
            wire,
            fields: Vec::new(),
            list,
            messages,
            separator: Separator::Line,
            named: Vec::new(),
        })
    }

    /// The original bytes.
    #[must_use]
    pub const fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// The format.
    #[must_use]
    pub const fn wire(&self) -> Wire {
        self.wire
    }

    /// How many messages there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.messages.len()
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// Where each message stands.
    #[must_use]
    pub fn messages(&self) -> &[Range<usize>] {
        &self.messages
    }

    /// The bytes of a message.
    #[must_use]
    pub fn message(&self, index: usize) -> &[u8] {
        self.messages
            .get(index)
            .and_then(|range| self.bytes.get(range.clone()))
            .unwrap_or_default()
    }

    /// Reads a message strictly.
    ///
    /// # Errors
    /// [`JsonError`] with a position in the body.
    pub fn read(&self, index: usize) -> Result<Value<'_>, JsonError> {
        let range = self.messages.get(index).cloned().unwrap_or_default();
        json::read_within(&self.bytes, range)
    }

    /// The bytes of a top-level member, the last one where it is repeated.
    #[must_use]
    pub fn field(&self, field: Field) -> Option<&[u8]> {
        let (_, range) = self
            .fields
            .iter()
            .rev()
            .find(|(known, _)| *known == field)?;
        self.bytes.get(range.clone())
    }

    /// The model's name.
    #[must_use]
    pub fn model(&self) -> Option<String> {
        let value = json::read(self.field(Field::Model)?).ok()?;
        value.as_text().map(|text| text.decode().into_owned())
    }

    /// How many tokens the answer may take, if the request says so.
    #[must_use]
    pub fn output_tokens(&self) -> Option<u64> {
        let names = [
            Field::MaxCompletionTokens,
            Field::MaxTokens,
            Field::MaxOutputTokens,
        ];
        names
            .into_iter()
            .filter_map(|field| self.field(field))
            .filter_map(|bytes| json::read(bytes).ok())
            .find_map(|value| match value.kind {
                Kind::Number(number) => number.parse().ok(),
                _ => None,
            })
    }

    /// Whether the answer is to be streamed.
    #[must_use]
    pub fn is_streaming(&self) -> bool {
        self.field(Field::Stream) == Some(b"true")
    }

    /// The item that stands at `index` by its name alone.
    pub(crate) fn named(&self, index: usize) -> Option<&Named> {
        let at = self.named.binary_search_by_key(&index, |named| named.index);
        self.named.get(at.ok()?)
    }

    pub(crate) fn set_named(&mut self, named: Vec<Named>) {
        self.named = named;
    }

    /// Whether later requests may name the items of the answer instead of sending them.
    #[must_use]
    pub fn lets_items_be_named(&self) -> bool {
        self.wire == Wire::OpenAiResponses && self.field(Field::Store) != Some(b"false")
    }

    pub(crate) const fn with_wire(mut self, wire: Wire) -> Self {
        self.wire = wire;
        self
    }

    pub(crate) fn fields(&self) -> &[(Field, Range<usize>)] {
        &self.fields
    }

    pub(crate) fn list(&self) -> Range<usize> {
        self.list.clone()
    }

    pub(crate) const fn separator(&self) -> Separator {
        self.separator
    }
}

/// The members of a request, as far as they matter.
pub(crate) struct Members {
    pub(crate) fields: Vec<(Field, Range<usize>)>,
    /// The values under the name of the list of messages.
    pub(crate) lists: Vec<Range<usize>>,
    /// The messages, where the last of these is an array.
    pub(crate) messages: Option<Vec<Range<usize>>>,
}

impl Members {
    pub(crate) fn scan(bytes: &[u8], list_name: &str) -> Result<Self, JsonError> {
        let mut scanner = Scanner::new(bytes, 0);
        let mut members = Self {
            fields: Vec::new(),
            lists: Vec::new(),
            messages: None,
        };
        scanner.space();
        scanner.expect(b'{', "no object")?;
        scanner.space();
        if scanner.take(b'}') {
            return members.if_ended(scanner);
        }
        loop {
            scanner.space();
            let name = scanner.string()?;
            scanner.space();
            scanner.expect(b':', "no colon after a member name")?;
            scanner.space();
            let name = member_name(bytes, name);
            if name == list_name {
                let start = scanner.at();
                members.messages = match scanner.peek() {
                    Some(b'[') => Some(scanner.items()?),
                    _ => {
                        scanner.value()?;
                        None
                    }
                };
                members.lists.push(start..scanner.at());
            } else {
                let value = scanner.value()?;
                let known = Field::named(&name).map(|field| (field, value));
                members.fields.extend(known);
            }
            scanner.space();
            if scanner.take(b'}') {
                return members.if_ended(scanner);
            }
            scanner.expect(b',', "an object that does not end")?;
        }
    }

    /// Nothing but space may follow.
    fn if_ended(self, mut scanner: Scanner<'_>) -> Result<Self, JsonError> {
        scanner.space();
        match scanner.peek() {
            None => Ok(self),
            Some(_) => Err(scanner.error("more text after the object")),
        }
    }
}

/// The member's name; escapes in names are rare but legal.
fn member_name(bytes: &[u8], range: Range<usize>) -> std::borrow::Cow<'_, str> {
    let raw = bytes.get(range.clone()).unwrap_or_default();
    if raw.contains(&b'\\')
        && let Ok(value) = json::read_within(bytes, range.start - 1..range.end + 1)
        && let Kind::Text(text) = value.kind
    {
        return text.decode();
    }
    String::from_utf8_lossy(raw)
}
