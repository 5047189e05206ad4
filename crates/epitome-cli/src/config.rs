//! `epitome config`, and the configuration of the other commands.

mod key;
mod trust;

use std::path::Path;

use anyhow::Result;
use epitome::settings::Value;
use epitome_config::{
    ConfigError, Entry, Files, Flag, Loaded, Origin, Problem, ProblemKind, Sources, SummarizerKind,
    Watch,
};
use epitome_engine::configuration;
use serde_json::{Value as Json, json};

use crate::Ending;
use crate::args::{ConfigCheckArgs, ConfigCommand, ConfigInitArgs, ConfigShowArgs};
use crate::terminal::tell;
use crate::writing::{Existing, Target};

pub(crate) fn run(command: &ConfigCommand, config: Option<&Path>) -> Result<Ending> {
    match command {
        ConfigCommand::Init(args) => init(args),
        ConfigCommand::Show(args) => show(args, config),
        ConfigCommand::Check(args) => check(args, config),
        ConfigCommand::Trust(args) => trust::run(args),
        ConfigCommand::Key(args) => key::run(args),
        ConfigCommand::Schema => {
            let schema = serde_json::to_string_pretty(&epitome_config::schema())?;
            crate::print(&format!("{schema}\n"))?;
            Ok(Ending::Done)
        }
    }
}

/// The configuration of a command: what the files and the environment say, under its flags.
pub(crate) fn load(config: Option<&Path>, flags: Vec<Flag>, is_quiet: bool) -> Result<Loaded> {
    let mut sources = sources(config);
    sources.flags = flags;
    let loaded = sources.load()?;
    if !is_quiet {
        warn(&loaded.warnings);
    }
    Ok(loaded)
}

/// Notices when what [`load`] reads has changed.
pub(crate) fn watch(config: Option<&Path>, flags: Vec<Flag>) -> Watch {
    let mut sources = sources(config);
    sources.flags = flags;
    Watch::new(sources)
}

/// A flag with a whole number.
pub(crate) fn whole(name: &str, path: &str, number: u64) -> Flag {
    let number = i64::try_from(number).unwrap_or(i64::MAX);
    Flag::new(name, path, Value::Whole(number))
}

fn sources(config: Option<&Path>) -> Sources {
    let folder = std::env::current_dir().ok();
    Sources::of_process(config.map(Path::to_owned), std::env::vars_os(), folder)
}

fn warn(warnings: &[Problem]) {
    for problem in warnings {
        match problem.origin {
            Origin::File { .. } => tell!("epitome: {problem}"),
            _ => tell!("epitome: {}", problem.kind),
        }
    }
}

/// The files that are obeyed, for people.
pub(crate) fn files_told(loaded: &Loaded) -> Option<String> {
    file_names(loaded).map(|names| format!("configuration: {names}"))
}

/// Their names; `None` where there is no file.
pub(crate) fn file_names(loaded: &Loaded) -> Option<String> {
    let files = loaded.files.iter().map(|path| path.display().to_string());
    let files: Vec<String> = files.collect();
    (!files.is_empty()).then(|| files.join(", "))
}

/// Where conversations go to be summarised, for people; nowhere if no model writes.
pub(crate) fn summariser_told(loaded: &Loaded) -> Option<String> {
    if loaded.summarizer.kind == SummarizerKind::Borrow {
        return Some(String::from(
            "summaries are asked of each client's own model, with the client's own key (never stored)",
        ));
    }
    let address = configuration::address(&loaded.summarizer)?;
    Some(format!("summaries are asked of {address}"))
}

/// Where the proxy sends requests, for people.
pub(crate) fn upstreams_told(loaded: &Loaded) -> String {
    let (openai, anthropic) = (
        &loaded.server.openai_upstream,
        &loaded.server.anthropic_upstream,
    );
    format!("requests go to {openai} (OpenAI) and {anthropic} (Anthropic)")
}

fn init(args: &ConfigInitArgs) -> Result<Ending> {
    let text = epitome_config::example(args.preset);
    Target::checked(&args.out, [], Existing::of_flag(args.force))?.write(text.as_bytes())?;
    if args.out != Path::new("-") {
        tell!("epitome: wrote {}", args.out.display());
    }
    Ok(Ending::Done)
}

