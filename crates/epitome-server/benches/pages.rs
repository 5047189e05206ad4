//! The pages of the dashboard over 10,000 stored conversations of 100 messages: how long the server takes for each.
//!
//! On SQLite and, where there is a server, on PostgreSQL. `EPITOME_CONVERSATIONS=N` takes fewer or more.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a bench is a program for developers: it stops at the first surprise, and reads the clock"
)]

use std::process::ExitCode;
use std::time::{Duration, Instant};

use epitome_server::{
    Config, ConfiguredWindows, INSPECTION_LIMIT_BYTES, Mode, Pruning, Server, StoreLocation,
};
use epitome_store::{
    AnyStore, Append, CompactionRow, CompactionState, Compactions, ConversationId, Digest,
    EntryRow, EntryWords, NewConversation, NodeRow, Outcome, Outcomes, Store, TenantId,
};
use epitome_testkit::{Random, client};
use http::Method;

const CONVERSATIONS: u64 = 10_000;
const MESSAGES: usize = 100;
const COVERED: usize = 70;
/// How often each page is asked for.
const TIMES: usize = 60;
/// What the slowest of twenty may take.
const GATE: Duration = Duration::from_millis(50);
const WORDS: [&str; 24] = [
    "anchor", "basin", "copper", "delta", "ember", "fjord", "gravel", "harbor", "island", "jetty",
    "kelp", "lagoon", "meadow", "north", "orchard", "pier", "quarry", "river", "shore", "tide",
    "upland", "valley", "wharf", "yard",
];

/// The path of a page, another one each time.
type PathOf<'a> = Box<dyn Fn(u64) -> String + 'a>;

