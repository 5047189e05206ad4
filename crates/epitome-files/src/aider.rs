//! aider's chat history, a log in Markdown.
//!
//! `# aider chat started at` begins a conversation, a line after `#### ` is a request, lines after `>` are what the
//! program printed, and everything else is the model's answer.

use std::io::{BufRead, Seek};

use epitome::{Message, Role};

use crate::error::ReadError;
use crate::event::{Event, Origin};
use crate::lines::Lines;
use crate::position::Position;
use crate::problem::{Problem, ProblemCode};

const START: &str = "# aider chat started at ";
const REQUEST: &str = "#### ";

pub(crate) fn read<R: BufRead + Seek>(
    source: &mut R,
    emit: &mut dyn FnMut(Event),
) -> Result<(), ReadError> {
    let mut reader = Reader::default();
    let mut lines = Lines::new(source);
    while let Some(line) = lines.next_line()? {
        let text = String::from_utf8_lossy(line.bytes);
        if text.contains(char::REPLACEMENT_CHARACTER) && std::str::from_utf8(line.bytes).is_err() {
            emit(Event::Problem(Problem::new(
                ProblemCode::UnreadableEntry,
                line.position,
                "bytes that are not UTF-8 are replaced",
            )));
        }
        reader.line(&text, line.position, emit);
    }
    reader.give_answer(emit);
    Ok(())
}

#[derive(Default)]
struct Reader {
    has_begun: bool,
    answer: String,
    answer_at: Position,
    /// The line of the answer that was read last, so that blank lines inside it stay.
    last_line: u64,
}

impl Reader {
    fn line(&mut self, line: &str, position: Position, emit: &mut dyn FnMut(Event)) {
        if let Some(when) = line.strip_prefix(START) {
            self.give_answer(emit);
            self.has_begun = true;
            emit(Event::Conversation);
            emit(Event::Id(when.trim().to_owned()));
            return;
        }
        if !self.has_begun {
            self.has_begun = true;
            emit(Event::Conversation);
        }
        if let Some(request) = line.strip_prefix(REQUEST) {
            self.give_answer(emit);
            let message = Message::text(Role::User, request.trim_end());
            emit(said(message, position));
        } else if line.starts_with('>') {
            self.give_answer(emit);
            emit(Event::Aside {
                kind: "printed".to_owned(),
            });
        } else {
            let number = position.line.unwrap_or_default();
            if self.answer.is_empty() {
                self.answer_at = position;
            } else {
                let blank = number.saturating_sub(self.last_line);
                for _ in 0..blank.max(1) {
                    self.answer.push('\n');
                }
            }
            self.last_line = number;
            self.answer.push_str(line.trim_end());
        }
    }

    fn give_answer(&mut self, emit: &mut dyn FnMut(Event)) {
        if !self.answer.is_empty() {
            let text = std::mem::take(&mut self.answer);
            emit(said(Message::text(Role::Assistant, text), self.answer_at));
        }
    }
}

fn said(message: Message, position: Position) -> Event {
    Event::Message {
        message,
        origin: Origin {
            position,
            ..Origin::default()
        },
    }
}
