//! What the agent turned out to need after a cut.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use crate::history::History;
use crate::ident::{Ident, Kind};
use crate::session::{Speaker, ToolCall};

/// How many messages after a cut are looked at.
const HORIZON: usize = 60;
/// A need is far when it was last mentioned more than so many tokens before the cut.
const FAR_TOKENS: u64 = 4_000;

/// Where the messages after a cut end that count.
pub(crate) fn horizon(history: &History, at: usize, stop: Option<usize>) -> usize {
    let end = history.len().min(at + HORIZON);
    stop.map_or(end, |stop| end.min(stop))
}

/// Identifiers that the agent wrote after a cut and can only have taken from before it.
#[derive(Clone, Debug, Default)]
pub struct Needs {
    /// All of them.
    pub all: HashSet<Ident>,
    /// Those last mentioned long before the cut.
    pub far: HashSet<Ident>,
    /// The same rule on symbols, which are no needs by themselves.
    pub symbols: HashSet<Ident>,
}

impl Needs {
    /// The needs after a cut before `at`, up to message `stop` at most.
    #[must_use]
    pub fn after(history: &History, at: usize, stop: Option<usize>) -> Self {
        let mut last_seen: HashMap<&Ident, usize> = HashMap::new();
        let mut given: HashSet<&Ident> = HashSet::new();
        for (position, idents) in history.idents.iter().take(at).enumerate() {
            last_seen.extend(idents.iter().map(|ident| (ident, position)));
            if history.role(position) == Some(Speaker::System) {
                given.extend(idents);
            }
        }
        let mut needs = Self::default();
        let mut reminded: HashSet<&Ident> = HashSet::new();
        for position in at..horizon(history, at, stop) {
            let Some(idents) = history.idents.get(position) else {
                break;
            };
            if history.role(position) == Some(Speaker::Assistant) {
                for ident in idents {
                    let Some(last) = last_seen.get(ident) else {
                        continue;
                    };
                    if reminded.contains(ident) || given.contains(ident) {
                        continue;
                    }
                    if ident.kind == Kind::Symbol {
                        needs.symbols.insert(ident.clone());
                        continue;
                    }
                    needs.all.insert(ident.clone());
                    let since = history.tokens_before(at) - history.tokens_before(last + 1);
                    if since > FAR_TOKENS {
                        needs.far.insert(ident.clone());
                    }
                }
            }
            reminded.extend(idents);
        }
        needs
    }
}

/// In how many sessions of a set a plain token occurs.
#[derive(Clone, Debug, Default)]
pub struct Corpus {
    sessions: HashMap<String, usize>,
    size: usize,
}

impl Corpus {
    /// Counts over sessions.
    #[must_use]
    pub fn of<'a>(histories: impl IntoIterator<Item = &'a History>) -> Self {
        let mut corpus = Self::default();
        for history in histories {
            corpus.size += 1;
            let tokens: HashSet<&String> = history.rare().iter().flatten().collect();
            for token in tokens {
                *corpus.sessions.entry(token.clone()).or_default() += 1;
            }
        }
        corpus
    }

    /// Whether a token occurs in at most a tenth of the sessions.
    #[must_use]
    pub fn is_rare(&self, token: &str) -> bool {
        self.sessions.get(token).copied().unwrap_or(0) <= (self.size / 10).max(1)
    }
}

/// Needs among plain tokens that few sessions share: the same rule without any pattern of identifiers.
#[must_use]
pub fn rare_needs(
    history: &History,
    corpus: &Corpus,
    at: usize,
    stop: Option<usize>,
) -> HashSet<String> {
    let tokens = history.rare();
    let mut before: HashSet<&String> = HashSet::new();
    let mut given: HashSet<&String> = HashSet::new();
    for (position, tokens) in tokens.iter().take(at).enumerate() {
        before.extend(tokens);
        if history.role(position) == Some(Speaker::System) {
            given.extend(tokens);
        }
    }
    let mut needs = HashSet::new();
    let mut reminded: HashSet<&String> = HashSet::new();
    for position in at..horizon(history, at, stop) {
        let Some(tokens) = tokens.get(position) else {
            break;
        };
        if history.role(position) == Some(Speaker::Assistant) {
            needs.extend(
                tokens
                    .iter()
                    .filter(|token| {
                        before.contains(token)
                            && !reminded.contains(token)
                            && !given.contains(token)
                            && corpus.is_rare(token)
                    })
                    .cloned(),
            );
        }
        reminded.extend(tokens);
    }
    needs
}

/// The message after a cut in which the agent first wrote an identifier.
pub(crate) fn first_use(history: &History, at: usize, ident: &Ident) -> Option<usize> {
    (at..horizon(history, at, None)).find(|position| {
        history.role(*position) == Some(Speaker::Assistant)
            && history
                .idents
                .get(*position)
                .is_some_and(|idents| idents.contains(ident))
    })
}

/// Tools that change the file they name.
const WRITERS: [&str; 9] = [
    "write",
    "edit",
    "multiedit",
    "notebookedit",
    "str_replace_editor",
    "write_file",
    "replace",
    "create",
    "edit_file",
];

/// Files that the agent changed before a cut.
#[must_use]
pub fn artifacts(history: &History, at: usize) -> HashSet<Ident> {
    history
        .before(at)
        .flat_map(|(_, entry)| &entry.tool_calls)
        .flat_map(changed)
        .filter_map(|path| Ident::canonical(Kind::Path, &path))
        .collect()
}

fn changed(call: &ToolCall) -> Vec<String> {
    let name = call.name.to_lowercase();
    if WRITERS.contains(&name.as_str()) {
        return written(&name, &call.arguments).into_iter().collect();
    }
    if name == "apply_patch" || call.arguments.contains("*** Begin Patch") {
        return patched(&call.arguments);
    }
    Vec::new()
}

fn written(name: &str, arguments: &str) -> Option<String> {
    let arguments: Value = serde_json::from_str(arguments).ok()?;
    let field = |name: &str| arguments.get(name)?.as_str();
    if name == "str_replace_editor" && field("command") == Some("view") {
        return None;
    }
    ["file_path", "path", "notebook_path"]
        .into_iter()
        .filter_map(field)
        .find(|path| !path.is_empty())
        .map(str::to_owned)
}

/// The files of a patch. Its line ends may be escaped, when the patch stands in JSON that is not decoded.
fn patched(patch: &str) -> Vec<String> {
    let mut files = Vec::new();
    let mut rest = patch;
    while let Some((_, behind)) = rest.split_once("*** ") {
        rest = behind;
        let file = ["Update", "Add", "Delete"]
            .into_iter()
            .find_map(|verb| behind.strip_prefix(verb)?.strip_prefix(" File: "));
        let Some(file) = file else { continue };
        let end = file
            .char_indices()
            .skip(1)
            .find(|(at, c)| crate::text::is_space(*c) || is_escaped_end(file, *at))
            .map_or(file.len(), |(at, _)| at);
        let name = file.get(..end).unwrap_or(file);
        if !name.is_empty() && !name.starts_with(crate::text::is_space) {
            files.push(name.to_owned());
            rest = file.get(end..).unwrap_or("");
        }
    }
    files
}

fn is_escaped_end(text: &str, at: usize) -> bool {
    text.get(at..).is_some_and(|rest| rest.starts_with("\\n"))
}
