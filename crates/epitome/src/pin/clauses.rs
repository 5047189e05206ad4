//! A sentence as words and clauses, and what the tables say about them.

use super::class::Class;
use super::grammar::is_negation;
use super::languages::Tongue;
use super::phrases::{Node, PHRASES, Phrases};
use crate::letters::{is_letter as is_alphanumeric, small};

/// Stands for what is quoted: a quotation says nothing about the one who quotes.
const QUOTED: char = '\u{fffc}';
const QUOTES: &[(char, char)] = &[
    ('"', '"'),
    ('“', '”'),
    ('„', '“'),
    ('«', '»'),
    ('`', '`'),
    ('「', '」'),
    ('『', '』'),
];

/// A sentence in small letters, split into words.
pub(super) struct Sentence {
    lower: String,
    words: Vec<Word>,
    /// What the tables say, in the order of the words.
    hits: Vec<Hit>,
    /// Where the hits of each word begin, and the end.
    first_hits: Vec<usize>,
    tongues: Tongues,
    /// The classes of all hits, so that most questions need no search.
    classes: u64,
}

struct Word {
    start: usize,
    end: usize,
    /// Whether a comma, a colon or a dash stands before it.
    begins: bool,
    /// Whether it is a number, in digits or in words.
    is_number: bool,
    /// The phrases that begin with it.
    phrases: Option<Node>,
}

impl Word {
    /// A word about which nothing is known. What `begins` says is said.
    const fn new(start: usize, end: usize, begins: &mut bool) -> Self {
        Self {
            start,
            end,
            begins: std::mem::replace(begins, false),
            is_number: false,
            phrases: None,
        }
    }

    /// Looks up what it begins, and whether it is a number. "One" is both a number and a word of phrases.
    fn look_up(&mut self, lower: &str) {
        let word = lower.get(self.start..self.end).unwrap_or_default();
        let itself = PHRASES.after(Phrases::START, word, false);
        self.is_number = word.starts_with(|c: char| c.is_ascii_digit())
            || itself.is_some_and(|node| PHRASES.is_number(node));
        self.phrases = match itself {
            None if self.is_number => PHRASES.after(Phrases::START, word, true),
            known => known,
        };
    }
}

/// A phrase of a table, found in the sentence.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hit {
    pub(super) at: usize,
    pub(super) length: usize,
    pub(super) class: Class,
    tongue: Tongue,
}

