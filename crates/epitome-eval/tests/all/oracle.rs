//! The same numbers as the scripts in which the measures were first written, wherever those are at hand.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use epitome_eval::{
    Archive, Chat, Corpus, Exam, ExamTable, History, Kind, Mersenne, Method, Place, Planted,
    PlantedTable, Question, Row, Scan, Search, Session, Settings, content_words, flat_arguments,
    idents, measure_session, problems, rare_tokens, terms,
};
use serde_json::Value;
use tempfile::TempDir;

use crate::support::{characters, data, report};

/// Small sessions of three clients, and one long enough for everything.
const SESSIONS: [&str; 4] = [
    "cc-cli-03a1382e",
    "copilot-10fb4666",
    "openhands-ponylang-ponyc-4588",
    "openhands-ponylang-ponyc-4595",
];
const CHAT: &str = "100K-1";

/// Real data in a folder of its own, and the scripts.
struct Oracle {
    folder: TempDir,
    scripts: PathBuf,
}

impl Oracle {
    fn find(test: &str) -> Option<Self> {
        let unified = data(test, "unified")?;
        let scripts = data(test, "../eval")?;
        if Command::new("python3").arg("--version").output().is_err() {
            report(&format!("SUITE-SKIPPED {test}: no python3"));
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        let to = |path: &str| folder.path().join(path);
        fs::create_dir_all(to("unified")).unwrap();
        fs::create_dir_all(to("qa/beam")).unwrap();
        for name in SESSIONS {
            let file = format!("{name}.json");
            fs::copy(unified.join(&file), to("unified").join(&file)).unwrap();
        }
        let chats = unified.join("../qa/beam");
        for kind in ["chat", "questions"] {
            let from = chats.join(format!("{CHAT}.{kind}.json"));
            for name in ["100K-1", "500K-1"] {
                fs::copy(&from, to("qa/beam").join(format!("{name}.{kind}.json"))).unwrap();
            }
        }
        Some(Self { folder, scripts })
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn python(&self, arguments: &[&str]) -> String {
        let output = Command::new("python3")
            .args(arguments)
            .current_dir(&self.scripts)
            .env("PYTHONDONTWRITEBYTECODE", "1")
            // The scripts add up numbers in the order of a hash; ties would fall differently every time.
            .env("PYTHONHASHSEED", "0")
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap()
    }

    fn sessions(&self) -> Vec<Session> {
        let read = |name: &&str| {
            let file = self.path().join("unified").join(format!("{name}.json"));
            Session::read(&fs::read(file).unwrap()).unwrap()
        };
        SESSIONS.iter().map(read).collect()
    }
}

/// What identifies a row of results.
type Key = (String, String, u64, u64, String);

#[test]
fn needs_are_those_of_the_scripts() {
    let Some(oracle) = Oracle::find("oracle-needs") else {
        return;
    };
    let sessions = oracle.sessions();
    let histories: Vec<History> = sessions.iter().map(History::of).collect();
    let corpus = Corpus::of(&histories);
    let settings = Settings::default();
    let rows: HashMap<Key, Row> = sessions
        .iter()
        .zip(&histories)
        .flat_map(|(session, history)| measure_session(session, history, &corpus, &settings))
        .map(|row| (key(&row), row))
        .collect();
    let out = oracle.path().join("rows.json");
    let folder = oracle.path().to_str().unwrap();
    oracle.python(&["run_fnr.py", folder, out.to_str().unwrap()]);
    let expected: Vec<Value> = serde_json::from_slice(&fs::read(out).unwrap()).unwrap();
    assert!(expected.len() > 200, "{} rows", expected.len());
    for wanted in &expected {
        let text = |name: &str| wanted[name].as_str().unwrap().to_owned();
        let number = |name: &str| wanted[name].as_u64().unwrap();
        let key = (
            text("sess"),
            text("where"),
            number("t"),
            number("B"),
            text("m"),
        );
        let row = rows.get(&key).unwrap_or_else(|| panic!("no row {key:?}"));
        let kept = &row.kept;
        let pairs = [
            ("tok", kept.tokens),
            ("prefix", row.prefix_tokens),
            ("need", kept.needs.whole as u64),
            ("hit", kept.needs.part as u64),
            ("ground", kept.grounded.part as u64),
            ("far", kept.far.whole as u64),
            ("farhit", kept.far.part as u64),
            ("sym", kept.symbols.whole as u64),
            ("symhit", kept.symbols.part as u64),
            ("art", kept.artifacts.whole as u64),
            ("arthit", kept.artifacts.part as u64),
            ("rare", kept.rare.whole as u64),
            ("rarehit", kept.rare.part as u64),
        ];
        // Lines of equal weight: which of them fits last is decided by the rounding of a sum in no order.
        let slack = u64::from(row.method == Method::TfidfLines.as_str());
        for (name, value) in pairs {
            let difference = value.abs_diff(number(name));
            let slack = if name == "tok" { 8 * slack } else { slack };
            assert!(
                difference <= slack,
                "{name} of {key:?}: {value} for {}",
                number(name)
            );
        }
        let both = kept.searched.map(|share| share.part as u64);
        assert_eq!(both.is_some(), wanted["both"].is_u64(), "search of {key:?}");
        let difference = both
            .unwrap_or(0)
            .abs_diff(wanted["both"].as_u64().unwrap_or(0));
        assert!(difference <= slack, "search of {key:?}");
        match (kept.user_words, wanted["ur"].as_f64()) {
            (Some(here), Some(there)) => {
                let slack = if slack == 0 { 1e-12 } else { 0.01 };
                assert!((here - there).abs() <= slack, "user words of {key:?}");
            }
            (here, there) => assert_eq!(here, there, "user words of {key:?}"),
        }
    }
}

fn key(row: &Row) -> Key {
    let place = match row.place {
        Place::Percent(percent) => format!("frac{:.1}", f64::from(percent) / 100.0),
        Place::Real => "real".to_owned(),
    };
    let method = row.method.to_owned();
    (
        row.session.clone(),
        place,
        row.at as u64,
        row.budget,
        method,
    )
}

/// The methods that the scripts know.
fn baselines() -> Vec<Method> {
    let all = Method::ALL.into_iter();
    all.filter(|method| *method != Method::Builtin).collect()
}

fn assert_says(output: &str, line: &str) {
    assert!(output.contains(line), "no line `{line}` in\n{output}");
}

#[test]
fn planted_constraints_survive_as_in_the_scripts() {
    let Some(oracle) = Oracle::find("oracle-planted") else {
        return;
    };
    let folder = oracle.path().to_str().unwrap();
    let output = oracle.python(&["run_needle.py", folder, "4000"]);
    let survivors: Vec<Vec<Vec<(usize, bool)>>> = oracle
        .sessions()
        .iter()
        .filter_map(|session| Planted::of(session, &History::of(session)))
        .map(|planted| {
            let methods = baselines().into_iter();
            methods
                .map(|method| planted.survivors(method, 4_000))
                .collect()
        })
        .collect();
    for line in PlantedTable::of(4_000, &baselines(), &survivors).lines {
        let depths: Vec<String> = line
            .by_depth
            .iter()
            .map(|share| format!("{share:.2}"))
            .collect();
        let (method, all) = (line.method, line.all);
        assert_says(
            &output,
            &format!("| {method} | {} | {all:.2} |", depths.join(" | ")),
        );
    }
}

#[test]
fn questions_are_answered_as_in_the_scripts() {
    let Some(oracle) = Oracle::find("oracle-questions") else {
        return;
    };
    let output = oracle.python(&["run_qa.py", oracle.path().to_str().unwrap()]);
    let file = |kind: &str| {
        let name = format!("qa/beam/{CHAT}.{kind}.json");
        fs::read(oracle.path().join(name)).unwrap()
    };
    let archive = Archive::of(Chat::read(&file("chat")).unwrap());
    let questions = Question::read_all(&file("questions")).unwrap();
    // The scripts do not ask this one.
    let mut methods = baselines();
    methods.retain(|method| *method != Method::MaskTools);
    for budgets in [
        [2_000, 4_000, 8_000, 16_000],
        [4_000, 8_000, 16_000, 32_000],
    ] {
        let exam = Exam::take(&archive, &questions, &methods, &budgets);
        let table = ExamTable::of("100K", &[exam], &methods, &budgets);
        for line in &table.kept {
            let kept: Vec<String> = line.by_budget.iter().map(|k| format!("{k:.3}")).collect();
            assert_says(
                &output,
                &format!("| {} | {} |", line.method, kept.join(" | ")),
            );
        }
        for line in &table.searches {
            let name = match (line.search, line.lookup_only) {
                (Search::Messages, false) => "bm25 messages",
                (Search::Messages, true) => "bm25 messages, lookup abilities",
                (Search::Passages, false) => "bm25 passages->message",
                (Search::MostRecent, false) => "most recent",
                (Search::Random, false) => "random",
                (Search::Neighbours, false) => "bm25 + neighbours (counted)",
                (_, true) => continue,
            };
            let by_depth = line.hits.any.iter().zip(&line.hits.recall);
            let cells: Vec<String> = by_depth
                .map(|(any, recall)| format!("{any:.3} | {recall:.3}"))
                .collect();
            let (cells, mrr) = (cells.join(" | "), line.hits.reciprocal_rank);
            assert_says(
                &output,
                &format!("| {name} | {cells} | {mrr:.3} | {} |", line.questions),
            );
        }
    }
}

#[test]
fn sessions_are_valid_as_in_the_scripts() {
    let Some(oracle) = Oracle::find("oracle-validity") else {
        return;
    };
    let output = oracle.python(&["validity.py", oracle.path().to_str().unwrap()]);
    let mut counts: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for session in oracle.sessions() {
        let (valid, all) = counts.entry(session.format.clone()).or_default();
        *valid += usize::from(problems(&session.messages).is_empty());
        *all += 1;
    }
    for (format, (valid, all)) in counts {
        assert_says(
            &output,
            &format!("unified:{format} {valid}/{all} valid as logged"),
        );
    }
}

/// Reads texts as the scripts do: identifiers, content words, plain tokens, search terms, blanked text, argument values.
const READ: &str = "
import json, sys
import fnr, run_qa
texts = json.load(open(sys.argv[1]))
print(json.dumps([[sorted(map(list, fnr.idents(t))), fnr.words(t), sorted(fnr.rtoks(t)), run_qa.toks(t), fnr.blank_idents(t), fnr.flat_args(t)] for t in texts]))
";

#[test]
fn generated_texts_are_read_as_by_the_scripts() {
    let Some(oracle) = Oracle::find("oracle-texts") else {
        return;
    };
    let mut generator = Mersenne::from_number(2_026);
    let texts: Vec<String> = (0..3_000).map(|_| generated(&mut generator)).collect();
    let file = oracle.path().join("texts.json");
    fs::write(&file, serde_json::to_vec(&texts).unwrap()).unwrap();
    let output = oracle.python(&["-c", READ, file.to_str().unwrap()]);
    let expected: Vec<Value> = serde_json::from_str(&output).unwrap();
    for (text, expected) in texts.iter().zip(expected) {
        let symbols = characters(text);
        let mut named: Vec<(&str, String)> = idents(text)
            .into_iter()
            .map(|ident| (name(ident.kind), ident.name.into()))
            .collect();
        named.sort();
        let mut plain: Vec<String> = rare_tokens(&symbols).into_iter().collect();
        plain.sort();
        let blanked: String = Scan::of(&symbols).blanked(&symbols).into_iter().collect();
        let words = content_words(&symbols);
        let arguments = flat_arguments(text);
        let found = serde_json::json!([named, words, plain, terms(text), blanked, arguments]);
        assert_eq!(found, expected, "{text:?}");
    }
}

const fn name(kind: Kind) -> &'static str {
    match kind {
        Kind::Code => "code",
        Kind::Email => "email",
        Kind::Env => "env",
        Kind::Error => "err",
        Kind::Hex => "hex",
        Kind::Id => "id",
        Kind::Number => "num",
        Kind::Path => "path",
        Kind::Symbol => "sym",
        Kind::Url => "url",
        Kind::Uuid => "uuid",
        Kind::Version => "ver",
    }
}

/// Pieces of identifiers and what stands between them, thrown together.
fn generated(generator: &mut Mersenne) -> String {
    const PIECES: [&str; 64] = [
        "http://",
        "https://",
        "x.io",
        "/",
        "//",
        "..",
        ".",
        "~",
        "C:",
        ":",
        "src",
        "main.rs",
        "a",
        "b1",
        "_",
        "-",
        "+",
        "@",
        "ex.com",
        "12",
        "2024",
        "4711",
        "00",
        "v",
        "1.2",
        ".3",
        "deadbeef",
        "0f",
        "ABC",
        "DEF9",
        "E",
        "Error",
        "Exception",
        "Z",
        "T",
        "foo",
        "Bar",
        "snake_case",
        "MAX_",
        "#",
        "'s",
        "'",
        "\"",
        "\\n",
        "\n",
        " ",
        " ",
        " ",
        ",",
        "%",
        "é",
        "Ü",
        "ß",
        "漢字",
        "²",
        "٣",
        "—",
        "(",
        ")",
        "`",
        "ing",
        "123e4567-e89b-12d3-a456-426614174000",
        "tsx",
        "and",
    ];
    let length = 1 + generator.below(24);
    let pieces = (0..length).filter_map(|_| generator.choose(&PIECES).copied());
    pieces.collect()
}
