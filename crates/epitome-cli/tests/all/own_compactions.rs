//! What a compaction of ours costs beside the one that the client made by itself, at the same place and at the same size.
//!
//! The requests from there to the next compaction are played through the provider's cache twice: once as the client had them,
//! once with what the built-in summariser leaves when it may take as much as the client's own view did. The client asked its
//! model for the summary; that call is charged as cheaply as it can have been: the whole context read from the cache, and the
//! answer no longer than the summary.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use epitome::settings::Settings;
use epitome::{Digest, Message, Meter, Model, ModelTable, PresetName, Role, Window};
use epitome_cost::{Lifetime, PACE_MS, Piece, ProviderCache, Request};
use epitome_engine::once::{Ask, Count, Given, When, log_of};
use epitome_files::{Conversation, FileFormat, Kept, Recorded, Transcript};
use epitome_testkit::data::{data, files, stem};

const METER: Meter = Meter::Estimate;
/// Explicit marks and writing that is paid; prefixes by themselves and writing for free.
const MODELS: [&str; 2] = ["claude-sonnet-5", "gpt-5.5"];

/// A stretch of a conversation from one of the client's compactions to the next.
struct Stretch<'a> {
    name: String,
    conversation: &'a Conversation,
    made: &'a Recorded,
    /// Where the next one stands, or the conversation ends.
    until: usize,
}

/// What is shown right behind a compaction: what stands in front as before, and what is new there.
struct View {
    head: usize,
    rest_tokens: u64,
}

fn size(messages: &[Message]) -> u64 {
    messages.iter().map(|message| METER.message(message)).sum()
}

impl Stretch<'_> {
    fn before(&self) -> &[Message] {
        self.conversation.messages.get(..self.made.at).unwrap()
    }

    fn message(&self, at: usize) -> &Message {
        self.conversation.messages.get(at).unwrap()
    }

    /// The client's system prompt is in front of either view.
    fn system(&self) -> usize {
        let mut messages = self.before().iter();
        messages
            .position(|message| message.role != Role::System)
            .unwrap_or(0)
    }

    fn summary_tokens(&self) -> u64 {
        METER.message(&Message::text(Role::User, self.made.summary.as_str()))
    }

    /// What the client went on with. `None` where its file does not tell the summary.
    fn theirs(&self) -> Option<View> {
        let rest_tokens = match &self.made.kept {
            Kept::Replaced(messages) => size(messages),
            _ if self.made.summary.is_empty() => return None,
            Kept::Nothing => self.summary_tokens(),
            Kept::From(first) => {
                self.summary_tokens() + size(self.before().get(*first..).unwrap_or_default())
            }
        };
        Some(View {
            head: self.system(),
            rest_tokens,
        })
    }

    /// What there would be with ours, of the same size at most. `None` where the client's view is smaller than what has to
    /// stay, or where nothing had to be made smaller.
    fn ours(&self, budget_tokens: u64) -> Option<View> {
        let settings = Settings::of(PresetName::Default);
        let ask = Ask {
            settings: &settings,
            window: Window::configured(200_000),
            budget_tokens: Some(budget_tokens),
            count: Count::By(METER),
            when: When::Now,
            focus: None,
        };
        let messages = self.before();
        let log = log_of(messages, METER);
        let given = Given {
            messages,
            log: &log,
            body: None,
        };
        let made = ask.carry_out(ask.plan(given).ok()?, given).ok()?;
        let head = made.plan.head.end;
        let all = made.tokens_after;
        Some(View {
            head,
            rest_tokens: all - size(messages.get(..head).unwrap()).min(all),
        })
    }

    /// What the requests of this stretch cost with a view, in nanodollars; `asked_tokens` is what a model wrote for it.
    fn cost(&self, view: &View, asked_tokens: Option<u64>, model: &Model) -> u64 {
        let mut cache = ProviderCache::of(model);
        let mut at_ms = 0;
        let mut send = |pieces: &[Piece], output_tokens: u64| {
            at_ms += PACE_MS;
            let mut request = Request {
                messages: pieces.to_vec(),
                output_tokens,
                ..Request::at(at_ms)
            };
            request.mark_as_agents_do(Lifetime::FiveMinutes);
            let spent = cache.send(&request).unwrap();
            spent.nanodollars(&model.prices).unwrap()
        };
        let original = |at: usize| {
            let tokens = METER.message(self.message(at));
            Piece::new(Digest::of(format!("message {at}").as_bytes()), tokens)
        };
        // The last request before is in the cache; it is paid on both sides.
        let before: Vec<Piece> = (0..self.made.at).map(original).collect();
        send(&before, 0);
        let mut sum = asked_tokens.map_or(0, |tokens| send(&before, tokens));
        let mut shown: Vec<Piece> = before.get(..view.head).unwrap().to_vec();
        shown.push(Piece::new(Digest::of(b"view"), view.rest_tokens));
        for at in self.made.at..self.until {
            let message = self.message(at);
            if message.role == Role::Assistant {
                sum += send(&shown, METER.message(message));
            }
            shown.push(original(at));
        }
        sum
    }
}

