//! The `epitome` command.

mod args;
mod check;
mod clock;
mod compact;
mod compare;
mod config;
mod convert;
mod doctor;
mod eval;
mod folder;
mod history;
mod homes;
mod inspect;
mod manual;
mod play;
mod recall;
mod replay;
mod serve;
mod source;
mod store;
mod store_key;
mod summarizer;
mod terminal;
mod verify;
mod wrap;
mod writing;

use std::process::ExitCode;

use clap::Parser;

use crate::args::{Args, Command};
use crate::terminal::tell;
pub(crate) use crate::terminal::{print, print_bytes};

/// How a command ended, as scripts see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    /// Done.
    Done,
    /// The answer is no.
    No,
    /// As the program that was run ended.
    Code(u8),
}

fn main() -> ExitCode {
    let args = Args::parse();
    let config = args.config.as_deref();
    let ending = match args.command {
        Command::Compact(args) => compact::run(&args, config),
        Command::Check(args) => check::run(&args),
        Command::Convert(args) => convert::run(&args),
        Command::Inspect(args) => inspect::run(&args),
        Command::Replay(args) => replay::run(&args, config),
        Command::Compare(args) => compare::run(&args, config),
        Command::Eval(args) => eval::run(&args),
        Command::Verify(args) => verify::run(&args),
        Command::Recall(args) => recall::run(&args),
        Command::Log(args) => history::log(&args),
        Command::Show(args) => history::show(&args),
        Command::Undo(args) => history::undo(&args),
        Command::Fork(args) => history::fork(&args),
        Command::Pins(args) => history::pins(&args),
        Command::Savings(args) => history::savings(&args),
        Command::Mcp(args) => history::mcp(&args),
        Command::Models(args) => history::models(&args),
        Command::Store(args) => store::run(&args.command),
        Command::Serve(args) => serve::run(&args, config),
        Command::Wrap(args) => wrap::run(&args, config),
        Command::Doctor(args) => doctor::run(&args, config),
        Command::Config(args) => config::run(&args.command, config),
        Command::Man { folder } => manual::write(&folder),
        Command::Completions { shell } => manual::completions(shell),
    };
    match ending {
        Ok(Ending::Done) => ExitCode::SUCCESS,
        Ok(Ending::No) => ExitCode::from(1),
        Ok(Ending::Code(code)) => ExitCode::from(code),
        Err(error) => {
            tell!("epitome: {}", told(&error));
            ExitCode::from(2)
        }
    }
}

/// An error and what led to it, each once: some say what led to them by themselves.
fn told(error: &anyhow::Error) -> String {
    let mut said = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if said.contains(&cause) {
            continue;
        }
        if !said.is_empty() {
            said.push_str(": ");
        }
        said.push_str(&cause);
    }
    said
}
