//! What is known of models: their windows.

use crate::window::{Window, WindowSource};

/// `name<TAB>window tokens`, one per line; its first lines say where the figures come from.
const TABLE: &str = include_str!("model/windows.tsv");

/// The window of a model by name, if the table knows it.
///
/// An exact name wins; then the name without a provider's prefix (`openai/…`) and without a date at the
/// end. A name is never matched by its beginning alone.
#[must_use]
pub fn window_of(model: &str) -> Option<Window> {
    let bare = model.rsplit('/').next().unwrap_or(model);
    [model, bare, without_date(bare)]
        .into_iter()
        .find_map(look_up)
        .map(|tokens| Window {
            tokens,
            source: WindowSource::Table,
        })
}

fn look_up(name: &str) -> Option<u64> {
    TABLE
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split_once('\t'))
        .find(|(known, _)| *known == name)
        .and_then(|(_, tokens)| tokens.trim().parse().ok())
}

/// `claude-haiku-4-5-20251001` → `claude-haiku-4-5`, `gpt-4o-2024-08-06` → `gpt-4o`.
fn without_date(name: &str) -> &str {
    let name = name.strip_suffix("-latest").unwrap_or(name);
    let end = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '-');
    let date = name.get(end.len()..).unwrap_or_default();
    let date_start = date.find("-20").map(|at| end.len() + at);
    match date_start {
        Some(at) if name.len() - at >= "-20250101".len() => name.get(..at).unwrap_or(name),
        _ => name,
    }
}
