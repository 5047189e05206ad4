//! Pipelines: what is asked, what wins, and what is forgotten when.

use epitome::{
    Decision, LongInput, Message, Meter, Prices, Reason, Role, Session, Threshold, Usage, Window,
};
use epitome_engine::Statistics;
use epitome_engine::pipeline::{
    Action, AutoCompact, ContextWarning, MemoryFlush, Middleware, Next, Outcome, Pipeline,
    PriceLimit, ResetReason, StopReason, TurnContext, TurnLimit,
};
use std::sync::{Arc, Mutex};

/// Always wants the same, and writes down what it was asked.
struct Scripted {
    name: &'static str,
    action: Action,
    heard: Arc<Mutex<Vec<String>>>,
}

impl Scripted {
    fn hears(&self, what: &str) {
        self.heard
            .lock()
            .unwrap()
            .push(format!("{}:{what}", self.name));
    }
}

impl Middleware for Scripted {
    fn name(&self) -> &str {
        self.name
    }

    fn before_turn(&mut self, _context: &TurnContext<'_>) -> Action {
        self.hears("before");
        self.action.clone()
    }

    fn after_turn(&mut self, _context: &TurnContext<'_>) -> Action {
        self.hears("after");
        self.action.clone()
    }

    fn reset(&mut self, reason: ResetReason) {
        self.hears(&format!("{reason:?}"));
    }
}

fn context(statistics: &Statistics, context_tokens: u64, compactions: u64) -> TurnContext<'_> {
    TurnContext {
        statistics,
        decision: Decision::Proceed,
        context_tokens,
        message_count: 1,
        compactions,
    }
}

fn inject(text: &str) -> Action {
    Action::Inject(text.to_owned())
}

fn stop() -> Action {
    Action::Stop {
        reason: StopReason::Host,
        message: "enough".to_owned(),
    }
}

fn compact() -> Action {
    Action::Compact {
        reason: Reason::Threshold,
    }
}

#[test]
fn the_first_end_wins_and_injections_are_joined() {
    let go_on = Next::Continue;
    let told = |text: &str| Next::Inject(text.to_owned());
    let compacts = || Next::Compact {
        reason: Reason::Threshold,
    };
    let stops = || Next::Stop {
        reason: StopReason::Host,
        message: "enough".to_owned(),
    };
    let flush = Action::FlushMemory;
    // What they want, how many are asked, whether a flush is due, and what is next.
    let cases = [
        (vec![], 0, false, go_on.clone()),
        (vec![Action::Continue; 2], 2, false, go_on.clone()),
        (vec![inject("a")], 1, false, told("a")),
        (
            vec![inject("a"), Action::Continue, inject("b")],
            3,
            false,
            told("a\n\nb"),
        ),
        (
            vec![inject("a"), compact(), inject("b")],
            2,
            false,
            compacts(),
        ),
        (vec![inject("a"), stop(), compact()], 2, false, stops()),
        (vec![compact(), stop()], 1, false, compacts()),
        (vec![flush.clone()], 1, true, go_on),
        (
            vec![flush.clone(), inject("a"), flush.clone()],
            3,
            true,
            told("a"),
        ),
        (vec![flush.clone(), compact()], 2, true, compacts()),
        (vec![compact(), flush.clone()], 1, false, compacts()),
        (vec![flush, stop()], 2, false, stops()),
    ];
    for (actions, asked, is_flush_due, next) in cases {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let mut pipeline = Pipeline::default();
        for (name, action) in ["0", "1", "2"].into_iter().zip(actions.clone()) {
            let heard = Arc::clone(&heard);
            pipeline.push(Scripted {
                name,
                action,
                heard,
            });
        }
        let statistics = Statistics::default();
        let expect = Outcome { is_flush_due, next };
        assert_eq!(
            pipeline.before_turn(&context(&statistics, 0, 0)),
            expect,
            "{actions:?}"
        );
        assert_eq!(
            pipeline.after_turn(&context(&statistics, 0, 0)),
            expect,
            "{actions:?}"
        );
        pipeline.reset(ResetReason::Compact);
        let all = actions.len();
        let told =
            |what: &'static str, count: usize| (0..count).map(move |at| format!("{at}:{what}"));
        let expect: Vec<String> = told("before", asked)
            .chain(told("after", asked))
            .chain(told("Compact", all))
            .collect();
        assert_eq!(*heard.lock().unwrap(), expect, "{actions:?}");
    }
}

