//! Pictures of numbers. They hold numbers of ours only, and no words of a conversation.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde_json::Value;

const WIDTH: u64 = 720;
const HEIGHT: u64 = 180;
/// Room for words above and below.
const TOP: u64 = 18;
const FOOT: u64 = 28;
/// How far letters reach below their line.
const DESCENT: u64 = 5;
/// More points than this cannot be told apart.
const MOST_POINTS: usize = 480;

/// How the history of a conversation grew, what was sent of it, where it was shortened, and the window, as the API says.
pub(super) fn growth(conversation: &Value) -> String {
    let of = |name: &str| conversation.pointer(&format!("/growth/{name}"));
    let points: Vec<(u64, u64)> = list(of("points")).iter().filter_map(pair).collect();
    let Some((whole, shown)) = points.last().copied() else {
        return String::new();
    };
    let window = of("window_tokens").and_then(Value::as_u64);
    let highest = points.iter().map(|(whole, _)| *whole).max().unwrap_or(0);
    let top = highest.max(window.unwrap_or(0)).max(1);
    let count = points.len() as u64;
    let x = |messages: u64| messages.saturating_mul(WIDTH) / count.max(1);
    let y = |tokens: u64| TOP + HEIGHT - tokens.saturating_mul(HEIGHT) / top;
    let base = TOP + HEIGHT;
    let full = base + FOOT;
    let rounds: Vec<u64> = list(of("rounds"))
        .iter()
        .filter_map(|round| round.get("messages")?.as_u64())
        .collect();
    let asked: BTreeSet<u64> = list(of("asked")).iter().filter_map(Value::as_u64).collect();
    // Where something falls, every point near it is drawn.
    let is_near_a_fall = |at: u64| rounds.iter().any(|round| round.abs_diff(at) <= 2);
    let line = |which: fn(&(u64, u64)) -> u64, is_there: &dyn Fn(u64) -> bool| {
        let mut line = format!("M0 {base}");
        let there: Vec<_> = (1_u64..)
            .zip(&points)
            .filter(|(at, _)| is_there(*at))
            .collect();
        let step = there.len().div_ceil(MOST_POINTS).max(1);
        for (number, (at, point)) in there.iter().enumerate() {
            if number % step == 0 || number + 1 == there.len() || is_near_a_fall(*at) {
                // Writing to a string does not fail.
                let _ = write!(line, " L{} {}", x(*at), y(which(point)));
            }
        }
        line
    };
    let history = line(|point| point.0, &|_| true);
    // Between two requests nothing is sent, however large it is.
    let sent = line(|point| point.1, &|at| {
        asked.is_empty() || asked.contains(&at)
    });
    let mut out = format!(
        "<svg class=\"chart\" viewBox=\"0 0 {WIDTH} {full}\" role=\"img\" aria-label=\"After {count} messages the \
         history takes {whole} tokens, and {shown} are sent; it was shortened {} times\">\
         <path class=\"area\" d=\"{history} L{WIDTH} {base} Z\"/><path class=\"history\" d=\"{history}\"/>\
         <path class=\"line\" d=\"{sent}\"/>",
        rounds.len()
    );
    if let Some(window) = window {
        let at = y(window);
        let said = at.saturating_sub(DESCENT);
        let _ = write!(
            out,
            "<path class=\"window\" d=\"M0 {at} L{WIDTH} {at}\"/><text x=\"4\" y=\"{said}\">window {}</text>",
            grouped(window)
        );
    }
    for at in rounds.iter().map(|messages| x(*messages)) {
        let _ = write!(
            out,
            "<path class=\"round\" d=\"M{at} {TOP} L{at} {base}\"/>"
        );
    }
    let said = full - DESCENT;
    let _ = write!(
        out,
        "<text x=\"0\" y=\"{said}\">first message</text><text class=\"end\" x=\"{WIDTH}\" y=\"{said}\">{count} messages</text></svg>"
    );
    out
}

/// The height of a bar, and of a bar with the room around it.
const BAR: u64 = 26;
const ROW: u64 = 36;
/// Where bars begin, behind the word before them.
const LEFT: u64 = 60;

/// A conversation before and after a compaction, as bars of the same scale.
pub(super) fn sizes(compaction: &Value) -> String {
    let of = |name: &str| {
        let size = compaction.pointer(&format!("/sizes/{name}_tokens"));
        size.and_then(Value::as_u64).unwrap_or(0)
    };
    let (front, behind) = (of("front"), of("behind"));
    let (replaced, summary) = (of("replaced"), of("summary"));
    let scale = (front + behind + replaced.max(summary)).max(1);
    let mut out = format!(
        "<svg class=\"chart bars\" viewBox=\"0 0 {WIDTH} {}\" role=\"img\" aria-label=\"Before: {replaced} tokens that were \
         replaced. After: {summary} tokens of summary. {front} tokens in front and {behind} behind stay.\">",
        2 * ROW
    );
    for (row, word, middle, kind) in [
        (0, "before", replaced, "gone"),
        (1, "after", summary, "made"),
    ] {
        let y = row * ROW;
        let said = y + BAR - 8;
        let _ = write!(out, "<text x=\"0\" y=\"{said}\">{word}</text>");
        let mut x = LEFT;
        for (tokens, class) in [(front, "kept"), (middle, kind), (behind, "kept")] {
            let width = tokens.saturating_mul(WIDTH - LEFT) / scale;
            let _ = write!(
                out,
                "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{BAR}\"/>"
            );
            x += width;
        }
    }
    out.push_str("</svg>");
    out
}

fn list(value: Option<&Value>) -> &[Value] {
    let list = value.and_then(Value::as_array);
    list.map(Vec::as_slice).unwrap_or_default()
}

fn pair(point: &Value) -> Option<(u64, u64)> {
    Some((point.get(0)?.as_u64()?, point.get(1)?.as_u64()?))
}

fn grouped(number: u64) -> String {
    epitome::reference::vibe::grouped(number)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{growth, sizes};

    #[test]
    fn pictures_are_of_numbers_and_never_divide_by_none() {
        assert_eq!(growth(&json!({})), "");
        let grown =
            growth(&json!({"growth": {"points": [[0, 0]], "rounds": [], "window_tokens": null}}));
        assert!(grown.starts_with("<svg"), "{grown}");
        let points: Vec<_> = (1..=2_000).map(|at| json!([at * 10, at])).collect();
        let grown = growth(
            &json!({"growth": {"points": points, "rounds": [{"messages": 777}], "window_tokens": 4_000}}),
        );
        assert!(
            grown.contains("window 4,000") && grown.len() < 40_000,
            "{}",
            grown.len()
        );
        assert!(sizes(&json!({})).starts_with("<svg"));
    }
}
