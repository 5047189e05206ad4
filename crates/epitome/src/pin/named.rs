//! Results that are law because the task or a standing instruction names what was read.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use crate::anchor::anchors;
use crate::files::{Access, access, failed, strings};
use crate::message::{Call, Message, ToolResult};
use crate::meter::Meter;

/// The part of the pin budget that named results may take.
pub(crate) const NAMED_PART: u64 = 4;
/// Commands that print a file.
const PRINTERS: &[&str] = &[
    "cat",
    "head",
    "tail",
    "less",
    "more",
    "bat",
    "type",
    "get-content",
    "sed",
    "nl",
    "curl",
    "wget",
];
/// Arguments that name a page.
const PAGE_TOOLS: &[&str] = &[
    "fetch",
    "webfetch",
    "fetchurl",
    "geturl",
    "readurl",
    "openurl",
    "browse",
    "readwebpage",
    "visit",
    "geturlcontent",
];

/// The result of a read whose file or page the task or a standing instruction names.
///
/// ```
/// use epitome::{Block, Call, Message, Role, ToolResult, ResultPart, named_results};
///
/// let messages = [
///     Message::text(Role::User, "Execute the job search prompt from search-prompt.txt"),
///     Message { role: Role::Assistant, blocks: vec![Block::Call(Call::new(
///         "c1", "read_file", r#"{"path":"search-prompt.txt"}"#))] },
///     Message { role: Role::Tool, blocks: vec![Block::Result(ToolResult {
///         call_id: "c1".into(), parts: vec![ResultPart::Text("Salary counts 25 %.".into())], is_error: false })] },
/// ];
/// let task = messages[0].spoken().next().unwrap();
/// let named = named_results(messages.iter().enumerate(), [task]);
/// assert_eq!((named[0].position, named[0].name.as_str()), (2, "search-prompt.txt"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedResult {
    /// The entry the result stands in.
    pub position: usize,
    /// The call it answers.
    pub call_id: Box<str>,
    /// The file or page, as the call names it.
    pub name: String,
    /// What was read.
    pub text: String,
}

/// How a named result stays in view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Share {
    /// All of it.
    Whole,
    /// An extract of at most so many tokens, with a pointer to the rest.
    Extract {
        /// What the extract may take; zero leaves the pointer alone.
        tokens: u64,
    },
}

