//! What later sentences do to a pin. When in doubt, nothing: two rules in view do less harm than one that is missing.

use super::{Pin, PinKind, PinState};

/// Pins that a sentence is compared with, the newest first: what is further back is not taken back in passing.
const COMPARED: usize = 256;

/// What a sentence may do to earlier ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// It takes something back: "forget the rule about tabs", "you may push to main now".
    Revokes,
    /// It says how a thing is from now on: "the budget is 400 now", "actually use spaces, not tabs".
    Replaces,
    /// It says that something is done.
    Finishes,
}

/// Words that name no topic.
const EMPTY: &[&str] = &[
    "the",
    "a",
    "an",
    "to",
    "of",
    "for",
    "in",
    "on",
    "at",
    "by",
    "is",
    "are",
    "be",
    "it",
    "its",
    "this",
    "that",
    "and",
    "or",
    "but",
    "with",
    "from",
    "my",
    "your",
    "our",
    "you",
    "i",
    "we",
    "me",
    "us",
    "not",
    "no",
    "never",
    "always",
    "only",
    "now",
    "please",
    "do",
    "don't",
    "does",
    "did",
    "must",
    "should",
    "may",
    "can",
    "will",
    "use",
    "keep",
    "stays",
    "stay",
    "set",
    "under",
    "over",
    "any",
    "all",
    "every",
    "again",
    "anymore",
    "more",
    "longer",
    "rule",
    "about",
    "forget",
    "actually",
    "instead",
    "rather",
    "than",
    "just",
    "as",
    "so",
    "if",
    "when",
    "until",
    "without",
    "then",
    "also",
    "done",
    "finished",
    "todo",
    "need",
    "have",
    "has",
    "was",
    "were",
    "been",
    "already",
    "okay",
    "ok",
    "fine",
    "allowed",
    "nothing",
    "else",
    "new",
    "make",
    "sure",
    "remember",
    "ban",
    "said",
    "what",
    "am",
    "into",
    "der",
    "die",
    "das",
    "den",
    "dem",
    "ein",
    "eine",
    "einen",
    "und",
    "oder",
    "aber",
    "nicht",
    "kein",
    "keine",
    "nie",
    "niemals",
    "immer",
    "nur",
    "jetzt",
    "nun",
    "bitte",
    "du",
    "ich",
    "wir",
    "ist",
    "sind",
    "darfst",
    "wieder",
    "mehr",
    "regel",
    "für",
    "mit",
    "auf",
    "im",
    "zu",
    "von",
    "nutze",
    "verwende",
    "erledigt",
    "fertig",
    "doch",
    "lieber",
    "statt",
    "el",
    "la",
    "los",
    "las",
    "un",
    "una",
    "de",
    "del",
    "en",
    "y",
    "o",
    "con",
    "para",
    "por",
    "nunca",
    "siempre",
    "solo",
    "ahora",
    "usa",
    "puedes",
    "ya",
    "regla",
    "es",
    "que",
    "le",
    "les",
    "des",
    "du",
    "et",
    "ou",
    "dans",
    "pour",
    "ne",
    "pas",
    "jamais",
    "toujours",
    "utilise",
    "tu",
    "peux",
    "maintenant",
    "est",
    "règle",
    "al",
];

/// The pins that `sentence` changes, and their new states.
pub(super) fn effects(
    pins: &[Pin],
    change: Change,
    by: usize,
    sentence: &str,
) -> Vec<(usize, PinState)> {
    let topic = Topic::of(sentence);
    let found: Vec<usize> = pins
        .iter()
        .enumerate()
        .rev()
        .filter(|(_, pin)| pin.is_active() && pin.kind != PinKind::Host)
        .take(COMPARED)
        .filter(|(_, pin)| match (change, pin.kind) {
            (Change::Revokes, PinKind::Instruction) => topic.is_within(&Topic::of(&pin.text)),
            (Change::Revokes | Change::Finishes, PinKind::Todo) => {
                topic.is_within(&Topic::of(&pin.text))
            }
            (Change::Replaces, PinKind::Instruction) => topic.replaces(&Topic::of(&pin.text)),
            _ => false,
        })
        .map(|(at, _)| at)
        .collect();
    // One word that several pins share does not say which of them is meant.
    let is_vague = topic.words.len() < 2 && found.len() > 1;
    if is_vague {
        return Vec::new();
    }
    let state = |pin: &Pin| match pin.kind {
        PinKind::Todo => PinState::Done { by },
        PinKind::Instruction | PinKind::Host => PinState::Superseded { by },
    };
    found
        .into_iter()
        .filter_map(|at| pins.get(at).map(|pin| (at, state(pin))))
        .collect()
}

/// What a sentence is about.
struct Topic {
    /// Its words that name something, stemmed, each once.
    words: Vec<String>,
    /// Its numbers.
    numbers: Vec<String>,
    /// The words it sets aside: "not tabs", "instead of tabs".
    refused: Vec<String>,
}

impl Topic {
    fn of(sentence: &str) -> Self {
        let lower = lowered(sentence);
        let mut topic = Self {
            words: Vec::new(),
            numbers: Vec::new(),
            refused: Vec::new(),
        };
        let mut refuses = 0;
        for word in lower.split(|c: char| c.is_whitespace() || ",;:!?()\"“”`".contains(c)) {
            let word = word.trim_matches(|c: char| !c.is_alphanumeric());
            if matches!(
                word,
                "not"
                    | "instead"
                    | "rather"
                    | "than"
                    | "nicht"
                    | "statt"
                    | "anstatt"
                    | "of"
                    | "no"
                    | "pas"
                    | "lieu"
                    | "lugar"
                    | "vez"
            ) {
                refuses = 2;
                continue;
            }
            if word.is_empty() || EMPTY.contains(&word) {
                continue;
            }
            if word.starts_with(|c: char| c.is_ascii_digit()) {
                topic.numbers.push(word.to_owned());
                continue;
            }
            let stem = stem(word);
            if refuses > 0 && !topic.refused.contains(&stem) {
                topic.refused.push(stem.clone());
                refuses = 0;
            }
            if !topic.words.contains(&stem) {
                topic.words.push(stem);
            }
        }
        topic
    }

    /// Whether everything this one names is named there.
    fn is_within(&self, other: &Self) -> bool {
        !self.words.is_empty() && self.words.iter().all(|word| other.words.contains(word))
    }

    /// Whether this one says anew what `other` said: the same thing with another number, or instead of what it asked for.
    fn replaces(&self, other: &Self) -> bool {
        let other_number =
            !self.numbers.is_empty() && !other.numbers.is_empty() && self.numbers != other.numbers;
        let shared = self
            .words
            .iter()
            .filter(|word| other.words.contains(word))
            .count();
        let least = self.words.len().min(other.words.len());
        let same_thing = shared > 0 && shared == least;
        let refused = !self.refused.is_empty()
            && self.refused.iter().all(|word| other.words.contains(word))
            && self
                .refused
                .iter()
                .all(|word| !other.refused.contains(word));
        (other_number && same_thing) || refused
    }
}

/// A word without the endings that number and tense leave on it.
fn stem(word: &str) -> String {
    let is_plain = word.chars().all(char::is_alphabetic) && word.chars().count() > 4;
    let ending = ["ing", "es", "en", "ed", "s"]
        .into_iter()
        .find(|ending| is_plain && word.ends_with(ending));
    let bare = ending
        .and_then(|ending| word.strip_suffix(ending))
        .unwrap_or(word);
    bare.to_owned()
}

fn lowered(sentence: &str) -> String {
    sentence.to_lowercase().replace('’', "'")
}
