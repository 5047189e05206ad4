//! The canonical form of a message: what two requests must agree on to mean the same message.
//!
//! For recognition only. What is left out here (cache marks, thinking, injected reminders, the client's
//! own instructions) is still forwarded as it came, and feeds no summary.

use epitome::{Digest, Role};

use crate::json::{Kind, Text, Value, same_number_key};

/// The version of the canonical form. Part of every digest, so that two versions never mix.
pub const NORMALISER_VERSION: u8 = 1;

/// Members that say how to cache, not what was said.
const CACHE_MEMBERS: &[&str] = &["cache_control", "prompt_cache_breakpoint"];

/// Collects the canonical form of one message: a sequence of tagged, length-prefixed pieces.
#[derive(Debug)]
pub(crate) struct Canonical {
    bytes: Vec<u8>,
    is_empty: bool,
}

impl Canonical {
    pub(crate) fn new(role: &str) -> Self {
        let mut canonical = Self {
            bytes: vec![NORMALISER_VERSION],
            is_empty: true,
        };
        canonical.piece(b'r', role.as_bytes());
        canonical
    }

    /// One tagged piece of content.
    pub(crate) fn add(&mut self, tag: u8, bytes: &[u8]) {
        self.is_empty = false;
        self.piece(tag, bytes);
    }

    pub(crate) fn text(&mut self, tag: u8, text: &Text<'_>) {
        self.add(tag, &text.decode_exact());
    }

    /// A text that somebody said: not an empty one, and not what a client put in by itself.
    pub(crate) fn said(&mut self, text: &Text<'_>, role: Role) {
        let decoded = text.decode();
        let is_silent = decoded.is_empty() || (role == Role::User && is_injected(&decoded));
        if !is_silent {
            self.text(b't', text);
        }
    }

    /// A value compared as JSON.
    pub(crate) fn json(&mut self, tag: u8, value: &Value<'_>) {
        let mut bytes = Vec::new();
        write_json(value, &mut bytes);
        self.add(tag, &bytes);
    }

    /// An object's members but for the `known` ones, those that are about caching, and those that say
    /// nothing (`null`, `[]`).
    pub(crate) fn rest(&mut self, object: &Value<'_>, known: &[&str]) {
        let mut members: Vec<_> = object
            .members()
            .iter()
            .filter(|(name, value)| {
                !value.is_null()
                    && !matches!(&value.kind, Kind::Array(items) if items.is_empty())
                    && !known
                        .iter()
                        .chain(CACHE_MEMBERS)
                        .any(|known| name.is(known))
            })
            .collect();
        members.sort_by(|(a, _), (b, _)| a.decode_exact().cmp(&b.decode_exact()));
        for (name, value) in members {
            self.text(b'k', name);
            self.json(b'v', value);
        }
    }

    /// Arguments that arrive as text: compared as JSON where they are JSON.
    pub(crate) fn json_text(&mut self, tag: u8, text: &Text<'_>) {
        // A lone surrogate is no UTF-8, so that such a text is compared as it is.
        let decoded = text.decode_exact();
        match crate::json::read(&decoded) {
            Ok(value) => self.json(tag, &value),
            Err(_) => self.text(tag.to_ascii_uppercase(), text),
        }
    }

    /// The digest; `None` for a message in which nobody says anything, which is no link of a chain.
    pub(crate) fn finish(self) -> Option<Digest> {
        (!self.is_empty).then(|| Digest::of(&self.bytes))
    }

    fn piece(&mut self, tag: u8, bytes: &[u8]) {
        self.bytes.push(tag);
        self.bytes
            .extend_from_slice(&(bytes.len() as u64).to_le_bytes());
        self.bytes.extend_from_slice(bytes);
    }
}

/// What a message says in a role that nobody knows: all that stands in it.
pub(crate) fn unknown(value: &Value<'_>) -> Option<Digest> {
    let mut out = Canonical::new("unknown");
    out.rest(value, &["id", "status"]);
    out.finish()
}

/// Whether a text block is something a client put in by itself: reminders and nothing between them.
///
/// Such a block is forwarded but is nobody's word: it is no part of a message's identity and feeds no summary.
///
/// ```
/// use epitome_wire::is_injected;
///
/// assert!(is_injected("<system-reminder>The list is empty.</system-reminder>"));
/// assert!(!is_injected("<system-reminder>The list is empty.</system-reminder> Go on."));
/// ```
#[must_use]
pub fn is_injected(text: &str) -> bool {
    let mut rest = text.trim();
    let mut found = false;
    while let Some(inside) = rest.strip_prefix("<system-reminder>") {
        let Some((_, after)) = inside.split_once("</system-reminder>") else {
            return false;
        };
        rest = after.trim_start();
        found = true;
    }
    found && rest.is_empty()
}

/// JSON with sorted members, decoded strings and normal numbers. Every piece is tagged and
/// length-prefixed, so that different values never look alike.
fn write_json(value: &Value<'_>, out: &mut Vec<u8>) {
    match &value.kind {
        Kind::Null => out.push(b'0'),
        Kind::Bool(false) => out.push(b'f'),
        Kind::Bool(true) => out.push(b't'),
        Kind::Number(number) => write_piece(b'n', same_number_key(number).as_bytes(), out),
        Kind::Text(text) => write_piece(b's', &text.decode_exact(), out),
        Kind::Array(items) => {
            out.push(b'[');
            out.extend_from_slice(&(items.len() as u64).to_le_bytes());
            for item in items {
                write_json(item, out);
            }
        }
        Kind::Object(members) => {
            let mut members: Vec<_> = members
                .iter()
                .map(|(name, value)| (name.decode_exact(), value))
                .collect();
            members.sort_by(|(a, _), (b, _)| a.cmp(b));
            out.push(b'{');
            out.extend_from_slice(&(members.len() as u64).to_le_bytes());
            for (name, value) in members {
                write_piece(b'k', &name, out);
                write_json(value, out);
            }
        }
    }
}

fn write_piece(tag: u8, bytes: &[u8], out: &mut Vec<u8>) {
    out.push(tag);
    out.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
    out.extend_from_slice(bytes);
}
