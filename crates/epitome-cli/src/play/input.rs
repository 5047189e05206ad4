//! The conversations of a file, ready to be walked through.

use std::path::Path;

use anyhow::{Result, bail};
use epitome::Meter;
use epitome_cost::{Lifetime, Recording};
use epitome_files::{Conversation, FileFormat};
use epitome_wire::{Body, Detected, Wire};

use crate::args::Format;
use crate::source::{Kind, Source, messages, tell_problems};

/// One conversation.
pub(crate) struct Input {
    pub(crate) format: &'static str,
    /// Which one of the file, from 1.
    pub(crate) number: usize,
    pub(crate) recording: Recording,
    /// The model that the file names.
    pub(crate) model: Option<String>,
    /// How long the agent had its prompts cached, where the file tells.
    pub(crate) lifetime: Lifetime,
    /// How often the agent compacted by itself.
    pub(crate) own_compactions: usize,
    pub(crate) meter: Meter,
}

/// The conversations of a file in which a model was asked something.
pub(crate) fn read(
    path: &Path,
    format: Format,
    meter: Meter,
    is_quiet: bool,
) -> Result<Vec<Input>> {
    let mut source = Source::open(path)?;
    let inputs: Vec<Input> = match source.kind(format) {
        Kind::Body(wire) => vec![of_body(&mut source, wire, meter)?],
        Kind::Session(format) => {
            let transcript = source.transcript(format)?;
            if !is_quiet {
                tell_problems(&path.display().to_string(), &transcript.problems);
            }
            let conversations = transcript.conversations.into_iter().enumerate();
            conversations
                .map(|(at, conversation)| of_session(format, at + 1, conversation, meter))
                .collect()
        }
    };
    if inputs.iter().all(|input| input.recording.requests() == 0) {
        bail!("no model answers in it: there is no request to walk through");
    }
    Ok(inputs)
}

fn of_body(source: &mut Source, wire: Option<Wire>, meter: Meter) -> Result<Input> {
    let Detected { body, is_request } = source.detected(wire)?;
    let recording = Recording::new(messages(&body)?, &[], meter);
    Ok(Input {
        format: body.wire().as_str(),
        number: 1,
        recording: match is_request {
            true => recording.with_frame(around(&body, meter)),
            false => recording,
        },
        model: None,
        lifetime: Lifetime::FiveMinutes,
        own_compactions: 0,
        meter,
    })
}

/// What a request has besides its messages.
fn around(body: &Body, meter: Meter) -> u64 {
    let bytes = body.bytes();
    let text = |part: Option<&[u8]>| meter.text(&String::from_utf8_lossy(part.unwrap_or_default()));
    let first = body.messages().first().map_or(0, |range| range.start);
    let last = body
        .messages()
        .last()
        .map_or(bytes.len(), |range| range.end);
    text(bytes.get(..first)) + text(bytes.get(last..))
}

fn of_session(
    format: FileFormat,
    number: usize,
    conversation: Conversation,
    meter: Meter,
) -> Input {
    let times: Vec<Option<u64>> = conversation
        .origins
        .iter()
        .map(|origin| origin.at_ms)
        .collect();
    let recording = Recording::new(conversation.messages, &times, meter);
    // Tools and system prompts are in no session file; the first count of the provider tells what they take.
    let first = conversation.usage.first();
    let frame = first.map_or(0, |usage| {
        let messages = recording.tokens_before(usage.messages);
        usage.input_tokens.saturating_sub(messages)
    });
    let written_1h = conversation
        .usage
        .iter()
        .filter_map(|usage| usage.cache)
        .any(|cache| cache.write_1h_tokens > 0);
    Input {
        format: format.as_str(),
        number,
        recording: recording.with_frame(frame),
        model: conversation.model,
        lifetime: match written_1h {
            true => Lifetime::Hour,
            false => Lifetime::FiveMinutes,
        },
        own_compactions: conversation.compactions.len(),
        meter,
    }
}
