//! What is trimmed, and to what size.

use std::collections::HashSet;

use super::{Kept, Shown, TRIMMED_TOKENS, Trim, arguments};
use crate::message::{Block, Message, ResultPart};
use crate::meter::Meter;

/// Chooses what to shorten so that `excess_tokens` come off, largest first: tool results and the arguments of calls that
/// have their results, and words of people and assistant only where that is not enough.
///
/// `messages` are the entries that stay, with their positions. Returns nothing when nothing must go. Whatever
/// [`crate::Log::trimmable_tokens`] and [`crate::Log::wordy_tokens`] say of them can go, by the same meter.
#[must_use]
pub fn trims(
    messages: &[(usize, &Message)],
    excess_tokens: u64,
    meter: Meter,
) -> Vec<(usize, Vec<Trim>)> {
    trims_among(messages, &[], excess_tokens, meter, |_| true)
}

/// As [`trims`], where some entries are shortened already, as `earlier` says (sorted by position): `excess_tokens`
/// come off what is seen of them. A result is cut anew from its whole text, so that no text is cut twice.
///
/// Returns the earlier trims of `messages` too, but for the parts that are trimmed anew.
#[must_use]
pub fn trims_beyond(
    messages: &[(usize, &Message)],
    earlier: &[(usize, Vec<Trim>)],
    excess_tokens: u64,
    meter: Meter,
) -> Vec<(usize, Vec<Trim>)> {
    trims_among(messages, earlier, excess_tokens, meter, |_| true)
}

/// The same, where only entries at positions that `may` be shortened are.
pub(crate) fn trims_among(
    messages: &[(usize, &Message)],
    earlier: &[(usize, Vec<Trim>)],
    excess_tokens: u64,
    meter: Meter,
    may_at: impl Fn(usize) -> bool,
) -> Vec<(usize, Vec<Trim>)> {
    let mut candidates = Vec::new();
    if excess_tokens > 0 {
        let results = messages.iter().flat_map(|(_, message)| message.results());
        let answered: HashSet<&str> = results.map(|result| &*result.call_id).collect();
        for (position, message) in messages.iter().filter(|(position, _)| may_at(*position)) {
            let earlier = trims_at(earlier, *position);
            let found = Candidate::all(*position, message, earlier, meter);
            // What a call asks for that has no answer yet stays.
            let may = |candidate: &Candidate<'_>| match candidate.kind {
                Target::Arguments(id) => answered.contains(id),
                Target::Result | Target::Words => true,
            };
            candidates.extend(found.into_iter().filter(may));
        }
    }
    let is_words = |candidate: &Candidate<'_>| candidate.kind == Target::Words;
    let (words, others): (Vec<_>, Vec<_>) = candidates.into_iter().partition(is_words);
    let level = water_level(&others, excess_tokens);
    let missing = excess_tokens.saturating_sub(gain(&others, level));
    let mut fresh: Vec<(usize, Trim)> = cut_to(&others, level, meter).collect();
    if missing > 0 {
        let level = water_level(&words, missing);
        fresh.extend(cut_to(&words, level, meter));
    }
    fresh.sort_by_key(|(position, _)| *position);
    let mut fresh = fresh.into_iter().peekable();
    let mut out = Vec::new();
    for (position, _) in messages {
        let mut new = Vec::new();
        while let Some((_, trim)) = fresh.next_if(|(at, _)| at == position) {
            new.push(trim);
        }
        let trims = trims_over(trims_at(earlier, *position).to_vec(), &new);
        if !trims.is_empty() {
            out.push((*position, trims));
        }
    }
    out
}

/// Trims of a message of which some are chosen anew.
pub(crate) fn trims_over(mut trims: Vec<Trim>, new: &[Trim]) -> Vec<Trim> {
    for new in new {
        trims.retain(|old| (old.block, old.part) != (new.block, new.part));
        trims.push(new.clone());
    }
    trims.sort_by_key(|trim| (trim.block, trim.part));
    trims
}

/// Brings the texts of one result to about `cap_tokens` together; nothing where they are not above it.
pub(crate) fn cap(message: &Message, block: usize, cap_tokens: u64, meter: Meter) -> Vec<Trim> {
    let mut candidates = Candidate::all(0, message, &[], meter);
    candidates.retain(|candidate| candidate.block == block && candidate.kind == Target::Result);
    let texts = texts(message).filter(|(kind, at, ..)| *kind == Target::Result && *at == block);
    let tokens: u64 = texts.map(|(.., text)| meter.text(text)).sum();
    let excess = tokens.saturating_sub(cap_tokens);
    if excess == 0 {
        return Vec::new();
    }
    let level = water_level(&candidates, excess);
    let cut = cut_to(&candidates, level, meter);
    cut.map(|(_, trim)| trim).collect()
}

