//! The same words at each other's places: "copy A to B", "copy B to A".

use super::form::is_same;
use super::lexicon::Class;
use super::unit::{Begins, Unit};
use crate::verify::word::{Key, is_unspaced, key};

/// Longer sentences are not gone through for it, and in shorter ones nothing has a place.
const LONGEST: usize = 40;
const SHORTEST: usize = 3;
/// Words that say what part something has in what is done.
const PARTS: &[&str] = &[
    "from",
    "to",
    "into",
    "onto",
    "by",
    "with",
    "for",
    "against",
    "under",
    "over",
    "than",
    "von",
    "nach",
    "aus",
    "auf",
    "zu",
    "zum",
    "zur",
    "mit",
    "fur",
    "durch",
    "gegen",
    "an",
    "ins",
    "de",
    "du",
    "des",
    "a",
    "au",
    "aux",
    "vers",
    "par",
    "pour",
    "dans",
    "sur",
    "avec",
    "del",
    "al",
    "con",
    "por",
    "para",
    "hacia",
    "из",
    "в",
    "на",
    "от",
    "к",
    "с",
    "для",
    "по",
    "через",
    "из",
    "за",
    "从",
    "到",
    "向",
    "给",
    "把",
    "被",
    "由",
    "对",
    "用",
    "为",
    "成",
    "比",
];

/// A word and the part that it has.
#[derive(Clone, Debug)]
pub(super) struct Placed {
    text: Box<str>,
    /// The last word before it that says so.
    part: Option<Key>,
    /// Whether it says what something is like, or when: "first".
    is_mark: bool,
    /// Whether it goes on with a list: "A and B", "A, B".
    is_listed: bool,
}

/// The words of a sentence that tell something, in order.
pub(super) fn placed(units: &[Unit<'_>]) -> Vec<Placed> {
    let mut placed = Vec::new();
    let (mut part, mut is_listed, mut is_name) = (None, false, false);
    for unit in units {
        is_listed |= unit.begins != Begins::Nothing;
        if unit.tells() {
            // Where words are not separated, a name is several characters.
            let goes_on = is_name && unit.text.contains(is_unspaced) && part.is_none();
            placed.push(Placed {
                text: unit.text.into(),
                is_mark: !unit.is_word(),
                part: part.take(),
                is_listed: is_listed && !goes_on,
            });
            is_listed = false;
        } else if PARTS.contains(&unit.text) {
            part = Some(key(joined(unit.text)));
        } else if matches!(unit.class, Some(Class::Filler)) && unit.joins() {
            is_listed = true;
        } else if is_listed && matches!(unit.class, Some(Class::Deny | Class::Particle)) {
            is_listed = false;
            part = Some(key("not"));
        } else if unit.class == Some(Class::Then) {
            is_listed = false;
            part = Some(key("then"));
        } else if matches!(unit.class, Some(Class::Before | Class::Until)) {
            part = Some(key("before"));
        } else if unit.class == Some(Class::After) {
            part = Some(key("after"));
        }
        is_name = unit.is_word();
    }
    placed
}

/// A word for a part without the article that is written together with it.
fn joined(part: &str) -> &str {
    match part {
        "du" | "des" | "del" => "de",
        "au" | "aux" | "al" => "a",
        "zum" | "zur" => "zu",
        _ => part,
    }
}

/// Whether two runs of words have changed places, and the rest stands as it did.
pub(super) fn are_swapped(one: &[Placed], other: &[Placed]) -> bool {
    let length = one.len();
    if length != other.len() || !(SHORTEST..=LONGEST).contains(&length) {
        return false;
    }
    let same = |(one, other): &(&Placed, &Placed)| is_same(&one.text, &other.text);
    let begins = one.iter().zip(other).take_while(same).count();
    let ends = one
        .iter()
        .rev()
        .zip(other.iter().rev())
        .take_while(same)
        .count();
    if begins + ends >= length {
        return false;
    }
    let inner = |words: &'_ [Placed]| words.get(begins..length - ends).map(<[_]>::to_vec);
    let (Some(one), Some(other)) = (inner(one), inner(other)) else {
        return false;
    };
    let length = one.len();
    let is_run = |one: Option<&[Placed]>, other: Option<&[Placed]>| {
        one.zip(other)
            .is_some_and(|(one, other)| one.iter().zip(other).all(|pair| same(&pair)))
    };
    // One is X Y Z, the other Z Y X, and Y may be nothing.
    (1..length).any(|front| {
        (front..length).any(|back| {
            let rear = length - back;
            is_run(one.get(..front), other.get(length - front..))
                && is_run(one.get(back..), other.get(..rear))
                && is_run(one.get(front..back), other.get(rear..length - front))
                && has_parts(&one, &other, [front, back])
        })
    })
}

/// Whether two words are the same but for an S at the end: "I write", "he writes".
fn is_same_to_the_letter(one: &str, other: &str) -> bool {
    one == other || one.strip_suffix('s') == Some(other) || other.strip_suffix('s') == Some(one)
}

/// Whether both places, of which the second begins at `back`, say the same of whatever stands there, so that it is no
/// other way to put the sentence ("edit the files", "the files are edited") and no list. What stands in between up to
/// `front` tells it too, if it is the same to the letter.
fn has_parts(one: &[Placed], other: &[Placed], [front, back]: [usize; 2]) -> bool {
    let length = one.len();
    let its_back = length - front;
    let first = |words: &[Placed]| words.first().map(|word| word.part);
    let between = one.get(front..back).zip(other.get(length - back..its_back));
    let between = between.filter(|(own, its)| {
        let same = |(own, its): (&Placed, &Placed)| is_same_to_the_letter(&own.text, &its.text);
        !own.is_empty() && own.len() == its.len() && own.iter().zip(*its).all(same)
    });
    // When something is done may be said first or last: it takes nobody's place.
    let is_mark =
        |words: Option<&[Placed]>| words.is_some_and(|words| words.iter().all(|word| word.is_mark));
    let is_mixed = is_mark(one.get(..front)) != is_mark(one.get(back..));
    // Where words are not separated, what is spoken of may stand first.
    let is_free = one.iter().any(|word| word.text.contains(is_unspaced));
    // "A for this and B for that" is no list of things that are all the same.
    let has_part = between.is_some_and(|(own, _)| {
        own.iter()
            .any(|word| word.part.is_some() || word.is_mark && !word.is_listed)
    });
    let is_placed = |own: &Placed, its: &Placed| {
        let is_listed = own.is_listed || its.is_listed;
        own.part == its.part
            && (!is_listed || has_part)
            && (own.part.is_some() || between.is_some() && !is_mixed && (!is_free || has_part))
    };
    first(one) == first(other)
        && one
            .get(back)
            .zip(other.get(its_back))
            .is_some_and(|(own, its)| is_placed(own, its))
}
