//! Whether the facts that questions ask for survive a compaction.

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::chat::{Chat, Question};
use crate::history::{History, as_float};
use crate::method::Method;
use crate::search::Index;
use crate::words::{terms, visit_terms};

/// Words of a window; every half window another one begins.
const WINDOW_WORDS: usize = 60;
const WINDOW_STEP: usize = 30;
/// So much of the weight of a fact has to stand in one window.
const FACT_SHARE: f64 = 0.6;
/// A fact of one word is no fact.
const LEAST_FACT_WORDS: usize = 2;

/// Abilities that look something up, rather than obey or order it.
const LOOKUP: [&str; 5] = [
    "information_extraction",
    "knowledge_update",
    "temporal_reasoning",
    "contradiction_resolution",
    "multi_session_reasoning",
];
/// Questions that have no answer in the chat.
const UNANSWERABLE: &str = "abstention";

/// A chat prepared for questions.
#[derive(Debug)]
pub struct Archive {
    /// The chat.
    pub history: History,
    /// Its messages as documents.
    pub messages: Index,
    positions: HashMap<i64, usize>,
}

impl Archive {
    /// Prepares a chat.
    #[must_use]
    pub fn of(chat: Chat) -> Self {
        let history = History::of_entries(chat.entries);
        Self {
            messages: Index::of(history.texts.iter().map(String::as_str)),
            positions: chat.numbers.into_iter().zip(0..).collect(),
            history,
        }
    }

    /// The positions of the messages that hold the answer.
    #[must_use]
    pub fn evidence(&self, question: &Question) -> BTreeSet<usize> {
        question
            .evidence
            .iter()
            .filter_map(|number| self.positions.get(number).copied())
            .collect()
    }

    /// What has to survive for a question to be answered: for each message with evidence, the telling words of the
    /// answer that it has and the question has not.
    #[must_use]
    pub fn facts(&self, question: &Question) -> Vec<BTreeSet<String>> {
        let asked: HashSet<String> = terms(&question.text).into_iter().collect();
        let tenth = as_float(self.history.len() as u64) * 0.1;
        let telling: BTreeSet<String> = terms(&question.answer)
            .into_iter()
            .filter(|term| !asked.contains(term))
            .filter(|term| as_float(self.messages.spread(term) as u64) <= tenth)
            .collect();
        self.evidence(question)
            .into_iter()
            .map(|position| {
                let in_message = telling
                    .iter()
                    .filter(|term| self.messages.has(position, term));
                in_message.cloned().collect::<BTreeSet<String>>()
            })
            .filter(|fact| fact.len() >= LEAST_FACT_WORDS)
            .collect()
    }

    /// The share of facts that stand in one place of a context; `None` when there are none.
    #[must_use]
    pub fn kept(&self, facts: &[BTreeSet<String>], context: &Windows) -> Option<f64> {
        if facts.is_empty() {
            return None;
        }
        let kept = facts.iter().filter(|fact| {
            let whole: f64 = fact.iter().map(|term| self.messages.weight(term)).sum();
            context.0.iter().any(|window| {
                let there = fact.iter().filter(|term| window.contains(*term));
                there.map(|term| self.messages.weight(term)).sum::<f64>() >= FACT_SHARE * whole
            })
        });
        Some(as_float(kept.count() as u64) / as_float(facts.len() as u64))
    }

    /// What a method leaves of the whole chat.
    #[must_use]
    pub fn compacted(&self, method: Method, budget_tokens: u64) -> Windows {
        Windows::of(&method.compact(&self.history, self.history.len(), budget_tokens))
    }
}

impl Question {
    /// Whether it can be answered from the chat.
    #[must_use]
    pub fn is_answerable(&self) -> bool {
        self.ability != UNANSWERABLE
    }

    /// Whether it asks for something that was said.
    #[must_use]
    pub fn is_lookup(&self) -> bool {
        LOOKUP.contains(&self.ability.as_str())
    }
}

/// A context as overlapping stretches of words: a fact has to stand in one place, not scattered.
#[derive(Debug)]
pub struct Windows(Vec<HashSet<String>>);

impl Windows {
    /// Cuts a context into windows.
    #[must_use]
    pub fn of(context: &str) -> Self {
        let mut words: Vec<Option<String>> = Vec::new();
        visit_terms(&context.chars().collect::<Vec<_>>(), |term| {
            words.push(term.map(str::to_owned));
        });
        let starts = (0..words.len().max(1)).step_by(WINDOW_STEP);
        let windows = starts.map(|start| {
            let end = words.len().min(start + WINDOW_WORDS);
            let window = words.get(start..end).unwrap_or_default();
            window.iter().flatten().cloned().collect()
        });
        Self(windows.collect())
    }
}
