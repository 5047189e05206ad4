//! Steady growth under every preset, whatever the provider counts and whenever the summary comes: compactions stay
//! rare, each design acts at its own line, and nothing goes out that does not fit.

mod agent;

use std::time::Duration;

use epitome::settings::Settings;
use epitome::{Keep, Message, Meter, Preset, PresetName, Reason, Role, Usage, Window};
use epitome_engine::conversation::StepAction;
use epitome_engine::summarise::{Draft, Task, Writer, Writing};
use epitome_engine::{Conversation, Engine};
use epitome_testkit::{Random, Shares, expectation};
use tokio::sync::watch;

use super::support::number;

/// Tests of this file that do not hold yet.
const EXPECTED_FAILURES: &[&str] = &[];

const TURNS: u64 = 200;
/// An ordinary run plays this part of the usual number of generated cases: each takes a second.
const CASES_DIVISOR: u64 = 40;
/// The share of the window, in percent, that requests use before a compaction which no line of a design's own asks for.
const LEAST_USE_PERCENT: u64 = 60;
/// A test that waits so long has failed; no time is measured.
const PATIENCE: Duration = Duration::from_secs(60);

/// When a summary comes.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Summariser {
    /// The host waits for it, where the design can.
    Waited,
    /// After the request, before the next.
    AtOnce,
    /// So many turns later.
    Late(u64),
    /// Between a request and its count.
    Between,
}

const WHO: [Summariser; 5] = [
    Summariser::Waited,
    Summariser::AtOnce,
    Summariser::Late(2),
    Summariser::Late(9),
    Summariser::Between,
];

#[derive(Clone, Copy, Debug)]
struct Case {
    preset: PresetName,
    window: u64,
    /// What a turn takes by the estimate.
    turn_tokens: u64,
    shares: Shares,
    who: Summariser,
}

/// A summariser that writes while it is let.
#[derive(Debug)]
struct Gated(watch::Receiver<bool>);

impl Writer for Gated {
    fn write<'a>(&'a self, _: Task<'a>) -> Writing<'a> {
        let mut gate = self.0.clone();
        Box::pin(async move {
            gate.wait_for(|is_open| *is_open).await.expect("a gate");
            let text = "Part after part was looked at and found in order.".to_owned();
            Ok(Draft {
                text,
                ..Draft::default()
            })
        })
    }
}

#[derive(Default, Debug)]
struct Tally {
    /// The largest request since the compaction before, by the provider's count and by the design's own, of each.
    peaks: Vec<(u64, u64)>,
    /// The most that the design itself saw before a request.
    most_due: u64,
    largest: u64,
    /// Whether messages left without a summary, because there were too many.
    is_trimmed: bool,
}

struct Run {
    case: Case,
    talk: Conversation,
    gate: watch::Sender<bool>,
    /// The turn in which the summary under way is written.
    writes_at: Option<u64>,
    compactions: u64,
    peak: (u64, u64),
    tally: Tally,
}

impl Run {
    async fn start(case: Case) -> (Self, Engine) {
        let (gate, open) = watch::channel(case.who == Summariser::Waited);
        let mut settings = Settings::of(case.preset);
        settings.common.wait = case.who == Summariser::Waited;
        let engine = Engine::builder()
            .settings(settings)
            .window(Window::configured(case.window))
            .without_guard()
            .writer(Gated(open))
            .build()
            .await
            .expect("an engine");
        let talk = engine.create().await.expect("a conversation");
        let run = Self {
            case,
            talk,
            gate,
            writes_at: None,
            compactions: 0,
            peak: (0, 0),
            tally: Tally::default(),
        };
        run.say(Role::User, "Look at everything, and go on.").await;
        (run, engine)
    }

    async fn say(&self, role: Role, text: &str) {
        let said = self.talk.push(&Message::text(role, text)).await;
        said.expect("pushed");
    }

    async fn note(&mut self) {
        let compactions = self.talk.statistics().await.compactions;
        if compactions > self.compactions {
            self.compactions = compactions;
            self.writes_at = None;
            self.tally.peaks.push(std::mem::take(&mut self.peak));
        }
    }

