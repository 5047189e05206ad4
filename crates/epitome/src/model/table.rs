//! The table of models: what ships with the crate, and what a user puts over it.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::names;
use super::{CacheRule, ContextBeta, LongInput, Model, Prices};
use crate::window::Window;

/// See its own first lines for the columns and for where the figures come from.
const BUILTIN: &str = include_str!("models.tsv");

static TABLE: LazyLock<ModelTable> = LazyLock::new(|| {
    // The tests read the same text with the error in view.
    ModelTable::default()
        .with_overrides(BUILTIN)
        .unwrap_or_default()
});

/// The columns of a line, in order.
const COLUMNS: [&str; 15] = [
    "name",
    "window",
    "input",
    "max out",
    "in",
    "out",
    "cache read",
    "write 5m",
    "write 1h",
    "long from",
    "long in",
    "cache",
    "cache min",
    "beta window",
    "counts output",
];

/// What is known of models, by the keys of their names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelTable {
    models: BTreeMap<String, Model>,
    source: String,
    date: String,
}

/// A line of a model table that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct ModelTableError {
    /// Which line, counted from 1.
    pub line: usize,
    /// What is wrong with it.
    pub problem: ModelTableProblem,
}

/// What can be wrong with a line of a model table.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ModelTableProblem {
    /// The line has no name.
    #[error("no name of a model")]
    NoName,
    /// A model that the table does not have yet needs at least a window.
    #[error("`{0}` is new to the table and needs a window")]
    NoWindow(String),
    /// A value that cannot stand in its column.
    #[error("`{value}` cannot be read as `{column}`")]
    Value {
        /// The column's name.
        column: &'static str,
        /// What stands there.
        value: String,
    },
    /// The line has more values than there are columns.
    #[error("more than {} columns", COLUMNS.len())]
    TooManyColumns,
}

impl ModelTable {
    /// What ships with the crate.
    #[must_use]
    pub fn builtin() -> &'static Self {
        &TABLE
    }

    /// This table with other lines over it. A line has the columns of the built-in table, apart by tabs;
    /// it may end early, and a `-` or a missing column leaves what the table says. Empty lines and lines
    /// that begin with `#` say nothing, but for `# source` and `# date`.
    ///
    /// # Errors
    /// The first line that cannot be read.
    pub fn with_overrides(&self, text: &str) -> Result<Self, ModelTableError> {
        let mut table = self.clone();
        for (at, line) in text.lines().enumerate() {
            let line = line.trim_end_matches('\r');
            if let Some(comment) = line.strip_prefix('#') {
                match comment.trim_start().split_once('\t') {
                    Some(("source", source)) => source.trim().clone_into(&mut table.source),
                    Some(("date", date)) => date.trim().clone_into(&mut table.date),
                    _ => {}
                }
            } else if !line.trim().is_empty() {
                table.put(line).map_err(|problem| ModelTableError {
                    line: at + 1,
                    problem,
                })?;
            }
        }
        Ok(table)
    }

    /// A model by name: as it is; then without what providers, gateways and local servers write around it, such as a
    /// prefix (`openai/…`, `us.anthropic.…`), a tag (`:free`, `@20250929`), a date or a form of its weights. A name is never
    /// matched by its beginning alone.
    ///
    /// ```
    /// use epitome::ModelTable;
    ///
    /// let table = ModelTable::builtin();
    /// let model = table.find("us.anthropic.claude-sonnet-4-5-20250929-v1:0");
    /// assert_eq!(model, table.find("anthropic/claude-sonnet-4.5:beta"));
    /// assert!(table.find("my-gpt-4-clone").is_none());
    /// ```
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&Model> {
        let mut keys = names::keys(name).into_iter();
        keys.find_map(|key| self.models.get(&key))
    }

    /// The window of a model by name, found as [`find`](Self::find) does, under what the request asks for. A name that ends
    /// in `[1m]` asks for the long context itself.
    #[must_use]
    pub fn window_with(&self, name: &str, beta: ContextBeta) -> Option<Window> {
        let beta = match names::asks_for_long_context(name) {
            true => ContextBeta::OneMillion,
            false => beta,
        };
        self.find(name).map(|model| model.window_with(beta))
    }

    /// All models, by name.
    pub fn models(&self) -> impl Iterator<Item = &Model> {
        self.models.values()
    }

    /// Where the figures come from.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The day they were taken, as `2026-08-08`.
    #[must_use]
    pub fn date(&self) -> &str {
        &self.date
    }

    fn put(&mut self, line: &str) -> Result<(), ModelTableProblem> {
        let row = Row::read(line)?;
        let name = row.values.first().copied().unwrap_or_default();
        if name.is_empty() || name == "-" {
            return Err(ModelTableProblem::NoName);
        }
        let key = names::key(name);
        let old = self.models.get(&key);
        let window_tokens = row
            .tokens(1)?
            .or_else(|| old.map(|old| old.window_tokens))
            .ok_or_else(|| ModelTableProblem::NoWindow(name.to_owned()))?;
        let known = old.map_or_else(Prices::default, |old| old.prices);
        let long_input = match (row.tokens(9)?, row.price(10)?) {
            (Some(from_tokens), Some(nanodollars)) => Some(LongInput {
                from_tokens,
                nanodollars,
            }),
            _ => known.long_input,
        };
        let model = Model {
            name: name.to_owned(),
            window_tokens,
            // An input limit belongs to the window it was measured with.
            input_tokens: match (row.tokens(2)?, row.tokens(1)?) {
                (None, None) => old.and_then(|old| old.input_tokens),
                (input, _) => input,
            },
            max_output_tokens: row
                .tokens(3)?
                .or_else(|| old.and_then(|old| old.max_output_tokens)),
            prices: Prices {
                input: row.price(4)?.or(known.input),
                output: row.price(5)?.or(known.output),
                cache_read: row.price(6)?.or(known.cache_read),
                cache_write_5m: row.price(7)?.or(known.cache_write_5m),
                cache_write_1h: row.price(8)?.or(known.cache_write_1h),
                long_input,
            },
            cache: row.cache()?.or_else(|| old.and_then(|old| old.cache)),
            cache_minimum_tokens: row
                .tokens(12)?
                .or_else(|| old.and_then(|old| old.cache_minimum_tokens)),
            // As the input's limit: a window of one's own is the window, whatever is asked for.
            beta_window_tokens: match (row.tokens(13)?, row.tokens(1)?) {
                (None, None) => old.and_then(|old| old.beta_window_tokens),
                (beta, _) => beta,
            },
            counts_output: row
                .read_as(14, yes_or_no)?
                .or_else(|| old.and_then(|old| old.counts_output)),
        };
        self.models.insert(key, model);
        Ok(())
    }
}

