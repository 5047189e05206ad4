//! Where the work stands: the plan, what fails, what passed, what version control has, what was said last.

use std::collections::{HashMap, HashSet};

use super::listing::few;
use super::read::Read;
use super::{Source, todo};
use crate::anchor::path_end;
use crate::message::{Call, ToolResult};
use crate::story::{
    Act, Check, Command, CommandKind, Commit, Deed, Outcome, Progress, Story, command_line,
    is_plan, printed, without_number,
};
use crate::summary::{DOING, Earlier, Line, LineKind, OPEN};
use crate::word_cut::clip;

/// How many of the newest steps are told, among so many entries, and how much of each.
const NEWEST: usize = 4;
const NEWEST_ENTRIES: usize = 12;
const NEWEST_CHARS: usize = 700;
/// How much is told of data that a step returned, and the least room for a step that does not fit whole.
const DATA_CHARS: usize = 160;
const LEAST_STEP_TOKENS: u64 = 60;
/// The longest quotation of one part of the plan, and how many parts are named.
const TASK_CHARS: usize = 140;
const OPEN_TASKS: usize = 14;
const DONE_TASKS: usize = 8;
const DONE_CHARS: usize = 80;
/// Failures that are told, and the lines of each.
const FAILURES: usize = 2;
const ERROR_LINES: usize = 5;
/// Checks that passed that are told, and how many of one kind.
const PASSED: usize = 4;
const PASSED_OF_KIND: usize = 2;
const COMMAND_CHARS: usize = 120;
const WORDS_CHARS: usize = 60;
/// Calls without a result that are told, the newest.
const OPEN_CALLS: usize = 3;
/// Changed files that are named beside the last commit.
const SINCE: usize = 8;
const SUBJECT_CHARS: usize = 100;

