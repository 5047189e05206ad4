//! How many pins fit.

use super::reading::{Strength, strength};
use super::{Pin, PinKind};
use crate::meter::Meter;

/// What a bullet costs beyond its text.
const BULLET_TOKENS: u64 = 2;
/// A pin that takes more than this part of the cap waits until the shorter ones have found their place.
const LONG_PART: u64 = 8;

/// The pins that fit, and those that have to leave the view.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CappedPins {
    /// In force and within the cap: what the host supplied, then the others as they were given.
    pub kept: Vec<Pin>,
    /// In force but without room, in the same order. Each deserves an [`Event::PinDemoted`](crate::Event::PinDemoted).
    pub demoted: Vec<Pin>,
}

/// What all pins together may take: a tenth of the window, or a quarter of a smaller explicit budget.
///
/// ```
/// use epitome::pin_budget_tokens;
///
/// assert_eq!(pin_budget_tokens(200_000, None), 20_000);
/// assert_eq!(pin_budget_tokens(200_000, Some(4_000)), 1_000);
/// assert_eq!(pin_budget_tokens(8_000, Some(50_000)), 800);
/// ```
#[must_use]
pub fn pin_budget_tokens(window_tokens: u64, explicit_budget_tokens: Option<u64>) -> u64 {
    match explicit_budget_tokens {
        Some(budget) if budget < window_tokens => budget / 4,
        _ => window_tokens / 10,
    }
}

/// Keeps the pins in force that fit `cap_tokens`. Superseded and done ones are in neither list.
///
/// In line for room: what the host supplied, then instructions, to-dos, and rules from long texts. Among these the short
/// come before the very long, because one long sentence would push out several others; then rules that say themselves
/// that they stand ("never", "from now on"), so that an old one is not pushed out by newer remarks; then the newest.
/// The order depends on nothing else, and both lists keep the order of `pins`.
///
/// ```
/// use epitome::{Meter, Pin, cap_pins};
///
/// let pins = vec![
///     Pin::instruction(1, "Never push to main."),
///     Pin::todo(3, "TODO: tidy up the examples."),
///     Pin::instruction(5, "Use tabs for indentation."),
/// ];
/// let capped = cap_pins(pins, 18, Meter::Estimate);
/// assert_eq!(capped.kept.len(), 2);
/// assert_eq!(capped.demoted[0].position, 3);
/// ```
#[must_use]
pub fn cap(pins: Vec<Pin>, cap_tokens: u64, meter: Meter) -> CappedPins {
    let active: Vec<Pin> = pins.into_iter().filter(Pin::is_active).collect();
    let mut line: Vec<(Rank, usize, u64)> = active
        .iter()
        .enumerate()
        .map(|(at, pin)| {
            let tokens = meter.text(&pin.text) + BULLET_TOKENS;
            (Rank::of(pin, tokens, cap_tokens), at, tokens)
        })
        .collect();
    line.sort_by(|(rank, at, _), (other, other_at, _)| other.cmp(rank).then(other_at.cmp(at)));
    let mut left = cap_tokens;
    let mut fits = vec![false; active.len()];
    for (_, at, tokens) in line {
        if let (Some(rest), Some(fit)) = (left.checked_sub(tokens), fits.get_mut(at)) {
            left = rest;
            *fit = true;
        }
    }
    let mut capped = CappedPins::default();
    for (pin, fits) in active.into_iter().zip(fits) {
        let list = if fits {
            &mut capped.kept
        } else {
            &mut capped.demoted
        };
        list.push(pin);
    }
    // Stable: only the host's move to the front.
    capped.kept.sort_by_key(|pin| pin.kind != PinKind::Host);
    capped
}

/// The place of a pin in the line for room; the greatest comes first.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    kind: PinKind,
    is_short: bool,
    is_explicit: bool,
}

impl Rank {
    fn of(pin: &Pin, tokens: u64, cap_tokens: u64) -> Self {
        Self {
            kind: pin.kind,
            is_short: tokens.saturating_mul(LONG_PART) <= cap_tokens,
            is_explicit: strength(&pin.text) == Some(Strength::Explicit),
        }
    }
}
