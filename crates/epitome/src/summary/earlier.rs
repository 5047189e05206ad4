//! What an earlier summary says, read back from its text.

use super::{
    BRIEF_HEADING, CHANGED_HEADING, CLIENT_RULES_HEADING, DOING, FAILURES_HEADING, KIND_HEADINGS,
    LATEST_HEADING, LOG_HEADING, LineKind, NAMED, NAMED_HEADING, NAMES_HEADING, OPEN, OPEN_HEADING,
    PATH_GAP, READ_HEADING, RULES_HEADING, SAID_HEADING, STANDING_HEADING, SUPERSEDED,
    TASK_HEADING, TURN_HEADING, USER, WRITTEN_HEADING,
};
use crate::pin;
use crate::reference::layer;
use crate::signature::{self, split_body};

/// The lines an earlier summary of this engine holds, so that a next round can go on from them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Earlier {
    /// Instructions that were in force.
    pub pins: Vec<String>,
    /// The first request, if the summary held it.
    pub task: Option<String>,
    /// Results that the user named.
    pub named: Vec<String>,
    /// What the user said.
    pub said: Vec<String>,
    /// Files that were changed.
    pub changed: Vec<String>,
    /// What was done and found.
    pub record: Vec<(LineKind, String)>,
    /// What was still to do.
    pub open: Vec<String>,
    /// Files that were read.
    pub read: Vec<String>,
    /// Tools that failed, and how.
    pub failures: Vec<String>,
}

