//! A compacted context, and whether what it names still stands in its surroundings.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use memchr::memmem;

use crate::history::History;
use crate::ident::Ident;
use crate::scan::Scan;
use crate::scan::idents;
use crate::text::on_one_line;
use crate::words::content_words;

/// Characters on each side of an identifier that count as its surroundings.
const NEAR_CHARS: usize = 120;
/// Characters on each side that have to be verbatim where words do not decide.
const VERBATIM_CHARS: usize = 16;
/// So much of them has to be there: at the beginning of a context there may be nothing in front.
const VERBATIM_LEAST_CHARS: usize = 20;
/// Places in a context that are looked at for each identifier.
const PLACES: usize = 8;
/// Mentions before the cut that count: the first one and the newest ones.
const NEWEST_MENTIONS: usize = 5;
/// Places that are looked at in each of these messages.
const PLACES_IN_MENTION: usize = 2;
/// So many common words make a mention grounded.
const COMMON_WORDS: usize = 2;

/// A compacted context, scanned once.
#[derive(Debug)]
pub struct Context {
    text: Vec<char>,
    scan: Scan,
    blanked: Vec<char>,
}

impl Context {
    /// Scans a context.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let text: Vec<char> = text.chars().collect();
        let scan = Scan::of(&text);
        let blanked = scan.blanked(&text);
        Self {
            text,
            scan,
            blanked,
        }
    }

    /// Its characters.
    #[must_use]
    pub fn characters(&self) -> &[char] {
        &self.text
    }

    /// Whether it names something.
    #[must_use]
    pub fn names(&self, ident: &Ident) -> bool {
        self.scan.contains(ident)
    }
}

/// What stood around identifiers before a cut.
#[derive(Debug)]
pub struct Surroundings {
    words: HashMap<Ident, HashSet<String>>,
    source: String,
}

impl Surroundings {
    /// The surroundings of `wanted` in the messages before `at`.
    #[must_use]
    pub fn before(history: &History, at: usize, wanted: &HashSet<Ident>) -> Self {
        let mut scanned: HashMap<usize, (Scan, Vec<char>)> = HashMap::new();
        let words = wanted
            .iter()
            .map(|ident| {
                let mut words = HashSet::new();
                for position in mentions(history, at, ident) {
                    let (scan, blanked) = scanned.entry(position).or_insert_with(|| {
                        let text: Vec<char> = history.text(position).chars().collect();
                        let scan = Scan::of(&text);
                        let blanked = scan.blanked(&text);
                        (scan, blanked)
                    });
                    for place in scan.places(ident).iter().take(PLACES_IN_MENTION) {
                        words.extend(words_near(blanked, place));
                    }
                }
                (ident.clone(), words)
            })
            .collect();
        let texts = history.texts.get(..at).unwrap_or(&history.texts);
        Self {
            words,
            source: on_one_line(&texts.join("\n")),
        }
    }

    /// Whether a context names `ident` together with something that stood around it before: words, or the exact
    /// characters beside it. Where there were no words around it, the name is enough.
    #[must_use]
    pub fn ground(&self, context: &Context, ident: &Ident) -> bool {
        if !context.names(ident) {
            return false;
        }
        let Some(words) = self.words.get(ident).filter(|w| w.len() >= COMMON_WORDS) else {
            return true;
        };
        let places = context.scan.places(ident).iter().take(PLACES);
        places.into_iter().any(|place| {
            let near: HashSet<String> = words_near(&context.blanked, place).collect();
            near.intersection(words).count() >= COMMON_WORDS || self.is_verbatim(context, place)
        })
    }

    fn is_verbatim(&self, context: &Context, place: &Range<usize>) -> bool {
        let around = around(place, VERBATIM_CHARS);
        if around.len() < place.len() + VERBATIM_LEAST_CHARS {
            return false;
        }
        let end = around.end.min(context.text.len());
        let text: String = context
            .text
            .get(around.start..end)
            .unwrap_or_default()
            .iter()
            .collect();
        let text = on_one_line(&text);
        memmem::find(self.source.as_bytes(), text.trim().as_bytes()).is_some()
    }
}

/// The messages that name `ident` before a cut: the first, and the newest.
fn mentions(history: &History, at: usize, ident: &Ident) -> Vec<usize> {
    let all: Vec<usize> = history
        .idents
        .iter()
        .take(at)
        .enumerate()
        .filter(|(_, idents)| idents.contains(ident))
        .map(|(position, _)| position)
        .collect();
    let newest = all.len().saturating_sub(NEWEST_MENTIONS).max(1);
    let mut mentions: Vec<usize> = all.iter().take(1).copied().collect();
    mentions.extend(all.iter().skip(newest));
    mentions
}

fn around(place: &Range<usize>, chars: usize) -> Range<usize> {
    place.start.saturating_sub(chars)..place.end + chars
}

fn words_near(blanked: &[char], place: &Range<usize>) -> impl Iterator<Item = String> {
    let around = around(place, NEAR_CHARS);
    let end = around.end.min(blanked.len());
    let near = blanked.get(around.start..end).unwrap_or_default();
    content_words(near).into_iter()
}

/// The needs that a keyword search over the messages before a cut brings back. The query is what the agent wrote when
/// it needed them, with every identifier blanked, and the beginning of the message before.
#[must_use]
pub fn found_by_search(history: &History, at: usize, needs: &HashSet<Ident>) -> HashSet<Ident> {
    use crate::search::Index;
    use crate::session::Speaker;
    use crate::text::prefix;

    const PASSAGE_CHARS: usize = 1_500;
    const PASSAGE_STEP: usize = 1_200;
    const QUERY_CHARS: usize = 1_200;
    const BEFORE_CHARS: usize = 300;
    const HITS: usize = 5;

    let mut passages: Vec<String> = Vec::new();
    for (position, entry) in history.before(at) {
        if entry.role == Speaker::System {
            continue;
        }
        let text: Vec<char> = history.text(position).chars().collect();
        for start in (0..text.len().max(1)).step_by(PASSAGE_STEP) {
            let end = text.len().min(start + PASSAGE_CHARS);
            passages.push(text.get(start..end).unwrap_or_default().iter().collect());
        }
    }
    let index = Index::of(passages.iter().map(String::as_str));
    let mut by_use: HashMap<usize, HashSet<&Ident>> = HashMap::new();
    for ident in needs {
        if let Some(used) = crate::need::first_use(history, at, ident) {
            by_use.entry(used).or_default().insert(ident);
        }
    }
    let mut found = HashSet::new();
    for (used, wanted) in by_use {
        let text: Vec<char> = history.text(used).chars().collect();
        let blanked: String = Scan::of(&text)
            .blanked(&text)
            .into_iter()
            .take(QUERY_CHARS)
            .collect();
        let before = prefix(history.text(used - 1), BEFORE_CHARS);
        for hit in index.rank(&format!("{blanked} {before}")).iter().take(HITS) {
            let named = passages.get(*hit).map(|passage| idents(passage));
            let named = named.unwrap_or_default();
            found.extend(
                wanted
                    .iter()
                    .filter(|i| named.contains(**i))
                    .map(|i| (*i).clone()),
            );
        }
    }
    found
}
