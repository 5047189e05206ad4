//! `epitome compact`.

mod report;

use std::io::Read;
use std::path::Path;

use anyhow::{Context, Result, bail};
use bytes::Bytes;
use epitome::{
    Compaction, Facts, Log, Message, Meter, NoPlan, Plan, Preset, Reason, Trigger,
    UNCALIBRATED_ERROR_RATIO, Usage, Window, leading_system, window_of,
};
use epitome_wire::{Body, Detected, Wire, decode, detect};

use crate::Ending;
use crate::args::{CompactArgs, Count, Format};
use report::Report;

/// A conversation read from a file.
pub(crate) struct Input {
    body: Body,
    is_request: bool,
    pub(crate) messages: Vec<Message>,
    log: Log,
}

pub(crate) fn run(args: &CompactArgs) -> Result<Ending> {
    let started = now();
    let name = args.file.display().to_string();
    let input = read(&args.file, args.format, args.count).with_context(|| name.clone())?;
    let meter = meter(args.count);
    let outcome = decide(args, &input, meter);
    let rendered = match &outcome {
        Ok(compaction) => {
            let view = compaction.view(input.log.len());
            Some(
                input
                    .body
                    .render(&view, &compaction.summary.text)?
                    .into_bytes(),
            )
        }
        Err(_) => None,
    };
    let report = Report::new(
        &name,
        args.preset,
        &input,
        outcome,
        rendered,
        started.elapsed(),
    )?;
    if let Some(out) = &args.out
        && !args.dry_run
        && report.ending() == Ending::Done
    {
        let body = report.request_body(&input);
        std::fs::write(out, body).with_context(|| format!("cannot write {}", out.display()))?;
    }
    crate::print(&report.text(args, &input)?)?;
    Ok(report.ending())
}

#[expect(
    clippy::disallowed_methods,
    reason = "the command reports how long it took"
)]
fn now() -> std::time::Instant {
    std::time::Instant::now()
}

pub(crate) const fn meter(count: Count) -> Meter {
    match count {
        Count::Chars4 => Meter::Chars4,
        Count::O200k => Meter::O200k,
        Count::Cl100k => Meter::Cl100k,
        Count::Auto => Meter::Estimate,
    }
}

pub(crate) fn read(path: &Path, format: Format, count: Count) -> Result<Input> {
    let bytes = if path == Path::new("-") {
        let mut bytes = Vec::new();
        std::io::stdin().lock().read_to_end(&mut bytes)?;
        bytes
    } else {
        if path.is_dir() {
            bail!("is a folder; name a file");
        }
        std::fs::read(path)?
    };
    if bytes.iter().all(u8::is_ascii_whitespace) {
        bail!("is empty");
    }
    let wire = match format {
        Format::Auto => None,
        Format::OpenaiChat => Some(Wire::OpenAiChat),
        Format::OpenaiResponses => Some(Wire::OpenAiResponses),
        Format::Anthropic => Some(Wire::Anthropic),
    };
    let Detected { body, is_request } =
        detect(&Bytes::from(bytes), wire).context("no conversation that can be read here")?;
    let meter = meter(count);
    let mut messages = Vec::with_capacity(body.len());
    let mut log = Log::new();
    for index in 0..body.len() {
        let at = || format!("message {}", index + 1);
        let value = body.read(index).with_context(at)?;
        let message = decode(body.wire(), &value).with_context(at)?.message;
        log.push(&Facts::of(&message, meter));
        messages.push(message);
    }
    Ok(Input {
        body,
        is_request,
        messages,
        log,
    })
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
    let plan = Plan::with(&preset, log, args.budget, target, reason)?.without_heartbeats(log);
    let focus = args.focus.as_deref();
    Compaction::extract_as(preset.name, plan, log, &input.messages, meter, focus)
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
