//! A history that is too long for one request: chunks, parts, one summary of them all.

use epitome::reference::openclaw;
use epitome::{Failure, Message};
use futures_util::stream::{self, StreamExt, TryStreamExt};
use minijinja::context;

use super::parts;
use super::transcript::{Previews, Results, cut_middle, transcript};
use super::writer::{Draft, ModelWriter, Task, Writer, WriterError, Writing, add};
use crate::model::Ask;

/// What the instructions around a transcript take at most, in tokens.
const FRAME_TOKENS: u64 = 1_500;
/// How far the meter may be off, in percent.
const SAFETY_PERCENT: u64 = 120;
/// The least that a request may hold.
const LEAST_TOKENS: u64 = 512;
/// What is shown of one result at most, from all of it to as little as is worth reading: the first at which everything
/// fits one request.
const RESULT_TOKENS: [u64; 8] = [u64::MAX, 8_000, 4_000, 2_000, 1_000, 500, 250, 120];
/// How deep summaries of summaries go.
const DEPTH: usize = 4;

impl ModelWriter {
    /// Writes from transcripts: at once where they fit, else in parts.
    pub(super) async fn staged(&self, task: &Task<'_>) -> Result<Draft, WriterError> {
        let job = task.job;
        let span = job.span();
        let prefix = job.turn_prefix();
        let oldest = job.oldest();
        let is_in = |range: &std::ops::Range<usize>| {
            let range = range.clone();
            move |(position, _): &(usize, &Message)| range.contains(position)
        };
        let (turn, history): (Vec<_>, Vec<_>) = span.into_iter().partition(is_in(&prefix));
        let (oldest, history): (Vec<_>, Vec<_>) = history.into_iter().partition(is_in(&oldest));
        let mut previous = job.previous_summary().map(str::to_owned);
        let mut draft = Draft::default();
        // What is above its share of the window is summarised by itself and handed on.
        if !oldest.is_empty() && !history.is_empty() {
            let part = self.history(task, previous.as_deref(), &oldest).await?;
            previous = Some(part.text);
            draft.memories = part.memories;
            add(&mut draft.usage, part.usage);
        }
        let history = if history.is_empty() { oldest } else { history };
        // A turn that is all there is, or too long for one request, is a history like any other.
        let (history, turn) = if history.is_empty() || !self.fits(task, &turn) {
            (history.into_iter().chain(turn).collect(), Vec::new())
        } else {
            (history, turn)
        };
        if !history.is_empty() {
            let part = self.history(task, previous.as_deref(), &history).await?;
            draft.text = part.text;
            draft.memories.extend(part.memories);
            add(&mut draft.usage, part.usage);
        }
        if !turn.is_empty() {
            let part = self.turn(task, &turn).await?;
            if !draft.text.is_empty() {
                draft.text.push_str("\n\n### The turn that goes on\n");
            }
            draft.text.push_str(&part.text);
            add(&mut draft.usage, part.usage);
        }
        if draft.text.is_empty() {
            return Err(WriterError::new(
                Failure::SummaryEmpty,
                "there is nothing to summarise",
            ));
        }
        Ok(draft)
    }

