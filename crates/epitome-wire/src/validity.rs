//! What a provider would refuse, found before it does.
//!
//! - on decoded messages, for what the core builds: [`violations`]
//! - on the bytes of a whole body, with places and codes: [`problems`]
//!
//! What one message gets wrong by itself is found by the module of its format, together with its cure; what
//! messages get wrong together is found in `pairs` (calls and results) and `neighbours` (everything else).
//! [`crate::repair`] applies the cures and puts the pairs in order.

mod anthropic;
mod finding;
mod marks;
mod neighbours;
mod openai_chat;
mod openai_responses;
mod pairs;
mod parts;
mod problem;
mod seen;
mod shared;
mod violations;

use epitome::Reason;

use crate::body::Body;
use crate::json::{JsonError, Kind, Value, read};
use crate::wire::Wire;

pub(crate) use finding::{Cure, Finding, Place};
pub(crate) use marks::{MOST_CACHE_MARKS, marked_objects, marks_around};
pub(crate) use neighbours::neighbours;
pub(crate) use pairs::{Fate, Pairing, Standing};
pub(crate) use parts::{
    drop_items, remove_member, set_member, with_edits, without_lone_surrogates,
};
pub use problem::{Problem, ProblemCode};
pub(crate) use seen::{Seen, Speaker, call_member, result_member};
pub use violations::{Violation, ViolationKind, violations};

/// What the provider of this body would refuse, sorted by message and block; nothing when it would take it.
///
/// Looks at the JSON as it is spelled, so that it also sees what a decoded message does not carry. Calls at the
/// very end that wait for their results are reported as [`ProblemCode::CallInFlight`].
///
/// ```
/// use epitome_wire::{Body, ProblemCode, Wire, problems};
///
/// let request = br#"{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":null}]}"#;
/// let body = Body::scan(request.as_slice().into(), Wire::OpenAiChat)?;
/// let found = problems(&body);
/// assert_eq!(found[0].code, ProblemCode::EmptyMessage);
/// assert_eq!(found[0].message, Some(1));
/// # Ok::<(), epitome_wire::BodyError>(())
/// ```
#[must_use]
pub fn problems(body: &Body) -> Vec<Problem> {
    let messages: Vec<_> = (0..body.len()).map(|index| body.message(index)).collect();
    judge(&messages, &Setting::of(body))
}

/// What is around the messages and matters to the rules.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setting {
    pub(crate) wire: Wire,
    /// Cache marks outside the messages.
    pub(crate) marks_around: usize,
    /// Whether the provider keeps a part of the history, so that a result may answer a call that is not here.
    pub(crate) is_continued: bool,
}

impl Setting {
    pub(crate) fn of(body: &Body) -> Self {
        Self {
            wire: body.wire(),
            marks_around: marks_around(body),
            is_continued: body.kept_by_provider() == Some(Reason::ServerSideHistory)
                || body.names_items(),
        }
    }
}

/// A message that was read, or why it cannot be.
pub(crate) type Reading<'a> = Result<Value<'a>, JsonError>;

/// Every problem of these messages.
pub(crate) fn judge(messages: &[&[u8]], setting: &Setting) -> Vec<Problem> {
    let readings: Vec<Reading<'_>> = messages.iter().map(|bytes| read(bytes)).collect();
    let mut out = Vec::new();
    for (index, (bytes, reading)) in messages.iter().zip(&readings).enumerate() {
        let place = Place {
            wire: setting.wire,
            is_last: index + 1 == messages.len(),
        };
        let found = form(bytes, reading, place).into_iter();
        out.extend(found.map(|finding| finding.into_problem(index)));
    }
    let seen: Vec<Seen> = readings
        .iter()
        .map(|reading| Seen::of(setting.wire, reading.as_ref().ok()))
        .collect();
    out.extend(Pairing::of(&seen, setting).problems(&seen));
    for (index, finding) in neighbours(&seen, &readings, setting) {
        out.push(finding.into_problem(index));
    }
    out.extend(marks::too_many(&readings, setting));
    if messages.is_empty() {
        out.push(Problem::of_all(
            ProblemCode::NoMessages,
            "there are no messages",
        ));
    }
    out.sort_by_key(|problem| (problem.message, problem.block, problem.code));
    out
}

/// What one message gets wrong by itself.
pub(crate) fn form(bytes: &[u8], reading: &Reading<'_>, place: Place) -> Vec<Finding> {
    let message = match reading {
        Ok(message) => message,
        Err(error) => {
            return vec![Finding::of_message(
                ProblemCode::UnreadableMessage,
                format!("it is not JSON: {error} of the message"),
                Cure::None,
            )];
        }
    };
    if !matches!(message.kind, Kind::Object(_)) {
        return vec![Finding::of_message(
            ProblemCode::NotAnObject,
            "it is not an object",
            Cure::None,
        )];
    }
    let mut out = Vec::from_iter(without_lone_surrogates(bytes).map(|whole| {
        Finding::of_message(
            ProblemCode::LoneSurrogate,
            "half of a surrogate pair is escaped in it",
            Cure::Replace(vec![whole], "it is replaced by U+FFFD"),
        )
    }));
    out.extend(match place.wire {
        Wire::OpenAiChat => openai_chat::form(message, bytes),
        Wire::OpenAiResponses => openai_responses::form(message, bytes),
        Wire::Anthropic => anthropic::form(message, bytes, place),
    });
    out
}
