//! Ids and parents of a session file: which entries are on the way from the leaf to the root.

use std::collections::HashMap;

use epitome_wire::json::{Kind, Value};

use crate::counts::fingerprint;
use crate::lines::Entry;
use crate::problem::ProblemCode;

/// Another entry, by its number in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Node {
    /// None is named.
    None,
    /// One is named and is not there.
    Missing,
    /// This one.
    At(usize),
}

/// What the first pass keeps: per entry its parent, and the ids.
#[derive(Default)]
pub(super) struct Tree {
    parents: Vec<u32>,
    numbers: HashMap<u64, u32>,
    /// Parents that were not in the file yet when they were named.
    pending: Vec<(u32, u64)>,
    /// What is wrong with each entry, one bit for each of [`CODES`].
    wrong: Vec<u8>,
    /// What compactions name as the first entry they keep.
    first_kept: Vec<(u32, FirstKept)>,
    /// The entry that the conversation goes on from; `NONE` before the first.
    leaf: Option<u32>,
    is_linear: bool,
    has_header: bool,
}

#[derive(Clone, Copy)]
enum FirstKept {
    Id(u64),
    Number(u64),
}

const NONE: u32 = u32::MAX;

/// What the first pass finds, and how it is told.
const CODES: [(ProblemCode, &str); 5] = [
    (
        ProblemCode::MissingHeader,
        "the file does not begin with a session entry",
    ),
    (
        ProblemCode::BrokenParent,
        "the parent is not in the file; the entry before it is taken instead",
    ),
    (ProblemCode::RepeatedId, "another entry has the same id"),
    (
        ProblemCode::LeafMissing,
        "the entry to go on from is not in the file",
    ),
    (
        ProblemCode::ParentCycle,
        "the parents of this entry lead back to it",
    ),
];

impl Tree {
    pub(super) fn add(&mut self, entry: &Entry<'_>) {
        let value = &entry.value;
        let number = u32::try_from(self.parents.len()).unwrap_or(NONE - 1);
        self.wrong.push(0);
        if number == 0 {
            self.header(entry);
            if self.has_header {
                self.parents.push(NONE);
                return;
            }
        }
        let kind = value.string("type").unwrap_or_default();
        let id = value.string("id");
        let parent = self.parent(number, entry);
        self.parents.push(parent);
        if let Some(id) = &id
            && self.numbers.insert(fingerprint(id), number).is_some()
        {
            self.wrong(number, ProblemCode::RepeatedId);
        }
        if matches!(&*kind, "compaction" | "reset") {
            let kept = value
                .string("firstKeptEntryId")
                .map(|id| FirstKept::Id(fingerprint(&id)))
                .or_else(|| {
                    let number = value.whole_number("firstKeptEntryIndex")?;
                    Some(FirstKept::Number(number))
                });
            self.first_kept.extend(kept.map(|kept| (number, kept)));
        }
        if kind == "leaf" {
            self.move_leaf(number, entry);
        } else if value.string("appendMode").as_deref() != Some("side") {
            self.leaf = Some(number);
        }
    }

    /// The first entry says which version the file has: the oldest has no ids.
    fn header(&mut self, entry: &Entry<'_>) {
        let value = &entry.value;
        self.has_header = value.string("type").as_deref() == Some("session");
        self.is_linear = value.whole_number("version").unwrap_or(1) < 2;
        if !self.has_header {
            self.is_linear = value.get("id").is_none();
            self.wrong(0, ProblemCode::MissingHeader);
        }
    }

    fn parent(&mut self, number: u32, entry: &Entry<'_>) -> u32 {
        let before = number
            .checked_sub(1)
            .filter(|_| number > 1 || !self.has_header);
        let before = before.unwrap_or(NONE);
        if self.is_linear {
            return before;
        }
        match entry.value.get("parentId") {
            Some(parent) if parent.is_null() => NONE,
            Some(Value {
                kind: Kind::Text(id),
                ..
            }) => {
                let key = fingerprint(&id.decode());
                match self.numbers.get(&key) {
                    Some(parent) => *parent,
                    None => {
                        self.pending.push((number, key));
                        before
                    }
                }
            }
            _ => {
                self.wrong(number, ProblemCode::BrokenParent);
                before
            }
        }
    }