#[test]
fn auto_compact_asks_the_session_or_a_threshold() {
    let compacts = |reason| Action::Compact { reason };
    let by_decision = [
        (Decision::Proceed, Action::Continue),
        (Decision::Prepare, Action::Continue),
        (
            Decision::Compact(Reason::HardLine),
            compacts(Reason::HardLine),
        ),
    ];
    let statistics = Statistics::default();
    for (decision, expect) in by_decision {
        let context = TurnContext {
            decision,
            ..context(&statistics, u64::MAX, 0)
        };
        assert_eq!(AutoCompact::default().before_turn(&context), expect);
    }
    let by_threshold = [
        (199_999, 200_000, false),
        (200_000, 200_000, true),
        (u64::MAX, 200_000, true),
        (u64::MAX, 0, false),
        (u64::MAX, -5, false),
        (0, 1, false),
    ];
    for (tokens, threshold, is_due) in by_threshold {
        let decision = Decision::Compact(Reason::HardLine);
        let context = TurnContext {
            decision,
            ..context(&statistics, tokens, 0)
        };
        let expect = if is_due {
            compacts(Reason::Threshold)
        } else {
            Action::Continue
        };
        assert_eq!(
            AutoCompact::at(threshold).before_turn(&context),
            expect,
            "{tokens} {threshold}"
        );
    }
}

#[test]
fn the_warning_comes_once_per_cycle() {
    let mut warning = ContextWarning::new(Threshold::Tokens(200_000), 200_000);
    let statistics = Statistics::default();
    let text = "Context is at 100,000 tokens; it will be compacted at 200,000";
    let mut check = |tokens, reset: Option<ResetReason>, expect: Action| {
        if let Some(reason) = reset {
            warning.reset(reason);
        }
        assert_eq!(
            warning.before_turn(&context(&statistics, tokens, 0)),
            expect,
            "{tokens}"
        );
    };
    check(99_999, None, Action::Continue);
    check(100_000, None, inject(text));
    check(150_000, None, Action::Continue);
    check(100_000, Some(ResetReason::Stop), Action::Continue);
    check(99_999, Some(ResetReason::Compact), Action::Continue);
    check(100_000, None, inject(text));
    check(200_000, Some(ResetReason::Compact), Action::Continue);

    let mut off = ContextWarning::new(Threshold::Off, 200_000);
    assert_eq!(
        off.before_turn(&context(&statistics, u64::MAX, 0)),
        Action::Continue
    );
}

#[test]
fn the_flush_comes_once_per_cycle() {
    // The window less reserve and soft tokens is 176,000.
    let mut flush = MemoryFlush::new(200_000, 20_000);
    let statistics = Statistics::default();
    let turns = [
        (175_999, 0, false),
        (176_000, 0, true),
        (190_000, 0, false),
        (30_000, 1, false),
        (180_000, 1, true),
        (180_000, 1, false),
        (180_000, 2, true),
    ];
    for (tokens, compactions, is_due) in turns {
        let expect = if is_due {
            Action::FlushMemory
        } else {
            Action::Continue
        };
        let context = context(&statistics, tokens, compactions);
        assert_eq!(
            flush.before_turn(&context),
            expect,
            "{tokens} {compactions}"
        );
    }
    let mut early = MemoryFlush::new(200_000, 20_000).with_soft_tokens(80_000);
    assert_eq!(
        early.before_turn(&context(&statistics, 100_000, 0)),
        Action::FlushMemory
    );
    let mut none = MemoryFlush::new(20_000, 20_000);
    assert_eq!(
        none.before_turn(&context(&statistics, 100_000, 0)),
        Action::Continue
    );
}

pub(crate) const PRICES: Prices = Prices {
    input: Some(3_000),
    output: Some(15_000),
    cache_read: Some(300),
    cache_write_5m: Some(3_750),
    cache_write_1h: None,
    long_input: Some(LongInput {
        from_tokens: 200_000,
        nanodollars: 6_000,
    }),
};

pub(crate) fn usage(fresh: u64, read: u64, written: u64, output: u64) -> Usage {
    Usage {
        fresh_tokens: fresh,
        cache_read_tokens: read,
        cache_write_tokens: written,
        output_tokens: output,
    }
}

