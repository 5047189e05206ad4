//! Random conversations of everything that the formats have, turn by turn through what decides and renders: whatever goes
//! out is valid by two judges that know nothing of each other.
//!
//! `EPITOME_SEED=N EPITOME_CASES=1` repeats one of them.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use epitome::settings::Settings;
use epitome::{Preset, PresetName};
use epitome_engine::Hooks;
use epitome_engine::known_models::KnownModels;
use epitome_store::TenantId;
use epitome_testkit::generate::Everything;
use epitome_testkit::{Random, strict, tokens};
use epitome_wire::{AnswerItems, Counted, Refusal, problems};
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};

use super::*;
use crate::answer::Seen;
use crate::config::{
    Config, ConfiguredWindows, Pruning, QuotaLimits, StoreLocation, TenantSettings,
};
use crate::quota::Quota;

/// Conversations in an ordinary run; the gate of issue 16 is 20,000.
const CASES: u64 = 300;
const SEED: u64 = 2_026;
const TURNS: usize = 12;
const WORKERS: usize = 2;
/// After so many broken ones there is enough to mend.
const MOST_BROKEN: usize = 12;

#[test]
fn everything_that_goes_out_is_valid_by_two_judges() {
    let first = number("EPITOME_SEED").unwrap_or(SEED);
    let cases = number("EPITOME_CASES").unwrap_or(CASES).max(1);
    let next = AtomicU64::new(first);
    let broken = Mutex::new(Vec::new());
    let tally = Mutex::new(Tally::default());
    std::thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                let runtime = Builder::new_current_thread().enable_all().build().unwrap();
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= first + cases || broken.lock().unwrap().len() > MOST_BROKEN {
                        return;
                    }
                    match Case::of(seed).play(&runtime) {
                        Ok(one) => tally.lock().unwrap().add(&one),
                        Err(words) => broken.lock().unwrap().push((seed, words)),
                    }
                }
            });
        }
    });
    let mut broken = broken.into_inner().unwrap();
    broken.sort();
    for (seed, words) in &broken {
        println!("EPITOME_SEED={seed} EPITOME_CASES=1: {words}");
    }
    let tally = tally.into_inner().unwrap();
    println!("{cases} conversations from seed {first}: {tally:#?}");
    assert!(broken.is_empty(), "{} broken, see above", broken.len());
    if cases >= 100 {
        tally.assert_telling();
    }
}

fn number(name: &str) -> Option<u64> {
    let value = std::env::var(name).ok()?;
    let parsed = value.parse().ok();
    Some(parsed.unwrap_or_else(|| panic!("{name}={value} is not a number")))
}

/// What many conversations came to.
#[derive(Debug, Default)]
struct Tally {
    conversations: u64,
    requests: u64,
    /// What was sent after a refusal.
    second_tries: u64,
    compacted: BTreeMap<&'static str, u64>,
    /// Conversations that were compacted, by the size of their windows in thousands, up to.
    windows: BTreeMap<u64, (u64, u64)>,
}

impl Tally {
    fn add(&mut self, other: &Self) {
        self.conversations += other.conversations;
        self.requests += other.requests;
        self.second_tries += other.second_tries;
        for (name, count) in &other.compacted {
            *self.compacted.entry(name).or_default() += count;
        }
        for (window, (all, compacted)) in &other.windows {
            let sum = self.windows.entry(*window).or_default();
            sum.0 += all;
            sum.1 += compacted;
        }
    }

    /// A generator that never comes near a line would prove nothing.
    fn assert_telling(&self) {
        for name in ["chat", "responses", "anthropic"] {
            let compacted = self.compacted.get(name).copied().unwrap_or(0);
            assert!(compacted * 12 > self.requests, "{name}: {self:#?}");
        }
        assert!(self.second_tries * 50 > self.requests, "{self:#?}");
        for (window, (all, compacted)) in &self.windows {
            assert!(*compacted * 3 > *all || *all < 10, "{window}: {self:#?}");
        }
    }
}

/// One conversation, as plain data.
#[derive(Clone, Debug)]
struct Case {
    seed: u64,
    wire: epitome_testkit::Wire,
    preset: PresetName,
    window_tokens: usize,
    turn_tokens: usize,
    pruning: Pruning,
}

impl Case {
    fn of(seed: u64) -> Self {
        let random = &mut Random::new(seed.wrapping_mul(0x5851_f42d_4c95_7f2d));
        random.bits();
        // Small windows more often than large ones: a conversation outgrows them at little cost.
        let window_tokens = match random.below(100) {
            0..80 => random.between(700, 3_500),
            80..95 => random.between(3_500, 12_000),
            95..99 => random.between(12_000, 50_000),
            _ => random.between(50_000, 200_000),
        };
        Self {
            seed,
            wire: *random.pick(&epitome_testkit::Wire::ALL),
            // Every other one in our own design.
            preset: match random.chance(50) {
                true => PresetName::Default,
                false => *random.pick(&PresetName::ALL),
            },
            window_tokens,
            turn_tokens: match window_tokens {
                0..12_000 => window_tokens * random.between(8, 40) / 100,
                _ => window_tokens * random.between(5, 15) / 100,
            },
            pruning: match random.chance(15) {
                true => Pruning::OldResults,
                false => Pruning::Off,
            },
        }
    }

