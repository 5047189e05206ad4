use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::thinking::{self, Signatures};
use super::{Rule, Violation, messages_of};
use crate::wire::{array, block_type, text};

const MAXIMUM_CACHE_MARKS: usize = 4;

/// Checks an Anthropic Messages request, including the testkit's own thinking signatures.
#[must_use]
pub fn anthropic(request: &Value) -> Vec<Violation> {
    check(request, Signatures::Own)
}

/// Checks an Anthropic Messages request whose signatures were made by a real provider.
#[must_use]
pub fn anthropic_foreign(request: &Value) -> Vec<Violation> {
    check(request, Signatures::Foreign)
}

fn check(request: &Value, signatures: Signatures) -> Vec<Violation> {
    let messages = match messages_of(request) {
        Ok(messages) => messages,
        Err(violation) => return vec![violation],
    };
    let mut checker = Checker {
        signatures,
        violations: Vec::new(),
        known_ids: HashSet::new(),
        open_calls: Vec::new(),
        open_server_calls: HashMap::new(),
    };
    checker.system(request.get("system"));
    checker.cache_marks(request);
    if messages
        .first()
        .is_some_and(|message| text(message, "role") != "user")
    {
        checker.violations.push(Violation::of_message(
            Rule::FirstMessageNotUser,
            0,
            "first message must use the \"user\" role",
        ));
    }
    for (index, message) in messages.iter().enumerate() {
        checker.content(index, message, index + 1 == messages.len());
    }
    // The provider merges neighbours of the same role before it looks at pairs.
    let numbered: Vec<_> = messages.iter().enumerate().collect();
    let runs: Vec<_> = numbered
        .chunk_by(|left, right| text(left.1, "role") == text(right.1, "role"))
        .collect();
    for (position, run) in runs.iter().enumerate() {
        checker.run(run, position + 1 == runs.len());
        let role_of = |run: &[(usize, &Value)]| {
            run.first()
                .map(|(_, message)| text(message, "role").to_owned())
        };
        let next = runs.get(position + 1).and_then(|next| role_of(next));
        if role_of(run).as_deref() == Some("system") && next.is_some_and(|next| next != "assistant")
        {
            checker.violations.push(Violation::of_message(
                Rule::MisplacedSystem,
                run.first().map_or(0, |(index, _)| *index),
                "role 'system' must precede an 'assistant' message or end the array",
            ));
        }
    }
    checker.close_calls();
    checker.violations
}

/// A call that waits for its result: identifier and where it stands.
struct OpenCall<'a> {
    id: &'a str,
    message: usize,
    block: usize,
}

struct Checker<'a> {
    signatures: Signatures,
    violations: Vec<Violation>,
    known_ids: HashSet<&'a str>,
    open_calls: Vec<OpenCall<'a>>,
    open_server_calls: HashMap<&'a str, (usize, usize)>,
}

impl<'a> Checker<'a> {
    fn report(&mut self, rule: Rule, message: usize, block: usize, detail: impl Into<String>) {
        self.violations
            .push(Violation::of_block(rule, message, block, detail));
    }

    fn system(&mut self, system: Option<&Value>) {
        for (position, block) in system
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .enumerate()
        {
            if text(block, "text").trim().is_empty() {
                self.violations.push(Violation::of_request(
                    Rule::EmptyText,
                    format!("system.{position}: text content blocks must be non-empty"),
                ));
            }
        }
    }

    fn cache_marks(&mut self, request: &Value) {
        let found = usize::from(is_marked(request))
            + marks(request.get("system"))
            + marks(request.get("tools"))
            + array(request, "messages")
                .iter()
                .map(|message| marks(message.get("content")))
                .sum::<usize>();
        if found > MAXIMUM_CACHE_MARKS {
            self.violations.push(Violation::of_request(
                Rule::TooManyCacheMarks,
                format!("A maximum of 4 blocks with cache_control may be provided. Found {found}."),
            ));
        }
    }

