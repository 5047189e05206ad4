//! `epitome convert`.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use epitome_files::{
    Conversation, FileFormat, Loss, Origin, Stamp, Written, carried, chat_messages, write_file,
};
use serde::Serialize;

use crate::Ending;
use crate::args::{ConvertArgs, Format, Target};
use crate::clock::now_ms;
use crate::source::{Kind, Source, chosen, messages, tell_problems};
use crate::terminal::tell;
use crate::writing::{Existing, Target as File};

/// The object of `--json`. Its names are public surface.
#[derive(Serialize)]
struct Object {
    format: &'static str,
    to: &'static str,
    messages: usize,
    compactions: usize,
    losses: Vec<Lost>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
}

/// What could not be carried, and in how many places.
#[derive(Serialize)]
struct Lost {
    code: &'static str,
    count: usize,
    /// The first message it happened in, from 0.
    position: usize,
    message: &'static str,
}

pub(crate) fn run(args: &ConvertArgs) -> Result<Ending> {
    let target = args.out.as_deref().map(|out| {
        let existing = Existing::of_flag(args.force);
        File::checked(out, [args.file.as_path()], existing)
    });
    let target = target.transpose()?;
    let name = args.file.display().to_string();
    let mut source = Source::open(&args.file).with_context(|| name.clone())?;
    let asked = Asked {
        file: &args.file,
        format: args.format,
        conversation: args.conversation,
        quiet: args.quiet,
    };
    let (format, conversation) = read(&mut source, asked).with_context(|| name.clone())?;
    let written = write(&conversation, args.to, asked)?;
    let losses = lost(&written.losses);
    if let Some(target) = &target {
        target.write(&written.bytes)?;
    }
    let text = String::from_utf8(written.bytes)?;
    if args.json {
        let object = Object {
            format,
            to: args.to.as_str(),
            messages: conversation.messages.len(),
            compactions: conversation.compactions.len(),
            losses,
            file: args.out.is_none().then_some(text),
        };
        let object = serde_json::to_string(&object)? + "\n";
        File::report(target.as_ref(), &object)?;
    } else if args.out.is_none() {
        crate::print_bytes(text.as_bytes())?;
    }
    Ok(Ending::Done)
}

/// Which conversation is meant, and how much is said about it.
#[derive(Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub(crate) file: &'a Path,
    pub(crate) format: Format,
    pub(crate) conversation: Option<usize>,
    pub(crate) quiet: bool,
}

/// The conversation and the name of what it was read from.
pub(crate) fn read(source: &mut Source, asked: Asked<'_>) -> Result<(&'static str, Conversation)> {
    let format = match source.kind(asked.format) {
        Kind::Session(format) => format,
        Kind::Body(wire) => {
            let body = source.detected(wire)?.body;
            let messages = messages(&body)?;
            let conversation = Conversation {
                origins: vec![Origin::default(); messages.len()],
                messages,
                ..Conversation::default()
            };
            return Ok((body.wire().as_str(), conversation));
        }
    };
    let mut transcript = source.transcript(format)?;
    if !asked.quiet {
        tell_problems(&asked.file.display().to_string(), &transcript.problems);
    }
    let range = chosen(&transcript, asked.conversation)?;
    if range.len() > 1 {
        let count = range.len();
        bail!("holds {count} conversations; choose one with --conversation");
    }
    let conversation = transcript.conversations.swap_remove(range.start);
    Ok((format.as_str(), conversation))
}

/// The conversation in another format. What could not be carried is told.
pub(crate) fn write(conversation: &Conversation, to: Target, asked: Asked<'_>) -> Result<Written> {
    let stem = asked.file.file_stem().unwrap_or_default().to_string_lossy();
    let session_id = conversation.id.as_deref().unwrap_or(&stem);
    // Only a conversation that does not say where it was held is taken to be held here.
    let folder = std::env::current_dir()
        .map_or_else(|_| ".".to_owned(), |folder| folder.display().to_string());
    let stamp = Stamp {
        session_id,
        folder: &folder,
        time_ms: now_ms(),
    };
    let written = match to.format() {
        Some(format) => write_file(conversation, format, stamp)?,
        // A request holds what the model would get now; a chat has the same places as the unified form.
        None => {
            let context = Conversation {
                messages: conversation.context().messages,
                ..Conversation::default()
            };
            let (context, losses) = carried(&context, FileFormat::Unified)?;
            let mut bytes = b"{\"messages\":".to_vec();
            bytes.extend_from_slice(&chat_messages(&context.messages));
            bytes.extend_from_slice(b"}\n");
            Written { bytes, losses }
        }
    };
    if !asked.quiet {
        let name = asked.file.display();
        for loss in lost(&written.losses) {
            let Lost {
                count,
                position,
                message,
                ..
            } = loss;
            let first = position + 1;
            tell!("epitome: {name}: {message} ({count} times, first in message {first})");
        }
    }
    Ok(written)
}

fn lost(losses: &[Loss]) -> Vec<Lost> {
    let mut by_code = BTreeMap::new();
    for loss in losses {
        let lost = by_code.entry(loss.code).or_insert_with(|| Lost {
            code: loss.code.as_str(),
            count: 0,
            position: loss.message,
            message: loss.code.words(),
        });
        lost.count += 1;
    }
    by_code.into_values().collect()
}
