//! A headless browser that a test drives: over a pipe, without a port that anybody else could reach.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

/// A browser without a screen that asks nobody for anything and knows no address but this machine's, by three names.
pub(crate) const ALONE: [&str; 11] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--disable-breakpad",
    "--host-resolver-rules=EXCLUDE 127.0.0.1,MAP page.example 127.0.0.1,\
     MAP rebound.example 127.0.0.1,MAP * ~NOTFOUND",
];

/// The browser is given this long for each answer; machines are busy.
const PATIENCE: Duration = Duration::from_secs(120);

/// One page in a browser. It ends with the test.
pub(crate) struct Chromium {
    child: Child,
    to: ChildStdin,
    from: Receiver<Value>,
    next: u64,
    session: String,
    /// Addresses that the page asked for.
    pub(crate) asked: Vec<String>,
    /// What the console said that is wrong.
    pub(crate) complaints: Vec<String>,
    _folder: TempDir,
}

impl Chromium {
    /// Whether there is one.
    pub(crate) fn is_there() -> Result<(), String> {
        let started = Command::new("chromium").arg("--version").output();
        started.map(drop).map_err(|error| error.to_string())
    }

    pub(crate) fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new("sh");
        // The browser speaks on the descriptors 3 and 4; a shell puts our pipes there.
        command.args([
            "-c",
            "exec chromium \"$@\" 3<&0 4>&1 0</dev/null 1>/dev/null",
            "chromium",
            "--remote-debugging-pipe",
            "--hide-scrollbars",
            "--force-color-profile=srgb",
        ]);
        command.args(ALONE);
        command.arg(format!("--user-data-dir={}", folder.path().display()));
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::null()).spawn().unwrap();
        let (to, out) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let (told, from) = channel();
        std::thread::spawn(move || {
            let mut out = BufReader::new(out);
            let mut message = Vec::new();
            while let Ok(1..) = out.read_until(0, &mut message) {
                let text = message.strip_suffix(&[0]).unwrap_or(&message);
                if told.send(serde_json::from_slice(text).unwrap()).is_err() {
                    return;
                }
                message.clear();
            }
        });
        let mut browser = Self {
            child,
            to,
            from,
            next: 0,
            session: String::new(),
            asked: Vec::new(),
            complaints: Vec::new(),
            _folder: folder,
        };
        let target = browser.call("Target.createTarget", json!({"url": "about:blank"}));
        let target = &target["targetId"];
        let attached = browser.call(
            "Target.attachToTarget",
            json!({"targetId": target, "flatten": true}),
        );
        browser.session = attached["sessionId"].as_str().unwrap().to_owned();
        for domain in ["Page", "Runtime", "Network", "Log"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        browser
    }

    /// Asks the browser for something and waits for the answer.
    pub(crate) fn call(&mut self, method: &str, parameters: Value) -> Value {
        let asked = parameters.to_string();
        let answer = self.try_call(method, parameters);
        answer.unwrap_or_else(|error| panic!("{method} {asked}: {error}"))
    }

    fn try_call(&mut self, method: &str, parameters: Value) -> Result<Value, String> {
        self.next += 1;
        let id = self.next;
        let mut message = json!({"id": id, "method": method});
        message["params"] = parameters;
        if !self.session.is_empty() {
            message["sessionId"] = json!(self.session);
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        self.to.write_all(&bytes).unwrap();
        loop {
            let told = self.from.recv_timeout(PATIENCE);
            let told = told.unwrap_or_else(|_| panic!("the browser does not answer {method}"));
            if told["id"] == id {
                return match told.get("error") {
                    Some(error) => Err(error.to_string()),
                    None => Ok(told["result"].clone()),
                };
            }
            self.note(&told);
        }
    }

    fn note(&mut self, told: &Value) {
        let parameters = &told["params"];
        match told["method"].as_str().unwrap_or_default() {
            "Network.requestWillBeSent" => {
                let url = parameters["request"]["url"].as_str().unwrap();
                self.asked.push(url.to_owned());
            }
            "Runtime.exceptionThrown" => self.complaints.push(parameters.to_string()),
            "Runtime.consoleAPICalled" if parameters["type"] == "error" => {
                self.complaints.push(parameters.to_string());
            }
            "Log.entryAdded" if parameters["entry"]["level"] == "error" => {
                self.complaints.push(parameters["entry"].to_string());
            }
            _ => {}
        }
    }

    /// What an expression is in the page; `None` while one page gives way to the next.
    fn look(&mut self, expression: &str) -> Option<Value> {
        let asked = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let found = self.try_call("Runtime.evaluate", asked).ok()?;
        match found.get("exceptionDetails") {
            Some(details) => panic!("{expression}: {details}"),
            None => Some(found["result"]["value"].clone()),
        }
    }

    /// What an expression is in the page.
    pub(crate) fn ask(&mut self, expression: &str) -> Value {
        self.wait_for("the page answers", |browser| browser.look(expression))
    }

    /// What a place on the page says.
    pub(crate) fn text(&mut self, selector: &str) -> String {
        let expression = format!("document.querySelector({})?.textContent", json!(selector));
        self.ask(&expression)
            .as_str()
            .unwrap_or_default()
            .to_owned()
    }

    fn wait_for<T>(&mut self, what: &str, mut found: impl FnMut(&mut Self) -> Option<T>) -> T {
        for _ in 0..1_200 {
            if let Some(found) = found(self) {
                return found;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        let at = self.look("location.href + ' ' + document.body.innerText.slice(0, 2000)");
        panic!("never happened: {what}; {at:?}");
    }

    /// Waits until an expression is true.
    pub(crate) fn until(&mut self, expression: &str) {
        self.wait_for(expression, |browser| {
            let found = browser.look(expression)?;
            (found == json!(true)).then_some(())
        });
    }

    /// Opens a page as if its address was typed, and waits until it is there.
    pub(crate) fn open(&mut self, address: &str) {
        self.ask("window.isOld = true");
        self.call("Page.navigate", json!({"url": address}));
        self.arrived();
    }

    /// Waits until the next page is there.
    pub(crate) fn arrived(&mut self) {
        self.until("window.isOld !== true && document.readyState === 'complete'");
    }

    /// Presses and releases a key.
    pub(crate) fn press(&mut self, key: &str) {
        let (code, text) = match key {
            "Tab" => (9, None),
            "Enter" => (13, Some("\r")),
            " " => (32, Some(" ")),
            other => panic!("which code has {other}?"),
        };
        let mut event =
            json!({"type": "keyDown", "key": key, "code": key, "windowsVirtualKeyCode": code});
        if let Some(text) = text {
            event["text"] = json!(text);
        }
        self.call("Input.dispatchKeyEvent", event.clone());
        event["type"] = json!("keyUp");
        self.call("Input.dispatchKeyEvent", event);
    }

    pub(crate) fn type_text(&mut self, text: &str) {
        self.call("Input.insertText", json!({"text": text}));
    }

    /// Goes on with the Tab key until the focus is on what the selector names.
    pub(crate) fn tab_to(&mut self, selector: &str) {
        let is_there = format!("document.activeElement.matches({})", json!(selector));
        for _ in 0..2_000 {
            self.press("Tab");
            if self.ask(&is_there) == json!(true) {
                return;
            }
        }
        panic!("the Tab key never reaches {selector}");
    }

    /// Goes to a link or button with the keyboard alone, uses it, and waits for the page that it leads to.
    pub(crate) fn follow(&mut self, selector: &str) {
        self.tab_to(selector);
        self.ask("window.isOld = true");
        self.press("Enter");
        self.arrived();
    }

    /// Shows the page on a screen of another size, or as at the start.
    pub(crate) fn resize(&mut self, size: Option<(u32, u32)>) {
        let Some((width, height)) = size else {
            self.call("Emulation.clearDeviceMetricsOverride", json!({}));
            return;
        };
        let is_phone = width < 700;
        let size =
            json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": is_phone});
        self.call("Emulation.setDeviceMetricsOverride", size);
    }

    /// A picture of what is seen of the page on a screen of this size.
    pub(crate) fn picture(&mut self, to: &Path, size: (u32, u32), scheme: &str) {
        self.resize(Some(size));
        let scheme = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
        self.call("Emulation.setEmulatedMedia", scheme);
        let taken = self.call("Page.captureScreenshot", json!({"format": "png"}));
        let picture = base64(taken["data"].as_str().unwrap());
        std::fs::write(to, picture).unwrap();
        self.resize(None);
        self.call("Emulation.setEmulatedMedia", json!({"features": []}));
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// Bytes as browsers spell them.
fn base64(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut count) = (0_u32, 0);
    for letter in text.bytes() {
        let value = match letter {
            b'A'..=b'Z' => letter - b'A',
            b'a'..=b'z' => letter - b'a' + 26,
            b'0'..=b'9' => letter - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => continue,
        };
        bits = bits << 6 | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count & 0xff) as u8);
        }
    }
    bytes
}
