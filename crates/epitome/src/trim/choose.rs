//! Which results are trimmed, and to what size.

use super::{Kept, Shown, TRIMMED_RESULT_TOKENS, Trim};
use crate::message::{Block, Message, ResultPart};
use crate::meter::Meter;

/// Chooses which tool results to shorten so that `excess_tokens` come off, largest first.
///
/// `messages` are the entries that stay, with their positions. Returns nothing when nothing must go. Whatever
/// [`crate::Log::trimmable_tokens`] says of them can go, by the same meter.
#[must_use]
pub fn trims(
    messages: &[(usize, &Message)],
    excess_tokens: u64,
    meter: Meter,
) -> Vec<(usize, Vec<Trim>)> {
    trims_beyond(messages, &[], excess_tokens, meter)
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
    let mut candidates = Vec::new();
    if excess_tokens > 0 {
        for (position, message) in messages {
            let earlier = trims_at(earlier, *position);
            candidates.extend(Candidate::all(*position, message, earlier, meter));
        }
    }
    let level = water_level(&candidates, excess_tokens);
    let mut fresh = candidates
        .iter()
        .filter(|candidate| candidate.tokens > level)
        .map(|candidate| (candidate.position, candidate.trim(level, meter)))
        .peekable();
    let mut out = Vec::new();
    for (position, _) in messages {
        let mut trims: Vec<Trim> = trims_at(earlier, *position).to_vec();
        while let Some((_, new)) = fresh.next_if(|(at, _)| at == position) {
            trims.retain(|old| (old.block, old.part) != (new.block, new.part));
            trims.push(new);
        }
        if !trims.is_empty() {
            trims.sort_by_key(|trim| (trim.block, trim.part));
            out.push((*position, trims));
        }
    }
    out
}

/// Brings the texts of one result to about `cap_tokens` together; nothing where they are not above it.
pub(crate) fn cap(message: &Message, block: usize, cap_tokens: u64, meter: Meter) -> Vec<Trim> {
    let mut candidates = Candidate::all(0, message, &[], meter);
    candidates.retain(|candidate| candidate.block == block);
    let texts = result_texts(message).filter(|(at, _, _)| *at == block);
    let tokens: u64 = texts.map(|(_, _, text)| meter.text(text)).sum();
    let excess = tokens.saturating_sub(cap_tokens);
    if excess == 0 {
        return Vec::new();
    }
    let level = water_level(&candidates, excess);
    candidates
        .iter()
        .filter(|candidate| candidate.tokens > level)
        .map(|candidate| candidate.trim(level, meter))
        .collect()
}

fn trims_at(trims: &[(usize, Vec<Trim>)], position: usize) -> &[Trim] {
    trims
        .binary_search_by_key(&position, |(at, _)| *at)
        .ok()
        .and_then(|at| trims.get(at))
        .map_or(&[], |(_, trims)| trims)
}

struct Candidate<'a> {
    position: usize,
    block: usize,
    part: usize,
    text: &'a str,
    /// The size of what is seen of it now.
    tokens: u64,
}

impl<'a> Candidate<'a> {
    /// The texts of a message that can be shorter than they are.
    fn all(position: usize, message: &'a Message, earlier: &[Trim], meter: Meter) -> Vec<Self> {
        result_texts(message)
            .filter_map(|(block, part, text)| {
                let known = earlier
                    .iter()
                    .find(|trim| (trim.block, trim.part) == (block, part));
                let tokens = match known.map(|trim| &trim.shown) {
                    None => meter.text(text),
                    Some(Shown::Kept(kept)) => meter.text(&kept.of(text)),
                    Some(Shown::Placeholder(_)) => 0,
                };
                (tokens > TRIMMED_RESULT_TOKENS).then_some(Self {
                    position,
                    block,
                    part,
                    text,
                    tokens,
                })
            })
            .collect()
    }

    /// Sizes of texts are rounded up one by one, that of a message once: with one token less for each text than the
    /// level allows, what comes off the message is never less than what comes off its texts.
    fn trim(&self, level: u64, meter: Meter) -> Trim {
        Trim {
            block: self.block,
            part: self.part,
            shown: Shown::Kept(Kept::within(self.text, level.saturating_sub(1), meter)),
        }
    }
}

/// The size to which all larger results are cut so that at least `excess_tokens` go.
fn water_level(candidates: &[Candidate<'_>], excess_tokens: u64) -> u64 {
    let gain = |level: u64| -> u64 {
        candidates
            .iter()
            .map(|candidate| candidate.tokens.saturating_sub(level))
            .sum()
    };
    let mut low = TRIMMED_RESULT_TOKENS;
    let mut high = candidates.iter().map(|c| c.tokens).max().unwrap_or(low);
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if gain(middle) >= excess_tokens {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    low
}

/// The texts of a message's results: block, part, text.
fn result_texts(message: &Message) -> impl Iterator<Item = (usize, usize, &str)> {
    let results = message.blocks.iter().enumerate();
    results
        .filter_map(|(at, block)| match block {
            Block::Result(result) => Some((at, result)),
            _ => None,
        })
        .flat_map(|(block, result)| {
            let parts = result.parts.iter().enumerate();
            parts.filter_map(move |(part, content)| match content {
                ResultPart::Text(text) => Some((block, part, text.as_str())),
                _ => None,
            })
        })
}
