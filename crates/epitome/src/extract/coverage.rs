//! Which pieces are worth their room: weighted coverage of what the span names.

use std::collections::BinaryHeap;

use super::pieces::Voice;
use super::survey::{Candidate, Survey};
use crate::summary::LineKind;

/// What a thing is worth that is named without a word about it, if there are lines that have such words.
const BARE: f64 = 0.6;
/// What it is worth that a sentence may bind, in names.
const BINDING: f64 = 1.0;
/// What it is worth that it speaks of what the user wants kept in mind.
const FOCUSED: f64 = 2.0;
/// What it is worth amid work that the user said it, whatever it names.
const SAID: f64 = 0.4;
/// What a line costs beyond its text, in bytes.
const LINE_BYTES: f64 = 12.0;
/// What a path costs in a list beyond its text, in bytes.
const LISTED_BYTES: f64 = 2.0;
/// How much more the newest piece is worth than the oldest.
const RECENT: f64 = 0.5;
/// Lines of tool output that only differ in names and numbers are worth less from this many on.
const COPIES: f64 = 4.0;
/// A line of the story that is worth less than this only says what comes next.
const ANNOUNCED: f64 = 0.3;
/// A line of the story that names nothing new is told if it is worth this much by itself.
const FILLER: f64 = 0.35;
/// What the oldest line of the story is worth against the newest.
const OLDEST: f64 = 0.45;
/// What it counts that a line of the story names something, against what it tells.
const NAMED: f64 = 0.75;
/// What such a line costs beyond its text, in bytes, and how much its size counts: long ones tell more than lists.
const TOLD_BYTES: f64 = 45.0;
const SIZE: f64 = 0.85;
/// A room smaller than this, in tokens, holds no line.
const LEAST_TOKENS: u64 = 8;

/// How much a piece is worth for who it comes from.
const fn factor(voice: Voice) -> f64 {
    match voice {
        Voice::User => 2.0,
        Voice::Pasted => 0.5,
        Voice::Written => 0.7,
        Voice::Assistant | Voice::Failure | Voice::Deed | Voice::Trouble => 1.2,
        Voice::Report => 0.8,
        Voice::Result => 0.8,
        Voice::Listed => 1.2,
        // It was worth its room before: it stays until something is worth clearly more.
        Voice::Earlier(LineKind::Decided | LineKind::Failed) => 1.6,
        Voice::Earlier(_) => 1.3,
    }
}

#[derive(PartialEq)]
struct Scored {
    score: f64,
    index: usize,
}

impl Eq for Scored {}

impl Ord for Scored {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.score
            .total_cmp(&other.score)
            .then_with(|| other.index.cmp(&self.index))
    }
}

impl PartialOrd for Scored {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// What a view tells so far of what the span names.
pub(super) struct Coverage<'s, 'a> {
    survey: &'s Survey<'a>,
    weights: Vec<f64>,
    /// The share of each term's worth that is told already.
    told: Vec<f64>,
    taken: Vec<bool>,
    /// What pieces cost, once it was counted.
    costs: Vec<Option<u64>>,
    /// The pieces that were taken, in that order.
    order: Vec<usize>,
}

impl<'s, 'a> Coverage<'s, 'a> {
    pub(super) fn new(survey: &'s Survey<'a>) -> Self {
        Self {
            survey,
            weights: survey.weights(),
            told: vec![0.0; survey.terms.len()],
            taken: vec![false; survey.candidates.len()],
            costs: vec![None; survey.candidates.len()],
            order: Vec::new(),
        }
    }

    /// A text that is in view anyway.
    pub(super) fn tell(&mut self, text: &str) {
        self.survey.known(text, |id| tell(&mut self.told, id, 1.0));
    }

    /// A path that is in view by itself.
    pub(super) fn tell_path(&mut self, path: &str) {
        if let Some(id) = self.survey.path(path) {
            tell(&mut self.told, id, BARE);
        }
    }

