//! What can be typed.

mod config;
mod inspect;
mod listen;
mod recall;
mod replay;
mod serve;
mod size;
mod store;
mod stored;
mod wrap;

use size::size;
use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};
use epitome::{Meter, PresetName};
use epitome_engine::once;
use epitome_eval::Method;
use epitome_files::FileFormat;
use epitome_wire::Wire;

pub(crate) use config::{
    ConfigArgs, ConfigCheckArgs, ConfigCommand, ConfigInitArgs, ConfigKeyArgs, ConfigShowArgs,
    ConfigTrustArgs,
};
pub(crate) use inspect::{InspectArgs, Sort};
pub(crate) use recall::{RecallArgs, RecallSort};
pub(crate) use replay::{CompareArgs, ReplayArgs};
pub(crate) use serve::{DoctorArgs, LogForm, ServeArgs};
pub(crate) use store::{
    StoreCommand, StoreCommandArgs, StoreDeleteArgs, StoreExportArgs, StoreGcArgs, StoreImportArgs,
    StorePlainArgs,
};
pub(crate) use stored::{
    ForkArgs, LogArgs, McpArgs, ModelsArgs, PinsArgs, SavingsArgs, ShowArgs, StoreArgs, UndoArgs,
};
pub(crate) use wrap::{Agent, WrapArgs};

/// Keeps conversations with language models inside their context windows.
#[derive(Debug, Parser)]
#[command(name = "epitome", version, max_term_width = 100)]
pub(crate) struct Args {
    /// Read this configuration and look for no other [env: EPITOME_CONFIG]
    #[arg(long, value_name = "FILE", global = true)]
    pub(crate) config: Option<PathBuf>,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Compact one conversation and print the result
    Compact(CompactArgs),
    /// List every structural problem of a conversation, or write a repaired copy
    Check(CheckArgs),
    /// Write a conversation in another format
    Convert(ConvertArgs),
    /// Show what a conversation is made of: tokens by role, tool and message, and how its context grew
    Inspect(InspectArgs),
    /// Walk through a conversation request by request: where a design compacts, what the cache reads, what it costs
    Replay(ReplayArgs),
    /// Set all designs side by side on a conversation or a folder of them: tokens, money, what is kept
    Compare(CompareArgs),
    /// Measure how much of recorded sessions survives compaction, without a model
    Eval(EvalArgs),
    /// Check a summary against the conversation it stands for
    Verify(VerifyArgs),
    /// Find original entries of a file or of a stored conversation by their words
    Recall(RecallArgs),
    /// List stored conversations, or the compactions of one
    Log(LogArgs),
    /// Show a stored compaction with its summary and record, or an entry byte for byte
    Show(ShowArgs),
    /// Take back the newest compaction of a stored conversation
    Undo(UndoArgs),
    /// Begin a new conversation that shares the first entries of a stored one
    ///
    /// It is for programs that embed the engine: the clients of a proxy send their own history, and branch by sending
    /// another one
    Fork(ForkArgs),
    /// List what is pinned in a stored conversation, or drop a wrong pin
    Pins(PinsArgs),
    /// Say what compactions spared, over everything that is stored
    Savings(SavingsArgs),
    /// Let an agent look for original messages in what is stored, over the Model Context Protocol
    Mcp(McpArgs),
    /// List what is believed of models, their windows and how they count, and why
    Models(ModelsArgs),
    /// Look after the store: how much it holds, copies, deleting, sweeping
    Store(StoreCommandArgs),
    /// Run the proxy: point any agent at it
    Serve(ServeArgs),
    /// Run an agent through a proxy of its own: `epitome wrap claude -- -p "fix the tests"`
    Wrap(WrapArgs),
    /// Say what works and what does not, from the configuration to a conversation that is shortened on its way
    Doctor(DoctorArgs),
    /// Write, show and check the configuration
    Config(ConfigArgs),
    /// Write a manual page for every command into a folder
    Man {
        /// The folder; it is made if it is not there
        folder: PathBuf,
    },
    /// Print a completion script for a shell
    Completions {
        /// Which shell
        shell: clap_complete::Shell,
    },
}

