//! Which cues stand in a sentence, all of them found in one pass.

use std::sync::LazyLock;

use super::words::{CUES, OFFERS};
use crate::fast_hash::FastMap;

/// How many groups of cues there are.
const GROUPS: usize = CUES.len();

/// What was found in a sentence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Found {
    /// How many cues of each group stand in it.
    pub(super) hits: [u8; GROUPS],
    /// Whether it offers something.
    pub(super) offers: bool,
}

/// A cue: its bytes, and its number among all.
type Cue = (&'static [u8], u8);

/// The cues by their first three bytes, and the group of each; offers have none.
struct Table {
    by_start: FastMap<u32, Vec<Cue>>,
    /// A bit for each of those starts, by a part of its hash: few bytes of a sentence begin a cue.
    starts: [u64; START_WORDS],
    groups: Vec<Option<usize>>,
}

/// Some thirty bits for a start.
const START_WORDS: usize = 1 << 7;

/// The first three bytes of a cue, and the place of its bit.
fn start(bytes: &[u8]) -> Option<(u32, usize, u64)> {
    let [first, second, third, ..] = *bytes else {
        return None;
    };
    let start = u32::from_le_bytes([first, second, third, 0]);
    let hash = start.wrapping_mul(0x9E37_79B1) >> 19;
    Some((start, hash as usize >> 6, 1 << (hash & 63)))
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let grouped = CUES.iter().enumerate();
    let grouped =
        grouped.flat_map(|(group, (_, cues))| cues.iter().map(move |cue| (Some(group), cue)));
    let offers = OFFERS.iter().map(|offer| (None, offer));
    let mut table = Table {
        by_start: FastMap::default(),
        starts: [0; START_WORDS],
        groups: Vec::new(),
    };
    for (number, (group, cue)) in (0_u8..).zip(grouped.chain(offers)) {
        table.groups.push(group);
        let Some((start, place, bit)) = start(cue.as_bytes()) else {
            continue;
        };
        let cues = table.by_start.entry(start).or_default();
        cues.push((cue.as_bytes(), number));
        if let Some(starts) = table.starts.get_mut(place) {
            *starts |= bit;
        }
    }
    table
});

/// The cues in a sentence, which is in small letters.
pub(super) fn found(lower: &str) -> Found {
    let table = &*TABLE;
    let bytes = lower.as_bytes();
    let mut seen = [0_u64; 4];
    let mut found = Found::default();
    for (at, three) in bytes.windows(3).enumerate() {
        let Some((start, place, bit)) = start(three) else {
            continue;
        };
        if table
            .starts
            .get(place)
            .is_none_or(|starts| starts & bit == 0)
        {
            continue;
        }
        let cues = table.by_start.get(&start);
        for (cue, number) in cues.into_iter().flatten() {
            if !bytes.get(at..).is_some_and(|rest| rest.starts_with(cue)) {
                continue;
            }
            let bit = 1_u64 << (number % 64);
            let Some(word) = seen.get_mut(usize::from(number / 64)) else {
                continue;
            };
            if *word & bit != 0 {
                continue;
            }
            *word |= bit;
            match table.groups.get(usize::from(*number)).copied().flatten() {
                Some(group) => {
                    if let Some(hits) = found.hits.get_mut(group) {
                        *hits += 1;
                    }
                }
                None => found.offers = true,
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_cues_as_one_by_one() {
        let count = CUES.iter().map(|(_, cues)| cues.len()).sum::<usize>() + OFFERS.len();
        assert!(count <= 256, "{count} cues");
        let mut all = CUES.iter().flat_map(|(_, cues)| *cues).chain(OFFERS);
        assert!(
            all.all(|cue| cue.len() >= 3),
            "they are told by three bytes"
        );
        for sentence in [
            "the root cause: the bug was found because it is not yet fixed. want me to go on?",
            "let me look at it",
            "found found found",
            "原因はこれです。決定した。",
            "",
        ] {
            let found = found(sentence);
            for ((_, cues), hits) in CUES.iter().zip(found.hits) {
                let expected = cues.iter().filter(|cue| sentence.contains(**cue)).count();
                assert_eq!(usize::from(hits), expected, "{sentence}");
            }
            let offers = OFFERS.iter().any(|offer| sentence.contains(offer));
            assert_eq!(found.offers, offers, "{sentence}");
        }
    }
}