    /// One summary of a stretch of the history.
    async fn history(
        &self,
        task: &Task<'_>,
        previous: Option<&str>,
        messages: &[(usize, &Message)],
    ) -> Result<Draft, WriterError> {
        let pieces = self.pieces(task, messages);
        let meter = task.job.meter();
        let tokens: Vec<u64> = pieces.iter().map(|piece| meter.text(piece)).collect();
        let total: u64 = tokens.iter().sum();
        let room = self.room(task, previous);
        let window = self.window_tokens().unwrap_or(u64::MAX);
        let chunk_tokens = if self.style.is_staged {
            let share = openclaw::chunk_ratio(&tokens, window) * window as f64;
            room.min(share as u64).max(LEAST_TOKENS)
        } else {
            room
        };
        // A design that caps what its summariser is shown asks once, however long the history is.
        let capped = self
            .style
            .input_chars
            .map(|_| self.capped(&pieces.join("\n\n")));
        if let Some(text) = capped.filter(|text| meter.text(text) <= chunk_tokens) {
            return self.part(task, previous, &text).await;
        }
        if total <= chunk_tokens {
            return self.part(task, previous, &pieces.join("\n\n")).await;
        }
        let count = (total.div_ceil(chunk_tokens.max(1)) as usize).max(openclaw::PARTS);
        let chunks: Vec<String> = openclaw::chunks_by_share(&tokens, count)
            .into_iter()
            .flat_map(|share| {
                let start = share.start;
                let sizes = tokens.get(share).unwrap_or_default();
                let chunks = openclaw::chunks_by_max(sizes, chunk_tokens).into_iter();
                chunks.map(move |chunk| start + chunk.start..start + chunk.end)
            })
            .filter_map(|chunk| Some(pieces.get(chunk)?.join("\n\n")))
            .filter(|text| !text.is_empty())
            .collect();
        let mut writing: Vec<Writing<'_>> = Vec::with_capacity(chunks.len());
        for (at, chunk) in chunks.iter().enumerate() {
            // Only the oldest part goes on from the round before.
            let previous = previous.filter(|_| at == 0);
            writing.push(Box::pin(self.part(task, previous, chunk)));
        }
        let finished: Vec<Draft> = stream::iter(writing)
            .buffered(self.style.parallel.max(1))
            .try_collect()
            .await?;
        self.merged(task, finished, DEPTH).await
    }

    /// One part, or what was written for the same question before.
    async fn part(
        &self,
        task: &Task<'_>,
        previous: Option<&str>,
        text: &str,
    ) -> Result<Draft, WriterError> {
        let budget = self.budget(task.job).to_string();
        let key = parts::key(&[
            self.style.design.asking.template,
            self.caller.endpoint().model(),
            &budget,
            task.focus.unwrap_or(""),
            previous.unwrap_or(""),
            text,
        ]);
        if let Some(text) = self.parts.find(key) {
            return Ok(Draft {
                text,
                ..Draft::default()
            });
        }
        let draft = self.ask_about(task, previous, text).await?;
        self.parts.keep(key, &draft.text);
        Ok(draft)
    }

    /// One summary of several, in groups where they are too many for one request.
    async fn merged(
        &self,
        task: &Task<'_>,
        finished: Vec<Draft>,
        depth: usize,
    ) -> Result<Draft, WriterError> {
        let mut whole = Draft::default();
        let mut texts: Vec<String> = Vec::new();
        for draft in finished {
            whole.memories.extend(draft.memories);
            add(&mut whole.usage, draft.usage);
            texts.push(draft.text);
        }
        let meter = task.job.meter();
        let room = self.room(task, None);
        for _ in 0..depth {
            if texts.len() <= 1 {
                break;
            }
            let sizes: Vec<u64> = texts.iter().map(|text| meter.text(text)).collect();
            let groups = openclaw::chunks_by_max(&sizes, room);
            let mut next = Vec::with_capacity(groups.len());
            for group in groups {
                let group = texts.get(group).unwrap_or_default();
                match group {
                    [] => {}
                    [one] => next.push(one.clone()),
                    several => {
                        let (text, usage) = self.merge(task, several).await?;
                        add(&mut whole.usage, usage);
                        next.push(text);
                    }
                }
            }
            if next.len() == texts.len() {
                break;
            }
            texts = next;
        }
        whole.text = texts.join("\n\n");
        Ok(whole)
    }

    async fn merge(
        &self,
        task: &Task<'_>,
        several: &[String],
    ) -> Result<(String, epitome::Usage), WriterError> {
        let text = self.render(
            "merge",
            context! { parts => several, budget_tokens => self.budget(task.job), focus => task.focus },
        )?;
        let mut ask = Ask::new(None, text);
        ask.max_output_tokens = Some(self.most_output(task.job));
        ask.temperature = self.style.temperature;
        let answer = self.ask(&ask, &task.asked).await?;
        Ok((self.summary(&answer, task.job)?, answer.usage))
    }

