//! Conversations that went through the proxy.

use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use epitome_server::{Config, INSPECTION_LIMIT_BYTES, Mode, Server, StoreLocation};
use epitome_store::{AnyStore, CompactionState, Compactions, ConversationId, Store, TenantId};
use epitome_testkit::{ModelConfig, Received, Reply, Script, ScriptedModel, Wire, client};
use http::Method;
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use super::talk::{Talk, prose};
use super::{Epitome, store, write_manifest};

/// A model that no table knows.
const MODEL: &str = "museum-model";
/// A window that the conversations outgrow by far.
const WINDOW: u64 = 1_200;
/// The window in which one is compacted in time, before it has to be.
const LARGER: u64 = 1_800;

pub(crate) async fn make(folder: &Path, epitome: &Epitome) -> Result<()> {
    let database = folder.join("log.db");
    let house = House {
        database: database.clone(),
    };
    let mut visitors = Vec::new();
    for (wire, name) in [
        (Wire::OpenaiChat, "chat"),
        (Wire::OpenaiResponses, "responses"),
        (Wire::Anthropic, "anthropic"),
    ] {
        let talk = Talk::new(wire, name, 100).grow(4, 225);
        visitors.push(house.compacted(name, talk, WINDOW).await?);
    }
    let talk = Talk::new(Wire::Anthropic, "trimmed", 200)
        .grow(2, 150)
        .with_result(&prose(7, 950));
    let trimmed = house.compacted("trimmed", talk, WINDOW).await?;
    ensure!(
        house.record(&trimmed.session).await?["trims"] != json!([]),
        "nothing was trimmed"
    );
    visitors.push(trimmed);

    visitors.extend(house.forked().await?);

    let talk = Talk::new(Wire::OpenaiResponses, "rounds", 400).grow(4, 225);
    let first = house.compacted("rounds", talk, WINDOW).await?;
    let talk = first.talk.clone().grow(2, 225);
    let second = house.compacted("rounds", talk, WINDOW).await?;
    ensure!(
        first.session == second.session,
        "it is another conversation"
    );
    visitors.push(second);

    visitors.push(house.prepared().await?);

    let talk = Talk::new(Wire::Anthropic, "undone", 600).grow(4, 225);
    let undone = house.compacted("undone", talk, WINDOW).await?;
    let url = store::url(&database);
    let at = ["--store", url.as_str(), "--json"];
    let undo = ["undo", "--session", &undone.session, "--force"];
    epitome.run(&[&undo[..], &at[..]].concat())?;
    visitors.push(undone);
    let chat = visitors.first().context("nobody came")?.session.clone();
    let fork = ["fork", "--session", &chat, "--at", "3"];
    let branch = epitome.run(&[&fork[..], &at[..]].concat())?;

    house.learn().await?;

    store::pack(&database).await?;
    let mut manifest = store::describe(&database).await?;
    let branch = branch.json["session"].as_str().unwrap_or_default();
    store::conversation(&mut manifest, branch)?["name"] = json!("branch");
    let mut requests = Vec::new();
    for visitor in &visitors {
        store::conversation(&mut manifest, &visitor.session)?["name"] = json!(visitor.name);
        requests.push(next(folder, &database, visitor).await?);
    }
    manifest["requests"] = json!(requests);
    write_manifest(&folder.join("manifest.json"), &manifest)
}

/// A conversation of the museum.
struct Visitor {
    name: &'static str,
    session: String,
    talk: Talk,
    /// The window in which its next request does not fit as it is.
    window_tokens: u64,
}

struct House {
    database: std::path::PathBuf,
}

impl House {
    async fn proxy(&self, model: &ScriptedModel, window_tokens: Option<u64>) -> Result<Proxy> {
        Proxy::start(&self.database, model, window_tokens).await
    }

