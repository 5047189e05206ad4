//! The dashboard in a real browser: the real server, a scripted model behind it, a conversation past two compactions.
//!
//! The browser is driven by its keyboard alone. With `EPITOME_SCREENSHOTS=DIR` (`cargo xtask screenshots`) the same walk leaves
//! pictures of every page, light and dark, wide and on a phone.

use std::io::Write as _;
use std::net::TcpListener;
use std::path::PathBuf;

use epitome_server::ShownSetting;
use epitome_testkit::{ModelConfig, ScriptedModel, Wire};
use http::Method;
use serde_json::{Value, json};

use crate::chromium::Chromium;
use crate::support::{
    Folder, Proxy, action, config, conversation, eventually_async, read_request, report_skip,
    request,
};

const SESSION: &str = include_str!("../../../../examples/coding-session.jsonl");
/// What a page must show and never obey: elements, entities, orders to terminals, what turns a line round.
const HOSTILE: &str = "Never write <script>window.broken=1</script> or <img src=x onerror=\"window.broken=2\"> \
                       or &lt;b&gt; or \u{1b}]0;title\u{7} or \u{202e}abc into templates/.";
/// How its unseen characters are shown.
const SPELLED: &str = "\\u001b]0;title\\u0007 or \\u202eabc";
const MODEL: &str = "gpt-4o";
const WINDOW: u64 = 24_000;
/// Requests are made of so many messages more each time.
const STEP: usize = 20;

/// The shipped session with one more rule of the user.
fn session() -> Vec<Value> {
    let lines = SESSION
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    let mut messages: Vec<Value> = lines.collect();
    // Not in the first one, which stays as it is: this one is summarised.
    let mut typed = messages
        .iter_mut()
        .filter(|message| message["role"] == "user");
    let second = typed.nth(1).unwrap();
    let asked = second["content"].as_str().unwrap();
    second["content"] = json!(format!("{asked}\n\n{HOSTILE}"));
    messages
}

/// Where the conversation stands when a model is asked: behind the user and behind results.
fn turns(messages: &[Value]) -> Vec<usize> {
    let is_answer = |at: usize| messages[at]["role"] == "assistant";
    let ends = (2..messages.len()).filter(|at| is_answer(*at) && !is_answer(at - 1));
    let mut last = 0;
    let mut turns: Vec<usize> = ends
        .filter(|at| {
            let is_far = *at >= last + STEP;
            last = if is_far { *at } else { last };
            is_far
        })
        .collect();
    turns.push(messages.len());
    turns
}

async fn get(proxy: &Proxy, path: &str) -> Value {
    let bearer = format!("Bearer {}", proxy.token);
    let headers = [("authorization", bearer.as_str())];
    let received = proxy.send(&Method::GET, path, &headers, "").await;
    assert_eq!(received.status, 200, "{path}: {received:?}");
    received.json()
}

/// A server whose one conversation was shortened at least twice.
async fn stage(folder: &Folder) -> (ScriptedModel, Proxy, String) {
    let model = ScriptedModel::start(ModelConfig::default()).await;
    let mut config = config(model.address());
    config.window_tokens = Some(WINDOW);
    config.store = folder.location();
    let set = |path: &str, value: &str, origin: &str, is_default: bool| ShownSetting {
        path: path.to_owned(),
        value: value.to_owned(),
        origin: origin.to_owned(),
        is_default,
    };
    let settings = vec![
        set("window", "24000", "flag --window", false),
        set("preset", "\"default\"", "default", true),
        set("server.listen", "\"<script>\"", "epitome.toml:3", false),
    ];
    let proxy = Proxy::start_showing(config, settings).await;
    let messages = session();
    let mut id = String::new();
    let mut compacted = 0;
    for end in turns(&messages) {
        let asked = request(Wire::OpenaiChat, MODEL, messages[..end].to_vec());
        let headers = [
            ("authorization", "Bearer test-key"),
            ("user-agent", "claude-cli/2.0.14 (external, cli)"),
        ];
        let (path, asked) = (Wire::OpenaiChat.path(), asked.to_string());
        let received = proxy.send(&Method::POST, path, &headers, asked).await;
        assert_eq!(received.status, 200, "{received:?}");
        compacted += usize::from(action(&received).0 == "compacted");
        id = conversation(&received);
    }
    assert!(compacted > 2, "{compacted}");
    let path = format!("/epitome/v1/conversations/{id}");
    let all = messages.len() - 1;
    eventually_async("the conversation is stored", async || {
        let bearer = format!("Bearer {}", proxy.token);
        let headers = [("authorization", bearer.as_str())];
        let found = proxy.send(&Method::GET, &path, &headers, "").await;
        found.status == 200 && {
            let found = found.json();
            let rows = found["compactions_made"].as_array().unwrap();
            let published = rows.iter().filter(|row| row["state"] == "published");
            let is_whole = found["messages"].as_array().unwrap().len() >= all;
            is_whole && published.count() >= 2
        }
    })
    .await;
    (model, proxy, id)
}

