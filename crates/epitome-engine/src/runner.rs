//! Who carries a compaction out: the hooks are asked, then the ladder, within a time and by one at a time.
//!
//! Conversations of an engine and those that pass a proxy have it done by the same [`Runner`], and keep others away with
//! the same [`Lease`]. Who they are, what they show and how they store it is their own.

mod lease;

use std::sync::Arc;
use std::time::Duration;

use epitome::settings::Settings;
use epitome::{Job, Usage};
use tokio_util::sync::CancellationToken;

pub use lease::{LEASE_MS, Lease, LeaseTerms};

use crate::clock;
use crate::hooks::{AfterCompaction, BeforeCompaction, HookContext, Hooks, Preparation, Verdict};
use crate::model::{Asked, Caller};
use crate::summarise::{Ladder, LadderRung, TriedRung, Wish, Written};

/// The longest that background work may take where no endpoint says so.
const LONGEST: Duration = Duration::from_secs(720);

/// Has compactions written. A clone shares everything.
#[derive(Clone, Debug)]
pub struct Runner {
    ladder: Ladder,
    caller: Option<Caller>,
    hooks: Hooks,
    /// What hooks are told of the settings.
    settings: Arc<serde_json::Value>,
}

/// A hook does not want the compaction.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a hook called the compaction off: {reason}")]
pub struct CalledOff {
    /// Why, in its words.
    pub reason: String,
}

impl Runner {
    /// One that has `ladder` write. `caller` is the model that the ladder asks, if it asks one.
    #[must_use]
    pub fn new(settings: &Settings, ladder: Ladder, caller: Option<Caller>, hooks: Hooks) -> Self {
        let entries = settings.entries();
        let entries = entries.map(|(key, value)| (key.name.to_owned(), value.to_string()));
        let settings = entries
            .map(|(name, value)| (name, serde_json::Value::from(value)))
            .collect::<serde_json::Map<_, _>>();
        Self {
            ladder,
            caller,
            hooks,
            settings: Arc::new(settings.into()),
        }
    }

    /// The same hooks and settings, with another model that writes. `ladder` asks it.
    #[must_use]
    pub fn asking(&self, ladder: Ladder, caller: Caller) -> Self {
        Self {
            ladder,
            caller: Some(caller),
            ..self.clone()
        }
    }

    /// Whether anybody but the built-in summariser has a say, so that it takes time.
    #[must_use]
    pub fn asks_somebody(&self) -> bool {
        self.ladder.asks_a_model() || self.hooks.has_before_compact()
    }

    /// Whether anybody is told of compactions.
    #[must_use]
    pub const fn has_hooks(&self) -> bool {
        !self.hooks.is_empty()
    }

    /// The model that writes, if one does.
    #[must_use]
    pub const fn caller(&self) -> Option<&Caller> {
        self.caller.as_ref()
    }

    /// A new operation for a conversation, which ends with its time or with `cancel`.
    #[must_use]
    pub fn asked(&self, conversation: &str, cancel: CancellationToken) -> Asked {
        match &self.caller {
            Some(caller) => Asked {
                cancel,
                ..caller.begin(conversation)
            },
            None => Asked {
                conversation: conversation.to_owned(),
                until: clock::after(LONGEST),
                cancel,
            },
        }
    }

    /// Asks the hooks, then the ladder. `first_kept` names the first entry that stays.
    ///
    /// # Errors
    /// [`CalledOff`] when a hook does not want it.
    pub async fn write(
        &self,
        job: &Job,
        wish: Wish<'_>,
        first_kept: impl FnOnce(usize) -> String,
        context: &Arc<HookContext>,
    ) -> Result<Written, CalledOff> {
        let event = BeforeCompaction {
            message_count: job.messages().len(),
            token_count: Some(job.plan().tokens_before),
        };
        self.hooks.before(event, context).await;
        let verdict = if self.hooks.has_before_compact() {
            let preparation = self.preparation(job, wish.focus, first_kept);
            let outcome = self.hooks.before_compact(Arc::new(preparation), context);
            outcome.await.verdict
        } else {
            Verdict::Continue
        };
        match verdict {
            Verdict::Continue => {}
            Verdict::Cancel { reason } => return Err(CalledOff { reason }),
            Verdict::Replace { summary } => match job.accept(&summary) {
                Ok(prepared) => {
                    return Ok(Written {
                        prepared: Ok(prepared),
                        steps: vec![TriedRung {
                            rung: LadderRung::Full,
                            failed: None,
                            message: String::from("written by a hook"),
                        }],
                        memories: Vec::new(),
                        usage: Usage::default(),
                        spent_nanodollars: 0,
                    });
                }
                Err(no) => tracing::warn!(%no, "the summary of a hook cannot stand"),
            },
        }
        Ok(self.ladder.write(job, wish).await)
    }

    /// Tells the hooks of a compaction that landed; of its beginning too, where that was not known before.
    pub async fn tell(
        &self,
        late: Option<BeforeCompaction>,
        event: AfterCompaction,
        context: &Arc<HookContext>,
    ) {
        if let Some(late) = late {
            self.hooks.before(late, context).await;
        }
        self.hooks.after(event, context).await;
    }

    fn preparation(
        &self,
        job: &Job,
        focus: Option<&str>,
        first_kept: impl FnOnce(usize) -> String,
    ) -> Preparation {
        let prefix = job.turn_prefix();
        let at = |positions: std::ops::Range<usize>| {
            let found = job.messages().get(positions).unwrap_or_default();
            found.to_vec()
        };
        let span = job.plan().span.clone();
        let end = if prefix.is_empty() {
            span.end
        } else {
            prefix.start
        };
        Preparation {
            messages_to_summarize: at(span.start..end),
            turn_prefix_messages: at(prefix.clone()),
            first_kept_entry_id: Some(first_kept(span.end)),
            tokens_before: job.plan().tokens_before,
            previous_summary: job.previous_summary().map(str::to_owned),
            file_operations: job.file_operations(),
            settings: serde_json::Value::clone(&self.settings),
            is_split_turn: !prefix.is_empty(),
            custom_instructions: focus.map(str::to_owned),
        }
    }
}
