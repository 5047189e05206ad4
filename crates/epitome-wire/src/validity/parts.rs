//! Small changes of JSON text that leave every other byte where it is.

use std::ops::Range;

use crate::json::{self, Value, read_within};
use crate::splice::Edit;

/// The bytes with some of them replaced. Of edits that overlap only the first is made.
pub(crate) fn with_edits(bytes: &[u8], edits: &[Edit]) -> Vec<u8> {
    let mut edits: Vec<&Edit> = edits.iter().collect();
    edits.sort_by_key(|edit| (edit.range.start, edit.range.end));
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    for edit in edits.into_iter() {
        if edit.range.start < at {
            continue;
        }
        out.extend_from_slice(bytes.get(at..edit.range.start).unwrap_or_default());
        out.extend_from_slice(&edit.with);
        at = edit.range.end;
    }
    out.extend_from_slice(bytes.get(at..).unwrap_or_default());
    out
}

/// Gives a member this value, as JSON.
pub(crate) fn set_member(object: &Value<'_>, name: &str, json: impl Into<Vec<u8>>) -> Edit {
    match object.get(name) {
        Some(value) => Edit {
            range: value.range.clone(),
            with: json.into(),
        },
        None => add_member(object, name, json),
    }
}

/// Puts a member at the end of an object.
pub(crate) fn add_member(object: &Value<'_>, name: &str, json: impl Into<Vec<u8>>) -> Edit {
    let end = object.range.end.saturating_sub(1);
    let comma = if object.members().is_empty() { "" } else { "," };
    let mut with = format!("{comma}\"{name}\":").into_bytes();
    with.extend(json.into());
    Edit {
        range: end..end,
        with,
    }
}

/// Takes a member out of an object, with the comma that belongs to it.
pub(crate) fn remove_member(object: &Value<'_>, name: &str) -> Option<Edit> {
    let members = object.members();
    let index = members.iter().rposition(|(key, _)| key.is(name))?;
    let (key, value) = members.get(index)?;
    let start_of = |key: &json::Text<'_>| key.range().start.saturating_sub(1);
    let next = members.get(index + 1);
    let before = index.checked_sub(1).and_then(|before| members.get(before));
    let range = match (next, before) {
        (Some((next, _)), _) => start_of(key)..start_of(next),
        (None, Some((_, before))) => before.range.end..value.range.end,
        (None, None) => start_of(key)..value.range.end,
    };
    Some(Edit {
        range,
        with: Vec::new(),
    })
}

/// The list at `list` without some of its items, as one edit, and whether nothing is left of it.
pub(crate) fn drop_items(
    bytes: &[u8],
    list: &Range<usize>,
    dropped: &[Range<usize>],
) -> Option<(Edit, bool)> {
    let value = read_within(bytes, list.clone()).ok()?;
    let kept: Vec<&[u8]> = value
        .items()
        .iter()
        .filter(|item| !dropped.contains(&item.range))
        .map(|item| bytes.get(item.range.clone()).unwrap_or_default())
        .collect();
    let edit = Edit {
        range: list.clone(),
        with: joined(&kept),
    };
    Some((edit, kept.is_empty()))
}

/// A list of these items.
pub(crate) fn joined(items: &[&[u8]]) -> Vec<u8> {
    let mut out = vec![b'['];
    out.extend_from_slice(&items.join(&b','));
    out.push(b']');
    out
}

/// A text as a JSON string.
pub(crate) fn quoted(text: &str) -> Vec<u8> {
    json::quoted(text).into_bytes()
}

/// The bytes of a value.
pub(crate) fn raw<'a>(bytes: &'a [u8], value: &Value<'_>) -> &'a [u8] {
    bytes.get(value.range.clone()).unwrap_or_default()
}

/// The spelling of a value as a JSON string.
pub(crate) fn spelled(bytes: &[u8], value: &Value<'_>) -> Vec<u8> {
    quoted(&String::from_utf8_lossy(raw(bytes, value)))
}

/// A message with U+FFFD where half of a surrogate pair is escaped; `None` when there is none. A backslash
/// stands nowhere in JSON but in strings, so that nothing else need be read.
pub(crate) fn without_lone_surrogates(bytes: &[u8]) -> Option<Vec<u8>> {
    memchr::memmem::find(bytes, b"\\u")?;
    let mut edits = Vec::new();
    let mut at = 0;
    let unit = |at: usize| {
        let digits = bytes.get(at..at + 6)?.strip_prefix(b"\\u")?;
        u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    };
    while let Some(found) = memchr::memchr(b'\\', bytes.get(at..).unwrap_or_default()) {
        at += found;
        at += match (unit(at), unit(at + 6)) {
            (Some(0xD800..0xDC00), Some(0xDC00..0xE000)) => 12,
            (Some(0xD800..0xE000), _) => {
                let range = at..at + 6;
                let with = b"\\ufffd".to_vec();
                edits.push(Edit { range, with });
                6
            }
            (Some(_), _) => 6,
            (None, _) => 2,
        };
    }
    (!edits.is_empty()).then(|| with_edits(bytes, &edits))
}
