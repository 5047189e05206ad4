//! A summariser whose answers the test hands out, or never does.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use epitome::{Failure, Usage};
use epitome_engine::summarise::{Draft, Task, Writer, WriterError, Writing};
use tokio::sync::{Notify, oneshot};

type Answer = Result<Draft, WriterError>;

/// The test's end: what was asked and not answered yet.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pen {
    asked: Arc<Mutex<Vec<Asked>>>,
    /// Rings when something is asked.
    bell: Arc<Notify>,
}

#[derive(Debug)]
struct Asked {
    conversation: String,
    reply: oneshot::Sender<Answer>,
}

/// What a writer answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Written,
    Failed,
}

impl Outcome {
    fn answer(self) -> Answer {
        match self {
            Self::Written => Ok(Draft {
                text: String::from("The work goes on step by step; what was read is known."),
                memories: Vec::new(),
                usage: Usage::default(),
            }),
            Self::Failed => Err(WriterError {
                failure: Failure::SummaryFailed,
                message: String::from("the model is away"),
            }),
        }
    }
}

impl Pen {
    fn asked(&self) -> MutexGuard<'_, Vec<Asked>> {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        asked.retain(|one| !one.reply.is_closed());
        asked
    }

    /// Whether somebody waits for an answer about this conversation.
    pub(crate) fn is_asked(&self, conversation: &str) -> bool {
        let asked = self.asked();
        asked.iter().any(|one| one.conversation == conversation)
    }

    /// Answers everybody, as soon as they ask.
    pub(crate) async fn answer_all(&self, conversation: &str, outcome: Outcome) {
        loop {
            while self.answer(conversation, outcome) {}
            self.bell.notified().await;
        }
    }

    /// Answers whoever has waited longest. Whether there was somebody.
    pub(crate) fn answer(&self, conversation: &str, outcome: Outcome) -> bool {
        let mut asked = self.asked();
        let found = asked
            .iter()
            .position(|one| one.conversation == conversation);
        found.is_some_and(|at| asked.remove(at).reply.send(outcome.answer()).is_ok())
    }
}

impl Writer for Pen {
    fn write<'a>(&'a self, task: Task<'a>) -> Writing<'a> {
        let conversation = task.asked.conversation;
        Box::pin(async move {
            let (reply, answer) = oneshot::channel();
            self.asked().push(Asked {
                conversation,
                reply,
            });
            self.bell.notify_one();
            match answer.await {
                Ok(answer) => answer,
                Err(_) => std::future::pending().await,
            }
        })
    }
}
