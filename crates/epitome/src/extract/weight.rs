//! What a term is worth: about how likely it is that somebody needs it again.
//!
//! The factors were fitted on real sessions, one half of them against the other. What counts most is whether the
//! assistant itself named a thing; then what it is called after, who named it last and how long ago, and
//! what it looks like. Only ratios matter.

use super::survey::Term;
use crate::anchor::Shape;

/// How much more a thing is worth that the assistant itself named.
const MADE: f64 = 8.0;
/// How much each further entry adds in which only tools named it, up to [`SEEN_CAP`].
const SEEN_STEP: f64 = 0.5;
const SEEN_CAP: u16 = 5;
/// Bytes after which a thing is worth less by a third.
const AGE_BYTES: f64 = 80_000.0;
/// How much it adds that people and assistant speak of what a name is made of.
const AFFINITY: f64 = 0.78;
/// A word of the user, against a path.
const WORD: f64 = 0.7;
/// How much more a word is worth that is written like a name or a number.
const MARKED: f64 = 4.0;

/// The weight of a term that was last named `age_bytes` ago.
pub(super) fn of(term: &Term, age_bytes: u64, affinity: f64) -> f64 {
    if term.shape == Shape::Plain {
        let uses = f64::from(term.said.saturating_add(term.made));
        return match term.said {
            0 => 0.0,
            _ if term.is_marked => term.factor * WORD * MARKED / uses,
            _ => term.factor * WORD / uses,
        };
    }
    let made = f64::from(term.made);
    let used = match term.made {
        0 => 1.0 + SEEN_STEP * f64::from(term.seen.clamp(1, SEEN_CAP) - 1),
        _ => MADE * (1.0 + made).sqrt(),
    };
    let said = 1.0 + f64::from(term.said);
    let near = 1.0 + AFFINITY * affinity.min(1.0);
    let age = 1.0 + age_bytes as f64 / AGE_BYTES;
    let near = near * near;
    shape(term) * used * said * near * near / age.sqrt() * term.factor
}

const fn shape(term: &Term) -> f64 {
    match term.shape {
        Shape::Plain => 0.0,
        Shape::Hyphenated => 0.03,
        Shape::Name if term.made > 0 => 0.06,
        Shape::Name => 0.03,
        Shape::Number if term.made > 0 => 0.15,
        Shape::Number => 0.07,
        Shape::Code if term.made > 0 => 0.3,
        Shape::Code => 0.2,
        Shape::Path => 1.0,
    }
}
