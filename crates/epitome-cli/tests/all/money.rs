//! What the default design costs on recorded sessions, beside nothing at all and beside the best in hindsight.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use epitome::settings::Settings;
use epitome::{CachePrices, Meter, ModelTable, PresetName, PruneSettings, Session, Window};
use epitome_cost::{Lifetime, Phase, Recording, Replayed, Step, Terms, Totals, Turn, Why, replay};
use epitome_files::{FileFormat, Transcript};
use epitome_testkit::data::{data, files, stem};

const METER: Meter = Meter::Estimate;
/// What models have, and what small ones have.
const WINDOWS: [u64; 2] = [200_000, 64_000];
/// Explicit marks and writing that is paid; prefixes by themselves and writing for free.
const MODELS: [&str; 2] = ["claude-sonnet-5", "gpt-5.5"];

fn recording(path: &Path) -> Recording {
    let mut file = BufReader::new(File::open(path).unwrap());
    let transcript = Transcript::collect(&mut file, FileFormat::Unified).unwrap();
    let messages = transcript.conversations.into_iter();
    let messages = messages.flat_map(|conversation| conversation.messages);
    Recording::new(messages.collect(), &[], METER)
}

fn replayed(recording: &Recording, model: &str, window: u64) -> Replayed {
    let model = ModelTable::builtin().find(model).unwrap();
    let settings = Settings::of(PresetName::Default);
    let session = Session::from_settings(&settings, Window::configured(window), METER)
        .with_cache_prices(CachePrices::of(Some(model)))
        .with_pruning(PruneSettings::off());
    let terms = Terms {
        model,
        lifetime: Lifetime::FiveMinutes,
    };
    replay(recording, session, &terms)
}

#[derive(Default)]
struct Ratios {
    count: usize,
    sum: f64,
    highest: f64,
}

impl Ratios {
    fn add(&mut self, ratio: f64) {
        self.count += 1;
        self.sum += ratio;
        self.highest = self.highest.max(ratio);
    }

    fn mean(&self) -> f64 {
        self.sum / self.count.max(1) as f64
    }
}

/// What showing it there costs, as a multiple of the best there was.
fn times(phase: &Phase, prices: CachePrices, shown: Option<usize>) -> f64 {
    phase.spent(prices, shown) as f64 / phase.best(prices).max(1) as f64
}

/// Whether something had to be compacted: it did not fit, with the room that its answer needs.
fn had_to(turn: &Turn) -> bool {
    matches!(&turn.step, Step::Compacted(made) if matches!(made.why, Why::Must(_)))
}

/// A session that is never near its line costs what it does without. One that came near, was compacted for money and
/// then ended before its line has paid for nothing: whoever does not know the end cannot avoid that, and the numbers below
/// are where the product stands, so that it gets no worse. When it shows what lies ready costs at most twice the best in
/// hindsight, as by the two rules between which it stands, and at most 1.2 times on average.
#[test]
fn recorded_sessions_cost_no_more_while_they_fit() {
    let Some(folder) = data("money", "unified") else {
        return;
    };
    let (mut product, mut even, mut spent_even) =
        (Ratios::default(), Ratios::default(), Ratios::default());
    let (mut fitting, mut compacted) = (0, 0);
    let mut dearer = Vec::new();
    let mut most_dearer = 1.0_f64;
    for path in files(&folder, "json") {
        let recording = recording(&path);
        for model in MODELS {
            let prices = CachePrices::of(ModelTable::builtin().find(model));
            for window in WINDOWS {
                let replayed = replayed(&recording, model, window);
                let mut totals = Totals::default();
                totals.add(&replayed.turns);
                for phase in &replayed.phases {
                    product.add(phase.ratio(prices));
                    even.add(times(phase, prices, phase.break_even(prices)));
                    spent_even.add(times(phase, prices, phase.spent_even(prices)));
                }
                compacted += usize::from(totals.compactions > 0);
                if replayed.turns.iter().any(had_to) {
                    continue;
                }
                fitting += 1;
                let sent = totals.sent.nanodollars.unwrap();
                let bare = totals.bare.nanodollars.unwrap();
                let name = stem(&path);
                if totals.compactions == 0 {
                    assert_eq!(sent, bare, "{name} with {model} in {window}");
                } else if sent > bare {
                    let more = sent as f64 / bare as f64;
                    most_dearer = most_dearer.max(more);
                    dearer.push(format!("{name} with {model} in {window}: {more:.3} times"));
                }
            }
        }
    }
    println!(
        "{fitting} replays fit, {compacted} were compacted; {} compactions lay ready: {:.3} times the best on average, {:.3} at \
         most; break-even would be {:.3} and {:.3}, spent-even {:.3} and {:.3}",
        product.count,
        product.mean(),
        product.highest,
        even.mean(),
        even.highest,
        spent_even.mean(),
        spent_even.highest
    );
    assert!(fitting > 50 && compacted > 20 && product.count > 20);
    println!("dearer than without, of those that would have fitted: {dearer:#?}");
    assert!(dearer.len() <= 6 && most_dearer <= 1.05, "{dearer:#?}");
    assert!(even.highest <= 2.0, "{}", even.highest);
    assert!(spent_even.highest <= 2.0, "{}", spent_even.highest);
    assert!(product.highest <= 2.0, "{}", product.highest);
    assert!(product.mean() <= 1.2, "{}", product.mean());
}
