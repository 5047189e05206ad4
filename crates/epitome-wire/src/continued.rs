//! Requests of Responses that go on from an earlier answer by its id: the provider has the history, and only what is new
//! is sent. Who saw every item go by can say the same in full.

use std::ops::Range;

use bytes::Bytes;

use crate::body::{Body, Field, Members};
use crate::json::{self, Value};
use crate::splice::Edit;
use crate::validity::{remove_member, with_edits};
use crate::wire::Wire;

/// A request by what it adds to a conversation that the provider keeps.
///
/// ```
/// use epitome_wire::Continued;
///
/// let request = br#"{"model":"m","previous_response_id":"resp_1","input":"Go on."}"#;
/// let request = Continued::read(&request.as_slice().into()).unwrap();
/// assert_eq!(request.previous(), Some("resp_1"));
/// let earlier = [br#"{"role":"user","content":"Hello."}"#.as_slice().into()];
/// assert_eq!(
///     request.in_full(&earlier),
///     br#"{"model":"m","input":[{"role":"user","content":"Hello."},{"role":"user","content":"Go on."}]}"#.as_slice(),
/// );
/// ```
#[derive(Clone, Debug)]
pub struct Continued {
    bytes: Bytes,
    previous: Option<(String, Edit)>,
    input: Range<usize>,
    added: Vec<Bytes>,
}

impl Continued {
    /// A request with a list of items; `None` where nothing can be said about it: what it begins with is kept as a
    /// `conversation`, the provider does not keep the answer (`"store": false`), or it says one of these twice.
    #[must_use]
    pub fn of(body: &Body) -> Option<Self> {
        if body.wire() != Wire::OpenAiResponses {
            return None;
        }
        let bytes = body.bytes();
        let added = || sliced(bytes, body.messages());
        Self::new(bytes, body.fields(), body.list(), added)
    }

    /// The same, for any request; its input may be one text.
    #[must_use]
    pub fn read(bytes: &Bytes) -> Option<Self> {
        let members = Members::scan(bytes, Wire::OpenAiResponses.list_name()).ok()?;
        let [input] = members.lists.as_slice() else {
            return None;
        };
        let text = bytes.get(input.clone())?;
        let added = || match &members.messages {
            Some(items) => sliced(bytes, items),
            None => vec![said(text)],
        };
        if members.messages.is_none() && text.first() != Some(&b'"') {
            return None;
        }
        Self::new(bytes, &members.fields, input.clone(), added)
    }

    fn new(
        bytes: &Bytes,
        fields: &[(Field, Range<usize>)],
        input: Range<usize>,
        added: impl FnOnce() -> Vec<Bytes>,
    ) -> Option<Self> {
        let mut previous = None;
        let mut seen = Vec::new();
        for (field, value) in fields {
            let text = bytes.get(value.clone())?;
            match field {
                Field::Conversation if text != b"null" => return None,
                Field::Store if text == b"false" => return None,
                Field::PreviousResponseId if text != b"null" => {
                    let id = json::read(text).ok()?.as_text()?.decode().into_owned();
                    previous = Some((id, removal(bytes, value)?));
                }
                Field::Conversation | Field::Store | Field::PreviousResponseId => {}
                _ => continue,
            }
            // What is said twice is understood by everybody in another way.
            if seen.contains(field) {
                return None;
            }
            seen.push(*field);
        }
        Some(Self {
            previous,
            input,
            added: added(),
            bytes: bytes.clone(),
        })
    }

    /// The response that it goes on from.
    #[must_use]
    pub fn previous(&self) -> Option<&str> {
        self.previous.as_ref().map(|(id, _)| id.as_str())
    }

    /// The items that it brings.
    #[must_use]
    pub fn added(&self) -> &[Bytes] {
        &self.added
    }

    /// The same request with what came before in it, and without the id.
    #[must_use]
    pub fn in_full(&self, earlier: &[Bytes]) -> Bytes {
        let length: usize = earlier.iter().map(|item| item.len() + 1).sum();
        let mut list = Vec::with_capacity(length + self.input.len() + 2);
        list.push(b'[');
        for (at, item) in earlier.iter().chain(&self.added).enumerate() {
            if at > 0 {
                list.push(b',');
            }
            list.extend_from_slice(item);
        }
        list.push(b']');
        let mut edits = vec![Edit {
            range: self.input.clone(),
            with: list,
        }];
        edits.extend(self.previous.iter().map(|(_, removal)| removal.clone()));
        with_edits(&self.bytes, &edits).into()
    }
}

/// The items of an answer as a client may send them back. Reasoning that only the provider can read is left out, and with
/// it the ids by which other items are bound to it: they would be refused alone.
#[must_use]
pub fn sent_back(output: &[Bytes]) -> Vec<Bytes> {
    let read = |item: &Bytes| json::read(item).ok().map(|value| is_hidden(&value));
    let hides = output.iter().filter_map(read).any(|is_hidden| is_hidden);
    let items = output.iter().filter_map(|item| {
        let Ok(value) = json::read(item) else {
            return Some(item.clone());
        };
        if is_hidden(&value) {
            return None;
        }
        let id = remove_member(&value, "id").filter(|_| hides);
        Some(match id {
            Some(edit) => with_edits(item, &[edit]).into(),
            None => item.clone(),
        })
    });
    items.collect()
}

/// Whether an item is reasoning without its content.
fn is_hidden(item: &Value<'_>) -> bool {
    item.string("type").as_deref() == Some("reasoning")
        && item.get("encrypted_content").is_none_or(Value::is_null)
}

/// Takes out the member that has this value, with the comma that belongs to it.
fn removal(bytes: &[u8], value: &Range<usize>) -> Option<Edit> {
    let before = bytes.get(..value.start)?;
    let colon = last_word(before)?;
    // A name that means something here has no quotes in it, however it is spelled.
    let closing = last_word(before.get(..colon)?)?;
    let opening = memchr::memrchr(b'"', before.get(..closing)?)?;
    let first_behind = |at: usize| {
        let rest = bytes.get(at..)?;
        let offset = rest.iter().position(|byte| !is_space(*byte))?;
        Some(at + offset)
    };
    let behind = first_behind(value.end)?;
    let range = if bytes.get(behind) == Some(&b',') {
        opening..first_behind(behind + 1)?
    } else {
        let comma = last_word(before.get(..opening)?)?;
        match before.get(comma) {
            Some(b',') => last_word(before.get(..comma)?)? + 1..value.end,
            _ => opening..value.end,
        }
    };
    Some(Edit {
        range,
        with: Vec::new(),
    })
}

/// Where the last byte stands that is no space.
fn last_word(bytes: &[u8]) -> Option<usize> {
    bytes.iter().rposition(|byte| !is_space(*byte))
}

const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

fn sliced(bytes: &Bytes, items: &[Range<usize>]) -> Vec<Bytes> {
    items.iter().map(|item| bytes.slice(item.clone())).collect()
}

/// An input that is one text, as an item.
fn said(text: &[u8]) -> Bytes {
    let mut item = br#"{"role":"user","content":"#.to_vec();
    item.extend_from_slice(text);
    item.push(b'}');
    item.into()
}

#[cfg(test)]
#[path = "continued_tests.rs"]
mod tests;
