//! Sizes, lines and windows: what a count or a refusal changes, and above all what it does not.

use epitome::{
    ASSUMED_WINDOW_TOKENS, Asked, Belief, CALIBRATED_ERROR_RATIO, CachePrices, CacheRule,
    Calibration, Count, CountedSize, Evidence, Gauge, Lesson, Lines, Margins, OutputCounting,
    RefusedSize, Swap, Target, TurnGrowth, TurnKind, UNCALIBRATED_ERROR_RATIO, UsageFinding,
    Window, WindowSource, is_surely_cold,
};

use crate::support::property;

const TABLE: Window = Window {
    tokens: 200_000,
    source: WindowSource::Table,
};
const KIND: u64 = 7;

fn gauge(window: u64, output: Option<u64>, counting: OutputCounting) -> Gauge {
    Gauge {
        window: Window::configured(window),
        margins: Margins::default(),
        asked: Asked {
            output_tokens: output,
            counting,
        },
        rate: Calibration::default().rate(),
    }
}

fn count(estimated_tokens: u64, real_tokens: u64) -> Count {
    Count {
        real_tokens,
        estimated_tokens,
        turn: TurnKind::Plain,
        kind: KIND,
    }
}

fn refusal(window: Option<u64>, request: Option<u64>, own_tokens: u64) -> RefusedSize {
    RefusedSize {
        window_tokens: window,
        request_tokens: request,
        own_tokens,
        output_tokens: 0,
        counting: OutputCounting::Apart,
    }
}

/// A belief that has seen enough plain turns to be calibrated.
fn settled(ratio: f64) -> Belief {
    let mut belief = Belief::default();
    for turn in 1..=12_u64 {
        let estimated = 1_000 * turn;
        belief.counted(count(estimated, (estimated as f64 * ratio) as u64), TABLE);
    }
    belief
}

#[test]
fn the_reserve_is_what_is_asked_for() {
    use OutputCounting::{Apart, Together};
    for (window, output, counting, expected) in [
        (200_000, None, Apart, 20_000),
        (200_000, None, Together, 20_000),
        (8_000, None, Apart, 2_000),
        (200_000, Some(4_096), Apart, 20_000),
        (200_000, Some(64_000), Apart, 50_000),
        (200_000, Some(64_000), Together, 64_000),
        (45_000, Some(32_000), Apart, 11_250),
        (45_000, Some(32_000), Together, 32_000),
        // What asks for the whole window is the provider's to refuse; the input keeps an eighth.
        (45_000, Some(45_000), Together, 39_375),
        (0, None, Apart, 0),
    ] {
        let reserve = gauge(window, output, counting).reserve_tokens();
        assert_eq!(reserve, expected, "{window} {output:?} {counting:?}");
    }
}

#[test]
fn lines_leave_room_for_the_answer_and_for_what_nobody_counted() {
    let gauge = gauge(200_000, None, OutputCounting::Apart);
    let bare = gauge.read(100_000, &[]);
    assert_eq!(
        (bare.size_tokens, bare.error_tokens),
        (100_000, 10_000),
        "a tenth before anything is known"
    );
    let lines = Lines {
        prepare_tokens: 144_500,
        hard_tokens: 170_000,
    };
    assert_eq!(bare.lines, Some(lines));
    assert!(bare.fits() && !bare.nears_the_line());
    let counted = CountedSize {
        real_tokens: 170_000,
        estimated_tokens: 170_000,
    };
    let anchored = gauge.read(171_000, &[counted]);
    assert_eq!(anchored.size_tokens, 171_000);
    assert_eq!(anchored.error_tokens, 100, "only the new part is uncertain");
    assert!(anchored.fits() && anchored.nears_the_line());
    assert!(!gauge.read(180_000, &[counted]).fits());
    assert_eq!(gauge.lines(190_000), None);
    assert_eq!(Window::assumed().tokens, ASSUMED_WINDOW_TOKENS);
    assert_eq!(Window::assumed().source, WindowSource::Assumed);
}

/// What a compaction makes has not been counted, so that its own size decides how far it may be off.
#[test]
fn a_fresh_request_is_as_large_as_its_own_error_allows() {
    for window in [8_000, 60_000, 200_000, 1_000_000] {
        let gauge = gauge(window, None, OutputCounting::Apart);
        let fresh = gauge.fresh_lines().unwrap().hard_tokens;
        assert!(gauge.read(fresh, &[]).fits(), "{window}: {fresh}");
        assert!(
            !gauge.read(fresh + window / 50, &[]).fits(),
            "{window}: {fresh}"
        );
    }
}

