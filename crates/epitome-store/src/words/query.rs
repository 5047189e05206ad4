//! What a query asks for.

use super::{Run, Runs, Word, pairs};

/// What follows in a query is left out; a database limits the depth of an expression.
pub(super) const MAX_QUERY_TERMS: usize = 64;

/// From this length on, a query's word also stands for longer ones (`deploy` for `deployed`) when not all are found.
const MIN_PREFIX_CHARS: usize = 4;

/// How many words of a query an entry must have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    All,
    Any,
}

/// A word that is looked for, as it stands in the query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Term {
    pub(crate) word: String,
    /// Longer words that begin with it count as well.
    pub(crate) is_prefix: bool,
}

/// Which terms an entry must have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Expression {
    Term(Term),
    All(Vec<Self>),
    Any(Vec<Self>),
}

impl Expression {
    /// The words of `query`, whatever else is in it. `None` when it has none.
    pub(crate) fn of(query: &str, need: Need) -> Option<Self> {
        let mut groups = Vec::new();
        let mut terms = 0;
        for run in Runs(query) {
            let Some(group) = Self::of_run(&run, need) else {
                continue;
            };
            terms += group.terms().len();
            if terms > MAX_QUERY_TERMS && !groups.is_empty() {
                break;
            }
            groups.push(group);
        }
        joined(groups, need)
    }

    fn of_run(run: &Run<'_>, need: Need) -> Option<Self> {
        match run {
            Run::Word(word) => {
                let word = Word::new(word);
                let is_long = word.whole.chars().count() >= MIN_PREFIX_CHARS;
                let whole = Self::Term(Term {
                    word: word.whole,
                    is_prefix: is_long && need == Need::Any,
                });
                let parts = word.parts.iter().map(|part| exact(part));
                let parts = joined(parts.collect(), need);
                joined(
                    [Some(whole), parts].into_iter().flatten().collect(),
                    Need::Any,
                )
            }
            Run::Unspaced(run) if run.chars().nth(1).is_none() => Some(exact(run)),
            Run::Unspaced(run) => joined(pairs(run).map(exact).collect(), need),
        }
    }

    /// Its terms from left to right; one that stands there twice is there twice.
    pub(crate) fn terms(&self) -> Vec<&Term> {
        match self {
            Self::Term(term) => vec![term],
            Self::All(parts) | Self::Any(parts) => parts.iter().flat_map(Self::terms).collect(),
        }
    }

    /// The places of terms of which an entry must have one: as many sets as there are parts that it must have.
    pub(crate) fn needed(&self) -> Vec<std::ops::Range<usize>> {
        let Self::All(parts) = self else {
            return std::iter::once(0..self.terms().len()).collect();
        };
        let mut from = 0;
        let ranges = parts.iter().map(|part| {
            let range = from..from + part.terms().len();
            from = range.end;
            range
        });
        ranges.collect()
    }

    /// Whether an entry has what it takes, by whether it has each of [`terms`](Self::terms).
    pub(crate) fn is_met(&self, present: impl IntoIterator<Item = bool>) -> bool {
        self.is_met_by(&mut present.into_iter())
    }

    /// Every part takes what is its own, also when the answer is known before.
    fn is_met_by(&self, present: &mut dyn Iterator<Item = bool>) -> bool {
        match self {
            Self::Term(_) => present.next().unwrap_or_default(),
            Self::All(parts) => parts
                .iter()
                .fold(true, |met, part| met & part.is_met_by(present)),
            Self::Any(parts) => parts
                .iter()
                .fold(false, |met, part| met | part.is_met_by(present)),
        }
    }

    /// The same in FTS5's words, with the mark of a tenant before each.
    pub(super) fn fts5(&self, mark: &str) -> String {
        let (parts, operator) = match self {
            Self::Term(Term { word, is_prefix }) => {
                let star = if *is_prefix { " *" } else { "" };
                return format!("\"{mark}_{word}\"{star}");
            }
            Self::All(parts) => (parts, " AND "),
            Self::Any(parts) => (parts, " OR "),
        };
        let parts: Vec<String> = parts.iter().map(|part| part.fts5(mark)).collect();
        format!("({})", parts.join(operator))
    }
}

fn exact(word: &str) -> Expression {
    Expression::Term(Term {
        word: word.to_owned(),
        is_prefix: false,
    })
}

/// The parts as one.
fn joined(mut parts: Vec<Expression>, need: Need) -> Option<Expression> {
    parts.truncate(MAX_QUERY_TERMS);
    match (parts.len(), need) {
        (0 | 1, _) => parts.pop(),
        (_, Need::All) => Some(Expression::All(parts)),
        (_, Need::Any) => Some(Expression::Any(parts)),
    }
}
