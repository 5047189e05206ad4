//! Where the blocks of a text end, looked up once.

use std::collections::HashMap;

use super::shape;

/// The ends of a text, each kind found when it is first asked for.
#[derive(Default)]
pub(super) struct Ends<'a> {
    closings: Option<HashMap<&'a str, usize>>,
    fences: HashMap<&'static str, Vec<FenceLine>>,
}

/// A line that begins with a fence.
pub(super) struct FenceLine {
    /// Where it begins.
    pub(super) line: usize,
    /// Where the next one begins.
    pub(super) next: usize,
}

impl<'a> Ends<'a> {
    /// Where a tag is closed for the last time.
    pub(super) fn last_closing(&mut self, text: &'a str, name: &str) -> Option<usize> {
        let closings = self.closings.get_or_insert_with(|| {
            let closing = text.match_indices("</").filter_map(|(at, opening)| {
                let name = shape::tag_name(text.get(at + opening.len()..)?)?;
                Some((name, at))
            });
            closing.collect()
        });
        closings.get(name).copied()
    }

    /// The lines that begin with this fence, in order.
    pub(super) fn fences(&mut self, text: &str, fence: &'static str) -> &[FenceLine] {
        self.fences.entry(fence).or_insert_with(|| {
            let mut next = 0;
            let lines = text.split_inclusive('\n').map(|line| {
                let at = next;
                next += line.len();
                (line, FenceLine { line: at, next })
            });
            let fences = lines.filter(|(line, _)| shape::fence(line) == Some(fence));
            fences.map(|(_, place)| place).collect()
        })
    }
}