    fn move_leaf(&mut self, number: u32, entry: &Entry<'_>) {
        match entry.value.get("targetId") {
            Some(target) if target.is_null() => self.leaf = None,
            Some(Value {
                kind: Kind::Text(id),
                ..
            }) => match self.numbers.get(&fingerprint(&id.decode())) {
                Some(target) => {
                    self.leaf = Some(*target);
                    // Who names this entry as a parent means the target.
                    if let Some(parent) = self.parents.get_mut(number as usize) {
                        *parent = *target;
                    }
                }
                None => self.wrong(number, ProblemCode::LeafMissing),
            },
            _ => self.wrong(number, ProblemCode::LeafMissing),
        }
    }

    fn wrong(&mut self, number: u32, code: ProblemCode) {
        let bit = CODES.iter().position(|(known, _)| *known == code);
        if let (Some(bit), Some(flags)) = (bit, self.wrong.get_mut(number as usize)) {
            *flags |= 1 << bit;
        }
    }

    /// The way from the leaf to the root.
    pub(super) fn path(mut self) -> Path {
        for (number, key) in std::mem::take(&mut self.pending) {
            match self.numbers.get(&key) {
                Some(parent) => {
                    if let Some(slot) = self.parents.get_mut(number as usize) {
                        *slot = *parent;
                    }
                }
                None => self.wrong(number, ProblemCode::BrokenParent),
            }
        }
        let mut on_path = vec![false; self.parents.len()];
        let mut at = self.leaf.unwrap_or(NONE);
        while let Some(slot) = on_path.get_mut(at as usize) {
            if *slot {
                self.wrong(at, ProblemCode::ParentCycle);
                break;
            }
            *slot = true;
            at = self.parents.get(at as usize).copied().unwrap_or(NONE);
        }
        let mut first_kept = HashMap::with_capacity(self.first_kept.len());
        for (number, kept) in &self.first_kept {
            let found = match kept {
                FirstKept::Id(key) => self.numbers.get(key).map(|found| *found as usize),
                FirstKept::Number(number) => usize::try_from(*number).ok(),
            };
            let is_before =
                |found: &usize| *found < *number as usize && on_path.get(*found) == Some(&true);
            // A compaction that names itself keeps nothing, on purpose.
            let node = if found == Some(*number as usize) {
                Node::None
            } else {
                found.filter(is_before).map_or(Node::Missing, Node::At)
            };
            first_kept.insert(*number, node);
        }
        Path {
            wrong: self.wrong,
            on_path,
            first_kept,
            leaf: self.leaf.map(|leaf| leaf as usize),
            is_linear: self.is_linear,
        }
    }
}

/// Which entries count.
pub(super) struct Path {
    wrong: Vec<u8>,
    on_path: Vec<bool>,
    first_kept: HashMap<u32, Node>,
    leaf: Option<usize>,
    is_linear: bool,
}

impl Path {
    /// What is wrong with an entry, and how it is told.
    pub(super) fn wrong(
        &self,
        number: usize,
    ) -> impl Iterator<Item = (ProblemCode, &'static str)> + use<> {
        let flags = self.wrong.get(number).copied().unwrap_or_default();
        CODES
            .into_iter()
            .enumerate()
            .filter(move |(bit, _)| flags & (1 << bit) != 0)
            .map(|(_, told)| told)
    }

    /// The entry that the conversation goes on from.
    pub(super) const fn leaf(&self) -> Option<usize> {
        self.leaf
    }

    /// Whether entries have no ids and follow each other.
    pub(super) const fn is_linear(&self) -> bool {
        self.is_linear
    }

    pub(super) const fn len(&self) -> usize {
        self.on_path.len()
    }

    pub(super) fn contains(&self, number: usize) -> bool {
        self.on_path.get(number) == Some(&true)
    }

    /// The first entry that the compaction with this number keeps.
    pub(super) fn first_kept(&self, number: usize) -> Node {
        let number = u32::try_from(number).unwrap_or(NONE);
        self.first_kept.get(&number).copied().unwrap_or(Node::None)
    }
}
