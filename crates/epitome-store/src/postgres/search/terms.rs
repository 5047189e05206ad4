//! The terms of a query on their way to the database, and what it found on the way back.

use std::collections::BTreeMap;

use sqlx::Row as _;
use sqlx::postgres::PgRow;

use crate::rank::{self, Candidate, Searched};
use crate::words::{Expression, folded};
use crate::{Error, Result};

/// For each term the first word that it stands for, and the first behind them.
pub(in super::super) struct Terms {
    pub(in super::super) first: Vec<String>,
    pub(in super::super) behind: Vec<String>,
}

impl Terms {
    pub(in super::super) fn of(expression: &Expression) -> Self {
        let terms = expression.terms().into_iter().map(|term| {
            let first = folded(&term.word);
            // No word has the first character of all, nor the last; and NUL cannot be sent.
            let end = if term.is_prefix {
                '\u{10FFFF}'
            } else {
                '\u{1}'
            };
            let behind = format!("{first}{end}");
            (first, behind)
        });
        let (first, behind) = terms.unzip();
        Self { first, behind }
    }
}

/// What was found, put together from rows of one text and one term each.
pub(in super::super) struct Matches<'e, K, T> {
    expression: &'e Expression,
    terms: usize,
    searched: Searched,
    found: BTreeMap<K, Candidate<T>>,
}

impl<'e, K: Ord, T> Matches<'e, K, T> {
    pub(in super::super) fn new(expression: &'e Expression) -> Self {
        Self {
            expression,
            terms: expression.terms().len(),
            searched: Searched::default(),
            found: BTreeMap::new(),
        }
    }

    /// From `column` on, the row says: the words of the text, the number of the term from 1, how often the text has it, how many
    /// texts were searched, and the words of all of them.
    pub(in super::super) fn add(
        &mut self,
        row: &PgRow,
        column: usize,
        key: K,
        item: T,
    ) -> Result<()> {
        let words = row.try_get(column)?;
        let term: i64 = row.try_get(column + 1)?;
        let count = row.try_get(column + 2)?;
        self.searched = Searched {
            texts: row.try_get(column + 3)?,
            words: row.try_get(column + 4)?,
        };
        let terms = self.terms;
        let candidate = self.found.entry(key).or_insert_with(|| Candidate {
            item,
            words,
            counts: vec![0; terms],
        });
        let place = usize::try_from(term - 1).map_err(Error::corrupt)?;
        if let Some(slot) = candidate.counts.get_mut(place) {
            *slot = count;
        }
        Ok(())
    }

    /// The same where it is known by itself how many texts there are, and how many have each term.
    pub(in super::super) fn scored_by(self, searched: Searched, having: &[usize]) -> Vec<(T, f64)> {
        let found = self.found.into_values().collect();
        rank::scored_by(self.expression, searched, having, found)
    }

    /// What meets the query, with how well it fits, in the order of keys.
    pub(in super::super) fn scored(self) -> Vec<(T, f64)> {
        let found = self.found.into_values().collect();
        rank::scored(self.expression, self.searched, found)
    }
}
