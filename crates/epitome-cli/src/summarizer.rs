//! Who writes summaries: what a user says on the command line and in the configuration, as the engine wants it.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use epitome::settings::{Settings, Value};
use epitome::{Compaction, Job, NoPlan};
use epitome_config::{Flag, KeySource, Summarizer, SummarizerKind};
use epitome_engine::Clock;
use epitome_engine::model::{
    CallLimits, Caller, Delivery, Endpoint, Key, SpendLedger, SpendLimits,
};
use epitome_engine::summarise::{
    Ladder, ModelWriter, Parts, Style, SummaryForm, Templates, Wish, Written,
};
use epitome_wire::Wire;

/// Servers that people run themselves, by name.
const LOCAL: &[(&str, &str)] = &[
    ("ollama", "http://127.0.0.1:11434/v1"),
    ("llamacpp", "http://127.0.0.1:8080/v1"),
    ("vllm", "http://127.0.0.1:8000/v1"),
];

/// `--summarizer` as settings of the configuration.
pub(crate) fn flags(given: Option<&str>) -> Result<Vec<Flag>> {
    let Some(given) = given else {
        return Ok(Vec::new());
    };
    let flag =
        |path: &str, value: &str| Flag::new("--summarizer", path, Value::Text(value.to_owned()));
    let local = LOCAL.iter().find(|(name, _)| *name == given);
    if let Some((_, url)) = local {
        return Ok(vec![
            flag("summarizer.kind", "openai-chat"),
            flag("summarizer.url", url),
        ]);
    }
    if given.starts_with("http://") || given.starts_with("https://") {
        let kind = if given.contains("anthropic") || given.ends_with("/messages") {
            "anthropic"
        } else if given.ends_with("/responses") {
            "openai-responses"
        } else {
            "openai-chat"
        };
        let base = ["/chat/completions", "/responses", "/messages"]
            .into_iter()
            .find_map(|path| given.strip_suffix(path));
        return Ok(vec![
            flag("summarizer.kind", kind),
            flag("summarizer.url", base.unwrap_or(given)),
        ]);
    }
    let kind = if given == "openai" {
        "openai-chat"
    } else {
        given
    };
    let known = [
        "extractive",
        "none",
        "openai-chat",
        "openai-responses",
        "anthropic",
    ];
    if !known.contains(&kind) {
        let local = LOCAL.iter().map(|(name, _)| *name).collect::<Vec<_>>();
        bail!(
            "`{given}` writes no summaries: use extractive, none, openai, openai-responses, anthropic, {} or an address",
            local.join(", ")
        );
    }
    Ok(vec![flag("summarizer.kind", kind)])
}

/// Carries a plan out with whoever is to write.
pub(crate) fn written(
    job: &Job,
    section: &Summarizer,
    settings: &Settings,
    model: Option<&str>,
    focus: Option<&str>,
) -> Result<(Result<Compaction, NoPlan>, Option<Written>)> {
    let caller = match wire(section.kind) {
        None if section.kind == SummarizerKind::None => {
            let note = format!(
                "{} messages left the view; no summary was asked for.",
                job.span().len()
            );
            let prepared = job.annotate(&note);
            return Ok((prepared.map(|prepared| prepared.compaction().clone()), None));
        }
        None => {
            let prepared = job.clone().extract_for(focus);
            return Ok((prepared.map(|prepared| prepared.compaction().clone()), None));
        }
        Some(wire) => caller(wire, section, settings, model)?,
    };
    let mut style = Style::of(settings);
    // A command has no request of a conversation that a provider could have cached.
    style.form = SummaryForm::Transcript;
    if let Some(most) = section.max_output_tokens {
        style.most_tokens = Some(most);
    }
    style.parallel = usize::try_from(section.parallel).unwrap_or(1);
    let mut templates = Templates::built_in();
    for (name, path) in &section.templates {
        templates.replace_from(name, path)?;
    }
    let writer = ModelWriter::new(caller.clone(), Arc::new(templates), style, Parts::default());
    let ladder = Ladder::new(Some(Arc::new(writer)), settings.common.on_failure);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("cannot start")?;
    let written = runtime.block_on(async {
        let asked = caller.begin("command");
        let cancel = asked.cancel.clone();
        let wish = Wish {
            focus,
            request: None,
            asked,
        };
        tokio::select! {
            written = ladder.write(job, wish) => Some(written),
            _ = tokio::signal::ctrl_c() => {
                cancel.cancel();
                None
            }
        }
    });
    let Some(written) = written else {
        bail!("interrupted");
    };
    let compaction = match &written.prepared {
        Ok(prepared) => Ok(prepared.compaction().clone()),
        Err(no) => Err(*no),
    };
    Ok((compaction, Some(written)))
}

const fn wire(kind: SummarizerKind) -> Option<Wire> {
    match kind {
        SummarizerKind::OpenAiChat => Some(Wire::OpenAiChat),
        SummarizerKind::OpenAiResponses => Some(Wire::OpenAiResponses),
        SummarizerKind::Anthropic => Some(Wire::Anthropic),
        _ => None,
    }
}

fn caller(
    wire: Wire,
    section: &Summarizer,
    settings: &Settings,
    model: Option<&str>,
) -> Result<Caller> {
    let (public, variable) = match wire {
        Wire::OpenAiChat | Wire::OpenAiResponses => ("https://api.openai.com", "OPENAI_API_KEY"),
        Wire::Anthropic => ("https://api.anthropic.com", "ANTHROPIC_API_KEY"),
    };
    let url = section.url.as_ref().map_or(public, |url| url.expose());
    let model = settings
        .common
        .summary_model
        .as_deref()
        .or(section.model.as_deref())
        .or(model)
        .context("no model to write the summary: set `summarizer.model` (EPITOME_SUMMARIZER_MODEL) or --model")?;
    let key = match section.key() {
        Some(KeySource::Variable(name)) => Key::Environment(name),
        Some(KeySource::File(path)) => Key::File(path),
        // A server of one's own usually wants none.
        None if section.url.is_some() => match std::env::var_os(variable) {
            Some(_) => Key::Environment(variable.to_owned()),
            None => Key::None,
        },
        None => Key::Environment(variable.to_owned()),
    };
    let call = Duration::from_secs(section.call_timeout_seconds);
    let limits = CallLimits {
        call,
        silence: call.min(Duration::from_secs(60)),
        operation: Duration::from_secs(section.operation_timeout_seconds),
        retries: u32::try_from(section.retries).unwrap_or(u32::MAX),
    };
    let delivery = if section.stream {
        Delivery::Streamed
    } else {
        Delivery::Whole
    };
    let mut endpoint = Endpoint::new(wire, url, model)?
        .with_key(key)
        .with_limits(limits)
        .with_delivery(delivery);
    if let Some(tokens) = section.window {
        endpoint = endpoint.with_window(tokens);
    }
    let spending = SpendLedger::new(SpendLimits {
        conversation_usd: section.spend.conversation_usd,
        hour_usd: section.spend.hour_usd,
    });
    Ok(Caller::new(endpoint, Arc::new(spending), Clock::default()))
}
