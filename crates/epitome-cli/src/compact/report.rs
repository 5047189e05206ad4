//! What `epitome compact` says about its work.

use std::time::Duration;

use anyhow::{Context, Result};
use bytes::Bytes;
use epitome::reference::vibe::grouped;
use epitome::{Block, Compaction, Design, Message, NoPlan, Reason, ViewItem};
use epitome_engine::once::CompactObject;
use epitome_wire::detect;

use super::input::Input;
use super::page;
use crate::Ending;
use crate::args::{CompactArgs, Print};

/// The outcome, ready to be printed.
pub(super) struct Report {
    name: String,
    object: CompactObject,
    compaction: Option<Compaction>,
    result: Option<Bytes>,
}

impl Report {
    pub(super) fn new(
        name: &str,
        design: &'static Design,
        input: &Input,
        outcome: Result<Compaction, NoPlan>,
        result: Option<Bytes>,
        elapsed: Duration,
    ) -> Result<Self> {
        let given = input.given();
        let mut object =
            CompactObject::of(input.format(), design, given, outcome.as_ref(), elapsed);
        object.conversation = input.session.as_ref().map(|session| session.number);
        let object = match &result {
            Some(bytes) => {
                let detected = detect(bytes, Some(input.wire()));
                object.with_messages(&detected.context("the result is not readable")?.body)?
            }
            None => object.with_messages(&*input.body(None)?)?,
        };
        Ok(Self {
            name: name.to_owned(),
            object,
            compaction: outcome.ok(),
            result,
        })
    }

    /// What was done, if anything was.
    pub(super) const fn compaction(&self) -> Option<&Compaction> {
        self.compaction.as_ref()
    }

    /// A budget that cannot be reached is a no; having nothing to do is not.
    pub(super) fn ending(&self) -> Ending {
        let no = [Reason::FloorAboveBudget, Reason::FloorAboveWindow].map(Reason::as_str);
        if no.contains(&self.object.reason) {
            Ending::No
        } else {
            Ending::Done
        }
    }

    /// The result as a request body: the file itself, spliced, or `{"messages": […]}` (`{"input": […]}`) around the messages.
    pub(super) fn request_body(&self, input: &Input) -> Vec<u8> {
        if let Some(file) = input.file.as_ref().filter(|_| input.is_request) {
            let result = self.result.as_ref();
            return result.unwrap_or_else(|| file.bytes()).to_vec();
        }
        let mut out = format!("{{\"{}\":[", input.wire().list_name()).into_bytes();
        for (at, message) in self.object.messages.iter().enumerate() {
            if at > 0 {
                out.push(b',');
            }
            out.extend_from_slice(message.get().as_bytes());
        }
        out.extend_from_slice(b"]}\n");
        out
    }

    /// What goes to standard output.
    pub(super) fn text(&self, args: &CompactArgs, input: &Input) -> Result<String> {
        Ok(if args.json {
            format!("{}\n", serde_json::to_string(&self.object)?)
        } else if let Some(print) = args.print {
            self.printed(print)
        } else if args.diff {
            self.diff(input)
        } else if args.quiet {
            String::new()
        } else {
            self.page(args, input)
        })
    }

    /// One thing alone, for pipes.
    fn printed(&self, print: Print) -> String {
        match print {
            Print::Summary => self.compaction.as_ref().map_or_else(String::new, |made| {
                format!("{}\n", made.summary.text.trim_end())
            }),
            Print::Messages => {
                let messages = self.object.messages.iter().map(|message| message.get());
                messages.map(|message| format!("{message}\n")).collect()
            }
        }
    }

