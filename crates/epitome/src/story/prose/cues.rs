//! Which cues stand in a sentence, all of them found in one pass.

use std::sync::LazyLock;

use super::words::{CUES, OFFERS};

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

/// The cues by their first byte, and the group of each; offers have none.
struct Table {
    by_first: [Vec<Cue>; 256],
    /// For each first byte the second ones, as a set.
    seconds: [[u64; 4]; 256],
    groups: Vec<Option<usize>>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let grouped = CUES.iter().enumerate();
    let grouped =
        grouped.flat_map(|(group, (_, cues))| cues.iter().map(move |cue| (Some(group), cue)));
    let offers = OFFERS.iter().map(|offer| (None, offer));
    let mut table = Table {
        by_first: [const { Vec::new() }; 256],
        seconds: [[0; 4]; 256],
        groups: Vec::new(),
    };
    for (number, (group, cue)) in (0_u8..).zip(grouped.chain(offers)) {
        table.groups.push(group);
        let first = usize::from(cue.as_bytes().first().copied().unwrap_or_default());
        if let Some(cues) = table.by_first.get_mut(first) {
            cues.push((cue.as_bytes(), number));
        }
        let seconds = table.seconds.get_mut(first).into_iter().flatten();
        for (part, seconds) in (0_u8..).zip(seconds) {
            match cue.as_bytes().get(1) {
                Some(second) if second / 64 == part => *seconds |= 1 << (second % 64),
                Some(_) => {}
                // Anything may stand behind a cue of one byte.
                None => *seconds = u64::MAX,
            }
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
    for (at, first) in bytes.iter().enumerate() {
        let second = bytes.get(at + 1).copied().unwrap_or_default();
        let seconds = table.seconds.get(usize::from(*first));
        let seconds = seconds.and_then(|seconds| seconds.get(usize::from(second / 64)));
        if seconds.is_none_or(|seconds| seconds & 1 << (second % 64) == 0) {
            continue;
        }
        let Some(cues) = table.by_first.get(usize::from(*first)) else {
            continue;
        };
        for (cue, number) in cues {
            // The first bytes are the same; the second ones seldom are.
            let second = cue.get(1);
            let is_near = second.is_none() || second == bytes.get(at + 1);
            if !is_near || !bytes.get(at..).is_some_and(|rest| rest.starts_with(cue)) {
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
