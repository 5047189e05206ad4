//! What an agent noted as its plan, in whichever tool it keeps it.

use crate::files::{name_words, plain_name, strings};
use crate::message::Call;
use crate::word_cut::clip;

/// How far a part of the plan is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    Done,
    Doing,
    Open,
}

/// A part of the plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Task {
    pub(crate) text: String,
    pub(crate) progress: Progress,
    id: Option<String>,
}

/// The plan as it stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) tasks: Vec<Task>,
    /// The entry that changed it last.
    pub(crate) position: usize,
}

/// The longest quotation of one part.
const TASK_CHARS: usize = 160;
/// Words in a tool's name that make it one for notes of this kind, where it is given a list of things to do.
const WORDS: &[&str] = &[
    "todo",
    "todos",
    "todowrite",
    "plan",
    "updateplan",
    "tasktracker",
];
/// Tools that keep a plan whatever they are given.
const TOOLS: &[&str] = &["taskcreate", "taskupdate", "tasktracker", PROPOSAL];
/// The tool by which a plan is put before the user.
const PROPOSAL: &str = "exitplanmode";
/// Names under which such tools take what is to do, how far it is, and which one is meant.
const ITEMS: &[&str] = &["content", "step", "text", "title", "task", "subject"];
const STATES: &[&str] = &["status", "state"];
const IDS: &[&str] = &["taskid", "id"];
/// States of what is done with.
const CLOSED: &[&str] = &[
    "completed",
    "complete",
    "done",
    "cancelled",
    "canceled",
    "deleted",
];
const DOING: &[&str] = &["in_progress", "in-progress", "active", "doing"];

/// Whether a call keeps a plan.
pub(crate) fn is_plan(call: &Call) -> bool {
    let is_noted = || {
        let words = name_words(&call.name);
        words.iter().any(|word| WORDS.contains(&word.as_str())) && !tasks(call).is_empty()
    };
    TOOLS.contains(&plain_name(&call.name).as_str()) || is_noted()
}

/// Whether a call puts a plan before the user.
pub(crate) fn is_proposal(call: &Call) -> bool {
    plain_name(&call.name) == PROPOSAL
}

impl Plan {
    /// Takes over what a call says of the plan; `result` is what the tool answered.
    pub(crate) fn take(&mut self, position: usize, call: &Call, result: &str) {
        let name = plain_name(&call.name);
        let tasks = tasks(call);
        match name.as_str() {
            "taskcreate" => {
                let id = result.split_once('#').map(|(_, behind)| behind);
                let id = id.map(|rest| {
                    rest.chars()
                        .take_while(char::is_ascii_digit)
                        .collect::<String>()
                });
                let id = id
                    .filter(|id| !id.is_empty())
                    .unwrap_or_else(|| (self.tasks.len() + 1).to_string());
                let subject = tasks.into_iter().next();
                self.tasks.extend(subject.map(|task| Task {
                    id: Some(id),
                    ..task
                }));
            }
            "taskupdate" => self.update(call),
            _ if tasks.is_empty() => return,
            _ => self.tasks = tasks,
        }
        self.position = position;
    }

    fn update(&mut self, call: &Call) {
        let strings = strings(&call.arguments);
        let value = |names: &[&str]| {
            let mut values = strings
                .iter()
                .filter(|(name, _)| names.contains(&plain_name(name).as_str()));
            values.next().map(|(_, value)| value.as_ref())
        };
        let Some(id) = value(IDS) else {
            return;
        };
        let task = self
            .tasks
            .iter_mut()
            .find(|task| task.id.as_deref() == Some(id));
        if let Some((task, state)) = task.zip(value(STATES)) {
            task.progress = progress(state);
        }
    }

    /// The parts that are so far.
    pub(crate) fn so_far(&self, progress: Progress) -> impl Iterator<Item = &str> {
        let tasks = self
            .tasks
            .iter()
            .filter(move |task| task.progress == progress);
        tasks.map(|task| task.text.as_str())
    }
}

fn progress(state: &str) -> Progress {
    match state {
        state if CLOSED.contains(&state) => Progress::Done,
        state if DOING.contains(&state) => Progress::Doing,
        _ => Progress::Open,
    }
}

fn tasks(call: &Call) -> Vec<Task> {
    let mut tasks: Vec<(Task, bool)> = Vec::new();
    let mut early = None;
    for (name, value) in strings(&call.arguments) {
        let name = plain_name(&name);
        if ITEMS.contains(&name.as_str()) {
            let task = Task {
                text: clip(&value, TASK_CHARS),
                progress: early.unwrap_or(Progress::Open),
                id: None,
            };
            tasks.push((task, early.take().is_some()));
        } else if STATES.contains(&name.as_str()) {
            match tasks.last_mut().filter(|(_, has_state)| !has_state) {
                Some((task, has_state)) => {
                    task.progress = progress(&value);
                    *has_state = true;
                }
                None => early = Some(progress(&value)),
            }
        }
    }
    tasks.into_iter().map(|(task, _)| task).collect()
}
