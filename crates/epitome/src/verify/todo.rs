//! To-dos that the model keeps by its tools and that are open.

use std::collections::BTreeMap;

use crate::files;
use crate::message::{Call, Message};

/// The open to-dos of a source, oldest first: of the newest list, and of tasks that were made one by one.
pub(super) fn open<'a>(source: impl Iterator<Item = &'a Message>) -> Vec<String> {
    let mut list: Vec<String> = Vec::new();
    let mut tasks: BTreeMap<u64, String> = BTreeMap::new();
    for call in source.flat_map(Message::calls) {
        match plain(&call.name).as_str() {
            "todowrite" | "updateplan" | "writetodos" | "todolist" | "updatetodos" => {
                list = listed(call);
            }
            "taskcreate" => {
                let next = tasks.last_key_value().map_or(1, |(number, _)| number + 1);
                tasks.extend(value(call, "subject").map(|subject| (next, subject)));
            }
            "taskupdate" => {
                let number = value(call, "taskId").and_then(|id| id.parse().ok());
                let status = value(call, "status");
                let is_over = status.as_deref().is_some_and(is_over);
                if let Some(number) = number.filter(|_| is_over) {
                    // The place stays, so that the next one gets the next number.
                    tasks.entry(number).and_modify(String::clear);
                }
            }
            _ => {}
        }
    }
    list.extend(tasks.into_values().filter(|subject| !subject.is_empty()));
    list
}

/// The items of a list that are not over.
fn listed(call: &Call) -> Vec<String> {
    let mut items: Vec<(Option<String>, Option<String>)> = Vec::new();
    for (name, value) in files::strings(&call.arguments) {
        let is_text = matches!(&*name, "content" | "step" | "task" | "title" | "text");
        if !is_text && name != "status" {
            continue;
        }
        let is_full = items.last().is_none_or(|(text, status)| {
            if is_text {
                text.is_some()
            } else {
                status.is_some()
            }
        });
        if is_full {
            items.push((None, None));
        }
        if let Some(last) = items.last_mut() {
            let place = if is_text { &mut last.0 } else { &mut last.1 };
            *place = Some(value.into_owned());
        }
    }
    items
        .into_iter()
        .filter(|(_, status)| !status.as_deref().is_some_and(is_over))
        .filter_map(|(text, _)| text)
        .collect()
}

fn is_over(status: &str) -> bool {
    matches!(
        status,
        "completed" | "done" | "deleted" | "cancelled" | "canceled"
    )
}

fn value(call: &Call, wanted: &str) -> Option<String> {
    files::strings(&call.arguments)
        .into_iter()
        .find(|(name, _)| name == wanted)
        .map(|(_, value)| value.into_owned())
}

fn plain(name: &str) -> String {
    let last = name.rsplit("__").next().unwrap_or(name);
    last.chars()
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect()
}
