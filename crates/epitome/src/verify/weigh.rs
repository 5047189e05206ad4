//! The anchors of the source, and how much each matters.

use std::collections::HashMap;

use super::ground::Ground;
use super::mark::{AnchorKind, Mark, marks};
use super::word::{Key, Spread, key, words};
use crate::files::{self, FileOperations};
use crate::lines::lines;
use crate::message::{Block, Message, Role};

/// From this weight on an anchor must be in the summary.
const HEAVY: u32 = 12;
/// A longer message of the user is a paste, and what it names is not what he asks for.
const TYPED_CHARS: usize = 6_000;

/// An anchor of the source.
#[derive(Clone, Debug)]
pub(super) struct Anchor {
    pub(super) text: String,
    pub(super) kind: AnchorKind,
    /// In how many entries it stands.
    entries: u32,
    /// The last of them.
    last: usize,
    pub(super) is_changed: bool,
    is_typed: bool,
}

impl Anchor {
    pub(super) const fn is_heavy(&self) -> bool {
        self.weight() >= HEAVY
    }

    /// A file that was changed weighs most, then what the user named and the work came back to.
    pub(super) const fn weight(&self) -> u32 {
        let entries = if self.entries > 8 { 8 } else { self.entries };
        let is_name = !matches!(self.kind, AnchorKind::Number);
        entries + 12 * self.is_changed as u32 + 8 * (self.is_typed && is_name) as u32
    }

    /// The heaviest first, then the newest.
    pub(super) fn rank(&self) -> impl Ord + use<> {
        (
            std::cmp::Reverse((self.weight(), self.last)),
            self.text.clone(),
        )
    }

    /// Whether a text holds it, a path at least by its name.
    pub(super) fn is_in(&self, text: &Ground) -> bool {
        let name = match self.kind {
            AnchorKind::Path => self.text.trim_end_matches('/').rsplit('/').next(),
            _ => None,
        };
        let mut before: Option<Key> = None;
        words(name.unwrap_or(&self.text)).all(|word| {
            let before = before.replace(word.key);
            text.knows(word.key) && before.is_none_or(|before| text.has_pair(before, word.key))
        })
    }
}

/// The anchors of a source, in the order in which they first stand in it.
pub(super) fn anchors(source: &[(usize, &Message)]) -> Vec<Anchor> {
    let mut found = Found::default();
    for (position, message) in source {
        for block in &message.blocks {
            match block {
                Block::Text(text) => {
                    let is_typed = message.role == Role::User && text.len() <= TYPED_CHARS;
                    found.text(*position, text, is_typed);
                }
                Block::Call(call) => {
                    for (_, value) in files::strings(&call.arguments) {
                        found.text(*position, &value, false);
                    }
                }
                Block::Result(result) => {
                    for text in result.texts() {
                        found.text(*position, text, false);
                    }
                }
                Block::Injected(_)
                | Block::Thinking { .. }
                | Block::Media(_)
                | Block::Opaque { .. } => {}
            }
        }
    }
    for path in FileOperations::of(source.iter().map(|(_, message)| *message)).modified_files {
        let at = found.by_key.get(&key(&path)).copied();
        if let Some(anchor) = at.and_then(|at| found.anchors.get_mut(at)) {
            anchor.is_changed = true;
        }
    }
    found.anchors
}

#[derive(Default)]
struct Found {
    anchors: Vec<Anchor>,
    by_key: HashMap<Key, usize, Spread>,
}

impl Found {
    fn text(&mut self, position: usize, text: &str, is_typed: bool) {
        for line in lines(text) {
            marks(line, |mark| {
                if !mark.is_weak {
                    self.add(position, &mark, is_typed);
                }
            });
        }
    }

    fn add(&mut self, position: usize, mark: &Mark<'_>, is_typed: bool) {
        let next = self.anchors.len();
        let at = *self.by_key.entry(key(mark.text)).or_insert(next);
        match self.anchors.get_mut(at) {
            Some(anchor) => {
                anchor.entries += u32::from(anchor.last != position);
                anchor.last = position;
                anchor.is_typed |= is_typed;
            }
            None => self.anchors.push(Anchor {
                text: mark.text.to_owned(),
                kind: mark.kind,
                entries: 1,
                last: position,
                is_changed: false,
                is_typed,
            }),
        }
    }
}
