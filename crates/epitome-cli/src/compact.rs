//! `epitome compact`.

mod input;
mod report;
mod session;

use anyhow::{Context, Result, bail};
use epitome::{
    Compaction, Meter, NoPlan, Plan, Preset, Reason, Trigger, UNCALIBRATED_ERROR_RATIO, Usage,
    Window, leading_system, window_of,
};

use crate::Ending;
use crate::args::{CompactArgs, Count};
use crate::source::Source;
pub(crate) use input::chosen;
use input::{Input, read};
use report::Report;

pub(crate) fn run(args: &CompactArgs) -> Result<Ending> {
    let mut started = now();
    let name = args.file.display().to_string();
    let mut source = Source::open(&args.file).with_context(|| name.clone())?;
    let inputs = read(&mut source, args, args.count.meter()).with_context(|| name.clone())?;
    if let (Some(_), [first, _, ..]) = (&args.out, inputs.as_slice()) {
        let (count, format) = (inputs.len(), first.format());
        bail!("{name}: holds {count} conversations of {format}; choose one with --conversation");
    }
    let mut ending = Ending::Done;
    for input in &inputs {
        let report = compact(args, &name, input, started)?;
        started = now();
        if let Some(out) = &args.out
            && !args.dry_run
            && report.ending() == Ending::Done
        {
            let bytes = match &input.session {
                Some(session) => {
                    session::file_with(&mut source, input, session, report.compaction())
                        .with_context(|| name.clone())?
                }
                None => report.request_body(input),
            };
            std::fs::write(out, bytes)
                .with_context(|| format!("cannot write {}", out.display()))?;
        }
        crate::print(&report.text(args, input)?)?;
        if report.ending() == Ending::No {
            ending = Ending::No;
        }
    }
    Ok(ending)
}

fn compact(
    args: &CompactArgs,
    name: &str,
    input: &Input,
    started: std::time::Instant,
) -> Result<Report> {
    let outcome = decide(args, input, args.count.meter());
    let rendered = match &outcome {
        Ok(compaction) => {
            let view = compaction.view(input.log.len());
            let summary = &compaction.summary.text;
            Some(input.body.render(&view, summary)?.into_bytes())
        }
        Err(_) => None,
    };
    Report::new(
        name,
        args.preset,
        input,
        outcome,
        rendered,
        started.elapsed(),
    )
}

#[expect(
    clippy::disallowed_methods,
    reason = "the command reports how long it took"
)]
fn now() -> std::time::Instant {
    std::time::Instant::now()
}

fn decide(args: &CompactArgs, input: &Input, meter: Meter) -> Result<Compaction, NoPlan> {
    let log = &input.log;
    let no = |reason| NoPlan {
        reason,
        floor_tokens: 0,
    };
    if let Some(reason) = input.body.kept_by_provider() {
        return Err(no(reason));
    }
    let preset = Preset::named(args.preset);
    let window = window(args, &preset);
    let there = log.tokens(leading_system(log)..log.len());
    // Each design counts in its own way, unless the caller says how.
    let tokens = match preset.name.reference_meter() {
        Some(reference) if args.count == Count::Auto => {
            reference.tokens(&input.messages, Usage::default())
        }
        _ => log.total_tokens(),
    };
    let mut reason = Reason::Manual;
    let mut preset = preset;
    if args.auto {
        let lines = window.lines(0, UNCALIBRATED_ERROR_RATIO);
        preset.is_due(tokens, window, lines).map_err(no)?;
        preset = preset.at_usage(tokens, window);
        reason = match preset.trigger {
            Trigger::HardLine => Reason::HardLine,
            _ => Reason::Threshold,
        };
    }
    if args.budget.is_some_and(|budget| there <= budget) {
        return Err(no(Reason::WithinBudget));
    }
    let target = (window.tokens / 4).min(there / 2);
    let mut plan = Plan::with(&preset, log, args.budget, target, reason)?.without_heartbeats(log);
    if let Some(session) = &input.session {
        plan = session::expressible(plan, session, log);
    }
    let focus = args.focus.as_deref();
    Compaction::extract_verified(preset.name, plan, log, &input.messages, meter, focus, &[])
}

fn window(args: &CompactArgs, preset: &Preset) -> Window {
    match (args.window, &args.model) {
        (Some(tokens), _) => Window::configured(tokens),
        (None, Some(model)) => window_of(model).unwrap_or_else(|| {
            if !args.quiet {
                let tokens = preset.assumed_window().tokens;
                eprintln!("epitome: model {model} is not in the table; assuming a window of {tokens} tokens");
            }
            preset.assumed_window()
        }),
        (None, None) => preset.assumed_window(),
    }
}
