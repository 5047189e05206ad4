//! Words that deny, and the same sentence with and without them.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::LazyLock;

use super::word::{Key, Spread, key, words};

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
    "avoided",
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
    "untersagt",
    "vermeide",
    "vermeiden",
    "pas",
    "jamais",
    "aucun",
    "aucune",
    "sans",
    "interdit",
    "interdite",
    "interdits",
    "interdites",
    "évite",
    "éviter",
    "évitez",
    "nunca",
    "jamás",
    "sin",
    "ningún",
    "ninguna",
    "prohibido",
    "prohibida",
    "prohibidos",
    "prohibidas",
    "evita",
    "evitar",
    "evite",
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
    "запрещена",
    "запрещены",
    "избегай",
    "избегать",
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
/// What is written together, with an apostrophe and without.
const SHORT: [(&str, &str); 3] = [("can't", "can not"), ("won't", "will not"), ("n't", " not")];
const CANNOT: &str = "cannot";

/// Whether a word, in small letters, denies.
pub(super) fn is_negation(word: &str) -> bool {
    static KEYS: LazyLock<HashSet<Key, Spread>> =
        LazyLock::new(|| NEGATIONS.iter().map(|word| key(word)).collect());
    KEYS.contains(&key(word)) || word.ends_with("n't") || word == "dont"
}

/// A sentence as it is worded: its words in order, and how often it denies before each.
#[derive(Clone, Debug)]
pub(super) struct Wording {
    /// The words that do not deny.
    words: Vec<Key>,
    /// The sentence in small letters, and where each of them stands in it.
    lower: String,
    places: Vec<Range<usize>>,
    /// How many that deny stand before each of them; behind the last, as one more.
    denials: Vec<usize>,
    /// A bit for each of the words, by which most others are told apart.
    bits: u64,
}

impl Wording {
    pub(super) fn of(sentence: &str) -> Self {
        let mut lower = plain_answer(sentence).to_lowercase().replace('’', "'");
        if lower.contains('\'') {
            for (short, long) in SHORT {
                lower = lower.replace(short, long);
            }
        }
        let mut wording = Self {
            words: Vec::with_capacity(lower.len() / 4),
            lower: String::new(),
            places: Vec::with_capacity(lower.len() / 4),
            denials: Vec::with_capacity(lower.len() / 4 + 1),
            bits: 0,
        };
        wording.denials.push(0);
        for word in words(&lower) {
            if word.text == CANNOT {
                wording.say(key("can"), word.start..word.start + 3);
            }
            if is_negation(word.text) || NEGATION_SIGNS.contains(&word.text) {
                if let Some(last) = wording.denials.last_mut() {
                    *last += 1;
                }
            } else if !BESIDE.contains(&word.text) {
                wording.say(word.key, word.start..word.start + word.text.len());
            }
        }
        wording.lower = lower;
        wording
    }

    fn say(&mut self, word: Key, place: Range<usize>) {
        self.words.push(word);
        self.bits |= 1 << (word % 64);
        self.places.push(place);
        self.denials.push(0);
    }

    fn texts(&self) -> impl Iterator<Item = &str> {
        let text = |place: &Range<usize>| self.lower.get(place.clone()).unwrap_or_default();
        self.places.iter().map(text)
    }

    /// A rule as a whole, and those of its clauses that say something by themselves.
    pub(super) fn of_rule(rule: &str) -> Vec<Self> {
        let clauses = rule.split(BETWEEN_CLAUSES);
        let clauses: Vec<Self> = clauses
            .map(|clause| Self::of(bare_clause(clause)))
            .collect();
        let whole = std::iter::once(Self::of(rule));
        match clauses.len() {
            0 | 1 => whole.collect(),
            _ => whole
                .chain(
                    clauses
                        .into_iter()
                        .filter(|clause| clause.words.len() >= CLAUSE_WORDS),
                )
                .collect(),
        }
    }

