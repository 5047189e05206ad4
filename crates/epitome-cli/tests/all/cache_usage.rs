//! The simulator of caches against what providers counted: the reads of a session, all together.
//!
//! The sizes of the requests are taken from the log, as the provider counted them; what is the same in two requests,
//! and how long a cache lasts, is taken from published rules; what of each request is read from the cache is the
//! simulator's word. Nothing is fitted.
//!
//! Some things no log tells, and nothing here makes up for them: what an earlier session left in the cache (the first
//! request), requests that reached another machine of the provider (OpenAI's reads fall back to an older prefix now and
//! then), and an agent that was ended and started again with another system prompt. The last one is common in one
//! session only, whose reads are compared twice: as they are, and with the restarts told.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use epitome::{Digest, Meter, ModelTable, Role};
use epitome_cost::{Lifetime, Piece, ProviderCache, Request};
use epitome_files::{CacheUsage, Conversation, FileFormat, Transcript, Usage};
use epitome_testkit::data::{data, files, stem};

/// How far the sum of a session may be off.
const MOST_DISTANCE: f64 = 0.05;
/// A request is off where its reads are, by so much.
const REQUEST_DISTANCE: f64 = 0.05;
/// The sessions in which the agent was ended and started again, which no log tells.
const RESTARTED: &[&str] = &["pi-large-session"];

/// What is told beside what the log says.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Told {
    Nothing,
    /// Which requests came from an agent that had just been started: with a system prompt that nobody had sent before.
    Restarts,
}

#[derive(Default)]
struct Outcome {
    requests: usize,
    recorded: u64,
    simulated: u64,
    off: usize,
    restarts: usize,
}

impl Outcome {
    fn distance(&self) -> f64 {
        (self.simulated as f64 - self.recorded as f64) / self.recorded.max(1) as f64
    }
}

/// The history of one session as its requests had it.
struct History<'a> {
    conversation: &'a Conversation,
    format: FileFormat,
    frame: Piece,
    messages: Vec<(Piece, IsReasoning)>,
    last: Option<Usage>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum IsReasoning {
    Yes,
    No,
}

fn piece(name: &str, number: usize, tokens: u64) -> Piece {
    Piece::new(Digest::of(format!("{name} {number}").as_bytes()), tokens)
}

impl<'a> History<'a> {
    fn new(conversation: &'a Conversation, format: FileFormat, first: &Usage) -> Self {
        let said = conversation.messages.iter().take(first.messages);
        let said = said.filter(|message| message.role != Role::System);
        let said: u64 = said.map(|message| Meter::Estimate.message(message)).sum();
        Self {
            conversation,
            format,
            frame: piece("frame", 0, first.input_tokens.saturating_sub(said)),
            messages: Vec::new(),
            last: None,
        }
    }

    fn tokens(&self) -> u64 {
        let messages = self.messages.iter().map(|(piece, _)| piece.tokens);
        self.frame.tokens + messages.sum::<u64>()
    }

    /// The history grows by the last answer and what came since, to the size that the provider counted.
    fn grow(&mut self, number: usize, usage: &Usage) {
        if let Some(last) = self.last {
            let since = last.messages..usage.messages.max(last.messages);
            let mut compactions = self.conversation.compactions.iter();
            if compactions.any(|recorded| recorded.at > since.start && recorded.at <= since.end) {
                self.messages.clear();
            } else if self.format == FileFormat::Codex {
                let new = self.conversation.messages.get(since).unwrap_or_default();
                // OpenAI: reasoning stands in the history until the user speaks again.
                if new.iter().any(|message| message.role == Role::User) {
                    self.messages.retain(|(_, kind)| *kind == IsReasoning::No);
                } else {
                    let reasoning = piece("reasoning", number, last.reasoning_tokens);
                    self.messages.push((reasoning, IsReasoning::Yes));
                }
            }
        }
        // A client that sends less than before has cleared something of it, and the log does not say what.
        if self.tokens() > usage.input_tokens {
            self.messages.clear();
        }
        let new = usage.input_tokens.saturating_sub(self.tokens());
        let new = piece("messages", number, new);
        self.messages.push((new, IsReasoning::No));
        self.last = Some(*usage);
    }

