//! The sections beside the presets' settings, one row per setting: name, type, default, bounds, who may set it, meaning.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::path::PathBuf;

use epitome::settings::{Bounds, Kind, Value};

use crate::address::Address;
use crate::field::{Digests, Field, Section, Texts, VariableName, choices, section, set_by};
use crate::row::{Form, Row, SetBy};

section! {
    /// Who writes summaries, and how the model behind it is reached.
    Summarizer in "summarizer" {
        /// Who writes summaries: the built-in one (`extractive`), nobody (`none`), a model behind one of
        /// three APIs, or in the proxy each client's own with its own key (`borrow`).
        kind: SummarizerKind = SummarizerKind::Extractive, Bounds::Any;
        /// Where the model is; empty is the provider's public address.
        url: Option<Address> = None, Bounds::Any;
        /// Which model is asked; empty is the conversation's own. The setting `summary_model` comes before it.
        model: Option<String> = None, Bounds::Any;
        /// The environment variable that holds the key. The key itself never stands in a file.
        key_env: Option<VariableName> = None, Bounds::Any;
        /// The file that holds the key and nothing else.
        key_file: Option<PathBuf> = None, Bounds::Any;
        /// How the conversation is put to the model: as one quoted `transcript`, or `aligned` with the conversation so
        /// that the provider's cache serves it.
        form: RequestForm = RequestForm::Transcript, Bounds::Any;
        /// Seconds after which one call is given up.
        call_timeout_seconds: u64 = 120, Bounds::Within(1.0, 720.0);
        /// Seconds after which a whole summary, with its retries, is given up.
        operation_timeout_seconds: u64 = 720, Bounds::Within(1.0, 720.0);
        /// How often a failed call is tried again.
        retries: u64 = 3, Bounds::Within(0.0, 20.0);
        /// How many summaries are written at the same time.
        parallel: u64 = 5, Bounds::Within(1.0, 1000.0);
        /// Whether answers are asked for as a stream.
        stream: bool = true, Bounds::Any;
        /// Tokens of the summariser's own context window; `auto` is what the model table says.
        window: Option<u64> = None, Bounds::Within(1.0, 1e12), project;
        /// Tokens that one answer may have; `auto` is what the preset asks for.
        max_output_tokens: Option<u64> = None, Bounds::AtLeast(1), project;
    } tables {
        /// What summaries may cost.
        spend: Spend,
    } also {
        /// Files that are used in place of built-in templates, by the name of the template.
        templates: BTreeMap<String, PathBuf>,
    }
}

section! {
    /// What summaries may cost; beyond it the built-in summariser writes them.
    Spend in "summarizer.spend" {
        /// US dollars for one conversation; `auto` is no limit.
        conversation_usd: Option<f64> = None, Bounds::AtLeast(0);
        /// US dollars within an hour, for all conversations together; `auto` is no limit.
        hour_usd: Option<f64> = None, Bounds::AtLeast(0);
    }
}

section! {
    /// Notes that outlive a conversation.
    Memory in "memory" {
        /// The folder of the notes; empty is `memory` in the workspace of the agent.
        folder: Option<PathBuf> = None, Bounds::Any;
        /// Whether the model gets a turn to save what should last before a compaction; `auto` is as the preset does.
        flush: Option<bool> = None, Bounds::Any;
    }
}

section! {
    /// A program that is told about a compaction, and may have a say in it. `[[hooks]]` stands once for each.
    Hook in "hooks" {
        /// When it runs: `before_compact` with the plan, `before` and `after` with the record alone.
        on: HookEvent = HookEvent::After, Bounds::Any;
        /// The program and its arguments; no shell is involved.
        command: Vec<String> = Vec::new(), Bounds::Any;
        /// Seconds after which it is stopped and the compaction goes on without it.
        timeout_seconds: u64 = 10, Bounds::Within(1.0, 600.0);
        /// Whether it may call the compaction off.
        may_cancel: bool = false, Bounds::Any;
        /// Whether it may write the summary itself.
        may_replace: bool = false, Bounds::Any;
    }
}