    /// The summary under way is written, and takes effect if that is right now.
    async fn write(&mut self) {
        if self.talk.is_preparing().await {
            self.gate.send_replace(true);
            let talk = &self.talk;
            let written = async {
                while talk.is_preparing().await {
                    tokio::task::yield_now().await;
                }
            };
            let written = tokio::time::timeout(PATIENCE, written).await;
            written.expect("the summary is written");
            self.gate.send_replace(self.case.who == Summariser::Waited);
        }
        self.writes_at = None;
        self.note().await;
    }

    async fn turn(&mut self, turn: u64, body: &str) {
        for role in [Role::Assistant, Role::User] {
            self.say(role, &format!("{turn} {body}")).await;
        }
        if self.writes_at.is_some_and(|at| at <= turn) {
            self.write().await;
        }
        let due = self.talk.look(|session| session.due_tokens()).await;
        self.peak.1 = self.peak.1.max(due);
        self.tally.most_due = self.tally.most_due.max(due);
        let step = self.talk.prepare_step().await.expect("a step");
        self.tally.is_trimmed |= step.action == StepAction::Compacted(Reason::TooManyMessages);
        self.note().await;
        let share = self.case.shares.at(turn, TURNS);
        let real = (step.ticket.estimated_tokens() as f64 * share) as u64;
        self.peak.0 = self.peak.0.max(real);
        self.tally.largest = self.tally.largest.max(real);
        if self.case.who == Summariser::Between {
            self.write().await;
        }
        let usage = Usage {
            fresh_tokens: real,
            ..Usage::default()
        };
        self.talk.observe(usage, 1.0).await;
        match self.case.who {
            Summariser::AtOnce => self.write().await,
            Summariser::Late(turns) if self.talk.is_preparing().await => {
                self.writes_at.get_or_insert(turn + turns);
            }
            _ => {}
        }
    }
}

/// Text of so many estimated tokens.
fn body(tokens: u64) -> String {
    let mut body = String::new();
    while Meter::Estimate.text(&body) < tokens {
        body.push_str("basin copper delta ember fjord gravel harbor island jetty kelp. ");
    }
    body
}

/// What a design should do in a case. Its own tokens: what it looks at, which is the provider's count in `vibe` and
/// `default`, and a quarter of the characters in the others.
#[derive(Debug)]
struct Expected {
    /// The design's own line, where it has one besides that of the window.
    threshold_tokens: Option<u64>,
    /// The lower of it and the line of the window, where the provider counts most.
    line_tokens: f64,
    /// The same where the provider counts least.
    latest_tokens: f64,
    /// What a compaction leaves free below the line; in `default` the quarter of the window that it has to use.
    room_tokens: f64,
    turn_tokens: f64,
    grown_tokens: f64,
}

impl Case {
    fn expected(self) -> Expected {
        let body = body(self.turn_tokens / 2);
        let estimated = Meter::Estimate.text(&body) as f64;
        let highest = self.shares.highest();
        let (own_share, grown_tokens) = match self.preset {
            PresetName::Default | PresetName::Vibe => {
                (highest, self.shares.grown_tokens(self.turn_tokens, TURNS))
            }
            _ => {
                let share = Meter::Chars4.text(&body) as f64 / estimated;
                (share, (TURNS * self.turn_tokens) as f64 * share)
            }
        };
        let window = Window::configured(self.window);
        let threshold_tokens = Preset::named(self.preset).threshold_tokens(window, None);
        let reserve = epitome::Margins::default()
            .reserve_tokens
            .min(self.window / 4);
        let line = |share: f64| {
            let reach = (self.window - reserve) as f64 * own_share / share;
            threshold_tokens.map_or(reach, |own| reach.min(own as f64))
        };
        let line_tokens = line(highest);
        let turn_tokens = self.turn_tokens as f64 * own_share;
        Expected {
            threshold_tokens,
            line_tokens,
            latest_tokens: line(self.shares.lowest()),
            room_tokens: match self.preset {
                PresetName::Default => self.window as f64 / 4.0,
                preset => room_tokens(preset, line_tokens, turn_tokens),
            },
            turn_tokens,
            grown_tokens,
        }
    }

