//! A patch in fewer words: which files it touches and what it adds come before what it takes away and what stands around.

use super::Kept;
use crate::meter::Meter;

/// How lines begin that say where a patch applies.
const HEADS: &[&str] = &["*** ", "@@", "diff ", "+++ ", "--- "];
/// What the sign for lines that were left out takes, about, in tokens.
const MARKER_TOKENS: u64 = 9;

/// Whether a text is a patch.
pub(super) fn is_patch(text: &str) -> bool {
    text.contains("*** Begin Patch") || text.starts_with("diff --git ")
}

/// The patch in at most `tokens`, as far as that goes.
pub(super) fn within(text: &str, tokens: u64, meter: Meter) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let mut taken = vec![false; lines.len()];
    let mut left = tokens;
    for rank in 0..3 {
        for (line, taken) in lines.iter().zip(&mut taken) {
            if rank_of(line) != rank {
                continue;
            }
            // A line that does not fit ends its kind, so that what stays hangs together.
            let Some(rest) = left.checked_sub(meter.text(line) + 1) else {
                break;
            };
            left = rest;
            *taken = true;
        }
        if left < MARKER_TOKENS {
            break;
        }
    }
    let mut shown = laid_out(&lines, &taken);
    // The signs come on top: what was taken last goes again.
    while meter.text(&shown) > tokens {
        let least = |rank: u8| {
            let mut all = lines.iter().zip(&taken).enumerate();
            let last = all.rfind(|(_, (line, taken))| **taken && rank_of(line) == rank);
            last.map(|(at, _)| at)
        };
        let Some(at) = [2, 1, 0].into_iter().find_map(least) else {
            return Kept::within(text, tokens, meter).of(text);
        };
        // In steps, so that a long patch is not laid out once for each of its lines.
        let rank = lines.get(at).map_or(2, |line| rank_of(line));
        let over = meter.text(&shown).saturating_sub(tokens);
        let mut freed = 0;
        for (line, taken) in lines.iter().zip(&mut taken).rev() {
            if freed >= over {
                break;
            }
            if *taken && rank_of(line) == rank {
                *taken = false;
                freed += meter.text(line) + 1;
            }
        }
        shown = laid_out(&lines, &taken);
    }
    shown
}

/// What comes first: where it applies, what it adds, all else.
fn rank_of(line: &str) -> u8 {
    match () {
        () if HEADS.iter().any(|head| line.starts_with(head)) => 0,
        () if line.starts_with('+') => 1,
        () => 2,
    }
}

fn laid_out(lines: &[&str], taken: &[bool]) -> String {
    let mut out = Vec::new();
    let mut gone = 0;
    for (line, taken) in lines.iter().zip(taken).chain([(&"", &true)]) {
        if !taken {
            gone += 1;
            continue;
        }
        if gone > 0 {
            out.push(format!("[… {gone} lines left out …]"));
            gone = 0;
        }
        out.push((*line).to_owned());
    }
    out.pop();
    out.join("\n")
}
