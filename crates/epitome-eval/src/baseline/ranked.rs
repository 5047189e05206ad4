//! Identifiers by use and recency: as a bare list, or by the lines that name them.

use std::collections::{HashMap, HashSet};

use super::lines::signed;
use super::{Tail, said};
use crate::history::{History, as_float};
use crate::ident::{Ident, Kind};
use crate::lines::Line;
use crate::scan::idents;
use crate::session::Speaker;
use crate::text::{length, tokens};

/// The user's messages are clipped to so many tokens each.
const SAID_TOKENS: u64 = 120;
/// Room that is not worth another line.
const LITTLE_TOKENS: i64 = 8;
/// How many identifiers are looked after at most.
const TOP: usize = 1_500;
/// Lines shorter than this are better the more words they have.
const SHORT_LINE_CHARS: usize = 120;

/// Identifiers of the messages before `end`, best first: the agent's own use counts most, and late use more than
/// early use.
fn ranked(
    history: &History,
    at: usize,
    end: usize,
    counts: impl Fn(&Ident) -> bool,
) -> Vec<&Ident> {
    let mut scores: HashMap<&Ident, f64> = HashMap::new();
    let all = as_float(history.tokens_before(at).max(1));
    for (position, idents) in history.idents.iter().take(end).enumerate() {
        let weight = match history.role(position) {
            Some(Speaker::User) => 3.0,
            Some(Speaker::Assistant) => 4.0,
            Some(Speaker::Tool) => 0.5,
            Some(Speaker::System) | None => 0.0,
        };
        let recency = 0.3 + 0.7 * (as_float(history.tokens_before(position + 1)) / all);
        for ident in idents.iter().filter(|ident| counts(ident)) {
            *scores.entry(ident).or_default() += weight * recency;
        }
    }
    let mut ranked: Vec<(&Ident, f64)> = scores.into_iter().collect();
    ranked.sort_by(|(a, x), (b, y)| y.total_cmp(x).then_with(|| a.cmp(b)));
    ranked.into_iter().map(|(ident, _)| ident).collect()
}

/// What the user said, a bare list of identifiers, and the newest messages.
pub(in super::super) fn ledger(history: &History, at: usize, budget: u64) -> String {
    let (said, said_tokens) = said(history, at, SAID_TOKENS, budget / 5);
    let tail = Tail::of(history, at, budget / 2);
    let in_tail = idents(&tail.text);
    let room_chars = 4 * (signed(budget) - signed(said_tokens + tail.tokens));
    let mut used = 0;
    let mut listed = Vec::new();
    for ident in ranked(history, at, tail.start, |_| true) {
        if in_tail.contains(ident) {
            continue;
        }
        let cost = signed(length(&ident.name) as u64 + 1);
        if used + cost > room_chars {
            break;
        }
        listed.push(&*ident.name);
        used += cost;
    }
    format!("{said}\n{}\n{}", listed.join(" "), tail.text)
}

/// What the user said, lines that name identifiers not yet named, and the newest messages.
pub(in super::super) fn cover_lines(history: &History, at: usize, budget: u64) -> String {
    let (said, said_tokens) = said(history, at, SAID_TOKENS, budget / 5);
    let tail = Tail::of(history, at, budget / 2);
    let mut covered = idents(&tail.text);
    covered.extend(idents(&said));
    let top: Vec<&Ident> = ranked(history, at, tail.start, |ident| ident.kind != Kind::Symbol)
        .into_iter()
        .filter(|ident| !covered.contains(*ident))
        .take(TOP)
        .collect();
    let best = best_lines(history, tail.start, &top);
    let room = signed(budget) - signed(said_tokens + tail.tokens);
    let mut used = 0;
    let mut chosen: Vec<&str> = Vec::new();
    let mut known: HashSet<&str> = HashSet::new();
    for ident in top {
        if covered.contains(ident) {
            continue;
        }
        let Some((_, line)) = best.get(ident) else {
            continue;
        };
        let cost = signed(tokens(&line.text) + 1);
        if used + cost > room {
            continue;
        }
        if known.insert(&line.text) {
            chosen.push(&line.text);
            used += cost;
        }
        covered.extend(line.idents.iter().cloned());
        if used > room - LITTLE_TOKENS {
            break;
        }
    }
    format!("{said}\n{}\n{}", chosen.join("\n"), tail.text)
}

/// How good a line is for naming something, the least first: spoken before returned, wordy when short, short, early.
type Rank = (bool, std::cmp::Reverse<usize>, usize, usize);

fn best_lines<'a>(
    history: &'a History,
    end: usize,
    wanted: &[&'a Ident],
) -> HashMap<&'a Ident, (Rank, &'a Line)> {
    let wanted: HashSet<&Ident> = wanted.iter().copied().collect();
    let mut best: HashMap<&Ident, (Rank, &Line)> = HashMap::new();
    for (position, lines) in history.lines().iter().take(end).enumerate() {
        let is_returned = match history.role(position) {
            Some(Speaker::System) | None => continue,
            Some(Speaker::Tool) => true,
            Some(Speaker::User | Speaker::Assistant) => false,
        };
        // A line may name something that the whole message names otherwise.
        let is_relevant = history
            .idents
            .get(position)
            .is_some_and(|idents| idents.iter().any(|ident| wanted.contains(ident)));
        if !is_relevant {
            continue;
        }
        for line in lines {
            let wordiness = if line.chars < SHORT_LINE_CHARS {
                line.content_words
            } else {
                0
            };
            let rank = (
                is_returned,
                std::cmp::Reverse(wordiness),
                line.chars,
                position,
            );
            for ident in line.idents.iter().filter(|ident| wanted.contains(ident)) {
                match best.get(ident) {
                    Some((known, _)) if *known <= rank => {}
                    _ => drop(best.insert(ident, (rank, line))),
                }
            }
        }
    }
    best
}
