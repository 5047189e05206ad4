//! What one round changed of the summary of the round before.

/// What became of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineChange {
    /// Both have it.
    Same,
    /// Only the earlier one has it.
    Removed,
    /// Only the later one has it.
    Added,
}

impl LineChange {
    /// The name of it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Removed => "removed",
            Self::Added => "added",
        }
    }
}

/// Texts with more lines than this are compared only from both ends: the table of all pairs would take too much room.
const MOST_LINES: usize = 2_000;

/// The lines of both texts in order, each with what became of it. Lines that stay are as many as possible.
#[must_use]
pub fn line_changes<'a>(before: &'a str, after: &'a str) -> Vec<(LineChange, &'a str)> {
    let before: Vec<&str> = before.lines().collect();
    let after: Vec<&str> = after.lines().collect();
    let (mut before, mut after) = (before.as_slice(), after.as_slice());
    let mut changes = Vec::new();
    while let (Some((one, rest)), Some((other, others))) =
        (before.split_first(), after.split_first())
        && one == other
    {
        changes.push((LineChange::Same, *one));
        (before, after) = (rest, others);
    }
    let mut behind = Vec::new();
    while let (Some((one, rest)), Some((other, others))) = (before.split_last(), after.split_last())
        && one == other
    {
        behind.push((LineChange::Same, *one));
        (before, after) = (rest, others);
    }
    match before.len().max(after.len()) <= MOST_LINES {
        true => middle(before, after, &mut changes),
        false => {
            changes.extend(before.iter().map(|line| (LineChange::Removed, *line)));
            changes.extend(after.iter().map(|line| (LineChange::Added, *line)));
        }
    }
    changes.extend(behind.into_iter().rev());
    changes
}

/// What stands between the ends, by the longest sequence of lines that both have.
fn middle<'a>(before: &[&'a str], after: &[&'a str], changes: &mut Vec<(LineChange, &'a str)>) {
    let wide = after.len() + 1;
    // At (i, j): how many lines the rests from i and from j have in common.
    let mut common = vec![0_u32; (before.len() + 1) * wide];
    let at = |common: &[u32], i: usize, j: usize| common.get(i * wide + j).copied().unwrap_or(0);
    for (i, one) in before.iter().enumerate().rev() {
        for (j, other) in after.iter().enumerate().rev() {
            let most = match one == other {
                true => at(&common, i + 1, j + 1) + 1,
                false => at(&common, i + 1, j).max(at(&common, i, j + 1)),
            };
            if let Some(cell) = common.get_mut(i * wide + j) {
                *cell = most;
            }
        }
    }
    let (mut i, mut j) = (0, 0);
    loop {
        match (before.get(i), after.get(j)) {
            (Some(one), Some(other)) if one == other => {
                changes.push((LineChange::Same, *one));
                (i, j) = (i + 1, j + 1);
            }
            (Some(one), other)
                if other.is_none() || at(&common, i + 1, j) >= at(&common, i, j + 1) =>
            {
                changes.push((LineChange::Removed, *one));
                i += 1;
            }
            (_, Some(other)) => {
                changes.push((LineChange::Added, *other));
                j += 1;
            }
            (_, None) => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{LineChange, line_changes};

    fn shown(before: &str, after: &str) -> String {
        let lines = line_changes(before, after);
        let lines = lines.iter().map(|(change, line)| {
            let mark = match change {
                LineChange::Same => ' ',
                LineChange::Removed => '-',
                LineChange::Added => '+',
            };
            format!("{mark}{line}")
        });
        lines.collect::<Vec<_>>().join("|")
    }

    #[test]
    fn what_stays_is_told_from_what_goes_and_comes() {
        assert_eq!(shown("a\nb\nc", "a\nb\nc"), " a| b| c");
        assert_eq!(shown("a\nb\nc", "a\nx\nc\nd"), " a|-b|+x| c|+d");
        assert_eq!(shown("", "a"), "+a");
        assert_eq!(shown("a", ""), "-a");
        assert_eq!(shown("a\nb\nc\nd", "b\nd\ne"), "-a| b|-c| d|+e");
        let long = "x\n".repeat(3_000);
        let other = "y\n".repeat(3_000);
        assert_eq!(line_changes(&long, &other).len(), 6_000);
    }
}
