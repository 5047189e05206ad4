//! What the requests of a file cost, by what the provider counted.

#[cfg(test)]
#[path = "cost_tests.rs"]
mod tests;

use epitome::{Model, ModelTable};
use epitome_cost::Spent;
use epitome_files::Usage;

/// A sum of requests. One without a price makes the sum unknown: half a sum says less than none.
#[derive(Debug, Default)]
pub(super) struct Cost {
    nanodollars: u64,
    has_unpriced: bool,
    /// The model of the last request, so that it is looked up once.
    known: Option<(String, Option<&'static Model>)>,
}

impl Cost {
    pub(super) fn add(&mut self, model: Option<&str>, usage: &Usage) {
        match self.price(model, usage) {
            Some(nanodollars) => self.nanodollars = self.nanodollars.saturating_add(nanodollars),
            None => self.has_unpriced = true,
        }
    }

    pub(super) fn nanodollars(&self) -> Option<u64> {
        (!self.has_unpriced).then_some(self.nanodollars)
    }

    fn price(&mut self, name: Option<&str>, usage: &Usage) -> Option<u64> {
        let name = name?;
        let is_same = |(known, _): &(String, _)| known == name;
        if !self.known.as_ref().is_some_and(is_same) {
            self.known = Some((name.to_owned(), ModelTable::builtin().find(name)));
        }
        let (_, model) = self.known.as_ref()?;
        spent(usage).nanodollars(&(*model)?.prices)
    }
}

fn spent(usage: &Usage) -> Spent {
    let cache = usage.cache.unwrap_or_default();
    let written_1h_tokens = cache.write_1h_tokens.min(cache.write_tokens);
    Spent {
        read_tokens: cache.read_tokens,
        written_5m_tokens: cache.write_tokens - written_1h_tokens,
        written_1h_tokens,
        fresh_tokens: usage
            .input_tokens
            .saturating_sub(cache.read_tokens)
            .saturating_sub(cache.write_tokens),
        output_tokens: usage.output_tokens,
    }
}
