//! Blocks that are still growing.

use std::collections::BTreeMap;

use epitome::{Block, Call};

/// Blocks by the position that the stream gives them.
#[derive(Debug, Default)]
pub(super) struct Drafts {
    drafts: BTreeMap<u64, Draft>,
}

/// A block that is still growing.
#[derive(Debug)]
pub(super) enum Draft {
    Text(String),
    Thinking {
        chars: usize,
    },
    Call {
        id: String,
        name: String,
        arguments: String,
    },
    /// What came whole.
    Done(Vec<Block>),
}

impl Draft {
    pub(super) fn call() -> Self {
        Self::Call {
            id: String::new(),
            name: String::new(),
            arguments: String::new(),
        }
    }

    fn into_blocks(self) -> Vec<Block> {
        match self {
            Self::Text(text) if text.is_empty() => Vec::new(),
            Self::Text(text) => vec![Block::Text(text)],
            Self::Thinking { chars } => vec![Block::Thinking { chars }],
            Self::Call {
                id,
                name,
                arguments,
            } => vec![Block::Call(Call::new(id, name, arguments))],
            Self::Done(blocks) => blocks,
        }
    }
}

impl Drafts {
    /// The draft at a position; a new one where there is none.
    pub(super) fn at(&mut self, position: u64, new: impl FnOnce() -> Draft) -> &mut Draft {
        self.drafts.entry(position).or_insert_with(new)
    }

    /// Puts a draft at a position, whatever stood there.
    pub(super) fn put(&mut self, position: u64, draft: Draft) {
        self.drafts.insert(position, draft);
    }

    /// Appends text; nothing happens where something else stands.
    pub(super) fn say(&mut self, position: u64, words: &str) {
        if let Draft::Text(text) = self.at(position, || Draft::Text(String::new())) {
            text.push_str(words);
        }
    }

    /// Counts reasoning.
    pub(super) fn think(&mut self, position: u64, words: &str) {
        if let Draft::Thinking { chars } = self.at(position, || Draft::Thinking { chars: 0 }) {
            *chars += words.chars().count();
        }
    }

    /// Adds to a call: an id or a name that comes again is the same, arguments grow.
    pub(super) fn call(&mut self, position: u64, id: &str, name: &str, more: &str) {
        if let Draft::Call {
            id: known_id,
            name: known_name,
            arguments,
        } = self.at(position, Draft::call)
        {
            if known_id.is_empty() {
                known_id.push_str(id);
            }
            if known_name.is_empty() {
                known_name.push_str(name);
            }
            arguments.push_str(more);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.drafts.is_empty()
    }

    pub(super) fn into_blocks(self) -> Vec<Block> {
        self.drafts
            .into_values()
            .flat_map(Draft::into_blocks)
            .collect()
    }
}