    /// Whether the numbers of the design leave it a chance.
    ///
    /// - What it keeps by its own number (20,000 tokens in `openclaw`) takes at most half of the line.
    /// - What comes while a summary is written fits below the line beside what is kept: otherwise it is due at once.
    /// - `micro` shows 50 messages at most, and takes away the oldest of more with each turn: its line comes before,
    ///   and before that of the window, of which turns so large would leave too much unused.
    /// - `spacebot` never takes its summaries away, one for each compaction: they take at most an eighth of the window.
    fn is_possible(self) -> bool {
        let Expected {
            threshold_tokens,
            line_tokens,
            room_tokens,
            turn_tokens,
            grown_tokens,
            ..
        } = self.expected();
        if self.preset == PresetName::Default {
            return true;
        }
        let keeps_little = match self.preset {
            // A share of the line, whatever that is.
            PresetName::Spacebot => true,
            _ => room_tokens * 2.0 >= line_tokens,
        };
        let is_own = threshold_tokens.is_some_and(|own| own as f64 <= line_tokens);
        let is_early = is_own && line_tokens <= 20.0 * turn_tokens;
        let stack_tokens = grown_tokens / room_tokens * SUMMARY_TOKENS;
        let fits_stack = stack_tokens * 8.0 <= self.window as f64 / self.shares.highest();
        keeps_little
            && room_tokens >= (self.late_turns() + 2) as f64 * turn_tokens
            && (is_early || self.preset != PresetName::Micro)
            && (fits_stack || self.preset != PresetName::Spacebot)
    }

    const fn late_turns(self) -> u64 {
        match self.who {
            Summariser::Late(turns) => turns,
            _ => 0,
        }
    }
}

/// What a summary of these conversations takes, at most.
const SUMMARY_TOKENS: f64 = 200.0;

/// What a design leaves free below a line: it keeps a number of messages, of tokens, or a share.
fn room_tokens(preset: PresetName, line_tokens: f64, turn_tokens: f64) -> f64 {
    let kept = match Preset::named(preset).keep {
        Keep::Nothing | Keep::Budget => 0.0,
        Keep::RecentTokens(tokens) => tokens as f64,
        Keep::FirstAndLast(messages) | Keep::Last(messages) => messages as f64 / 2.0 * turn_tokens,
        Keep::AllButOldest(share) => line_tokens * (1.0 - share),
    };
    line_tokens - kept
}

async fn play(case: Case) -> Tally {
    let (mut run, engine) = Run::start(case).await;
    let body = body(case.turn_tokens / 2);
    for turn in 0..TURNS {
        run.turn(turn, &body).await;
    }
    engine.shutdown().await;
    run.tally
}

/// Plays a case; the error is what it should not have done.
async fn check(case: Case) -> Result<(), String> {
    let (tally, expected) = (play(case).await, case.expected());
    judge(case, &expected, &tally)
        .map_err(|why| format!("{why}: {case:?}\n{expected:?}\n{tally:?}"))
}

fn judge(case: Case, expected: &Expected, tally: &Tally) -> Result<(), String> {
    let needed = (expected.grown_tokens / expected.room_tokens).ceil() as usize;
    let compactions = tally.peaks.len();
    if compactions > 2 * needed {
        return Err(format!("{compactions} compactions, {needed} needed"));
    }
    if compactions == 0 && expected.grown_tokens > 2.0 * expected.latest_tokens {
        return Err("never compacted".to_owned());
    }
    for (real, due) in &tally.peaks {
        let is_own = expected.threshold_tokens.is_some_and(|own| *due >= own);
        let is_used = real * 100 >= case.window * LEAST_USE_PERCENT;
        if !is_own && !is_used {
            return Err(format!("compacted at {real}, {due} by its own count"));
        }
    }
    // `vibe` goes by what was counted last; where counts alternate, the higher one comes with every second turn.
    let unseen = match (case.preset, case.shares) {
        (PresetName::Vibe, Shares::Alternating(..)) => 1,
        _ => 0,
    };
    if let Some(own) = expected.threshold_tokens {
        let most = own as f64 + (case.late_turns() + unseen + 2) as f64 * expected.turn_tokens;
        if tally.most_due as f64 > most {
            return Err(format!("{} is above its line", tally.most_due));
        }
    }
    if tally.largest > case.window {
        return Err(format!("{} does not fit", tally.largest));
    }
    if tally.is_trimmed {
        return Err("messages left without a summary".to_owned());
    }
    Ok(())
}

