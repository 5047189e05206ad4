//! Compacting in the background, before it is needed.

use std::sync::Arc;

use epitome::{Failure, Job, NoPlan, Reason, Session};
use epitome_engine::hooks::{AfterCompaction, BeforeCompaction, HookContext};
use epitome_engine::record::StepRecord;
use epitome_engine::summarise::{LadderRung, TriedRung, Wish};
use epitome_store::ConversationId;
use tokio_util::sync::CancellationToken;

use super::compact::{Basis, Made, failed};
use super::{Case, Keeper, Ticket};
use crate::config::Mode;
use crate::epoch::{Applied, Epoch};
use crate::index::Index;
use crate::journal::Patience;

/// Whether hooks know already that a compaction began: they do where they or a model were asked about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Beginning {
    Told,
    Untold,
}

/// A compaction of a conversation is prepared as long as this lives.
struct Claim {
    index: Arc<Index>,
    conversation: ConversationId,
}

impl Drop for Claim {
    fn drop(&mut self) {
        self.index.release(&self.conversation);
    }
}

/// How far a compaction is before anybody is asked.
enum Begun {
    /// There was enough to gain without a word.
    Done(Box<Made>),
    /// Somebody has to write.
    Work(Box<(Session, Job)>),
}

impl Keeper {
    /// Makes a compaction in the background, so that it is there when it is needed.
    pub(super) fn prepare(self: &Arc<Self>, ticket: &Ticket, case: &Case, reason: Reason) {
        let conversation = ticket.place.conversation.clone();
        // Who only watches asks nobody and pays for nothing.
        let is_paid = self.mode == Mode::Observe && self.rules.asks_somebody(ticket);
        if is_paid || !self.index.claim(&conversation) {
            return;
        }
        let claim = Arc::new(Claim {
            index: Arc::clone(&self.index),
            conversation,
        });
        let keeper = Arc::clone(self);
        let (mut ticket, case) = (ticket.clone(), Arc::new(case.clone()));
        self.tasks.spawn(async move {
            keeper.ask_pins(&mut ticket).await;
            let ticket = Arc::new(ticket);
            let is_storable = !keeper.keeps(&ticket) || !keeper.journal.health().writes_fail();
            match (keeper.rules.asks_somebody(&ticket), is_storable) {
                (true, true) => {
                    keeper.written_alone(&ticket, &case, reason, &claim).await;
                    keeper.journal.quota().has_spent();
                }
                // What cannot be stored is not used, and would be paid for again and again.
                (true, false) => {}
                (false, _) => {
                    let making = keeper.make(Arc::clone(&ticket), Arc::clone(&case), reason);
                    if let Ok(made) = making.await {
                        keeper.lay_ready(&ticket, &case, made).await;
                    }
                }
            }
            drop(claim);
        });
    }

    /// Has somebody write a compaction; whatever they do, what comes of it was checked.
    async fn write(
        self: &Arc<Self>,
        ticket: &Arc<Ticket>,
        case: &Arc<Case>,
        reason: Reason,
    ) -> Result<Made, NoPlan> {
        let begun = {
            let (keeper, ticket, case) = (Arc::clone(self), Arc::clone(ticket), Arc::clone(case));
            let begin = move || {
                if let Some(made) = keeper.pruned(&ticket, &case, reason) {
                    return Ok(Begun::Done(Box::new(made)));
                }
                let mut session = keeper.session(&ticket, &case, Basis::View)?;
                let job = session.begin(reason).inspect_err(|_| {
                    keeper.remember(&ticket, &session);
                })?;
                Ok::<_, NoPlan>(Begun::Work(Box::new((session, job))))
            };
            tokio::task::spawn_blocking(begin).await
        };
        let (mut session, job) = match begun.unwrap_or_else(|_| Err(failed()))? {
            Begun::Done(made) => return Ok(*made),
            Begun::Work(work) => *work,
        };
        let runner = self.rules.runner_for(ticket);
        let conversation = ticket.place.conversation.as_str();
        let sent = case.applied.as_ref();
        let request = sent.and_then(|applied| ticket.rendered(applied));
        let wish = Wish {
            focus: None,
            request: Some(request.unwrap_or_else(|| ticket.body.bytes().clone())),
            asked: runner.asked(conversation, CancellationToken::new()),
        };
        let entry = |at: usize| format!("{conversation}/{at}");
        let written = runner.write(&job, wish, entry, &hook_context(ticket)).await;
        let written = match written {
            Ok(written) => written,
            Err(called_off) => {
                session.failed(Failure::Cancelled, called_off.to_string());
                self.remember(ticket, &session);
                return Err(failed());
            }
        };
        let is_ours = matches!(
            written.steps.as_slice(),
            [TriedRung {
                rung: LadderRung::BuiltIn,
                failed: None,
                ..
            }]
        );
        for step in written.steps.iter().filter(|step| step.failed.is_some()) {
            let rung = step.rung.as_str();
            tracing::warn!(rung, why = step.message, "a summary did not hold");
        }
        let prepared = match written.prepared {
            Ok(prepared) => prepared,
            Err(no) => {
                session.failed(Failure::SummaryFailed, no.to_string());
                self.remember(ticket, &session);
                return Err(no);
            }
        };
        let not_smaller = |_| NoPlan {
            reason: Reason::NotSmaller,
            floor_tokens: job.plan().floor_tokens,
        };
        session.commit(prepared).map_err(not_smaller)?;
        let mut made = self.frozen(ticket, case, &session, Basis::View)?;
        if self.index.is_undone(&made.epoch.node) && case.now.fits() {
            return Err(failed());
        }
        made.epoch.record.spent_nanodollars = written.spent_nanodollars;
        if !is_ours {
            let steps = written.steps.iter();
            made.epoch.record.steps = steps.map(StepRecord::from).collect();
        }
        Ok(made)
    }

