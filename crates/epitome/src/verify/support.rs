//! Whether the source supports a mark: verbatim, as the end of a path, with a line, elided, or as a dotted join.

use super::ground::{Ground, Slots, figures, value};
use super::mark::{AnchorKind, Mark, is_file};
use super::word::{Key, Word, key, words};

/// How far around a number its company is looked for.
const COMPANY: usize = 8;
/// From this many digits on a number needs no company: no other number of the source is like it by chance.
const PLAIN_DIGITS: usize = 5;
/// What `#` before a number may stand for.
const REFERENCES: [&str; 7] = ["pull", "pr", "issue", "issues", "task", "tasks", "requests"];

/// What the source says about a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Support {
    /// It has it.
    Given,
    /// It does not have it.
    Lacking,
    /// It cannot tell: a small number that counts something of its own.
    Open,
}

impl Support {
    const fn of(given: bool) -> Self {
        if given { Self::Given } else { Self::Lacking }
    }
}

/// Asks `ground` about a mark that stands in `line`; `scope` are words of the files that the lines before it are about.
pub(super) fn support(ground: &Ground, mark: &Mark<'_>, line: &str, scope: &[Key]) -> Support {
    if mark.kind == AnchorKind::Number {
        return Number::new(mark, line, scope).support(ground);
    }
    let mut found: Vec<Word<'_>> = words(mark.text).collect();
    if mark.is_cut {
        // Nobody knows how the last word ends.
        found.pop();
    }
    Support::of(match mark.kind {
        AnchorKind::Path => path(ground, mark.text, &found),
        AnchorKind::Identifier => identifier(ground, mark.text, &found),
        AnchorKind::Url | AnchorKind::Number => {
            breaks(ground, &found).is_some_and(|breaks| breaks.is_empty())
        }
    })
}