    fn page(&self, args: &CompactArgs, input: &Input) -> String {
        let object = &self.object;
        let mut lines = vec![format!(
            "{}: {}, {} messages, {} tokens",
            self.name,
            object.format,
            object.messages_before,
            grouped(object.tokens_before)
        )];
        let Some(compaction) = &self.compaction else {
            lines.push(self.refusal());
            return joined(&lines);
        };
        let [start, end] = object.span;
        // Nothing is written in a dry run, and nobody should think so.
        let (compacted, became, stay) = match args.dry_run {
            true => ("would be compacted", "would become", "would stay"),
            false => ("compacted", "became", "stay"),
        };
        lines.push(format!(
            "{compacted} to {} messages, {} tokens (-{}%) in {} ms",
            object.messages_after,
            grouped(object.tokens_after),
            (object.tokens_before - object.tokens_after) * 100 / object.tokens_before.max(1),
            grouped(object.elapsed_us / 1000)
        ));
        lines.push(format!(
            "messages {} to {end} {became} one summary of {} tokens; the newest {} {stay}",
            start + 1,
            grouped(object.summary_tokens),
            object.messages_before - end
        ));
        if !compaction.trims.is_empty() {
            let count = compaction.trims.len();
            lines.push(format!(
                "long tool results are trimmed in {count} of the messages that stay"
            ));
        }
        let anchors = &object.report;
        lines.push(format!(
            "anchors: {} in what was replaced, {} still in view, {} recoverable from the original, {} missing, {} invented",
            anchors.anchors, anchors.retained, anchors.recoverable, anchors.missing, anchors.invented
        ));
        if let Some(focus) = &args.focus {
            lines.extend(page::focus(focus, &input.messages, compaction));
        }
        lines.extend(page::standing(compaction));
        lines.extend(page::instructions(compaction));
        let object = &self.object;
        lines.extend(page::sizes(
            object.tokens_before,
            object.tokens_after,
            object.summary_tokens,
        ));
        lines.push(String::new());
        lines.push("the text of the summary: --print summary".to_owned());
        joined(&lines)
    }

    fn diff(&self, input: &Input) -> String {
        let Some(compaction) = &self.compaction else {
            return joined(&[self.refusal()]);
        };
        let line = |sign: char, position: usize| {
            let message = input.messages.get(position).map(shape).unwrap_or_default();
            format!("{sign} {:>4} {message}", position + 1)
        };
        let mut lines = Vec::new();
        for item in &compaction.view(input.log.len()).items {
            match item {
                // The client's own notes of the span stay, behind the summary.
                ViewItem::Entries(range) => lines.extend(range.clone().map(|position| {
                    let moved = compaction.plan.span.contains(&position);
                    line(if moved { '+' } else { ' ' }, position)
                })),
                ViewItem::Trimmed(position, _) | ViewItem::Merged(position) => {
                    lines.push(line('~', *position));
                }
                ViewItem::Answer { text, .. } => lines.push(format!("+      tool {text}")),
                ViewItem::Made { role, text, .. } => {
                    lines.push(format!("+      {} {text}", role.as_str()));
                }
                ViewItem::Inserted(role, text) => {
                    lines.push(format!("+      {} {text}", role.as_str()));
                }
                ViewItem::Summary | ViewItem::AssistantSummary => {
                    lines.extend(
                        compaction
                            .plan
                            .span
                            .clone()
                            .map(|position| line('-', position)),
                    );
                    lines.push(format!(
                        "+      summary, {} tokens",
                        self.object.summary_tokens
                    ));
                }
            }
        }
        joined(&lines)
    }

    fn refusal(&self) -> String {
        let floor = grouped(self.object.floor_tokens);
        match self.object.reason {
            "floor_above_budget" => {
                format!(
                    "not compacted: what must stay takes {floor} tokens: ask for at least that (floor_above_budget)"
                )
            }
            other => format!("not compacted: {} ({other})", words(other)),
        }
    }
}

/// Why nothing was done, in words, and what can be done about it.
fn words(reason: &str) -> String {
    match reason {
        "below_line" => "it fits as it is; without --auto it is compacted all the same".to_owned(),
        "nothing_to_remove" => "there is nothing that could go".to_owned(),
        "floor_above_window" => {
            "what must stay is larger than the window; a larger one is --window N".to_owned()
        }
        other => other.replace('_', " "),
    }
}

fn joined(lines: &[String]) -> String {
    lines.join("\n") + "\n"
}

/// One line for a message: who, what kinds of blocks, and how it begins.
fn shape(message: &Message) -> String {
    let mut line = message.role.as_str().to_owned();
    for block in &message.blocks {
        line.push_str(&match block {
            Block::Text(text) => format!(" {}", beginning(text)),
            Block::Injected(_) => " (injected note)".to_owned(),
            Block::Thinking { .. } => " (thinking)".to_owned(),
            Block::Call(call) => format!(" call {}", call.name),
            Block::Result(result) => {
                format!(
                    " result {}",
                    beginning(result.texts().next().unwrap_or_default())
                )
            }
            Block::Media(media) => format!(" ({})", media.kind),
            Block::Opaque { .. } => " (other)".to_owned(),
        });
    }
    line
}

fn beginning(text: &str) -> String {
    let line: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(60) {
        Some((at, _)) => format!("{}…", line.get(..at).unwrap_or_default()),
        None => line,
    }
}
