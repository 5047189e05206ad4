//! What a configuration says, as the engine wants it.

use std::sync::Arc;
use std::time::Duration;

use epitome::settings::Settings;
use epitome_config::{
    Address, Hook, HookEvent, KeySource, Loaded, RequestForm, Resolved, Summarizer, SummarizerKind,
};
use epitome_wire::Wire;

use crate::clock::Clock;
use crate::engine::EngineBuilder;
use crate::hooks::{HookCommand, HookPoint, Hooks};
use crate::model::{
    CallLimits, Caller, Delivery, Endpoint, EndpointError, Key, Lender, SpendLedger, SpendLimits,
};
use crate::summarise::{Style, SummaryForm, TemplateError, Templates};

/// Why a configuration cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigurationError {
    /// Nobody says which model writes.
    #[error(
        "no model to write summaries: set `summarizer.model` (EPITOME_SUMMARIZER_MODEL), or name the conversation's own"
    )]
    NoModel,
    /// The address of the model.
    #[error("`summarizer.url`: {0}")]
    Endpoint(#[from] EndpointError),
    /// A template.
    #[error("`summarizer.templates`: {0}")]
    Template(#[from] TemplateError),
    /// A hook without a program.
    #[error("`hooks`: a hook has no command: write command = [\"program\", \"argument\"]")]
    NoCommand,
}

impl EngineBuilder {
    /// As a configuration says for one agent and model: preset and settings, window, summariser, templates, hooks.
    /// `model` is the conversation's own.
    ///
    /// # Errors
    /// [`ConfigurationError`].
    pub fn configured(
        self,
        loaded: &Loaded,
        resolved: &Resolved,
        model: Option<&str>,
    ) -> Result<Self, ConfigurationError> {
        let section = &loaded.summarizer;
        if section.kind == SummarizerKind::Borrow {
            tracing::warn!(
                "summarizer.kind = \"borrow\" is for the proxy: an engine has no client to borrow from, and the built-in \
                 summariser writes"
            );
        }
        let mut builder = self
            .settings(resolved.settings.clone())
            .window(resolved.window)
            .templates(templates(section)?)
            .style(style(section, &resolved.settings))
            .hooks(hooks(&loaded.hooks)?);
        if let Some(caller) = caller(section, &resolved.settings, model)? {
            builder = builder.summariser(caller);
        }
        Ok(builder)
    }
}

/// Where the model that writes summaries is: what is set, or the provider's public address; `None` where none writes.
#[must_use]
pub fn address(section: &Summarizer) -> Option<Address> {
    let public = match section.kind {
        SummarizerKind::OpenAiChat | SummarizerKind::OpenAiResponses => "https://api.openai.com",
        SummarizerKind::Anthropic => "https://api.anthropic.com",
        _ => return None,
    };
    let url = section.url.clone();
    Some(url.unwrap_or_else(|| Address::new(public)))
}

/// What asks the models of clients in their own name, where the configuration says so.
#[must_use]
pub fn lender(section: &Summarizer, settings: &Settings) -> Option<Lender> {
    if section.kind != SummarizerKind::Borrow {
        return None;
    }
    let own = settings.common.summary_model.clone();
    let lender = Lender::new(
        limits(section),
        delivery(section),
        Arc::new(spending(section)),
        Clock::default(),
    );
    Some(lender.asking(own.or_else(|| section.model.clone()), section.window))
}

/// The model that writes summaries; `None` where none does, or where clients lend theirs.
///
/// # Errors
/// [`ConfigurationError`].
pub fn caller(
    section: &Summarizer,
    settings: &Settings,
    model: Option<&str>,
) -> Result<Option<Caller>, ConfigurationError> {
    let wire = match section.kind {
        SummarizerKind::OpenAiChat => Wire::OpenAiChat,
        SummarizerKind::OpenAiResponses => Wire::OpenAiResponses,
        SummarizerKind::Anthropic => Wire::Anthropic,
        _ => return Ok(None),
    };
    let Some(url) = address(section) else {
        return Ok(None);
    };
    let variable = match wire {
        Wire::OpenAiChat | Wire::OpenAiResponses => "OPENAI_API_KEY",
        Wire::Anthropic => "ANTHROPIC_API_KEY",
    };
    let own = settings.common.summary_model.as_deref();
    let model = own
        .or(section.model.as_deref())
        .or(model)
        .ok_or(ConfigurationError::NoModel)?;
    let key = match section.key() {
        Some(KeySource::Variable(name)) => Key::Environment(name),
        Some(KeySource::File(path)) => Key::File(path),
        // A server of one's own usually wants none.
        None if section.url.is_some() && std::env::var_os(variable).is_none() => Key::None,
        None => Key::Environment(variable.to_owned()),
    };
    let mut endpoint = Endpoint::new(wire, url.expose(), model)?
        .with_key(key)
        .with_limits(limits(section))
        .with_delivery(delivery(section));
    if let Some(tokens) = section.window {
        endpoint = endpoint.with_window(tokens);
    }
    Ok(Some(Caller::new(
        endpoint,
        Arc::new(spending(section)),
        Clock::default(),
    )))
}

fn limits(section: &Summarizer) -> CallLimits {
    let call = Duration::from_secs(section.call_timeout_seconds);
    CallLimits {
        call,
        silence: call.min(CallLimits::default().silence),
        operation: Duration::from_secs(section.operation_timeout_seconds),
        retries: u32::try_from(section.retries).unwrap_or(u32::MAX),
    }
}

const fn delivery(section: &Summarizer) -> Delivery {
    match section.stream {
        true => Delivery::Streamed,
        false => Delivery::Whole,
    }
}

fn spending(section: &Summarizer) -> SpendLedger {
    SpendLedger::new(SpendLimits {
        conversation_usd: section.spend.conversation_usd,
        hour_usd: section.spend.hour_usd,
    })
}

/// The templates, with those that a user brings.
///
/// # Errors
/// [`TemplateError`] when one cannot be used.
pub fn templates(section: &Summarizer) -> Result<Templates, TemplateError> {
    let mut templates = Templates::built_in();
    for (name, path) in &section.templates {
        templates.replace_from(name, path)?;
    }
    Ok(templates)
}

/// How summaries are asked for.
#[must_use]
pub fn style(section: &Summarizer, settings: &Settings) -> Style {
    let mut style = Style::of(settings);
    if section.form == RequestForm::Aligned {
        style.form = SummaryForm::Aligned;
    }
    style.most_tokens = section.max_output_tokens.or(style.most_tokens);
    style.parallel = usize::try_from(section.parallel).unwrap_or(1);
    style
}

/// The programs that are told about compactions.
///
/// # Errors
/// [`ConfigurationError::NoCommand`].
pub fn hooks(configured: &[Hook]) -> Result<Hooks, ConfigurationError> {
    let mut hooks = Hooks::default();
    for hook in configured {
        let (program, args) = hook
            .command
            .split_first()
            .ok_or(ConfigurationError::NoCommand)?;
        let point = match hook.on {
            HookEvent::BeforeCompact => HookPoint::BeforeCompact,
            HookEvent::Before => HookPoint::Before,
            _ => HookPoint::After,
        };
        let mut command = HookCommand::new(program);
        command.args = args.to_vec();
        command.timeout = Duration::from_secs(hook.timeout_seconds);
        command.may_cancel = hook.may_cancel;
        command.may_replace = hook.may_replace;
        hooks.on_command(point, command);
    }
    Ok(hooks)
}
