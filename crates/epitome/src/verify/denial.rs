//! Words that deny, and the same sentence with and without them.

use super::word::{Key, key, words};

/// Words that turn a sentence round.
const NEGATIONS: &[&str] = &[
    "not",
    "no",
    "never",
    "cannot",
    "without",
    "nothing",
    "none",
    "avoid",
    "forbidden",
    "prohibited",
    "nicht",
    "kein",
    "keine",
    "keinen",
    "keiner",
    "nie",
    "niemals",
    "ohne",
    "verboten",
    "vermeide",
    "pas",
    "jamais",
    "aucun",
    "aucune",
    "sans",
    "interdit",
    "évite",
    "nunca",
    "jamás",
    "sin",
    "ningún",
    "ninguna",
    "prohibido",
    "evita",
    "não",
    "nem",
    "sem",
    "proibido",
    "non",
    "mai",
    "senza",
    "vietato",
    "niet",
    "geen",
    "nooit",
    "zonder",
    "verboden",
    "не",
    "нет",
    "нельзя",
    "никогда",
    "без",
    "запрещено",
];
/// The same inside words and in scripts that do not separate them.
pub(super) const NEGATION_SIGNS: &[&str] = &[
    "不",
    "别",
    "別",
    "勿",
    "没有",
    "禁止",
    "ない",
    "ません",
    "なく",
    "않",
    "지 마",
    "지 말",
    "금지",
    "없",
];

/// Words that come and go with a denial: "use it", "do not use it", "always use it".
const BESIDE: &[&str] = &[
    "do",
    "does",
    "did",
    "always",
    "immer",
    "siempre",
    "toujours",
    "sempre",
    "altijd",
    "всегда",
    "please",
];
/// What is written together.
const SHORT: [(&str, &str); 4] = [
    ("cannot", "can not"),
    ("can't", "can not"),
    ("won't", "will not"),
    ("n't", " not"),
];

/// Whether a word, in small letters, denies.
pub(super) fn is_negation(word: &str) -> bool {
    NEGATIONS.contains(&word) || word.ends_with("n't") || word == "dont"
}

/// A sentence as it is worded: its words in order, and how often it denies before each.
#[derive(Clone, Debug)]
pub(super) struct Wording {
    /// The words that do not deny.
    words: Vec<Key>,
    /// How many that deny stand before each of them; behind the last, as one more.
    denials: Vec<usize>,
}

impl Wording {
    pub(super) fn of(sentence: &str) -> Self {
        let mut lower = sentence.to_lowercase().replace('’', "'");
        for (short, long) in SHORT {
            lower = lower.replace(short, long);
        }
        let mut wording = Self {
            words: Vec::new(),
            denials: vec![0],
        };
        for word in words(&lower) {
            if is_negation(word.text) || NEGATION_SIGNS.contains(&word.text) {
                if let Some(last) = wording.denials.last_mut() {
                    *last += 1;
                }
            } else if !BESIDE.contains(&word.text) {
                wording.words.push(key(word.text));
                wording.denials.push(0);
            }
        }
        wording
    }

    /// Whether this one holds all the words of `rule` in a row, at least so many, and denies more often or less.
    pub(super) fn turns(&self, rule: &Self, fewest: usize) -> bool {
        let length = rule.words.len();
        if length < fewest {
            return false;
        }
        let wanted: usize = rule.denials.iter().sum();
        let mut starts = self
            .words
            .windows(length)
            .enumerate()
            .filter(|(_, part)| *part == rule.words)
            .map(|(start, _)| start)
            .peekable();
        starts.peek().is_some()
            && starts.all(|start| {
                let part = self.denials.get(start..=start + length).unwrap_or_default();
                // What stands behind the last word may deny what follows.
                let is_end = start + length == self.words.len();
                let denials = part.iter().take(if is_end { length + 1 } else { length });
                denials.sum::<usize>()
                    != wanted
                        - if is_end {
                            0
                        } else {
                            rule.denials.last().copied().unwrap_or_default()
                        }
            })
    }
}