    fn request(&self, usage: &Usage, lifetime: Lifetime) -> Request {
        let mut request = Request {
            system: vec![self.frame],
            messages: self.messages.iter().map(|(piece, _)| *piece).collect(),
            ..Request::at(usage.at_ms.unwrap())
        };
        request.mark_as_agents_do(lifetime);
        request
    }
}

fn simulated(conversation: &Conversation, format: FileFormat, told: Told) -> Option<Outcome> {
    let counted: Vec<(Usage, CacheUsage)> = conversation
        .usage
        .iter()
        .filter_map(|usage| Some((*usage, usage.cache?)))
        .filter(|(usage, _)| usage.input_tokens > 0)
        .collect();
    let (first, _) = counted.first()?;
    let model = ModelTable::builtin().find(conversation.model.as_deref()?)?;
    let is_hour = counted.iter().any(|(_, cache)| cache.write_1h_tokens > 0);
    let lifetime = match is_hour {
        true => Lifetime::Hour,
        false => Lifetime::FiveMinutes,
    };
    let mut cache = ProviderCache::of(model);
    let mut history = History::new(conversation, format, first);
    let mut outcome = Outcome::default();
    for (number, (usage, recorded)) in counted.iter().enumerate() {
        history.grow(number, usage);
        let mut spent = cache.clone();
        let mut request = history.request(usage, lifetime);
        let would_read = spent.send(&request).unwrap().read_tokens;
        let is_restart = recorded.read_tokens == 0 && would_read > 0;
        outcome.restarts += usize::from(is_restart);
        if is_restart && told == Told::Restarts {
            history.frame = piece("frame", number, history.frame.tokens);
            request = history.request(usage, lifetime);
        }
        let read = cache.send(&request).unwrap().read_tokens;
        let longest = read.max(recorded.read_tokens) as f64;
        outcome.off +=
            usize::from(read.abs_diff(recorded.read_tokens) as f64 > longest * REQUEST_DISTANCE);
        outcome.requests += 1;
        outcome.recorded += recorded.read_tokens;
        outcome.simulated += read;
    }
    (outcome.recorded > 0).then_some(outcome)
}

fn conversation(path: &Path, format: FileFormat) -> Conversation {
    let mut file = BufReader::new(File::open(path).unwrap());
    let transcript = Transcript::collect(&mut file, format).unwrap();
    transcript.conversations.into_iter().next().unwrap()
}

#[test]
fn cache_reads_of_sessions_are_simulated_within_five_percent() {
    let Some(native) = data("cache_usage", "native") else {
        return;
    };
    let mut table =
        String::from("session, requests, reads recorded, simulated, distance, requests off\n");
    let mut far = Vec::new();
    let mut compared = 0;
    for (folder, format) in [
        ("claude-code", FileFormat::ClaudeCode),
        ("codex", FileFormat::Codex),
        ("pi", FileFormat::Pi),
    ] {
        for path in files(&native.join(folder), "jsonl") {
            let conversation = conversation(&path, format);
            let name = stem(&path);
            let Some(outcome) = simulated(&conversation, format, Told::Nothing) else {
                table += &format!("{name}: the log has no cache reads\n");
                continue;
            };
            compared += 1;
            let mut line = |what: &str, outcome: &Outcome| {
                table += &format!(
                    "{name}{what}: {}, {}, {}, {:+.1} %, {}\n",
                    outcome.requests,
                    outcome.recorded,
                    outcome.simulated,
                    outcome.distance() * 100.0,
                    outcome.off,
                );
            };
            line("", &outcome);
            let mut judged = outcome;
            if RESTARTED.contains(&name.as_str()) {
                assert!(
                    judged.restarts > 10,
                    "{name} has so many restarts: {}",
                    judged.restarts
                );
                judged = simulated(&conversation, format, Told::Restarts).unwrap();
                line(&format!(" ({} restarts told)", judged.restarts), &judged);
            }
            if judged.distance().abs() > MOST_DISTANCE {
                far.push(name);
            }
        }
    }
    println!("{table}");
    assert!(compared >= 10, "{table}");
    assert!(far.is_empty(), "{far:?} are too far off:\n{table}");
}
