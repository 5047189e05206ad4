//! What a span speaks of: every anchor and every word of the people in it, who used it how often, and how
//! long ago.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::pieces::{Piece, Voice};
use super::weight;
use crate::anchor::{Shape, Word, is_plain_path, path_end, path_key, scan, text_hash};
use crate::hashed::Spread;
use crate::letters::begins;
use crate::pin::Binding;
use crate::story::is_around;

type Keys<V> = HashMap<u64, V, Spread>;

/// An anchor or a word, and how it was used.
#[derive(Clone, Debug)]
pub(super) struct Term {
    pub(super) shape: Shape,
    /// Entries in which the user, the assistant and the tools named it.
    pub(super) said: u16,
    pub(super) made: u16,
    pub(super) seen: u16,
    last_entries: [u32; 3],
    /// Bytes of the span before its last mention.
    pub(super) last: u64,
    /// Whether it ever stands among words that say what it is.
    pub(super) is_worded: bool,
    /// Whether the user ever wrote it like a name or a number.
    pub(super) is_marked: bool,
    /// How much more than others it is worth, because the user asked for it or a file was changed.
    pub(super) factor: f64,
    /// The words it is made of.
    parts: Range<u32>,
}

/// A piece that may be quoted, and what it names.
#[derive(Debug)]
pub(super) struct Candidate<'a> {
    pub(super) piece: Piece<'a>,
    terms: Range<u32>,
    /// Whether words stand around what it names, so that a reader knows what that is.
    pub(super) is_worded: bool,
    /// Bytes of the span before it.
    pub(super) at: u64,
    /// Whether the user may have set a rule in it.
    pub(super) may_bind: bool,
    /// Whether it speaks of what the user wants kept in mind.
    pub(super) is_focused: bool,
    template: Option<u32>,
}

/// All pieces of a span with what they name.
#[derive(Default)]
pub(super) struct Survey<'a> {
    pub(super) candidates: Vec<Candidate<'a>>,
    pub(super) terms: Vec<Term>,
    /// Bytes of everything.
    pub(super) bytes: u64,
    /// Of these, bytes of tool traffic.
    pub(super) tool_bytes: u64,
    /// Words by which a piece is known that speaks of what the user wants kept in mind.
    focus: Vec<String>,
    keys: Keys<u32>,
    ids: Vec<u32>,
    texts: HashSet<u64, Spread>,
    words: Keys<u32>,
    /// In how many entries each word was spoken, and in which entry last.
    spoken: Vec<(f64, u32)>,
    word_parts: Vec<u32>,
    speakers: u32,
    last_speaker: Option<usize>,
    template_ids: Keys<u32>,
    templates: Vec<u32>,
    /// Entries with the bytes before each, in order.
    places: Vec<(usize, u64)>,
}

/// A word of the user counts as much as this many of the assistant's.
const USER_WORD: f64 = 5.0;
const TEMPLATE_START: u64 = 0x9e37_79b9_7f4a_7c15;
/// So many words make a line readable by itself.
const WORDED: usize = 2;

