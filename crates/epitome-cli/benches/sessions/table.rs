//! What came of the sessions, side by side.

use epitome::CachePrices;

use super::replay::Tally;

/// A session, or all of them, through one version or two.
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) before: Option<Tally>,
    pub(crate) after: Tally,
}

const COLUMNS: [(&str, usize); 7] = [
    ("breaks", 9),
    ("1000s sent", 15),
    ("1000s anew", 13),
    ("% kept", 13),
    ("1000s paid", 13),
    ("changed", 11),
    ("early", 9),
];

pub(crate) fn print(rows: &[Row]) {
    let names: Vec<String> = COLUMNS
        .iter()
        .map(|(name, width)| format!("{name:>width$}"))
        .collect();
    println!(
        "{:<28} {:>8} {:>8} {}  overflows  errors  hidden",
        "session",
        "requests",
        "largest",
        names.join("  ")
    );
    for row in rows {
        let after = &row.after;
        let cells: Vec<String> = COLUMNS
            .iter()
            .zip([
                row.pair(|tally| tally.breaks.to_string()),
                row.pair(|tally| thousands(tally.sent_tokens)),
                row.pair(|tally| thousands(tally.sent_tokens - tally.kept_tokens)),
                row.pair(|tally| format!("{:.1}", kept_percent(tally))),
                row.pair(|tally| thousands(paid_tokens(tally))),
                row.pair(|tally| tally.changed.to_string()),
                row.pair(|tally| tally.early.to_string()),
            ])
            .map(|((_, width), cell)| format!("{cell:>width$}"))
            .collect();
        println!(
            "{:<28} {:>8} {:>8} {}  {:>9}  {:>6}  {:>6}",
            row.name,
            after.requests,
            after.bare_tokens,
            cells.join("  "),
            row.pair(|tally| tally.overflows.to_string()),
            row.pair(|tally| tally.errors.to_string()),
            row.pair(|tally| tally.hidden.to_string()),
        );
    }
}

impl Row {
    fn pair(&self, cell: impl Fn(&Tally) -> String) -> String {
        let after = cell(&self.after);
        match &self.before {
            Some(before) => format!("{} > {after}", cell(before)),
            None => after,
        }
    }
}

fn thousands(tokens: u64) -> String {
    (tokens / 1_000).to_string()
}

/// The part of all that was sent that a provider's cache may have had.
fn kept_percent(tally: &Tally) -> f64 {
    tally.kept_tokens as f64 * 100.0 / tally.sent_tokens.max(1) as f64
}

/// What all of it costs where a cache has what it may have, in tokens at the price of plain input.
const fn paid_tokens(tally: &Tally) -> u64 {
    const INPUT: u64 = 1_000;
    let CachePrices { read, write } = CachePrices::UNKNOWN;
    let anew = tally.sent_tokens - tally.kept_tokens;
    (anew * write + tally.kept_tokens * read) / INPUT
}
