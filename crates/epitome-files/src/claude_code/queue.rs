//! What waits in Claude Code's queue while it works.
//!
//! An `enqueue` carries the text. From there it goes one of three ways: `remove` hands it to the model together with the
//! results of the calls that run, and no other entry repeats it; `dequeue` makes it a user entry of its own; `popAll`
//! gives it back to the user, who edits it. Newer versions repeat what they hand to the model in an attachment
//! (`queued_command`), which has an id and stands where it was delivered. Older versions do not say which text leaves,
//! so it is found by the order they keep: prompts before anything else, and what the client tells itself about its
//! tasks before notifications.

use std::collections::VecDeque;

use epitome::{Block, Message, Role};
use epitome_wire::json;

use super::origin;
use crate::blocks::{NOTIFICATION, content, flat_text};
use crate::event::Origin;
use crate::lines::Entry;

/// The reason of a `remove` that handed the text to the model; older versions give none.
const ABSORBED: &str = "absorbed_mid_turn";

/// How many texts are remembered for attachments that come late.
const MOST_TOLD: usize = 64;

/// A text that was queued.
pub(super) struct Queued {
    pub(super) message: Message,
    /// The entry that carries the text.
    pub(super) origin: Origin,
    text: String,
}

/// Everything that was queued and is not a message yet.
#[derive(Default)]
pub(super) struct Queue {
    prompts: VecDeque<Queued>,
    notifications: VecDeque<Queued>,
    /// How many notes of the client to itself wait; the model never gets them.
    tasks: usize,
    /// Taken out to become user entries.
    dequeued: VecDeque<Queued>,
    /// Handed to the model, behind the results that may still come.
    delivered: VecDeque<Queued>,
    /// The texts that became messages here, whose attachments may come late.
    told: VecDeque<String>,
    /// The texts that an attachment handed over and whose removal has not been said yet.
    attached: VecDeque<String>,
}

/// Whether what an attachment hands over is a message already.
pub(super) enum Delivery {
    New,
    Told,
}

/// What a queued text is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lane {
    Prompt,
    Notification,
    Task,
}

impl Queue {
    /// Follows one `queue-operation`.
    pub(super) fn follow(&mut self, entry: &Entry<'_>) {
        let value = &entry.value;
        let message = Message {
            role: Role::User,
            blocks: content(value.get("content"), Role::User, entry.bytes),
        };
        let text = flat_text(&message).trim().to_owned();
        match value.string("operation").as_deref() {
            Some("enqueue") if !text.is_empty() => self.enqueue(Queued {
                message,
                origin: origin(entry),
                text,
            }),
            Some("remove") => {
                let removed = self.remove(&text);
                let reason = value.string("reason");
                if reason.is_none_or(|reason| reason == ABSORBED) {
                    self.delivered.extend(removed);
                }
            }
            Some("dequeue") => {
                let first = self.prompts.pop_front();
                let first = first.or_else(|| self.notifications.pop_front());
                self.dequeued.extend(first);
            }
            // Newer versions write one line for each text, older ones one for all.
            Some("popAll") if take(&mut self.prompts, &text).is_none() => {
                self.prompts.clear();
                self.notifications.clear();
                self.tasks = 0;
            }
            _ => {}
        }
    }

    fn enqueue(&mut self, queued: Queued) {
        match lane(&queued.text) {
            Lane::Prompt => self.prompts.push_back(queued),
            Lane::Notification => self.notifications.push_back(queued),
            Lane::Task => self.tasks += 1,
        }
    }

    /// An attachment hands over a text, with or without a `remove` before it or behind it.
    pub(super) fn attached(&mut self, message: &Message) -> Delivery {
        let text = flat_text(message).trim().to_owned();
        if let Some(at) = self.told.iter().position(|told| *told == text) {
            self.told.remove(at);
            return Delivery::Told;
        }
        if text.is_empty() {
            return Delivery::Told;
        }
        if take(&mut self.delivered, &text).is_none() {
            let prompt = take(&mut self.prompts, &text);
            if prompt.is_some() || take(&mut self.notifications, &text).is_some() {
                self.attached.push_back(text);
            }
        }
        Delivery::New
    }

    /// What a `remove` takes, unless it is a note of the client to itself.
    fn remove(&mut self, text: &str) -> Option<Queued> {
        let at = self
            .attached
            .iter()
            .position(|told| text.is_empty() || told == text);
        if let Some(at) = at {
            self.attached.remove(at);
            return None;
        }
        if text.is_empty() {
            let prompt = self.prompts.pop_front();
            if prompt.is_some() || self.tasks == 0 {
                return prompt.or_else(|| self.notifications.pop_front());
            }
        }
        match lane(text) {
            Lane::Prompt if !text.is_empty() => take(&mut self.prompts, text),
            Lane::Notification => take(&mut self.notifications, text),
            _ => {
                self.tasks = self.tasks.saturating_sub(1);
                None
            }
        }
    }

    /// A user entry says this: what of it was queued is no message a second time.
    pub(super) fn said(&mut self, blocks: &[Block]) {
        for block in blocks {
            let (Block::Text(text) | Block::Injected(text)) = block else {
                continue;
            };
            let text = text.trim();
            if take(&mut self.dequeued, text).is_some() {
                continue;
            }
            // Something else was removed or dequeued than it seemed.
            if take(&mut self.delivered, text).is_some() {
                self.tasks = self.tasks.saturating_sub(1);
                self.give_back();
            } else if take(&mut self.prompts, text).is_some()
                || take(&mut self.notifications, text).is_some()
            {
                self.give_back();
            }
        }
    }

    fn give_back(&mut self) {
        if let Some(queued) = self.dequeued.pop_front() {
            match lane(&queued.text) {
                Lane::Prompt => self.prompts.push_front(queued),
                _ => self.notifications.push_front(queued),
            }
        }
    }

    /// The next text that was handed to the model.
    pub(super) fn next_delivered(&mut self) -> Option<Queued> {
        let delivered = self.delivered.pop_front()?;
        self.told.push_back(delivered.text.clone());
        if self.told.len() > MOST_TOLD {
            self.told.pop_front();
        }
        Some(delivered)
    }

    /// An answer begins: what was dequeued for it was said, as it was or in other words.
    pub(super) fn answered(&mut self) {
        self.dequeued.clear();
    }
}

/// Takes out the first with this text.
fn take(lane: &mut VecDeque<Queued>, text: &str) -> Option<Queued> {
    let at = lane.iter().position(|queued| queued.text == text)?;
    lane.remove(at)
}

fn lane(text: &str) -> Lane {
    if text.starts_with(NOTIFICATION) {
        return Lane::Notification;
    }
    let is_task = text.starts_with('{')
        && json::read(text.as_bytes()).is_ok_and(|note| {
            note.string("task_id").is_some() && note.string("task_type").is_some()
        });
    if is_task { Lane::Task } else { Lane::Prompt }
}
