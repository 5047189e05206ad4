//! What `epitome compact` works on: a request body, or one conversation of a session file.

use std::borrow::Cow;

use anyhow::{Result, bail};
use bytes::Bytes;
use epitome::{Log, Message, Meter, Role, View};
use epitome_engine::once::{Given, log_of};
use epitome_files::{Context, Conversation, FileFormat, chat_messages};
use epitome_wire::{Body, Detected, Wire};

use crate::args::CompactArgs;
use crate::convert::{self, Asked};
use crate::source::{Kind, Source, chosen, messages, tell_problems};

/// A conversation read from a file.
pub(super) struct Input {
    /// The file, where it holds messages as a provider gets them.
    pub(super) file: Option<Body>,
    pub(super) is_request: bool,
    pub(super) messages: Vec<Message>,
    pub(super) log: Log,
    /// Where it comes from, if that is a session file.
    pub(super) session: Option<Session>,
    /// What the file was before it was put into another format.
    pub(super) was: Option<&'static str>,
}

/// One conversation of a session file.
pub(super) struct Session {
    pub(super) format: FileFormat,
    /// Which one of the file, from 1.
    pub(super) number: usize,
    pub(super) conversation: Conversation,
    /// For each message, which one of the conversation it is.
    pub(super) sources: Vec<Option<usize>>,
}

impl Input {
    /// The messages as a provider gets them; those of a session file are spelled as OpenAI Chat. What a view does not
    /// show is not spelled for it.
    pub(super) fn body(&self, view: Option<&View>) -> Result<Cow<'_, Body>> {
        if let Some(file) = &self.file {
            return Ok(Cow::Borrowed(file));
        }
        let hidden = Message::text(Role::User, "");
        let mut shown: Vec<&Message> = match view {
            Some(_) => vec![&hidden; self.messages.len()],
            None => self.messages.iter().collect(),
        };
        for position in view.into_iter().flat_map(View::positions) {
            if let Some((place, message)) = shown.get_mut(position).zip(self.messages.get(position))
            {
                *place = message;
            }
        }
        let bytes = Bytes::from(chat_messages(shown));
        Ok(Cow::Owned(Body::scan_array(bytes, self.wire())?))
    }

    /// The conversation as it is asked about.
    pub(super) fn given(&self) -> Given<'_> {
        Given {
            messages: &self.messages,
            log: &self.log,
            body: self.file.as_ref(),
        }
    }

    /// The API whose spelling the messages have.
    pub(super) fn wire(&self) -> Wire {
        self.file.as_ref().map_or(Wire::OpenAiChat, Body::wire)
    }

    /// The name of the format.
    pub(super) fn format(&self) -> &'static str {
        let session = self.session.as_ref();
        let now = session.map_or_else(|| self.wire().as_str(), |one| one.format.as_str());
        self.was.unwrap_or(now)
    }
}

/// Every conversation that is asked for; with `--to` the one, in that format, which then is what there is to write to.
pub(super) fn read(source: &mut Source, args: &CompactArgs, meter: Meter) -> Result<Vec<Input>> {
    let asked = Asked {
        file: &args.file,
        format: args.format,
        conversation: args.conversation,
        quiet: args.quiet,
    };
    let Some(to) = args.to else {
        return read_as_it_is(source, asked, meter);
    };
    let (was, conversation) = convert::read(source, asked)?;
    if was == to.as_str() {
        return read_as_it_is(source, asked, meter);
    }
    let written = convert::write(&conversation, to, asked)?;
    *source = Source::of_bytes(written.bytes)?;
    let asked = Asked {
        format: to.as_read(),
        conversation: None,
        ..asked
    };
    let mut inputs = read_as_it_is(source, asked, meter)?;
    for input in &mut inputs {
        input.was = Some(was);
    }
    Ok(inputs)
}

fn read_as_it_is(source: &mut Source, asked: Asked<'_>, meter: Meter) -> Result<Vec<Input>> {
    let format = match source.kind(asked.format) {
        Kind::Session(format) => format,
        Kind::Body(_) if asked.conversation.is_some_and(|number| number != 1) => {
            bail!("a request body holds one conversation");
        }
        Kind::Body(wire) => return Ok(vec![read_body(source, wire, meter)?]),
    };
    let transcript = source.transcript(format)?;
    if !asked.quiet {
        tell_problems(&asked.file.display().to_string(), &transcript.problems);
    }
    let range = chosen(&transcript, asked.conversation)?;
    let format = transcript.format;
    let conversations = transcript.conversations.into_iter().enumerate();
    Ok(conversations
        .skip(range.start)
        .take(range.len())
        .map(|(at, conversation)| of_session(format, at + 1, conversation, meter))
        .collect())
}

fn read_body(source: &mut Source, wire: Option<Wire>, meter: Meter) -> Result<Input> {
    let Detected { body, is_request } = source.detected(wire)?;
    let messages = messages(&body)?;
    let log = log_of(&messages, meter);
    Ok(Input {
        file: Some(body),
        is_request,
        messages,
        log,
        session: None,
        was: None,
    })
}

fn of_session(
    format: FileFormat,
    number: usize,
    conversation: Conversation,
    meter: Meter,
) -> Input {
    let Context { messages, sources } = conversation.context();
    Input {
        file: None,
        is_request: false,
        log: log_of(&messages, meter),
        messages,
        session: Some(Session {
            format,
            number,
            conversation,
            sources,
        }),
        was: None,
    }
}
