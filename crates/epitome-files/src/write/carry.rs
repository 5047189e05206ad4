//! What of a conversation a format can hold.

mod replaced;

use std::collections::HashSet;

use epitome::{Block, FileOperations, Message, ResultPart, Role, ToolResult};

use super::Unwritable;
use crate::blocks::{flat_text, is_put_in, said};
use crate::event::{Kept, Recorded, RecordedKind};
use crate::format::FileFormat;
use crate::transcript::Conversation;

/// Something that a format has no place for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// What it is.
    pub code: LossCode,
    /// In which message of the conversation, from 0.
    pub message: usize,
}

/// The kinds of losses: a closed set of codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum LossCode {
    /// Thinking, which only its provider can read, is left out.
    Thinking,
    /// A picture, document or sound is replaced by a word.
    Media,
    /// A block of an unknown kind is left out.
    Opaque,
    /// Text that a client put in by itself stands as if somebody had said it.
    Injected,
    /// A call that the user made, and its result, stand as text.
    UserCall,
    /// A message of which nothing is left is left out.
    EmptyMessage,
    /// What a history that replaced an earlier one holds besides its summary and its end is told in the summary.
    Replacement,
    /// A reset stands as a compaction without a summary.
    Reset,
    /// What a compaction tells of files is left out.
    FileOperations,
    /// What the model saw besides the messages is left out.
    Unshown,
}

impl LossCode {
    /// The stable code.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Thinking => "thinking",
            Self::Media => "media",
            Self::Opaque => "opaque",
            Self::Injected => "injected",
            Self::UserCall => "user_call",
            Self::EmptyMessage => "empty_message",
            Self::Replacement => "replacement",
            Self::Reset => "reset",
            Self::FileOperations => "file_operations",
            Self::Unshown => "unshown",
        }
    }

    /// What happens, in words.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Thinking => "thinking is left out",
            Self::Media => "pictures, documents and sounds are replaced by a word",
            Self::Opaque => "blocks of unknown kinds are left out",
            Self::Injected => "text that a client put in stands as if it had been said",
            Self::UserCall => "calls that the user made stand as text",
            Self::EmptyMessage => "messages of which nothing is left are left out",
            Self::Replacement => "a replaced history is told in the summary, except for its end",
            Self::Reset => "a reset stands as a compaction without a summary",
            Self::FileOperations => "what a compaction tells of files is left out",
            Self::Unshown => {
                "what the model saw besides the messages (attachments, searches) is left out"
            }
        }
    }
}

/// The conversation as a file of `format` can hold it, and what it cannot. Reading what [`write_file`] makes of a
/// conversation gives this.
///
/// [`write_file`]: super::write_file
///
/// # Errors
/// [`Unwritable`] for a format that is only read.
pub fn carried(
    conversation: &Conversation,
    format: FileFormat,
) -> Result<(Conversation, Vec<Loss>), Unwritable> {
    if !format.is_appendable() && format != FileFormat::Unified {
        return Err(Unwritable(format));
    }
    let mut carrier = Carrier {
        format,
        losses: Vec::new(),
        users_calls: HashSet::new(),
        message: 0,
    };
    let mut out = Conversation {
        id: conversation.id.clone(),
        folder: conversation.folder.clone(),
        provider: conversation.provider.clone(),
        ..Conversation::default()
    };
    // Where each message of the conversation begins in what is carried.
    let mut starts = Vec::with_capacity(conversation.messages.len() + 1);
    for at in &conversation.unshown {
        carrier.message = *at;
        carrier.lose(LossCode::Unshown);
    }
    for (at, message) in conversation.messages.iter().enumerate() {
        starts.push(out.messages.len());
        carrier.message = at;
        carrier.message(message, &mut out.messages);
    }
    starts.push(out.messages.len());
    let start = |at: usize| starts.get(at).copied().unwrap_or(out.messages.len());
    for recorded in &conversation.compactions {
        carrier.message = recorded.at;
        let mut recorded = recorded.clone();
        recorded.at = start(recorded.at);
        if let Kept::From(first) = recorded.kept {
            let first = start(first);
            recorded.kept = if first < recorded.at {
                Kept::From(first)
            } else {
                Kept::Nothing
            };
        }
        out.compactions.push(recorded);
    }
    let as_written = out.clone();
    for (at, recorded) in out.compactions.iter_mut().enumerate() {
        carrier.message = recorded.at;
        if let Some(whole) = as_written.compactions.get(at) {
            carrier.compaction(&as_written, whole, recorded);
        }
    }
    out.compactions.sort_by_key(|recorded| recorded.at);
    Ok((out, carrier.losses))
}

