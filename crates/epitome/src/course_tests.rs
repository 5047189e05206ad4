use super::{Course, Move, ReadyFacts, Sight, Work};
use crate::course::{CacheState, Frame, ShowNow};
use crate::design::Preset;
use crate::design::PresetName;
use crate::gauge::{RefusedSize, TurnKind, Waited};
use crate::ledger::Failure;
use crate::log::{Facts, Log};
use crate::message::{Message, Role};
use crate::meter::Meter;
use crate::reason::Reason;
use crate::usage::Usage;
use crate::window::Window;

/// A chat of so many turns of about a hundred tokens each.
fn chat(turns: usize) -> Log {
    let mut log = Log::new();
    for turn in 0..turns {
        let question = format!("Question {turn}? {}", "word ".repeat(40));
        let answer = format!("Answer {turn}. {}", "word ".repeat(40));
        for (role, text) in [(Role::User, question), (Role::Assistant, answer)] {
            log.push(&Facts::of(&Message::text(role, text), Meter::Chars4));
        }
    }
    log
}

fn of(name: PresetName, window: u64) -> Course {
    Course::new(Window::configured(window)).with_preset(Preset::named(name))
}

#[test]
fn what_fits_is_sent_and_what_does_not_is_compacted() {
    let course = of(PresetName::Default, 40_000);
    let work = Work::built_in();
    let small = chat(50);
    assert_eq!(
        course.before_request(&Sight::of(&small), &work),
        Move::Send(Reason::BelowLine)
    );
    let large = chat(500);
    assert_eq!(
        course.before_request(&Sight::of(&large), &work),
        Move::Compact(Reason::HardLine)
    );
}

#[test]
fn near_the_line_one_piece_of_work_is_begun() {
    let course = of(PresetName::Default, 40_000);
    let log = chat(245);
    let sight = Sight::of(&log);
    let begun = Move::Prepare {
        reason: Reason::NearLine,
        otherwise: None,
    };
    assert_eq!(course.before_request(&sight, &Work::built_in()), begun);
    let busy = Work {
        is_writing: true,
        ..Work::built_in()
    };
    assert_eq!(
        course.before_request(&sight, &busy),
        Move::Send(Reason::NearLine)
    );
}

#[test]
fn what_is_ready_waits_until_it_pays_or_must_or_the_cache_is_cold() {
    let course = of(PresetName::Default, 40_000);
    let log = chat(245);
    let sight = Sight::of(&log);
    let ready = |seen_entries| ReadyFacts {
        after_tokens: 12_000,
        kept_tokens: 200,
        seen_entries,
    };
    let work = |cache| Work {
        ready: Some(ready(usize::MAX)),
        cache,
        ..Work::built_in()
    };
    let warm = course.before_request(&sight, &work(CacheState::Warm));
    assert_eq!(warm, Move::Send(Reason::NearLine));
    let cold = course.before_request(&sight, &work(CacheState::Cold));
    assert_eq!(cold, Move::Show(ShowNow::Cold));
    // Waiting has cost as much as writing the new prefix would, wherever the line is (issue 18).
    let fits = |log: &Log| course.reading(&Sight::of(log)).fits();
    let log = (245..300).rev().map(chat).find(fits).unwrap();
    let sight = Sight::of(&log);
    let pays = |seen: &usize| course.swap(&sight, &ready(*seen)).pays();
    let enough = (0..log.len()).rev().find(pays).unwrap();
    assert!(enough + 4 < log.len(), "not at once: {enough}");
    let waited = |seen| Work {
        ready: Some(ready(seen)),
        ..Work::built_in()
    };
    let pays = course.before_request(&sight, &waited(enough));
    assert!(matches!(pays, Move::Show(ShowNow::Pays(swap)) if swap.pays()));
    let early = course.before_request(&sight, &waited(enough + 4));
    assert_eq!(early, Move::Send(Reason::NearLine));
    let over = chat(500);
    let must = course.before_request(&Sight::of(&over), &work(CacheState::Warm));
    assert_eq!(must, Move::Show(ShowNow::Must(Reason::HardLine)));
}

#[test]
fn what_went_out_while_something_lay_ready_is_read_from_the_answers() {
    let course = of(PresetName::Default, 40_000);
    let all = chat(245);
    let seen = 201;
    let ready = ReadyFacts {
        after_tokens: 12_000,
        kept_tokens: 200,
        seen_entries: seen,
    };
    let swap = course.swap(&Sight::of(&all), &ready);
    // The same request by request: each ends where an answer begins.
    let requests = (seen + 1..all.len()).filter(|at| all.role(*at) == Some(Role::Assistant));
    let size = |entries: usize| all.tokens(0..entries);
    let first = size(seen);
    let mut waited = Waited::since(course.frame().tokens + first);
    for at in requests {
        waited.add(course.frame().tokens + size(at), swap.excess_tokens());
    }
    assert!(waited.sent_tokens > 0);
    assert_eq!(swap.waited_tokens, waited.excess_tokens);
    assert_eq!(swap.sent_tokens, waited.sent_tokens);
    assert_eq!(swap.written_tokens, waited.new_tokens);
    let now = course.frame().tokens + size(all.len());
    assert_eq!(swap.new_tokens, waited.new_in(now));
}