/// The pictures that somebody asked for.
struct Album(Option<PathBuf>);

impl Album {
    fn of_environment() -> Self {
        let folder = std::env::var_os("EPITOME_SCREENSHOTS").map(PathBuf::from);
        if let Some(folder) = &folder {
            std::fs::create_dir_all(folder).unwrap();
        }
        Self(folder)
    }

    fn keep(&self, browser: &mut Chromium, page: &str) {
        let Some(folder) = &self.0 else {
            return;
        };
        for (form, size) in [("wide", (1_280, 900)), ("phone", (390, 844))] {
            for scheme in ["light", "dark"] {
                let file = folder.join(format!("{page}-{form}-{scheme}.png"));
                browser.picture(&file, size, scheme);
            }
        }
    }
}

/// What holds on every page.
fn inspect(browser: &mut Chromium) {
    let at = browser.ask("location.pathname");
    // On a phone nothing is cut off either.
    browser.resize(Some((390, 844)));
    let fits = "document.documentElement.scrollWidth <= 390";
    assert_eq!(browser.ask(fits), json!(true), "{at} on a phone");
    browser.resize(None);
    assert_eq!(browser.ask("window.broken ?? null"), Value::Null, "{at}");
    for (what, expected) in [
        ("document.documentElement.lang", json!("en")),
        ("document.querySelectorAll('h1').length", json!(1)),
        (
            "document.querySelectorAll('main img, main script').length",
            json!(0),
        ),
        // Everything to fill in has a name, and so has every region and picture.
        (
            "[...document.querySelectorAll('input:not([type=hidden])')].filter((one) => one.labels.length === 0).length",
            json!(0),
        ),
        (
            "[...document.querySelectorAll('[role=region],[role=img]')].filter((one) => !one.ariaLabel && \
             !document.getElementById(one.getAttribute('aria-labelledby'))).length",
            json!(0),
        ),
        // Nothing but what scrolls by itself is wider than the window.
        (
            "document.documentElement.scrollWidth <= document.documentElement.clientWidth",
            json!(true),
        ),
        (
            "new Set([...document.querySelectorAll('[id]')].map((one) => one.id)).size === document.querySelectorAll('[id]').length",
            json!(true),
        ),
    ] {
        assert_eq!(browser.ask(what), expected, "{at}: {what}");
    }
}

/// A text as a page shows it.
fn spelled(text: &Value) -> String {
    let text = text.as_str().unwrap().replace('\u{202e}', "\\u202e");
    text.replace('\u{1b}', "\\u001b")
        .replace('\u{7}', "\\u0007")
}