    fn play(&self, runtime: &Runtime) -> Result<Tally, String> {
        let mut played = Played {
            case: self,
            random: Random::new(self.seed ^ 0x0e91_70e3),
            tasks: TaskTracker::new(),
            tally: Tally::default(),
            now_ms: 1_700_000_000_000,
        };
        let done = runtime.block_on(played.turns());
        done.map_err(|words| format!("{words}\n  {self:?}"))?;
        let compacted = played.tally.compacted.values().sum::<u64>();
        let band = (self.window_tokens as u64).div_ceil(10_000) * 10;
        let one = (1, u64::from(compacted > 0));
        played.tally.windows.insert(band, one);
        played.tally.conversations = 1;
        Ok(played.tally)
    }

    fn wire(&self) -> Wire {
        match self.wire {
            epitome_testkit::Wire::OpenaiChat => Wire::OpenAiChat,
            epitome_testkit::Wire::OpenaiResponses => Wire::OpenAiResponses,
            epitome_testkit::Wire::Anthropic => Wire::Anthropic,
        }
    }

    fn keeper(&self, tasks: &TaskTracker) -> Keeper {
        let config = Config {
            listen: ([127, 0, 0, 1], 0).into(),
            openai_upstream: None,
            anthropic_upstream: None,
            store: StoreLocation::None,
            window_tokens: Some(self.window_tokens as u64),
            windows: ConfiguredWindows::none(),
            settings: Settings::of(self.preset),
            summariser: None,
            hooks: Hooks::default(),
            mode: Mode::Act,
            pruning: self.pruning,
            inspection_limit_bytes: usize::MAX,
            tenants: TenantSettings::default(),
        };
        let models = Models::new(
            config.windows.clone().or(config.window_tokens),
            config.settings.margins(),
            Preset::from(&config.settings).assumed_window(),
            KnownModels::default(),
        );
        let index = Arc::new(Index::default());
        let quota = Arc::new(Quota::new(TenantId::local(), QuotaLimits::default()));
        let rules = Rules::of(&config, Arc::clone(&quota.purse));
        let journal = Journal::start(None, TenantId::local(), Arc::clone(&index), quota, tasks);
        let journal = Arc::new(journal);
        let key = ChainKey::new([7; 32]);
        Keeper::new(Mode::Act, rules, key, models, index, journal, tasks.clone())
    }
}

/// A case on its way.
struct Played<'c> {
    case: &'c Case,
    random: Random,
    tasks: TaskTracker,
    tally: Tally,
    now_ms: i64,
}

