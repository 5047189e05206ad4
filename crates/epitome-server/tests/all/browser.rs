//! A real page in a real browser against a proxy on the same machine: it reads nothing, and what it sends reaches nobody.
//!
//! Everything that the browser sends goes through a tap, so that an attempt that was never made is not taken for one that
//! was stopped. The same page is let loose on the model itself first: there it gets everywhere.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use epitome_store::{Conversations, Store, TenantId};
use epitome_testkit::{ModelConfig, Reply, Script, ScriptedModel, Wire};
use serde_json::Value;
use tokio::sync::mpsc;

use crate::chromium::ALONE;
use crate::support::{
    Folder, Proxy, action, config, eventually, read_request, report_skip, request, user,
};

const PAGE: &str = include_str!("../browser/page.html");
const ANSWER: &str = "The answer that no page may read.";
/// The attempts of the page, and of the one whose name leads to the target after it was loaded.
const ATTEMPTS: [&str; 17] = [
    "text",
    "blind",
    "json",
    "get",
    "status",
    "request",
    "beacon",
    "form",
    "image",
    "script",
    "frame",
    "socket",
    "sandbox",
    "rebound-get",
    "rebound-status",
    "rebound-post",
    "rebound-socket",
];

/// A careless model: it lets every page read its answers.
fn careless() -> ModelConfig {
    ModelConfig {
        script: Script::by(|_| Reply::text(ANSWER).with_header("access-control-allow-origin", "*")),
        ..ModelConfig::default()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_in_a_browser_reads_nothing_and_reaches_nobody() {
    if let Err(error) = Command::new("chromium").arg("--version").output() {
        return report_skip("browser", &format!("chromium does not start: {error}"));
    }
    let model = ScriptedModel::start(careless()).await;
    control(&model).await;
    model.clear();

    let folder = Folder::new();
    let mut config = config(model.address());
    config.store = folder.location();
    let proxy = Proxy::start(config).await;
    let (tap, found) = visit(proxy.address).await;
    for name in ATTEMPTS {
        eventually(name, || tap.saw(name)).await;
        let seen = found[name].to_string();
        assert!(!seen.contains(ANSWER), "{name}: {seen}");
        assert_ne!(found[name]["event"], "open", "{name}");
    }
    for name in ["text", "request", "get", "status", "sandbox", "json"] {
        assert!(found[name]["error"].is_string(), "{name}: {}", found[name]);
    }
    // What is of one origin is read: it says no, and nothing else.
    for name in ["rebound-get", "rebound-status", "rebound-post"] {
        assert_eq!(found[name]["status"], 403, "{name}");
        let text = found[name]["text"].as_str().unwrap();
        let said: Value = serde_json::from_str(text).unwrap();
        assert_eq!(said["error"]["code"], "foreign_host", "{name}");
    }
    // Who is from here still gets through: one request, and one conversation that is kept.
    let own = request(Wire::OpenaiChat, "m", [user("From a program.")]);
    let got = proxy.post(Wire::OpenaiChat, &own).await;
    assert_eq!(action(&got), ("passthrough", "below_line"));
    let reached = model.requests();
    assert_eq!(reached.len(), 1, "{reached:?}");
    proxy.stop().await;
    let store = folder.open().await;
    let kept = store.conversations(&TenantId::local(), 99).await.unwrap();
    assert_eq!(kept.len(), 1, "{kept:?}");
    store.close().await;
}

/// What the page does where nothing keeps it out.
async fn control(model: &ScriptedModel) {
    let (tap, found) = visit(model.address()).await;
    for name in ATTEMPTS {
        let is_marked = |path: &str| path.ends_with(&format!("planted={name}"));
        eventually(name, || {
            model.requests().iter().any(|sent| is_marked(&sent.path))
        })
        .await;
        assert!(tap.saw(name), "{name}");
    }
    for name in ["text", "request", "sandbox", "rebound-post"] {
        let text = found[name]["text"].as_str();
        assert!(text.is_some_and(|text| text.contains(ANSWER)), "{found:?}");
    }
    let planted = |name: &str| {
        let sent = model.requests().into_iter();
        let mut said = sent.map(|sent| sent.json()["messages"][0]["content"].clone());
        said.any(|said| said == format!("Planted by {name}."))
    };
    for name in ["text", "blind", "request", "beacon", "form", "sandbox"] {
        assert!(planted(name), "{name} wrote nothing");
    }
}

/// Opens the page in a browser and waits for what it found.
async fn visit(target: SocketAddr) -> (Tap, BTreeMap<String, Value>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let home = format!(
        "http://page.example:{}",
        listener.local_addr().unwrap().port()
    );
    let tap = Tap::start(target, &home);
    let direct = format!("http://{}", tap.address);
    let rebound = format!("http://rebound.example:{}/page", tap.address.port());
    let mut reports = serve(listener, page(&direct, &home, &rebound));
    let folder = tempfile::tempdir().unwrap();
    let browser = Browser::open(&home, folder.path());
    let mut found = BTreeMap::new();
    for _ in 0..2 {
        let report = tokio::time::timeout(Duration::from_secs(300), reports.recv()).await;
        let report = report.expect("the page reports").unwrap();
        let report: BTreeMap<String, Value> = serde_json::from_slice(&report).unwrap();
        found.extend(report);
    }
    // A beacon has no answer that the page could wait for.
    eventually("the beacon is sent", || tap.saw("beacon")).await;
    drop(browser);
    (tap, found)
}

fn page(target: &str, home: &str, rebound: &str) -> String {
    PAGE.replace("TARGET", target)
        .replace("HOME", home)
        .replace("REBOUND", rebound)
}

/// The page's own server: it gives the page and takes its reports.
fn serve(listener: TcpListener, page: String) -> mpsc::UnboundedReceiver<Vec<u8>> {
    let (reports, received) = mpsc::unbounded_channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (mut stream, page, reports) = (stream.unwrap(), page.clone(), reports.clone());
            std::thread::spawn(move || {
                let request = read_request(&mut stream);
                if request.starts_with(b"POST /found") {
                    let end = request.windows(4).position(|four| four == b"\r\n\r\n");
                    reports.send(request[end.unwrap() + 4..].to_vec()).ok();
                }
                answer(&mut stream, &page);
            });
        }
    });
    received
}

