//! Constraints planted in real sessions: are they still there, word for word, after a compaction to 4,000 tokens, and
//! after four?

use std::io::Write;
use std::path::{Path, PathBuf};

use epitome::{
    Basis, Block, Call, Compaction, Message, Meter, Plan, Reason, ResultPart, Role, ToolResult,
    ViewItem, trimmed,
};
use serde_json::Value;

use crate::support::{log_of, user};

const BUDGET_TOKENS: u64 = 4_000;
/// Smaller sessions hardly need a compaction.
const LEAST_TOKENS: u64 = 20_000;
/// Constraints in one session.
const PLANTED: usize = 10;
/// What is done between two rounds.
const WORK_CHARS: usize = 24_000;

/// Ten for each session, at 5 to 95 % of its messages.
const CONSTRAINTS: &[&str] = &[
    "Anything below third_party/basalt-9 is not ours, so keep out of it.",
    "The queue depth stays at 73 for the whole migration.",
    "Build with tools/mica_build.sh, not with plain make.",
    "Before you tag a release, let me read the notes.",
    "parseLedger() keeps its three parameters in this order.",
    "All timestamps in UTC, please.",
    "My limit for cloud costs is 18 dollars a day.",
    "Reports go into out/feldspar-2 only.",
    "No new crates without my okay.",
    "Stop rewriting comments you did not touch.",
    "Bitte ändere nichts an der Datei preise_2031.csv.",
    "Ab jetzt nur noch auf dem Zweig thema/schiefer-44 arbeiten.",
    "Der Schwellwert bleibt bei 61 Prozent.",
    "Ich möchte, dass du vor jedem Löschen nachfragst.",
    "Antworte mir bitte immer in höchstens fünf Sätzen.",
    "Kundennamen dürfen in keinem Protokoll stehen.",
    "No cambies la firma de calcularCuota sin avisarme.",
    "De ahora en adelante trabaja solo en la rama tema/pizarra-8.",
    "El tope de memoria es de 512 MB.",
    "Los mensajes de commit van siempre en inglés.",
    "Quiero que me preguntes antes de borrar tablas.",
    "Nunca publiques el informe trimestral-31.",
    "没有我的许可不要修改 config/huagang.yml。",
    "以后所有提交都放在 zhuti/banyan-6 分支上。",
    "单次请求不得超过 29 秒。",
    "回答请控制在五句话以内。",
    "設定ファイル genbu.toml は変更しないでください。",
    "今後の作業は shudai/nebangan-3 ブランチのみで行ってください。",
    "コミットの前に必ず scripts/tenken.sh を実行してください。",
    "설정 파일 hwagang.yml은 절대 수정하지 마세요.",
];

/// Wordings that no rule was written for.
const UNSEEN: &str = include_str!("../vectors/pins/constraints_6.txt");

fn data_folder() -> PathBuf {
    let base = match std::env::var_os("EPITOME_DATA") {
        Some(base) => PathBuf::from(base),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
    };
    base.join("unified")
}

fn sessions(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|ending| ending == "json"));
    files.sort();
    files
}

fn read(path: &Path) -> Vec<Message> {
    let session: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let messages = session["messages"].as_array().unwrap();
    messages.iter().map(message).collect()
}

fn message(value: &Value) -> Message {
    let text = value["content"].as_str().unwrap_or_default().to_owned();
    let role = match value["role"].as_str().unwrap() {
        "system" => Role::System,
        "user" => Role::User,
        "assistant" => Role::Assistant,
        _ => Role::Tool,
    };
    let string = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    if role == Role::Tool {
        let result = ToolResult {
            call_id: string(&value["tool_call_id"]).into(),
            parts: vec![ResultPart::Text(text)],
            is_error: false,
        };
        return Message {
            role,
            blocks: vec![Block::Result(result)],
        };
    }
    let calls = value["tool_calls"].as_array().into_iter().flatten();
    let calls = calls.map(|call| {
        Block::Call(Call::new(
            string(&call["id"]),
            string(&call["name"]),
            string(&call["arguments"]),
        ))
    });
    let spoken = (!text.is_empty()).then_some(Block::Text(text));
    Message {
        role,
        blocks: spoken.into_iter().chain(calls).collect(),
    }
}