    /// Sends a request that does not fit: it is compacted.
    async fn compacted(&self, name: &'static str, talk: Talk, window: u64) -> Result<Visitor> {
        let model = ScriptedModel::start(model()).await;
        let proxy = self.proxy(&model, Some(window)).await?;
        let received = proxy.post(talk.wire, talk.request(MODEL)).await?;
        proxy.stop().await?;
        expect(&received, "compacted", name)?;
        Ok(Visitor {
            name,
            session: received.header("x-epitome-conversation").to_owned(),
            talk,
            window_tokens: window,
        })
    }

    /// Two that part ways before either is compacted. Only a proxy that has seen the first tells the second from it.
    async fn forked(&self) -> Result<Vec<Visitor>> {
        let model = ScriptedModel::start(model()).await;
        let proxy = self.proxy(&model, Some(WINDOW)).await?;
        let shared = Talk::new(Wire::OpenaiChat, "shared", 300).grow(1, 100);
        let mut visitors = Vec::new();
        for (name, seed) in [("left", 310), ("right", 320)] {
            let mut talk = shared.clone().with_question(name);
            let own = Talk::new(talk.wire, name, seed).grow(4, 225);
            talk.messages.extend(own.messages);
            let received = proxy.post(talk.wire, talk.request(MODEL)).await?;
            expect(&received, "compacted", name)?;
            visitors.push(Visitor {
                name,
                session: received.header("x-epitome-conversation").to_owned(),
                talk,
                window_tokens: WINDOW,
            });
        }
        proxy.stop().await?;
        let sessions: Vec<&str> = visitors.iter().map(|one| one.session.as_str()).collect();
        ensure!(sessions.first() != sessions.last(), "they are one");
        Ok(visitors)
    }

    /// Grows a conversation until a compaction is prepared, and no further.
    async fn prepared(&self) -> Result<Visitor> {
        let model = ScriptedModel::start(model()).await;
        let proxy = self.proxy(&model, Some(LARGER)).await?;
        // Two large results: without them little is left, so that the compaction helps in half the window too.
        let mut talk = Talk::new(Wire::OpenaiChat, "prepared", 500)
            .with_result(&prose(501, 350))
            .with_result(&prose(502, 350));
        loop {
            let received = proxy.post(talk.wire, talk.request(MODEL)).await?;
            expect(&received, "passthrough", "prepared")?;
            // The work is done behind the answer.
            tokio::time::sleep(Duration::from_millis(400)).await;
            let session = received.header("x-epitome-conversation").to_owned();
            let rows = self.compactions(&session).await?;
            if rows
                .iter()
                .any(|row| row.state == CompactionState::Prepared)
            {
                proxy.stop().await?;
                return Ok(Visitor {
                    name: "prepared",
                    session,
                    talk,
                    window_tokens: LARGER / 2,
                });
            }
            talk = talk.with_question(&prose(503, 40));
        }
    }

    /// Endpoints that refuse: one names its window, one talks nonsense.
    async fn learn(&self) -> Result<()> {
        let talk = Talk::new(Wire::Anthropic, "learned", 700).grow(4, 225);
        let strict = ModelConfig {
            window_tokens: WINDOW,
            ..model()
        };
        let model = ScriptedModel::start(strict).await;
        let proxy = self.proxy(&model, None).await?;
        let received = proxy.post(talk.wire, talk.request("learned-model")).await?;
        proxy.stop().await?;
        expect(&received, "compacted", "learned")?;

        let words = "prompt is too long: 9 tokens > 8 maximum";
        let confused = ModelConfig {
            script: Script::by(move |_| Reply::error(400, "invalid_request_error", words)),
            ..self::model()
        };
        let model = ScriptedModel::start(confused).await;
        let proxy = self.proxy(&model, None).await?;
        let talk = Talk::new(Wire::Anthropic, "nonsense", 800).grow(1, 20);
        proxy
            .post(talk.wire, talk.request("nonsense-model"))
            .await?;
        proxy.stop().await
    }