/// A phrase in a sentence: where, of how many words, and what it says in each language.
type Found = (usize, usize, &'static [(Tongue, Class)]);

impl Sentence {
    pub(super) fn read(text: &str) -> Self {
        let lower = without_quotations(text);
        let mut words = words(&lower);
        for word in &mut words {
            word.look_up(&lower);
        }
        let mut sentence = Self {
            lower,
            words,
            hits: Vec::new(),
            first_hits: Vec::new(),
            tongues: Tongues::default(),
            classes: 0,
        };
        let found = sentence.scan();
        let tongues = sentence.likely_tongues(&found);
        let (mut hits, mut first_hits) = (
            Vec::with_capacity(found.len()),
            Vec::with_capacity(sentence.words.len() + 1),
        );
        for (at, length, says) in found {
            first_hits.resize(first_hits.len().max(at + 1), hits.len());
            let likely = says.iter().filter(|(tongue, _)| tongues.has(*tongue));
            for (tongue, class) in likely.copied() {
                sentence.classes |= class.mask();
                hits.push(Hit {
                    at,
                    length,
                    class,
                    tongue,
                });
            }
        }
        first_hits.resize(sentence.words.len() + 1, hits.len());
        sentence.hits = hits;
        sentence.first_hits = first_hits;
        sentence.tongues = tongues;
        sentence
    }

    /// Whether it ends as a question.
    pub(super) fn is_question(&self) -> bool {
        self.lower.trim_end().ends_with('?')
    }

    /// Whether it names a price.
    pub(super) fn names_price(&self) -> bool {
        self.lower.contains(['$', '€', '£'])
    }

    /// The languages it may be written in.
    pub(super) fn tongues(&self) -> impl Iterator<Item = Tongue> {
        let tongues = self.tongues;
        Tongue::ALL
            .into_iter()
            .filter(move |tongue| tongues.has(*tongue))
    }

    pub(super) fn len(&self) -> usize {
        self.words.len()
    }

    pub(super) fn word(&self, at: usize) -> &str {
        self.words
            .get(at)
            .and_then(|word| self.lower.get(word.start..word.end))
            .unwrap_or_default()
    }

    pub(super) fn words(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.words
            .iter()
            .map(|word| self.lower.get(word.start..word.end).unwrap_or_default())
    }

    /// Whether a clause ends before the word at `at`.
    pub(super) fn begins(&self, at: usize) -> bool {
        self.words.get(at).is_none_or(|word| word.begins)
    }

    pub(super) fn hits(&self, tongue: Tongue) -> impl Iterator<Item = Hit> {
        self.hits
            .iter()
            .filter(move |hit| hit.tongue == tongue)
            .copied()
    }

    pub(super) fn has(&self, tongue: Tongue, class: Class) -> bool {
        self.classes & class.mask() != 0 && self.hits(tongue).any(|hit| hit.class == class)
    }

    /// Whether any language finds the class.
    pub(super) const fn may_have(&self, class: Class) -> bool {
        self.classes & class.mask() != 0
    }

    /// Whether any word forbids or negates.
    pub(super) fn negates(&self) -> bool {
        self.may_have(Class::Forbid) || self.words().any(is_negation)
    }

    /// Whether any language finds a word that rules have.
    pub(super) const fn may_bind(&self) -> bool {
        self.classes & Class::BINDING != 0
    }

    /// Whether the word at `at` is of a class by itself.
    pub(super) fn is(&self, at: usize, tongue: Tongue, class: Class) -> bool {
        self.may_have(class) && self.hits_at(at, tongue).any(|hit| hit.class == class)
    }

    /// What a language says about the word at `at`.
    pub(super) fn hits_at(&self, at: usize, tongue: Tongue) -> impl Iterator<Item = Hit> {
        let bounds = self.first_hits.get(at).zip(self.first_hits.get(at + 1));
        bounds
            .and_then(|(from, to)| self.hits.get(*from..*to))
            .unwrap_or_default()
            .iter()
            .filter(move |hit| hit.tongue == tongue)
            .copied()
    }

    /// Whether the word at `at` is a number, in digits or in words.
    pub(super) fn is_number(&self, at: usize) -> bool {
        self.words.get(at).is_some_and(|word| word.is_number)
    }

    /// Every phrase that stands in the sentence: where, how long, and what it says in each language.
    fn scan(&self) -> Vec<Found> {
        let phrases = &*PHRASES;
        let mut found = Vec::with_capacity(self.words.len());
        for (at, first) in self.words.iter().enumerate() {
            let mut node = first.phrases;
            for here in at + 1.. {
                let Some(phrase) = node else {
                    break;
                };
                let says = phrases.says(phrase);
                if !says.is_empty() {
                    found.push((at, here - at, says));
                }
                let Some(next) = self.words.get(here).filter(|_| phrases.goes_on(phrase)) else {
                    break;
                };
                node = phrases.after(phrase, self.word(here), next.is_number);
            }
        }
        found
    }

    fn likely_tongues(&self, found: &[Found]) -> Tongues {
        let is_cyrillic = |c: char| ('\u{400}'..='\u{4ff}').contains(&c);
        if !self.lower.is_ascii() && self.lower.contains(is_cyrillic) {
            return Tongues::of(Tongue::Russian);
        }
        // A phrase of several words says more than a word that several languages share.
        let mut weights = [0_usize; Tongue::ALL.len()];
        for (_, length, says) in found {
            for (tongue, class) in *says {
                if let Some(weight) = weights.get_mut(*tongue as usize) {
                    *weight += match class {
                        Class::Common => 2,
                        _ => usize::from(*length > 1),
                    };
                }
            }
        }
        let most = weights.iter().max();
        let likely = Tongue::ALL.iter().zip(&weights);
        let likely = likely.filter(|(_, weight)| Some(*weight) == most);
        likely.fold(Tongues::default(), |all, (tongue, _)| {
            Tongues(all.0 | Tongues::of(*tongue).0)
        })
    }
}

/// Languages, a bit for each.
#[derive(Clone, Copy, Debug, Default)]
struct Tongues(u8);

impl Tongues {
    const fn of(tongue: Tongue) -> Self {
        Self(1 << tongue as u8)
    }

    const fn has(self, tongue: Tongue) -> bool {
        self.0 & Self::of(tongue).0 != 0
    }
}

fn without_quotations(text: &str) -> String {
    if text.is_ascii() && !text.contains(['"', '`']) {
        return text.to_ascii_lowercase();
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text.char_indices();
    while let Some((at, character)) = rest.next() {
        if character.is_ascii_alphanumeric() || character == ' ' {
            out.push(character.to_ascii_lowercase());
            continue;
        }
        let close = QUOTES.iter().find(|(open, _)| *open == character);
        let after = at + character.len_utf8();
        let inside = close.and_then(|(_, close)| {
            let tail = text.get(after..)?;
            tail.find(*close).map(|end| tail.get(..end))?
        });
        match inside {
            Some(inside) => {
                out.push(' ');
                out.push(QUOTED);
                out.push(' ');
                let skipped = inside.chars().count() + 1;
                rest.by_ref().take(skipped).for_each(drop);
            }
            None if character == '’' => out.push('\''),
            None => small(character, |small| out.push(small)),
        }
    }
    out
}

fn words(lower: &str) -> Vec<Word> {
    let mut words = Vec::with_capacity(lower.len() / 4 + 1);
    let mut start = None;
    let mut begins = true;
    let mut previous = ' ';
    let mut at = 0;
    while let Some(rest) = lower.get(at..).filter(|rest| !rest.is_empty()) {
        let here = at;
        // Most of a word is read in one go.
        let run = rest
            .bytes()
            .take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
        let run = run.count();
        if run > 0 {
            start.get_or_insert(here);
            at += run;
            previous = rest
                .as_bytes()
                .get(run - 1)
                .map_or(' ', |last| char::from(*last));
            continue;
        }
        let mut characters = rest.chars();
        let character = characters.next().unwrap_or(' ');
        if character == ' ' {
            // It ends a word, and nothing else.
            at += 1;
            previous = character;
            words.extend(
                start
                    .take()
                    .map(|start| Word::new(start, here, &mut begins)),
            );
            continue;
        }
        at += character.len_utf8();
        let before = std::mem::replace(&mut previous, character);
        if is_letter(character) {
            start.get_or_insert(here);
            continue;
        }
        let next = characters.next().unwrap_or(' ');
        if start.is_some() && is_letter(next) && is_joint(before, character, next) {
            continue;
        }
        words.extend(
            start
                .take()
                .map(|start| Word::new(start, here, &mut begins)),
        );
        begins |= matches!(
            character,
            ',' | ';' | ':' | '(' | ')' | '—' | '–' | '!' | '?' | '.' | '…' | '→'
        ) || (character == '-' && next == ' ');
    }
    words.extend(start.map(|start| Word::new(start, lower.len(), &mut begins)));
    words
}

fn is_letter(character: char) -> bool {
    is_alphanumeric(character) || character == '_' || character == QUOTED
}

/// Characters that hold a word together: `don't`, `off-limits`, `src/main.rs`, `3,5`.
fn is_joint(previous: char, character: char, next: char) -> bool {
    match character {
        '\'' | '-' | '/' | '.' | '@' | '\\' => previous != QUOTED,
        ':' => !previous.is_whitespace() && !next.is_whitespace(),
        ',' => previous.is_ascii_digit() && next.is_ascii_digit(),
        _ => false,
    }
}
