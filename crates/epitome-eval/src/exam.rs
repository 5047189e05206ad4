//! All questions about a set of chats: what each method keeps of the answers, and what each search finds.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::chat::Question;
use crate::method::Method;
use crate::questions::{Archive, Windows};
use crate::recall::{Hits, Passages, Search, ranked};
use crate::table::mean;

/// What came out for one chat.
#[derive(Clone, Debug, Default)]
pub struct Exam {
    /// For each question with facts to keep: the share kept, by method and budget.
    answers: Vec<Vec<f64>>,
    /// For each question with evidence: its ability, whether it is a lookup, and what each search found.
    searches: Vec<(String, bool, Vec<Hits>)>,
}

impl Exam {
    /// Asks all questions about a chat.
    #[must_use]
    pub fn take(
        archive: &Archive,
        questions: &[Question],
        methods: &[Method],
        budgets: &[u64],
    ) -> Self {
        let contexts: Vec<Windows> = methods
            .iter()
            .flat_map(|method| budgets.iter().map(|budget| (*method, *budget)))
            .map(|(method, budget)| archive.compacted(method, budget))
            .collect();
        let passages = Passages::of(archive);
        let mut exam = Self::default();
        for question in questions.iter().filter(|q| q.is_answerable()) {
            let evidence = archive.evidence(question);
            if evidence.is_empty() {
                continue;
            }
            let hits = Search::ALL
                .map(|search| Hits::of(&ranked(search, archive, &passages, question), &evidence));
            let is_lookup = question.is_lookup();
            exam.searches
                .push((question.ability.clone(), is_lookup, hits.to_vec()));
            let facts = archive.facts(question);
            if is_lookup && !facts.is_empty() {
                let kept = contexts
                    .iter()
                    .filter_map(|context| archive.kept(&facts, context));
                exam.answers.push(kept.collect());
            }
        }
        exam
    }
}

/// The results of all chats of one size.
#[derive(Clone, Debug, Serialize)]
pub struct ExamTable {
    /// What the chats have in common: the beginning of their names.
    pub chats: String,
    /// To which sizes they were compacted.
    pub budgets: Vec<u64>,
    /// Lookup questions with facts to keep.
    pub answers: usize,
    /// What each method kept of the facts.
    pub kept: Vec<KeptAnswers>,
    /// What each search found, over all questions and over lookup questions alone.
    pub searches: Vec<SearchLine>,
    /// What the search over messages found, by ability.
    pub abilities: BTreeMap<String, AbilityLine>,
}

/// What one method kept.
#[derive(Clone, Debug, Serialize)]
pub struct KeptAnswers {
    /// The method.
    pub method: &'static str,
    /// The share of facts, one number for each budget.
    pub by_budget: Vec<f64>,
}

/// What one search found.
#[derive(Clone, Debug, Serialize)]
pub struct SearchLine {
    /// The search.
    pub search: Search,
    /// Whether only lookup questions count.
    pub lookup_only: bool,
    /// Questions.
    pub questions: usize,
    /// The mean over them.
    pub hits: Hits,
}

/// What the search over messages found for one ability.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct AbilityLine {
    /// Questions.
    pub questions: usize,
    /// The mean over them.
    pub hits: Hits,
}

impl ExamTable {
    /// Sums up the results of chats.
    #[must_use]
    pub fn of(chats: &str, exams: &[Exam], methods: &[Method], budgets: &[u64]) -> Self {
        let answers: Vec<&Vec<f64>> = exams.iter().flat_map(|exam| &exam.answers).collect();
        let kept = methods.iter().enumerate().map(|(at, method)| KeptAnswers {
            method: method.as_str(),
            by_budget: (0..budgets.len())
                .map(|budget| {
                    let column = at * budgets.len() + budget;
                    let kept = answers.iter().filter_map(|row| row.get(column).copied());
                    mean(&kept.collect::<Vec<_>>())
                })
                .collect(),
        });
        let searches = || exams.iter().flat_map(|exam| &exam.searches);
        let line = |at: usize, search: Search, lookup_only: bool| {
            let hits: Vec<Hits> = searches()
                .filter(|(_, is_lookup, _)| *is_lookup || !lookup_only)
                .filter_map(|(_, _, hits)| hits.get(at).copied())
                .collect();
            SearchLine {
                search,
                lookup_only,
                questions: hits.len(),
                hits: Hits::mean(&hits),
            }
        };
        let mut by_ability: BTreeMap<String, Vec<Hits>> = BTreeMap::new();
        for (ability, _, hits) in searches() {
            by_ability
                .entry(ability.clone())
                .or_default()
                .extend(hits.first());
        }
        Self {
            chats: chats.to_owned(),
            budgets: budgets.to_vec(),
            answers: answers.len(),
            kept: kept.collect(),
            searches: Search::ALL
                .into_iter()
                .enumerate()
                .flat_map(|(at, search)| [line(at, search, false), line(at, search, true)])
                .collect(),
            abilities: by_ability
                .into_iter()
                .map(|(ability, hits)| {
                    let line = AbilityLine {
                        questions: hits.len(),
                        hits: Hits::mean(&hits),
                    };
                    (ability, line)
                })
                .collect(),
        }
    }
}