/// The results of reads that `orders` (the task and the standing instructions) name, oldest first.
///
/// Failed reads are left out, and of the same read made twice the newer one counts. A file is named by its path, by
/// the end of its path, or by its bare name if that has an ending; a page by its address.
#[must_use]
pub fn named_results<'a, 'b>(
    messages: impl IntoIterator<Item = (usize, &'a Message)>,
    orders: impl IntoIterator<Item = &'b str>,
) -> Vec<NamedResult> {
    let names: HashSet<String> = orders
        .into_iter()
        .flat_map(anchors)
        .filter(|word| is_name(word))
        .map(plain)
        .collect();
    if names.is_empty() {
        return Vec::new();
    }
    let mut calls: HashMap<&str, (&Call, String)> = HashMap::new();
    let mut found: Vec<(NamedResult, &str)> = Vec::new();
    for (position, message) in messages {
        for call in message.calls() {
            let read = targets(call)
                .into_iter()
                .find(|target| is_named(target, &names));
            if let Some(name) = read {
                calls.insert(&call.id, (call, name));
            }
        }
        for result in message.results() {
            let Some((call, name)) = calls.get(result.call_id.as_ref()) else {
                continue;
            };
            if failed(result, call) {
                continue;
            }
            found.retain(|(_, arguments)| *arguments != &*call.arguments);
            found.push((named(position, name, result), &call.arguments));
        }
    }
    found.into_iter().map(|(result, _)| result).collect()
}

/// Splits a quarter of `pin_budget_tokens` over named results: each is whole while it fits, the smallest first, and
/// what is left is shared out to extracts of the others. The answer has the order of `results`.
///
/// ```
/// use epitome::{Meter, NamedResult, Share, share_named};
///
/// let result = |words: usize| NamedResult {
///     position: 2,
///     call_id: "c1".into(),
///     name: "rules.md".into(),
///     text: "word ".repeat(words),
/// };
/// let shares = share_named(&[result(5_000), result(20)], 1_000, Meter::Estimate);
/// assert!(matches!(shares[..], [Share::Extract { tokens: 1..=250 }, Share::Whole]));
/// ```
#[must_use]
pub fn share_named(results: &[NamedResult], pin_budget_tokens: u64, meter: Meter) -> Vec<Share> {
    let mut left = pin_budget_tokens / NAMED_PART;
    let mut line: Vec<(u64, usize)> = results
        .iter()
        .enumerate()
        .map(|(at, result)| (meter.text(&result.text), at))
        .collect();
    line.sort_unstable();
    let mut shares = vec![Share::Extract { tokens: 0 }; results.len()];
    let mut waiting = Vec::new();
    for (tokens, at) in line {
        match (left.checked_sub(tokens), shares.get_mut(at)) {
            (Some(rest), Some(share)) => {
                left = rest;
                *share = Share::Whole;
            }
            _ => waiting.push(at),
        }
    }
    let each = left / (waiting.len() as u64).max(1);
    for at in waiting {
        if let Some(share) = shares.get_mut(at) {
            *share = Share::Extract { tokens: each };
        }
    }
    shares
}

fn named(position: usize, name: &str, result: &ToolResult) -> NamedResult {
    NamedResult {
        position,
        call_id: result.call_id.clone(),
        name: name.to_owned(),
        text: result.texts().collect::<Vec<_>>().join("\n"),
    }
}

/// A path or an address; a bare word is none.
fn is_name(word: &str) -> bool {
    let has_ending = word.rsplit_once('.').is_some_and(|(stem, ending)| {
        !stem.is_empty()
            && (1..=8).contains(&ending.len())
            && ending.chars().all(|c| c.is_ascii_alphanumeric())
            && ending.chars().any(|c| c.is_ascii_alphabetic())
    });
    has_ending || word.contains('/') && word.chars().any(char::is_alphabetic)
}

/// A name as everybody spells it.
fn plain(name: &str) -> String {
    let name = name.replace('\\', "/");
    let name = name.split(['#', '?']).next().unwrap_or_default();
    let name = name.strip_prefix("file://").unwrap_or(name);
    let name = name.strip_prefix("./").unwrap_or(name);
    name.trim_end_matches('/').to_owned()
}

/// Whether a target is one of the names, by its whole path or by the end of either.
fn is_named(target: &str, names: &HashSet<String>) -> bool {
    let target = plain(target);
    if names.contains(&target) {
        return true;
    }
    if target.contains("://") {
        return false;
    }
    // "search-prompt.txt" names "/home/anna/search-prompt.txt".
    let shorter = target
        .match_indices('/')
        .any(|(at, _)| target.get(at + 1..).is_some_and(|end| names.contains(end)));
    // "/repo/docs/rules.md" names the read of "docs/rules.md".
    let longer = || {
        is_name(&target)
            && names.iter().any(|name| {
                !name.contains("://")
                    && name
                        .strip_suffix(&target)
                        .is_some_and(|front| front.ends_with('/'))
            })
    };
    shorter || longer()
}

/// What a call reads.
fn targets(call: &Call) -> Vec<String> {
    let name: String = call
        .name
        .rsplit(['.', '/', ':'])
        .next()
        .and_then(|name| name.rsplit("__").next())
        .unwrap_or_default()
        .chars()
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect();
    let values = || strings(&call.arguments).into_iter().map(|(_, value)| value);
    if access(call) == Some(Access::Read) || PAGE_TOOLS.contains(&name.as_str()) {
        return values()
            .filter(|value| is_name(value) || value.len() < 256)
            .map(Cow::into_owned)
            .collect();
    }
    if access(call).is_some() {
        return Vec::new();
    }
    values().flat_map(|command| printed(&command)).collect()
}

/// The files that a shell command prints.
fn printed(command: &str) -> Vec<String> {
    let mut files = Vec::new();
    for part in command.split(['|', ';', '&', '\n']) {
        let mut words = part
            .split_whitespace()
            .map(|word| word.trim_matches(['"', '\'']));
        let prints = words
            .next()
            .is_some_and(|first| PRINTERS.contains(&first.to_ascii_lowercase().as_str()));
        let writes = part.contains('>') || part.contains("sed -i");
        if prints && !writes {
            files.extend(words.filter(|word| is_name(word)).map(str::to_owned));
        }
    }
    files
}