/// One line, value by value.
struct Row<'a> {
    values: Vec<&'a str>,
}

impl<'a> Row<'a> {
    fn read(line: &'a str) -> Result<Self, ModelTableProblem> {
        let values: Vec<&str> = line.split('\t').map(str::trim).collect();
        if values.len() > COLUMNS.len() {
            return Err(ModelTableProblem::TooManyColumns);
        }
        Ok(Self { values })
    }

    fn value(&self, column: usize) -> Option<&'a str> {
        let value = self.values.get(column).copied()?;
        (!value.is_empty() && value != "-").then_some(value)
    }

    fn tokens(&self, column: usize) -> Result<Option<u64>, ModelTableProblem> {
        self.read_as(column, |value| {
            value.parse().ok().filter(|tokens| *tokens > 0)
        })
    }

    fn price(&self, column: usize) -> Result<Option<u64>, ModelTableProblem> {
        self.read_as(column, nanodollars)
    }

    fn cache(&self) -> Result<Option<CacheRule>, ModelTableProblem> {
        self.read_as(11, CacheRule::named)
    }

    fn read_as<T>(
        &self,
        column: usize,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>, ModelTableProblem> {
        let Some(value) = self.value(column) else {
            return Ok(None);
        };
        match read(value) {
            Some(read) => Ok(Some(read)),
            None => Err(ModelTableProblem::Value {
                column: COLUMNS.get(column).copied().unwrap_or_default(),
                value: value.to_owned(),
            }),
        }
    }
}

/// `0.075` dollars per million tokens → 75 nanodollars per token.
fn nanodollars(price: &str) -> Option<u64> {
    let (whole, part) = price.split_once('.').unwrap_or((price, "0"));
    let is_number =
        |digits: &str| !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
    if !is_number(whole) || !is_number(part) || part.len() > 3 {
        return None;
    }
    let part: u64 = format!("{part:0<3}").parse().ok()?;
    whole
        .parse::<u64>()
        .ok()?
        .checked_mul(1_000)?
        .checked_add(part)
}

fn yes_or_no(word: &str) -> Option<bool> {
    match word {
        "yes" => Some(true),
        "no" => Some(false),
        _ => None,
    }
}