/// The places where two words that the source has do not stand next to each other in it; `None` when it lacks a word.
fn breaks(ground: &Ground, found: &[Word<'_>]) -> Option<Vec<usize>> {
    let is_known = |word: &Word<'_>| ground.knows(word.key) || ground.knows_part(word.key);
    if !found.iter().all(is_known) {
        return None;
    }
    let gaps = found.windows(2).enumerate().filter(|(_, two)| match two {
        [first, second] => !ground.has_pair(first.key, second.key),
        _ => false,
    });
    Some(gaps.map(|(at, _)| at + 1).collect())
}

/// A path may be put together from a folder and what was named inside it: one joint, not inside the name of the file.
fn path(ground: &Ground, text: &str, found: &[Word<'_>]) -> bool {
    let Some(breaks) = breaks(ground, found) else {
        return false;
    };
    let name = text.trim_end_matches('/').rsplit('/').next();
    let name = name.unwrap_or(text);
    let name_words = words(name).count();
    match breaks.as_slice() {
        [] => true,
        [joint] => {
            let is_inside_name = *joint + name_words > found.len();
            let joins_file = !is_file(name) || *joint + name_words == found.len();
            !is_inside_name && (joins_file || found.len() > name_words + 2)
        }
        _ => false,
    }
}

fn identifier(ground: &Ground, text: &str, found: &[Word<'_>]) -> bool {
    let Some(breaks) = breaks(ground, found) else {
        return false;
    };
    let is_join = text.contains('.') || text.contains("::") || text.contains('@');
    breaks.is_empty() || is_join
}

/// A number and what stands around it.
struct Number<'a> {
    text: &'a str,
    figures: &'a str,
    unit: &'a str,
    key: Key,
    is_weak: bool,
    is_reference: bool,
    around: Vec<Word<'a>>,
    /// Its place among the words around it.
    at: usize,
    scope: &'a [Key],
}

impl<'a> Number<'a> {
    fn new(mark: &Mark<'a>, line: &'a str, scope: &'a [Key]) -> Self {
        let (figures, unit) = figures(mark.text.trim_start_matches(['v', 'V']));
        let all: Vec<Word<'_>> = words(line).collect();
        let at = all.partition_point(|word| word.start < mark.start);
        let from = at.saturating_sub(COMPANY);
        let before = line.get(..mark.start).unwrap_or_default();
        Self {
            text: mark.text,
            figures,
            unit,
            key: key(figures),
            is_weak: mark.is_weak,
            is_reference: before.ends_with('#'),
            around: all
                .into_iter()
                .skip(from)
                .take(at + COMPANY + 1 - from)
                .collect(),
            at: at - from,
            scope,
        }
    }

    fn support(&self, ground: &Ground) -> Support {
        let digits = self.figures.chars().filter(char::is_ascii_digit).count();
        let is_plain = digits >= PLAIN_DIGITS || self.figures.matches('.').count() > 1;
        if is_plain && self.is_known(ground) {
            return Support::Given;
        }
        match ground.slots(&self.around, self.at) {
            Slots::Same => return Support::Given,
            Slots::Other => return Support::of(self.is_line_of_scope(ground)),
            Slots::Unknown => {}
        }
        if self.is_weak {
            return self.count(ground);
        }
        let whole = key(self.text);
        let is_known = ground.knows(whole) || ground.knows(self.key) || ground.knows_part(self.key);
        if !is_known {
            return Support::of(self.is_rounded(ground));
        }
        let digits = self.figures.chars().filter(char::is_ascii_digit).count();
        let is_year = digits == 4 && self.figures.starts_with(['1', '2']) && {
            let year = value(self.figures).unwrap_or_default();
            (1_900..2_100).contains(&year)
        };
        let is_marked = self.text.len() > self.figures.len() && ground.knows(whole);
        if digits >= PLAIN_DIGITS || self.figures.matches('.').count() > 1 || is_marked || is_year {
            return Support::Given;
        }
        let company = self.company(ground);
        let is_near = |word: &Key| ground.has_near(self.key, *word);
        Support::of(company.is_empty() || company.iter().any(is_near))
    }

    fn is_known(&self, ground: &Ground) -> bool {
        ground.knows(key(self.text)) || ground.knows(self.key) || ground.knows_part(self.key)
    }

    /// A line of a file that the source shows: lines move while a file is worked on.
    fn is_line_of_scope(&self, ground: &Ground) -> bool {
        let before = self.at.checked_sub(1).and_then(|at| self.around.get(at));
        let is_line = before.is_some_and(|word| word.text.to_lowercase().starts_with("line"));
        is_line
            && self
                .scope
                .iter()
                .any(|word| ground.has_near(self.key, *word))
    }

    /// The words that say what it is about.
    fn company(&self, ground: &Ground) -> Vec<Key> {
        let around = self
            .around
            .iter()
            .enumerate()
            .filter(|(at, word)| *at != self.at && !word.is_numeric())
            .map(|(_, word)| word.key)
            .filter(|word| !ground.is_common(*word));
        let mut company: Vec<Key> = around.chain(self.scope.iter().copied()).collect();
        if self.is_reference {
            company.extend(REFERENCES.map(key));
        }
        company.extend(self.units());
        company
    }

    /// What is written behind it, and what that is short for.
    fn units(&self) -> impl Iterator<Item = Key> + '_ {
        let long: &[&str] = match self.unit {
            "ms" => &["millisecond", "milliseconds"],
            "s" | "sec" => &["second", "seconds"],
            "min" | "m" => &["minute", "minutes"],
            "h" => &["hour", "hours"],
            _ => &[],
        };
        let unit = Some(self.unit).filter(|unit| !unit.is_empty());
        unit.into_iter().chain(long.iter().copied()).map(key)
    }

    /// "7 retries": the source tells only if it counts retries too.
    fn count(&self, ground: &Ground) -> Support {
        let is_near = |word: Key| ground.has_near(self.key, word);
        if self.units().any(is_near) || self.scope.iter().any(|word| is_near(*word)) {
            return Support::Given;
        }
        let beside = [self.at.checked_sub(1), Some(self.at + 1)];
        let mut beside = beside
            .into_iter()
            .flatten()
            .filter_map(|at| self.around.get(at))
            .filter(|word| !word.is_numeric() && word.text.chars().count() > 2)
            .map(|word| word.key)
            .filter(|word| ground.is_counted(*word) && !ground.is_common(*word))
            .peekable();
        if beside.peek().is_none() {
            return Support::Open;
        }
        Support::of(beside.any(is_near))
    }

    /// `156k` for 155,539; `2.5M` for 2,480,113; 155,000 for 155,539.
    fn is_rounded(&self, ground: &Ground) -> bool {
        let (whole, part) = self.figures.split_once('.').unwrap_or((self.figures, ""));
        let scale: u64 = match self.unit {
            "k" | "K" => 1_000,
            "m" | "M" => 1_000_000,
            _ => return self.is_round(ground),
        };
        let places = u32::try_from(part.len()).unwrap_or(u32::MAX);
        let step = 10_u64.checked_pow(places).map_or(0, |parts| scale / parts);
        value(&format!("{whole}{part}"))
            .and_then(|value| value.checked_mul(step))
            .is_some_and(|value| {
                ground.has_between(value.saturating_sub(step), value.saturating_add(step))
            })
    }

    /// Figures that end in zeros stand for what lies around them.
    fn is_round(&self, ground: &Ground) -> bool {
        let zeros = self.figures.chars().rev().take_while(|c| *c == '0').count();
        let step = u32::try_from(zeros)
            .ok()
            .and_then(|zeros| 10_u64.checked_pow(zeros));
        zeros >= 2
            && step.zip(value(self.figures)).is_some_and(|(step, value)| {
                let half = step / 2;
                ground.has_between(value.saturating_sub(half), value.saturating_add(half))
            })
    }
}
