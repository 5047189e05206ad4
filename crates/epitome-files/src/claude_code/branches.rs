//! Which entries of Claude Code's tree count.
//!
//! Entries name their parents, but the tree is not only branches of the conversation: results of parallel calls hang
//! beside each other, and so do progress lines. What the user took back is known by two prompts behind the same
//! entry: the last one counts, and what follows from the others does not.

use std::collections::{HashMap, HashSet};
use std::io::{BufRead, Cursor, Seek};

use epitome_wire::json::Value;

use super::is_true;
use crate::counts::fingerprint;
use crate::error::ReadError;
use crate::lines::{Entry, entries, rewind};

/// What the user took back.
#[derive(Default)]
pub(super) struct Rewound(HashSet<u64>);

impl Rewound {
    pub(super) fn of(source: &mut (impl BufRead + Seek)) -> Result<Self, ReadError> {
        // The newest prompt behind each entry, and those that had another one after them.
        let mut newest = HashMap::new();
        let mut older = Vec::new();
        // What is wrong with lines is said when they are read for what they say.
        entries(source, &mut |_| {}, |entry, _| {
            if let Some((own, parent)) = place(&entry.value)
                && is_prompt(&entry.value)
            {
                older.extend(newest.insert(parent, own).map(|before| (before, parent)));
            }
        })?;
        older.retain(|(own, parent)| newest.get(parent) != Some(own));
        let mut rewound: HashSet<u64> = older.into_iter().map(|(own, _)| own).collect();
        // Few files have any: most are not read again for what follows from them.
        if !rewound.is_empty() {
            rewind(source)?;
            entries(source, &mut |_| {}, |entry, _| {
                if let Some((own, parent)) = place(&entry.value)
                    && rewound.contains(&parent)
                {
                    rewound.insert(own);
                }
            })?;
        }
        Ok(Self(rewound))
    }

    pub(super) fn has(&self, entry: &Entry<'_>) -> bool {
        !self.0.is_empty()
            && entry
                .value
                .string("uuid")
                .is_some_and(|id| self.0.contains(&fingerprint(&id)))
    }
}

/// An entry and the one that it follows.
fn place(value: &Value<'_>) -> Option<(u64, u64)> {
    let id = |name| value.string(name).map(|id| fingerprint(&id));
    Some((id("uuid")?, id("parentUuid")?))
}

/// Whether somebody typed it.
fn is_prompt(value: &Value<'_>) -> bool {
    let is_no_prompt = ["isSidechain", "isMeta", "isCompactSummary"]
        .iter()
        .any(|flag| is_true(value, flag));
    let said = value.get("message").and_then(|said| said.get("content"));
    let is_result = |block: &Value<'_>| block.string("type").as_deref() == Some("tool_result");
    value.string("type").as_deref() == Some("user")
        && !is_no_prompt
        && said.is_some_and(|said| !said.items().iter().any(is_result))
}

/// The ids of the entries that say something to the model, from the one with this number on. An answer that begins
/// with thinking begins before the first entry in which it says something.
pub(crate) fn said_since(file: &[u8], first: usize) -> Result<Vec<String>, ReadError> {
    let rewound = Rewound::of(&mut Cursor::new(file))?;
    let answer_of = |value: &Value<'_>| {
        let said = value.get("message")?;
        Some(fingerprint(&said.string("id")?))
    };
    let mut answer = None;
    let mut source = file;
    entries(&mut source, &mut |_| {}, |entry, _| {
        if entry.number == first {
            answer = answer_of(&entry.value);
        }
    })?;
    let mut ids = Vec::new();
    let mut source = file;
    entries(&mut source, &mut |_| {}, |entry, _| {
        let value = &entry.value;
        let is_kind = match value.string("type").as_deref() {
            Some("user") => !is_true(value, "isCompactSummary"),
            Some("assistant" | "attachment") => true,
            _ => false,
        };
        let is_since = entry.number >= first || answer.is_some() && answer_of(value) == answer;
        if is_kind && is_since && !is_true(value, "isSidechain") && !rewound.has(entry) {
            ids.extend(value.string("uuid").map(|id| id.into_owned()));
        }
    })?;
    Ok(ids)
}