    /// Has somebody write it and lays it ready, unless another process on the store is at it already. The work is done once it
    /// is stored: until then nobody else begins it, and pays for it.
    async fn written_alone(
        self: &Arc<Self>,
        ticket: &Arc<Ticket>,
        case: &Arc<Case>,
        reason: Reason,
        claim: &Arc<Claim>,
    ) {
        let work = async {
            let Ok(made) = self.write(ticket, case, reason).await else {
                return;
            };
            let (keeper, ticket, case) = (Arc::clone(self), Arc::clone(ticket), Arc::clone(case));
            let claim = Arc::clone(claim);
            // It is paid for: whatever becomes of the job, it is stored, and nobody here asks again meanwhile.
            let laying = self.tasks.spawn(async move {
                keeper.lay_ready(&ticket, &case, made).await;
                drop(claim);
            });
            if let Err(error) = laying.await {
                tracing::error!(%error, "a compaction could not be stored");
            }
        };
        if ticket.is_kept_out() {
            return work.await;
        }
        let conversation = &ticket.place.conversation;
        self.journal.alone(conversation, reason, work).await;
    }

    /// Stores a compaction, so that it is there when it is needed.
    async fn lay_ready(&self, ticket: &Ticket, case: &Case, made: Made) {
        let is_ours = made.epoch.record.steps.is_empty();
        let patience = match is_ours {
            true => Patience::Request,
            false => Patience::Paid,
        };
        let stored = self.commit(ticket, case, made, patience).await;
        // What a model wrote cannot be made again: it is used only once it is stored.
        if is_ours || stored.is_stored {
            self.index.prepare(stored.epoch);
        }
    }

    /// Tells whoever wants to know of a compaction that takes effect.
    pub(super) fn tell_hooks(
        &self,
        ticket: &Ticket,
        case: &Case,
        epoch: &Epoch,
        applied: &Applied,
        beginning: Beginning,
    ) {
        let runner = self.rules.runner.clone();
        if !runner.has_hooks() {
            return;
        }
        let messages = ticket.conversation.messages.len();
        let context = hook_context(ticket);
        let late = match beginning {
            Beginning::Told => None,
            Beginning::Untold => Some(BeforeCompaction {
                message_count: messages,
                token_count: Some(case.before),
            }),
        };
        let covered = epoch.record.covered_links;
        let event = AfterCompaction {
            message_count: messages.saturating_sub(covered) + 1,
            token_count: Some(ticket.total_tokens().saturating_sub(applied.saved_tokens)),
            compacted_count: covered,
        };
        self.tasks
            .spawn(async move { runner.tell(late, event, &context).await });
    }
}

fn hook_context(ticket: &Ticket) -> Arc<HookContext> {
    Arc::new(HookContext {
        session_key: Some(ticket.place.conversation.to_string()),
        ..HookContext::default()
    })
}
