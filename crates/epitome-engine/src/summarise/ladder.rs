//! From the best summary that can be had to the worst: there is always one.

use std::sync::Arc;

use bytes::Bytes;
use epitome::settings::OnFailure;
use epitome::{AfterFailure, Failure, Job, Layout, NoPlan, Prepared, Reason, Usage};

use super::memory::{self, Memory};
use super::writer::{Task, Writer};
use crate::model::Asked;

/// How a summary came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LadderRung {
    /// A model wrote it from everything.
    Full,
    /// A model wrote it; very large messages were only noted.
    WithoutOversized,
    /// The built-in summariser made it.
    BuiltIn,
    /// There is none: a note says how much is gone.
    Annotation,
}

impl LadderRung {
    /// The stored name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::WithoutOversized => "without_oversized",
            Self::BuiltIn => "built_in",
            Self::Annotation => "annotation",
        }
    }
}

/// One rung that was tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TriedRung {
    /// Which.
    pub rung: LadderRung,
    /// Why it did not hold; `None` for the one that did.
    pub failed: Option<Reason>,
    /// What happened, for people.
    pub message: String,
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct Written {
    /// The compaction, ready to be committed; or why the conversation stays as it is, which is never worse.
    pub prepared: Result<Prepared, NoPlan>,
    /// Every rung that was tried, in order.
    pub steps: Vec<TriedRung>,
    /// What should outlive the conversation.
    pub memories: Vec<Memory>,
    /// What calls to models took.
    pub usage: Usage,
    /// What they cost, in billionths of a dollar, with those before that came to nothing; zero where no price is known.
    pub spent_nanodollars: u64,
}

impl Written {
    /// The rung that held.
    #[must_use]
    pub fn rung(&self) -> Option<LadderRung> {
        let last = self.steps.last()?;
        last.failed.is_none().then_some(last.rung)
    }

    /// Why the best rung did not hold, where it did not.
    #[must_use]
    pub fn first_failure(&self) -> Option<Reason> {
        self.steps.first()?.failed
    }
}

/// Writes summaries, one way or another.
#[derive(Clone, Debug)]
pub struct Ladder {
    writer: Option<Arc<dyn Writer>>,
    on_failure: OnFailure,
}

/// What is asked of a ladder besides the job.
#[derive(Clone, Debug)]
pub struct Wish<'a> {
    /// What the user wants kept in mind.
    pub focus: Option<&'a str>,
    /// The conversation's own request, for the aligned form.
    pub request: Option<Bytes>,
    /// For whom, and until when.
    pub asked: Asked,
}

impl Ladder {
    /// A ladder whose upper rungs are `writer`'s; without one it begins with the built-in summariser.
    #[must_use]
    pub fn new(writer: Option<Arc<dyn Writer>>, on_failure: OnFailure) -> Self {
        Self { writer, on_failure }
    }

    /// Whether a model is asked at all.
    #[must_use]
    pub fn asks_a_model(&self) -> bool {
        self.writer.is_some()
    }

    /// Writes the summary of a job. Everything that comes out has been checked and is clearly smaller than what it
    /// stands for. May be dropped at any time.
    pub async fn write(&self, job: &Job, wish: Wish<'_>) -> Written {
        let mut written = self.climb(job, &wish).await;
        if let Some(writer) = self.writer.as_ref().filter(|_| written.prepared.is_ok()) {
            written.spent_nanodollars = writer.book(&wish.asked.conversation);
        }
        written
    }

