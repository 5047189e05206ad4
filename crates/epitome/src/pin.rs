//! What the user said that stays in force, word for word.
//!
//! - the lines of a message that somebody typed, and their sentences: `typed`, `sentences`
//! - what a sentence says: `reading`, and those of a message: `saying`. Which is a rule: `standing`, `statement` and `grammar`, over `clauses` and the tables in
//!   `languages` and `phrases`, whose classes are in `class`; scripts that do not separate words have their own: `unspaced`
//! - whether a sentence is a rule, a request or a tale: `purpose`
//! - which of these is in force when somebody types it, and not a request for once or a fact: `evidence`, with `weights`
//! - which is an open to-do: `todo`; what later entries do to both: `state`
//! - how many fit: `cap`; which results are law because the task names them: `named`

mod cap;
mod class;
mod clauses;
mod evidence;
#[cfg(test)]
mod evidence_tests;
mod grammar;
mod languages;
#[cfg(test)]
mod languages_tests;
mod named;
mod phrases;
mod purpose;
mod reading;
mod saying;
mod sentences;
mod standing;
mod state;
mod statement;
mod todo;
mod typed;
mod unspaced;
mod weights;
#[cfg(test)]
mod weights_tests;

use std::cell::OnceCell;
use std::collections::HashSet;

use crate::message::{Message, Role};
use crate::provenance;
use crate::signature::Embedded;

pub use cap::{CappedPins, cap, pin_budget_tokens};
use clauses::Sentence;
pub(crate) use named::NAMED_PART;
pub use named::{NamedResult, Share, named_results, share_named};
pub(crate) use purpose::{Purpose, purpose};
use reading::in_force;
pub(crate) use reading::{Strength, is_standing, strength};
use saying::Saying;
pub(crate) use saying::Sayings;
pub(crate) use state::stem;
use state::{Change, Topic};
pub(crate) use unspaced::is_own as is_unspaced;

/// A sentence that is kept verbatim until it is superseded or done.
///
/// ```
/// use epitome::{Message, PinState, Role, find_pins};
///
/// let messages = [
///     Message::text(Role::User, "Fix the login. Never push to main."),
///     Message::text(Role::User, "You may push to main now."),
/// ];
/// let pins = find_pins(messages.iter().enumerate());
/// assert_eq!(pins[0].text, "Never push to main.");
/// assert_eq!(pins[0].state, PinState::Superseded { by: 1 });
/// assert_eq!(pins[1].text, "You may push to main now.");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Pin {
    /// The entry it was typed in; 0 for what the host supplied.
    pub position: usize,
    /// The sentence, exactly as typed.
    pub text: String,
    /// What it is.
    pub kind: PinKind,
    /// Whether it is in force.
    pub state: PinState,
}

/// What a pin is, the least binding first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum PinKind {
    /// A rule inside a long text that the user sent: a plan, a file of rules, a report.
    Passage,
    /// Something the user wants done later.
    Todo,
    /// A standing instruction or constraint of the user.
    Instruction,
    /// What the program around this crate supplied. No sentence of the conversation changes it.
    Host,
}

/// Whether a pin is in force.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum PinState {
    /// It is.
    #[default]
    Active,
    /// A later entry took it back or put another in its place.
    Superseded {
        /// That entry.
        by: usize,
    },
    /// A to-do that the user ticked off or dropped.
    Done {
        /// The entry that says so.
        by: usize,
    },
    /// The user said outside of the conversation that it is none: it is not in force, and takes nothing back.
    Dropped,
}

impl Pin {
    /// A standing instruction in force.
    #[must_use]
    pub fn instruction(position: usize, text: impl Into<String>) -> Self {
        Self::active(position, text.into(), PinKind::Instruction)
    }

    /// An open to-do.
    #[must_use]
    pub fn todo(position: usize, text: impl Into<String>) -> Self {
        Self::active(position, text.into(), PinKind::Todo)
    }

