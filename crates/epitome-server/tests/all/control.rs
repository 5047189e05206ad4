//! The control API and the dashboard, from outside.

use epitome_testkit::client::Received;
use epitome_testkit::{ModelConfig, ScriptedModel, Wire};
use http::Method;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::support::{
    Folder, Proxy, action, assistant, conversation, history, pair, request, user,
};

/// Everything that tells something about conversations.
const CLOSED: &[(&str, &str)] = &[
    ("GET", "/epitome/"),
    ("GET", "/epitome/conversations"),
    ("GET", "/epitome/conversations/x"),
    ("GET", "/epitome/conversations/x/messages/1"),
    ("POST", "/epitome/conversations/x/undo"),
    ("POST", "/epitome/conversations/x/pins/drop"),
    ("POST", "/epitome/conversations/x/pins/restore"),
    ("POST", "/epitome/observe"),
    ("GET", "/epitome/compactions/x"),
    ("GET", "/epitome/recall?q=x"),
    ("GET", "/epitome/settings"),
    ("GET", "/epitome/openapi.json"),
    ("GET", "/epitome/v1/overview"),
    ("GET", "/epitome/v1/events"),
    ("GET", "/epitome/v1/tenants"),
    ("POST", "/epitome/tenant"),
    ("GET", "/epitome/v1/conversations"),
    ("GET", "/epitome/v1/conversations/x"),
    ("GET", "/epitome/v1/conversations/x/compactions"),
    ("GET", "/epitome/v1/conversations/x/recall?q=x"),
    ("POST", "/epitome/v1/conversations/x/undo"),
    ("GET", "/epitome/v1/conversations/x/messages/1"),
    ("GET", "/epitome/v1/conversations/x/pins"),
    ("POST", "/epitome/v1/conversations/x/pins/drop"),
    ("POST", "/epitome/v1/conversations/x/pins/restore"),
    ("GET", "/epitome/v1/settings"),
    ("POST", "/epitome/v1/observe"),
    ("GET", "/epitome/v1/compactions/x"),
    ("GET", "/epitome/v1/recall?q=x"),
    ("GET", "/epitome/v1/models"),
];

const HOSTILE: &str =
    "<script>alert('x')</script> & <img src=x onerror=alert(1)> \u{1b}]0;title\u{7}";

fn method(name: &str) -> Method {
    name.parse().unwrap()
}

async fn ask(proxy: &Proxy, name: &str, path: &str) -> Received {
    let bearer = format!("Bearer {}", proxy.token);
    let headers = [("authorization", bearer.as_str())];
    proxy.send(&method(name), path, &headers, "").await
}

async fn get(proxy: &Proxy, path: &str) -> Value {
    let received = ask(proxy, "GET", path).await;
    assert_eq!(received.status, 200, "{path}: {received:?}");
    received.json()
}

async fn page(proxy: &Proxy, path: &str) -> String {
    let received = ask(proxy, "GET", path).await;
    assert_eq!(received.status, 200, "{path}: {received:?}");
    assert!(received.header("content-type").starts_with("text/html"));
    assert!(
        received
            .header("content-security-policy")
            .contains("default-src 'none'")
    );
    String::from_utf8(received.body.to_vec()).unwrap()
}

