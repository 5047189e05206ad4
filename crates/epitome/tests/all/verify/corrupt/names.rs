//! Numbers and files that are not those of the source.

use super::super::samples::Sample;
use super::text::{SourceText, before, replaced, words};
use super::{Corruption, Random};

/// One digit of a number becomes another.
///
/// A number counts if it has four digits or stands beside the same word as in the source. Left out: what the source has
/// in the same company too, and other lines of a file when the source shows those lines.
pub(super) fn changed_numbers(
    sample: &Sample,
    source: &SourceText,
    random: &mut Random,
) -> Vec<Corruption> {
    let text = &sample.summary;
    numbers(text)
        .into_iter()
        .filter_map(|range| {
            let number = &text[range.clone()];
            let digits = number.bytes().filter(u8::is_ascii_digit).count();
            let last = words(before(text, range.start, 30))
                .last()
                .unwrap_or_default();
            let next = words(text[range.end..].lines().next()?)
                .next()
                .unwrap_or_default();
            let beside = |number: &str| {
                source.has_neighbours(&last, number) || source.has_neighbours(number, &next)
            };
            let matters = digits >= 2 && source.has_word(number);
            if !matters || is_frame(text, range.start) {
                return None;
            }
            let at = random.below(digits);
            let changed = with_digit(number, at, random);
            let lead = words(before(text, range.start, 60))
                .filter(|word| word != "and" && !word.starts_with(|c: char| c.is_ascii_digit()))
                .last();
            let is_line = lead.is_some_and(|word| word.starts_with("line"))
                || text[..range.start].ends_with(':')
                || text[range.end..].starts_with('→');
            let is_true = beside(&changed)
                || digits >= 5 && source.contains(&changed)
                || is_line && source.shows_line(&changed);
            let bad = format!("{}{changed}", before(text, range.start, 12));
            let corrupted = replaced(text, range, &changed);
            (!is_true && changed != number && !sample.summary.contains(&bad))
                .then(|| Corruption::new(corrupted, bad))
        })
        .collect()
}

/// Numbers that stand alone: no parts of names, no numbering.
fn numbers(text: &str) -> Vec<std::ops::Range<usize>> {
    let mut found = Vec::new();
    let is_part = |c: char| c.is_ascii_digit() || c == '.' || c == ',';
    let mut at = 0;
    while let Some(start) = text[at..]
        .find(|c: char| c.is_ascii_digit())
        .map(|start| at + start)
    {
        let rest = &text[start..];
        let length = rest.find(|c: char| !is_part(c)).unwrap_or(rest.len());
        let number = rest[..length].trim_end_matches(['.', ',']);
        at = start + length;
        let line = text[..start].rsplit('\n').next().unwrap();
        let opens = line.trim_matches(|c: char| c.is_whitespace() || "-*>".contains(c));
        let closes = text[start + number.len()..].trim_start_matches(['.', ')']);
        let is_numbering = line.trim().is_empty()
            || opens.is_empty() && closes.starts_with(' ') && text[..at].ends_with(['.', ')']);
        let in_name = |c: char| c.is_alphabetic() && c.is_ascii() || "_-/.".contains(c);
        let joins = text[..start].chars().next_back().is_some_and(in_name)
            || text[start + number.len()..]
                .starts_with(|c: char| c.is_ascii_alphabetic() || "_-/".contains(c));
        if !is_numbering && !joins {
            found.push(start..start + number.len());
        }
    }
    found
}

/// The line that counts the messages of the conversation is not taken from it.
fn is_frame(text: &str, at: usize) -> bool {
    let line = text[..at].rsplit('\n').next().unwrap();
    line.starts_with("[Conversation summary") || line.starts_with("This stands for messages ")
}

fn with_digit(number: &str, wanted: usize, random: &mut Random) -> String {
    let mut seen = 0;
    number
        .chars()
        .map(|c| {
            let is_wanted = c.is_ascii_digit() && seen == wanted;
            seen += usize::from(c.is_ascii_digit());
            let old = c.to_digit(10).filter(|_| is_wanted);
            old.map_or(c, |old| {
                let step = 1 + u32::try_from(random.below(8)).unwrap();
                char::from_digit((old + step) % 10, 10).unwrap()
            })
        })
        .collect()
}

const ENDINGS: [&str; 14] = [
    ".go", ".rs", ".py", ".ts", ".sql", ".rb", ".md", ".json", ".toml", ".yaml", ".sh", ".log",
    ".js", ".html",
];

/// A file gets another name, which the source does not have.
pub(super) fn renamed_files(
    sample: &Sample,
    source: &SourceText,
    random: &mut Random,
) -> Vec<Corruption> {
    let text = &sample.summary;
    let mut found = Vec::new();
    for ending in ENDINGS {
        for (at, _) in text.match_indices(ending) {
            let end = at + ending.len();
            let goes_on = text[end..].starts_with(|c: char| c.is_alphanumeric() || c == '_');
            let stem: &str = text[..at]
                .rsplit(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '-'))
                .next()
                .unwrap();
            if goes_on || stem.len() < 3 || !source.contains(&format!("{stem}{ending}")) {
                continue;
            }
            let other = *random.pick(&ENDINGS);
            let name = match random.below(5) {
                0 => format!("{stem}_old{ending}"),
                1 => format!("new_{stem}{ending}"),
                2 => format!("{stem}2{ending}"),
                3 => format!("{}{ending}", stem.chars().rev().collect::<String>()),
                _ => format!("{stem}{other}"),
            };
            if !source.contains(&name) {
                let corrupted = replaced(text, at - stem.len()..end, &name);
                found.push(Corruption::new(corrupted, name));
            }
        }
    }
    found
}

/// A line about a file that nobody has seen.
pub(super) fn invented_files(
    sample: &Sample,
    source: &SourceText,
    tries: usize,
    random: &mut Random,
) -> Vec<Corruption> {
    const FOLDERS: [&str; 5] = ["src", "lib/core", "cmd/tools", "tests", "docs/notes"];
    const STEMS: [&str; 8] = [
        "flux_gate",
        "moonraker",
        "tiny_ledger",
        "quartz",
        "HarborPilot",
        "zephyr_test",
        "lattice",
        "oxbow",
    ];
    let sentences: [fn(&str) -> String; 4] = [
        |path| format!("- Updated `{path}` to use the new helper."),
        |path| format!("- {path}: added error handling"),
        |path| format!("The work continues in {path} tomorrow."),
        |path| format!("- In `{path}:120` the check was removed"),
    ];
    (0..tries)
        .filter_map(|_| {
            let path = format!(
                "{}/{}{}",
                random.pick(&FOLDERS),
                random.pick(&STEMS),
                random.pick(&ENDINGS)
            );
            let line = random.pick(&sentences)(&path);
            let ends: Vec<usize> = line_ends(&sample.summary);
            let at = *random.pick(&ends);
            let corrupted = replaced(&sample.summary, at..at, &format!("\n{line}"));
            (!source.contains(&path)).then(|| Corruption::new(corrupted, path))
        })
        .collect()
}

/// Where lines end that stand in no code.
fn line_ends(text: &str) -> Vec<usize> {
    let mut is_code = false;
    let mut at = 0;
    let mut ends = Vec::new();
    for line in text.split_inclusive('\n') {
        is_code ^= line.trim_start().starts_with("```");
        at += line.len();
        if !is_code && line.ends_with('\n') {
            ends.push(at - 1);
        }
    }
    ends.push(text.len());
    ends
}