#[test]
fn of_two_counts_the_higher_is_believed() {
    let gauge = gauge(200_000, None, OutputCounting::Apart);
    let anchor = |real_tokens, estimated_tokens| CountedSize {
        real_tokens,
        estimated_tokens,
    };
    let reading = gauge.read(52_000, &[anchor(20_000, 51_000), anchor(90_000, 50_000)]);
    assert_eq!(reading.size_tokens, 93_600, "and so what came since");
    assert_eq!(reading.estimated(93_600), 52_000);
    assert_eq!(reading.real(52_000), 93_600);
}

#[test]
fn a_ratio_is_the_median_of_plain_turns() {
    let mut calibration = Calibration::default();
    assert_eq!(calibration.rate().error_ratio(), UNCALIBRATED_ERROR_RATIO);
    calibration.observe(1_000, 3_500);
    assert_eq!(calibration.ratio(), 1.0, "one odd count moves nothing");
    for _ in 0..12 {
        assert!(calibration.observe(1_000, 1_200));
    }
    assert_eq!(calibration.ratio(), 1.2);
    calibration.observe(1_000, 4_000);
    assert_eq!(calibration.ratio(), 1.2);
    let before = calibration;
    for (estimated, real) in [(0, 500), (100, 0), (100, 5), (100, 100_000), (0, 0)] {
        assert!(!calibration.observe(estimated, real));
    }
    assert_eq!(calibration, before, "what cannot be meant is not learned");
}

#[test]
fn counting_less_than_estimated_leaves_more_room() {
    let low = settled(0.4);
    assert_eq!(low.calibration().ratio(), 0.4);
    let reading = |belief: &Belief| {
        let gauge = belief.gauge(TABLE, Margins::default(), None, OutputCounting::Apart);
        gauge.read(200_000, &[])
    };
    let (low, plain) = (reading(&low), reading(&settled(1.0)));
    assert!(low.size_tokens < plain.size_tokens);
    assert!(low.error_tokens < plain.error_tokens);
    assert!(low.lines.unwrap().hard_tokens > plain.lines.unwrap().hard_tokens);
}

#[test]
fn the_error_bar_is_bounded_whatever_is_counted() {
    let counts = proptest::collection::vec((1_u64..400_000, 0_u64..400_000), 0..40);
    property(1, &counts, |counts| {
        let mut calibration = Calibration::default();
        let mut plain = 0;
        for (estimated, real) in counts {
            plain += u32::from(calibration.observe(estimated, real));
            assert!((0.3..=4.0).contains(&calibration.ratio()));
            assert!((CALIBRATED_ERROR_RATIO..=0.5).contains(&calibration.rate().error_ratio()));
            let error = calibration.rate().error_tokens(1_000_000, 200_000);
            assert!(error <= if plain >= 10 { 20_000 } else { 50_000 });
            assert_eq!(calibration.rate().error_tokens(0, 200_000), 0);
        }
    });
}

#[test]
fn windows_have_an_order() {
    let mut belief = Belief::default();
    assert_eq!(belief.window(None, None), Window::assumed());
    assert_eq!(belief.window(None, Some(TABLE)), TABLE);
    let lesson = belief.refused(refusal(Some(131_072), Some(140_000), 138_000));
    assert_eq!(lesson, Lesson::Window(131_072));
    let learned = belief.window(None, Some(TABLE));
    assert_eq!(
        (learned.tokens, learned.source),
        (131_072, WindowSource::Learned)
    );
    for configured in [64_000, 1_000_000] {
        let window = belief.window(Some(configured), Some(TABLE));
        assert_eq!(window, Window::configured(configured));
    }
    belief.counted(count(139_000, 139_500), learned);
    assert_eq!(belief.window(None, Some(TABLE)), TABLE, "it was larger");
    belief.counted(count(240_000, 240_500), TABLE);
    assert_eq!(belief.window(None, Some(TABLE)).tokens, 240_500);
    belief.refused(refusal(Some(131_072), Some(140_000), 138_000));
    assert_eq!(belief.window(None, Some(TABLE)).tokens, 131_072);
    belief.forget();
    assert_eq!(belief.window(None, Some(TABLE)), TABLE);
}

