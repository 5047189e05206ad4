//! A hook that is a program: JSON goes in, and for `before_compact` JSON comes out.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::event::{HookContext, Verdict};
use super::failure::{HookError, HookPoint};
use super::{TIME_BOX, process};

/// Variables of the engine's own environment that a command gets. Keys of providers are not among them.
pub(super) const PASSED_VARIABLES: [&str; 6] = ["PATH", "HOME", "LANG", "TMPDIR", "USER", "SHELL"];

/// An external command as a hook.
///
/// It reads one JSON object from its standard input:
///
/// ```json
/// {"hook": "before_compaction", "event": {"messageCount": 12, "tokenCount": 90000},
///  "context": {"agentId": "main", "sessionKey": "s1", "workspaceDir": "/home/me", "messageProvider": "chat"}}
/// ```
///
/// | `hook` | `event` |
/// |---|---|
/// | `before_compaction` | `messageCount`, `tokenCount` |
/// | `after_compaction` | `messageCount`, `tokenCount`, `compactedCount` |
/// | `session_before_compact` | `customInstructions`, and `preparation` with `messagesToSummarize`, `turnPrefixMessages`, `firstKeptEntryId`, `tokensBefore`, `previousSummary`, `fileOps` (`readFiles`, `modifiedFiles`, `toolFailures`), `settings`, `isSplitTurn` |
///
/// A message is `{"role", "text", "calls": [{"id", "name", "arguments"}], "results": [{"callId", "isError", "text"}]}`,
/// with `arguments` as the text that the model wrote. What the host does not know is absent or null.
///
/// For `session_before_compact` it answers on its standard output with
/// `{"action": "continue"}`, `{"action": "cancel", "reason": "…"}` or `{"action": "replace", "summary": "…"}`;
/// no output means continue. Elsewhere its output is not read for meaning. An exit status other than 0, more than
/// 1 MiB of output or an answer that is none of these is a failure, which is logged and means continue.
///
/// It runs in a process group of its own. When its time is over, or when it has ended, the whole group is ended.
/// It gets `PATH`, `HOME`, `LANG`, `TMPDIR`, `USER`, `SHELL` and [`HookCommand::environment`], nothing else.
///
/// ```
/// use epitome_engine::hooks::HookCommand;
///
/// let mut command = HookCommand::new("notify");
/// command.args = vec![String::from("--quiet")];
/// assert_eq!(command.timeout.as_secs(), 10);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookCommand {
    /// The program, by path or as `PATH` finds it. There is no shell unless this is one.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<String>,
    /// How long it may take, 10 seconds unless told.
    pub timeout: Duration,
    /// Where it runs; the engine's own folder unless told.
    pub working_folder: Option<PathBuf>,
    /// Variables that it gets beside the usual ones.
    pub environment: BTreeMap<String, String>,
    /// Whether it may call a compaction off.
    pub may_cancel: bool,
    /// Whether it may write the summary itself.
    pub may_replace: bool,
}

impl HookCommand {
    /// A command without arguments.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            args: Vec::new(),
            timeout: TIME_BOX,
            working_folder: None,
            environment: BTreeMap::new(),
            may_cancel: true,
            may_replace: true,
        }
    }

    /// What it wants, if it may want that.
    pub(super) fn allowed(&self, verdict: Verdict) -> Result<Verdict, HookError> {
        match verdict {
            Verdict::Cancel { .. } if !self.may_cancel => {
                Err("it may not cancel: set `may_cancel` if it should".into())
            }
            Verdict::Replace { .. } if !self.may_replace => {
                Err("it may not write the summary: set `may_replace` if it should".into())
            }
            verdict => Ok(verdict),
        }
    }

    /// The name in logs.
    pub(super) fn name(&self) -> String {
        self.program.display().to_string()
    }

    /// Tells the command what happens and returns what it wrote.
    pub(super) async fn tell(
        &self,
        point: HookPoint,
        event: &(impl Serialize + Sync),
        context: &HookContext,
    ) -> Result<Vec<u8>, HookError> {
        let told = json!({"hook": point.as_str(), "event": event, "context": context});
        Ok(process::run(self, told.to_string().into_bytes()).await?)
    }
}

/// What a `before_compact` command wants, by its output.
pub(super) fn verdict(output: &[u8]) -> Result<Verdict, HookError> {
    if output.trim_ascii().is_empty() {
        return Ok(Verdict::Continue);
    }
    let answer = serde_json::from_slice(output).map_err(|error| {
        format!(
            "its answer is not understood ({error}): write nothing, or {{\"action\": \"continue\"}}, \
             {{\"action\": \"cancel\", \"reason\": \"…\"}} or {{\"action\": \"replace\", \"summary\": \"…\"}}"
        )
    })?;
    Ok(match answer {
        Answer::Continue => Verdict::Continue,
        Answer::Cancel { reason } => Verdict::Cancel {
            reason: reason.unwrap_or_default(),
        },
        Answer::Replace { summary } => Verdict::Replace { summary },
    })
}

#[derive(Deserialize)]
#[serde(tag = "action", rename_all = "lowercase")]
enum Answer {
    Continue,
    Cancel { reason: Option<String> },
    Replace { summary: String },
}
