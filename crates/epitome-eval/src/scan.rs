//! Finds identifiers in a text.
//!
//! Kinds are looked for in a fixed order. What is found of some kinds is blanked before the next is looked for, so
//! that the host of an address is not also a file and the parts of a version are not also numbers.

mod path;
mod spans;
mod word;

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use crate::ident::{Ident, Kind};

/// The identifiers of a text, with the places where they stand, in characters.
#[derive(Clone, Debug, Default)]
pub struct Scan {
    places: HashMap<Ident, Vec<Range<usize>>>,
}

impl Scan {
    /// Scans a text.
    #[must_use]
    pub fn of(text: &[char]) -> Self {
        let mut scan = Self::default();
        let mut masked = text.to_vec();
        scan.take_and_mask(Kind::Url, spans::urls, &mut masked);
        scan.take_and_mask(Kind::Uuid, spans::uuids, &mut masked);
        scan.take_and_mask(Kind::Path, path::paths, &mut masked);
        scan.take_and_mask(Kind::Email, spans::emails, &mut masked);
        scan.take_words(&masked, word::NAMES);
        scan.take_and_mask(Kind::Version, spans::versions, &mut masked);
        scan.take_words(&masked, word::NUMBERS_AND_SYMBOLS);
        scan
    }

    /// The identifiers, in no order.
    pub fn idents(&self) -> impl Iterator<Item = &Ident> {
        self.places.keys()
    }

    /// Whether an identifier is there.
    #[must_use]
    pub fn contains(&self, ident: &Ident) -> bool {
        self.places.contains_key(ident)
    }

    /// Where an identifier stands, from front to back.
    #[must_use]
    pub fn places(&self, ident: &Ident) -> &[Range<usize>] {
        self.places.get(ident).map_or(&[], Vec::as_slice)
    }

    /// The text with every identifier blanked: what is left is plain words.
    #[must_use]
    pub fn blanked(&self, text: &[char]) -> Vec<char> {
        let mut places: Vec<&Range<usize>> = self.places.values().flatten().collect();
        places.sort_unstable_by_key(|place| (place.start, place.end));
        let mut out = text.to_vec();
        let mut done = 0;
        for place in places {
            // Of two that overlap, the one that begins first counts.
            if place.start >= done {
                blank(&mut out, place);
                done = place.end;
            }
        }
        out
    }

    fn take(&mut self, kind: Kind, text: &[char], place: Range<usize>) {
        let found: String = text.get(place.clone()).unwrap_or_default().iter().collect();
        if let Some(ident) = Ident::canonical(kind, &found) {
            self.places.entry(ident).or_default().push(place);
        }
    }

    fn take_and_mask(
        &mut self,
        kind: Kind,
        find: fn(&[char]) -> Vec<Range<usize>>,
        masked: &mut [char],
    ) {
        for place in find(masked) {
            self.take(kind, masked, place.clone());
            blank(masked, &place);
        }
    }

    fn take_words(&mut self, text: &[char], kinds: &[word::Rule]) {
        for place in spans::words(text) {
            let word = text.get(place.clone()).unwrap_or_default();
            for (kind, is_of_kind) in kinds {
                if is_of_kind(word) {
                    let start = spans::start_with_sign(*kind, text, place.start);
                    self.take(*kind, text, start..place.end);
                }
            }
        }
    }
}

fn blank(text: &mut [char], place: &Range<usize>) {
    if let Some(place) = text.get_mut(place.clone()) {
        place.fill(' ');
    }
}

/// The identifiers of a text.
#[must_use]
pub fn idents(text: &str) -> HashSet<Ident> {
    let text: Vec<char> = text.chars().collect();
    Scan::of(&text).idents().cloned().collect()
}