#[test]
fn a_window_is_learned_only_from_numbers_that_make_sense() {
    let teaches = |refusal| {
        let mut belief = Belief::default();
        belief.refused(refusal) != Lesson::Nothing
    };
    assert!(teaches(refusal(Some(32_768), Some(40_000), 30_000)));
    assert!(teaches(refusal(Some(32_768), None, 33_000)));
    assert!(
        !teaches(refusal(Some(200_000), Some(210_000), 3_000)),
        "talked about, in a small request"
    );
    assert!(!teaches(refusal(Some(64), None, 20)), "a limit of a name");
    assert!(!teaches(refusal(None, Some(210_000), 210_000)));
    assert!(!teaches(refusal(None, None, 210_000)));
    assert!(
        !teaches(refusal(Some(200_000), Some(150_000), 150_000)),
        "it would have fitted"
    );
    assert!(!teaches(refusal(Some(8_192), Some(9_000), 90_000)));
    // 45,000 hold 20,000 of input, but not 32,000 of output besides.
    let together = RefusedSize {
        output_tokens: 32_000,
        counting: OutputCounting::Together,
        ..refusal(Some(45_000), Some(20_000), 19_000)
    };
    assert!(teaches(together));
    let mut belief = Belief::default();
    belief.refused(together);
    let gauge = belief.gauge(
        belief.window(None, None),
        Margins::default(),
        Some(32_000),
        OutputCounting::Apart,
    );
    assert_eq!(gauge.reserve_tokens(), 32_000);
}

#[test]
fn a_server_that_truncates_gives_its_window_away_the_second_time() {
    let mut belief = Belief::default();
    let found = belief.counted(count(9_000, 4_098), TABLE);
    assert!(matches!(found, Some(UsageFinding::Truncated { .. })));
    assert_eq!(belief.window(None, Some(TABLE)), TABLE);
    belief.counted(count(9_800, 4_098), TABLE);
    assert_eq!(belief.window(None, Some(TABLE)).tokens, 8_192);
    let evidence = belief.learned().map(|learned| learned.evidence);
    let counted_tokens = 4_098;
    assert_eq!(evidence, Some(Evidence::Truncation { counted_tokens }));
    // A provider that counts little, and once by chance such a number.
    let mut belief = Belief::default();
    belief.counted(count(9_000, 4_098), TABLE);
    belief.counted(count(10_000, 4_530), TABLE);
    assert_eq!(belief.window(None, Some(TABLE)), TABLE);
}

/// One odd thing happens in one conversation; twenty requests of others are read as if it had not.
#[test]
fn one_odd_thing_changes_nothing_for_others() {
    type Odd = fn(&mut Belief);
    let odd: [(&str, Odd); 7] = [
        ("a PDF", |belief| {
            let pdf = Count {
                turn: TurnKind::Media,
                ..count(4_000, 62_000)
            };
            belief.counted(pdf, TABLE);
        }),
        ("a web search", |belief| {
            let search = Count {
                turn: TurnKind::Odd,
                ..count(20_000, 310_000)
            };
            belief.counted(search, TABLE);
        }),
        ("a PDF that nobody recognised", |belief| {
            belief.counted(count(20_000, 62_000), TABLE);
        }),
        ("an echo of an overflow that is talked about", |belief| {
            belief.refused(refusal(Some(128_000), Some(130_000), 900));
        }),
        ("a refusal without numbers on a small request", |belief| {
            belief.refused(refusal(None, None, 3_000));
        }),
        ("another model's first request with 60 tools", |belief| {
            let tools = Count {
                kind: KIND + 1,
                ..count(28_000, 9_500)
            };
            belief.counted(tools, TABLE);
        }),
        ("a limit of a parameter", |belief| {
            belief.refused(refusal(Some(64), Some(65), 30_000));
        }),
    ];
    for (what, happens) in odd {
        for before in [Belief::default(), settled(1.1), settled(0.7)] {
            let mut after = before;
            happens(&mut after);
            let read = |belief: &Belief, estimated| {
                let window = belief.window(None, Some(TABLE));
                let gauge = belief.gauge(window, Margins::default(), None, OutputCounting::Apart);
                gauge.read(estimated, &[])
            };
            for request in 1..=20 {
                let estimated = request * 8_000;
                let (was, is) = (read(&before, estimated), read(&after, estimated));
                assert_eq!(was.fits(), is.fits(), "{what}: {request}");
                assert_eq!(was.size_tokens, is.size_tokens, "{what}: {request}");
            }
        }
    }
}

