//! Whether the source supports a number. A number alone says little: it needs the company it has in the source.

use super::ground::{Ground, figures, value};
use super::mark::{Mark, lead};
use super::slot::Slots;
use super::spelled;
use super::support::{Support, Surroundings};
use super::word::{Key, Word, key};
use crate::pin;

/// A number of no more digits stands near anything by chance.
const SHORT_DIGITS: usize = 3;
/// Fewer words around it than this are few.
const FEW: usize = 3;
/// How far around a number its company is looked for.
const COMPANY: usize = 8;
/// How far the words on either side of it may be, behind other numbers.
const BESIDE: usize = 3;
/// From this many digits on a number needs no company: no other number of the source is like it by chance.
const PLAIN_DIGITS: usize = 5;
/// The sign of something left out.
const GAP: char = '…';
/// What `#` before a number may stand for.
pub(super) const REFERENCES: [&str; 8] = [
    "pull", "pulls", "pr", "issue", "issues", "task", "tasks", "requests",
];

/// A number and what stands around it.
pub(super) struct Number<'a> {
    text: &'a str,
    figures: &'a str,
    unit: &'a str,
    key: Key,
    is_weak: bool,
    is_reference: bool,
    /// A line of a file. Lines move while a file is worked on.
    is_line: bool,
    /// The word behind a number that opens a numbered line: `88→fn main`.
    behind_gutter: Option<Key>,
    /// "Around line 320".
    is_about: bool,
    around: &'a [Word<'a>],
    /// Its place among the words around it.
    at: usize,
    scope: &'a [Key],
}

/// Figures, and what is written behind them.
fn parts(number: &str) -> (&str, &str) {
    let bare = number.trim_start_matches(['v', 'V']);
    match bare.contains('_') {
        true => (bare, ""),
        false => figures(bare),
    }
}

/// A unit, and what it is short for.
fn units(unit: &str) -> impl Iterator<Item = &str> {
    let long: &[&str] = match unit {
        "ms" => &["millisecond", "milliseconds"],
        "s" | "sec" => &["second", "seconds"],
        "min" | "m" => &["minute", "minutes"],
        "h" => &["hour", "hours"],
        _ => &[],
    };
    let unit = Some(unit).filter(|unit| !unit.is_empty());
    unit.into_iter().chain(long.iter().copied())
}

/// Everything that a number in a summary is looked up as, beside the words around it.
pub(super) fn readings(number: &str) -> impl Iterator<Item = &str> {
    let (figures, unit) = parts(number);
    let named = spelled::names(figures).iter().copied();
    [number, figures]
        .into_iter()
        .chain(units(unit))
        .chain(named)
}

impl<'a> Number<'a> {
    pub(super) fn new(mark: &Mark<'a>, place: Surroundings<'a>) -> Self {
        let (figures, unit) = parts(mark.text);
        let at = place.words.partition_point(|word| word.start < mark.start);
        let from = at.saturating_sub(COMPANY);
        let to = place.words.len().min(at + COMPANY + 1);
        let before = place.line.get(..mark.start).unwrap_or_default();
        let behind = place.line.get(mark.start..).unwrap_or_default();
        // What was left out parts what stands on either side.
        let gap_before = before.rfind(GAP).unwrap_or_default();
        let gap_behind = behind
            .find(GAP)
            .map_or(place.line.len(), |gap| mark.start + gap);
        let part = |word: &Word<'_>| word.start < gap_before;
        let from = from.max(place.words.partition_point(part));
        let to = to.min(place.words.partition_point(|word| word.start < gap_behind));
        Self {
            text: mark.text,
            figures,
            unit,
            key: key(figures),
            is_weak: mark.is_weak,
            is_reference: before.ends_with('#'),
            is_line: is_line(before),
            behind_gutter: place
                .words
                .get(at + 1)
                .filter(|_| is_gutter(before, behind))
                .map(|word| word.key),
            is_about: before.trim_end().ends_with('~') || is_about(before),
            around: place.words.get(from..to).unwrap_or_default(),
            at: at - from,
            scope: place.scope,
        }
    }

    pub(super) fn support(&self, ground: &Ground) -> Support {
        match self.in_figures(ground) {
            Support::Lacking if self.is_spelled(ground) || self.is_measured(ground) => {
                Support::Given
            }
            support => support,
        }
    }

    /// Whether the source has it in words, beside what it stands beside here.
    fn is_spelled(&self, ground: &Ground) -> bool {
        let mut names = spelled::names(self.figures).iter().map(|name| key(name));
        names.any(|name| {
            let mut beside = self.beside();
            beside.any(|word| ground.has_pair(name, word) || ground.has_pair(word, name))
        })
    }