fn grouped(number: &Value) -> String {
    epitome::reference::vibe::grouped(number.as_u64().unwrap())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_page_is_used_in_a_browser_by_keyboard_alone() {
    if let Err(error) = Chromium::is_there() {
        return report_skip("browser", &format!("chromium does not start: {error}"));
    }
    let folder = Folder::new();
    let (_model, proxy, id) = stage(&folder).await;
    let base = proxy.base_url();
    let album = Album::of_environment();
    let mut browser = Chromium::start();

    // Nothing without the token, and what was asked for is opened after it is given.
    let conversation = format!("/epitome/conversations/{id}");
    browser.open(&format!("{base}{conversation}"));
    assert!(browser.text("h1").contains("needs its token"));
    let shown = browser.ask("document.body.innerText").to_string();
    assert!(!shown.contains("ledger") && !shown.contains(&id), "{shown}");
    album.keep(&mut browser, "login");
    browser.ask("document.activeElement.blur()");
    browser.tab_to("#token");
    browser.type_text(&proxy.token);
    browser.ask("window.isOld = true");
    browser.press("Enter");
    browser.arrived();
    assert_eq!(browser.ask("location.pathname"), json!(conversation));
    // Browsers complain about the page that said no, and about nothing else.
    let complaints = std::mem::take(&mut browser.complaints);
    assert!(
        complaints.iter().all(|one| one.contains("401")),
        "{complaints:?}"
    );

    overview(&mut browser, &proxy, &album).await;
    conversations(&mut browser, &proxy, &album, &id).await;
    let compaction = one_conversation(&mut browser, &proxy, &album, &id).await;
    one_compaction(&mut browser, &proxy, &album, &id, &compaction).await;
    recall(&mut browser, &proxy, &album, &id).await;
    unpin(&mut browser, &proxy, &id).await;
    undo(&mut browser, &proxy, &id).await;
    settings(&mut browser, &proxy, &album).await;

    assert_eq!(browser.complaints, [""; 0]);
    let elsewhere: Vec<&String> = browser
        .asked
        .iter()
        .filter(|url| !url.starts_with(&format!("{base}/epitome/")))
        .collect();
    assert!(elsewhere.is_empty(), "{elsewhere:?}");
    strangers(&mut browser, &proxy, &id).await;
}

/// The figures are the API's, and follow what happens.
async fn overview(browser: &mut Chromium, proxy: &Proxy, album: &Album) {
    browser.follow("header nav a[href='/epitome/']");
    inspect(browser);
    let told = get(proxy, "/epitome/v1/overview").await;
    for name in ["requests", "eligible", "tokens_saved", "tokens_before"] {
        assert_eq!(
            browser.text(&format!("#{name}")),
            grouped(&told[name]),
            "{name}"
        );
    }
    assert_eq!(
        browser.text("#acted_on"),
        grouped(&told["health"]["acted_on"])
    );
    assert_eq!(
        browser.text("#input_tokens"),
        grouped(&told["cache"]["input_tokens"])
    );
    let most = told["money"]["saved_usd_at_most"].as_f64().unwrap();
    let least = told["money"]["saved_usd_at_least"].as_f64().unwrap();
    assert!(most > least && least > 0.0, "{told}");
    let shown = browser.text("#saved_usd");
    assert_eq!(shown, format!("{} to {}", dollars(least), dollars(most)));
    assert_eq!(browser.text("#own_spend"), "$0.00");
    album.keep(browser, "overview");
    // Live: no reload, and the same numbers as the API says then.
    browser.ask("window.isSame = true");
    let hello = request(Wire::OpenaiChat, MODEL, [crate::support::user("hello")]);
    proxy.post(Wire::OpenaiChat, &hello).await;
    let told = get(proxy, "/epitome/v1/overview").await;
    let requests = json!(grouped(&told["requests"]));
    browser.until(&format!(
        "document.querySelector('#requests').textContent === {requests}"
    ));
    assert_eq!(browser.ask("window.isSame"), json!(true));
}

fn dollars(usd: f64) -> String {
    match usd >= 0.01 {
        true => format!("${usd:.2}"),
        false => format!("${usd:.4}"),
    }
}

async fn conversations(browser: &mut Chromium, proxy: &Proxy, album: &Album, id: &str) {
    browser.follow("header nav a[href='/epitome/conversations']");
    inspect(browser);
    let told = get(proxy, "/epitome/v1/conversations").await;
    let rows = told["conversations"].as_array().unwrap();
    let shown = browser.ask("document.querySelectorAll('tbody tr').length");
    assert_eq!(shown, json!(rows.len()));
    let row = rows.iter().find(|row| row["session"] == id).unwrap();
    assert_eq!(row["last_decision"]["model"], MODEL);
    assert_eq!(row["client"], "Claude Code");
    let shown = browser.ask(&format!(
        "document.querySelector(\"a[href='/epitome/conversations/{id}']\").closest('tr').children[2].innerText"
    ));
    assert_eq!(shown, row["client"]);
    album.keep(browser, "conversations");
    browser.tab_to("#q");
    browser.type_text("brightwell signature");
    browser.ask("window.isOld = true");
    browser.press("Enter");
    browser.arrived();
    assert_eq!(
        browser.ask("document.querySelectorAll('tbody tr').length"),
        json!(1)
    );
    browser.follow("tbody a");
}

async fn one_conversation(
    browser: &mut Chromium,
    proxy: &Proxy,
    album: &Album,
    id: &str,
) -> String {
    assert_eq!(
        browser.ask("location.pathname"),
        json!(format!("/epitome/conversations/{id}"))
    );
    inspect(browser);
    let told = get(proxy, &format!("/epitome/v1/conversations/{id}")).await;
    let messages = told["messages"].as_array().unwrap();
    let rows = browser.ask(
        "[...document.querySelectorAll('.messages tbody tr')].map((row) => [...row.cells].map((cell) => cell.textContent))",
    );
    assert_eq!(rows.as_array().unwrap().len(), messages.len());
    for (row, message) in rows.as_array().unwrap().iter().zip(messages) {
        assert_eq!(row[0], message["position"].to_string(), "{message}");
        assert_eq!(row[2], spelled(&message["text"]), "{message}");
        assert_eq!(row[3], grouped(&message["tokens"]), "{message}");
        let state = row[4].as_str().unwrap();
        let is_covered = message["state"] == "covered";
        assert_eq!(state.starts_with("in a summary"), is_covered, "{message}");
        assert_eq!(
            state.contains("pinned"),
            message["pinned"] == true,
            "{message}"
        );
    }
    assert_eq!(
        browser.text("#tokens_not_sent"),
        grouped(&told["savings"]["tokens_saved"])
    );
    let rounds = told["growth"]["rounds"].as_array().unwrap().len();
    assert!(rounds >= 2, "{}", told["growth"]["rounds"]);
    let drawn = browser.ask("document.querySelectorAll('svg .round').length");
    assert_eq!(drawn, json!(rounds));
    // What was said is shown as it was said.
    let pins = told["pins"].as_array().unwrap();
    let pin = pins
        .iter()
        .find(|pin| pin["text"].as_str().unwrap().contains("<script>"));
    assert!(pin.is_some(), "{pins:?}");
    let shown = browser
        .ask("document.querySelector('.pins').innerText")
        .to_string();
    for part in ["<script>window.broken=1</script>", "&lt;b&gt;"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert!(shown.contains(&SPELLED.replace('\\', "\\\\")), "{shown}");
    album.keep(browser, "conversation");
    // From the newest compaction on.
    let made = told["compactions_made"].as_array().unwrap();
    let newest = made
        .iter()
        .rfind(|row| row["state"] == "published")
        .unwrap();
    let newest = newest["id"].as_str().unwrap().to_owned();
    browser.follow(&format!("a[href='/epitome/compactions/{newest}']"));
    newest
}

async fn one_compaction(
    browser: &mut Chromium,
    proxy: &Proxy,
    album: &Album,
    id: &str,
    compaction: &str,
) {
    inspect(browser);
    let told = get(proxy, &format!("/epitome/v1/compactions/{compaction}")).await;
    for name in ["tokens_before", "tokens_after"] {
        assert_eq!(
            browser.text(&format!("#{name}")),
            grouped(&told[name]),
            "{name}"
        );
    }
    let lines = told["lines"].as_array().unwrap();
    let shown = browser
        .ask("[...document.querySelectorAll('.lines .said')].map((line) => line.textContent)");
    for (line, shown) in lines.iter().zip(shown.as_array().unwrap()) {
        assert_eq!(*shown, spelled(&line["text"]));
    }
    assert_eq!(lines.len(), shown.as_array().unwrap().len());
    // Against the round before: what went and what came.
    let changes = told["changes"].as_array().unwrap();
    let changed = changes
        .iter()
        .filter(|line| line["change"] != "same")
        .count();
    let shown = browser.ask("document.querySelectorAll('.diff li').length");
    assert!(changed > 0);
    assert_eq!(shown, json!(changed));
    assert!(told["previous"].is_string(), "{told}");
    let kinds = told["report"]["kinds"].as_object().unwrap();
    let rows = kinds
        .values()
        .filter(|counts| counts["anchors"] != 0 || counts["invented"] != 0);
    let shown =
        browser.ask("document.querySelectorAll('section[aria-labelledby=report] tbody tr').length");
    assert_eq!(shown, json!(rows.count()));
    album.keep(browser, "compaction");
    // From a line to the message that says it, which is covered by the summary and now in sight.
    let rule = lines.iter().find(|line| {
        line["text"]
            .as_str()
            .unwrap()
            .contains("from now on no log line")
    });
    let rule = rule.unwrap_or_else(|| panic!("{lines:?}"));
    let entry = rule["entries"][0].as_u64().unwrap();
    let original = get(
        proxy,
        &format!("/epitome/v1/conversations/{id}/messages/{entry}"),
    )
    .await;
    let said = original["text"].as_str().unwrap();
    assert!(
        said.contains("from now on no log line may contain a payload"),
        "{said}"
    );
    assert_eq!(original["role"], "user");
    let first = told["first_entry"].as_u64().unwrap();
    let last = told["last_entry"].as_u64().unwrap();
    assert!((first..=last).contains(&entry));
    // The summary counts messages as the pages do.
    let stands = format!("This stands for messages {first} to {last},");
    let summary = told["summary"].as_str().unwrap();
    assert!(summary.contains(&stands), "{stands} {summary}");
    browser.follow(&format!(".lines a[href$='#message-{entry}']"));
    assert_eq!(
        browser.ask("location.hash"),
        json!(format!("#message-{entry}"))
    );
    browser.until(&format!(
        "(() => {{ const at = document.querySelector('#message-{entry}:target')?.getBoundingClientRect(); \
         return at !== undefined && at.top >= 0 && at.bottom <= innerHeight; }})()"
    ));
    // And to the whole of it.
    browser.tab_to(&format!("a[href$='/messages/{entry}']"));
    browser.ask("window.isOld = true");
    browser.press("Enter");
    browser.arrived();
    inspect(browser);
    assert_eq!(browser.text("pre"), said);
    album.keep(browser, "message");
}

async fn recall(browser: &mut Chromium, proxy: &Proxy, album: &Album, id: &str) {
    browser.follow("header nav a[href='/epitome/recall']");
    inspect(browser);
    browser.tab_to("#q");
    browser.type_text("window.broken");
    browser.ask("window.isOld = true");
    browser.press("Enter");
    browser.arrived();
    inspect(browser);
    let told = get(proxy, "/epitome/v1/recall?q=window.broken").await;
    let hits = told["hits"].as_array().unwrap();
    assert_eq!(hits[0]["session"], id);
    let shown = browser.ask(
        "[...document.querySelectorAll('.hits li p:first-child')].map((hit) => hit.textContent)",
    );
    let said: Vec<String> = hits.iter().map(|hit| spelled(&hit["excerpt"])).collect();
    assert_eq!(shown, json!(said));
    assert!(shown[0].as_str().unwrap().contains("<script>"), "{shown}");
    album.keep(browser, "recall");
    browser.follow(".hits a[href*='#message-']");
}

/// Unpinning asks first, holds, and can be taken back.
async fn unpin(browser: &mut Chromium, proxy: &Proxy, id: &str) {
    browser.open(&format!("{}/epitome/conversations/{id}", proxy.base_url()));
    let pins = format!("/epitome/v1/conversations/{id}/pins");
    let before = get(proxy, &pins).await["pins"].as_array().unwrap().len();
    browser.tab_to(".pins li summary");
    let text =
        browser.ask("document.activeElement.closest('li').querySelector('blockquote').textContent");
    browser.press("Enter");
    assert_eq!(get(proxy, &pins).await["pins"][0]["state"], "in_force");
    browser.follow(".pins details[open] button");
    let told = get(proxy, &pins).await;
    let dropped = told["pins"]
        .as_array()
        .unwrap()
        .iter()
        .find(|pin| pin["state"] == "dropped");
    assert_eq!(dropped.unwrap()["text"], text);
    browser.follow(".pins .dropped button");
    let told = get(proxy, &pins).await;
    assert_eq!(told["pins"].as_array().unwrap().len(), before);
    assert!(!told.to_string().contains("dropped"), "{told}");
}

/// Undo asks first; then the earlier compaction is in force again, and nothing is lost.
async fn undo(browser: &mut Chromium, proxy: &Proxy, id: &str) {
    let path = format!("/epitome/v1/conversations/{id}");
    let before = get(proxy, &path).await;
    let newest = before["in_force"].clone();
    assert!(newest.is_string(), "{before}");
    browser.open(&format!("{}/epitome/conversations/{id}", proxy.base_url()));
    browser.tab_to("#undo summary");
    browser.press("Enter");
    assert_eq!(get(proxy, &path).await["in_force"], newest);
    browser.follow("#undo button");
    assert_eq!(
        browser.ask("location.pathname"),
        json!(format!("/epitome/conversations/{id}"))
    );
    let after = get(proxy, &path).await;
    assert_ne!(after["in_force"], newest);
    let rows = after["compactions_made"].as_array().unwrap();
    let undone = rows.iter().find(|row| row["id"] == newest).unwrap();
    assert_eq!(undone["state"], "undone");
    let shown = browser.ask("[...document.querySelectorAll('tbody tr td:nth-child(3)')].map((cell) => cell.textContent).includes('undone')");
    assert_eq!(shown, json!(true));
    assert_eq!(
        after["messages"].as_array().unwrap().len(),
        before["messages"].as_array().unwrap().len()
    );
}

/// Every value with its origin, and the switch between watching and acting.
async fn settings(browser: &mut Chromium, proxy: &Proxy, album: &Album) {
    browser.follow("header nav a[href='/epitome/settings']");
    inspect(browser);
    let told = get(proxy, "/epitome/v1/settings").await;
    let rows = browser.ask("[...document.querySelectorAll('.values tbody tr')].map((row) => [...row.cells].map((cell) => cell.textContent))");
    for (row, setting) in rows
        .as_array()
        .unwrap()
        .iter()
        .zip(told["settings"].as_array().unwrap())
    {
        assert_eq!(
            *row,
            json!([setting["path"], setting["value"], setting["origin"]])
        );
    }
    assert_eq!(told["settings"][2]["value"], "\"<script>\"");
    let models = told["models"].as_array().unwrap();
    let model = models.iter().find(|model| model["model"] == MODEL).unwrap();
    let shown =
        browser.ask("document.querySelector('section[aria-labelledby=models] tbody').innerText");
    let shown = shown.as_str().unwrap().to_owned();
    assert!(
        shown.contains(MODEL) && shown.contains(model["why"].as_str().unwrap()),
        "{shown}"
    );
    assert_eq!(told["observe"], false);
    album.keep(browser, "settings");
    browser.follow(".switch button");
    assert_eq!(get(proxy, "/epitome/v1/settings").await["observe"], true);
    assert!(browser.text("#mode").contains("only watched"));
    let messages = session();
    let turns = turns(&messages);
    let half = turns[turns.len() / 2];
    let asked = request(Wire::OpenaiChat, MODEL, messages[..half].to_vec());
    let received = proxy.post(Wire::OpenaiChat, &asked).await;
    assert_ne!(action(&received).0, "compacted", "{received:?}");
    browser.follow(".switch button");
    assert_eq!(get(proxy, "/epitome/v1/settings").await["observe"], false);
    let received = proxy.post(Wire::OpenaiChat, &asked).await;
    assert_eq!(action(&received).0, "compacted", "{received:?}");
}

/// Pages of other origins, in the browser that is logged in, and a name that leads here.
async fn strangers(browser: &mut Chromium, proxy: &Proxy, id: &str) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            read_request(&mut stream);
            let body = "<title>other</title><iframe name=\"hole\"></iframe>";
            let head = "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nconnection: close";
            write!(
                stream,
                "{head}\r\ncontent-length: {}\r\n\r\n{body}",
                body.len()
            )
            .ok();
        }
    });
    let path = format!("/epitome/v1/conversations/{id}");
    let before = get(proxy, &path).await["in_force"].clone();
    browser.open(&format!("http://page.example:{port}/"));
    let base = proxy.base_url();
    for (name, options) in [
        ("v1/overview", "{credentials: 'include'}"),
        ("v1/overview", "{credentials: 'include', mode: 'no-cors'}"),
        ("", "{credentials: 'include'}"),
    ] {
        let read = browser.ask(&format!(
            "fetch('{base}/epitome/{name}', {options}).then((answer) => answer.text(), () => '')"
        ));
        assert_eq!(read, json!(""), "{name} {options}");
    }
    browser.ask(&format!(
        "new Promise((done) => {{ const form = document.createElement('form'); form.method = 'post'; form.target = 'hole'; \
         form.action = '{base}/epitome/conversations/{id}/undo'; document.body.append(form); \
         frames[0].frameElement.onload = () => done(true); form.submit(); }})"
    ));
    assert_eq!(get(proxy, &path).await["in_force"], before);
    let inside = browser.ask(
        "(() => { try { return frames[0].document.body.innerText; } catch (error) { return ''; } })()",
    );
    assert_eq!(inside, json!(""));
    browser.open(&format!(
        "http://rebound.example:{}/epitome/",
        proxy.address.port()
    ));
    let shown = browser.ask("document.body.innerText");
    assert!(shown.as_str().unwrap().contains("foreign_host"), "{shown}");
}
