//! Four nodes, processes of their own, behind a balancer that hands each request to the next one. Nodes are killed and others
//! added at random while real SDK clients talk.
//!
//! `EPITOME_CASES=10000` makes 200 conversations of it.

use std::collections::{BTreeMap, HashSet};
use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use epitome_server::{Server, StoreLocation};
use epitome_store::{AnyStore, CompactionState, Jobs, Store, TenantId};
use epitome_testkit::{Random, Recorded, ScriptedModel, cases, client, postgres};
use http::Method;
use serde_json::{Value, json};
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};

use super::{model, stored_compactions, stored_messages};
use crate::sdk::{drive, python};
use crate::support::config;

/// The process of a node is this same program, told to run one test.
const NODE: &str = "cluster::fleet::a_node";
const STORE: &str = "EPITOME_FLEET_STORE";
const UPSTREAM: &str = "EPITOME_FLEET_UPSTREAM";
const LISTENS: &str = "node listens on ";

const WINDOW: u64 = 6_000;
const NODES: usize = 4;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node() {
    let (Ok(store), Ok(upstream)) = (std::env::var(STORE), std::env::var(UPSTREAM)) else {
        return;
    };
    let mut config = config(upstream.parse().unwrap());
    config.window_tokens = Some(WINDOW);
    config.store = StoreLocation::Url(store);
    let server = Server::bind(config).await.unwrap();
    println!("\n{LISTENS}{}", server.address());
    server.run(std::future::pending()).await.unwrap();
}

/// A running node; killed when dropped.
struct Node {
    process: Child,
    address: SocketAddr,
}