impl Source<'_> {
    /// What is told of where the work stands, within the room, the most telling first.
    pub(super) fn standing(&self, read: &Read, cap_tokens: u64) -> Vec<Line> {
        let story = &*read.story;
        let mut left = cap_tokens;
        let mut lines = self.plan_lines(story, &read.earlier);
        lines.extend(self.failing(story));
        lines.extend(passing(story));
        lines.extend(untested(story));
        lines.extend(versions(story));
        let newest_request = read.typed.last().map(|(position, _)| *position);
        if newest_request.is_none() || self.holds_latest_request {
            lines.extend(open_calls(story, newest_request));
        }
        let fits = |line: Line| {
            let text = self.shortened(&line.text, line.text.len(), left.min(cap_tokens / 2));
            left = left.checked_sub(self.cost(&text))?;
            (!text.is_empty()).then_some(Line { text, ..line })
        };
        lines.into_iter().filter_map(fits).collect()
    }

    /// The newest steps of the span, oldest first, with as much of what came of each as there is room for.
    pub(super) fn newest_steps(&self, story: &Story, cap_tokens: u64) -> Vec<Line> {
        let results: HashMap<&str, &ToolResult> = self
            .entries()
            .rev()
            .take(NEWEST_ENTRIES)
            .flat_map(|(_, message)| message.results())
            .map(|result| (&*result.call_id, result))
            .collect();
        let newest = self.entries().rev().take(NEWEST_ENTRIES);
        let calls = newest.flat_map(|(position, message)| {
            let calls: Vec<&Call> = message.calls().collect();
            calls.into_iter().rev().map(move |call| (position, call))
        });
        let steps = calls.filter_map(|(position, call)| {
            let result = results.get(&*call.id)?;
            let text = result.texts().collect::<Vec<_>>().join("\n");
            let command = command_line(call).map(|line| Command::of(&line));
            // What passed or was committed is told above.
            let is_told = |command: &Command| {
                let is_check = matches!(command.kind, CommandKind::Check(_));
                let outcome = || Outcome::of(command, &text, result.is_error);
                is_check && outcome().is_good == Some(true) || Commit::told(&text).is_some()
            };
            if is_plan(call) || command.as_ref().is_some_and(is_told) {
                return None;
            }
            let printed = printed(&text).map(|line| without_number(line).trim());
            let printed: Vec<&str> = printed.filter(|line| !line.is_empty()).collect();
            let told = story.told(&printed.join(" / "));
            let told = match told.starts_with(['{', '[']) {
                true => clip(&told, DATA_CHARS),
                false => told,
            };
            let what = match (command, story.asked(call)) {
                (Some(command), _) => {
                    format!("`{}`", clip(&story.told(&command.head), COMMAND_CHARS))
                }
                (None, Some(head)) => format!("`{}` went on", clip(head, COMMAND_CHARS)),
                (None, None) => story.line(call),
            };
            (!told.is_empty()).then_some((position, what, told))
        });
        let mut left = cap_tokens;
        let mut lines = Vec::new();
        for (position, call, result) in steps.take(NEWEST) {
            let room = left.min(cap_tokens / 2);
            let text = format!("{call} => {result}");
            // Where only pieces of it fit it tells nothing.
            let is_short = self.meter.text(&text) <= room || room >= LEAST_STEP_TOKENS;
            let text = self.shortened(&text, NEWEST_CHARS, room);
            let Some(rest) = left
                .checked_sub(self.cost(&text))
                .filter(|_| is_short && !text.is_empty())
            else {
                break;
            };
            left = rest;
            lines.push(line(position, text));
        }
        lines.reverse();
        lines
    }

    fn plan_lines(&self, story: &Story, earlier: &Earlier) -> Vec<Line> {
        let plan = &story.plan;
        let listed = self
            .entries()
            .rev()
            .find_map(|(position, message)| Some((position, todo::open_items(message)?)));
        let is_newer = |(position, _): &(usize, Vec<String>)| *position > plan.position;
        if !plan.tasks.is_empty() && !listed.as_ref().is_some_and(is_newer) {
            let told = |label: &str, progress, most: usize, chars| {
                let tasks: Vec<&str> = plan.so_far(progress).collect();
                let from = match progress {
                    Progress::Done => tasks.len().saturating_sub(most),
                    _ => 0,
                };
                let shown = tasks
                    .iter()
                    .skip(from)
                    .take(most)
                    .map(|task| clip(task, chars));
                let shown = shown.collect::<Vec<_>>().join("; ");
                (!shown.is_empty()).then(|| line(plan.position, format!("{label}{shown}")))
            };
            let done = plan.so_far(Progress::Done).count();
            let done = format!("Done ({}): ", few(done));
            return [
                told(DOING, Progress::Doing, OPEN_TASKS, TASK_CHARS),
                told(OPEN, Progress::Open, OPEN_TASKS, TASK_CHARS),
                told(&done, Progress::Done, DONE_TASKS, DONE_CHARS),
            ]
            .into_iter()
            .flatten()
            .collect();
        }
        let (position, items) =
            listed.unwrap_or_else(|| (self.first_position(), earlier.open.clone()));
        let items = items
            .iter()
            .take(OPEN_TASKS)
            .map(|item| clip(item, TASK_CHARS));
        items
            .map(|item| line(position, format!("{OPEN}{item}")))
            .collect()
    }

    /// Checks that failed and did not succeed since, and the last command if it failed.
    fn failing(&self, story: &Story) -> Vec<Line> {
        let mut open: Vec<(Check, usize, &Command, &Outcome)> = Vec::new();
        for (position, command, outcome) in runs(story) {
            let CommandKind::Check(check) = command.kind else {
                continue;
            };
            match outcome.is_good {
                Some(true) => open.retain(|(known, ..)| !command.checks.contains(known)),
                Some(false) => open.retain(|(known, ..)| *known != check),
                None => {}
            }
            if outcome.is_good == Some(false) {
                open.push((check, position, command, outcome));
            }
        }
        let last = story.deeds.last().and_then(|deed| match &deed.act {
            Act::Ran { command, outcome } if outcome.is_good == Some(false) => {
                Some((deed.position, command, outcome))
            }
            _ => None,
        });
        let open = open
            .into_iter()
            .map(|(_, position, command, outcome)| (position, command, outcome));
        let mut open: Vec<_> = open.chain(last).collect();
        open.sort_by_key(|(position, ..)| std::cmp::Reverse(*position));
        open.dedup_by_key(|(position, ..)| *position);
        let open = open.into_iter().take(FAILURES);
        open.map(|(position, command, outcome)| {
            let mut text = format!("Failing now: {}", command.quoted(COMMAND_CHARS));
            for error in outcome.errors.iter().take(ERROR_LINES) {
                text.push('\n');
                text.push_str(error);
            }
            line(position, text)
        })
        .collect()
    }
}

fn line(position: usize, text: String) -> Line {
    Line {
        position,
        text,
        kind: LineKind::Said,
    }
}

fn runs(story: &Story) -> impl DoubleEndedIterator<Item = (usize, &Command, &Outcome)> {
    story.deeds.iter().filter_map(|deed| match &deed.act {
        Act::Ran { command, outcome } => Some((deed.position, command, outcome)),
        _ => None,
    })
}

/// The newest checks that passed and did not fail since: a narrow one does not hide the wide one before it.
fn passing(story: &Story) -> Option<Line> {
    let last_edit = story.files.iter().filter_map(|file| file.last_edit).max();
    let (mut answered, mut failed): (Vec<Check>, Vec<Check>) = (Vec::new(), Vec::new());
    let mut known: HashSet<&str> = HashSet::new();
    let mut passed: Vec<Check> = Vec::new();
    let mut told = Vec::new();
    let mut newest = None;
    for (position, command, outcome) in runs(story).rev() {
        let CommandKind::Check(check) = command.kind else {
            continue;
        };
        // The newest run of a command tells, and a failure counts that no later success of its kind answered.
        let is_newest = outcome.is_good.is_some() && known.insert(&command.head);
        match outcome.is_good {
            Some(true) => answered.extend(&command.checks),
            Some(false) if !answered.contains(&check) => failed.push(check),
            _ => {}
        }
        let same = passed.iter().filter(|one| **one == check).count();
        let is_over = command.checks.iter().any(|one| failed.contains(one));
        if outcome.is_good != Some(true) || !is_newest || is_over || same == PASSED_OF_KIND {
            continue;
        }
        passed.push(check);
        newest.get_or_insert(position);
        let words = clip(&outcome.words, WORDS_CHARS);
        let when = match last_edit.is_some_and(|edit| edit > position) {
            true => " (before the last edits)",
            false => "",
        };
        let command = command.quoted(COMMAND_CHARS);
        told.push(format!("{command} -> {words}{when}"));
        if told.len() == PASSED {
            break;
        }
    }
    Some(line(newest?, format!("Passed: {}", told.join("; "))))
}