/// The trims that bring everything above a size down to it.
fn cut_to(
    candidates: &[Candidate<'_>],
    level: u64,
    meter: Meter,
) -> impl Iterator<Item = (usize, Trim)> {
    candidates
        .iter()
        .filter(move |candidate| candidate.tokens > level.max(candidate.least))
        .map(move |candidate| (candidate.position, candidate.trim(level, meter)))
}

fn trims_at(trims: &[(usize, Vec<Trim>)], position: usize) -> &[Trim] {
    trims
        .binary_search_by_key(&position, |(at, _)| *at)
        .ok()
        .and_then(|at| trims.get(at))
        .map_or(&[], |(_, trims)| trims)
}

/// What may be shorter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target<'a> {
    Result,
    /// Of the call with this id.
    Arguments(&'a str),
    /// What somebody said.
    Words,
}

struct Candidate<'a> {
    position: usize,
    kind: Target<'a>,
    block: usize,
    part: usize,
    text: &'a str,
    /// The size of what is seen of it now, and the least that can be seen of it.
    tokens: u64,
    least: u64,
}

impl<'a> Candidate<'a> {
    /// The texts of a message that can be shorter than they are.
    fn all(position: usize, message: &'a Message, earlier: &[Trim], meter: Meter) -> Vec<Self> {
        texts(message)
            .filter_map(|(kind, block, part, text)| {
                let known = earlier
                    .iter()
                    .find(|trim| (trim.block, trim.part) == (block, part));
                let tokens = match known.map(|trim| &trim.shown) {
                    None => meter.text(text),
                    Some(Shown::Kept(kept)) => meter.text(&kept.of(text)),
                    Some(Shown::Placeholder(_)) => 0,
                };
                let least = match kind {
                    Target::Arguments(_) if tokens > TRIMMED_TOKENS => {
                        least_of_arguments(text, meter)
                    }
                    _ => TRIMMED_TOKENS,
                };
                (tokens > least).then_some(Self {
                    position,
                    kind,
                    block,
                    part,
                    text,
                    tokens,
                    least,
                })
            })
            .collect()
    }

    /// Sizes of texts are rounded up one by one, that of a message once: with one token less for each text than the
    /// level allows, what comes off the message is never less than what comes off its texts.
    fn trim(&self, level: u64, meter: Meter) -> Trim {
        let tokens = level.max(self.least).saturating_sub(1);
        let shown = match self.kind {
            Target::Arguments(_) => Shown::Placeholder(arguments::within(self.text, tokens, meter)),
            Target::Result | Target::Words => Shown::Kept(Kept::within(self.text, tokens, meter)),
        };
        Trim {
            block: self.block,
            part: self.part,
            shown,
        }
    }
}

/// The least that can be seen of the arguments of a call.
fn least_of_arguments(text: &str, meter: Meter) -> u64 {
    let shortest = arguments::shortest(text, TRIMMED_TOKENS - 1, meter);
    (meter.text(&shortest) + 1).max(TRIMMED_TOKENS)
}

/// How much shortening the arguments of a call, which take so many tokens, can take away.
pub(crate) fn argument_tokens(arguments: &str, tokens: u64, meter: Meter) -> u64 {
    // No token is shorter than a byte.
    if arguments.len() as u64 <= TRIMMED_TOKENS || tokens <= TRIMMED_TOKENS {
        return 0;
    }
    tokens.saturating_sub(least_of_arguments(arguments, meter))
}

/// How much comes off where all larger texts are cut to a size.
fn gain(candidates: &[Candidate<'_>], level: u64) -> u64 {
    let gains = candidates.iter();
    gains
        .map(|candidate| candidate.tokens.saturating_sub(level.max(candidate.least)))
        .sum()
}

/// The size to which all larger texts are cut so that at least `excess_tokens` go.
fn water_level(candidates: &[Candidate<'_>], excess_tokens: u64) -> u64 {
    let mut low = TRIMMED_TOKENS;
    let mut high = candidates.iter().map(|c| c.tokens).max().unwrap_or(low);
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if gain(candidates, middle) >= excess_tokens {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    low
}

/// The texts of a message that may be shorter: what they are, block, part, text.
fn texts(message: &Message) -> impl Iterator<Item = (Target<'_>, usize, usize, &str)> {
    let blocks = message.blocks.iter().enumerate();
    blocks.flat_map(|(at, block)| {
        let (parts, single): (&[ResultPart], _) = match block {
            Block::Result(result) => (&result.parts, None),
            Block::Call(call) => (&[], Some((Target::Arguments(&call.id), &*call.arguments))),
            Block::Text(text) => (&[], Some((Target::Words, text.as_str()))),
            _ => (&[], None),
        };
        let parts = parts.iter().enumerate();
        let parts = parts.filter_map(move |(part, content)| match content {
            ResultPart::Text(text) => Some((Target::Result, at, part, text.as_str())),
            _ => None,
        });
        let single = single.map(|(kind, text)| (kind, at, 0, text));
        parts.chain(single)
    })
}
