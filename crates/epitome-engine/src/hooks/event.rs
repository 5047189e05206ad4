//! What hooks are told and what they may answer.

use std::sync::Arc;

use epitome::{FileOperations, Message};
use serde::Serialize;
use serde_json::{Value, json};

/// Whose conversation it is, as far as the host says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HookContext {
    /// The agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// The conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_key: Option<String>,
    /// The folder the agent works in.
    #[serde(rename = "workspaceDir", skip_serializing_if = "Option::is_none")]
    pub workspace_folder: Option<String>,
    /// Where messages come from, such as a chat service.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message_provider: Option<String>,
}

/// A compaction is about to begin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BeforeCompaction {
    /// Messages in view.
    pub message_count: usize,
    /// What they take, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token_count: Option<u64>,
}

/// A compaction landed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AfterCompaction {
    /// Messages in view now.
    pub message_count: usize,
    /// What they take, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token_count: Option<u64>,
    /// Messages that the summary stands for.
    pub compacted_count: usize,
}

/// All that a summariser would work from, for a hook that wants its place.
#[derive(Clone, Debug, Default)]
pub struct Preparation {
    /// The messages that leave the view.
    pub messages_to_summarize: Vec<Arc<Message>>,
    /// The beginning of a turn that is cut in two; it leaves the view as well.
    pub turn_prefix_messages: Vec<Arc<Message>>,
    /// The first entry that stays, where entries have ids.
    pub first_kept_entry_id: Option<String>,
    /// The size of the context.
    pub tokens_before: u64,
    /// The summary in force so far.
    pub previous_summary: Option<String>,
    /// Files that were read and changed, and calls that failed.
    pub file_operations: FileOperations,
    /// The settings of the compaction, such as its reserve.
    pub settings: Value,
    /// Whether a turn is cut in two.
    pub is_split_turn: bool,
    /// What whoever asked for it wants to be kept in mind.
    pub custom_instructions: Option<String>,
}

/// What a `before_compact` hook wants.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Verdict {
    /// Go on as if there were no hook.
    #[default]
    Continue,
    /// Do not compact.
    Cancel {
        /// Why, for people.
        reason: String,
    },
    /// Take this summary in place of one of ours. It is verified like any other.
    Replace {
        /// The summary.
        summary: String,
    },
}

impl Preparation {
    /// The event as an external command reads it.
    pub(super) fn to_json(&self) -> Value {
        let files = &self.file_operations;
        let failures = files
            .tool_failures
            .iter()
            .map(|failure| json!({"toolName": failure.tool_name, "summary": failure.summary}));
        json!({
            "preparation": {
                "messagesToSummarize": messages(&self.messages_to_summarize),
                "turnPrefixMessages": messages(&self.turn_prefix_messages),
                "firstKeptEntryId": self.first_kept_entry_id,
                "tokensBefore": self.tokens_before,
                "previousSummary": self.previous_summary,
                "fileOps": {
                    "readFiles": files.read_files,
                    "modifiedFiles": files.modified_files,
                    "toolFailures": failures.collect::<Vec<_>>(),
                },
                "settings": self.settings,
                "isSplitTurn": self.is_split_turn,
            },
            "customInstructions": self.custom_instructions,
        })
    }
}

fn messages(messages: &[Arc<Message>]) -> Vec<Value> {
    messages.iter().map(|it| message(it)).collect()
}

/// A message as an external command reads it: who speaks, what was said, called and returned. Text that a client
/// injected, thinking and media are left out, as they are from summaries.
fn message(message: &Message) -> Value {
    let text = message.spoken().collect::<Vec<_>>().join("\n");
    let calls = message
        .calls()
        .map(|call| json!({"id": call.id, "name": call.name, "arguments": call.arguments}));
    let results = message.results().map(|result| {
        json!({
            "callId": result.call_id,
            "isError": result.is_error,
            "text": result.texts().collect::<Vec<_>>().join("\n"),
        })
    });
    json!({
        "role": message.role.as_str(),
        "text": text,
        "calls": calls.collect::<Vec<_>>(),
        "results": results.collect::<Vec<_>>(),
    })
}