impl Earlier {
    /// Reads the first unaltered summary of this engine in `text`.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        let (body, _) = split_body(text)?;
        let mut earlier = Self {
            pins: signature::pins(body).map(str::to_owned).collect(),
            ..Self::default()
        };
        let mut heading = "";
        // Whether the newest line of the log is one of the user.
        let mut is_said = false;
        let mut task = Vec::new();
        let mut latest = Vec::new();
        for line in body.lines() {
            if line.starts_with("## ") {
                heading = line;
                continue;
            }
            if let Some(more) = line.strip_prefix("  ")
                && let Some(item) = earlier.last_item(heading, is_said)
            {
                item.push('\n');
                item.push_str(more);
                continue;
            }
            let item = line.strip_prefix("- ");
            match (heading, item) {
                (NAMED_HEADING, Some(item)) => earlier.named.push(item.to_owned()),
                (SAID_HEADING, Some(item)) => earlier.said.push(item.to_owned()),
                (OPEN_HEADING, Some(item)) => earlier.open.push(item.to_owned()),
                (STANDING_HEADING, Some(item)) => {
                    let open = [DOING, OPEN]
                        .iter()
                        .find_map(|label| item.strip_prefix(label));
                    let open = open.into_iter().flat_map(|items| items.split("; "));
                    earlier.open.extend(open.map(str::to_owned));
                }
                (LOG_HEADING, None) => {
                    let said = line.strip_prefix(USER).map(str::to_owned);
                    is_said = said.is_some();
                    earlier.said.extend(said);
                }
                (LOG_HEADING, Some(item)) => {
                    is_said = false;
                    let superseded = item.strip_prefix(SUPERSEDED);
                    earlier.record.push(match superseded {
                        Some(item) => (LineKind::Superseded, item.to_owned()),
                        None => (LineKind::Done, item.to_owned()),
                    });
                }
                (
                    NAMES_HEADING | RULES_HEADING | CLIENT_RULES_HEADING | BRIEF_HEADING,
                    Some(item),
                ) => {
                    earlier.record.push((LineKind::Found, item.to_owned()));
                }
                (CHANGED_HEADING, Some(item)) => {
                    let path = item.split(" (").next().unwrap_or(item);
                    earlier.changed.push(path.to_owned());
                }
                (CHANGED_HEADING, None) => {
                    let paths = line.split(PATH_GAP).filter(|path| !path.is_empty());
                    earlier.changed.extend(paths.map(str::to_owned));
                }
                (READ_HEADING, None) => {
                    let paths = line.split(PATH_GAP).filter(|path| !path.is_empty());
                    earlier.read.extend(paths.map(str::to_owned));
                }
                (FAILURES_HEADING, Some(item)) => earlier.failures.push(item.to_owned()),
                (TURN_HEADING, Some(item)) => {
                    earlier.record.push((LineKind::Done, item.to_owned()));
                }
                (WRITTEN_HEADING, item) => {
                    let text = item.unwrap_or(line).trim();
                    if !text.is_empty() && !text.starts_with("###") {
                        earlier.record.push((LineKind::Done, text.to_owned()));
                    }
                }
                (LATEST_HEADING, _) if !line.is_empty() => latest.push(line.to_owned()),
                (TASK_HEADING, _) if !line.is_empty() => task.push(line),
                (_, Some(item)) => {
                    let kind = KIND_HEADINGS.iter().find(|(known, _)| *known == heading);
                    let record = kind.map(|(_, kind)| (*kind, item.to_owned()));
                    earlier.record.extend(record);
                }
                _ => {}
            }
        }
        // It stands in front, but it is newer than what was said before it.
        earlier.said.extend(latest);
        earlier.task = (!task.is_empty()).then(|| task.join("\n"));
        Some(earlier)
    }

    /// The item that was read last under a heading of quoted lines.
    fn last_item(&mut self, heading: &str, is_said: bool) -> Option<&mut String> {
        match heading {
            NAMED_HEADING => self.named.last_mut(),
            SAID_HEADING => self.said.last_mut(),
            LOG_HEADING if is_said => self.said.last_mut(),
            OPEN_HEADING => self.open.last_mut(),
            LOG_HEADING | NAMES_HEADING | TURN_HEADING | BRIEF_HEADING => {
                self.record.last_mut().map(|(_, text)| text)
            }
            _ => {
                let (kind, text) = self.record.last_mut()?;
                let is_here = KIND_HEADINGS.contains(&(heading, *kind));
                is_here.then_some(text)
            }
        }
    }

    /// Reads a summary of the design that goes in rounds.
    #[must_use]
    pub fn read_round(text: &str) -> Option<Self> {
        let body = text.strip_prefix(layer::SUMMARY_MARK)?;
        let mut earlier = Self::default();
        let mut heading = String::new();
        let mut task = Vec::new();
        for line in unfolded(body) {
            if let Some(name) = line.strip_prefix("### ") {
                heading = name.to_owned();
                continue;
            }
            match (heading.as_str(), line.strip_prefix("- ")) {
                ("Key Technical Decisions", Some(item)) if pin::is_pin(item) => {
                    earlier.pins.push(item.to_owned());
                }
                ("Key Technical Decisions", Some(item)) => earlier.said.push(item.to_owned()),
                ("Completed Work", Some(item)) if item.starts_with(NAMED) => {
                    earlier
                        .named
                        .extend(item.strip_prefix(NAMED).map(str::to_owned));
                }
                ("Completed Work", Some(item)) => {
                    earlier.record.push((LineKind::Found, item.to_owned()));
                }
                ("Errors & Resolutions", Some(item)) => {
                    earlier.record.push((LineKind::Failed, item.to_owned()));
                }
                ("Original Task", _) if !line.is_empty() => task.push(line.clone()),
                _ => {}
            }
        }
        earlier.task = (!task.is_empty()).then(|| task.join("\n"));
        Some(earlier)
    }
}

/// The lines of a text, with what is indented under an item as a part of the item.
fn unfolded(body: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for line in body.lines() {
        match (line.strip_prefix("  "), lines.last_mut()) {
            (Some(more), Some(item)) if item.starts_with("- ") => {
                item.push('\n');
                item.push_str(more);
            }
            _ => lines.push(line.to_owned()),
        }
    }
    lines
}