struct Carrier {
    format: FileFormat,
    losses: Vec<Loss>,
    users_calls: HashSet<String>,
    message: usize,
}

impl Carrier {
    fn lose(&mut self, code: LossCode) {
        self.losses.push(Loss {
            code,
            message: self.message,
        });
    }

    /// Results become messages of their own; the rest stays one message.
    fn message(&mut self, message: &Message, out: &mut Vec<Message>) {
        let mut blocks = Vec::new();
        for block in &message.blocks {
            match block {
                Block::Result(result) => self.result(result, out),
                other => blocks.extend(self.block(other, message.role)),
            }
        }
        let is_result = message.results().next().is_some();
        if blocks.is_empty() && is_result {
            return;
        }
        if blocks.is_empty() {
            self.lose(LossCode::EmptyMessage);
            return;
        }
        // A tool's message without a result is nobody's but the user's.
        let role = match message.role {
            Role::Tool => Role::User,
            role => role,
        };
        let mut message = Message { role, blocks };
        self.injected(&mut message);
        if self.format == FileFormat::Unified || role == Role::System {
            join_texts(&mut message);
        }
        out.push(message);
    }

    fn block(&mut self, block: &Block, role: Role) -> Option<Block> {
        match block {
            Block::Thinking { .. } => {
                self.lose(LossCode::Thinking);
                None
            }
            Block::Opaque { .. } => {
                self.lose(LossCode::Opaque);
                None
            }
            Block::Media(media) => {
                self.lose(LossCode::Media);
                Some(Block::Text(format!("[{}]", media.kind)))
            }
            Block::Call(call) if role != Role::Assistant => {
                self.lose(LossCode::UserCall);
                self.users_calls.insert(call.id.to_string());
                let text = format!("[called {}: {}]", call.name, call.arguments);
                Some(Block::Text(text))
            }
            // Readers know injected text by its tags, whoever said it.
            Block::Text(text) => Some(said(text.clone(), role)),
            other => Some(other.clone()),
        }
    }

    fn result(&mut self, result: &ToolResult, out: &mut Vec<Message>) {
        let mut parts = Vec::new();
        for part in &result.parts {
            match part {
                ResultPart::Text(text) => parts.push(ResultPart::Text(text.clone())),
                ResultPart::Media(media) => {
                    self.lose(LossCode::Media);
                    parts.push(ResultPart::Text(format!("[{}]", media.kind)));
                }
                ResultPart::Opaque { .. } => self.lose(LossCode::Opaque),
            }
        }
        let is_single = self.format == FileFormat::Unified
            || (self.format == FileFormat::Codex && parts.is_empty());
        let result = ToolResult {
            parts,
            ..result.clone()
        };
        let mut message = Message {
            role: Role::Tool,
            blocks: vec![Block::Result(result)],
        };
        let text = flat_text(&message);
        if let Some(Block::Result(result)) = message.blocks.first_mut() {
            if self.users_calls.contains(&*result.call_id) {
                self.lose(LossCode::UserCall);
                out.push(Message::text(Role::User, format!("[returned: {text}]")));
                return;
            }
            if is_single {
                result.parts = vec![ResultPart::Text(text)];
            }
        }
        out.push(message);
    }