fn show(args: &ConfigShowArgs, config: Option<&Path>) -> Result<Ending> {
    let loaded = load(config, Vec::new(), args.json)?;
    if !args.json {
        let files = files_told(&loaded).unwrap_or_else(|| "no configuration file".to_owned());
        let told = [Some(files), Some(upstreams_told(&loaded))];
        for line in told.into_iter().chain([summariser_told(&loaded)]).flatten() {
            tell!("epitome: {line}");
        }
    }
    let entries: Vec<Entry> = if args.agent.is_none() && args.model.is_none() {
        loaded.values().collect()
    } else {
        let agent = loaded.for_agent(args.agent.as_deref());
        let resolved = match &args.model {
            Some(model) => agent.for_model(model),
            None => agent.for_any_model(),
        };
        let sections = loaded.values().filter(|entry| is_of_section(&entry.path));
        resolved.entries().cloned().chain(sections).collect()
    };
    if args.json {
        let values: Vec<Json> = entries.iter().map(value_object).collect();
        let object = json!({
            "files": loaded.files,
            "agent": args.agent,
            "model": args.model,
            "values": values,
            "warnings": problem_objects(&loaded.warnings),
        });
        crate::print(&format!("{object}\n"))?;
        return Ok(Ending::Done);
    }
    let lines: Vec<(String, String)> = entries
        .iter()
        .map(|entry| {
            (
                format!("{} = {}", entry.path, entry.toml()),
                entry.origin.to_string(),
            )
        })
        .collect();
    let width = lines.iter().map(|(line, _)| line.chars().count()).max();
    let width = width.unwrap_or(0).min(60);
    let mut text = String::new();
    for (line, origin) in lines {
        text.push_str(&format!("{line:width$}  # {origin}\n"));
    }
    crate::print(&text)?;
    Ok(Ending::Done)
}

/// Whether a value is the same for every agent and model.
fn is_of_section(path: &str) -> bool {
    let sections = ["summarizer.", "memory.", "server.", "hooks"];
    sections.iter().any(|section| path.starts_with(section))
}

fn check(args: &ConfigCheckArgs, config: Option<&Path>) -> Result<Ending> {
    let mut sources = sources(config);
    if let Some(file) = &args.file {
        // Only the file is in question, not the environment of whoever asks.
        sources.files = Files::Named(file.clone());
        sources.variables = Vec::new();
    }
    let paths = sources.paths();
    let (problems, warnings) = match sources.load() {
        // What is ignored does not stop a command, but somebody meant it.
        Ok(loaded) => loaded
            .warnings
            .into_iter()
            .partition(|warning| matches!(warning.kind, ProblemKind::NotTrusted { .. })),
        Err(ConfigError { problems, .. }) => (problems, Vec::new()),
    };
    if args.json {
        let object = json!({
            "files": paths,
            "problems": problem_objects(&problems),
            "warnings": problem_objects(&warnings),
        });
        crate::print(&format!("{object}\n"))?;
    } else {
        let mut text = String::new();
        for problem in &problems {
            text.push_str(&format!("{problem}\n"));
        }
        crate::print(&text)?;
        warn(&warnings);
        match (paths.as_slice(), problems.len()) {
            ([], 0) => tell!("no configuration file; nothing is wrong"),
            (_, 0) => {
                let names: Vec<String> = paths
                    .iter()
                    .map(|path| path.display().to_string())
                    .collect();
                tell!("nothing is wrong with {}", names.join(", "));
            }
            (_, 1) => tell!("1 problem"),
            (_, count) => tell!("{count} problems"),
        }
    }
    Ok(if problems.is_empty() {
        Ending::Done
    } else {
        Ending::No
    })
}

fn value_object(entry: &Entry) -> Json {
    let mut object =
        json!({"path": entry.path, "value": entry.json(), "origin": entry.origin.to_string()});
    extend(&mut object, &entry.origin);
    object
}

fn problem_objects(problems: &[Problem]) -> Vec<Json> {
    let object = |problem: &Problem| {
        let mut object = json!({"code": problem.kind.code(), "message": problem.kind.to_string()});
        extend(&mut object, &problem.origin);
        object
    };
    problems.iter().map(object).collect()
}

/// Adds what an origin is made of.
fn extend(object: &mut Json, origin: &Origin) {
    let parts = match origin {
        Origin::Default => json!({"layer": "default"}),
        Origin::Preset(preset) => json!({"layer": "default", "preset": preset.as_str()}),
        Origin::File { path, line } => {
            json!({"layer": "file", "file": path.as_ref(), "line": line})
        }
        Origin::Variable(name) => json!({"layer": "environment", "variable": name}),
        Origin::Flag(name) => json!({"layer": "flag", "flag": name}),
    };
    if let (Some(object), Json::Object(parts)) = (object.as_object_mut(), parts) {
        object.extend(parts);
    }
}
