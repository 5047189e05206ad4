//! What the sentences of one message say by themselves. It is read once; what they do to each other depends on the
//! rest of the conversation.

use std::ops::Range;
use std::sync::Arc;

use super::reading::Reading;
use super::sentences::{Item, Piece, Register, pieces};
use super::state::Change;
use super::{PinKind, todo, typed_part};
use crate::message::{Message, Role};
use crate::provenance::Typed;
use crate::signature::Embedded;

/// A sentence that somebody typed and that may bind: where it stands and what it says, without its words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Saying {
    /// The text of the message in which it stands, and the bytes of it.
    text: u32,
    bytes: Range<u32>,
    /// What it is pinned as, once it is.
    pub(super) kind: PinKind,
    /// Whether it is pinned whatever was said before.
    pub(super) is_pin: bool,
    /// What it may do to earlier ones.
    pub(super) change: Option<Change>,
    /// Whether it has a word that rules have.
    pub(super) may_bind: bool,
}

impl Saying {
    /// Its words; `text` is the one in which it stands.
    pub(super) fn of<'a>(&self, text: &'a str) -> Option<&'a str> {
        text.get(self.bytes.start as usize..self.bytes.end as usize)
    }
}

/// What the sentences of a message say. Two of them are alike when their sentences stand at the same places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sayings(Arc<[Saying]>);

impl Sayings {
    /// Reads what somebody typed. `None` for messages of others, and where a summary of ours stands inside: its
    /// instructions are no sentences of the message.
    pub(crate) fn of(message: &Message, typed: &Typed<'_>) -> Option<Self> {
        if message.role != Role::User || message.spoken().any(|text| Embedded::find(text).is_some())
        {
            return None;
        }
        let texts = typed.texts().iter().enumerate();
        let sayings = texts.flat_map(|(at, one)| read(at, one.text, one.typed.iter().copied()));
        Some(Self(sayings.collect()))
    }

    /// The sentences with their words; `message` is the one that was read.
    pub(super) fn sentences<'a>(
        &'a self,
        message: &'a Message,
    ) -> impl Iterator<Item = (&'a Saying, &'a str)> {
        let mut texts = message.spoken().enumerate();
        let mut current = texts.next();
        self.0.iter().filter_map(move |saying| {
            while current.is_some_and(|(at, _)| at < saying.text as usize) {
                current = texts.next();
            }
            Some((saying, saying.of(current?.1)?))
        })
    }
}

/// The sentences that matter in what is typed of one text, in order.
pub(super) fn read<'a>(
    at: usize,
    text: &'a str,
    typed: impl Iterator<Item = &'a str>,
) -> impl Iterator<Item = Saying> {
    let at = u32::try_from(at).unwrap_or(u32::MAX);
    let pieces = typed.flat_map(|stretch| pieces(typed_part(stretch)));
    pieces.filter_map(move |piece| {
        let (kind, reading) = (kind(&piece), Reading::within(piece.register, piece.text));
        let is_todo = kind == PinKind::Todo;
        let change = match piece.item {
            Item::Ticked => Some(Change::Finishes),
            _ => reading.change.filter(|_| !is_todo),
        };
        let saying = Saying {
            text: at,
            bytes: place(text, piece.text)?,
            kind,
            is_pin: is_todo || piece.register.admits(reading.in_force),
            change,
            may_bind: reading.may_bind && piece.register == Register::Typed,
        };
        (saying.is_pin || change.is_some() || saying.may_bind).then_some(saying)
    })
}

fn kind(piece: &Piece<'_>) -> PinKind {
    match piece.register {
        _ if todo::is_todo(piece) => PinKind::Todo,
        Register::Typed => PinKind::Instruction,
        Register::Document => PinKind::Passage,
    }
}

/// Where a part of a text stands in it.
fn place(text: &str, part: &str) -> Option<Range<u32>> {
    let start = part.as_ptr().addr().checked_sub(text.as_ptr().addr())?;
    let end = u32::try_from(start + part.len()).ok()?;
    Some(u32::try_from(start).ok()?..end)
}
