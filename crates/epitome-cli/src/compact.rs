//! `epitome compact`.

mod input;
mod page;
mod report;
mod session;

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use epitome::settings::Value;
use epitome::{
    Basis, Belief, Compaction, Job, NoPlan, OutputCounting, Plan, Preset, Reason, Room, Trigger,
    Usage, WindowSource, leading_system,
};
use epitome_config::{Flag, Resolved, Summarizer, SummarizerKind};
use epitome_wire::Body;

use crate::Ending;
use crate::args::{CompactArgs, Count};
use crate::clock::Stopwatch;
use crate::config;
use crate::source::Source;
use crate::summarizer;
use crate::terminal::tell;
use crate::writing::{Existing, Target};
pub(crate) use input::chosen;
use input::{Input, read};
use report::Report;

pub(crate) fn run(args: &CompactArgs, config: Option<&Path>) -> Result<Ending> {
    let mut started = Stopwatch::start();
    let target = args.out.as_deref().map(|out| {
        let existing = Existing::of_flag(args.force);
        Target::checked(out, [args.file.as_path()], existing)
    });
    let target = target.transpose()?;
    let (resolved, summarizer) = resolved(args, config)?;
    let name = args.file.display().to_string();
    let mut source = Source::open(&args.file).with_context(|| name.clone())?;
    let inputs = read(&mut source, args, args.count.meter()).with_context(|| name.clone())?;
    if let (Some(_), [first, _, ..]) = (&args.out, inputs.as_slice()) {
        let (count, format) = (inputs.len(), first.format());
        bail!("{name}: holds {count} conversations of {format}; choose one with --conversation");
    }
    let mut ending = Ending::Done;
    for input in &inputs {
        let report = compact(args, &resolved, &summarizer, &name, input, started)?;
        started = Stopwatch::start();
        if let Some(target) = &target
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
            target.write(&bytes)?;
        }
        Target::report(target.as_ref(), &report.text(args, input)?)?;
        if report.ending() == Ending::No {
            ending = Ending::No;
        }
    }
    // The program ends: the system takes its memory back as a whole, which is faster.
    std::mem::forget(inputs);
    Ok(ending)
}

fn compact(
    args: &CompactArgs,
    resolved: &Resolved,
    summarizer: &Summarizer,
    name: &str,
    input: &Input,
    started: Stopwatch,
) -> Result<Report> {
    let outcome = match decide(args, resolved, input) {
        Ok(plan) => carry_out(args, resolved, summarizer, input, plan)?,
        Err(no) => Err(no),
    };
    let rendered = match &outcome {
        Ok(compaction) => {
            let view = compaction.view(input.log.len());
            let summary = &compaction.summary.text;
            let body = input.body(Some(&view))?;
            Some(body.render(&view, summary)?.into_bytes())
        }
        Err(_) => None,
    };
    Report::new(
        name,
        resolved.settings.design(),
        input,
        outcome,
        rendered,
        started.taken(),
    )
}

fn decide(args: &CompactArgs, resolved: &Resolved, input: &Input) -> Result<Plan, NoPlan> {
    let log = &input.log;
    let no = |reason| NoPlan {
        reason,
        floor_tokens: 0,
    };
    if let Some(reason) = input.file.as_ref().and_then(Body::kept_by_provider) {
        return Err(no(reason));
    }
    // What is only named in a file was never seen here.
    if input.file.as_ref().is_some_and(Body::names_items) {
        return Err(no(Reason::ServerSideHistory));
    }
    let preset = Preset::from(&resolved.settings);
    let window = resolved.window;
    let there = log.tokens(leading_system(log)..log.len());
    // Each design counts in its own way, unless the caller says how.
    let tokens = match preset.design.reference_meter() {
        Some(reference) if args.count == Count::Auto => {
            reference.tokens(&input.messages, Usage::default())
        }
        _ => log.total_tokens(),
    };
    let mut reason = Reason::Manual;
    let mut preset = preset;
    if args.auto {
        let belief = Belief::default();
        let gauge = belief.gauge(
            window,
            resolved.settings.margins(),
            None,
            OutputCounting::Apart,
        );
        let lines = gauge.read(tokens, &[]).lines;
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
    let plan = Plan::with(&preset, log, args.budget, Room::of(target), reason);
    let mut plan = plan
        .map_err(|no| match (no.reason, args.budget) {
            // What is there is above the budget, and none of it can go: that is no success.
            (Reason::NothingToRemove, Some(_)) => NoPlan {
                reason: Reason::FloorAboveBudget,
                floor_tokens: there,
            },
            _ => no,
        })?
        .without_heartbeats(log);
    if let Some(session) = &input.session {
        plan = session::expressible(plan, session, log);
    }
    Ok(plan)
}

fn carry_out(
    args: &CompactArgs,
    resolved: &Resolved,
    summarizer: &Summarizer,
    input: &Input,
    plan: Plan,
) -> Result<Result<Compaction, NoPlan>> {
    let design = resolved.settings.design();
    let meter = args.count.meter();
    let focus = args.focus.as_deref();
    if summarizer.kind == SummarizerKind::Extractive {
        let basis = Basis {
            design,
            focus,
            ..Basis::new(&input.log, &input.messages, meter)
        };
        return Ok(Compaction::extract_verified(plan, &basis));
    }
    let messages = input.messages.iter().cloned().map(Arc::new).collect();
    let job = Job::of(design, plan, input.log.clone(), messages, meter);
    let model = args.model.as_deref();
    let (outcome, written) =
        summarizer::written(&job, summarizer, &resolved.settings, model, focus)?;
    let steps = written.iter().flat_map(|written| &written.steps);
    for step in steps.filter(|step| step.failed.is_some() && !args.quiet) {
        let reason = step.failed.map_or("", Reason::as_str);
        tell!(
            "epitome: {} summary: {reason}: {}",
            step.rung.as_str(),
            step.message
        );
    }
    Ok(outcome)
}

/// The settings in force. A model that nobody knows is said to be one.
fn resolved(args: &CompactArgs, config: Option<&Path>) -> Result<(Resolved, Summarizer)> {
    let mut flags = summarizer::flags(args.summarizer.as_deref())?;
    if let Some(preset) = args.preset {
        let name = Value::Text(preset.to_string());
        flags.push(Flag::new("--preset", "preset", name));
    }
    if let Some(window) = args.window {
        flags.push(config::whole("--window", "window", window));
    }
    let loaded = config::load(config, flags, args.quiet)?;
    if !args.quiet {
        let told = [
            config::files_told(&loaded),
            config::summariser_told(&loaded),
        ];
        for line in told.into_iter().flatten() {
            tell!("epitome: {line}");
        }
    }
    let everybody = loaded.for_agent(None);
    let Some(model) = &args.model else {
        return Ok((everybody.for_any_model(), loaded.summarizer.clone()));
    };
    let resolved = everybody.for_model(model);
    if resolved.window.source == WindowSource::Assumed && !args.quiet {
        let tokens = resolved.window.tokens;
        tell!("epitome: model {model} is not in the table; assuming a window of {tokens} tokens");
    }
    Ok((resolved, loaded.summarizer.clone()))
}
