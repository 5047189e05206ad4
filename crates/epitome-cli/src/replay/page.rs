//! `replay` for people.

use epitome::{CachePrices, Reason};
use epitome_cost::{Lifetime, PACE_MS, Pace, Phase, Replayed, SideTotals, Step, Totals, Turn, Why};

use crate::inspect::{Timeline, plot};
use crate::play::{Input, Scene, dollars};
use crate::terminal::{Page, Table, counted, grouped, left, right};

/// How many compactions are listed one by one.
const LISTED: usize = 20;

pub(super) fn page(
    name: &str,
    input: &Input,
    scene: &Scene,
    replayed: &Replayed,
    timeline: &Timeline,
) -> Page {
    let turns = &replayed.turns;
    let mut totals = Totals::default();
    totals.add(turns);
    let mut page = Page::default();
    head(name, input, scene, &totals, &mut page);
    plot("request", timeline, &mut page);
    sides(&totals, &mut page);
    compactions(turns, &totals, &mut page);
    timing(&replayed.phases, scene, &mut page);
    remarks(input, scene, &totals, &mut page);
    page
}

fn head(name: &str, input: &Input, scene: &Scene, totals: &Totals, page: &mut Page) {
    page.heading(format!(
        "{name}: {}, {}, {}",
        input.format,
        counted(totals.requests, "request"),
        counted(totals.compactions, "compaction"),
    ));
    page.line(format!(
        "design {}, window {}{}",
        scene.preset(),
        grouped(scene.window.tokens),
        scene.window_told(),
    ));
}

fn sides(totals: &Totals, page: &mut Page) {
    let mut table = Table::new([left(""), right("with epitome"), right("without")]);
    let mut row = |what: &str, value: &dyn Fn(&SideTotals) -> String| {
        table.row([what.to_owned(), value(&totals.sent), value(&totals.bare)]);
    };
    row("tokens sent", &|side| grouped(side.spent.input_tokens()));
    row("  read from the cache", &|side| {
        grouped(side.spent.read_tokens)
    });
    row("  written to the cache", &|side| {
        grouped(side.spent.written_tokens())
    });
    row("  neither", &|side| grouped(side.spent.fresh_tokens));
    row("tokens answered", &|side| grouped(side.spent.output_tokens));
    row("largest request", &|side| grouped(side.largest_tokens));
    row("cost", &|side| dollars(side.nanodollars));
    row("too long for the window", &|side| grouped(side.too_long));
    page.gap();
    page.table(table);
}

fn compactions(turns: &[Turn], totals: &Totals, page: &mut Page) {
    if totals.compactions == 0 {
        return;
    }
    let mut table = Table::new([
        right("request"),
        right("message").leaves(0),
        left("why"),
        right("tokens"),
        right("then"),
        right("kept"),
        right("pins"),
    ]);
    let made = turns.iter().enumerate();
    let made = made.filter_map(|(at, turn)| match &turn.step {
        Step::Compacted(made) => Some((at + 1, turn.messages, made)),
        _ => None,
    });
    for (request, message, made) in made.take(LISTED) {
        let share = made.anchors_in_view as f64 * 100.0 / made.anchors.max(1) as f64;
        table.row([
            request.to_string(),
            message.to_string(),
            words(made.why).to_owned(),
            grouped(made.tokens.0),
            grouped(made.tokens.1),
            format!("{share:.0} %"),
            made.pins.to_string(),
        ]);
    }
    page.gap();
    page.table(table);
    if totals.compactions > LISTED as u64 {
        page.faint("… `--json` lists all");
    }
    page.faint("kept: of all paths, names, numbers and addresses said so far, what is in view");
}

/// Why a compaction was shown, for people.
const fn words(why: Why) -> &'static str {
    match why {
        Why::Must(Reason::HardLine) => "it had to be",
        Why::Must(Reason::Threshold) => "the design's line",
        Why::Must(reason) => reason.as_str(),
        Why::Cold => "the cache was cold",
        Why::Pays => "it pays",
        Why::Design => "it was ready",
    }
}

/// What showing prepared compactions when they were shown cost, beside the best time there was.
fn timing(phases: &[Phase], scene: &Scene, page: &mut Page) {
    let prices = CachePrices::of(Some(scene.model.model));
    let (mut spent, mut best) = (0, 0);
    for phase in phases {
        spent += phase.spent(prices, phase.shown);
        best += phase.best(prices);
    }
    if best > 0 {
        page.gap();
        page.line(format!(
            "while one lay ready, requests cost {:.2} times the least in hindsight",
            spent as f64 / best as f64
        ));
    }
}

fn remarks(input: &Input, scene: &Scene, totals: &Totals, page: &mut Page) {
    page.gap();
    page.faint(scene.model.told());
    let lifetime = match input.lifetime {
        Lifetime::FiveMinutes => "five minutes",
        Lifetime::Hour => "an hour",
    };
    page.faint(match input.recording.pace() {
        Pace::Recorded => format!("times are those of the file; marks last {lifetime}"),
        Pace::Fixed => format!(
            "the file has no times: a request every {} seconds; marks last {lifetime}",
            PACE_MS / 1_000
        ),
    });
    page.faint(match input.recording.frame_tokens() {
        0 => "tools and system prompts that are not in the file are not counted".to_owned(),
        tokens => format!(
            "tools and system prompt beside the messages: {} tokens",
            grouped(tokens)
        ),
    });
    page.faint(match scene.prunes {
        true => "old tool results are replaced, because of server.prune",
        false => "old tool results stay, as in `serve`; server.prune replaces them",
    });
    page.faint("own spend: $0, the built-in summariser asks no model; costs are net of it");
    if totals.bare.too_long > 0 {
        page.faint("without: what is too long would be refused; its cost is what it would be");
    }
    if input.own_compactions > 0 {
        page.faint(format!(
            "the agent compacted by itself here ({}); the replay has the whole history",
            counted(input.own_compactions as u64, "time"),
        ));
    }
}
