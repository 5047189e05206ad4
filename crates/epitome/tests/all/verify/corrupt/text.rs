//! The source as plain text, by speaker, and small tools on text.

use std::collections::HashSet;

use epitome::{Block, Role};

use super::super::samples::Sample;

/// Everything in a source, as plain text.
pub(crate) struct SourceText {
    /// All of it, lower case.
    pub(crate) all: String,
    /// Words that stand side by side, lower case.
    neighbours: HashSet<(String, String)>,
    /// Every word, lower case.
    words: HashSet<String>,
    /// Numbers of lines that it shows.
    lines: HashSet<String>,
    /// What the user typed, message by message, as sets of words.
    pub(crate) typed: Vec<HashSet<String>>,
    /// Lines of what anybody else said or returned.
    pub(crate) others: HashSet<String>,
}

impl SourceText {
    pub(crate) fn of(sample: &Sample) -> Self {
        let mut all = sample.previous.clone().unwrap_or_default();
        let mut typed = Vec::new();
        let mut others = HashSet::new();
        // What an earlier summary says may be what the user said.
        typed.extend(sample.previous.iter().map(|text| words(text).collect()));
        for message in &sample.messages {
            for block in &message.blocks {
                let text = match block {
                    Block::Text(text) | Block::Injected(text) => text.clone(),
                    Block::Call(call) => call.arguments.replace("\\n", "\n").replace("\\\"", "\""),
                    Block::Result(result) => result.texts().collect::<Vec<_>>().join("\n"),
                    _ => String::new(),
                };
                if message.role == Role::User {
                    typed.push(words(&text).collect());
                } else {
                    others.extend(text.lines().map(|line| line.trim().to_lowercase()));
                    // A refused call hands on what the user said instead.
                    if text.contains("the user said:") {
                        typed.push(words(&text).collect());
                    }
                }
                all.push('\n');
                all.push_str(&text);
            }
        }
        let all = all.to_lowercase();
        let in_order: Vec<String> = words(&all).collect();
        let neighbours = in_order
            .windows(2)
            .map(|two| (two[0].clone(), two[1].clone()));
        Self {
            neighbours: neighbours.collect(),
            words: in_order.iter().cloned().collect(),
            lines: all.lines().flat_map(line_numbers).collect(),
            all,
            typed,
            others,
        }
    }

    pub(crate) fn contains(&self, text: &str) -> bool {
        self.all.contains(&text.to_lowercase())
    }

    /// Whether it has a word, not only as a part of another.
    pub(crate) fn has_word(&self, word: &str) -> bool {
        self.words.contains(&word.to_lowercase())
    }

    /// Whether two words stand side by side.
    pub(crate) fn has_neighbours(&self, first: &str, second: &str) -> bool {
        self.neighbours
            .contains(&(first.to_lowercase(), second.to_lowercase()))
    }

    /// Whether the source shows a numbered line of a file.
    pub(crate) fn shows_line(&self, number: &str) -> bool {
        self.lines.contains(number)
    }

    /// Whether some message of the user has half of the telling words of a text.
    pub(crate) fn may_be_typed(&self, text: &str) -> bool {
        let telling: Vec<String> = words(text)
            .filter(|word| word.chars().count() > 3)
            .collect();
        self.typed.iter().any(|message| {
            let shared = telling
                .iter()
                .filter(|word| message.contains(*word))
                .count();
            shared * 2 >= telling.len()
        })
    }
}

/// `88→code`, `src/main.rs:88:code`
fn line_numbers(line: &str) -> Vec<String> {
    let bare = line.trim_start();
    let parts = bare.split(['→', ':', '-', '\t', '|']).take(4);
    let is_number = |part: &&str| !part.is_empty() && part.chars().all(|c| c.is_ascii_digit());
    parts.filter(is_number).map(str::to_owned).collect()
}

/// Words, lower case. Numbers keep their points.
pub(crate) fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.' || c == ','))
        .map(|word| word.trim_matches(['.', ',', '_']).to_lowercase())
        .filter(|word| !word.is_empty())
}

/// `text` with the bytes of `range` replaced.
pub(crate) fn replaced(text: &str, range: std::ops::Range<usize>, with: &str) -> String {
    format!("{}{with}{}", &text[..range.start], &text[range.end..])
}

/// Some characters before `at`, to know a place again.
pub(crate) fn before(text: &str, at: usize, chars: usize) -> &str {
    let line = &text[..at];
    let start = line
        .char_indices()
        .rev()
        .nth(chars - 1)
        .map_or(0, |(start, _)| start);
    &line[start..]
}