    /// Whether this one holds all the words of `rule` in a row, at least so many, and denies more often or less.
    pub(super) fn turns(&self, rule: &Self, fewest: usize) -> bool {
        let length = rule.words.len();
        if length < fewest || rule.bits & !self.bits != 0 {
            return false;
        }
        let behind_rule = rule.denials.last().copied().unwrap_or_default();
        let in_rule = rule.denials.iter().sum::<usize>() - behind_rule;
        let Some((first, others)) = rule.words.split_first() else {
            return false;
        };
        let begins = self
            .words
            .iter()
            .enumerate()
            .filter(|(_, word)| *word == first);
        let mut starts = begins
            .map(|(start, _)| start)
            .filter(|start| self.words.get(start + 1..start + length) == Some(others))
            .peekable();
        starts.peek().is_some()
            && starts.all(|start| {
                let inside = self.denials.get(start..start + length).unwrap_or_default();
                let behind = self
                    .denials
                    .get(start + length)
                    .copied()
                    .unwrap_or_default();
                // What stands behind the last word may deny what follows.
                let is_end = start + length == self.words.len();
                inside.iter().sum::<usize>() != in_rule || is_end && behind != behind_rule
            })
    }

    /// Whether this one, which holds the words of `rule`, is no sentence of its own in which they may mean something
    /// else: it has little beside them, or they are many, and it denies more often or less.
    pub(super) fn differs_plainly(&self, rule: &Self) -> bool {
        let denies = |wording: &Self| wording.denials.iter().sum::<usize>() % 2 == 1;
        let length = rule.words.len();
        let is_alone = self.words.len() <= length + FEW_BESIDE;
        (is_alone || length >= MANY_WORDS) && denies(self) != denies(rule)
    }

    /// Whether this one is `rule` word for word, but for one word that is new.
    pub(super) fn replaces_in(&self, rule: &Self, is_new: impl Fn(&str) -> bool) -> bool {
        let others = (rule.bits & !self.bits).count_ones();
        if self.words.len() != rule.words.len() || self.words.len() < CLAUSE_WORDS || others > 1 {
            return false;
        }
        let pairs = self.words.iter().zip(&rule.words).zip(self.texts());
        let mut others = pairs.filter(|((own, ruled), _)| own != ruled);
        others.next().is_some_and(|(_, text)| is_new(text)) && others.next().is_none()
    }
}

/// Words beside those of a rule with which a sentence is still that rule.
const FEW_BESIDE: usize = 1;
/// So many words in a row are said about one thing only.
const MANY_WORDS: usize = 5;

/// What stands between clauses.
const BETWEEN_CLAUSES: [char; 9] = [',', ';', ':', '.', '(', ')', '，', '；', '。'];

/// Whether a rule has more than one clause.
pub(super) fn has_clauses(rule: &str) -> bool {
    let is_between = |c: char| BETWEEN_CLAUSES.contains(&c) || c.is_whitespace();
    rule.trim_matches(is_between).contains(BETWEEN_CLAUSES)
}

/// Words of a clause that says something by itself.
const CLAUSE_WORDS: usize = 4;
/// What joins a clause to the one before it.
const JOINS: &[&str] = &[
    "and", "but", "und", "aber", "y", "pero", "e", "ma", "et", "mais",
];

fn bare_clause(clause: &str) -> &str {
    let bare = clause.trim_start();
    let first = bare.split(' ').next().unwrap_or_default();
    let is_join = JOINS.iter().any(|join| join.eq_ignore_ascii_case(first));
    if is_join {
        bare.get(first.len()..).unwrap_or(bare)
    } else {
        bare
    }
}

/// A sentence without the "no" by which it answers: "No, leave it where it is."
pub(super) fn plain_answer(sentence: &str) -> &str {
    let bare = sentence.trim_start_matches(|c: char| !c.is_alphanumeric());
    let end = bare
        .find([',', '.', '!', ';', '，', '。'])
        .unwrap_or_default();
    let (first, behind) = bare.split_at(end);
    if first.len() > ANSWER_BYTES {
        return sentence;
    }
    let first = first.to_lowercase();
    let is_answer = ANSWERS.contains(&first.as_str());
    if is_answer { behind } else { sentence }
}

/// None of them is longer, also in capitals.
const ANSWER_BYTES: usize = 16;
const ANSWERS: &[&str] = &[
    "no",
    "nope",
    "nein",
    "non",
    "não",
    "nee",
    "нет",
    "不",
    "いいえ",
    "아니요",
];