impl<'a> Survey<'a> {
    /// Takes up a piece.
    pub(super) fn add(&mut self, mut piece: Piece<'a>) {
        let Piece {
            position, voice, ..
        } = piece;
        let entry = u32::try_from(position).unwrap_or(u32::MAX);
        let from = self.ids.len();
        let mut plain = 0;
        let mut last_plain = 0;
        if voice.is_spoken() && self.last_speaker != Some(position) {
            self.speakers += 1;
            self.last_speaker = Some(position);
        }
        let text = std::mem::take(&mut piece.text);
        let mut is_first = true;
        let mut template = TEMPLATE_START;
        scan(&text, |word| {
            let is_marked = voice.is_said() && word.is_marked(is_first);
            is_first = false;
            if word.is_small() && !is_marked {
                return;
            }
            if voice.is_spoken() {
                self.speak(word, voice, entry);
            }
            let key = word.key();
            template = (template
                ^ match word.shape {
                    Shape::Plain => key,
                    shape => shape as u64,
                })
            .rotate_left(23)
            .wrapping_mul(TEMPLATE_START);
            if word.shape == Shape::Plain {
                plain += usize::from(key != last_plain);
                last_plain = key;
                if !matches!(voice, Voice::User | Voice::Assistant | Voice::Earlier(_)) {
                    return;
                }
            }
            // A composed line tells what other pieces say: nothing in it counts a second time.
            let id = if voice.is_composed() {
                match self.keys.get(&key) {
                    Some(id) => *id,
                    None => return,
                }
            } else {
                let id = self.id(key, word);
                self.count(id, voice, entry);
                id
            };
            if is_marked && let Some(term) = self.terms.get_mut(id as usize) {
                term.is_marked = true;
            }
            if !self.ids.get(from..).is_some_and(|ids| ids.contains(&id)) {
                self.ids.push(id);
            }
        });
        piece.text = text;
        let at = self.place(&piece);
        let ids = self.ids.get(from..).unwrap_or_default();
        let shapes = ids.iter().filter_map(|id| self.terms.get(*id as usize));
        let mut shapes = shapes.map(|term| term.shape);
        let is_list = matches!(voice, Voice::Result | Voice::Failure)
            && ids.len() == 1
            && is_plain_path(&piece.text);
        let is_noise = matches!(voice, Voice::Result | Voice::Failure) && is_around(&piece.text);
        let says_something = (plain >= WORDED || shapes.any(|shape| shape != Shape::Number))
            && (voice.is_spoken() && voice != Voice::Written || !is_import(&piece.text))
            && !is_noise;
        if is_list {
            piece.voice = Voice::Listed;
            piece.text = match piece.text {
                Cow::Borrowed(text) => Cow::Borrowed(path_end(text)),
                Cow::Owned(text) => Cow::Owned(path_end(&text).to_owned()),
            };
        }
        let is_focused = self.is_about_focus(&piece.text);
        let is_said = voice.is_composed()
            || (is_focused || !ids.is_empty() && says_something)
                && self.texts.insert(text_hash(&piece.text));
        if !is_said {
            self.ids.truncate(from);
            return;
        }
        let is_worded = plain >= WORDED;
        if is_worded {
            for id in self.ids.get(from..).unwrap_or_default() {
                if let Some(term) = self.terms.get_mut(*id as usize) {
                    term.is_worded = true;
                }
            }
        }
        let is_output = matches!(piece.voice, Voice::Result | Voice::Failure) && plain > 0;
        let template = is_output.then(|| self.counted_template(template));
        self.candidates.push(Candidate {
            piece,
            template,
            terms: index(from)..index(self.ids.len()),
            is_worded,
            at,
            may_bind: false,
            is_focused,
        });
    }

    /// The number of a template, which occurs once more.
    fn counted_template(&mut self, template: u64) -> u32 {
        let next = index(self.templates.len());
        let id = *self.template_ids.entry(template).or_insert(next);
        if id == next {
            self.templates.push(0);
        }
        if let Some(count) = self.templates.get_mut(id as usize) {
            *count += 1;
        }
        id
    }

    fn is_about_focus(&self, text: &str) -> bool {
        if self.focus.is_empty() {
            return false;
        }
        let lower = text.to_lowercase();
        self.focus.iter().any(|word| lower.contains(word))
    }

    /// How many bytes of the span stand before a piece; those of a composed line are counted already.
    fn place(&mut self, piece: &Piece<'_>) -> u64 {
        let Piece {
            position, voice, ..
        } = *piece;
        if voice.is_composed() {
            let place = self.places.partition_point(|(entry, _)| *entry <= position);
            let place = place.checked_sub(1).and_then(|at| self.places.get(at));
            return place.map_or(0, |(_, bytes)| *bytes);
        }
        if self.places.last().is_none_or(|(last, _)| *last < position) {
            self.places.push((position, self.bytes));
        }
        self.bytes += piece.text.len() as u64;
        self.tool_bytes += match voice {
            Voice::User | Voice::Assistant | Voice::Earlier(_) => 0,
            _ => piece.text.len() as u64,
        };
        self.bytes
    }

