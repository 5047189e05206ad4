//! A child process that cannot hold anybody up: its output is bounded, and its whole group ends with it.

use std::io;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStdin, Command};

use super::command::{HookCommand, PASSED_VARIABLES};
use crate::clock;

/// The most that a command may write to its standard output.
const OUTPUT_BYTES: usize = 1 << 20;
/// What is kept of its standard error, for the log.
const ERROR_BYTES: usize = 4 << 10;
/// How long an output is waited for that somebody outside the group holds open, after the command has ended.
const LEFT_OPEN: Duration = Duration::from_millis(500);

/// Why a command is no answer.
#[derive(Debug, thiserror::Error)]
pub(super) enum CommandError {
    #[error("`{program}` cannot be run ({source}): check that it exists and may be executed")]
    Start { program: String, source: io::Error },
    #[error(
        "the command wrote more than {OUTPUT_BYTES} bytes to its standard output and was ended"
    )]
    TooMuchOutput,
    #[error("the command ended with {status}; its last words: {words}")]
    Status { status: ExitStatus, words: String },
    #[error("the command was lost sight of: {0}")]
    Lost(io::Error),
}

/// Runs the command with `input` on its standard input and returns what it wrote. It ends when the command ends,
/// or when whoever waits for it does not any more; the group ends with it in both cases.
pub(super) async fn run(command: &HookCommand, input: Vec<u8>) -> Result<Vec<u8>, CommandError> {
    let mut child = start(command)?;
    // Declared after the child, so that on a drop the group ends while the child still holds its number.
    let mut group = Group::of(&child);
    let mut output = Vec::new();
    let mut errors = Vec::new();
    let status = {
        let (stdin, stdout, stderr) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let talking = async {
            tokio::try_join!(
                write(stdin, &input),
                read(stdout, &mut output),
                listen(stderr, &mut errors),
            )
        };
        tokio::pin!(talking);
        tokio::select! {
            status = child.wait() => {
                // Whoever is left in the group may hold the pipes open.
                group.end();
                if let Ok(talked) = clock::within(LEFT_OPEN, &mut talking).await {
                    talked?;
                }
                status
            }
            talked = &mut talking => {
                talked?;
                child.wait().await
            }
        }
    };
    group.end();
    let status = status.map_err(CommandError::Lost)?;
    let words = one_line(&errors);
    if !words.is_empty() {
        tracing::info!(program = %command.program.display(), stderr = %words, "a hook wrote to its standard error");
    }
    if status.success() {
        Ok(output)
    } else {
        Err(CommandError::Status { status, words })
    }
}

fn start(command: &HookCommand) -> Result<Child, CommandError> {
    let passed = PASSED_VARIABLES
        .iter()
        .filter_map(|name| Some((name, std::env::var_os(name)?)));
    let mut child = Command::new(&command.program);
    child
        .args(&command.args)
        .env_clear()
        .envs(passed)
        .envs(&command.environment)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true);
    if let Some(folder) = &command.working_folder {
        child.current_dir(folder);
    }
    child.spawn().map_err(|source| CommandError::Start {
        program: command.program.display().to_string(),
        source,
    })
}

/// A command may close its input early or never read it; that is its own business.
async fn write(stdin: Option<ChildStdin>, input: &[u8]) -> Result<(), CommandError> {
    if let Some(mut stdin) = stdin
        && let Err(error) = stdin.write_all(input).await
    {
        tracing::debug!(%error, "a hook did not read all of its input");
    }
    Ok(())
}

async fn read(
    from: Option<impl AsyncRead + Unpin>,
    into: &mut Vec<u8>,
) -> Result<(), CommandError> {
    let Some(from) = from else { return Ok(()) };
    let most = OUTPUT_BYTES as u64 + 1;
    // An output that breaks off is judged by the exit status and by what was read.
    let _broken_off = from.take(most).read_to_end(into).await;
    if into.len() > OUTPUT_BYTES {
        return Err(CommandError::TooMuchOutput);
    }
    Ok(())
}

/// Keeps the newest part, and reads on so that the command does not wait for a reader.
async fn listen(
    from: Option<impl AsyncRead + Unpin>,
    into: &mut Vec<u8>,
) -> Result<(), CommandError> {
    let Some(mut from) = from else { return Ok(()) };
    let mut buffer = [0; 1024];
    while let Ok(count @ 1..) = from.read(&mut buffer).await {
        into.extend(buffer.iter().take(count));
        let spare = into.len().saturating_sub(ERROR_BYTES);
        into.drain(..spare);
    }
    Ok(())
}

fn one_line(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    text.split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

/// The process group that a child leads.
struct Group(Option<Pid>);

impl Group {
    fn of(child: &Child) -> Self {
        let id = child.id().and_then(|id| i32::try_from(id).ok());
        Self(id.and_then(Pid::from_raw))
    }

    /// Ends what is left of it, once: later the number may belong to somebody else.
    fn end(&mut self) {
        if let Some(group) = self.0.take() {
            // An empty group is what was wanted.
            let _gone = kill_process_group(group, Signal::KILL);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.end();
    }
}