#[test]
fn the_turn_limit_counts_turns_of_a_run() {
    let mut limit = TurnLimit::new(2);
    let mut statistics = Statistics::default();
    let mut is_stopped = |statistics: &Statistics| {
        let action = limit.before_turn(&context(statistics, 0, 0));
        match action {
            Action::Stop { reason, message } => {
                assert_eq!(reason, StopReason::TurnLimit);
                assert_eq!(message, "Turn limit reached: 2 turns in this run");
                limit.reset(ResetReason::Stop);
                true
            }
            action => {
                assert_eq!(action, Action::Continue);
                limit.reset(ResetReason::Compact);
                false
            }
        }
    };
    let mut seen = Vec::new();
    for _ in 0..6 {
        seen.push(is_stopped(&statistics));
        statistics.update(usage(10, 0, 0, 1), 1.0, &PRICES);
        statistics.summary_call(usage(10, 0, 0, 1), &PRICES);
    }
    assert_eq!(seen, [false, false, true, false, false, true]);
    let mut none = TurnLimit::new(0);
    assert_ne!(
        none.before_turn(&context(&statistics, 0, 0)),
        Action::Continue
    );
}

#[test]
fn the_price_limit_counts_summaries_too() {
    let mut limit = PriceLimit::dollars(0.01);
    assert_eq!(limit, PriceLimit::new(10_000_000));
    let mut statistics = Statistics::default();
    // Unknown prices count nothing, and are told.
    statistics.update(usage(1_000_000, 0, 0, 1), 1.0, &Prices::default());
    statistics.update(usage(1_000, 0, 0, 100), 1.0, &PRICES);
    assert_eq!(statistics.unpriced_calls, 1);
    assert_eq!(
        limit.before_turn(&context(&statistics, 0, 0)),
        Action::Continue
    );
    statistics.summary_call(usage(1_000, 0, 0, 200), &PRICES);
    assert_eq!(
        (statistics.turn_nanodollars, statistics.summary_nanodollars),
        (4_500_000, 6_000_000)
    );
    let expect = Action::Stop {
        reason: StopReason::PriceLimit,
        message: "Price limit reached: $0.0105 spent, the limit is $0.0100".to_owned(),
    };
    limit.reset(ResetReason::Stop);
    assert_eq!(limit.before_turn(&context(&statistics, 0, 0)), expect);
    for nothing in [0.0, -1.0, f64::NAN] {
        assert_eq!(PriceLimit::dollars(nothing), PriceLimit::new(0));
    }
}

/// The loop of `vibe`: a warning at half the threshold, a compaction at the threshold, and on it goes.
#[test]
fn a_loop_with_warning_flush_and_compaction() {
    let threshold = 15_000;
    let mut pipeline = Pipeline::default()
        .with(TurnLimit::new(400))
        .with(PriceLimit::dollars(100.0))
        .with(MemoryFlush::new(20_000, 5_000).with_soft_tokens(2_000))
        .with(ContextWarning::new(
            Threshold::from_number(threshold),
            20_000,
        ))
        .with(AutoCompact::at(threshold));
    let mut session = Session::new(Window::configured(200_000), Meter::Estimate);
    session.push(Message::text(Role::User, "Count the stars. Never guess."));
    let mut statistics = Statistics::default();
    let mut told = Vec::new();
    for night in 0_u64.. {
        let outcome = pipeline.before_turn(&TurnContext::of(&session, &statistics));
        if outcome.is_flush_due {
            told.push("flush");
        }
        match outcome.next {
            Next::Continue => {}
            Next::Inject(text) => {
                assert!(text.starts_with("Context is at "), "{text}");
                told.push("warning");
            }
            Next::Compact { reason } => {
                session.compact(reason).unwrap();
                statistics.compacted(session.due_tokens());
                pipeline.reset(ResetReason::Compact);
                told.push("compact");
            }
            Next::Stop { reason, .. } => {
                assert_eq!(reason, StopReason::TurnLimit);
                assert_eq!(night, 400);
                break;
            }
        }
        assert!(session.due_tokens() < 16_000);
        let tokens = session.due_tokens();
        let counted = format!("Night {night}: counted {} stars. ", night * 17).repeat(10);
        session.push(Message::text(Role::Assistant, counted));
        session.push(Message::text(
            Role::User,
            "Go on with the next night, please.",
        ));
        statistics.update(usage(tokens, 0, 0, 100), 1.0, &PRICES);
        let after = pipeline.after_turn(&TurnContext::of(&session, &statistics));
        assert_eq!(after, Outcome::default());
    }
    let cycles = told.chunks(3);
    assert!(cycles.len() >= 2, "{told:?}");
    for cycle in cycles {
        let expect = ["warning", "flush", "compact"];
        assert_eq!(cycle, &expect[..cycle.len()], "{told:?}");
    }
}
