//! The files that were changed and read, and the tools that failed.

use std::collections::HashSet;

use super::coverage::Coverage;
use super::survey::Survey;
use super::{PATH_TOKENS, Source};
use crate::anchor::{path_end, path_key};
use crate::files::FileOperations;
use crate::plan::percent_of;
use crate::story::{FileRecord, Story};
use crate::summary::{Earlier, Line, LineKind, Parts};

/// The share of the room that either list of an entry may take, in percent.
const LIST_PERCENT: u64 = 10;
/// A list of failures longer than this is not read.
const FAILURES: usize = 8;
/// How many names of a file are told that was only read.
const NAMES: usize = 8;

/// How much is told of a file that was changed.
struct Detail {
    names: usize,
    purposes: usize,
    /// How many of the lines that were changed.
    hearts: usize,
    /// Whether what was declared anew is told by its line.
    has_lines: bool,
}

/// So many accounts of a file are tried before any file gets more: the last of them names all that was done to it.
const WHOLE: usize = 4;
/// From little room to much.
const DETAILS: [Detail; 5] = [
    Detail {
        names: 3,
        purposes: 1,
        hearts: 1,
        has_lines: false,
    },
    Detail {
        names: 8,
        purposes: 2,
        hearts: 1,
        has_lines: false,
    },
    Detail {
        names: 8,
        purposes: 3,
        hearts: 2,
        has_lines: true,
    },
    Detail {
        names: 8,
        purposes: 3,
        hearts: 4,
        has_lines: true,
    },
    Detail {
        names: 14,
        purposes: 4,
        hearts: 8,
        has_lines: true,
    },
];

