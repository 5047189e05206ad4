//! The words that a summary can ask its source about: of a long source only what they are part of is kept.

use std::collections::HashSet;

use super::super::item::lines;
use super::super::mark::{AnchorKind, marks};
use super::super::number::{REFERENCES, readings};
use super::super::typed::root;
use super::super::word::{Key, Spread, key, words};
use crate::pin;

/// Words that a summary may have in a shortened form only: "can't", "won't".
const SHORTENED: [&str; 2] = ["can", "will"];

/// The keys of all that one summary names.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Asked {
    words: HashSet<Key, Spread>,
    /// The beginnings of its words.
    roots: HashSet<Key, Spread>,
}

impl Asked {
    /// What a summary names: its words, those of its anchors, and what its numbers are read as.
    pub(in super::super) fn by(summary: &str) -> Self {
        let mut asked: HashSet<Key, Spread> = REFERENCES.iter().map(|word| key(word)).collect();
        let mut roots: HashSet<Key, Spread> = SHORTENED.iter().map(|word| root(word)).collect();
        for line in lines(summary) {
            for word in words(line.text) {
                asked.insert(word.key);
                roots.insert(root(word.text));
                roots.insert(root(pin::stem(&word.text.to_lowercase())));
            }
            marks(line.text, |mark| {
                asked.extend(words(mark.text).map(|word| word.key));
                if mark.kind == AnchorKind::Number {
                    asked.extend(readings(mark.text).map(key));
                }
            });
        }
        Self {
            words: asked,
            roots,
        }
    }

    pub(super) fn words(&self) -> impl Iterator<Item = Key> {
        self.words.iter().copied()
    }

    pub(in super::super) fn has(&self, word: Key) -> bool {
        self.words.contains(&word)
    }

    pub(in super::super) fn has_root(&self, root: Key) -> bool {
        self.roots.contains(&root)
    }
}