#[derive(Debug, ClapArgs)]
pub(crate) struct CompactArgs {
    /// A session file, a request body, an array of messages, or one message per line; `-` reads standard input
    pub(crate) file: PathBuf,
    /// What FILE is
    #[arg(long, value_enum, default_value_t = Format::Auto)]
    pub(crate) format: Format,
    /// Which one, from 1, in a file that holds several [default: all, one result each]
    #[arg(long, value_name = "N")]
    pub(crate) conversation: Option<usize>,
    /// Which design [env: EPITOME_PRESET] [default: default]
    #[arg(long, value_parser = preset())]
    pub(crate) preset: Option<PresetName>,
    /// The context window in tokens [env: EPITOME_WINDOW]
    #[arg(long, value_name = "N", value_parser = size, conflicts_with = "model")]
    pub(crate) window: Option<u64>,
    /// Take the settings of this model, and its window from the model table
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// What the whole view, the system prompt aside, may take at most [default: a quarter of the window
    /// or half of what is there, whichever is less]
    #[arg(long, value_name = "N", value_parser = size)]
    pub(crate) budget: Option<u64>,
    /// How tokens are counted
    #[arg(long, value_enum, default_value_t = Count::Auto)]
    pub(crate) count: Count,
    /// Who writes the summary: extractive, none, a provider (openai, openai-responses, anthropic, ollama, llamacpp,
    /// vllm) or an address [env: EPITOME_SUMMARIZER] [default: extractive]
    #[arg(long, value_name = "WHO")]
    pub(crate) summarizer: Option<String>,
    /// What to keep in mind
    #[arg(long, value_name = "TEXT")]
    pub(crate) focus: Option<String>,
    /// Compact only if the window asks for it
    #[arg(long)]
    pub(crate) auto: bool,
    /// Write the result to a file: a request body, or a copy of the session file with the compaction in it;
    /// `-` is standard output, and the report goes to standard error
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Write the result in this format: a session file with the compaction in it, or a request; to standard output
    /// unless `--out` names a file. What cannot be carried is told
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) to: Option<Target>,
    /// Replace the file that `--out` names if it is there; never an input
    #[arg(long, requires = "out")]
    pub(crate) force: bool,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// Print one thing alone: the text of the summary, or the messages of the result, one per line
    #[arg(long, value_enum, value_name = "WHAT", conflicts_with = "json")]
    pub(crate) print: Option<Print>,
    /// Say what would be done and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Show which messages go and which come
    #[arg(long, conflicts_with = "json")]
    pub(crate) diff: bool,
    /// Say nothing that was not asked for
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct CheckArgs {
    /// A session file, a request body, an array of messages, or one message per line; a folder of them; `-` reads
    /// standard input
    pub(crate) file: PathBuf,
    /// What FILE is
    #[arg(long, value_enum, default_value_t = Format::Auto)]
    pub(crate) format: Format,
    /// Write a repaired copy to the file that `--out` names
    #[arg(long, requires = "out")]
    pub(crate) repair: bool,
    /// Where the repaired copy goes; `-` is standard output
    #[arg(long, value_name = "FILE", requires = "repair")]
    pub(crate) out: Option<PathBuf>,
    /// Replace the file that `--out` names if it is there; never an input
    #[arg(long, requires = "out")]
    pub(crate) force: bool,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ConvertArgs {
    /// A session file, a request body, an array of messages, or one message per line; `-` reads standard input
    pub(crate) file: PathBuf,
    /// The format to write
    #[arg(long, value_enum)]
    pub(crate) to: Target,
    /// What FILE is
    #[arg(long, value_enum, default_value_t = Format::Auto)]
    pub(crate) format: Format,
    /// Which one, from 1, in a file that holds several
    #[arg(long, value_name = "N")]
    pub(crate) conversation: Option<usize>,
    /// Write to a file and not to standard output, which is `-`
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Replace the file that `--out` names if it is there; never an input
    #[arg(long, requires = "out")]
    pub(crate) force: bool,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// Say nothing that was not asked for
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// What `convert` and `compact --to` write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Target {
    Pi,
    ClaudeCode,
    Codex,
    Unified,
    /// A request body with what the model would get now
    OpenaiChat,
}

impl Target {
    /// The format of the session file; `None` for a request.
    pub(crate) const fn format(self) -> Option<FileFormat> {
        match self {
            Self::Pi => Some(FileFormat::Pi),
            Self::ClaudeCode => Some(FileFormat::ClaudeCode),
            Self::Codex => Some(FileFormat::Codex),
            Self::Unified => Some(FileFormat::Unified),
            Self::OpenaiChat => None,
        }
    }

    /// The same as something to read.
    pub(crate) const fn as_read(self) -> Format {
        match self {
            Self::Pi => Format::Pi,
            Self::ClaudeCode => Format::ClaudeCode,
            Self::Codex => Format::Codex,
            Self::Unified => Format::Unified,
            Self::OpenaiChat => Format::OpenaiChat,
        }
    }

    /// The name users write.
    pub(crate) const fn as_str(self) -> &'static str {
        match self.format() {
            Some(format) => format.as_str(),
            None => Wire::OpenAiChat.as_str(),
        }
    }
}