impl Source<'_> {
    /// Fills both lists of an entry, the newest first in line for room, and returns what they take.
    pub(super) fn list_files(&self, earlier: &Earlier, parts: &mut Parts, room_tokens: u64) -> u64 {
        let operations = FileOperations::of(self.entries().map(|(_, message)| message));
        let position = self.first_position();
        let line = |text: String, kind| Line {
            position,
            text,
            kind,
        };
        let cap = percent_of(room_tokens, LIST_PERCENT);

        let mut read = earlier.read.clone();
        for path in &operations.read_files {
            let path = path_end(path).to_owned();
            read.retain(|known| *known != path);
            read.push(path);
        }
        let (read, read_tokens) = newest(read, usize::MAX, cap, |text| {
            self.meter.text(text) + PATH_TOKENS
        });

        let mut failures = earlier.failures.clone();
        for failure in &operations.tool_failures {
            let text = format!("{}: {}", failure.tool_name, failure.summary);
            failures.retain(|known| *known != text);
            failures.push(text);
        }
        let (failures, failures_tokens) = newest(failures, FAILURES, cap, |text| self.cost(text));

        parts.read = read
            .into_iter()
            .map(|text| line(text, LineKind::Listed))
            .collect();
        parts.failures = failures
            .into_iter()
            .map(|text| line(text, LineKind::Failed))
            .collect();
        read_tokens + failures_tokens
    }

    /// The files that were changed, oldest first: of each the accounts of what was done, the shortest first.
    pub(super) fn changed(
        &self,
        story: &Story,
        earlier: &Earlier,
        survey: &Survey<'_>,
    ) -> Vec<Accounts> {
        let mut changed: Vec<Accounts> = story
            .files
            .iter()
            .filter_map(|file| Some(Accounts::of_change(file, file.last_edit?, survey)))
            .collect();
        let is_known = |path: &str, changed: &[Accounts]| {
            let key = path_key(path);
            changed.iter().any(|known| path_key(&known.path) == key)
        };
        // Tools whose arguments say no more than a path.
        let first = self.first_position();
        let operations = FileOperations::of(self.entries().map(|(_, message)| message));
        for path in &operations.modified_files {
            let path = story.told(path);
            if !is_known(&path, &changed) {
                let position = survey.last_made(&path).unwrap_or(first);
                changed.push(Accounts::bare(position, path));
            }
        }
        changed.sort_by(|a, b| (a.position, &a.path).cmp(&(b.position, &b.path)));
        let old = earlier
            .changed
            .iter()
            .filter(|path| !is_known(path, &changed));
        let old: Vec<Accounts> = old
            .map(|path| Accounts::bare(first, path.clone()))
            .collect();
        old.into_iter().chain(changed).collect()
    }

    /// The files that were only read, oldest first.
    pub(super) fn looked_at(&self, story: &Story, survey: &Survey<'_>) -> Vec<Accounts> {
        let mut told: HashSet<&str> = HashSet::new();
        let mut read: Vec<Accounts> = story
            .files
            .iter()
            .filter(|file| file.last_edit.is_none() && file.reads > 0)
            .map(|file| {
                // Files that were read for one purpose say it once.
                let purpose = file.purposes.last().map(String::as_str);
                let purpose = purpose.filter(|purpose| told.insert(purpose));
                Accounts::of_look(file, survey, purpose)
            })
            .collect();
        read.sort_by(|a, b| (a.position, &a.path).cmp(&(b.position, &b.path)));
        read
    }

    /// What a list of files takes. Paths by themselves stand together on a line.
    pub(super) fn listed_tokens(&self, files: &[Accounts], lines: &[Line]) -> u64 {
        let bare: HashSet<&str> = files.iter().map(|file| file.path.as_str()).collect();
        let cost = |line: &Line| match bare.contains(line.text.as_str()) {
            true => self.meter.text(&line.text) + PATH_TOKENS,
            false => self.cost(&line.text),
        };
        lines.iter().map(cost).sum()
    }

    /// The files that fit: every one by its path first, the newest first in line; then the newest with more, and where
    /// there is room left all with more of what was changed in them.
    pub(super) fn list(
        &self,
        files: &[Accounts],
        coverage: &mut Coverage<'_, '_>,
        cap_tokens: u64,
    ) -> Vec<Line> {
        let mut left = cap_tokens;
        let mut listed: Vec<(&Accounts, u64, usize)> = Vec::new();
        for file in files.iter().rev() {
            let cost = self.meter.text(&file.path) + PATH_TOKENS;
            if let Some(rest) = left.checked_sub(cost) {
                left = rest;
                listed.push((file, cost, 0));
            }
        }
        let mut tell = |(file, cost, shown): &mut (&Accounts, u64, usize), at: usize| {
            let Some(account) = file.accounts.get(at).filter(|_| at >= *shown) else {
                return false;
            };
            let total = self.cost(account);
            let rest = (left + *cost).checked_sub(total);
            if let Some(rest) = rest {
                (left, *cost, *shown) = (rest, total, at + 1);
            }
            rest.is_some()
        };
        for file in &mut listed {
            let _ = (0..WHOLE).rev().any(|at| tell(file, at));
        }
        let most = listed.iter().map(|(file, ..)| file.accounts.len()).max();
        for at in WHOLE..most.unwrap_or(0) {
            for file in &mut listed {
                tell(file, at);
            }
        }
        listed.reverse();
        let lines = listed.into_iter().map(|(file, _, shown)| {
            let account = shown.checked_sub(1).and_then(|at| file.accounts.get(at));
            match account {
                Some(account) => coverage.tell(account),
                None => coverage.tell_path(&file.path),
            }
            Line {
                position: file.position,
                text: account.unwrap_or(&file.path).clone(),
                kind: LineKind::Done,
            }
        });
        lines.collect()
    }
}

/// What can be told of a file, the shortest account first; its path by itself is one more.
#[derive(Clone, Debug)]
pub(super) struct Accounts {
    pub(super) position: usize,
    pub(super) path: String,
    accounts: Vec<String>,
}

impl Accounts {
    const fn bare(position: usize, path: String) -> Self {
        Self {
            position,
            path,
            accounts: Vec::new(),
        }
    }

    fn of_change(file: &FileRecord, position: usize, survey: &Survey<'_>) -> Self {
        let mut state = match (file.is_deleted, file.is_new) {
            (true, _) => String::from("deleted"),
            (false, true) => String::from("new"),
            (false, false) => String::from("edited"),
        };
        if file.edits > 1 {
            state.push_str(&format!(" ×{}", few(file.edits as usize)));
        }
        let account = |detail: &Detail| {
            let purposes = file.purposes.iter().rev().take(detail.purposes).rev();
            let purposes = purposes.cloned().collect::<Vec<_>>().join("; ");
            let mut text = format!("{} ({state}", file.path);
            if !purposes.is_empty() {
                text.push_str(&format!(": {purposes}"));
            }
            text.push(')');
            let details = details(file, survey, detail);
            if !details.is_empty() {
                text.push_str(&format!(" — {details}"));
            }
            text
        };
        let mut accounts = vec![format!("{} ({state})", file.path)];
        accounts.extend(DETAILS.iter().map(account));
        accounts.dedup();
        Self {
            position,
            path: file.path.clone(),
            accounts,
        }
    }

