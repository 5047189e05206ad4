//! What happened in a span, as a person would tell it: requests, what was done about each and what came of it, what
//! became of the files, how far the plan is, what fails now.
//!
//! Everything is read from the messages alone: what a call did from its name and arguments (`files`, `change`,
//! `command`), whether it worked from what it printed (`outcome`), what the assistant makes of it from its own words
//! (`prose`).

mod background;
mod change;
mod command;
mod outcome;
mod outline;
mod plan;
pub(crate) mod prose;
mod root;
mod step;
mod telling;

use std::collections::HashMap;

pub(crate) use change::FileRecord;
pub(crate) use command::{Check, Command, CommandKind};
pub(crate) use outcome::{Commit, Outcome, printed};
pub(crate) use outline::without_number;
use plan::is_proposal;
pub(crate) use plan::{Plan, Progress, is_plan};
pub(crate) use root::{Root, from_root};
pub(crate) use step::{command_line, is_around};
use step::{described, is_file_name, is_question, is_refused, is_word};

use background::Background;

use crate::files::{Access, access, is_failure, name_words, paths, plain_name, strings, values};
use crate::message::{Call, Message, Role, ToolResult};
use crate::word_cut::clip;

/// The story of a span.
#[derive(Debug, Default)]
pub(crate) struct Story {
    /// The folder that paths are told from.
    pub(crate) root: Option<Root>,
    /// What was done, in order.
    pub(crate) deeds: Vec<Deed>,
    /// The files, in the order in which they were first touched.
    pub(crate) files: Vec<FileRecord>,
    pub(crate) plan: Plan,
    pub(crate) branch: Option<String>,
    /// The entries that sent commits off, and that found nothing uncommitted, last.
    pub(crate) pushed: Option<usize>,
    pub(crate) clean: Option<usize>,
    /// The address of what was put up for review last.
    pub(crate) review: Option<String>,
    /// The commands that calls only ask about: what these print later is told where the command was begun.
    asked: HashMap<Box<str>, String>,
    paths: HashMap<String, usize>,
}

/// A step of the work.
#[derive(Debug)]
pub(crate) struct Deed {
    /// The entry of the call.
    pub(crate) position: usize,
    pub(crate) act: Act,
}

/// What a step was.
#[derive(Debug)]
pub(crate) enum Act {
    /// A command ran.
    Ran { command: Command, outcome: Outcome },
    /// Something was committed, and perhaps sent off at once.
    Committed { commit: Commit, is_pushed: bool },
    /// Something was looked for.
    Searched { words: String, hits: Vec<String> },
    /// Files were changed.
    Changed { paths: Vec<String> },
    /// Its result says that it was not allowed.
    Refused { what: String, words: String },
    /// A question was put, and its result says the answer.
    Answered { what: String, words: String },
    /// Somebody else worked on it and told what came of it, or the assistant thought aloud.
    Told { what: String, text: String },
    /// Anything else, with the beginning of what came back.
    Called { what: String, result: String },
    /// There is no result yet.
    Open { what: String },
}

/// The longest account of a call.
const CALL_CHARS: usize = 170;
/// What is quoted of a result.
const RESULT_CHARS: usize = 120;
/// Lines of a result that are put on one line, at most.
const DATA_LINES: usize = 24;
/// Lines of a search that are kept.
const HITS: usize = 3;
/// Lines of a search that are looked at.
const HIT_LINES: usize = 200;
const HIT_CHARS: usize = 130;
/// Words in the names of tools that look for something, and that let somebody else find out.
const SEARCHES: &[&str] = &[
    "grep", "glob", "search", "find", "list", "listdir", "ls", "rg", "ripgrep",
];
const TELLERS: &[&str] = &[
    "agent",
    "subagent",
    "task",
    "delegate",
    "webfetch",
    "websearch",
    "web",
    "fetch",
    "think",
];
/// Where people try things out.
const SCRATCH: &[&str] = &["/tmp", "/private/tmp", "/var/tmp", "$(mktemp"];
/// Before what was said about it.
const REFUSAL_WORDS: &[&str] = &["the user said:", "user said:", "feedback:"];

