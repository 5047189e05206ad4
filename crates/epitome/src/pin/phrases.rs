//! Every phrase of the word tables, found word by word.

use std::sync::LazyLock;

use super::class::Class;
use super::languages::{Tongue, lists_of};
use crate::fast_hash::FastMap;

/// The words of phrases so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Node(u32);

/// Phrases that begin with the same words share their beginning. All of it stands in a few tables, because it is built
/// whenever a program begins.
pub(super) struct Phrases {
    next: FastMap<(Node, &'static str), Node>,
    /// How phrases go on with a number, for each node.
    numbers: Vec<Option<Node>>,
    /// Whether phrases go on behind each node.
    goes_on: Vec<bool>,
    /// What phrases say in each language, in the order of their nodes.
    says: Vec<(Tongue, Class)>,
    /// Where that of each node begins, and the end.
    first_says: Vec<usize>,
}

/// Every phrase.
pub(super) static PHRASES: LazyLock<Phrases> = LazyLock::new(Phrases::read);

impl Phrases {
    /// No words so far.
    pub(super) const START: Node = Node(0);

    /// The phrases that go on with `word`, or with a number.
    pub(super) fn after(&self, node: Node, word: &str, is_number: bool) -> Option<Node> {
        let next: &FastMap<(Node, &str), Node> = &self.next;
        let number = || self.numbers.get(node.0 as usize).copied().flatten();
        let literal = next.get(&(node, word)).copied();
        literal.or_else(|| number().filter(|_| is_number))
    }

    /// Whether any phrase goes on behind these words: most end with the first.
    pub(super) fn goes_on(&self, node: Node) -> bool {
        self.goes_on.get(node.0 as usize).copied().unwrap_or(true)
    }

    /// Whether the words up to here are a number.
    pub(super) fn is_number(&self, node: Node) -> bool {
        let mut says = self.says(node).iter();
        says.any(|(_, class)| *class == Class::Number)
    }

    /// What the words up to here say, for each language.
    pub(super) fn says(&self, node: Node) -> &[(Tongue, Class)] {
        let at = node.0 as usize;
        let bounds = self.first_says.get(at).zip(self.first_says.get(at + 1));
        bounds
            .and_then(|(from, to)| self.says.get(*from..*to))
            .unwrap_or_default()
    }

    fn read() -> Self {
        let mut phrases = Self {
            next: FastMap::with_capacity_and_hasher(NODES, Default::default()),
            numbers: Vec::with_capacity(NODES),
            goes_on: Vec::with_capacity(NODES),
            says: Vec::new(),
            first_says: Vec::new(),
        };
        phrases.numbers.push(None);
        phrases.goes_on.push(false);
        let mut ends: Vec<(Node, Tongue, Class)> = Vec::with_capacity(NODES);
        for tongue in Tongue::ALL {
            for (class, list) in lists_of(tongue.table()) {
                phrases.add_list(list, |end| ends.push((end, tongue, class)));
            }
        }
        phrases.put_in_order(&ends);
        phrases
    }

    /// Puts what phrases say in the order of their nodes, by counting: a sort would take a third of all the building.
    fn put_in_order(&mut self, ends: &[(Node, Tongue, Class)]) {
        let mut first = vec![0_usize; self.numbers.len() + 1];
        for (node, ..) in ends {
            if let Some(count) = first.get_mut(node.0 as usize + 1) {
                *count += 1;
            }
        }
        let mut sum = 0;
        for count in &mut first {
            sum += *count;
            *count = sum;
        }
        // Every place is written once: the counts are those of the same list.
        self.says = ends
            .iter()
            .map(|(_, tongue, class)| (*tongue, *class))
            .collect();
        let mut next = first.clone();
        for (node, tongue, class) in ends {
            let next = next.get_mut(node.0 as usize);
            let place = next.map(|next| std::mem::replace(next, *next + 1));
            if let Some(place) = place.and_then(|place| self.says.get_mut(place)) {
                *place = (*tongue, *class);
            }
        }
        self.first_says = first;
    }

    /// Adds the phrases between the commas of a list, in one pass.
    fn add_list(&mut self, list: &'static str, mut ends_at: impl FnMut(Node)) {
        let (mut node, mut start) = (Self::START, 0);
        for (at, byte) in list.as_bytes().iter().enumerate() {
            if !matches!(byte, b' ' | b',') {
                continue;
            }
            if let Some(word) = list.get(start..at).filter(|word| !word.is_empty()) {
                node = self.go_on(node, word);
            }
            start = at + 1;
            if *byte == b',' && node != Self::START {
                ends_at(node);
                node = Self::START;
            }
        }
        // No comma follows the last phrase.
        if let Some(word) = list.get(start..).filter(|word| !word.is_empty()) {
            node = self.go_on(node, word);
        }
        if node != Self::START {
            ends_at(node);
        }
    }

    fn go_on(&mut self, node: Node, word: &'static str) -> Node {
        let new = Node(u32::try_from(self.numbers.len()).unwrap_or(u32::MAX));
        let next = match word {
            "#" => {
                let number = self.numbers.get_mut(node.0 as usize);
                number.map_or(new, |number| *number.get_or_insert(new))
            }
            word => *self.next.entry((node, word)).or_insert(new),
        };
        if next == new {
            self.numbers.push(None);
            self.goes_on.push(false);
            if let Some(goes_on) = self.goes_on.get_mut(node.0 as usize) {
                *goes_on = true;
            }
        }
        next
    }
}

/// About so many there are.
const NODES: usize = 12_000;