#[test]
fn a_design_waits_for_its_model_only_where_the_host_does() {
    let course = of(PresetName::Openclaw, 60_000);
    // Its line is at 40,000; that of the window lies above it.
    let log = chat(420);
    let sight = Sight::of(&log);
    let asks = Work {
        asks_somebody: true,
        ..Work::built_in()
    };
    let waits = Work {
        waits: true,
        ..asks
    };
    let reason = Reason::Threshold;
    assert_eq!(course.before_request(&sight, &waits), Move::Await(reason));
    let prepare = Move::Prepare {
        reason,
        otherwise: None,
    };
    assert_eq!(course.before_request(&sight, &asks), prepare);
    let alone = course.before_request(&sight, &Work::built_in());
    assert_eq!(alone, Move::Compact(reason));
}

#[test]
fn a_refusal_lowers_the_window_until_an_answer_comes() {
    let mut course = of(PresetName::Default, 200_000);
    course.window.source = crate::window::WindowSource::Table;
    let log = chat(400);
    let sight = Sight::of(&log);
    let size = course.reading(&sight).size_tokens;
    let refused = RefusedSize {
        window_tokens: None,
        ..course.refused_size(&sight, None)
    };
    assert!(course.handle_refusal(refused, &sight).is_ok());
    assert_eq!(course.window().tokens, size * 90 / 100);
    assert_eq!(
        course.before_request(&sight, &Work::built_in()),
        Move::Compact(Reason::HardLine)
    );
    let ticket = course.ticket(&sight, TurnKind::Plain);
    course.handle_usage(
        ticket,
        Usage {
            fresh_tokens: size,
            ..Usage::default()
        },
    );
    assert_eq!(course.window().tokens, 200_000);
}

#[test]
fn refusals_are_answered_only_so_often() {
    let mut course = of(PresetName::Default, 200_000).with_overflow_attempts(2);
    let log = chat(400);
    let sight = Sight::of(&log);
    let refused = course.refused_size(&sight, None);
    assert!(course.handle_refusal(refused, &sight).is_ok());
    assert!(course.handle_refusal(refused, &sight).is_ok());
    let third = course.handle_refusal(refused, &sight);
    assert_eq!(third, Err(Reason::AlreadyTried));
}

#[test]
fn plans_are_never_tried_twice_and_trying_ends() {
    let mut course = of(PresetName::Default, 40_000);
    let log = chat(600);
    let sight = Sight::of(&log);
    let mut tried = Vec::new();
    while let Ok(plan) = course.plan(&sight, Reason::HardLine) {
        assert!(log.is_cut(plan.span.end) && plan.span.end <= log.len());
        tried.push((plan.span.clone(), plan.target_tokens));
        course.handle_failed(Failure::NotSmaller, &sight);
        assert!(tried.len() <= 4, "{tried:?}");
    }
    assert!(!tried.is_empty());
    let again = course.plan(&sight, Reason::HardLine);
    assert!(again.is_err(), "everything was tried before");
}

#[test]
fn failures_open_the_breaker_for_what_is_only_wanted() {
    let mut course = of(PresetName::Default, 40_000);
    let log = chat(245);
    let sight = Sight::of(&log);
    for _ in 0..3 {
        course.handle_failed(Failure::SummaryTimeout, &sight);
    }
    let work = Work::built_in();
    assert_eq!(
        course.before_request(&sight, &work),
        Move::Send(Reason::BreakerOpen)
    );
    let over = chat(500);
    assert_eq!(
        course.before_request(&Sight::of(&over), &work),
        Move::Compact(Reason::HardLine)
    );
}

#[test]
fn tools_and_output_count() {
    let log = chat(180);
    let sight = Sight::of(&log);
    let bare = of(PresetName::Default, 40_000);
    let work = Work::built_in();
    assert_eq!(
        bare.before_request(&sight, &work),
        Move::Send(Reason::BelowLine)
    );
    let framed = bare.with_frame(Frame {
        tokens: 20_000,
        ..Frame::default()
    });
    assert_eq!(
        framed.before_request(&sight, &work),
        Move::Compact(Reason::HardLine)
    );
}

#[test]
fn a_large_frame_leaves_room_for_what_the_user_wants() {
    let log = chat(500);
    let sight = Sight::of(&log);
    for frame_tokens in [0, 10_000, 20_000, 25_000] {
        let mut course = of(PresetName::Default, 60_000);
        course.set_frame(Frame {
            tokens: frame_tokens,
            ..Frame::default()
        });
        let room = course.room(&sight, Reason::HardLine);
        assert!(
            room.target_tokens * 7 >= room.most_tokens,
            "{frame_tokens}: {room:?}"
        );
    }
}