    /// Everything that one message can get wrong by itself.
    fn content(&mut self, index: usize, message: &Value, is_last: bool) {
        let role = text(message, "role");
        if !matches!(role, "user" | "assistant" | "system") {
            self.violations.push(Violation::of_message(
                Rule::UnknownRole,
                index,
                format!("Unexpected role \"{role}\". Allowed roles are \"user\" or \"assistant\""),
            ));
        }
        let may_be_empty = is_last && role == "assistant";
        match message.get("content") {
            Some(Value::String(text)) => {
                if text.trim().is_empty() && !may_be_empty {
                    self.empty_content(index);
                }
            }
            Some(Value::Array(blocks)) => {
                if blocks.is_empty() && !may_be_empty {
                    self.empty_content(index);
                }
                for (position, block) in blocks.iter().enumerate() {
                    self.block(index, position, block, role);
                }
                if role == "assistant" && blocks.last().is_some_and(thinking::is_thinking) {
                    self.report(
                        Rule::EndsInThinking,
                        index,
                        blocks.len() - 1,
                        "the final block in an assistant message cannot be `thinking`",
                    );
                }
            }
            _ => self.violations.push(Violation::of_message(
                Rule::MalformedContent,
                index,
                "content: Input should be a valid list or string",
            )),
        }
    }

    fn empty_content(&mut self, index: usize) {
        self.violations.push(Violation::of_message(
            Rule::EmptyContent,
            index,
            "all messages must have non-empty content except for the optional final assistant message",
        ));
    }

    fn block(&mut self, index: usize, position: usize, block: &Value, role: &str) {
        let kind = block_type(block);
        let needs_assistant = matches!(kind, "tool_use" | "server_tool_use" | "mcp_tool_use")
            || thinking::is_thinking(block);
        if (needs_assistant && role != "assistant") || (kind == "tool_result" && role != "user") {
            self.report(
                Rule::MisplacedBlock,
                index,
                position,
                format!("`{kind}` blocks are not permitted in `{role}` messages"),
            );
        }
        match kind {
            "text" if text(block, "text").trim().is_empty() => self.report(
                Rule::EmptyText,
                index,
                position,
                "text content blocks must be non-empty",
            ),
            "tool_result" => {
                for inner in array(block, "content") {
                    if block_type(inner) == "text" && text(inner, "text").trim().is_empty() {
                        self.report(
                            Rule::EmptyText,
                            index,
                            position,
                            "tool_result.content: text content blocks must be non-empty",
                        );
                    }
                }
            }
            "tool_use" | "server_tool_use" | "mcp_tool_use" => {
                if text(block, "id").is_empty() || text(block, "name").is_empty() {
                    self.report(
                        Rule::MalformedContent,
                        index,
                        position,
                        format!("{kind}.id and {kind}.name: Field required"),
                    );
                }
                if !block.get("input").is_some_and(Value::is_object) {
                    self.report(
                        Rule::MalformedArguments,
                        index,
                        position,
                        format!("{kind}.input: Input should be a valid dictionary"),
                    );
                }
            }
            "" => self.report(
                Rule::MalformedContent,
                index,
                position,
                "type: Field required",
            ),
            _ if thinking::is_thinking(block) => {
                thinking::check(
                    index,
                    position,
                    block,
                    self.signatures,
                    &mut self.violations,
                );
            }
            _ => {}
        }
    }