#[test]
fn a_switch_of_model_is_another_belief() {
    let mut small = Belief::default();
    small.refused(refusal(Some(32_768), Some(40_000), 39_000));
    let large = Belief::default();
    assert_eq!(small.window(None, Some(TABLE)).tokens, 32_768);
    assert_eq!(large.window(None, Some(TABLE)), TABLE);
}

#[test]
fn a_swap_pays_by_a_sum_that_anybody_can_do() {
    let prices = CachePrices {
        read: 100,
        write: 1_250,
    };
    // Writing 55,000 again costs what reading 632,500 does. Four requests went out on the large view, and this is the fifth.
    let swap = Swap {
        before_tokens: 150_000,
        after_tokens: 70_000,
        rewritten_tokens: 60_000,
        new_tokens: 5_000,
        waited_tokens: 320_000,
        sent_tokens: 560_000,
        written_tokens: 10_000,
        requests: 8,
        prices,
        window_tokens: 200_000,
    };
    assert_eq!(swap.excess_tokens(), 80_000);
    assert_eq!(swap.paid(), (320_000 + 80_000) * 100);
    assert_eq!(swap.price(), 55_000 * 1_150);
    assert_eq!(swap.spent(), (560_000 + 150_000) * 100 + 15_000 * 1_150);
    assert!(swap.pays());
    // However far the line is (issue 18: a bound of twice the best in hindsight, whatever comes).
    let far = Swap {
        requests: 9_000,
        ..swap
    };
    assert!(far.pays());
    // 45,000 were to be written when it came to lie ready: half of that price must have been too much, and all of today's spent.
    let half = 45_000 * 1_150 / 2 / 100;
    let patient = |waited_tokens| Swap {
        waited_tokens,
        ..swap
    };
    assert!(patient(half - 80_000).pays());
    assert!(
        !patient(half - 80_001).pays(),
        "who ends soon is left alone"
    );
    let all = 55_000 * 1_150 - 15_000 * 1_150;
    let spent = |sent_tokens| Swap {
        sent_tokens,
        ..swap
    };
    assert!(spent(all / 100 - 150_000).pays());
    assert!(!spent(all / 100 - 150_001).pays());
    let early = Swap {
        before_tokens: 129_999,
        waited_tokens: 7_000_000,
        ..swap
    };
    assert!(!early.pays(), "two thirds of the window are used first");
}

#[test]
fn a_target_leaves_room_for_as_many_requests_as_a_rewrite_costs() {
    let lines = Lines {
        prepare_tokens: 144_500,
        hard_tokens: 170_000,
    };
    let target = |ahead, growth, prices| {
        let growth = TurnGrowth { tokens: growth };
        Target::below(lines, ahead, growth, prices).tokens
    };
    let unknown = CachePrices::UNKNOWN;
    assert_eq!(target(0, 6_500, unknown), 170_000 - 13 * 6_500);
    assert_eq!(target(0, 100, unknown), 93_500, "not less than 45 %");
    assert_eq!(target(0, 50_000, unknown), 59_500, "not more than 65 %");
    let free = CachePrices { read: 1, write: 1 };
    assert!(target(0, 6_500, free) > target(0, 6_500, unknown));
    // Made ahead, it leaves as much when the line is reached.
    assert_eq!(
        target(20_000, 6_500, unknown) + 20_000,
        target(0, 6_500, unknown)
    );
}

#[test]
fn surely_cold_is_longer_than_any_provider_may_hold() {
    let hour = 60 * 60 * 1_000;
    assert!(!is_surely_cold(hour, Some(CacheRule::Anthropic)));
    assert!(is_surely_cold(hour + 1, Some(CacheRule::Anthropic)));
    assert!(!is_surely_cold(hour + 1, Some(CacheRule::Automatic)));
    assert!(!is_surely_cold(i64::MAX, None), "unknown means warm");
    assert!(is_surely_cold(1, Some(CacheRule::None)));
    assert!(!is_surely_cold(-5, Some(CacheRule::None)));
}