fn any(seed: u64) -> Case {
    let mut random = Random::new(seed);
    let presets = PresetName::ALL;
    let preset = presets[seed as usize % presets.len()];
    loop {
        let window = match preset {
            // Its line is beyond the usual windows.
            PresetName::Vibe if random.chance(50) => random.between(230_000, 400_000) as u64,
            _ => random.between(8_000, 200_000) as u64,
        };
        let part = match preset {
            PresetName::Micro => random.between(20, 60),
            _ => random.between(50, 120),
        };
        let case = Case {
            preset,
            window,
            // A fiftieth of the window or less, so that the last request before a compaction is near the line.
            turn_tokens: window / part as u64,
            shares: Shares::any(&mut random),
            who: *random.pick(&WHO),
        };
        if case.is_possible() {
            return case;
        }
    }
}

#[tokio::test]
async fn steady_growth_is_compacted_rarely_under_every_preset() {
    let cases = number("EPITOME_CASES").unwrap_or(1_000_u64) / CASES_DIVISOR;
    let first = number("EPITOME_SEED").unwrap_or(2_026_u64);
    let mut failed = Vec::new();
    for seed in first..first + cases.max(1) {
        if let Err(why) = check(any(seed)).await {
            failed.push(format!("EPITOME_SEED={seed} EPITOME_CASES=1: {why}"));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// With counts far from the estimate, and a summary that comes whenever it can do harm.
#[tokio::test]
async fn a_small_window_is_used_whatever_is_counted() {
    for shares in Shares::EXTREMES {
        for who in WHO {
            check(Case {
                preset: PresetName::Default,
                window: 8_000,
                turn_tokens: 100,
                shares,
                who,
            })
            .await
            .unwrap_or_else(|why| panic!("{why}"));
        }
    }
}

#[tokio::test]
async fn a_window_of_a_million_is_used() {
    check(Case {
        preset: PresetName::Default,
        window: 1_000_000,
        turn_tokens: 20_000,
        shares: Shares::Drifting(0.4, 1.8),
        who: Summariser::Late(2),
    })
    .await
    .unwrap_or_else(|why| panic!("{why}"));
}

/// The limit of 50 messages is reached again with every turn, so that the oldest leave one turn after the other and no
/// request begins as the one before.
#[tokio::test]
async fn micro_trims_seldom() {
    let name = "micro_trims_seldom";
    let test = async {
        let case = Case {
            preset: PresetName::Micro,
            window: 200_000,
            turn_tokens: 200,
            shares: Shares::Constant(1.0),
            who: Summariser::Waited,
        };
        let trims = play(case).await.peaks.len();
        assert!(trims <= 40, "trimmed {trims} times in {TURNS} turns");
    };
    expectation::check(name, EXPECTED_FAILURES, test).await;
}

/// One summary for each compaction stays for good: in the end they fill the window by themselves.
#[tokio::test]
async fn spacebot_fits_with_all_its_summaries() {
    let name = "spacebot_fits_with_all_its_summaries";
    let test = async {
        let case = Case {
            preset: PresetName::Spacebot,
            window: 8_000,
            turn_tokens: 160,
            shares: Shares::Alternating(0.4, 1.8),
            who: Summariser::AtOnce,
        };
        let largest = play(case).await.largest;
        assert!(largest <= case.window, "{largest} of {}", case.window);
    };
    expectation::check(name, EXPECTED_FAILURES, test).await;
}