/// The session with ten constraints, each a message of its own or a sentence among others.
fn planted(messages: &[Message], constraints: &[&'static str]) -> Vec<Message> {
    let log = log_of(messages);
    let mut places: Vec<(usize, &str)> = Vec::new();
    for (at, constraint) in constraints.iter().enumerate() {
        let depth = messages.len() * (at * 2 + 1) / (constraints.len() * 2);
        places.push((log.cut_at_or_after(depth).unwrap_or(depth), constraint));
    }
    let mut out = Vec::new();
    for (position, message) in messages.iter().enumerate() {
        for (at, (_, constraint)) in places.iter().enumerate().filter(|(_, p)| p.0 == position) {
            out.push(user(match at % 3 {
                0 => format!("Thanks, that helps. {constraint} Then go on with the next part."),
                _ => (*constraint).to_owned(),
            }));
        }
        out.push(message.clone());
    }
    out
}

fn compacted(messages: &[Message]) -> Vec<Message> {
    let log = log_of(messages);
    let plan = Plan::make(&log, BUDGET_TOKENS, Reason::Manual).unwrap();
    let compaction =
        Compaction::extract(plan, &Basis::new(&log, messages, Meter::Estimate)).unwrap();
    let mut out = Vec::new();
    for item in compaction.view(messages.len()).items {
        match item {
            ViewItem::Entries(range) => out.extend_from_slice(&messages[range]),
            ViewItem::Trimmed(at, trims) => out.push(trimmed(&messages[at], &trims)),
            ViewItem::Summary => out.push(user(compaction.summary.text.clone())),
            other => panic!("not in the default layout: {other:?}"),
        }
    }
    out
}

fn missing(messages: &[Message], constraints: &[&'static str]) -> Vec<&'static str> {
    let spoken: Vec<&str> = messages.iter().flat_map(Message::spoken).collect();
    let is_gone = |constraint: &&&str| !spoken.iter().any(|text| text.contains(**constraint));
    constraints.iter().filter(is_gone).copied().collect()
}

#[test]
fn planted_constraints_survive_one_compaction_and_four() {
    check(CONSTRAINTS);
}

#[test]
fn constraints_in_unseen_wordings_survive_too() {
    let sentences = UNSEEN.lines().filter_map(|line| line.split_once('\t'));
    let sentences: Vec<&'static str> = sentences.map(|(_, sentence)| sentence).collect();
    check(&sentences);
}

#[expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "the rates are what one wants to see, and what could not be measured"
)]
fn check(all_constraints: &[&'static str]) {
    let folder = data_folder();
    if !folder.is_dir() {
        let line = format!("DATA-ABSENT planted: no folder {}", folder.display());
        eprintln!("{line}");
        if let Some(report) = std::env::var_os("EPITOME_SKIP_REPORT") {
            let mut file = std::fs::OpenOptions::new()
                .create(true)
                .append(true)
                .open(report)
                .unwrap();
            writeln!(file, "{line}").unwrap();
        }
        return;
    }
    let files = sessions(&folder);
    let (mut all, mut once, mut four) = (0, Vec::new(), Vec::new());
    for (number, path) in files.iter().enumerate() {
        let messages = read(path);
        if log_of(&messages).total_tokens() < LEAST_TOKENS {
            continue;
        }
        let constraints = all_constraints.iter().cycle().skip(number * PLANTED);
        let constraints: Vec<&'static str> = constraints.take(PLANTED).copied().collect();
        let constraints = constraints.as_slice();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let lost = |lost: Vec<&'static str>| -> Vec<String> {
            lost.iter().map(|text| format!("{name}: {text}")).collect()
        };
        let mut view = compacted(&planted(&messages, constraints));
        all += constraints.len();
        once.extend(lost(missing(&view, constraints)));
        let results = messages.iter().flat_map(Message::results);
        let work: String = results.flat_map(ToolResult::texts).collect();
        let mut work = work.chars().cycle();
        for _ in 1..4 {
            let notes: String = work.by_ref().take(WORK_CHARS).collect();
            view.push(Message::text(Role::Assistant, notes));
            view.push(user("Good. And the next part?"));
            view = compacted(&view);
        }
        four.extend(lost(missing(&view, constraints)));
    }
    let rate = |lost: &[String]| 1.0 - lost.len() as f64 / all as f64;
    println!(
        "once {:.4}, four rounds {:.4}, of {all}",
        rate(&once),
        rate(&four)
    );
    assert!(rate(&once) >= 0.99, "{once:#?}");
    assert!(rate(&four) >= 0.99, "{four:#?}");
}