impl Played<'_> {
    async fn turns(&mut self) -> Result<(), String> {
        let keeper = Arc::new(self.case.keeper(&self.tasks));
        let Case {
            wire,
            seed,
            window_tokens,
            turn_tokens,
            ..
        } = *self.case;
        let mut talk = Everything::new(wire, seed, window_tokens, turn_tokens);
        // Some conversations come from elsewhere and are long already.
        if self.random.chance(25) {
            (0..self.random.between(2, 6)).for_each(|_| talk.advance());
        }
        for turn in 0..TURNS {
            let request = self.asking(talk.request());
            self.turn(&keeper, &request)
                .await
                .map_err(|words| format!("turn {turn}: {words}"))?;
            self.now_ms += *self.random.pick(&[5_000, 60_000, 400_000, 8_000_000]);
            if self.random.chance(6) {
                talk.rewind(self.random.between(1, 2));
            }
            talk.advance();
        }
        Ok(())
    }

    /// The request with the room that it asks for its answer.
    fn asking(&mut self, mut request: Value) -> Value {
        let name = match self.case.wire {
            epitome_testkit::Wire::OpenaiChat => "max_completion_tokens",
            epitome_testkit::Wire::OpenaiResponses => "max_output_tokens",
            epitome_testkit::Wire::Anthropic => "max_tokens",
        };
        let is_needed = self.case.wire == epitome_testkit::Wire::Anthropic;
        if is_needed || self.random.chance(50) {
            let share = *self.random.pick(&[50, 20, 10, 4]);
            request[name] = json!((self.case.window_tokens / share).max(1));
        }
        request
    }

    async fn turn(&mut self, keeper: &Arc<Keeper>, request: &Value) -> Result<(), String> {
        let bytes = Bytes::from(request.to_string());
        self.judge("the client's own", &bytes)?;
        self.tally.requests += 1;
        if self.random.chance(5) {
            let counted = self.admit(keeper, &bytes, Kind::Count).await;
            self.judge("a count", &counted.bytes)?;
        }
        let first = self.admit(keeper, &bytes, Kind::Turn).await;
        self.judge("the first try", &first.bytes)?;
        self.newest_is_shown(request, &first)?;
        if first.action == Action::Compacted {
            let name = match self.case.wire {
                epitome_testkit::Wire::OpenaiChat => "chat",
                epitome_testkit::Wire::OpenaiResponses => "responses",
                epitome_testkit::Wire::Anthropic => "anthropic",
            };
            *self.tally.compacted.entry(name).or_default() += 1;
        }
        let Some(ticket) = first.ticket.clone() else {
            return Ok(());
        };
        let second = match self.random.below(100) {
            0..12 => self.too_long(keeper, &ticket, &first).await,
            12..24 if first.action == Action::Compacted => keeper.refused(
                &ticket,
                *self.random.pick(&[Fault::Structural, Fault::Unknown]),
            ),
            _ => None,
        };
        match second {
            Some(second) => {
                self.tally.second_tries += 1;
                self.judge("the second try", &second.bytes)?;
                self.newest_is_shown(request, &second)?;
                if let Some(sent) = &second.ticket {
                    self.taken(keeper, sent, &second.bytes);
                    keeper.accepted(&ticket, sent);
                }
            }
            None => self.taken(keeper, &ticket, &first.bytes),
        }
        // What is prepared in the background is there before the next request.
        self.tasks.close();
        self.tasks.wait().await;
        self.tasks.reopen();
        Ok(())
    }

    async fn admit(&self, keeper: &Arc<Keeper>, bytes: &Bytes, kind: Kind) -> Outgoing {
        let endpoint = Endpoint {
            authority: "provider.example",
            context: ContextBeta::None,
            lent: None,
            is_private: false,
        };
        let body = Body::scan(bytes.clone(), self.case.wire());
        keeper
            .admit(bytes.clone(), body, &endpoint, kind, self.now_ms)
            .await
    }

    /// The provider says that it is too long, and what could be sent instead.
    async fn too_long(
        &mut self,
        keeper: &Arc<Keeper>,
        ticket: &Ticket,
        sent: &Outgoing,
    ) -> Option<Outgoing> {
        let window = self.case.window_tokens as u64;
        let tokens = self.tokens(&sent.bytes).max(window + 1);
        let text = format!(
            "{{\"error\": {{\"message\": \"This model's maximum context length is {window} tokens. However, your \
             messages resulted in {tokens} tokens.\", \"code\": \"context_length_exceeded\"}}}}"
        );
        match Refusal::read(400, text.as_bytes(), &sent.bytes) {
            Refusal::Overflow(overflow) => keeper.recover(ticket, overflow).await.ok(),
            other => panic!("{other:?}"),
        }
    }

    /// The provider took it and says what it counted.
    fn taken(&mut self, keeper: &Keeper, ticket: &Ticket, bytes: &Bytes) {
        keeper.went_out(ticket);
        let percent = self.random.between(85, 120) as u64;
        let counted = Counted {
            input_tokens: self.tokens(bytes) * percent / 100,
            is_plain: self.random.chance(90),
            ..Counted::default()
        };
        let seen = Seen {
            counted: self.random.chance(85).then_some(counted),
            overflow: None,
            items: AnswerItems::default(),
        };
        keeper.saw(ticket, seen);
    }

    fn tokens(&self, bytes: &[u8]) -> u64 {
        let request = serde_json::from_slice(bytes).unwrap();
        tokens::count(self.case.wire, &request)
    }

    /// Both judges find nothing.
    fn judge(&self, what: &str, bytes: &Bytes) -> Result<(), String> {
        let found = match strict::check_bytes(self.case.wire, bytes) {
            Ok((_, violations)) => violations,
            Err(violation) => vec![violation],
        };
        if !found.is_empty() {
            return Err(format!("{what}, first judge: {found:?}"));
        }
        let body = Body::scan(bytes.clone(), self.case.wire())
            .map_err(|error| format!("{what} cannot be read: {error}"))?;
        match problems(&body).as_slice() {
            [] => Ok(()),
            found => Err(format!("{what}, second judge: {found:?}")),
        }
    }

    /// What the user said last and nobody answered goes out as it is. `vibe` says it again behind its summary.
    fn newest_is_shown(&self, request: &Value, sent: &Outgoing) -> Result<(), String> {
        let list = request[self.case.wire.list_name()].as_array().unwrap();
        let is_note =
            |message: &&Value| matches!(message["role"].as_str(), Some("system" | "developer"));
        let newest = list.iter().rev().find(|message| !is_note(message));
        let newest = newest.filter(|newest| newest["role"] == "user");
        let Some(words) = newest.and_then(|newest| newest["content"].as_str()) else {
            return Ok(());
        };
        let text = std::str::from_utf8(&sent.bytes).unwrap();
        let is_shown = text.contains(&json!(words).to_string());
        if is_shown || self.case.preset == PresetName::Vibe {
            return Ok(());
        }
        let notes = list.iter().rev().take_while(is_note).count();
        let (action, reason) = (sent.action, sent.reason);
        Err(format!(
            "not shown ({action:?}, {reason}), {notes} notes behind it: {words}\n{text}"
        ))
    }
}
