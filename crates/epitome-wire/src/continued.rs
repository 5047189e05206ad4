//! Requests of Responses that go on from an earlier answer by its id: the provider has the history, and only what is new
//! is sent. Who saw every item go by can say the same in full.

use std::ops::Range;

use bytes::Bytes;

use crate::json::{self, JsonError, Value};
use crate::scan::Scanner;
use crate::splice::Edit;
use crate::validity::{remove_member, with_edits};

/// A request by what it adds to a conversation that the provider keeps.
///
/// ```
/// use epitome_wire::Continued;
///
/// let request = br#"{"model":"m","previous_response_id":"resp_1","input":"Go on."}"#;
/// let request = Continued::read(request.as_slice().into()).unwrap();
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
    /// Reads a request; `None` where nothing can be said about it: it is no such request, what it begins with is kept as a
    /// `conversation`, or the provider does not keep the answer (`"store": false`).
    #[must_use]
    pub fn read(bytes: Bytes) -> Option<Self> {
        let members = members(&bytes).ok()?;
        let text = |range: &Range<usize>| bytes.get(range.clone());
        let is = |name: &str| {
            let mut named = members.iter().filter(move |member| member.name == name);
            let first = named.next();
            // What is said twice is understood by everybody in another way.
            first.filter(|_| named.next().is_none())
        };
        let given = |name: &str| is(name).filter(|one| text(&one.value) != Some(b"null"));
        if given("conversation").is_some()
            || is("store").and_then(|one| text(&one.value)) == Some(b"false")
        {
            return None;
        }
        let previous = match given("previous_response_id") {
            Some(member) => {
                let id = json::read(text(&member.value)?).ok()?;
                let id = id.as_text()?.decode().into_owned();
                Some((id, removal(&members, member.at)?))
            }
            None => None,
        };
        let input = is("input")?.value.clone();
        let added = items(&bytes, &input)?;
        Some(Self {
            previous,
            input,
            added,
            bytes,
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

/// A member of an object.
struct Member {
    at: usize,
    name: String,
    /// Where it begins, with its name.
    start: usize,
    value: Range<usize>,
}

fn members(bytes: &[u8]) -> Result<Vec<Member>, JsonError> {
    let mut scanner = Scanner::new(bytes, 0);
    let mut members = Vec::new();
    scanner.space();
    scanner.expect(b'{', "no object")?;
    scanner.space();
    if scanner.take(b'}') {
        return Ok(members);
    }
    loop {
        scanner.space();
        let start = scanner.at();
        let name = scanner.string()?;
        scanner.space();
        scanner.expect(b':', "no colon after a member name")?;
        scanner.space();
        let value = scanner.value()?;
        members.push(Member {
            at: members.len(),
            name: crate::body::member_name(bytes, name).into_owned(),
            start,
            value,
        });
        scanner.space();
        if scanner.take(b'}') {
            return Ok(members);
        }
        scanner.expect(b',', "an object that does not end")?;
    }
}

/// Takes a member out, with the comma that belongs to it.
fn removal(members: &[Member], at: usize) -> Option<Edit> {
    let member = members.get(at)?;
    let before = at.checked_sub(1).and_then(|before| members.get(before));
    let range = match (members.get(at + 1), before) {
        (Some(next), _) => member.start..next.start,
        (None, Some(before)) => before.value.end..member.value.end,
        (None, None) => member.start..member.value.end,
    };
    Some(Edit {
        range,
        with: Vec::new(),
    })
}

/// The items of an input, which may be one text.
fn items(bytes: &Bytes, input: &Range<usize>) -> Option<Vec<Bytes>> {
    let text = bytes.get(input.clone())?;
    match text.first()? {
        b'[' => {
            let mut scanner = Scanner::new(bytes, input.start);
            let items = scanner.items().ok()?;
            Some(items.into_iter().map(|item| bytes.slice(item)).collect())
        }
        b'"' => {
            let mut item = br#"{"role":"user","content":"#.to_vec();
            item.extend_from_slice(text);
            item.push(b'}');
            Some(vec![item.into()])
        }
        _ => None,
    }
}

#[cfg(test)]
#[path = "continued_tests.rs"]
mod tests;