    fn is_measured(&self, ground: &Ground) -> bool {
        let is_telling = |word: &Key| !ground.is_common(*word);
        self.beside()
            .filter(is_telling)
            .any(|word| ground.has_pair(self.key, word) || ground.has_pair(word, self.key))
    }

    fn in_figures(&self, ground: &Ground) -> Support {
        let digits = self.figures.chars().filter(char::is_ascii_digit).count();
        let is_plain = digits >= PLAIN_DIGITS || self.figures.matches('.').count() > 1;
        if is_plain && self.is_known(ground) {
            return Support::Given;
        }
        if self.is_line && self.is_about && self.figures.ends_with(['0', '5']) {
            return Support::Open;
        }
        if let Some(behind) = self.behind_gutter {
            return Support::of(ground.has_pair(self.key, behind));
        }
        match ground.slots(self.around, self.at) {
            Slots::Same => return Support::Given,
            Slots::Other => {
                let is_one_of_many = self.is_line || self.is_reference;
                let is_given = is_one_of_many && self.is_near(ground)
                    || self.is_between(ground)
                    || self.is_same_measure(ground);
                return Support::of(is_given);
            }
            Slots::Unknown => {}
        }
        if self.is_weak {
            return self.count(ground);
        }
        if !self.is_known(ground) {
            return Support::of(self.is_rounded(ground));
        }
        let is_year =
            digits == 4 && value(self.figures).is_some_and(|year| (1_900..2_100).contains(&year));
        let is_marked = self.text.len() > self.figures.len() && ground.knows(key(self.text));
        if is_year || is_marked {
            return Support::Given;
        }
        Support::of(self.is_near(ground))
    }

    /// `#12` is one of many: it must be the one that is about the same, as far as the words around it tell them apart.
    fn is_that_reference(&self, ground: &Ground) -> bool {
        let is_close = |word: &&str| ground.has_close(self.key, key(word));
        let is_near = |word: &Key| ground.has_near(self.key, *word);
        if !ground.is_reference(self.key) && !REFERENCES.iter().any(is_close) {
            return false;
        }
        let telling: Vec<Key> = self
            .around
            .iter()
            .filter(|word| !word.is_numeric() && !names_reference(word) && !joins(word))
            .map(|word| word.key)
            .filter(|word| ground.is_referred(*word))
            .collect();
        let near: Vec<&Key> = telling.iter().filter(|word| is_near(word)).collect();
        // What everything is about may still tell one from another, if there is enough of it.
        near.len() * 2 >= telling.len()
            || near.iter().any(|word| !ground.is_common(**word))
            || self.scope.iter().any(is_near)
    }

    /// `30min` for `30 * time.Minute`, near what it is about.
    fn is_same_measure(&self, ground: &Ground) -> bool {
        let is_near = |word: &Key| ground.has_near(self.key, *word);
        let units: Vec<Key> = self.units().collect();
        let company = self.company(ground);
        let mut others = company.iter().filter(|word| !units.contains(word));
        units.iter().any(is_near) && others.any(is_near)
    }

    /// Whether it stands in the source beside what it stands between here.
    fn is_between(&self, ground: &Ground) -> bool {
        let beside: Vec<Key> = self.beside().collect();
        beside.len() == 2 && beside.iter().all(|word| ground.has_close(self.key, *word))
    }

    /// Whether it stands near anything in the source that it is about here.
    fn is_near(&self, ground: &Ground) -> bool {
        if self.is_reference {
            return self.is_that_reference(ground);
        }
        let company = self.company(ground);
        if company.is_empty() {
            return true;
        }
        let digits = self.figures.chars().filter(char::is_ascii_digit).count();
        let needed = if digits > SHORT_DIGITS || company.len() < FEW {
            1
        } else {
            2
        };
        let near = company
            .iter()
            .filter(|word| ground.has_near(self.key, **word));
        let is_near = |word: &Key| ground.has_near(self.key, *word);
        near.take(needed).count() == needed || self.is_line && self.scope.iter().any(is_near)
    }

    fn is_known(&self, ground: &Ground) -> bool {
        ground.knows(key(self.text)) || ground.knows(self.key) || ground.knows_part(self.key)
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
        company.extend(self.units());
        company
    }