    /// Marks the pieces in which sentences stand that may bind. Pieces and sentences are in the order of their entries.
    pub(super) fn bind(&mut self, binding: &Binding) {
        for (position, sentence) in binding {
            let from = self
                .candidates
                .partition_point(|candidate| candidate.piece.position < *position);
            let here = self.candidates.iter_mut().skip(from);
            let mut here = here.take_while(|candidate| candidate.piece.position == *position);
            if let Some(candidate) = here.find(|candidate| {
                candidate.piece.voice == Voice::User && candidate.piece.text.contains(&**sentence)
            }) {
                candidate.may_bind = true;
            }
        }
    }

    /// Whether most of the span is tool traffic.
    pub(super) const fn is_work(&self) -> bool {
        self.tool_bytes * 2 > self.bytes
    }

    /// What a piece names.
    pub(super) fn ids(&self, candidate: &Candidate<'_>) -> &[u32] {
        let range = candidate.terms.start as usize..candidate.terms.end as usize;
        self.ids.get(range).unwrap_or_default()
    }

    /// How many lines of tool output say the same as this one with other names and numbers.
    pub(super) fn copies(&self, candidate: &Candidate<'_>) -> u32 {
        let count = candidate
            .template
            .and_then(|id| self.templates.get(id as usize));
        count.copied().unwrap_or(1)
    }

    /// Every term that a text names.
    pub(super) fn known(&self, text: &str, mut each: impl FnMut(u32)) {
        scan(text, |word| {
            if let Some(id) = self.keys.get(&word.key()) {
                each(*id);
            }
        });
    }

    /// The term of a path, if it was named.
    pub(super) fn path(&self, path: &str) -> Option<u32> {
        self.keys.get(&path_key(path)).copied()
    }

    /// The newest entry in which the assistant named a path.
    pub(super) fn last_made(&self, path: &str) -> Option<usize> {
        let term = self.terms.get(self.path(path)? as usize)?;
        let [_, assistant, _] = term.last_entries;
        (assistant != u32::MAX).then_some(assistant as usize)
    }

    /// In how many entries people and assistant named what has this key.
    pub(super) fn uses(&self, key: u64) -> u16 {
        let term = self
            .keys
            .get(&key)
            .and_then(|id| self.terms.get(*id as usize));
        term.map_or(0, |term| term.said.saturating_add(term.made))
    }

    /// In how many entries people and assistant named this.
    pub(super) fn mentions(&self, name: &str) -> u16 {
        let mut uses = 0;
        scan(name, |word| uses = self.uses(word.key()).max(uses));
        uses
    }

    /// With what the user wants kept in mind, before anything is taken up.
    pub(super) fn focused_on(focus: Option<&str>) -> Self {
        let mut survey = Self::default();
        scan(focus.unwrap_or_default(), |word| {
            if !word.is_small() {
                survey.focus.push(word.text.to_lowercase());
            }
        });
        survey
    }

    /// Makes everything that `text` names worth more.
    pub(super) fn prefer(&mut self, text: &str, factor: f64) {
        let mut ids = Vec::new();
        self.known(text, |id| ids.push(id));
        for id in ids {
            if let Some(term) = self.terms.get_mut(id as usize) {
                term.factor = factor;
            }
        }
    }

    /// How likely each term is to be needed again, about.
    pub(super) fn weights(&self) -> Vec<f64> {
        let weigh = |term: &Term| weight::of(term, self.bytes - term.last, self.affinity(term));
        self.terms.iter().map(weigh).collect()
    }