    async fn compactions(&self, session: &str) -> Result<Vec<epitome_store::CompactionRow>> {
        let store = AnyStore::open(&store::url(&self.database)).await?;
        let id = ConversationId::new(session)?;
        let rows = store.compactions_of(&TenantId::local(), &id).await;
        store.close().await;
        Ok(rows?)
    }

    async fn record(&self, session: &str) -> Result<Value> {
        let rows = self.compactions(session).await?;
        let row = rows.last().context("no compaction was stored")?;
        Ok(serde_json::from_str(&row.record)?)
    }
}

/// The client's next request, and what this version makes of it on a copy of the finished database.
async fn next(folder: &Path, database: &Path, visitor: &Visitor) -> Result<Value> {
    let copies = tempfile::tempdir()?;
    let copy = copies.path().join("log.db");
    fs::copy(database, &copy)?;
    let talk = visitor.talk.clone().with_question("What is left to do?");
    let body = talk.request(MODEL);
    let model = ScriptedModel::start(model()).await;
    let proxy = Proxy::start(&copy, &model, Some(visitor.window_tokens)).await?;
    let received = proxy.post(talk.wire, body.clone()).await?;
    proxy.stop().await?;
    expect(&received, "compacted", visitor.name)?;
    let forwarded = model
        .requests()
        .pop()
        .context("nothing was forwarded")?
        .body;
    let (request, sent) = (
        format!("{}.request.json", visitor.name),
        format!("{}.forwarded.json", visitor.name),
    );
    fs::write(folder.join(&request), &body)?;
    fs::write(folder.join(&sent), &forwarded)?;
    Ok(json!({
        "name": visitor.name,
        "session": visitor.session,
        "path": talk.wire.path(),
        "window_tokens": visitor.window_tokens,
        "request": request,
        "forwarded": sent,
        "reason": received.header("x-epitome-reason"),
    }))
}

fn model() -> ModelConfig {
    ModelConfig {
        script: Script::by(|_| Reply::text("Done.")),
        ..ModelConfig::default()
    }
}

fn expect(received: &Received, action: &str, name: &str) -> Result<()> {
    let done = received.header("x-epitome-action");
    let why = received.header("x-epitome-reason");
    if received.status != 200 || done != action {
        bail!("{name}: {} {done} {why}", received.status);
    }
    Ok(())
}

/// A proxy in this process.
struct Proxy {
    address: SocketAddr,
    shutdown: oneshot::Sender<()>,
    task: JoinSet<std::io::Result<()>>,
}

impl Proxy {
    async fn start(
        database: &Path,
        model: &ScriptedModel,
        window_tokens: Option<u64>,
    ) -> Result<Self> {
        let upstream: http::Uri = model.base_url().parse()?;
        let server = Server::bind(Config {
            listen: SocketAddr::from(([127, 0, 0, 1], 0)),
            openai_upstream: Some(upstream.clone()),
            anthropic_upstream: Some(upstream),
            store: StoreLocation::Url(store::url(database)),
            window_tokens,
            windows: epitome_server::ConfiguredWindows::none(),
            mode: Mode::Act,
            settings: epitome::settings::Settings::of(epitome::PresetName::Default),
            summariser: None,
            hooks: epitome_engine::Hooks::default(),
            pruning: epitome_server::Pruning::Off,
            inspection_limit_bytes: INSPECTION_LIMIT_BYTES,
            tenants: epitome_server::TenantSettings::default(),
        })
        .await?;
        let address = server.address();
        let (shutdown, stop) = oneshot::channel();
        let mut task = JoinSet::new();
        task.spawn(server.run(async move {
            stop.await.ok();
        }));
        Ok(Self {
            address,
            shutdown,
            task,
        })
    }

    async fn post(&self, wire: Wire, body: String) -> Result<Received> {
        let sent = client::send(self.address, &Method::POST, wire.path(), &[], body.into());
        Ok(sent.await?)
    }

    /// Ends when everything is written.
    async fn stop(mut self) -> Result<()> {
        drop(self.shutdown);
        while let Some(ended) = self.task.join_next().await {
            ended??;
        }
        Ok(())
    }
}
