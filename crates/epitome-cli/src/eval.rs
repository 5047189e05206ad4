//! `epitome eval`.

mod folder;
mod parallel;
mod print;
mod quality;
mod score;

use std::path::Path;

use anyhow::Result;
use epitome_eval::{
    Archive, Corpus, Exam, ExamTable, Gates, History, Place, Planted, PlantedTable, Row, Session,
    Settings, Table, measure_session,
};
use serde::Serialize;

use crate::Ending;
use crate::args::{EvalArgs, EvalPart};
use crate::clock::Stopwatch;
use crate::terminal::tell;
use score::Score;

/// Sessions of a quick run.
const QUICK_SESSIONS: usize = 6;
/// To which size sessions with planted constraints are compacted.
const PLANTED_BUDGETS: [u64; 1] = [4_000];
/// To which sizes chats are compacted: the longer the chats, the larger.
const CHAT_BUDGETS: [u64; 4] = [2_000, 4_000, 8_000, 16_000];
const LONG_CHAT_BUDGETS: [u64; 4] = [4_000, 8_000, 16_000, 32_000];
const CHATS: &str = "100K";
/// To which sizes the gates are tried.
const GATE_BUDGETS: [u64; 2] = [2_000, 8_000];
/// Every so many messages a session is compacted for the gates.
const GATE_STEP: usize = 32;

/// Everything that was measured: what `--json` prints.
#[derive(Debug, Serialize)]
struct Report {
    /// Needs, files and words kept: one table per budget, and one at real compactions.
    needs: Vec<Table>,
    /// Planted constraints kept: one table per budget.
    planted: Vec<PlantedTable>,
    /// Answers kept and evidence found: one table per size of chats.
    questions: Vec<ExamTable>,
    /// What must hold for every output of the built-in summariser.
    #[serde(skip_serializing_if = "Option::is_none")]
    gates: Option<Gates>,
    /// One number per method, where all its parts were measured.
    scores: Vec<Score>,
}

pub(crate) fn run(args: &EvalArgs) -> Result<Ending> {
    let started = Stopwatch::start();
    let report = measure(args)?;
    let text = if args.json {
        serde_json::to_string(&report)? + "\n"
    } else if args.markdown {
        quality::text(&report)
    } else {
        print::text(&report)
    };
    crate::print(&text)?;
    let seconds = started.taken().as_secs_f64();
    tell!("epitome: measured in {seconds:.1} s");
    Ok(Ending::Done)
}

fn measure(args: &EvalArgs) -> Result<Report> {
    let wants = |part: EvalPart| !args.real && (args.only.is_empty() || args.only.contains(&part));
    let settings = settings(args);
    let mut report = Report {
        needs: Vec::new(),
        planted: Vec::new(),
        questions: Vec::new(),
        gates: None,
        scores: Vec::new(),
    };
    let sessions = folder::sessions(&args.dir)?;
    let histories = parallel::map(&sessions, History::of);
    let corpus = Corpus::of(&histories);
    let mut pairs: Vec<(&Session, &History)> = sessions.iter().zip(&histories).collect();
    if args.quick {
        pairs = spread(pairs, QUICK_SESSIONS);
    }
    if args.real || wants(EvalPart::Needs) {
        let rows: Vec<Row> = parallel::map(&pairs, |(session, history)| {
            measure_session(session, history, &corpus, &settings)
        })
        .concat();
        report.needs = Table::all(&rows);
    }
    if wants(EvalPart::Planted) {
        report.planted = planted(&pairs, args, &settings);
    }
    if wants(EvalPart::Questions) && !args.quick {
        report.questions = questions(&args.dir, args, &settings)?;
    }
    if wants(EvalPart::Gates) {
        report.gates = Some(gates(&pairs, args));
    }
    report.scores = score::all(&report, &settings.methods);
    Ok(report)
}

fn settings(args: &EvalArgs) -> Settings {
    let mut settings = Settings::default();
    if args.quick {
        settings.places = vec![Place::Percent(60)];
        settings.budgets = vec![4_000, 8_000];
    }
    if args.real {
        settings.places = vec![Place::Real];
    }
    if !args.budgets.is_empty() {
        settings.budgets.clone_from(&args.budgets);
    }
    if !args.methods.is_empty() {
        settings.methods.clone_from(&args.methods);
    }
    settings
}

/// So many of `items`, from the first on at equal distances.
fn spread<T>(items: Vec<T>, count: usize) -> Vec<T> {
    let step = (items.len() / count).max(1);
    items.into_iter().step_by(step).take(count).collect()
}

fn wanted<'a>(args: &'a EvalArgs, default: &'a [u64]) -> &'a [u64] {
    if args.budgets.is_empty() {
        default
    } else {
        &args.budgets
    }
}

fn planted(
    pairs: &[(&Session, &History)],
    args: &EvalArgs,
    settings: &Settings,
) -> Vec<PlantedTable> {
    let planted = parallel::map(pairs, |(session, history)| Planted::of(session, history));
    let planted: Vec<Planted> = planted.into_iter().flatten().collect();
    let budgets = wanted(args, &PLANTED_BUDGETS).iter();
    budgets
        .map(|&budget| {
            let survivors = parallel::map(&planted, |planted| {
                let methods = settings.methods.iter();
                methods
                    .map(|method| planted.survivors(*method, budget))
                    .collect()
            });
            PlantedTable::of(budget, &settings.methods, &survivors)
        })
        .collect()
}

fn questions(dir: &Path, args: &EvalArgs, settings: &Settings) -> Result<Vec<ExamTable>> {
    let groups = folder::chats(dir)?;
    let tables = groups.into_iter().map(|(name, chats)| {
        let budgets = if name == CHATS {
            CHAT_BUDGETS
        } else {
            LONG_CHAT_BUDGETS
        };
        let budgets = wanted(args, &budgets);
        let exams = parallel::map(&chats, |(chat, questions)| {
            let archive = Archive::of(chat.clone());
            Exam::take(&archive, questions, &settings.methods, budgets)
        });
        ExamTable::of(&name, &exams, &settings.methods, budgets)
    });
    Ok(tables.collect())
}

fn gates(pairs: &[(&Session, &History)], args: &EvalArgs) -> Gates {
    let step = if args.thorough { 1 } else { GATE_STEP };
    let gates = parallel::map(pairs, |(_, history)| {
        let cuts = (step..=history.len()).step_by(step);
        Gates::of(history, cuts, &GATE_BUDGETS)
    });
    gates.into_iter().sum()
}
