//! Hooks: what a host hangs on compactions, as closures or as external commands.
//!
//! - told, in parallel: [`Hooks::before`], [`Hooks::after`]
//! - asked, in order: [`Hooks::before_compact`], which may cancel a compaction or bring the summary
//!
//! Every hook has a time box. One that fails, panics or takes too long is logged and returned as a [`HookFailure`];
//! the compaction goes on as if it were not there.

mod command;
mod event;
mod failure;
mod process;
mod time_box;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, join_all};
use serde::Serialize;

pub use command::HookCommand;
pub use event::{AfterCompaction, BeforeCompaction, HookContext, Preparation, Verdict};
pub use failure::{FailureKind, HookError, HookFailure, HookPoint};

/// How long a hook may take unless told otherwise.
pub const TIME_BOX: Duration = Duration::from_secs(10);

/// The hooks of a host.
///
/// *Input*: [`Hooks::on_before`], [`Hooks::on_after`], [`Hooks::on_before_compact`], [`Hooks::on_command`].
/// *Runs*: [`Hooks::before`], [`Hooks::after`], [`Hooks::before_compact`]; dropping such a future ends its hooks.
///
/// A closure that blocks its thread cannot be ended, but is not waited for either, on a runtime of several threads.
///
/// ```
/// use std::sync::Arc;
/// use epitome_engine::hooks::{HookContext, Hooks, Preparation, Verdict};
///
/// # #[tokio::main]
/// # async fn main() {
/// let mut hooks = Hooks::default();
/// hooks.on_before("log", |event, _context| async move {
///     tracing::info!(event.message_count, "compacting");
///     Ok(())
/// });
/// hooks.on_before_compact("quiet hours", |preparation, _context| async move {
///     Ok(match preparation.tokens_before {
///         ..1_000 => Verdict::Cancel { reason: "not worth it".to_owned() },
///         _ => Verdict::Continue,
///     })
/// });
/// let context = Arc::new(HookContext::default());
/// let outcome = hooks.before_compact(Arc::new(Preparation::default()), &context).await;
/// assert!(matches!(outcome.verdict, Verdict::Cancel { .. }));
/// # }
/// ```
#[derive(Clone, Default)]
pub struct Hooks {
    before: Vec<Hook<BeforeCompaction, ()>>,
    after: Vec<Hook<AfterCompaction, ()>>,
    before_compact: Vec<Hook<Arc<Preparation>, Verdict>>,
    time_box: Option<Duration>,
}

/// What the `before_compact` hooks want.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The first verdict that is not to continue.
    pub verdict: Verdict,
    /// The hook that gave it.
    pub decided_by: Option<String>,
    /// The hooks that failed before.
    pub failures: Vec<HookFailure>,
}

impl Hooks {
    /// The same hooks, with another time box for the closures that are added from now on.
    #[must_use]
    pub const fn with_time_box(mut self, limit: Duration) -> Self {
        self.time_box = Some(limit);
        self
    }

    /// Adds a closure that is told before a compaction. `name` is for logs.
    pub fn on_before<F, W>(&mut self, name: impl Into<String>, hook: F) -> &mut Self
    where
        F: Fn(BeforeCompaction, Arc<HookContext>) -> W + Send + Sync + 'static,
        W: Future<Output = Result<(), HookError>> + Send + 'static,
    {
        let limit = self.limit();
        self.before.push(Hook::new(name.into(), limit, hook));
        self
    }

    /// Adds a closure that is told after a compaction.
    pub fn on_after<F, W>(&mut self, name: impl Into<String>, hook: F) -> &mut Self
    where
        F: Fn(AfterCompaction, Arc<HookContext>) -> W + Send + Sync + 'static,
        W: Future<Output = Result<(), HookError>> + Send + 'static,
    {
        let limit = self.limit();
        self.after.push(Hook::new(name.into(), limit, hook));
        self
    }

    /// Adds a closure that may cancel a compaction or bring its summary.
    pub fn on_before_compact<F, W>(&mut self, name: impl Into<String>, hook: F) -> &mut Self
    where
        F: Fn(Arc<Preparation>, Arc<HookContext>) -> W + Send + Sync + 'static,
        W: Future<Output = Result<Verdict, HookError>> + Send + 'static,
    {
        let limit = self.limit();
        self.before_compact
            .push(Hook::new(name.into(), limit, hook));
        self
    }

    /// Adds an external command.
    pub fn on_command(&mut self, point: HookPoint, command: HookCommand) -> &mut Self {
        match point {
            HookPoint::Before => self.before.push(told(point, command)),
            HookPoint::After => self.after.push(told(point, command)),
            HookPoint::BeforeCompact => self.before_compact.push(asked(command)),
        }
        self
    }