    async fn climb(&self, job: &Job, wish: &Wish<'_>) -> Written {
        let mut written = Written {
            prepared: Err(NoPlan {
                reason: Reason::SummaryFailed,
                floor_tokens: job.plan().floor_tokens,
            }),
            steps: Vec::new(),
            memories: Vec::new(),
            usage: Usage::default(),
            spent_nanodollars: 0,
        };
        let is_written = !matches!(job.plan().layout, Layout::Marker | Layout::Nothing);
        if let Some(writer) = &self.writer
            && is_written
        {
            for rung in [LadderRung::Full, LadderRung::WithoutOversized] {
                if rung == LadderRung::WithoutOversized && !self.is_worth_leaving_out(job, &written)
                {
                    continue;
                }
                let task = Task {
                    job,
                    focus: wish.focus,
                    request: wish.request.clone(),
                    asked: wish.asked.clone(),
                    notes_oversized: rung == LadderRung::WithoutOversized,
                };
                let failed = match writer.write(task).await {
                    Ok(draft) => {
                        super::writer::add(&mut written.usage, draft.usage);
                        // What the model found worth keeping stays, whatever becomes of its text.
                        written.memories.extend(draft.memories);
                        match job.accept(&draft.text) {
                            Ok(prepared) => {
                                written.hold(rung, prepared);
                                return written;
                            }
                            Err(no) => (no.reason, no.to_string()),
                        }
                    }
                    Err(error) => (Reason::from(error.failure), error.message),
                };
                written.fail(rung, failed.0, failed.1);
            }
            if self.on_failure == OnFailure::Reference && self.as_reference(job, &mut written) {
                return written;
            }
        }
        match job.extract_for(wish.focus) {
            Ok(prepared) => {
                if is_written {
                    written
                        .memories
                        .extend(memory::extracted(prepared.compaction()));
                }
                written.hold(LadderRung::BuiltIn, prepared);
                return written;
            }
            Err(no) => {
                written.fail(LadderRung::BuiltIn, no.reason, no.to_string());
                written.prepared = Err(no);
            }
        }
        if is_written {
            match job.annotate(&note(job)) {
                Ok(prepared) => written.hold(LadderRung::Annotation, prepared),
                Err(no) => {
                    written.fail(LadderRung::Annotation, no.reason, no.to_string());
                    written.prepared = Err(no);
                }
            }
        }
        written
    }

    /// Whether the request may have been too long because of what is in it.
    fn is_worth_leaving_out(&self, job: &Job, written: &Written) -> bool {
        let was_too_long = written
            .steps
            .last()
            .is_some_and(|step| step.failed == Some(Reason::from(Failure::SummaryOverflow)));
        let window = self
            .writer
            .as_ref()
            .and_then(|writer| writer.window_tokens());
        let half = window.unwrap_or(u64::MAX) / 2;
        let has_oversized = job
            .span()
            .iter()
            .any(|(position, _)| job.tokens(*position..position + 1) > half);
        was_too_long || has_oversized
    }

    /// The outcome of the reference design, where it has one of its own. Whether that is all.
    fn as_reference(&self, job: &Job, written: &mut Written) -> bool {
        let failed = written.steps.last().and_then(|step| step.failed);
        let reason = failed.unwrap_or(Reason::SummaryFailed);
        match job.design().asking.after_failure {
            AfterFailure::Stays => {
                written.prepared = Err(NoPlan {
                    reason,
                    floor_tokens: job.plan().floor_tokens,
                });
                true
            }
            AfterFailure::Note(note) => match job.annotate(note) {
                Ok(prepared) => {
                    written.hold(LadderRung::Annotation, prepared);
                    true
                }
                Err(_) => false,
            },
            AfterFailure::Ladder => false,
        }
    }
}

impl Written {
    fn hold(&mut self, rung: LadderRung, prepared: Prepared) {
        self.prepared = Ok(prepared);
        self.steps.push(TriedRung {
            rung,
            failed: None,
            message: String::new(),
        });
    }

    fn fail(&mut self, rung: LadderRung, reason: Reason, message: String) {
        tracing::warn!(
            rung = rung.as_str(),
            reason = reason.as_str(),
            message,
            "a summary did not hold"
        );
        self.steps.push(TriedRung {
            rung,
            failed: Some(reason),
            message,
        });
    }
}

fn note(job: &Job) -> String {
    let count = job.span().len();
    format!(
        "{count} messages left the view, and no summary of them could be written. They are kept and can be recalled."
    )
}