#[derive(Debug, ClapArgs)]
pub(crate) struct EvalArgs {
    /// A folder with sessions in `unified/` and chats with questions in `qa/beam/`
    pub(crate) dir: PathBuf,
    /// Sizes to compact to, in tokens [default: 1000,2000,4000,8000,16000]
    #[arg(long, value_name = "N,…", value_delimiter = ',')]
    pub(crate) budgets: Vec<u64>,
    /// Which methods to compare [default: all]
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', value_parser = method())]
    pub(crate) methods: Vec<Method>,
    /// Which parts to measure [default: all]
    #[arg(long, value_name = "PART,…", value_delimiter = ',', value_enum)]
    pub(crate) only: Vec<EvalPart>,
    /// Six sessions, one cut, two budgets, no chats
    #[arg(long)]
    pub(crate) quick: bool,
    /// Only where clients compacted by themselves, at the size of their summaries
    #[arg(long, conflicts_with = "quick")]
    pub(crate) real: bool,
    /// Try the gates at every message, not at every 32nd
    #[arg(long)]
    pub(crate) thorough: bool,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// Print the tables of QUALITY.md
    #[arg(long, conflicts_with_all = ["json", "quick", "real", "only", "budgets"])]
    pub(crate) markdown: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum EvalPart {
    /// What the agent needed later: identifiers, files, the user's words
    Needs,
    /// Constraints of the user, planted into sessions
    Planted,
    /// Facts that questions about long chats ask for
    Questions,
    /// What every output must be: valid, within budget, repeatable
    Gates,
}

/// The names of the methods, so that help and completions list them.
fn method() -> impl TypedValueParser<Value = Method> {
    PossibleValuesParser::new(Method::ALL.map(Method::as_str))
        .try_map(|name| name.parse::<Method>())
}

#[derive(Debug, ClapArgs)]
pub(crate) struct VerifyArgs {
    /// The conversation: a request body, an array of messages, or one message per line; `-` reads standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) source: PathBuf,
    /// The summary, as plain text
    #[arg(long, value_name = "FILE")]
    pub(crate) summary: PathBuf,
    /// The summary of the round before, as plain text
    #[arg(long, value_name = "FILE")]
    pub(crate) previous: Option<PathBuf>,
    /// What the source is
    #[arg(long, value_enum, default_value_t = Format::Auto)]
    pub(crate) format: Format,
    /// How tokens are counted
    #[arg(long, value_enum, default_value_t = Count::Auto)]
    pub(crate) count: Count,
    /// What the summary may take at most, with what is put in
    #[arg(long, value_name = "N", value_parser = size)]
    pub(crate) budget: Option<u64>,
    /// Write the summary, repaired where it had to be, to a file, or to standard output (`-`); nothing is
    /// written when it is rejected
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Replace the file that `--out` names if it is there; never an input
    #[arg(long, requires = "out")]
    pub(crate) force: bool,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    Auto,
    OpenaiChat,
    OpenaiResponses,
    Anthropic,
    Pi,
    ClaudeCode,
    Codex,
    Unified,
    Openhands,
    SweAgent,
    Tau,
    Copilot,
    Gemini,
    Opencode,
    Aider,
    Goose,
    Cline,
}

/// What a format is a format of.
pub(crate) enum FileKind {
    /// To be found by looking.
    Auto,
    /// Messages for a provider.
    Wire(Wire),
    /// An agent's session.
    Session(FileFormat),
}

impl Format {
    /// What it is a format of.
    pub(crate) const fn kind(self) -> FileKind {
        FileKind::Session(match self {
            Self::Auto => return FileKind::Auto,
            Self::OpenaiChat => return FileKind::Wire(Wire::OpenAiChat),
            Self::OpenaiResponses => return FileKind::Wire(Wire::OpenAiResponses),
            Self::Anthropic => return FileKind::Wire(Wire::Anthropic),
            Self::Pi => FileFormat::Pi,
            Self::ClaudeCode => FileFormat::ClaudeCode,
            Self::Codex => FileFormat::Codex,
            Self::Unified => FileFormat::Unified,
            Self::Openhands => FileFormat::OpenHands,
            Self::SweAgent => FileFormat::SweAgent,
            Self::Tau => FileFormat::Tau,
            Self::Copilot => FileFormat::Copilot,
            Self::Gemini => FileFormat::Gemini,
            Self::Opencode => FileFormat::OpenCode,
            Self::Aider => FileFormat::Aider,
            Self::Goose => FileFormat::Goose,
            Self::Cline => FileFormat::Cline,
        })
    }
}

/// The names of the presets, so that help and completions list them.
fn preset() -> impl TypedValueParser<Value = PresetName> {
    PossibleValuesParser::new(PresetName::ALL.iter().map(|preset| preset.as_str()))
        .try_map(|name| name.parse::<PresetName>())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Print {
    /// The text of the summary
    Summary,
    /// The messages of the result, one per line
    Messages,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Count {
    /// A quarter of the characters
    Chars4,
    /// Exact in the vocabulary of GPT-4o and later
    O200k,
    /// Exact in the vocabulary of GPT-4 and GPT-3.5
    Cl100k,
    /// Characters weighed by kind, with the overhead of messages and calls
    Auto,
}

impl Count {
    /// The meter it names.
    pub(crate) const fn meter(self) -> Meter {
        match self {
            Self::Chars4 => Meter::Chars4,
            Self::O200k => Meter::O200k,
            Self::Cl100k => Meter::Cl100k,
            Self::Auto => Meter::Estimate,
        }
    }

    /// The same where designs may count in a way of their own.
    pub(crate) const fn asked(self) -> once::Count {
        match self {
            Self::Auto => once::Count::AsTheDesign,
            _ => once::Count::By(self.meter()),
        }
    }
}