    /// What the host wants kept: it stays verbatim, in front, whatever is said later.
    #[must_use]
    pub fn host(text: impl Into<String>) -> Self {
        Self::active(0, text.into(), PinKind::Host)
    }

    /// A pin that an earlier summary carried. Summaries do not name the kind: what does not read as an instruction
    /// was a to-do.
    #[must_use]
    pub fn carried(position: usize, text: impl Into<String>) -> Self {
        let text = text.into();
        let reads_so = is_standing(&text) || in_force(&text).is_some();
        let is_instruction = reads_so && !todo::is_marked(&text);
        let kind = if is_instruction {
            PinKind::Instruction
        } else {
            PinKind::Todo
        };
        Self::active(position, text, kind)
    }

    const fn active(position: usize, text: String, kind: PinKind) -> Self {
        Self {
            position,
            text,
            kind,
            state: PinState::Active,
        }
    }

    /// Whether it is in force.
    #[must_use]
    pub fn is_active(&self) -> bool {
        self.state == PinState::Active
    }

    /// The entry it was typed in, if it was typed.
    #[must_use]
    pub fn entry(&self) -> Option<usize> {
        (self.kind != PinKind::Host).then_some(self.position)
    }
}

/// Whether a word, in small letters, says nothing about the topic of a sentence.
pub(crate) fn names_nothing(word: &str) -> bool {
    languages::lists(class::Class::Empty, word)
}

/// Rules stand in what a person types, and that is short; the rest of a long message is pasted material.
const TYPED_CHARS: usize = 6_000;

/// The pins among the messages of the user, oldest first, with what became of each. A text is in force once.
///
/// Only what a person typed is looked at: tool output and injected text never become an instruction, and of a summary
/// of this crate only its instructions count.
#[must_use]
pub fn find<'a>(messages: impl IntoIterator<Item = (usize, &'a Message)>) -> Vec<Pin> {
    carry(Vec::new(), messages)
}

/// The pins of earlier rounds (and of the host), and those that the messages add, oldest first. What the messages take
/// back or tick off changes its state and stays in the list.
#[must_use]
pub fn carry<'a>(
    earlier: Vec<Pin>,
    messages: impl IntoIterator<Item = (usize, &'a Message)>,
) -> Vec<Pin> {
    let unread = messages.into_iter();
    sorted(
        earlier,
        unread.map(|(at, message)| (at, message, None)),
        &[],
    )
    .0
}

/// Sentences of the user that are no pins but have a word that rules have, with their entries.
pub(crate) type Binding = Vec<(usize, String)>;

/// The pins, and beside them the sentences that may bind although they are none. What messages say may have been read
/// already. What is `dropped` is in the list as such; here and nowhere else that is seen to.
pub(crate) fn sorted<'a>(
    earlier: Vec<Pin>,
    messages: impl IntoIterator<Item = (usize, &'a Message, Option<&'a Sayings>)>,
    dropped: &[String],
) -> (Vec<Pin>, Binding) {
    let mut board = Board {
        dropped: dropped.iter().map(|text| text.trim()).collect(),
        ..Board::default()
    };
    for pin in earlier {
        board.add(pin);
    }
    let mut typed_messages = 0_usize;
    // Whether somebody typed something in a message is asked only where that matters.
    let mut uncounted: Vec<&Message> = Vec::new();
    for (position, message, sayings) in messages {
        if let Some(sayings) = sayings {
            for (saying, sentence) in sayings.sentences(message) {
                board.hear(position, saying, sentence);
            }
        } else if message.role == Role::User {
            typed_messages += uncounted
                .drain(..)
                .filter(|one| one.is_typed_by_user())
                .take(2)
                .count();
            // A summary of ours stands in front; one that turns up later is quoted by somebody.
            let place = match typed_messages {
                0 | 1 => Place::Front,
                _ => Place::Behind,
            };
            for text in message.spoken() {
                board.read(position, text, place);
            }
        }
        // Past the second nothing depends on it any more.
        if typed_messages < 2 && message.role == Role::User {
            uncounted.push(message);
        }
    }
    let pins = board.pins.into_iter().map(|(pin, _)| pin).collect();
    (pins, board.binding)
}