    /// How much people and assistant speak of what the parts of a name say: the share of their entries in
    /// which such a part stands, on average.
    fn affinity(&self, term: &Term) -> f64 {
        let range = term.parts.start as usize..term.parts.end as usize;
        let parts = self.word_parts.get(range).unwrap_or_default();
        let counts = parts.iter().filter_map(|id| self.spoken.get(*id as usize));
        let sum: f64 = counts.map(|(count, _)| count).sum();
        sum / parts.len().max(1) as f64 / f64::from(self.speakers.max(1))
    }

    /// How much a text is about what people and assistant speak of: words that they use, the rarer the more, against its
    /// length to the power of `size`.
    pub(super) fn relevance(&self, text: &str, size: f64) -> f64 {
        let (mut shared, mut words) = (0.0, 0_u32);
        scan(text, |word| {
            if word.is_small() {
                return;
            }
            word.parts(|part| {
                words += 1;
                let id = self.words.get(&part);
                let spoken = id.and_then(|id| self.spoken.get(*id as usize));
                if let Some((count, _)) = spoken.filter(|(count, _)| *count > 0.0) {
                    shared += (1.0 + f64::from(self.speakers) / count).ln();
                }
            });
        });
        shared / f64::from(words.max(1)).powf(size)
    }

    fn speak(&mut self, word: Word<'_>, voice: Voice, entry: u32) {
        let step = match voice {
            Voice::User => USER_WORD,
            _ => 1.0,
        };
        word.parts(|part| {
            let id = self.word(part);
            if let Some((count, last)) = self.spoken.get_mut(id as usize)
                && *last != entry
            {
                *count += step;
                *last = entry;
            }
        });
    }

    fn word(&mut self, key: u64) -> u32 {
        let next = index(self.spoken.len());
        let id = *self.words.entry(key).or_insert(next);
        if id == next {
            self.spoken.push((0.0, u32::MAX));
        }
        id
    }

    fn id(&mut self, key: u64, word: Word<'_>) -> u32 {
        let next = index(self.terms.len());
        let id = *self.keys.entry(key).or_insert(next);
        if id == next {
            let from = index(self.word_parts.len());
            if word.shape != Shape::Plain {
                word.parts(|part| {
                    let id = self.word(part);
                    self.word_parts.push(id);
                });
            }
            self.terms.push(Term {
                shape: word.shape,
                said: 0,
                made: 0,
                seen: 0,
                last_entries: [u32::MAX; 3],
                last: 0,
                is_worded: false,
                is_marked: false,
                factor: 1.0,
                parts: from..index(self.word_parts.len()),
            });
        }
        id
    }

    fn count(&mut self, id: u32, voice: Voice, entry: u32) {
        let Some(term) = self.terms.get_mut(id as usize) else {
            return;
        };
        term.last = self.bytes;
        let [user, assistant, tools] = &mut term.last_entries;
        let (counter, last) = match voice {
            Voice::User | Voice::Pasted => (&mut term.said, user),
            Voice::Assistant | Voice::Written | Voice::Earlier(_) => (&mut term.made, assistant),
            Voice::Result
            | Voice::Failure
            | Voice::Listed
            | Voice::Deed
            | Voice::Trouble
            | Voice::Report => (&mut term.seen, tools),
        };
        // The lines of an earlier summary are of many entries.
        if *last != entry || matches!(voice, Voice::Earlier(_)) {
            *counter = counter.saturating_add(1);
            *last = entry;
        }
    }
}

/// Whether a line only says what a file uses.
fn is_import(line: &str) -> bool {
    let openings = [
        "import ", "from ", "use ", "#include", "using ", "package ", "} from ",
    ];
    let quoted = line.trim_end_matches([',', ';']).strip_prefix('"');
    let is_alone = quoted
        .and_then(|text| text.strip_suffix('"'))
        .is_some_and(|text| !text.contains([' ', '"']));
    is_alone || openings.iter().any(|opening| begins(line, opening))
}

/// Positions in tables of a span; four thousand million are enough.
fn index(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}