#[tokio::main]
async fn main() -> ExitCode {
    let count = std::env::var("EPITOME_CONVERSATIONS").ok();
    let count = count.map_or(CONVERSATIONS, |count| count.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let sqlite = format!("sqlite:{}/pages.db", folder.path().display());
    let mut is_good = measure("SQLite", &sqlite, count).await;
    match epitome_testkit::postgres::database().await {
        Some(database) => is_good &= measure("PostgreSQL", database.url(), count).await,
        None => {
            println!("PostgreSQL: no server, so nothing was shown");
            is_good = false;
        }
    }
    match is_good {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

async fn measure(name: &str, url: &str, count: u64) -> bool {
    let started = Instant::now();
    let store = AnyStore::open(url).await.unwrap();
    for number in 0..count {
        fill(&store, number).await;
    }
    store.close().await;
    let took = started.elapsed().as_secs();
    println!("{name}: {count} conversations of {MESSAGES} messages, written in {took} s");
    let config = Config {
        listen: ([127, 0, 0, 1], 0).into(),
        openai_upstream: Some("http://127.0.0.1:9".parse().unwrap()),
        anthropic_upstream: None,
        store: StoreLocation::Url(url.to_owned()),
        window_tokens: None,
        windows: ConfiguredWindows::none(),
        mode: Mode::Act,
        settings: epitome::settings::Settings::of(epitome::PresetName::Default),
        summariser: None,
        hooks: epitome_engine::Hooks::default(),
        pruning: Pruning::Off,
        inspection_limit_bytes: INSPECTION_LIMIT_BYTES,
        tenants: epitome_server::TenantSettings::default(),
    };
    let server = Server::bind(config).await.unwrap();
    let (address, bearer) = (server.address(), format!("Bearer {}", server.token()));
    let (end, ended) = tokio::sync::oneshot::channel::<()>();
    let running = tokio::spawn(server.run(async move {
        ended.await.ok();
    }));
    let one = |at: u64| format!("talk{}", at * 7_919 % count);
    let pages: [(&str, PathOf<'_>); 8] = [
        ("overview", Box::new(|_| "/epitome/".to_owned())),
        (
            "conversations",
            Box::new(|_| "/epitome/conversations".to_owned()),
        ),
        (
            "conversations, found",
            Box::new(|at| format!("/epitome/conversations?q=unique{}", at * 7_919 % count)),
        ),
        (
            "conversation",
            Box::new(move |at| format!("/epitome/conversations/{}", one(at))),
        ),
        (
            "message",
            Box::new(move |at| format!("/epitome/conversations/{}/messages/50", one(at))),
        ),
        (
            "compaction",
            Box::new(move |at| format!("/epitome/compactions/made{}", at * 7_919 % count)),
        ),
        (
            "recall",
            Box::new(|at| format!("/epitome/recall?q=unique{}+harbor", at * 7_919 % count)),
        ),
        ("settings", Box::new(|_| "/epitome/settings".to_owned())),
    ];
    let headers = [("authorization", bearer.as_str())];
    let mut is_good = true;
    for (page, path) in &pages {
        let mut times = Vec::new();
        for at in 0..TIMES as u64 {
            let path = path(at);
            let started = Instant::now();
            let answer = client::send(address, &Method::GET, &path, &headers, "".into());
            let answer = answer.await.unwrap();
            times.push(started.elapsed());
            assert_eq!(answer.status, 200, "{path}");
        }
        times.sort();
        let p95 = times.get(TIMES * 95 / 100).copied().unwrap();
        let median = times.get(TIMES / 2).copied().unwrap();
        let verdict = if p95 <= GATE { "" } else { "  above the gate" };
        is_good &= p95 <= GATE;
        println!("  {page:<22} median {median:>9.1?}  p95 {p95:>9.1?}{verdict}");
    }
    end.send(()).ok();
    running.await.unwrap().unwrap();
    is_good
}

/// A conversation of its own words, shortened once.
async fn fill(store: &AnyStore, number: u64) {
    let tenant = TenantId::local();
    let id = ConversationId::new(&format!("talk{number}")).unwrap();
    let mut random = Random::new(number);
    let mut entries = Vec::new();
    let mut nodes: Vec<NodeRow> = Vec::new();
    let mut words = Vec::new();
    for position in 0..MESSAGES {
        let mut text = format!("Message {position} of unique{number}:");
        for _ in 0..40 {
            text.push(' ');
            text.push_str(WORDS.get(random.between(0, WORDS.len() - 1)).unwrap());
        }
        let role = if position % 2 == 0 {
            "user"
        } else {
            "assistant"
        };
        let raw = format!("{{\"role\":\"{role}\",\"content\":\"{text}\"}}");
        let key = Digest::of(raw.as_bytes());
        let parent = nodes.last().map(|node| node.digest);
        nodes.push(NodeRow {
            digest: Digest::of(format!("{number}/{position}").as_bytes()),
            parent,
            entry: key,
            position: u32::try_from(position).unwrap(),
            conversation: id.clone(),
        });
        words.push(EntryWords { key, text });
        entries.push(EntryRow {
            key,
            raw: raw.into(),
            wire: "openai-chat".to_owned(),
            tokens: 80,
        });
    }
    let lines = words.iter().take(COVERED);
    let summary: String = lines.map(|line| format!("- {}\n", line.text)).collect();
    let at_ms = 1_790_000_000_000 + i64::try_from(number).unwrap() * 1_000;
    let row = CompactionRow {
        id: format!("made{number}"),
        conversation: id.clone(),
        node: nodes.get(COVERED - 1).unwrap().digest,
        model_class: "window/8000".to_owned(),
        state: CompactionState::Published,
        head_entries: 1,
        covered_entries: u32::try_from(COVERED - 1).unwrap(),
        tokens_before: 7_000,
        tokens_after: 3_000,
        summary,
        record: format!(
            "{{\"covered_links\":{COVERED},\"task_in_head\":true,\"notes_cap_tokens\":0,\"summary_tokens\":900,\
             \"trimmed_tokens\":0,\"trims\":[],\"reason\":\"hard_line\",\"sources\":[]}}"
        ),
        created_ms: at_ms,
    };
    let span = Append {
        conversation: NewConversation {
            id: id.clone(),
            parent: None,
            label: Some(format!("Conversation about unique{number}")),
            created_ms: at_ms,
        },
        entries,
        nodes,
        words,
        touched_ms: at_ms,
    };
    store.commit_compaction(&tenant, &span, &row).await.unwrap();
    let outcome = Outcome {
        conversation: Some(id),
        at_ms,
        action: "compacted".to_owned(),
        reason: "hard_line".to_owned(),
        tokens_before: 7_000,
        tokens_after: 3_000,
        model: "gpt-4o".to_owned(),
    };
    store.record_outcome(&tenant, &outcome).await.unwrap();
}
