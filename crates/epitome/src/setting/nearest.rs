//! The known name that a wrong one is closest to.

/// A longer name is no slip of a known one.
const LONGEST_CHARS: usize = 64;

/// The name with the fewest letters to change, if these are at most a third of it.
///
/// ```
/// let names = ["window", "wait"].map(str::to_owned);
/// assert_eq!(epitome::settings::nearest("windw", names.into_iter()), Some("window".to_owned()));
/// ```
pub fn nearest(written: &str, names: impl Iterator<Item = String>) -> Option<String> {
    if written.chars().count() > LONGEST_CHARS {
        return None;
    }
    names
        .map(|name| (distance(written, &name), name))
        .filter(|(changes, name)| changes * 3 <= name.chars().count())
        .min_by_key(|(changes, _)| *changes)
        .map(|(_, name)| name)
}

/// Letters to insert, remove or replace on the way from one text to the other.
fn distance(from: &str, to: &str) -> usize {
    let mut row: Vec<usize> = (0..=to.chars().count()).collect();
    for (line, letter) in from.chars().enumerate() {
        let mut diagonal = line;
        let mut left = line + 1;
        for (other, cell) in std::iter::once('\0')
            .chain(to.chars())
            .zip(row.iter_mut())
            .skip(1)
        {
            let replaced = diagonal + usize::from(letter != other);
            diagonal = *cell;
            left = replaced.min(diagonal + 1).min(left + 1);
            *cell = left;
        }
        if let Some(first) = row.first_mut() {
            *first = line + 1;
        }
    }
    row.last().copied().unwrap_or(0)
}
