//! `inspect` for people.

use std::collections::BTreeMap;

use epitome_engine::archive::one_line;

use super::Found;
use super::tally::{Share, Tally};
use super::timeline::Timeline;
use crate::terminal::{Page, Table, counted, grouped, left, right, width};

const PLOT_WIDTH: usize = 72;
const PLOT_HEIGHT: usize = 6;
const NAME_CHARS: usize = 24;
const LEAST_NAME_CHARS: usize = 12;
/// How many tools are listed; the rest is one line.
const TOOLS: usize = 15;
/// How many problems are listed.
const PROBLEMS: usize = 10;

pub(super) fn page(name: &str, found: &Found) -> Page {
    let Found { format, tally } = found;
    let counts = &tally.counts;
    let mut page = Page::default();
    page.heading(format!(
        "{name}: {format}, {}, {}, {} tokens, {}",
        counted(counts.conversations, "conversation"),
        counted(counts.messages, "message"),
        grouped(tally.tokens),
        counted(counts.compactions, "compaction"),
    ));
    roles(tally, &mut page);
    tools(tally, &mut page);
    largest(tally, &mut page);
    plot("message", &tally.timeline, &mut page);
    provider(tally, &mut page);
    kinds("the model saw, not shown here", &counts.unshown, &mut page);
    problems(tally, &mut page);
    page
}

/// What the provider counted beside what is counted here: it also saw what the file does not hold, such as tools.
fn provider(tally: &Tally, page: &mut Page) {
    let Some(sum) = tally.provider else {
        return;
    };
    page.gap();
    page.line(format!(
        "counted by the provider: {}, largest context {} tokens (here {}), answers {} tokens",
        counted(sum.requests, "request"),
        grouped(sum.largest_context_tokens),
        grouped(tally.timeline.largest()),
        grouped(sum.output_tokens),
    ));
}

/// Kinds of entries with how many there are, on one line.
fn kinds(what: &str, counts: &BTreeMap<String, u64>, page: &mut Page) {
    if counts.is_empty() {
        return;
    }
    let kinds: Vec<String> = counts
        .iter()
        .map(|(kind, count)| format!("{kind} {count}"))
        .collect();
    page.gap();
    page.line(format!("{what}: {}", kinds.join(", ")));
}

fn roles(tally: &Tally, page: &mut Page) {
    let mut table = shares("role", "messages");
    for (role, share) in &tally.by_role {
        table.row(cells(role, share, tally.tokens));
    }
    page.gap();
    page.table(table);
}

fn tools(tally: &Tally, page: &mut Page) {
    if tally.by_tool.is_empty() {
        return;
    }
    let mut table = shares("tool", "calls");
    let mut tools: Vec<_> = tally.by_tool.iter().collect();
    tools.sort_by_key(|(name, share)| (std::cmp::Reverse(share.tokens), (*name).clone()));
    for (name, share) in tools.iter().take(TOOLS) {
        table.row(cells(name, share, tally.tokens));
    }
    let rest = tools.iter().skip(TOOLS);
    let (count, tokens) = rest.fold((0, 0), |(count, tokens), (_, share)| {
        (count + share.count, tokens + share.tokens)
    });
    if tools.len() > TOOLS {
        let name = format!("{} more", tools.len() - TOOLS);
        table.row(cells(&name, &Share { count, tokens }, tally.tokens));
    }
    page.gap();
    page.table(table);
}

fn shares(what: &'static str, counted: &'static str) -> Table {
    Table::new([
        left(what).shortens(LEAST_NAME_CHARS),
        right(counted),
        right("tokens"),
        right("share"),
    ])
}

fn cells(name: &str, share: &Share, all: u64) -> [String; 4] {
    let percent = share.tokens as f64 * 100.0 / all.max(1) as f64;
    [
        one_line(name, NAME_CHARS),
        grouped(share.count),
        grouped(share.tokens),
        format!("{percent:.1}%"),
    ]
}

fn largest(tally: &Tally, page: &mut Page) {
    let mut table = Table::new([
        left("largest messages"),
        right("tokens"),
        left("role"),
        left("").shortens(LEAST_NAME_CHARS),
    ]);
    for large in &tally.largest {
        table.row([
            format!("{} ({})", large.message.0 + 1, large.position),
            grouped(large.tokens),
            large.role.to_string(),
            large.preview.clone(),
        ]);
    }
    page.gap();
    page.table(table);
}

/// How the context grew, one `thing` (a message, a request) after the other.
pub(crate) fn plot(thing: &str, timeline: &Timeline, page: &mut Page) {
    page.gap();
    page.heading(format!(
        "context, {thing} by {thing} (up to {} tokens)",
        grouped(timeline.largest()),
    ));
    // The axis takes a column.
    let most = width().map_or(PLOT_WIDTH, |columns| columns.saturating_sub(1));
    let most = most.min(PLOT_WIDTH);
    for row in timeline.rows(most, PLOT_HEIGHT) {
        page.line(format!("│{}", row.trim_end()));
    }
    let width = most.min(timeline.sizes.len()).max(1);
    let mut axis = vec!['─'; width];
    for at in &timeline.compactions {
        let column = at * width / timeline.sizes.len().max(1);
        if let Some(mark) = axis.get_mut(column.min(width - 1)) {
            *mark = '▲';
        }
    }
    page.line(format!("└{}", axis.into_iter().collect::<String>()));
    if !timeline.compactions.is_empty() {
        page.faint(" ▲ compacted");
    }
}

fn problems(tally: &Tally, page: &mut Page) {
    let problems = &tally.counts.problems;
    if problems.total() == 0 {
        return;
    }
    page.gap();
    page.heading(counted(problems.total(), "problem"));
    for problem in problems.kept.iter().take(PROBLEMS) {
        page.line(format!(
            "  {:<10} {:<20} {}",
            problem.position.to_string(),
            problem.code.as_str(),
            problem.message,
        ));
    }
    page.faint("  `epitome check` lists all, and writes a repaired copy");
}