fn transcript(path: &Path, format: FileFormat) -> Transcript {
    let mut file = BufReader::new(File::open(path).unwrap());
    Transcript::collect(&mut file, format).unwrap()
}

fn stretches<'a>(name: &str, transcript: &'a Transcript) -> Vec<Stretch<'a>> {
    let mut all = Vec::new();
    for conversation in &transcript.conversations {
        let made = &conversation.compactions;
        for (at, one) in made.iter().enumerate() {
            let end = conversation.messages.len();
            all.push(Stretch {
                name: format!("{name}, compaction {}", at + 1),
                conversation,
                made: one,
                until: made.get(at + 1).map_or(end, |next| next.at.min(end)),
            });
        }
    }
    all
}

#[test]
fn at_the_same_size_ours_never_costs_more_than_the_clients_own() {
    let Some(folder) = data("own_compactions", "native") else {
        return;
    };
    let (mut compared, mut untold, mut too_small) = (0, 0, Vec::new());
    let (mut dearer, mut shares, mut bare_shares) = (Vec::new(), Vec::new(), Vec::new());
    for (agent, format) in [
        ("claude-code", FileFormat::ClaudeCode),
        ("codex", FileFormat::Codex),
        ("pi", FileFormat::Pi),
    ] {
        for path in files(&folder.join(agent), "jsonl") {
            let transcript = transcript(&path, format);
            for stretch in stretches(&stem(&path), &transcript) {
                let Some(theirs) = stretch.theirs() else {
                    untold += 1;
                    continue;
                };
                let Some(ours) = stretch.ours(theirs.rest_tokens) else {
                    too_small.push(format!("{}: {}", stretch.name, theirs.rest_tokens));
                    continue;
                };
                for model in MODELS {
                    let model = ModelTable::builtin().find(model).unwrap();
                    let asked = Some(stretch.summary_tokens());
                    let our_cost = stretch.cost(&ours, None, model);
                    let their_cost = stretch.cost(&theirs, asked, model);
                    let without_asking = stretch.cost(&theirs, None, model);
                    compared += 1;
                    shares.push(our_cost as f64 / their_cost as f64);
                    if without_asking > 0 {
                        bare_shares.push(our_cost as f64 / without_asking as f64);
                    }
                    if our_cost > their_cost {
                        let name = &stretch.name;
                        dearer.push(format!("{name}: {our_cost} beside {their_cost}"));
                    }
                }
            }
        }
    }
    let mean = |shares: &[f64]| shares.iter().sum::<f64>() / shares.len().max(1) as f64;
    println!(
        "{compared} compared: ours cost {:.3} of the client's on average, {:.3} of it if its own call had been free; \
         {untold} files do not tell the summary; views of the client's in which what must stay has no room: {too_small:#?}",
        mean(&shares),
        mean(&bare_shares),
    );
    assert!(compared >= 10, "{compared}");
    assert!(dearer.is_empty(), "{dearer:#?}");
}