impl Story {
    /// Reads the story of a span.
    pub(crate) fn read<'a>(entries: impl Iterator<Item = (usize, &'a Message)> + Clone) -> Self {
        let mut story = Self {
            root: root::find(&entries.clone().map(|(_, message)| message)),
            ..Self::default()
        };
        let background = Background::of(entries.clone().map(|(_, message)| message));
        let mut results: HashMap<&str, &ToolResult> = HashMap::new();
        for (_, message) in entries.clone() {
            for result in message.results() {
                results.insert(&result.call_id, result);
            }
        }
        let mut heads: HashMap<&str, String> = HashMap::new();
        for (position, message) in entries.filter(|(_, message)| message.role == Role::Assistant) {
            // What nobody calls has no purpose.
            let said = message.calls().next().and_then(|_| message.spoken().last());
            let purpose = said.and_then(prose::purpose);
            let purpose = purpose.map(|purpose| story.told(purpose));
            for call in message.calls() {
                let result = results.get(&*call.id).copied();
                let head = background
                    .asked(&call.id)
                    .and_then(|began| heads.get(began));
                if let Some(head) = head.filter(|_| result.is_some()) {
                    story.asked.insert(call.id.clone(), head.clone());
                    continue;
                }
                let whole = result.and_then(|result| background.whole(result));
                if whole.is_some() {
                    let line = command_line(call).unwrap_or_default();
                    heads.insert(&call.id, story.told(&Command::of(&line).head));
                }
                story.take(
                    position,
                    call,
                    whole.as_ref().or(result),
                    purpose.as_deref(),
                );
            }
        }
        story
    }

    /// A text as the story tells it: paths from the root.
    pub(crate) fn told(&self, text: &str) -> String {
        from_root(text, self.folder())
    }

    /// The command that a call only asks about.
    pub(crate) fn asked(&self, call: &Call) -> Option<&str> {
        self.asked.get(&call.id).map(String::as_str)
    }

    /// The folder that paths are told from.
    pub(crate) fn folder(&self) -> Option<&str> {
        self.root.as_ref().map(|root| root.folder.as_str())
    }

    /// The path of a file as the story tells it.
    fn path(&self, path: &str) -> String {
        let path = self.told(path.trim());
        path.strip_prefix("./").map(str::to_owned).unwrap_or(path)
    }

    fn file(&mut self, path: &str) -> Option<&mut FileRecord> {
        let path = self.path(path);
        let next = self.files.len();
        let at = *self.paths.entry(path.clone()).or_insert(next);
        if at == next {
            self.files.push(FileRecord {
                path,
                ..FileRecord::default()
            });
        }
        self.files.get_mut(at)
    }

    fn take(
        &mut self,
        position: usize,
        call: &Call,
        result: Option<&ToolResult>,
        purpose: Option<&str>,
    ) {
        let text = result.map(|result| result.texts().collect::<Vec<_>>().join("\n"));
        let text = text.unwrap_or_default();
        let act = match result {
            None => Act::Open {
                what: self.line(call),
            },
            Some(_) if is_refused(&text) => self.refused(call, &text),
            Some(result) => match self.act(position, call, result, &text, purpose) {
                Some(act) => act,
                None => return,
            },
        };
        self.deeds.push(Deed { position, act });
    }

    /// What a call that has its result was; `None` where files or the plan tell all of it.
    fn act(
        &mut self,
        position: usize,
        call: &Call,
        result: &ToolResult,
        text: &str,
        purpose: Option<&str>,
    ) -> Option<Act> {
        let has_failed = is_failure(result, Some(call));
        if is_plan(call) {
            self.plan.take(position, call, text);
            return is_proposal(call)
                .then(|| self.proposed(call, text))
                .flatten();
        }
        if is_question(call) {
            let (what, words) = (self.line(call), self.told(text));
            return Some(Act::Answered {
                what,
                words: clip(&words, 2 * RESULT_CHARS),
            });
        }
        let is_patch = call.arguments.contains("*** Begin Patch");
        match access(call) {
            Some(Access::Modify) if has_failed => return None,
            Some(Access::Modify) => return self.changed(position, call, purpose),
            None if is_patch && !has_failed => return self.changed(position, call, purpose),
            Some(Access::Read) => {
                let path = paths(call).into_iter().next()?;
                let file = self.file(&path).filter(|_| !has_failed)?;
                file.read(text, position);
                file.is_read_for(purpose);
                return None;
            }
            None => {}
        }
        if let Some(line) = command_line(call) {
            return Some(self.ran(position, call, &line, text, result.is_error));
        }
        let words = name_words(&call.name);
        let is_any = |of: &[&str]| words.iter().any(|word| of.contains(&word.as_str()));
        if is_any(SEARCHES) && !is_any(&["web"]) {
            let hits = self.hits(text);
            return (!hits.is_empty()).then(|| Act::Searched {
                words: self.search_words(call),
                hits,
            });
        }
        if is_any(TELLERS) && text.len() > RESULT_CHARS {
            return Some(Act::Told {
                what: self.line(call),
                text: self.told(text),
            });
        }
        let printed: Vec<&str> = printed(text).take(DATA_LINES).collect();
        let result = self.told(&outcome::beginning(&printed, RESULT_CHARS));
        let what = self.line(call);
        let says_something = !result.is_empty() || what.split(' ').skip(1).any(is_word);
        says_something.then_some(Act::Called { what, result })
    }

    fn changed(&mut self, position: usize, call: &Call, purpose: Option<&str>) -> Option<Act> {
        let mut paths = Vec::new();
        for edit in change::edits(call) {
            let Some(file) = self.file(&edit.path) else {
                continue;
            };
            file.edit(&edit, position);
            file.is_edited_for(purpose);
            if !paths.contains(&file.path) {
                paths.push(file.path.clone());
            }
        }
        (!paths.is_empty()).then_some(Act::Changed { paths })
    }

    fn ran(&mut self, position: usize, call: &Call, line: &str, text: &str, is_error: bool) -> Act {
        let mut command = Command::of(line);
        command.purpose = described(call);
        command.head = self.told(&command.head);
        if command.head.contains("git ") && !self.is_elsewhere(line) {
            let is_pushed = command.head.contains("git push") && outcome::tells_push(text);
            if is_pushed {
                self.pushed = Some(position);
            }
            if command.head.contains("git status") && outcome::tells_clean(text) {
                self.clean = Some(position);
            }
            if let Some(commit) = Commit::told(text).filter(|_| command.head.contains("commit")) {
                self.branch = Some(commit.branch.clone());
                if command.head.contains("--amend") {
                    self.forget_commit();
                }
                // What was checked before it in the same line passed.
                if !command.checks.is_empty() && !is_error {
                    let outcome = Outcome::of(&command, text, is_error);
                    let act = Act::Ran { command, outcome };
                    self.deeds.push(Deed { position, act });
                }
                return Act::Committed { commit, is_pushed };
            } else if let Some(branch) = outcome::branch_told(text) {
                self.branch = Some(branch.to_owned());
            }
        }
        if command.head.contains("gh pr create") || command.head.contains("glab mr create") {
            self.review = outcome::review_told(text).map(str::to_owned);
        }
        if command.kind == CommandKind::Read
            && let Some(path) = command
                .head
                .split_whitespace()
                .rfind(|word| is_file_name(word))
        {
            let path = path.to_owned();
            if let Some(file) = self.file(&path) {
                file.read(text, position);
            }
        }
        if command.kind == CommandKind::Search {
            let hits = self.hits(text);
            let words = format!("`{}`", clip(&command.head, CALL_CHARS));
            return Act::Searched { words, hits };
        }
        let mut outcome = Outcome::of(&command, text, is_error);
        outcome.words = self.told(&outcome.words);
        for error in &mut outcome.errors {
            *error = self.told(error);
        }
        Act::Ran { command, outcome }
    }

    /// Whether a command line works in a repository that is made to try something out.
    fn is_elsewhere(&self, line: &str) -> bool {
        let is_scratch = |folder: &str| SCRATCH.iter().any(|place| folder.starts_with(place));
        let folder = line.trim_start_matches(['\\', '\n', ' ']);
        let folder = folder.strip_prefix("cd ").unwrap_or_default();
        line.contains("git init")
            || is_scratch(folder.trim_start_matches(['"', '\'']))
                && !self.folder().is_some_and(is_scratch)
    }

    /// The newest commit is replaced by another.
    fn forget_commit(&mut self) {
        let is_commit = |deed: &Deed| matches!(deed.act, Act::Committed { .. });
        if let Some(at) = self.deeds.iter().rposition(is_commit) {
            self.deeds.remove(at);
        }
    }

    /// A plan that was put before the user. What its result says of it is the word of a result.
    fn proposed(&self, call: &Call, text: &str) -> Option<Act> {
        let is_agreed = text.to_ascii_lowercase().contains("approved");
        let strings = strings(&call.arguments);
        let plan = strings.iter().find(|(name, _)| name == "plan")?.1.as_ref();
        let what = match is_agreed {
            true => "A plan was proposed (its result: approved)",
            false => "A plan was proposed",
        };
        (plan.len() > RESULT_CHARS).then(|| Act::Told {
            what: what.to_owned(),
            text: self.told(plan),
        })
    }

    fn refused(&self, call: &Call, text: &str) -> Act {
        let lower = text.to_ascii_lowercase();
        let said = REFUSAL_WORDS
            .iter()
            .find_map(|mark| Some(lower.find(mark)? + mark.len()));
        let words = said.and_then(|at| text.get(at..)).unwrap_or_default();
        Act::Refused {
            what: self.line(call),
            words: clip(words, 2 * RESULT_CHARS),
        }
    }

    /// The most telling lines that a search returned: those with words before those that are paths alone, and none of
    /// those that only stand around what was found.
    fn hits(&self, text: &str) -> Vec<String> {
        let lines = printed(text).take(HIT_LINES).map(str::trim);
        let lines = lines.filter(|line| {
            line.len() > 6 && !line.starts_with("Found ") && !line.starts_with("No ")
        });
        let lines = lines.filter(|line| !is_around(line));
        // Those that say where it is come first.
        let (placed, others): (Vec<&str>, Vec<&str>) = lines.partition(|line| line.contains(':'));
        let hits = placed.into_iter().chain(others).take(HITS);
        hits.map(|line| clip(&self.told(line), HIT_CHARS)).collect()
    }

    /// What a search tool was asked for, and where.
    fn search_words(&self, call: &Call) -> String {
        let strings = strings(&call.arguments);
        let value = |names: &[&str]| {
            let mut values = strings
                .iter()
                .filter(|(name, _)| names.contains(&plain_name(name).as_str()));
            values.next().map(|(_, value)| self.told(value))
        };
        let Some(pattern) = value(&["pattern", "query", "regex", "search"]) else {
            return self.line(call);
        };
        let place = value(&["path", "directory", "dir", "glob"]);
        let place = place.map_or_else(String::new, |place| format!(" in {place}"));
        clip(&format!("searched `{pattern}`{place}"), CALL_CHARS)
    }

    /// A call on one line: its name and what it was given.
    pub(crate) fn line(&self, call: &Call) -> String {
        let values = values(&call.arguments);
        let mut line = call.name.to_string();
        for value in values {
            if line.len() > CALL_CHARS {
                break;
            }
            line.push(' ');
            line.push_str(&value);
        }
        clip(&self.told(&line), CALL_CHARS)
    }
}