section! {
    /// The proxy.
    Server in "server" {
        /// Where it listens.
        listen: SocketAddr = SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::LOCALHOST, 7700)), Bounds::Any;
        /// Where OpenAI-shaped requests go.
        openai_upstream: Address = Address::new("https://api.openai.com"), Bounds::Any;
        /// Where Anthropic-shaped requests go.
        anthropic_upstream: Address = Address::new("https://api.anthropic.com"), Bounds::Any;
        /// Where conversations are kept: `sqlite:PATH`, `postgres://USER:PASSWORD@HOST/DATABASE` or `none`; empty is SQLite in the user's data folder.
        store: Option<Address> = None, Bounds::Any;
        /// The file with the keys that the store is encrypted with, 64 hexadecimal digits each, the one that writes first; empty is in
        /// clear. The keys themselves may stand in the environment variable EPITOME_STORE_KEY, and nowhere else.
        store_key_file: Option<PathBuf> = None, Bounds::Any;
        /// Whether requests are only watched and never changed.
        observe: bool = false, Bounds::Any;
        /// Whether a line stands for each old tool result before anything is summarised, where a request would be compacted.
        prune: bool = false, Bounds::Any;
        /// Whether histories that arrive damaged are repaired.
        repair: bool = false, Bounds::Any;
        /// Bodies above this many bytes are streamed through unread.
        inspection_limit_bytes: u64 = 64 << 20, Bounds::AtLeast(0);
        /// The header in which a trusted peer names who asks, for tenants with `principals`.
        principal_header: String = "x-forwarded-user".to_owned(), Bounds::Any;
        /// The addresses or networks from which that header is believed: those of a proxy that checks who asks and lets
        /// nobody else write it.
        trusted_peers: Texts = Texts::default(), Bounds::Any;
        /// The names that the proxy is reached by beside those of this machine, without ports: that of a TLS proxy in front of it.
        /// Where it listens for others, none is any name, and tenants with `principals` need one.
        hosts: Texts = Texts::default(), Bounds::Any;
    }
}

section! {
    /// One of those whose requests the proxy takes. `[tenants.NAME]` stands once for each; without any everybody on this
    /// machine is the tenant `local`.
    Tenant in "tenants" {
        /// Digests of its keys, which its clients send in the header `x-epitome-key`; `epitome config key` makes them.
        keys: Digests = Digests::default(), Bounds::Any;
        /// The environment variable that holds such a key itself.
        key_env: Option<VariableName> = None, Bounds::Any;
        /// The file that holds such keys themselves, one on a line.
        key_file: Option<PathBuf> = None, Bounds::Any;
        /// Digests of provider keys, which its clients send in `authorization` or `x-api-key` anyway.
        provider_keys: Digests = Digests::default(), Bounds::Any;
        /// Who belongs to it, as `server.principal_header` names them.
        principals: Texts = Texts::default(), Bounds::Any;
        /// Conversations that are kept; beyond it others are not stored. `auto` is no limit.
        max_conversations: Option<u64> = None, Bounds::AtLeast(0);
        /// Bytes that are kept; beyond it nothing is stored. `auto` is no limit.
        max_bytes: Option<u64> = None, Bounds::AtLeast(0);
        /// US dollars that summaries by models may cost in a period; beyond it the built-in summariser writes them. `auto` is
        /// no limit.
        max_summary_usd: Option<f64> = None, Bounds::AtLeast(0);
        /// How long a period is; it begins at midnight UTC.
        summary_period: Period = Period::Month, Bounds::Any;
    }
}

choices! {
    /// How long a sum of money has to last.
    Period {
        /// A day.
        Day = "day",
        /// A month.
        Month = "month",
    }
}

choices! {
    /// Who writes summaries.
    SummarizerKind {
        /// The built-in one: verbatim lines, no model.
        Extractive = "extractive",
        /// Nobody: what is cut leaves only a marker.
        None = "none",
        /// A model behind OpenAI's Chat Completions API, or one that speaks it.
        OpenAiChat = "openai-chat",
        /// A model behind OpenAI's Responses API.
        OpenAiResponses = "openai-responses",
        /// A model behind Anthropic's Messages API.
        Anthropic = "anthropic",
        /// The model that a client of the proxy asks, with the client's own key, which is never stored.
        Borrow = "borrow",
    }
}

choices! {
    /// How a conversation is put to the summariser.
    RequestForm {
        /// As one quoted text.
        Transcript = "transcript",
        /// As the conversation's own messages, with the question at the end.
        Aligned = "aligned",
    }
}

choices! {
    /// When a hook runs.
    HookEvent {
        /// With the plan, before anything is summarised.
        BeforeCompact = "before_compact",
        /// When a compaction starts.
        Before = "before",
        /// When a compaction is recorded.
        After = "after",
    }
}

/// Where the summariser's key is. The key itself is nowhere in a configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeySource {
    /// In this environment variable.
    Variable(String),
    /// In this file.
    File(PathBuf),
}

impl Summarizer {
    /// Where the key is. When two layers say it in two ways, the higher one is right.
    #[must_use]
    pub fn key(&self) -> Option<KeySource> {
        let variable = self.key_env.as_ref();
        variable
            .map(|name| KeySource::Variable(name.as_str().to_owned()))
            .or_else(|| self.key_file.clone().map(KeySource::File))
    }
}

/// Every row of every section, in the order of the file.
pub(crate) fn rows() -> Vec<&'static Row> {
    [
        Summarizer::rows(),
        Memory::rows(),
        Server::rows(),
        Hook::rows(),
        Tenant::rows(),
    ]
    .concat()
}

/// What a row has when nobody sets it.
pub(crate) fn default_of(row: &Row) -> Option<Value> {
    let summarizer = || Summarizer::default().value(row);
    let memory = || Memory::default().value(row);
    let hook = || Hook::default().value(row);
    summarizer()
        .or_else(memory)
        .or_else(hook)
        .or_else(|| Tenant::default().value(row))
        .or_else(|| Server::default().value(row))
}
