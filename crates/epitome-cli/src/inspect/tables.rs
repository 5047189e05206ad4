//! `inspect` for people.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::Found;
use super::tally::{Share, Tally};
use super::timeline::Timeline;

const PLOT_WIDTH: usize = 72;
const PLOT_HEIGHT: usize = 6;
/// How many tools are listed; the rest is one line.
const TOOLS: usize = 15;
/// How many problems are listed.
const PROBLEMS: usize = 10;

/// Writing to a string cannot fail, so what `write!` returns is dropped.
pub(super) fn text(name: &str, found: &Found) -> String {
    let Found { format, tally } = found;
    let counts = &tally.counts;
    let mut out = String::new();
    let _ = writeln!(
        out,
        "{name}: {format}, {}, {}, {} tokens, {}",
        counted(counts.conversations, "conversation"),
        counted(counts.messages, "message"),
        grouped(tally.tokens),
        counted(counts.compactions, "compaction"),
    );
    roles(tally, &mut out);
    tools(tally, &mut out);
    largest(tally, &mut out);
    plot("message", &tally.timeline, &mut out);
    provider(tally, &mut out);
    kinds("the model saw, not shown here", &counts.unshown, &mut out);
    problems(tally, &mut out);
    out
}

/// What the provider counted beside what is counted here: it also saw what the file does not hold, such as tools.
fn provider(tally: &Tally, out: &mut String) {
    let Some(sum) = tally.provider else {
        return;
    };
    let _ = writeln!(
        out,
        "\ncounted by the provider: {}, largest context {} tokens (here {}), answers {} tokens",
        counted(sum.requests, "request"),
        grouped(sum.largest_context_tokens),
        grouped(tally.timeline.largest()),
        grouped(sum.output_tokens),
    );
}

/// Kinds of entries with how many there are, on one line.
fn kinds(what: &str, counts: &BTreeMap<String, u64>, out: &mut String) {
    if counts.is_empty() {
        return;
    }
    let kinds: Vec<String> = counts
        .iter()
        .map(|(kind, count)| format!("{kind} {count}"))
        .collect();
    let _ = writeln!(out, "\n{what}: {}", kinds.join(", "));
}

fn roles(tally: &Tally, out: &mut String) {
    let _ = writeln!(
        out,
        "\n{:<24} {:>9} {:>13} {:>6}",
        "role", "messages", "tokens", "share"
    );
    for (role, share) in &tally.by_role {
        line(role, share, tally.tokens, out);
    }
}

fn tools(tally: &Tally, out: &mut String) {
    if tally.by_tool.is_empty() {
        return;
    }
    let _ = writeln!(
        out,
        "\n{:<24} {:>9} {:>13} {:>6}",
        "tool", "calls", "tokens", "share"
    );
    let mut tools: Vec<_> = tally.by_tool.iter().collect();
    tools.sort_by_key(|(name, share)| (std::cmp::Reverse(share.tokens), (*name).clone()));
    for (name, share) in tools.iter().take(TOOLS) {
        line(name, share, tally.tokens, out);
    }
    let rest = tools.iter().skip(TOOLS);
    let (count, tokens) = rest.fold((0, 0), |(count, tokens), (_, share)| {
        (count + share.count, tokens + share.tokens)
    });
    if tools.len() > TOOLS {
        let name = format!("{} more", tools.len() - TOOLS);
        line(&name, &Share { count, tokens }, tally.tokens, out);
    }
}

fn line(name: &str, share: &Share, all: u64, out: &mut String) {
    let name: String = name.chars().filter(|c| !c.is_control()).take(24).collect();
    let percent = share.tokens as f64 * 100.0 / all.max(1) as f64;
    let _ = writeln!(
        out,
        "{name:<24} {:>9} {:>13} {percent:>5.1}%",
        grouped(share.count),
        grouped(share.tokens),
    );
}

fn largest(tally: &Tally, out: &mut String) {
    let _ = writeln!(out, "\n{:<24} {:>13}  role", "largest messages", "tokens");
    for large in &tally.largest {
        let place = format!("{} ({})", large.message.0 + 1, large.position);
        let _ = writeln!(
            out,
            "{place:<24} {:>13}  {:<9} {}",
            grouped(large.tokens),
            large.role,
            large.preview,
        );
    }
}

/// How the context grew, one `thing` (a message, a request) after the other.
pub(crate) fn plot(thing: &str, timeline: &Timeline, out: &mut String) {
    let _ = writeln!(
        out,
        "\ncontext, {thing} by {thing} (up to {} tokens)",
        grouped(timeline.largest()),
    );
    for row in timeline.rows(PLOT_WIDTH, PLOT_HEIGHT) {
        let _ = writeln!(out, "│{}", row.trim_end());
    }
    let width = PLOT_WIDTH.min(timeline.sizes.len()).max(1);
    let mut axis = vec!['─'; width];
    for at in &timeline.compactions {
        let column = at * width / timeline.sizes.len().max(1);
        if let Some(mark) = axis.get_mut(column.min(width - 1)) {
            *mark = '▲';
        }
    }
    let _ = writeln!(out, "└{}", axis.into_iter().collect::<String>());
    if !timeline.compactions.is_empty() {
        let _ = writeln!(out, " ▲ compacted");
    }
}

fn problems(tally: &Tally, out: &mut String) {
    let problems = &tally.counts.problems;
    if problems.total() == 0 {
        return;
    }
    let _ = writeln!(out, "\n{}", counted(problems.total(), "problem"));
    for problem in problems.kept.iter().take(PROBLEMS) {
        let _ = writeln!(
            out,
            "  {:<10} {:<20} {}",
            problem.position.to_string(),
            problem.code.as_str(),
            problem.message,
        );
    }
    if problems.total() > PROBLEMS as u64 {
        let _ = writeln!(out, "  … `epitome check` lists all");
    }
}

/// A number and its noun.
pub(crate) fn counted(count: u64, noun: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{} {noun}{ending}", grouped(count))
}

/// A number with commas between its groups.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}
