//! Who writes summaries: what a user says on the command line and in the configuration, as the engine wants it.

use std::sync::Arc;

use anyhow::{Context, Result, bail};
use epitome::settings::{Settings, Value};
use epitome::{Compaction, Job, NoPlan};
use epitome_config::{Flag, Summarizer, SummarizerKind};
use epitome_engine::configuration;
use epitome_engine::summarise::{Ladder, ModelWriter, Parts, SummaryForm, Wish, Written};

use crate::terminal::tell;

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
        "borrow",
    ];
    if !known.contains(&kind) {
        let local = LOCAL.iter().map(|(name, _)| *name).collect::<Vec<_>>();
        bail!(
            "`{given}` writes no summaries: use extractive, none, openai, openai-responses, anthropic, {}, an address, or in `serve` \
             borrow",
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
    if section.kind == SummarizerKind::Borrow {
        tell!(
            "epitome: there is no client to borrow a model from, so that the built-in summariser writes: `borrow` is for \
             `epitome serve`"
        );
    }
    let Some(caller) = configuration::caller(section, settings, model)? else {
        let prepared = if section.kind == SummarizerKind::None {
            let count = job.span().len();
            job.annotate(&format!(
                "{count} messages left the view; no summary was asked for."
            ))
        } else {
            job.extract_for(focus)
        };
        return Ok((prepared.map(|prepared| prepared.compaction().clone()), None));
    };
    let mut style = configuration::style(section, settings);
    // A command has no request of a conversation that a provider could have cached.
    style.form = SummaryForm::Transcript;
    let templates = Arc::new(configuration::templates(section)?);
    let writer = ModelWriter::new(caller.clone(), templates, style, Parts::default());
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
