//! Histories that a provider would refuse, put right: always in the same way, and with as few bytes changed as
//! it takes.

mod draft;
mod forms;
mod ids;
mod order;
mod order_anthropic;
mod stubs;

use std::fmt;

use crate::body::Body;
use crate::splice::Splice;
use crate::validity::{Problem, ProblemCode, Setting, problems};

use draft::Draft;

/// One cure may show what the next one is for; no history needs many rounds, and none may go on for ever.
const MOST_ROUNDS: usize = 16;

/// A body that was put right.
#[derive(Clone, Debug)]
pub struct Repaired {
    /// The body; unchanged when nothing was wrong, or nothing could be done.
    pub splice: Splice,
    /// What was done.
    pub done: Vec<Fix>,
    /// What is still wrong, with places in the new body: there is nothing to repair, or no way that would not be
    /// a guess.
    pub left: Vec<Problem>,
}

/// Something that was put right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// What was wrong.
    pub code: ProblemCode,
    /// Which message of the original body, unless it is about all of them.
    pub message: Option<usize>,
    /// What was wrong, where, and what was done, in one line.
    pub text: String,
}

impl fmt::Display for Fix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.text)
    }
}

/// Puts right what [`problems`] finds. Messages without a problem stay byte for byte, and so does everything
/// around the messages; what has no problem comes back unchanged.
///
/// A result that answers nothing is dropped, one that stands too late moves behind its call, and a call without
/// result gets one that says so. What is empty goes. Thinking is never changed, only dropped whole.
///
/// ```
/// use epitome_wire::{Body, Wire, problems, repair};
///
/// let request = br#"{"messages":[{"role":"user","content":"a"},{"role":"tool","tool_call_id":"x","content":"b"}]}"#;
/// let body = Body::scan(request.as_slice().into(), Wire::OpenAiChat)?;
/// let repaired = repair(&body);
/// assert_eq!(repaired.done[0].code.as_str(), "orphan_result");
/// let bytes = repaired.splice.into_bytes();
/// assert_eq!(bytes, r#"{"messages":[{"role":"user","content":"a"}]}"#);
/// assert_eq!(problems(&Body::scan(bytes, Wire::OpenAiChat)?), []);
/// # Ok::<(), epitome_wire::BodyError>(())
/// ```
#[must_use]
pub fn repair(body: &Body) -> Repaired {
    let found = problems(body);
    if found.is_empty() {
        return Repaired {
            splice: body.unchanged(),
            done: Vec::new(),
            left: found,
        };
    }
    let setting = Setting::of(body);
    let mut draft = Draft::of(body);
    for _ in 0..MOST_ROUNDS {
        let before = draft.changes();
        forms::cure(&mut draft, &setting);
        forms::cure_neighbours(&mut draft, &setting);
        ids::give(&mut draft, &setting);
        order::pair(&mut draft, &setting);
        stubs::open(&mut draft, &setting);
        stubs::unmark(&mut draft, &setting);
        if draft.changes() == before {
            break;
        }
    }
    let left = draft.problems(&setting);
    Repaired {
        splice: body.splice(&draft.items(body)),
        done: draft.into_done(),
        left,
    }
}
