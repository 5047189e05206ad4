//! `epitome compact`.

mod input;
mod page;
mod report;
mod session;

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use epitome::settings::Value;
use epitome::{Compaction, Job, NoPlan, Plan, Reason, WindowSource};
use epitome_config::{Flag, Resolved, Summarizer, SummarizerKind};
use epitome_engine::once::{Ask, When};

use crate::Ending;
use crate::args::CompactArgs;
use crate::clock::Stopwatch;
use crate::config;
use crate::source::Source;
use crate::summarizer;
use crate::terminal::{Page, Patience, tell};
use crate::writing::{Existing, Target};
use input::{Input, read};
use report::Report;

pub(crate) fn run(args: &CompactArgs, config: Option<&Path>) -> Result<Ending> {
    let mut started = Stopwatch::start();
    let out = args
        .out
        .as_deref()
        .or_else(|| args.to.map(|_| Path::new("-")));
    let target = out.map(|out| {
        let existing = Existing::of_flag(args.force);
        Target::checked(out, [args.file.as_path()], existing)
    });
    let target = target.transpose()?;
    let (resolved, summarizer) = resolved(args, config)?;
    let name = args.file.display().to_string();
    let mut waiting = Some(Patience::unless(args.quiet, format!("compacting {name}")));
    let mut source = Source::open(&args.file).with_context(|| name.clone())?;
    let inputs = read(&mut source, args, args.count.meter()).with_context(|| name.clone())?;
    if let (Some(_), [first, _, ..]) = (&target, inputs.as_slice()) {
        let (count, format) = (inputs.len(), first.format());
        bail!("{name}: holds {count} conversations of {format}; choose one with --conversation");
    }
    let mut ending = Ending::Done;
    for input in &inputs {
        let report = compact(args, &resolved, &summarizer, &name, input, started)?;
        started = Stopwatch::start();
        drop(waiting.take());
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
        let text = report.text(args, input)?;
        match args.json || args.print.is_some() || args.diff {
            true => Target::report(target.as_ref(), &text)?,
            false => Target::report_page(target.as_ref(), &Page::of(&text))?,
        }
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
    let ask = ask(args, resolved);
    let outcome = match decide(&ask, input) {
        Ok(plan) => carry_out(args, resolved, summarizer, input, plan, &ask)?,
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

fn decide(ask: &Ask<'_>, input: &Input) -> Result<Plan, NoPlan> {
    let plan = ask.plan(input.given())?;
    Ok(match &input.session {
        Some(session) => session::expressible(plan, session, &input.log),
        None => plan,
    })
}

/// What the flags and the configuration ask for.
fn ask<'a>(args: &'a CompactArgs, resolved: &'a Resolved) -> Ask<'a> {
    Ask {
        settings: &resolved.settings,
        window: resolved.window,
        budget_tokens: args.budget,
        count: args.count.asked(),
        when: match args.auto {
            true => When::Due,
            false => When::Now,
        },
        focus: args.focus.as_deref(),
    }
}

fn carry_out(
    args: &CompactArgs,
    resolved: &Resolved,
    summarizer: &Summarizer,
    input: &Input,
    plan: Plan,
    ask: &Ask<'_>,
) -> Result<Result<Compaction, NoPlan>> {
    if summarizer.kind == SummarizerKind::Extractive {
        return Ok(ask.carry_out(plan, input.given()));
    }
    let (design, meter) = (resolved.settings.design(), ask.count.meter());
    let messages = input.messages.iter().cloned().map(Arc::new).collect();
    let job = Job::of(design, plan, input.log.clone(), messages, meter);
    let model = args.model.as_deref();
    let (outcome, written) =
        summarizer::written(&job, summarizer, &resolved.settings, model, ask.focus)?;
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