fn versions(story: &Story) -> Option<Line> {
    let mut told = Vec::new();
    told.extend(
        story
            .branch
            .as_ref()
            .map(|branch| format!("branch {branch}")),
    );
    let last = story.deeds.iter().rev().find_map(|deed| match &deed.act {
        Act::Committed { commit, .. } => Some((deed.position, commit)),
        _ => None,
    });
    let last_edit = story.files.iter().filter_map(|file| file.last_edit).max();
    if let Some((position, commit)) = last {
        let pushed = match story.pushed.is_some_and(|push| push >= position) {
            true => "pushed",
            false => "no push since",
        };
        told.push(format!(
            "last commit {} \"{}\" ({pushed})",
            commit.id,
            clip(&commit.subject, SUBJECT_CHARS)
        ));
        let since = story
            .files
            .iter()
            .filter(|file| file.last_edit.is_some_and(|edit| edit > position));
        let since: Vec<&str> = since.map(|file| path_end(&file.path)).collect();
        let named = since
            .iter()
            .take(SINCE)
            .copied()
            .collect::<Vec<_>>()
            .join(", ");
        if !named.is_empty() {
            told.push(format!("edited since: {named}"));
        } else if !may_have_changed(story, position) {
            told.push(String::from("no edits since"));
        }
    } else if last_edit.is_some() && (story.branch.is_some() || !may_have_committed(story)) {
        told.push(String::from("nothing committed in these messages"));
    }
    if story.clean.is_some_and(|clean| last_edit < Some(clean)) {
        told.push(String::from("working tree clean"));
    }
    told.extend(story.review.as_ref().map(|url| format!("opened {url}")));
    let position = last.map_or(0, |(position, _)| position);
    (!told.is_empty()).then(|| line(position, format!("Git: {}", told.join("; "))))
}

/// Whether a step behind an entry may have changed files without naming them: a command, or somebody else.
fn may_have_changed(story: &Story, position: usize) -> bool {
    let since = story.deeds.iter().rev();
    since
        .take_while(|deed| deed.position > position)
        .any(|deed| match &deed.act {
            Act::Ran { command, .. } => {
                matches!(command.kind, CommandKind::Files | CommandKind::Run)
            }
            Act::Told { .. } | Act::Called { .. } => true,
            _ => false,
        })
}

/// Whether a step may have committed something without git saying so: a command that speaks of it, or somebody else.
fn may_have_committed(story: &Story) -> bool {
    story.deeds.iter().any(|deed| match &deed.act {
        Act::Ran { command, .. } => {
            command.kind == CommandKind::Run || command.head.contains("commit")
        }
        Act::Told { .. } | Act::Called { .. } | Act::Open { .. } => true,
        _ => false,
    })
}

/// That nothing was tested, where files were edited and no command may have been a check.
fn untested(story: &Story) -> Option<Line> {
    let last_edit = story.files.iter().filter_map(|file| file.last_edit).max()?;
    let may_test = |deed: &Deed| match &deed.act {
        Act::Ran { command, .. } => {
            matches!(command.kind, CommandKind::Check(_) | CommandKind::Run)
                || ["test", "check", "build"]
                    .iter()
                    .any(|word| command.head.contains(word))
        }
        Act::Told { .. } | Act::Called { .. } | Act::Open { .. } => true,
        _ => false,
    };
    let is_untested = !story.deeds.iter().any(may_test);
    is_untested.then(|| line(last_edit, String::from("No test run in these messages")))
}

/// Calls of the newest request that have no result. What was cut off before an earlier request is over.
fn open_calls(story: &Story, newest_request: Option<usize>) -> Option<Line> {
    let open = story.deeds.iter().filter_map(|deed| match &deed.act {
        Act::Open { what } if newest_request.is_none_or(|request| deed.position > request) => {
            Some((deed.position, what.as_str()))
        }
        _ => None,
    });
    let (position, _) = open.clone().next_back()?;
    let mut calls: Vec<&str> = open.rev().take(OPEN_CALLS).map(|(_, what)| what).collect();
    calls.reverse();
    Some(line(
        position,
        format!("Started, no result yet: {}", calls.join("; ")),
    ))
}