    /// Pairs of calls and results, over neighbours of one role.
    fn run(&mut self, run: &[(usize, &'a Value)], is_last: bool) {
        let Some((_, first)) = run.first() else {
            return;
        };
        match text(first, "role") {
            "assistant" => {
                self.close_calls();
                self.assistant_run(run, is_last);
            }
            "user" => {
                self.user_run(run);
                self.close_calls();
            }
            _ => self.close_calls(),
        }
    }

    fn assistant_run(&mut self, run: &[(usize, &'a Value)], is_last: bool) {
        for (message, block, value) in placed(run) {
            let kind = block_type(value);
            match kind {
                "tool_use" | "server_tool_use" | "mcp_tool_use" => {
                    let id = text(value, "id");
                    if !self.known_ids.insert(id) {
                        self.report(
                            Rule::DuplicateCallId,
                            message,
                            block,
                            "`tool_use` ids must be unique",
                        );
                    }
                    if kind == "tool_use" {
                        self.open_calls.push(OpenCall { id, message, block });
                    } else {
                        self.open_server_calls.insert(id, (message, block));
                    }
                }
                _ if kind != "tool_result" && kind.ends_with("_tool_result") => {
                    let id = text(value, "tool_use_id");
                    if self.open_server_calls.remove(id).is_none() {
                        self.report(
                            Rule::UnexpectedResult,
                            message,
                            block,
                            format!("unexpected `tool_use_id` found in `{kind}` blocks: {id}"),
                        );
                    }
                }
                _ => {}
            }
        }
        // A paused turn ends in the call whose result the provider still owes; a server-side program that
        // called a client tool gets its own result only after the client answered.
        let last = placed(run)
            .last()
            .map(|(message, block, _)| (message, block));
        let waits_for_client = !self.open_calls.is_empty();
        for (id, (message, block)) in std::mem::take(&mut self.open_server_calls) {
            if waits_for_client {
                self.open_server_calls.insert(id, (message, block));
            } else if !(is_last && last == Some((message, block))) {
                self.report(
                    Rule::UnpairedServerTool,
                    message,
                    block,
                    format!("tool use with id `{id}` was found without a corresponding tool result block"),
                );
            }
        }
    }

    fn user_run(&mut self, run: &[(usize, &'a Value)]) {
        let mut answered = HashSet::new();
        let mut has_other_content = false;
        for (message, block, value) in placed(run) {
            if block_type(value) != "tool_result" {
                has_other_content = true;
                continue;
            }
            let id = text(value, "tool_use_id");
            let open = self.open_calls.iter().position(|call| call.id == id);
            if let Some(position) = open {
                self.open_calls.swap_remove(position);
                answered.insert(id);
                if has_other_content {
                    self.report(
                        Rule::ResultAfterText,
                        message,
                        block,
                        format!("`tool_result` blocks must come before other content of the message: {id}"),
                    );
                }
            } else if answered.contains(id) {
                self.report(
                    Rule::DuplicateResult,
                    message,
                    block,
                    format!("each tool_use must have a single result. Found multiple `tool_result` blocks with id: {id}"),
                );
            } else {
                self.report(
                    Rule::UnexpectedResult,
                    message,
                    block,
                    format!("unexpected `tool_use_id` found in `tool_result` blocks: {id}. Each `tool_result` block must have a corresponding `tool_use` block in the previous message."),
                );
            }
        }
    }

    fn close_calls(&mut self) {
        for call in std::mem::take(&mut self.open_calls) {
            self.report(
                Rule::UnansweredCall,
                call.message,
                call.block,
                format!("`tool_use` ids were found without `tool_result` blocks immediately after: {}. Each `tool_use` block must have a corresponding `tool_result` block in the next message.", call.id),
            );
        }
    }
}

/// The blocks of a run with their places; a string content is one block.
fn placed<'a, 'run>(
    run: &'run [(usize, &'a Value)],
) -> impl Iterator<Item = (usize, usize, &'a Value)> + use<'a, 'run> {
    run.iter().flat_map(|(message, value)| {
        let content = value.get("content");
        let blocks: &'a [Value] = match content {
            Some(Value::Array(blocks)) => blocks,
            Some(single) => std::slice::from_ref(single),
            None => &[],
        };
        blocks
            .iter()
            .enumerate()
            .map(|(position, block)| (*message, position, block))
    })
}

fn is_marked(value: &Value) -> bool {
    value
        .get("cache_control")
        .is_some_and(|mark| !mark.is_null())
}

/// Cache marks in a list of blocks, including those inside results.
fn marks(content: Option<&Value>) -> usize {
    content
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .map(|block| usize::from(is_marked(block)) + marks(block.get("content")))
        .sum()
}