    /// Takes the pieces that are worth most for their room, among those that `may` be taken, until the budget
    /// is used. Returns what is left of it. `cost` says the same of a piece every time.
    pub(super) fn fill(
        &mut self,
        may: impl Fn(&Candidate<'a>) -> bool,
        cost: impl Fn(&Candidate<'a>) -> u64,
        budget_tokens: u64,
    ) -> u64 {
        let survey = self.survey;
        let mut left = budget_tokens;
        if left < LEAST_TOKENS {
            return left;
        }
        let mut heap: BinaryHeap<Scored> = self
            .open(may)
            .map(|(index, candidate)| Scored {
                score: self.score(candidate),
                index,
            })
            .filter(|scored| scored.score > 0.0)
            .collect();
        // Values only fall as more is told, so a stale score at the top is put back, corrected.
        while let Some(top) = heap.pop() {
            if left < LEAST_TOKENS {
                break;
            }
            let Some(candidate) = survey.candidates.get(top.index) else {
                continue;
            };
            let score = self.score(candidate);
            if score <= 0.0 {
                continue;
            }
            if score < top.score {
                heap.push(Scored { score, ..top });
                continue;
            }
            let Some(known) = self.costs.get_mut(top.index) else {
                continue;
            };
            let cost = *known.get_or_insert_with(|| cost(candidate));
            let Some(rest) = left.checked_sub(cost) else {
                continue;
            };
            left = rest;
            self.take(top.index, candidate, cost);
        }
        left
    }

    /// Takes all pieces that `may` be taken, if they fit together. Returns what is left of the budget.
    pub(super) fn take_all(
        &mut self,
        may: impl Fn(&Candidate<'a>) -> bool,
        cost: impl Fn(&Candidate<'a>) -> u64,
        budget_tokens: u64,
    ) -> u64 {
        let survey = self.survey;
        let all: Vec<(usize, u64)> = self
            .open(may)
            .map(|(index, candidate)| (index, cost(candidate)))
            .collect();
        let sum: u64 = all.iter().map(|(_, cost)| cost).sum();
        let Some(left) = budget_tokens.checked_sub(sum) else {
            return budget_tokens;
        };
        for (index, cost) in all {
            if let Some(candidate) = survey.candidates.get(index) {
                self.take(index, candidate, cost);
            }
        }
        left
    }

    /// The pieces that are not taken and `may` be, with their numbers.
    fn open(
        &self,
        may: impl Fn(&Candidate<'a>) -> bool,
    ) -> impl Iterator<Item = (usize, &'s Candidate<'a>)> {
        let all = self.survey.candidates.iter().zip(&self.taken).enumerate();
        all.filter(move |(_, (candidate, taken))| !**taken && may(candidate))
            .map(|(index, (candidate, _))| (index, candidate))
    }

    fn take(&mut self, index: usize, candidate: &Candidate<'a>, cost: u64) {
        for &id in self.survey.ids(candidate) {
            let share = self.share(candidate, id);
            tell(&mut self.told, id, share);
        }
        if let Some(taken) = self.taken.get_mut(index) {
            *taken = true;
        }
        if let Some(known) = self.costs.get_mut(index) {
            *known = Some(cost);
        }
        self.order.push(index);
    }

    /// Gives up what was taken last, until this much room is free. Returns whether anything was left to give up.
    pub(super) fn give_up(&mut self, tokens: u64) -> bool {
        let mut freed = 0;
        while freed < tokens {
            let Some(index) = self.order.pop() else {
                return freed > 0;
            };
            if let Some(taken) = self.taken.get_mut(index) {
                *taken = false;
            }
            freed += self.costs.get(index).copied().flatten().unwrap_or(1).max(1);
        }
        true
    }

    /// The pieces that were taken, oldest first.
    pub(super) fn taken(&self) -> impl Iterator<Item = &'s Candidate<'a>> {
        let all = self.survey.candidates.iter().zip(&self.taken);
        all.filter(|(_, taken)| **taken)
            .map(|(candidate, _)| candidate)
    }

    /// The share of a term's worth that a piece tells.
    fn share(&self, candidate: &Candidate<'_>, id: u32) -> f64 {
        let term = self.survey.terms.get(id as usize);
        match candidate.is_worded || term.is_some_and(|term| !term.is_worded) {
            true => 1.0,
            false => BARE,
        }
    }

    fn score(&self, candidate: &Candidate<'_>) -> f64 {
        let new = self.survey.ids(candidate).iter().map(|&id| {
            let told = self.told.get(id as usize).copied().unwrap_or(1.0);
            let weight = self.weights.get(id as usize).copied().unwrap_or(0.0);
            weight * (self.share(candidate, id) - told).max(0.0)
        });
        let voice = candidate.piece.voice;
        let focused = if candidate.is_focused { FOCUSED } else { 0.0 };
        let age = candidate.at as f64 / (self.survey.bytes as f64 + 1.0);
        if voice.is_told() {
            let named: f64 = new.map(f64::ln_1p).sum();
            // What says nothing and names nothing new is filler.
            if named <= 0.0 && candidate.piece.worth + focused < FILLER {
                return 0.0;
            }
            // What only announces the next step names what that step names better.
            let named = named * (candidate.piece.worth / ANNOUNCED).clamp(ANNOUNCED, 1.0);
            let worth = focused + candidate.piece.worth * (OLDEST + (1.0 - OLDEST) * age);
            let size = candidate.piece.text.len() as f64 + TOLD_BYTES;
            return (worth + NAMED * named) / size.powf(SIZE);
        }
        let mut worth: f64 = focused + new.sum::<f64>();
        if candidate.may_bind {
            worth += BINDING;
        }
        if voice == Voice::User && self.survey.is_work() {
            worth += SAID;
        }
        let line = match voice {
            Voice::Listed => LISTED_BYTES,
            _ => LINE_BYTES,
        };
        let recent = 1.0 + RECENT * age;
        let copies = f64::from(self.survey.copies(candidate));
        let same = (COPIES / copies).min(1.0).sqrt();
        worth * factor(voice) * recent * same / (candidate.piece.text.len() as f64 + line)
    }
}

fn tell(told: &mut [f64], id: u32, share: f64) {
    if let Some(told) = told.get_mut(id as usize) {
        *told = told.max(share);
    }
}
