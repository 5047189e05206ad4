//! What is this file? Found by looking at what it says, never at its name.

use crate::document::{Outline, outline};
use crate::format::FileFormat;

/// How much of a file is enough to tell.
pub const SNIFF_BYTES: usize = 1 << 20;
/// How many lines are looked at: the first ones may be torn or strange.
const LINES: usize = 64;
/// Kinds of entries that a Claude Code log may begin with.
const CLAUDE_CODE: &[&str] = &[
    "user",
    "assistant",
    "system",
    "progress",
    "summary",
    "file-history-snapshot",
    "queue-operation",
    "attachment",
    "permission-mode",
    "custom-title",
    "last-prompt",
];
/// Members by which a Claude Code entry is known.
const CLAUDE_CODE_MEMBERS: &[&str] = &["uuid", "sessionId", "leafUuid", "messageId"];
/// Kinds of Codex entries.
const CODEX: &[&str] = &[
    "session_meta",
    "turn_context",
    "response_item",
    "event_msg",
    "compacted",
];

impl FileFormat {
    /// The format of the file that begins with `head`, of which [`SNIFF_BYTES`] are enough; `None` when it is no
    /// session file that is known.
    ///
    /// ```
    /// use epitome_files::FileFormat;
    ///
    /// let head = br#"{"type":"session","version":3,"id":"s"}"#;
    /// assert_eq!(FileFormat::sniff(head), Some(FileFormat::Pi));
    /// assert_eq!(FileFormat::sniff(b"\x7fELF"), None);
    /// ```
    #[must_use]
    pub fn sniff(head: &[u8]) -> Option<Self> {
        let head = head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(head);
        let start = head.iter().position(|byte| !byte.is_ascii_whitespace())?;
        let head = head.get(start..).unwrap_or_default();
        match head.first() {
            Some(b'{') => object(head),
            Some(b'[') => list(head.get(1..).unwrap_or_default()),
            _ => {
                let is_aider = memchr::memmem::find(head, b"# aider chat started at ")
                    .is_some_and(|at| at == 0 || head.get(at - 1) == Some(&b'\n'));
                is_aider.then_some(Self::Aider)
            }
        }
    }
}

/// One document, or lines of which the first is an object.
fn object(head: &[u8]) -> Option<FileFormat> {
    let first = outline(head);
    if let Some(format) = entry(&first) {
        return Some(format);
    }
    let rest = head
        .get(first.end.unwrap_or(head.len())..)
        .unwrap_or_default();
    let is_document = rest.iter().all(u8::is_ascii_whitespace);
    if is_document && let Some(format) = document(&first, head) {
        return Some(format);
    }
    head.split(|byte| *byte == b'\n')
        .skip(1)
        .take(LINES)
        .find_map(|line| entry(&outline(line)))
}

/// An entry of a file of lines.
fn entry(outline: &Outline) -> Option<FileFormat> {
    if is_goose(outline) {
        return Some(FileFormat::Goose);
    }
    let kind = outline.kind.as_deref()?;
    if kind == "session" && outline.has("id") {
        return Some(FileFormat::Pi);
    }
    if CODEX.contains(&kind) && outline.has("payload") {
        return Some(FileFormat::Codex);
    }
    if kind.contains('.') && outline.has("data") {
        return Some(FileFormat::Copilot);
    }
    let is_claude_code =
        CLAUDE_CODE.contains(&kind) && CLAUDE_CODE_MEMBERS.iter().any(|name| outline.has(name));
    if is_claude_code {
        return Some(FileFormat::ClaudeCode);
    }
    let is_pi = outline.has("parentId") && outline.has("timestamp");
    (is_pi || (kind == "message" && outline.has("message") && outline.has("timestamp")))
        .then_some(FileFormat::Pi)
}

/// The header of a Goose session, its export, or one of its messages. Only Goose says when a message was `created` beside
/// its role.
fn is_goose(outline: &Outline) -> bool {
    let is_session = outline.has("working_dir")
        && ["message_count", "conversation", "extension_data"]
            .iter()
            .any(|name| outline.has(name));
    let is_message = ["role", "created", "content"]
        .iter()
        .all(|name| outline.has(name));
    is_session || is_message
}

fn document(outline: &Outline, head: &[u8]) -> Option<FileFormat> {
    let has_session = || memchr::memmem::find(head, b"\"ses_").is_some();
    if outline.has("info") && outline.has("messages") && has_session() {
        return Some(FileFormat::OpenCode);
    }
    if outline.has("trajectory") {
        return Some(FileFormat::SweAgent);
    }
    if outline.has("history") {
        let is_open_hands = outline.has("instance_id") || outline.has("instruction");
        return Some(if is_open_hands {
            FileFormat::OpenHands
        } else {
            FileFormat::SweAgent
        });
    }
    if outline.has("instance_id") && outline.has("instruction") {
        return Some(FileFormat::OpenHands);
    }
    if outline.has("sessionId") && outline.has("projectHash") {
        return Some(FileFormat::Gemini);
    }
    let is_wrapped = outline.has("version") && outline.has("messages") && !outline.has("format");
    if is_wrapped && memchr::memmem::find(head, b"\"role\"").is_some() {
        return Some(FileFormat::Cline);
    }
    let is_unified = outline.has("messages") && outline.has("format");
    (is_unified || outline.has("compactions")).then_some(FileFormat::Unified)
}

/// A list: of conversations, or of messages that say when they were sent; else it is a bare list of messages, which is no
/// session file.
fn list(head: &[u8]) -> Option<FileFormat> {
    let first = outline(head);
    let is_said = first.has("role") && first.has("content");
    if first.has("ts") && (is_said || first.has("say") || first.has("ask")) {
        return Some(FileFormat::Cline);
    }
    let has_messages = first.has("messages") && (first.has("task_id") || first.has("id"));
    (first.has("traj") || has_messages).then_some(FileFormat::Tau)
}
