//! Steady growth, whatever the provider counts: compactions stay rare and the window is used.

use epitome::settings::Settings;
use epitome::{
    CacheState, Decision, Job, Message, Meter, Prepared, PresetName, Reason, Role, Session, Usage,
    Window,
};

use crate::support::property;

const TURNS: u64 = 200;

/// How a provider counts, as a share of the estimate.
#[derive(Clone, Copy, Debug)]
enum Counts {
    Constant(f64),
    Drifting(f64, f64),
    Alternating(f64, f64),
}

impl Counts {
    fn at(self, turn: u64) -> f64 {
        match self {
            Self::Constant(share) => share,
            Self::Drifting(from, to) => from + (to - from) * turn as f64 / TURNS as f64,
            Self::Alternating(one, other) if turn.is_multiple_of(2) => one.min(other),
            Self::Alternating(one, other) => one.max(other),
        }
    }

    fn highest(self) -> f64 {
        match self {
            Self::Constant(share) => share,
            Self::Drifting(from, to) | Self::Alternating(from, to) => from.max(to),
        }
    }
}

/// When a summary comes.
#[derive(Clone, Copy, Debug)]
enum Summariser {
    /// Before the next request.
    AtOnce,
    /// So many turns later.
    Late(u64),
    /// Between a request and its count.
    Between,
}

#[derive(Default, Debug)]
struct Tally {
    compactions: u64,
    /// The largest count since the compaction before, of each compaction.
    peaks: Vec<u64>,
    largest: u64,
}

/// A conversation under way: what is pending and what was counted.
struct Run {
    session: Session,
    pending: Option<(u64, Job)>,
    ready: Option<Prepared>,
    tally: Tally,
    peak: u64,
}

impl Run {
    fn new(preset: PresetName, window: u64) -> Self {
        let settings = Settings::of(preset);
        let window = Window::configured(window);
        let mut session =
            Session::from_settings(&settings, window, Meter::Estimate).without_guard();
        session.push(Message::text(Role::User, "Look at everything, and go on."));
        Self {
            session,
            pending: None,
            ready: None,
            tally: Tally::default(),
            peak: 0,
        }
    }

    fn compacted(&mut self) {
        self.pending = None;
        self.ready = None;
        self.tally.compactions += 1;
        self.tally.peaks.push(std::mem::take(&mut self.peak));
    }

    /// What the summariser has written by `turn` is shown if that is right now.
    fn show(&mut self, turn: u64) {
        if let Some((_, job)) = self.pending.take_if(|(due, _)| *due <= turn) {
            self.ready = job.extract().ok();
        }
        if let Some(prepared) = self
            .ready
            .take_if(|prepared| self.session.shows(prepared, CacheState::Warm).is_some())
            && self.session.commit(prepared).is_ok()
        {
            self.compacted();
        }
    }

    fn before_request(&mut self, turn: u64, who: Summariser) {
        self.show(turn);
        match self.session.decide() {
            Decision::Proceed => {}
            Decision::Prepare => {
                if self.pending.is_none()
                    && self.ready.is_none()
                    && let Ok(job) = self.session.begin(Reason::NearLine)
                {
                    let late = match who {
                        Summariser::AtOnce | Summariser::Between => 0,
                        Summariser::Late(turns) => turns,
                    };
                    self.pending = Some((turn + late, job));
                }
            }
            Decision::Compact(reason) => {
                if self.session.compact(reason).is_ok() {
                    self.compacted();
                }
            }
        }
        if matches!(who, Summariser::AtOnce) {
            self.show(turn);
        }
    }

    fn turn(&mut self, turn: u64, body: &str, counts: Counts, who: Summariser) {
        for role in [Role::Assistant, Role::User] {
            self.session
                .push(Message::text(role, format!("{turn} {body}")));
        }
        self.before_request(turn, who);
        let ticket = self.session.ticket();
        let real = (ticket.estimated_tokens() as f64 * counts.at(turn)) as u64;
        self.peak = self.peak.max(real);
        self.tally.largest = self.tally.largest.max(real);
        if matches!(who, Summariser::Between) {
            self.show(turn);
        }
        let usage = Usage {
            fresh_tokens: real,
            ..Usage::default()
        };
        self.session.observe_sent(ticket, usage);
    }
}

