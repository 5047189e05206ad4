//! Anthropic's cache marks, of which a request may have only a few.

use super::problem::{Problem, ProblemCode};
use super::{Reading, Setting};
use crate::body::Body;
use crate::json::{Value, read};
use crate::wire::Wire;

/// How many a request may have.
pub(crate) const MOST_CACHE_MARKS: usize = 4;

/// The marks of a request outside its messages: its own, those of the system prompt and of the tools.
pub(crate) fn marks_around(body: &Body) -> usize {
    let is_marked_somewhere = || memchr::memmem::find(body.bytes(), b"\"cache_control\"").is_some();
    if body.wire() != Wire::Anthropic || !is_marked_somewhere() {
        return 0;
    }
    let Ok(request) = read(body.bytes()) else {
        return 0;
    };
    let lists =
        ["system", "tools"].map(|name| request.get(name).map_or(0, |list| marked(list).len()));
    usize::from(is_marked(&request)) + lists.iter().sum::<usize>()
}

/// The marked blocks of a message, oldest first.
pub(crate) fn marked_objects<'v, 'a>(message: &'v Value<'a>) -> Vec<&'v Value<'a>> {
    message.get("content").map_or_else(Vec::new, marked)
}

pub(super) fn too_many(messages: &[Reading<'_>], setting: &Setting) -> Option<Problem> {
    if setting.wire != Wire::Anthropic {
        return None;
    }
    let inside: usize = messages
        .iter()
        .flatten()
        .map(|message| marked_objects(message).len())
        .sum();
    let found = inside + setting.marks_around;
    (found > MOST_CACHE_MARKS).then(|| {
        let text =
            format!("there are {found} cache marks, and at most {MOST_CACHE_MARKS} are taken");
        Problem::of_all(ProblemCode::TooManyCacheMarks, text)
    })
}

pub(super) fn is_marked(value: &Value<'_>) -> bool {
    value
        .get("cache_control")
        .is_some_and(|mark| !mark.is_null())
}

/// The marked blocks of a list, with those inside results.
fn marked<'v, 'a>(list: &'v Value<'a>) -> Vec<&'v Value<'a>> {
    let mut out = Vec::new();
    for block in list.items() {
        out.extend(is_marked(block).then_some(block));
        out.extend(block.get("content").into_iter().flat_map(marked));
    }
    out
}
