//! `replay` for people.

use std::fmt::Write;

use epitome::CachePrices;
use epitome_cost::{Lifetime, PACE_MS, Pace, Phase, Replayed, SideTotals, Step, Totals, Turn};

use crate::inspect::{Timeline, counted, grouped, plot};
use crate::play::{Input, Scene, dollars};

/// How many compactions are listed one by one.
const LISTED: usize = 20;

/// Writing to a string cannot fail, so what `write!` returns is dropped.
pub(super) fn text(
    name: &str,
    input: &Input,
    scene: &Scene,
    replayed: &Replayed,
    timeline: &Timeline,
) -> String {
    let turns = &replayed.turns;
    let mut totals = Totals::default();
    totals.add(turns);
    let mut out = String::new();
    head(name, input, scene, &totals, &mut out);
    plot("request", timeline, &mut out);
    sides(&totals, &mut out);
    compactions(turns, &totals, &mut out);
    timing(&replayed.phases, scene, &mut out);
    remarks(input, scene, &totals, &mut out);
    out
}

fn head(name: &str, input: &Input, scene: &Scene, totals: &Totals, out: &mut String) {
    let _ = writeln!(
        out,
        "{name}: {}, {}, {}",
        input.format,
        counted(totals.requests, "request"),
        counted(totals.compactions, "compaction"),
    );
    let _ = writeln!(
        out,
        "design {}, window {}{}",
        scene.preset(),
        grouped(scene.window.tokens),
        scene.window_told(),
    );
}

fn sides(totals: &Totals, out: &mut String) {
    let _ = writeln!(out, "\n{:<28} {:>16} {:>16}", "", "with epitome", "without");
    let mut row = |what: &str, value: &dyn Fn(&SideTotals) -> String| {
        let (with, without) = (value(&totals.sent), value(&totals.bare));
        let _ = writeln!(out, "{what:<28} {with:>16} {without:>16}");
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
}

fn compactions(turns: &[Turn], totals: &Totals, out: &mut String) {
    if totals.compactions == 0 {
        return;
    }
    let _ = writeln!(
        out,
        "\n{:>7} {:>8} {:<18} {:>10} {:>10} {:>6} {:>5}",
        "request", "message", "why", "tokens", "then", "kept", "pins"
    );
    let made = turns.iter().enumerate();
    let made = made.filter_map(|(at, turn)| match &turn.step {
        Step::Compacted(made) => Some((at + 1, turn.messages, made)),
        _ => None,
    });
    for (request, message, made) in made.take(LISTED) {
        let share = made.anchors_in_view as f64 * 100.0 / made.anchors.max(1) as f64;
        let _ = writeln!(
            out,
            "{request:>7} {message:>8} {:<18} {:>10} {:>10} {share:>4.0} % {:>5}",
            made.why.as_str(),
            grouped(made.tokens.0),
            grouped(made.tokens.1),
            made.pins,
        );
    }
    if totals.compactions > LISTED as u64 {
        let _ = writeln!(out, "  … `--json` lists all");
    }
    let _ = writeln!(
        out,
        " kept: of all paths, names, numbers and addresses said so far, what is in view"
    );
}

/// What showing prepared compactions when they were shown cost, beside the best time there was.
fn timing(phases: &[Phase], scene: &Scene, out: &mut String) {
    let prices = CachePrices::of(Some(scene.model.model));
    let (mut spent, mut best) = (0, 0);
    for phase in phases {
        spent += phase.spent(prices, phase.shown);
        best += phase.best(prices);
    }
    if best > 0 {
        let _ = writeln!(
            out,
            "\nwhile one lay ready, requests cost {:.2} times the least in hindsight",
            spent as f64 / best as f64
        );
    }
}

fn remarks(input: &Input, scene: &Scene, totals: &Totals, out: &mut String) {
    let _ = writeln!(out, "\n{}", scene.model.told());
    let lifetime = match input.lifetime {
        Lifetime::FiveMinutes => "five minutes",
        Lifetime::Hour => "an hour",
    };
    let _ = match input.recording.pace() {
        Pace::Recorded => writeln!(out, "times are those of the file; marks last {lifetime}"),
        Pace::Fixed => writeln!(
            out,
            "the file has no times: a request every {} seconds; marks last {lifetime}",
            PACE_MS / 1_000
        ),
    };
    let _ = match input.recording.frame_tokens() {
        0 => writeln!(
            out,
            "tools and system prompts that are not in the file are not counted"
        ),
        tokens => writeln!(
            out,
            "tools and system prompt beside the messages: {} tokens",
            grouped(tokens)
        ),
    };
    let _ = match scene.prunes {
        true => writeln!(
            out,
            "old tool results are replaced, because of server.prune"
        ),
        false => writeln!(
            out,
            "old tool results stay, as in `serve`; server.prune replaces them"
        ),
    };
    let _ = writeln!(
        out,
        "own spend: $0, the built-in summariser asks no model; costs are net of it"
    );
    if totals.bare.too_long > 0 {
        let _ = writeln!(
            out,
            "without: what is too long would be refused; its cost is what it would be"
        );
    }
    if input.own_compactions > 0 {
        let _ = writeln!(
            out,
            "the agent compacted by itself here ({}); the replay has the whole history",
            counted(input.own_compactions as u64, "time"),
        );
    }
}