    /// Whether there is none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.before.is_empty() && self.after.is_empty() && self.before_compact.is_empty()
    }

    /// Whether somebody wants a [`Preparation`], which costs something to make.
    #[must_use]
    pub const fn has_before_compact(&self) -> bool {
        !self.before_compact.is_empty()
    }

    /// Tells everybody that a compaction is about to begin, all at once. Returns who failed.
    pub async fn before(
        &self,
        event: BeforeCompaction,
        context: &Arc<HookContext>,
    ) -> Vec<HookFailure> {
        tell(HookPoint::Before, &self.before, event, context).await
    }

    /// Tells everybody that a compaction landed, all at once. Returns who failed.
    pub async fn after(
        &self,
        event: AfterCompaction,
        context: &Arc<HookContext>,
    ) -> Vec<HookFailure> {
        tell(HookPoint::After, &self.after, event, context).await
    }

    /// Asks one after the other, in the order they were added, until one wants something else than to continue.
    /// A summary without words is a failure of its hook.
    pub async fn before_compact(
        &self,
        preparation: Arc<Preparation>,
        context: &Arc<HookContext>,
    ) -> Outcome {
        let point = HookPoint::BeforeCompact;
        let mut failures = Vec::new();
        for hook in &self.before_compact {
            let answer = hook.run(point, Arc::clone(&preparation), context).await;
            let verdict = answer.and_then(|verdict| match verdict {
                Verdict::Replace { summary } if summary.trim().is_empty() => {
                    let empty = FailureKind::Failed("its summary has no words".to_owned());
                    Err(hook.failure(point, empty))
                }
                verdict => Ok(verdict),
            });
            match verdict {
                Ok(Verdict::Continue) => {}
                Ok(verdict) => {
                    return Outcome {
                        verdict,
                        decided_by: Some(hook.name.clone()),
                        failures,
                    };
                }
                Err(failure) => failures.push(failure),
            }
        }
        Outcome {
            failures,
            ..Outcome::default()
        }
    }

    fn limit(&self) -> Duration {
        self.time_box.unwrap_or(TIME_BOX)
    }
}

impl fmt::Debug for Hooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hooks")
            .field("before", &names(&self.before))
            .field("after", &names(&self.after))
            .field("before_compact", &names(&self.before_compact))
            .finish_non_exhaustive()
    }
}

type Run<E, A> =
    dyn Fn(E, Arc<HookContext>) -> BoxFuture<'static, Result<A, HookError>> + Send + Sync;

/// One hook, whatever it is made of.
struct Hook<E, A> {
    name: String,
    limit: Duration,
    run: Arc<Run<E, A>>,
}

impl<E, A> Clone for Hook<E, A> {
    fn clone(&self) -> Self {
        Self {
            name: self.name.clone(),
            limit: self.limit,
            run: Arc::clone(&self.run),
        }
    }
}

impl<E: Send + 'static, A: Send + 'static> Hook<E, A> {
    fn new<F, W>(name: String, limit: Duration, hook: F) -> Self
    where
        F: Fn(E, Arc<HookContext>) -> W + Send + Sync + 'static,
        W: Future<Output = Result<A, HookError>> + Send + 'static,
    {
        Self {
            name,
            limit,
            run: Arc::new(move |event, context| hook(event, context).boxed()),
        }
    }

    async fn run(
        &self,
        point: HookPoint,
        event: E,
        context: &Arc<HookContext>,
    ) -> Result<A, HookFailure> {
        let run = Arc::clone(&self.run);
        let context = Arc::clone(context);
        // The closure is called inside the task: it may panic before it returns a future.
        let work = async move { run(event, context).await };
        let answer = time_box::run(self.limit, work).await;
        answer.map_err(|kind| self.failure(point, kind))
    }

    fn failure(&self, point: HookPoint, kind: FailureKind) -> HookFailure {
        let failure = HookFailure {
            point,
            hook: self.name.clone(),
            kind,
        };
        tracing::warn!(hook = %failure.hook, %point, "{failure}");
        failure
    }
}

async fn tell<E: Copy + Send + 'static>(
    point: HookPoint,
    hooks: &[Hook<E, ()>],
    event: E,
    context: &Arc<HookContext>,
) -> Vec<HookFailure> {
    let told = hooks.iter().map(|hook| hook.run(point, event, context));
    let answers = join_all(told).await;
    answers.into_iter().filter_map(Result::err).collect()
}

/// A command that is told something; what it writes is of no interest.
fn told<E: Serialize + Send + Sync + 'static>(
    point: HookPoint,
    command: HookCommand,
) -> Hook<E, ()> {
    let (name, limit, command) = (command.name(), command.timeout, Arc::new(command));
    Hook::new(name, limit, move |event, context| {
        let command = Arc::clone(&command);
        async move { command.tell(point, &event, &context).await.map(|_| ()) }
    })
}

/// A command that is asked for its verdict.
fn asked(command: HookCommand) -> Hook<Arc<Preparation>, Verdict> {
    let (name, limit, command) = (command.name(), command.timeout, Arc::new(command));
    Hook::new(
        name,
        limit,
        move |preparation: Arc<Preparation>, context: Arc<HookContext>| {
            let command = Arc::clone(&command);
            async move {
                let event = preparation.to_json();
                let point = HookPoint::BeforeCompact;
                let verdict = command::verdict(&command.tell(point, &event, &context).await?)?;
                command.allowed(verdict)
            }
        },
    )
}

fn names<E, A>(hooks: &[Hook<E, A>]) -> Vec<&str> {
    hooks.iter().map(|hook| hook.name.as_str()).collect()
}