    /// The beginning of the turn that goes on.
    async fn turn(
        &self,
        task: &Task<'_>,
        messages: &[(usize, &Message)],
    ) -> Result<Draft, WriterError> {
        let text = self.pieces(task, messages).join("\n\n");
        let budget = self.budget(task.job) / 2;
        let text = self.render(
            "turn_prefix",
            context! { transcript => text, budget_tokens => budget },
        )?;
        let mut ask = Ask::new(None, text);
        ask.max_output_tokens = Some(self.most_output(task.job) / 2);
        ask.temperature = self.style.temperature;
        let answer = self.ask(&ask, &task.asked).await?;
        Ok(Draft {
            text: self.summary(&answer, task.job)?,
            usage: answer.usage,
            ..Draft::default()
        })
    }

    /// The transcript, message by message. Where the design shows results, they are shortened only as far as one request
    /// asks for.
    fn pieces(&self, task: &Task<'_>, messages: &[(usize, &Message)]) -> Vec<String> {
        if !self.style.design.asking.shows_results {
            return self.pieces_with(task, messages, Previews::default());
        }
        let meter = task.job.meter();
        let room = self.room(task, task.job.previous_summary());
        let mut pieces = Vec::new();
        for most in RESULT_TOKENS {
            let previews = Previews {
                results: Results::Tokens { most, meter },
                ..Previews::default()
            };
            pieces = self.pieces_with(task, messages, previews);
            let tokens: u64 = pieces.iter().map(|piece| meter.text(piece)).sum();
            if tokens <= room {
                break;
            }
        }
        pieces
    }

    /// None is longer than a request may be; very large ones may be only noted.
    fn pieces_with(
        &self,
        task: &Task<'_>,
        messages: &[(usize, &Message)],
        previews: Previews,
    ) -> Vec<String> {
        let meter = task.job.meter();
        let half = self.window_tokens().unwrap_or(u64::MAX) / 2;
        let room_chars =
            usize::try_from(self.room(task, None).saturating_mul(3)).unwrap_or(usize::MAX);
        let mut out = Vec::with_capacity(messages.len());
        for entry in messages {
            let tokens = meter.message(entry.1);
            if task.notes_oversized && tokens > half {
                let role = entry.1.role.as_str();
                let position = entry.0 + 1;
                out.push(format!(
                    "[{position}] {role}:\n[left out: a message of about {tokens} tokens]"
                ));
                continue;
            }
            let shown = transcript(&[*entry], self.style.design, previews);
            out.extend(shown.into_iter().map(|text| cut_middle(&text, room_chars)));
        }
        out
    }

    /// What a request may hold of the conversation.
    fn room(&self, task: &Task<'_>, previous: Option<&str>) -> u64 {
        let window = self.window_tokens().unwrap_or(u64::MAX);
        let taken = FRAME_TOKENS.min(window / 8)
            + self.most_output(task.job)
            + previous.map_or(0, |text| task.job.meter().text(text));
        let share = if task.notes_oversized { 2 } else { 1 };
        (window.saturating_sub(taken) / SAFETY_PERCENT * 100 / share).max(LEAST_TOKENS)
    }

    /// Whether messages fit one request.
    fn fits(&self, task: &Task<'_>, messages: &[(usize, &Message)]) -> bool {
        let meter = task.job.meter();
        let pieces = self.pieces(task, messages);
        let tokens: u64 = pieces.iter().map(|piece| meter.text(piece)).sum();
        tokens <= self.room(task, None)
    }

    fn capped(&self, text: &str) -> String {
        match self.style.input_chars {
            Some(chars) if text.chars().count() > chars => {
                // The gap says how much is left out, in about so many characters.
                cut_middle(text, chars.saturating_sub(100))
            }
            _ => text.to_owned(),
        }
    }
}