/// Where among the messages one stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Where a design may have put a summary: before the second message that somebody typed.
    Front,
    Behind,
}

/// The pins so far, and the texts in force, so that a text is looked up and not searched for.
#[derive(Default)]
struct Board<'d> {
    pins: Vec<(Pin, OnceCell<Topic>)>,
    texts: HashSet<String>,
    binding: Binding,
    dropped: HashSet<&'d str>,
}

impl Board<'_> {
    fn add(&mut self, mut pin: Pin) {
        if pin.is_active() && !self.texts.insert(pin.text.clone()) {
            return;
        }
        if pin.is_active() && pin.kind != PinKind::Host && self.is_dropped(&pin.text) {
            pin.state = PinState::Dropped;
        }
        self.pins.push((pin, OnceCell::new()));
    }

    fn read(&mut self, position: usize, text: &str, place: Place) {
        match Embedded::find(text).filter(|_| place == Place::Front) {
            Some(summary) => {
                self.typed(position, summary.before);
                for text in summary.pins {
                    self.add(Pin::carried(position, text));
                }
                self.typed(position, summary.behind);
            }
            None => self.typed(position, text),
        }
    }

    fn typed(&mut self, position: usize, text: &str) {
        for saying in saying::read(0, text, provenance::typed(text)) {
            if let Some(sentence) = saying.of(text) {
                self.hear(position, &saying, sentence);
            }
        }
    }

    fn is_dropped(&self, text: &str) -> bool {
        !self.dropped.is_empty() && self.dropped.contains(text.trim())
    }

    fn hear(&mut self, position: usize, saying: &Saying, sentence: &str) {
        let superseded = match saying.change {
            _ if self.is_dropped(sentence) => false,
            Some(Change::Finishes) => self.apply(Change::Finishes, position, sentence),
            Some(change) if !self.texts.contains(sentence) => {
                self.apply(change, position, sentence)
            }
            _ => false,
        };
        if saying.is_pin || superseded {
            self.add(Pin::active(position, sentence.to_owned(), saying.kind));
        } else if saying.may_bind {
            self.binding.push((position, sentence.to_owned()));
        }
    }

    /// Whether an instruction was superseded. A to-do that is done needs no instruction in its place.
    fn apply(&mut self, change: Change, position: usize, text: &str) -> bool {
        let mut superseded = false;
        for (at, state) in state::effects(&self.pins, change, position, &Topic::of(text)) {
            let Some((pin, _)) = self.pins.get_mut(at) else {
                continue;
            };
            superseded |= pin.kind != PinKind::Todo;
            self.texts.remove(&pin.text);
            pin.state = state;
        }
        superseded
    }
}

/// Whether a line of a list that mixes pins with other words of the user is a pin: one sentence, whole.
pub(crate) fn is_pin(line: &str) -> bool {
    let is_cut = line.contains("[…]") || line.ends_with('…');
    let is_whole = || {
        let mut pieces = sentences::pieces(line);
        pieces.next().is_some_and(|piece| piece.text == line) && pieces.next().is_none()
    };
    !is_cut && (in_force(line).is_some() || todo::is_marked(line)) && is_whole()
}

/// Whether a sentence says what not to do, or what is not.
pub(crate) fn negates(sentence: &str) -> bool {
    unspaced::negates(sentence) || Sentence::read(sentence).negates()
}

fn typed_part(text: &str) -> &str {
    if text.len() <= TYPED_CHARS {
        return text;
    }
    let end = text
        .char_indices()
        .nth(TYPED_CHARS)
        .map_or(text.len(), |(at, _)| at);
    text.get(..end).unwrap_or(text)
}
