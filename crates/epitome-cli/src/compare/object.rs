//! The objects of `compare --json`. Their names are public surface.

use epitome_cost::{SideTotals, Totals};
use serde::Serialize;

use super::Compared;

#[derive(Serialize)]
pub(super) struct Object<'a> {
    preset: &'a str,
    files: u64,
    conversations: u64,
    windows: &'a [u64],
    models: &'a [String],
    requests: u64,
    compactions: u64,
    sent_tokens: u64,
    cache_read_tokens: u64,
    cache_write_tokens: u64,
    fresh_tokens: u64,
    output_tokens: u64,
    largest_tokens: u64,
    nanodollars: Option<u64>,
    /// The built-in summariser asks nobody.
    own_nanodollars: u64,
    kept_share: Option<f64>,
    too_long: u64,
    elapsed_us: u64,
}

impl<'a> Object<'a> {
    /// One for each design, and one for the recordings as they are.
    pub(super) fn all(compared: &'a Compared) -> Vec<Self> {
        let designs = compared.designs.iter().map(|design| {
            let elapsed_us = u64::try_from(design.taken.as_micros()).unwrap_or(u64::MAX);
            Self {
                compactions: design.totals.compactions,
                kept_share: design.totals.kept_share(),
                elapsed_us,
                ..Self::of(compared, &design.name, &design.totals, design.totals.sent)
            }
        });
        let first = compared.designs.first();
        let none = first.map(|design| {
            let totals = &design.totals;
            Self::of(compared, "none", totals, totals.bare)
        });
        designs.chain(none).collect()
    }

    fn of(compared: &'a Compared, preset: &'a str, totals: &Totals, side: SideTotals) -> Self {
        Self {
            preset,
            files: compared.files,
            conversations: compared.conversations,
            windows: &compared.windows,
            models: &compared.models,
            requests: totals.requests,
            compactions: 0,
            sent_tokens: side.spent.input_tokens(),
            cache_read_tokens: side.spent.read_tokens,
            cache_write_tokens: side.spent.written_tokens(),
            fresh_tokens: side.spent.fresh_tokens,
            output_tokens: side.spent.output_tokens,
            largest_tokens: side.largest_tokens,
            nanodollars: side.nanodollars,
            own_nanodollars: 0,
            kept_share: None,
            too_long: side.too_long,
            elapsed_us: 0,
        }
    }
}
