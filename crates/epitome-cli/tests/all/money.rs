//! What the default design costs on recorded sessions, beside nothing at all and beside the best in hindsight.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use epitome::settings::Settings;
use epitome::{CachePrices, Meter, ModelTable, PresetName, PruneSettings, Session, Window};
use epitome_cost::{Lifetime, Phase, Recording, Replayed, Terms, Totals, replay};
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

fn by_break_even(phase: &Phase, prices: CachePrices) -> f64 {
    let spent = phase.spent(prices, phase.break_even(prices));
    spent as f64 / phase.best(prices).max(1) as f64
}

/// As long as a session fits it costs the same as without; what was ready was shown at a time that cost at most twice the
/// best there was, and on average at most a fifth more.
#[test]
fn recorded_sessions_cost_no_more_while_they_fit() {
    let Some(folder) = data("money", "unified") else {
        return;
    };
    let (mut product, mut even) = (Ratios::default(), Ratios::default());
    let (mut fitting, mut compacted) = (0, 0);
    let mut dearer = Vec::new();
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
                    even.add(by_break_even(phase, prices));
                }
                compacted += usize::from(totals.compactions > 0);
                if totals.bare.too_long > 0 {
                    continue;
                }
                fitting += 1;
                if totals.sent.nanodollars > totals.bare.nanodollars {
                    let (sent, bare) = (totals.sent.nanodollars, totals.bare.nanodollars);
                    dearer.push(format!(
                        "{} with {model} in {window}: {sent:?} where {bare:?} would do, {} compactions",
                        stem(&path),
                        totals.compactions
                    ));
                }
            }
        }
    }
    println!(
        "{fitting} replays fit, {compacted} were compacted; {} compactions lay ready: {:.3} times the best on average, {:.3} at \
         most; break-even would be {:.3} and {:.3}",
        product.count,
        product.mean(),
        product.highest,
        even.mean(),
        even.highest
    );
    assert!(fitting > 50 && compacted > 20 && product.count > 20);
    assert!(dearer.is_empty(), "{dearer:#?}");
    assert!(even.highest <= 2.0, "{}", even.highest);
    assert!(product.highest <= 2.0, "{}", product.highest);
    assert!(product.mean() <= 1.2, "{}", product.mean());
}