fn run(preset: PresetName, window: u64, turn: u64, counts: Counts, who: Summariser) -> Tally {
    let mut run = Run::new(preset, window);
    let mut body = String::new();
    while Meter::Estimate.text(&body) < turn / 2 {
        body.push_str("basin copper delta ember fjord gravel harbor island jetty kelp. ");
    }
    for turn in 0..TURNS {
        run.turn(turn, &body, counts, who);
    }
    run.tally
}

fn check(window: u64, turn_tokens: u64, counts: Counts, who: Summariser) {
    let tally = run(PresetName::Default, window, turn_tokens, counts, who);
    let what = format!("{window} {turn_tokens} {counts:?} {who:?}: {tally:?}");
    let growth = (TURNS * turn_tokens) as f64 * counts.highest();
    let needed = (growth / (window as f64 / 4.0)).ceil() as u64;
    assert!(tally.compactions <= 2 * needed, "{needed} needed; {what}");
    for peak in &tally.peaks {
        assert!(peak * 100 >= window * 60, "{peak}; {what}");
    }
    assert!(tally.largest <= window, "{what}");
}

const WHO: [Summariser; 4] = [
    Summariser::AtOnce,
    Summariser::Late(2),
    Summariser::Late(9),
    Summariser::Between,
];

/// A turn takes a fiftieth of the window or less, so that the last request before a compaction is near the line.
#[test]
fn steady_growth_is_compacted_rarely_whatever_is_counted() {
    let shares = (0.4_f64..1.8, 0.4_f64..1.8, 0_u8..3);
    let sizes = (8_000_u64..200_000, 50_u64..120);
    property(
        50,
        &(shares, sizes, 0_usize..4),
        |((one, other, how), (window, part), who)| {
            let counts = match how {
                0 => Counts::Constant(one),
                1 => Counts::Drifting(one, other),
                _ => Counts::Alternating(one, other),
            };
            check(window, window / part, counts, WHO[who]);
        },
    );
}

#[test]
fn a_window_of_a_million_is_used() {
    for counts in [
        Counts::Constant(0.4),
        Counts::Constant(1.8),
        Counts::Drifting(0.4, 1.8),
        Counts::Drifting(1.8, 0.4),
        Counts::Alternating(0.4, 1.8),
    ] {
        check(1_000_000, 20_000, counts, Summariser::Late(2));
    }
}

/// Each design acts at its own line, whatever the provider counts.
#[test]
fn every_design_acts_at_its_own_line() {
    for (preset, window, least, most) in [
        (PresetName::Micro, 200_000, 70_000, 90_000),
        (PresetName::Layer, 128_000, 85_000, 105_000),
        (PresetName::Openclaw, 200_000, 160_000, 190_000),
        (PresetName::Spacebot, 128_000, 98_000, 125_000),
        (PresetName::Vibe, 400_000, 190_000, 215_000),
    ] {
        for counts in [
            Counts::Constant(0.7),
            Counts::Constant(1.0),
            Counts::Alternating(0.7, 1.0),
        ] {
            for who in WHO {
                let mut run = Run::new(preset, window);
                let body = "basin copper delta ember fjord gravel harbor island. ".repeat(300);
                for turn in 0..TURNS {
                    let before = run.tally.compactions;
                    let due = run.session.due_tokens();
                    run.turn(turn, &body, counts, who);
                    let what = format!("{preset} {counts:?} {who:?} turn {turn}: {due}");
                    if run.tally.compactions > before {
                        assert!(due >= least * 8 / 10, "{what}");
                    }
                    assert!(due <= most * 12 / 10, "{what}");
                }
                assert!(run.tally.compactions > 0, "{preset} {counts:?}");
            }
        }
    }
}
