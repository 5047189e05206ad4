//! What the user typed, word by word: how much of a claim stands together in one place of it.

use std::collections::HashMap;

use super::ground::Asked;
use super::word::{Key, Spread, Word, key};

/// Words between two texts, so that nothing stands in both.
const GAP: u32 = 1_000;
/// Places of one word that are looked at: the newest. A word that he uses more often says little.
const PLACES: usize = 200;
/// Letters that the forms of a word share.
const ROOT_CHARS: usize = 5;
/// What a word counts for, and another form of it.
const WHOLE: u32 = 2;
const FORM: u32 = 1;

/// The words of the user and where they stand.
#[derive(Clone, Debug, Default)]
pub(super) struct Typed {
    words: HashMap<Key, Vec<u32>, Spread>,
    roots: HashMap<Key, Vec<u32>, Spread>,
    length: u32,
}

impl Typed {
    /// Begins another text.
    pub(super) const fn begin(&mut self) {
        self.length = self.length.saturating_add(GAP);
    }

    /// Takes the next word. Where it stands is kept only if it, or its root, is asked about.
    pub(super) fn add(&mut self, word: &Word<'_>, asked: Option<&Asked>) {
        self.length = self.length.saturating_add(1);
        let root = root(word.text);
        if asked.is_none_or(|asked| asked.has(word.key)) {
            self.words.entry(word.key).or_default().push(self.length);
        }
        if asked.is_none_or(|asked| asked.has_root(root)) {
            self.roots.entry(root).or_default().push(self.length);
        }
    }

    /// Whether he used a word, in whatever form.
    pub(super) fn has(&self, word: &str) -> bool {
        self.roots.contains_key(&root(word))
    }

    /// How much of these words stands together at best, in percent. Other forms of a word count half.
    pub(super) fn together(&self, words: &[&str], spread: u32) -> usize {
        if self.stand_together(words, spread) {
            return 100;
        }
        let mut places: Vec<(u32, usize, u32)> = Vec::new();
        for (at, word) in words.iter().enumerate() {
            let mut add = |found: Option<&Vec<u32>>, weight| {
                let newest = found
                    .into_iter()
                    .flat_map(|all| all.iter().rev().take(PLACES));
                places.extend(newest.map(|place| (*place, at, weight)));
            };
            add(self.words.get(&key(word)), WHOLE);
            add(self.roots.get(&root(word)), FORM);
        }
        places.sort_unstable();
        let mut counts: Vec<[u32; 2]> = vec![[0; 2]; words.len()];
        let (mut score, mut best) = (0, 0);
        let all = words.len() as u32 * WHOLE;
        let mut oldest = places.iter();
        for (place, at, weight) in &places {
            score += change(&mut counts, *at, *weight, true);
            while let Some((old, old_at, old_weight)) = oldest.as_slice().first() {
                if old + spread >= *place {
                    break;
                }
                score -= change(&mut counts, *old_at, *old_weight, false);
                oldest.next();
            }
            best = best.max(score);
            if best == all {
                break;
            }
        }
        let most = words.len().max(1) * WHOLE as usize;
        best as usize * 100 / most
    }
}

impl Typed {
    /// Whether all of the words are found in one place at the first look: most claims are the user's own words.
    fn stand_together(&self, words: &[&str], spread: u32) -> bool {
        let newest = |word: &&str| {
            let all = self.words.get(&key(word))?.as_slice();
            all.get(all.len().saturating_sub(PLACES)..)
        };
        let places: Option<Vec<&[u32]>> = words.iter().map(newest).collect();
        let Some(places) = places.filter(|places| !places.is_empty()) else {
            return false;
        };
        let rarest = places.iter().min_by_key(|places| places.len());
        let has_all = |from: u32| {
            places.iter().all(|places| {
                let first = places.partition_point(|place| *place < from);
                places
                    .get(first)
                    .is_some_and(|place| *place <= from + spread)
            })
        };
        rarest.into_iter().copied().flatten().any(|place| {
            let backs = [0, spread / 2, spread];
            backs
                .iter()
                .any(|back| has_all(place.saturating_sub(*back)))
        })
    }
}

/// Counts a place of a word in or out, and tells by how much the score changes.
fn change(counts: &mut [[u32; 2]], at: usize, weight: u32, enters: bool) -> u32 {
    let Some(count) = counts.get_mut(at) else {
        return 0;
    };
    let value = |count: &[u32; 2]| match count {
        [_, whole] if *whole > 0 => WHOLE,
        [form, _] if *form > 0 => FORM,
        _ => 0,
    };
    let before = value(count);
    let [form, whole] = count;
    let place = if weight == WHOLE { whole } else { form };
    *place = if enters {
        *place + 1
    } else {
        place.saturating_sub(1)
    };
    value(count).abs_diff(before)
}

/// The beginning that the forms of a word share: `duplicate`, `duplication`.
pub(super) fn root(word: &str) -> Key {
    let end = word
        .char_indices()
        .nth(ROOT_CHARS)
        .map_or(word.len(), |(at, _)| at);
    key(word.get(..end).unwrap_or(word))
}