/// A proxy whose one conversation was shortened; its id, and the messages as the client has them.
async fn shortened(folder: &Folder) -> (ScriptedModel, Proxy, String, Vec<Value>) {
    let (model, proxy) = pair(ModelConfig::default(), |config| {
        config.window_tokens = Some(4_000);
        config.store = folder.location();
    })
    .await;
    let mut messages = vec![user(format!(
        "Never touch prod.env, whatever happens. {HOSTILE}"
    ))];
    messages.push(assistant("Understood. The tide gauge is at harbor seven."));
    messages.extend(history(7, 20, 220));
    let received = proxy
        .post(
            Wire::OpenaiChat,
            &request(Wire::OpenaiChat, "gpt-x", messages.clone()),
        )
        .await;
    assert_eq!(action(&received).0, "compacted", "{received:?}");
    let id = conversation(&received);
    // What was written trails.
    for _ in 0..6_000 {
        let found = ask(&proxy, "GET", &format!("/epitome/v1/conversations/{id}")).await;
        if found.status == 200 {
            let found = found.json();
            let is_whole = found["messages"].as_array().unwrap().len() == messages.len();
            if is_whole && found["in_force"].is_string() {
                return (model, proxy, id, messages);
            }
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    panic!("the conversation was not written");
}

#[tokio::test]
async fn nothing_is_told_without_the_token() {
    let (_model, proxy) = pair(ModelConfig::default(), |_| {}).await;
    let wrong = "0".repeat(proxy.token.len());
    for (name, path) in CLOSED {
        for given in ["", &wrong, &proxy.token[1..], "Bearer"] {
            let bearer = format!("Bearer {given}");
            let headers = [("authorization", bearer.as_str())];
            let received = proxy.send(&method(name), path, &headers, "").await;
            assert_eq!(received.status, 401, "{name} {path}: {received:?}");
        }
        // News do not end by themselves: see `news_are_told_as_they_come`.
        if !path.ends_with("/events") {
            let received = ask(&proxy, name, path).await;
            assert_ne!(received.status, 401, "{name} {path}");
        }
    }
    for open in [
        "/healthz",
        "/readyz",
        "/metrics",
        "/epitome/assets/style.css",
    ] {
        let received = proxy.send(&Method::GET, open, &[], "").await;
        assert_eq!(received.status, 200, "{open}");
    }
}

#[tokio::test]
async fn the_link_logs_in_and_the_cookie_stays_here() {
    let (_model, proxy) = pair(ModelConfig::default(), |_| {}).await;
    let login = |token: &str| format!("/epitome/login?token={token}");
    let refused = proxy.send(&Method::GET, &login("none"), &[], "").await;
    assert_eq!(refused.status, 401);
    assert_eq!(refused.header("set-cookie"), "");
    let received = proxy
        .send(&Method::GET, &login(&proxy.token), &[], "")
        .await;
    assert_eq!(received.status, 303);
    assert_eq!(received.header("location"), "/epitome/");
    // What was asked for is opened afterwards, if it is a page of ours.
    for (next, opened) in [
        ("/epitome/settings", "/epitome/settings"),
        ("//evil.example/epitome/", "/epitome/"),
        ("https%3A%2F%2Fevil.example", "/epitome/"),
        ("/epitome/v1/overview", "/epitome/"),
    ] {
        let link = format!("{}&next={next}", login(&proxy.token));
        let received = proxy.send(&Method::GET, &link, &[], "").await;
        assert_eq!(received.header("location"), opened, "{next}");
    }
    let asked = proxy
        .send(&Method::GET, "/epitome/recall?q=%3Cb%3E", &[], "")
        .await;
    let form = String::from_utf8(asked.body.to_vec()).unwrap();
    assert!(
        form.contains("value=\"&#x2f;epitome&#x2f;recall?q=%3Cb%3E\""),
        "{form}"
    );
    let given = format!("token={}&next=/epitome/recall", proxy.token);
    let form = [("content-type", "application/x-www-form-urlencoded")];
    let posted = proxy
        .send(&Method::POST, "/epitome/login", &form, given)
        .await;
    assert_eq!(posted.header("location"), "/epitome/recall");
    let cookie = received.header("set-cookie");
    for part in ["HttpOnly", "SameSite=Strict", "Path=/epitome"] {
        assert!(cookie.contains(part), "{cookie}");
    }
    let cookie = cookie.split(';').next().unwrap();
    let seen = proxy
        .send(&Method::GET, "/epitome/", &[("cookie", cookie)], "")
        .await;
    assert_eq!(seen.status, 200);
    // Pages of other origins are refused even with it.
    let headers = [("cookie", cookie), ("origin", "https://evil.example")];
    let foreign = proxy
        .send(
            &Method::POST,
            "/epitome/v1/conversations/x/undo",
            &headers,
            "",
        )
        .await;
    assert_eq!(foreign.status, 403);
}

#[tokio::test]
async fn every_page_shows_what_the_api_says_and_nothing_as_html() {
    let folder = Folder::new();
    let (_model, proxy, id, messages) = shortened(&folder).await;

    let overview = get(&proxy, "/epitome/v1/overview").await;
    assert_eq!(overview["health"]["acted_on"], 1, "{overview}");
    let saved = overview["tokens_saved"].as_u64().unwrap();
    assert!(saved > 0, "{overview}");
    let shown = page(&proxy, "/epitome/").await;
    assert!(
        shown.contains(&format!("id=\"tokens_saved\">{}", grouped(saved))),
        "{shown}"
    );

    let listed = get(&proxy, "/epitome/v1/conversations").await;
    let row = &listed["conversations"][0];
    assert_eq!(row["session"], id);
    let title = row["label"].as_str().unwrap();
    assert!(title.starts_with("Never touch prod.env"), "{title}");

    let one = get(&proxy, &format!("/epitome/v1/conversations/{id}")).await;
    let told = one["messages"].as_array().unwrap();
    assert_eq!(told.len(), messages.len());
    let made = &one["compactions_made"][0];
    for (place, message) in told.iter().enumerate() {
        let place = place as u64 + 1;
        let is_covered = (made["first_entry"].as_u64().unwrap()
            ..=made["last_entry"].as_u64().unwrap())
            .contains(&place);
        let state = if is_covered { "covered" } else { "in_view" };
        assert_eq!(message["state"], state, "{place}: {message}");
    }
    let compaction = made["id"].as_str().unwrap();
    let whole = get(&proxy, &format!("/epitome/v1/compactions/{compaction}")).await;
    assert_eq!(whole["summary"], made["summary"]);
    assert!(whole["record"].is_object(), "{whole}");
    let of = get(
        &proxy,
        &format!("/epitome/v1/conversations/{id}/compactions"),
    )
    .await;
    assert_eq!(of["compactions"][0]["id"], compaction);

    for query in [
        format!("/epitome/v1/conversations/{id}/recall?q=tide+gauge"),
        "/epitome/v1/recall?q=tide%20gauge&k=3".to_owned(),
    ] {
        let found = get(&proxy, &query).await;
        assert_eq!(found["hits"][0]["position"], 2, "{found}");
    }
    assert_eq!(ask(&proxy, "GET", "/epitome/v1/recall").await.status, 400);
    let found = get(&proxy, "/epitome/v1/conversations?q=prod.env").await;
    assert_eq!(found["conversations"][0]["session"], id);

    for path in [
        "/epitome/".to_owned(),
        "/epitome/conversations".to_owned(),
        "/epitome/conversations?q=%3Cscript%3E".to_owned(),
        format!("/epitome/conversations/{id}"),
        format!("/epitome/compactions/{compaction}"),
        "/epitome/recall?q=alert".to_owned(),
        "/epitome/settings".to_owned(),
    ] {
        let shown = page(&proxy, &path).await;
        assert!(!shown.contains("<script>"), "{path}: {shown}");
        assert!(!shown.contains("<img"), "{path}");
        assert!(shown.contains("<main id=\"main\">"), "{path}");
    }
    let shown = page(&proxy, &format!("/epitome/conversations/{id}")).await;
    assert!(shown.contains("&lt;script&gt;"), "{shown}");
    for missing in ["/epitome/conversations/none", "/epitome/compactions/none"] {
        assert_eq!(ask(&proxy, "GET", missing).await.status, 404, "{missing}");
    }
}

#[tokio::test]
async fn a_compaction_is_taken_back_and_the_next_request_knows() {
    let folder = Folder::new();
    let (model, proxy, id, messages) = shortened(&folder).await;
    let undo = format!("/epitome/v1/conversations/{id}/undo");
    let undone = ask(&proxy, "POST", &undo).await;
    assert_eq!(undone.status, 200, "{undone:?}");
    let undone = undone.json()["undone"].as_str().unwrap().to_owned();
    let again = ask(&proxy, "POST", &undo).await;
    assert_eq!(again.status, 409, "{again:?}");
    let one = get(&proxy, &format!("/epitome/v1/conversations/{id}")).await;
    assert_eq!(one["in_force"], Value::Null, "{one}");
    assert_eq!(one["compactions_made"][0]["state"], "undone");
    assert_eq!(one["compactions_made"][0]["id"], undone);
    let again = request(Wire::OpenaiChat, "gpt-x", messages);
    let received = proxy.post(Wire::OpenaiChat, &again).await;
    assert_eq!(received.status, 200);
    // It still does not fit: another one is made, and the one that was taken back stays so.
    assert_eq!(action(&received).0, "compacted");
    assert_eq!(model.requests().len(), 2);
    let whole = get(&proxy, &format!("/epitome/v1/compactions/{undone}")).await;
    assert_eq!(whole["state"], "undone");
    let nothing = ask(&proxy, "POST", "/epitome/v1/conversations/none/undo").await;
    assert_eq!(nothing.status, 404);
}

#[tokio::test]
async fn the_library_answers_over_http_without_a_token_and_stores_nothing() {
    let folder = Folder::new();
    let (_model, proxy) = pair(ModelConfig::default(), |config| {
        config.store = folder.location();
    })
    .await;
    let post = async |body: Value| {
        proxy
            .send(
                &Method::POST,
                "/epitome/v1/compact",
                &[("content-type", "application/json")],
                body.to_string(),
            )
            .await
    };
    let mut messages = vec![user("Keep every figure in metres. Never use feet.")];
    messages.extend(history(3, 20, 200));
    for conversation in [
        json!(messages),
        request(Wire::OpenaiChat, "m", messages.clone()),
    ] {
        let received = post(json!({"conversation": conversation, "budget": 2_000})).await;
        assert_eq!(received.status, 200, "{received:?}");
        let object = received.json();
        assert_eq!(object["compacted"], true, "{object}");
        assert_eq!(object["format"], "openai-chat");
        assert!(object["tokens_after"].as_u64().unwrap() <= 2_000);
        let after = object["messages"].as_array().unwrap().len();
        assert_eq!(object["messages_after"], after);
        assert!(object["messages"].to_string().contains("Never use feet."));
        let summary = object["summary"].as_str().unwrap();
        assert!(!summary.is_empty());
    }
    let fits = post(json!({"conversation": [user("hello")], "auto": true})).await;
    assert_eq!(fits.json()["compacted"], false, "{fits:?}");
    for (wrong, says) in [
        (json!({"conversation": 7}), ""),
        (json!({"budget": 5}), "conversation"),
        (json!({"conversation": [], "bugdet": 5}), "bugdet"),
        (
            json!({"conversation": [user("x")], "preset": "none"}),
            "none",
        ),
        (
            json!({"conversation": [user("x")], "format": "none"}),
            "openai-chat",
        ),
        (
            json!({"conversation": [user("x")], "count": "none"}),
            "o200k",
        ),
    ] {
        let received = post(wrong.clone()).await;
        assert_eq!(received.status, 400, "{wrong}: {received:?}");
        let message = received.json()["error"]["message"].to_string();
        assert!(message.contains(says), "{wrong}: {message}");
    }
    let listed = get(&proxy, "/epitome/v1/conversations").await;
    assert_eq!(listed["conversations"], json!([]));
}

#[tokio::test]
async fn the_description_names_every_path_of_the_api() {
    let (_model, proxy) = pair(ModelConfig::default(), |_| {}).await;
    let description = get(&proxy, "/epitome/openapi.json").await;
    let described: Vec<&str> = description["paths"]
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    let ours = CLOSED.iter().map(|(_, path)| *path);
    let ours = ours.filter(|path| path.starts_with("/epitome/v1/"));
    let spelled = |path: &str| {
        let path = path.split('?').next().unwrap();
        path.replace("/x", "/{id}").replace("/1", "/{position}")
    };
    for path in ours.map(spelled).chain(["/epitome/v1/compact".to_owned()]) {
        assert!(described.contains(&path.as_str()), "{path}: {described:?}");
    }
    for path in &described {
        // What is described is there: a path that nobody serves says where the dashboard is.
        let steers = ["/undo", "/compact", "/drop", "/restore", "/observe"];
        let name = match steers.iter().any(|end| path.ends_with(end)) {
            true => "POST",
            false => "GET",
        };
        let path = path.replace("{id}", "x").replace("{position}", "1");
        if path.ends_with("/events") {
            continue;
        }
        let received = ask(&proxy, name, &path).await;
        let text = String::from_utf8_lossy(&received.body).into_owned();
        assert!(!text.contains("the dashboard under"), "{path}: {text}");
        assert_ne!(received.status, 405, "{path}");
    }
}

fn grouped(number: u64) -> String {
    epitome::reference::vibe::grouped(number)
}

#[tokio::test]
async fn news_are_told_as_they_come_and_end_with_the_server() {
    let (_model, proxy) = pair(ModelConfig::default(), |_| {}).await;
    let mut stream = TcpStream::connect(proxy.address).await.unwrap();
    let request = format!(
        "GET /epitome/v1/events HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {}\r\n\r\n",
        proxy.token
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut told = String::new();
    while !told.contains("\"requests\":0") {
        told += &read_some(&mut stream).await;
    }
    assert!(told.contains("text/event-stream"), "{told}");
    let hello = request_of("hello");
    proxy.post(Wire::OpenaiChat, &hello).await;
    while !told.contains("\"requests\":1") {
        told += &read_some(&mut stream).await;
    }
    proxy.stop().await;
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).await.unwrap();
}

fn request_of(text: &str) -> Value {
    request(Wire::OpenaiChat, "m", [user(text)])
}

async fn read_some(stream: &mut TcpStream) -> String {
    let mut piece = vec![0; 4_096];
    let count = stream.read(&mut piece).await.unwrap();
    assert!(count > 0, "it ended");
    String::from_utf8_lossy(&piece[..count]).into_owned()
}