impl Node {
    fn start(store: &str, upstream: SocketAddr) -> Self {
        let mut process = Command::new(std::env::current_exe().unwrap())
            .args([NODE, "--exact", "--nocapture", "--test-threads=1"])
            .env(STORE, store)
            .env(UPSTREAM, upstream.to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap();
        let mut output = BufReader::new(process.stdout.take().unwrap());
        let mut line = String::new();
        let address = loop {
            line.clear();
            assert!(output.read_line(&mut line).unwrap() > 0, "a node ended");
            if let Some(address) = line.trim().strip_prefix(LISTENS) {
                break address.parse().unwrap();
            }
        };
        Self { process, address }
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        // SIGKILL: it says good-bye to nobody.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Hands every connection to the next node.
struct Balancer {
    address: SocketAddr,
    nodes: Arc<Mutex<Vec<SocketAddr>>>,
}

impl Balancer {
    #[expect(clippy::disallowed_methods, reason = "a test owns its runtime")]
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let nodes: Arc<Mutex<Vec<SocketAddr>>> = Arc::default();
        let (known, next) = (Arc::clone(&nodes), Arc::new(AtomicUsize::new(0)));
        tokio::spawn(async move {
            loop {
                let (mut client, _) = listener.accept().await.unwrap();
                let (known, next) = (Arc::clone(&known), Arc::clone(&next));
                tokio::spawn(async move {
                    // One that has just died refuses; the next one does not.
                    for _ in 0..20 {
                        let to = {
                            let nodes = known.lock().unwrap();
                            let turn = next.fetch_add(1, Ordering::Relaxed);
                            nodes[turn % nodes.len()]
                        };
                        if let Ok(mut node) = TcpStream::connect(to).await {
                            let _ = copy_bidirectional(&mut client, &mut node).await;
                            return;
                        }
                    }
                });
            }
        });
        Self { address, nodes }
    }
}

/// How many answers of the store a node did not wait for.
async fn deadlines(node: SocketAddr) -> u64 {
    let answer = client::send(node, &Method::GET, "/healthz", &[], "".into()).await;
    answer.unwrap().json()["store_deadlines"].as_u64().unwrap()
}

/// Which request it is: the newest mark in it.
fn mark(body: &str) -> Option<&str> {
    let at = body.rfind("[request ")?;
    body[at..].split(']').next()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_come_and_go_and_clients_notice_nothing() {
    let Some(python) = python().await else { return };
    let Some(database) = postgres::database().await else {
        return;
    };
    let is_whole = cases::cases(1) >= 10_000;
    let (conversations, turns, threads) = match is_whole {
        true => (200, 16, 16),
        false => (24, 12, 6),
    };
    let mut random = Random::new(cases::seed());
    let model = ScriptedModel::start(model(WINDOW)).await;
    let balancer = Balancer::start().await;
    let start = || Node::start(database.url(), model.address());
    let mut nodes: Vec<Node> = (0..NODES).map(|_| start()).collect();
    let tell = |nodes: &[Node]| {
        let mut known = balancer.nodes.lock().unwrap();
        *known = nodes.iter().map(|node| node.address).collect();
    };
    tell(&nodes);
    let settings = json!({
        "base_url": format!("http://{}", balancer.address),
        "conversations": conversations,
        "turns": turns,
        "threads": threads,
    });
    let mut talking = Box::pin(drive(
        python,
        "fleet.py",
        vec![settings.to_string()],
        Vec::new(),
    ));
    let (mut kills, mut missed) = (0, 0);
    let findings: Value = loop {
        let pause = Duration::from_millis(random.between(700, 2_500) as u64);
        if let Ok(findings) = tokio::time::timeout(pause, &mut talking).await {
            break findings;
        }
        if nodes.len() > 2 && random.chance(60) {
            let victim = nodes.swap_remove(random.below(nodes.len()));
            missed += deadlines(victim.address).await;
            // The balancer learns of it afterwards.
            drop(victim);
            kills += 1;
            tell(&nodes);
        } else if nodes.len() < NODES {
            nodes.push(start());
            tell(&nodes);
        }
    };
    for node in &nodes {
        missed += deadlines(node.address).await;
    }
    let requests = model.requests();
    println!(
        "{conversations} conversations, {kills} nodes killed, {} requests at the model, {missed} deadlines missed: {findings}",
        requests.len()
    );
    assert_eq!(findings["errors"], json!([]), "{findings}");
    assert!(kills > 0 && findings["repeated"].as_u64() > Some(0));
    assert!(findings["compacted"].as_u64() > Some(conversations));
    let differ = check_requests(&requests, conversations, turns);
    println!(
        "{} requests went out in two forms: {differ:?}",
        differ.len()
    );
    assert!(
        differ.len() as u64 <= missed,
        "{missed} missed: {differ:#?}"
    );
    // The model answers the same bytes alike: so must whoever stands between.
    let answered_differently = findings["differing"].as_array().unwrap().iter();
    for mark in answered_differently.filter_map(Value::as_str) {
        assert!(differ.iter().any(|one| one.starts_with(mark)), "{mark}");
    }

    let store = AnyStore::open(database.url()).await.unwrap();
    // Nothing is left half-way: what was used is stored, what is stored is whole.
    let rows = stored_compactions(&store).await;
    let published = rows
        .iter()
        .filter(|row| row.state == CompactionState::Published);
    assert!(published.count() as u64 >= conversations);
    let jobs = store.jobs(&TenantId::local(), 0, 9).await.unwrap();
    assert_eq!(jobs, []);
    for messages in stored_messages(&store).await {
        let whose: HashSet<&str> = messages.iter().flat_map(|text| owners(text)).collect();
        assert!(whose.len() <= 1, "two in one: {whose:?}");
    }
    drop(nodes);
    store.close().await;
}

/// Whose secrets are in a text.
fn owners(text: &str) -> impl Iterator<Item = &str> {
    let found = text.match_indices("secret-");
    found.filter_map(|(at, _)| text.get(at + 7..at + 10))
}

/// Every request arrived, is valid, holds the words of one client, and is the same whichever node it went through.
/// Those that are not, by their marks and lengths, are returned.
fn check_requests(requests: &[Recorded], conversations: u64, turns: u64) -> Vec<String> {
    let mut by_mark: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for sent in requests {
        let body = String::from_utf8_lossy(&sent.body).into_owned();
        let whose: HashSet<&str> = owners(&body).collect();
        assert_eq!(whose.len(), 1, "mixed: {whose:?}");
        assert!(sent.violations.is_empty(), "{:?}", sent.violations);
        assert_eq!(sent.status, Some(200), "{body}");
        let mark = mark(&body).unwrap().to_owned();
        by_mark.entry(mark).or_default().push(body);
    }
    assert_eq!(by_mark.len() as u64, conversations * turns);
    let mut differ = Vec::new();
    for (mark, bodies) in &by_mark {
        if bodies.iter().any(|body| *body != bodies[0]) {
            let lengths: Vec<usize> = bodies.iter().map(String::len).collect();
            differ.push(format!("{mark}: {lengths:?}"));
        }
    }
    differ
}