fn answer(stream: &mut TcpStream, page: &str) {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nconnection: close";
    let length = page.len();
    // A browser may have gone away by then.
    write!(stream, "{head}\r\ncontent-length: {length}\r\n\r\n{page}").ok();
}

/// Passes bytes on to a target and remembers what was sent. `/page` it answers itself: whoever came by another name has a
/// page of the target's own origin then, as after a name was bound to another address.
struct Tap {
    address: SocketAddr,
    sent: Arc<Mutex<Vec<Vec<u8>>>>,
}

impl Tap {
    fn start(target: SocketAddr, home: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let sent: Arc<Mutex<Vec<Vec<u8>>>> = Arc::default();
        let rebound = format!("http://rebound.example:{}", address.port());
        let (page, record) = (page(&rebound, home, ""), Arc::clone(&sent));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (stream, page) = (stream.unwrap(), page.clone());
                let record = Arc::clone(&record);
                std::thread::spawn(move || pass(stream, target, &page, &record));
            }
        });
        Self { address, sent }
    }

    fn saw(&self, name: &str) -> bool {
        let mark = format!("planted={name} ");
        let holds = |bytes: &Vec<u8>| String::from_utf8_lossy(bytes).contains(&mark);
        self.sent.lock().unwrap().iter().any(holds)
    }
}

fn pass(mut client: TcpStream, target: SocketAddr, page: &str, record: &Mutex<Vec<Vec<u8>>>) {
    let first = read_request(&mut client);
    if first.is_empty() {
        return;
    }
    if first.starts_with(b"GET /page ") {
        return answer(&mut client, page);
    }
    let mut server = TcpStream::connect(target).unwrap();
    server.write_all(&first).unwrap();
    let place = {
        let mut record = record.lock().unwrap();
        record.push(first);
        record.len() - 1
    };
    let (mut from, mut to) = (server.try_clone().unwrap(), client.try_clone().unwrap());
    std::thread::spawn(move || {
        std::io::copy(&mut from, &mut to).ok();
        to.shutdown(Shutdown::Both).ok();
    });
    let mut buffer = [0; 4096];
    while let Ok(length @ 1..) = client.read(&mut buffer) {
        record.lock().unwrap()[place].extend_from_slice(&buffer[..length]);
        if server.write_all(&buffer[..length]).is_err() {
            break;
        }
    }
    server.shutdown(Shutdown::Both).ok();
}

/// A browser that ends with the test. It knows no address but this machine's.
struct Browser(Child);

impl Browser {
    fn open(page: &str, folder: &std::path::Path) -> Self {
        let mut command = Command::new("chromium");
        command.args(ALONE);
        command.arg(format!("--user-data-dir={}", folder.display()));
        let quiet = command.arg(page).stdin(Stdio::null()).stdout(Stdio::null());
        Self(quiet.stderr(Stdio::null()).spawn().unwrap())
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}