    fn of_look(file: &FileRecord, survey: &Survey<'_>, purpose: Option<&str>) -> Self {
        let mut names: Vec<(&str, u16)> = file
            .outline
            .iter()
            .map(|(name, _)| (name.as_str(), survey.mentions(name)))
            .filter(|(_, uses)| *uses > 0)
            .collect();
        names.sort_by_key(|(_, uses)| std::cmp::Reverse(*uses));
        let names: Vec<&str> = names
            .into_iter()
            .take(NAMES)
            .map(|(name, _)| name)
            .collect();
        let mut accounts = Vec::new();
        let mut account = file.path.clone();
        if let Some(purpose) = purpose {
            account.push_str(&format!(" (to {purpose})"));
            accounts.push(account.clone());
        }
        if !names.is_empty() {
            account.push_str(&format!(" — {}", names.join(", ")));
            accounts.push(account);
        }
        Self {
            position: file.last,
            path: file.path.clone(),
            accounts,
        }
    }
}

/// A count for people. A summary names no number that nobody named, unless it is plainly a count.
pub(super) fn few(count: usize) -> String {
    match count {
        0..10 => count.to_string(),
        _ => String::from("many"),
    }
}

/// What changes did to a file: what they added, changed, took away.
fn details(file: &FileRecord, survey: &Survey<'_>, detail: &Detail) -> String {
    let most = detail.names;
    let mut parts = Vec::new();
    // The names that people speak of come first; they stand in the order of the file.
    let mut added: Vec<(usize, &(String, String))> = file.added.iter().enumerate().collect();
    added.sort_by_key(|(_, (name, _))| std::cmp::Reverse(survey.mentions(name)));
    let more = added.len().saturating_sub(most);
    added.truncate(most);
    added.sort_by_key(|(at, _)| *at);
    let mut names: Vec<&str> = added
        .into_iter()
        .map(|(_, (name, line))| {
            if detail.has_lines {
                line.as_str()
            } else {
                name.as_str()
            }
        })
        .collect();
    let rest = format!("(+{})", few(more));
    if more > 0 {
        names.push(&rest);
    }
    if !names.is_empty() {
        parts.push(format!("+ {}", names.join(", ")));
    }
    let newest = |list: &[String]| {
        let list = list.iter().rev().take(most).rev();
        list.cloned().collect::<Vec<_>>().join(", ")
    };
    if !file.touched.is_empty() {
        parts.push(format!("in {}", newest(&file.touched)));
    }
    if !file.removed.is_empty() {
        parts.push(format!("- {}", newest(&file.removed)));
    }
    // What a declaration tells already is not told again.
    let is_declared = |heart: &&String| {
        let heart = heart.trim_matches(['`', ' ', '{', '…']);
        detail.has_lines && file.added.iter().any(|(_, line)| line.starts_with(heart))
    };
    let hearts: Vec<&String> = file
        .hearts
        .iter()
        .filter(|heart| !is_declared(heart))
        .collect();
    let from = hearts.len().saturating_sub(detail.hearts);
    parts.extend(hearts.into_iter().skip(from).cloned());
    if detail.has_lines {
        let from = file.messages.len().saturating_sub(detail.hearts);
        parts.extend(file.messages.iter().skip(from).cloned());
    }
    parts.join("; ")
}

/// The newest of `texts` that fit, in order, and what they take.
fn newest(
    texts: Vec<String>,
    most: usize,
    cap_tokens: u64,
    cost: impl Fn(&str) -> u64,
) -> (Vec<String>, u64) {
    let mut used = 0;
    let mut kept: Vec<String> = texts
        .into_iter()
        .rev()
        .take(most)
        .take_while(|text| {
            used += cost(text);
            used <= cap_tokens
        })
        .collect();
    let tokens = kept.iter().map(|text| cost(text)).sum();
    kept.reverse();
    (kept, tokens)
}