    /// What is written behind it, and what that is short for.
    fn units(&self) -> impl Iterator<Item = Key> + '_ {
        units(self.unit).map(key)
    }

    /// "17 retries": the source tells if it counts retries too, or has the number beside what this one is about.
    fn count(&self, ground: &Ground) -> Support {
        let is_near = |word: &Key| ground.has_near(self.key, *word);
        let beside: Vec<Key> = self.beside().collect();
        let touches = |word: &Key| ground.has_close(self.key, *word);
        let is_beside = beside.iter().any(touches)
            || self
                .first_on_either_side(|_| true)
                .any(|word| touches(&word));
        if self.units().any(|unit| is_near(&unit)) || is_beside {
            return Support::Given;
        }
        if beside.iter().any(|word| ground.is_measure(*word)) {
            return Support::Lacking;
        }
        let company = self.company(ground);
        let others = company.iter().filter(|word| !beside.contains(word));
        let needed = if company.len() < FEW { 1 } else { 2 };
        if others.filter(|word| is_near(word)).take(needed).count() == needed {
            return Support::Given;
        }
        let is_counted = beside.iter().any(|word| ground.is_counted(*word));
        if is_counted || !self.is_known(ground) {
            return Support::Lacking;
        }
        Support::Open
    }

    /// The words on either side, behind other numbers of a list and words that only join: `limit from 20 to 50`.
    fn beside(&self) -> impl Iterator<Item = Key> + '_ {
        self.first_on_either_side(|word| !joins(word))
    }

    /// The first words on either side of which `is_taken` is true, behind other numbers. What is left out does not make
    /// a word stand further off.
    fn first_on_either_side(&self, is_taken: fn(&Word<'_>) -> bool) -> impl Iterator<Item = Key> {
        let before: Vec<&Word<'_>> = self.around.iter().take(self.at).rev().collect();
        let behind: Vec<&Word<'_>> = self.around.iter().skip(self.at + 1).collect();
        [before, behind].into_iter().filter_map(move |words| {
            words
                .into_iter()
                .filter(|word| is_taken(word))
                .take(BESIDE)
                .find(|word| !word.is_numeric() && word.text.chars().count() > 2)
                .map(|word| word.key)
        })
    }

    /// `156k` for 155,539; `2.5M` for 2,480,113; 155,000 for 155,539.
    fn is_rounded(&self, ground: &Ground) -> bool {
        let (whole, part) = self.figures.split_once('.').unwrap_or((self.figures, ""));
        let scale: u64 = match self.unit {
            "k" | "K" => 1_000,
            "m" | "M" => 1_000_000,
            _ => return self.is_about && self.is_round(ground),
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

/// Whether a word only joins others.
fn joins(word: &Word<'_>) -> bool {
    word.text.chars().count() > 2 && pin::names_nothing(&word.text.to_lowercase())
}

/// Whether a word says what `#` stands for.
pub(super) fn names_reference(word: &Word<'_>) -> bool {
    REFERENCES
        .iter()
        .any(|name| name.eq_ignore_ascii_case(word.text))
}

const LINES: &[&str] = &[
    "line",
    "lines",
    "zeile",
    "zeilen",
    "ligne",
    "lignes",
    "línea",
    "líneas",
    "linha",
    "linhas",
    "riga",
    "righe",
    "regel",
    "regels",
    "строка",
    "строки",
];
const ABOUT: &[&str] = &[
    "around",
    "about",
    "near",
    "approximately",
    "roughly",
    "circa",
    "ca",
    "etwa",
    "ungefähr",
    "environ",
    "vers",
    "aproximadamente",
    "около",
];

/// Whether a number behind this names a line: `line 88`, `lines 88 and 90`, `main.rs:88`.
fn is_line(before: &str) -> bool {
    let is_behind_file = before
        .rsplit(char::is_whitespace)
        .next()
        .is_some_and(|word| word.contains('.') && word.ends_with([':', '-']));
    is_behind_file || lead(before).is_some_and(|word| LINES.contains(&word.to_lowercase().as_str()))
}

/// Whether a line of a file begins with its number: `88→fn main`, `88:fn main`.
fn is_gutter(before: &str, number: &str) -> bool {
    let behind = number.trim_start_matches(|c: char| c.is_ascii_digit());
    let opens = before
        .chars()
        .all(|c| c.is_whitespace() || "-*>".contains(c));
    opens
        && behind.starts_with(['→', ':', '|'])
        && !behind
            .get(1..)
            .unwrap_or_default()
            .starts_with(|c: char| c.is_ascii_digit())
}

fn is_about(before: &str) -> bool {
    let plain = before.split(|c: char| !c.is_alphanumeric());
    let last: Vec<&str> = plain.filter(|word| !word.is_empty()).collect();
    let mut last = last.iter().rev().take(2);
    last.any(|word| ABOUT.contains(&word.to_lowercase().as_str()))
}