    /// Injected text is known by its own tags, or by an entry of its own where the format has one.
    fn injected(&mut self, message: &mut Message) {
        let is_all = message
            .blocks
            .iter()
            .all(|block| matches!(block, Block::Injected(_)));
        if is_all && message.role == Role::User && self.format == FileFormat::Pi {
            return;
        }
        let mut is_lost = false;
        for block in &mut message.blocks {
            if let Block::Injected(text) = block
                && !(message.role == Role::User && is_put_in(text))
            {
                is_lost = true;
                *block = Block::Text(std::mem::take(text));
            }
        }
        if is_lost {
            self.lose(LossCode::Injected);
        }
    }

    /// Messages as they are carried; what that costs is told where they stand in the conversation.
    fn quietly(&mut self, messages: &[Message]) -> Vec<Message> {
        let told = self.losses.len();
        let mut out = Vec::new();
        for message in messages {
            self.message(message, &mut out);
        }
        self.losses.truncate(told);
        out
    }

    fn compaction(
        &mut self,
        conversation: &Conversation,
        whole: &Recorded,
        recorded: &mut Recorded,
    ) {
        if recorded.kind == RecordedKind::Reset {
            recorded.summary.clear();
            recorded.files = FileOperations::default();
        }
        if !recorded.files.is_empty() && self.format != FileFormat::Pi {
            self.lose(LossCode::FileOperations);
            recorded.files = FileOperations::default();
        }
        if recorded.kind == RecordedKind::Reset && self.format != FileFormat::Pi {
            self.lose(LossCode::Reset);
            recorded.kind = RecordedKind::Summary;
        }
        match self.format {
            FileFormat::Codex => {
                let context = conversation.context_after(whole).messages;
                // The first system message stands in front of the history.
                let skipped = match (context.first(), conversation.messages.first()) {
                    (Some(first), Some(own)) if own.role == Role::System && first == own => 1,
                    _ => 0,
                };
                let mut messages = Vec::new();
                for message in context.iter().skip(skipped) {
                    self.message(message, &mut messages);
                }
                // Inside a history the format does not tell failures apart.
                for block in messages.iter_mut().flat_map(|message| &mut message.blocks) {
                    if let Block::Result(result) = block {
                        result.is_error = false;
                    }
                }
                recorded.kept = Kept::Replaced(joined_answers(messages));
            }
            _ => {
                if let Kept::Replaced(history) = &whole.kept {
                    let history = self.quietly(history);
                    let told = replaced::told(&conversation.messages, &history, recorded);
                    if told.is_changed {
                        self.lose(LossCode::Replacement);
                    }
                    (recorded.summary, recorded.kept) = (told.summary, told.kept);
                }
            }
        }
        if self.format == FileFormat::Unified
            && let Kept::From(first) = recorded.kept
        {
            recorded.at = first;
            recorded.kept = Kept::Nothing;
        }
    }
}

/// The texts of a message as one.
fn join_texts(message: &mut Message) {
    let is_text = |block: &Block| matches!(block, Block::Text(_) | Block::Injected(_));
    // One text in front is joined already.
    let texts = message.blocks.iter().filter(|block| is_text(block)).count();
    if texts == 0 || texts == 1 && message.blocks.first().is_some_and(is_text) {
        return;
    }
    let text = flat_text(message);
    message.blocks.retain(|block| !is_text(block));
    message.blocks.insert(0, said(text, message.role));
}

/// Answers that follow each other, as Codex reads them from a history that replaces another.
fn joined_answers(messages: Vec<Message>) -> Vec<Message> {
    let mut out: Vec<Message> = Vec::new();
    for message in messages {
        match out.last_mut() {
            Some(last) if last.role == Role::Assistant && message.role == Role::Assistant => {
                last.blocks.extend(message.blocks);
            }
            _ => out.push(message),
        }
    }
    out
}
