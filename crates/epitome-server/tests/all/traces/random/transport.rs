//! Plays a case against running proxies and a scripted server.

use std::sync::{Arc, Mutex, PoisonError};

use epitome_server::Config;
use epitome_testkit::strange::torn;
use epitome_testkit::{
    Answer as Message, Asked, Counts, ModelConfig, Recorded, Refuses, Reply, Rule, Script,
    ScriptedModel, Wire, client,
};
use serde_json::{Value, json};

use super::generator::{Adds, Answer, Ask, Case, Event};
use super::oracle::{Oracle, Seen, Sent, Tally};
use crate::support::{Folder, Proxy, action, assistant, config, user};
use crate::traces::rig::{Talk, server};

/// What the server says next, whatever it is asked.
type Next = Arc<Mutex<Answer>>;

/// Plays a case; the error is the law that was broken.
pub(crate) async fn run(case: &Case) -> Result<Tally, String> {
    let next: Next = Arc::new(Mutex::new(Answer::Usual));
    let model = ScriptedModel::start(scripted(case, &next)).await;
    let folder = Folder::new();
    let mut settings = config(model.address());
    settings.window_tokens = case.configured_tokens;
    if case.has_store {
        settings.store = folder.location();
    }
    let mut stage = Stage {
        model,
        proxies: Vec::new(),
        settings,
        next,
        talks: talks(case),
        windows: case
            .models
            .iter()
            .map(|model| model.window_tokens)
            .collect(),
    };
    for _ in 0..case.proxies {
        let proxy = Proxy::start(stage.settings.clone()).await;
        stage.proxies.push(proxy);
    }
    let mut oracle = Oracle::new(case);
    for (at, event) in case.events.iter().enumerate() {
        match event {
            Event::Restart(proxy) => {
                stage.restart(*proxy).await;
                oracle.restarted(*proxy);
            }
            Event::Grow {
                model,
                window_tokens,
            } => {
                stage.windows[*model] = *window_tokens;
                let name = case.models[*model].name;
                stage.model.set_window_of(name, *window_tokens);
            }
            Event::Ask(ask) => {
                let seen = stage.ask(case, ask).await;
                oracle
                    .saw(&seen)
                    .map_err(|law| format!("event {at}: {law}"))?;
            }
        }
    }
    for proxy in stage.proxies {
        proxy.stop().await;
    }
    Ok(oracle.tally)
}

struct Stage {
    model: ScriptedModel,
    proxies: Vec<Proxy>,
    settings: Config,
    next: Next,
    talks: Vec<Talk>,
    windows: Vec<u64>,
}

impl Stage {
    async fn restart(&mut self, at: usize) {
        self.proxies.remove(at).stop().await;
        let proxy = Proxy::start(self.settings.clone()).await;
        self.proxies.insert(at, proxy);
    }

    async fn ask(&mut self, case: &Case, ask: &Ask) -> Seen {
        let model = &case.models[ask.model];
        let talk = &mut self.talks[ask.talk];
        for adds in &ask.adds {
            add(talk, *adds);
        }
        talk.model = model.name.to_owned();
        talk.max_tokens = ask.max_tokens;
        let wire = talk.wire;
        let mut request = talk.request();
        if ask.answer == Answer::Searches {
            request["stream"] = json!(true);
        }
        let plain_tokens = epitome_testkit::tokens::count(wire, &request);
        *self.next.lock().unwrap_or_else(PoisonError::into_inner) = ask.answer;
        self.model.clear();
        let body = request.to_string();
        let received = self.proxies[ask.proxy].post(wire, &request).await;
        if let Some(message) = client::assistant_message(wire, &received) {
            talk.messages.push(message);
            talk.messages
                .push(user(format!("Go on, {}.", talk.messages.len())));
        }
        let sent = self.model.requests();
        Seen {
            talk: ask.talk,
            model: ask.model,
            proxy: ask.proxy,
            max_tokens: ask.max_tokens,
            answer: ask.answer,
            plain_tokens,
            newest_tokens: newest_tokens(wire, request.clone()),
            true_tokens: count(&request, plain_tokens, model.counts_percent),
            window_tokens: self.windows[ask.model],
            reason: action(&received).1.to_owned(),
            status: received.status,
            sent: sent
                .iter()
                .map(|sent| Sent {
                    is_clients_own: sent.body == body,
                    documents: documents(&sent.json()),
                    true_tokens: sent.input_tokens.unwrap_or(0),
                    status: sent.status.unwrap_or(0),
                    violations: violations(wire, &request, sent),
                })
                .collect(),
        }
    }
}

/// What is wrong with what was sent, by two judges. That a role is unknown is not our doing.
fn violations(wire: Wire, request: &Value, sent: &Recorded) -> Vec<String> {
    let strict = sent
        .violations
        .iter()
        .filter(|violation| violation.rule != Rule::UnknownRole);
    let strict = strict.map(ToString::to_string);
    strict.chain(torn(wire, request, &sent.json())).collect()
}

/// What the newest message takes with all that is not a message.
fn newest_tokens(wire: Wire, mut request: Value) -> u64 {
    if let Some(messages) = request["messages"].as_array_mut() {
        let newest = messages.len().saturating_sub(1);
        messages.drain(..newest);
    }
    epitome_testkit::tokens::count(wire, &request)
}

fn talks(case: &Case) -> Vec<Talk> {
    let new =
        |(at, wire): (usize, &Wire)| Talk::new(*wire, "", case.seed % 1_000_000 * 10 + at as u64);
    case.talks.iter().enumerate().map(new).collect()
}

fn add(talk: &mut Talk, adds: Adds) {
    // A call follows a question, an answer follows a call's result: the formats allow any of these in a row.
    match adds {
        Adds::Answer(tokens) => talk.answered(tokens),
        Adds::Step(tokens) => talk.stepped(tokens),
        Adds::Question(tokens) => {
            let words = talk.words(tokens);
            talk.messages.push(assistant("Yes?"));
            talk.messages.push(user(words));
        }
        Adds::Document(tokens) => {
            talk.messages.push(assistant("Yes?"));
            talk.messages.push(match talk.wire {
                Wire::Anthropic => json!({"role": "user", "content": [
                    {"type": "document", "title": tokens.to_string(), "source": {
                        "type": "base64", "media_type": "application/pdf",
                        "data": "JVBERi0xLjQKJcfsj6IKNSAwIG9iago8PC9MZW5n".repeat(20),
                    }},
                    {"type": "text", "text": "What does it say?"},
                ]}),
                _ => user("What does it say?"),
            });
        }
        Adds::Stranger(tokens) => {
            let words = talk.words(tokens);
            talk.messages.push(assistant("Look there."));
            talk.messages
                .push(json!({"role": "observation", "content": words}));
            talk.messages.push(user("What did you see?"));
        }
        Adds::TalkOfOverflow => {
            talk.messages.push(assistant("Tell me."));
            talk.messages.push(user(
                "The log says: prompt is too long: 5000 tokens > 4096 maximum. And: This model's maximum context length is 2048 tokens. However, your messages resulted in 3000 tokens.",
            ));
        }
    }
}

/// What the server counts: its percentage, and what documents count beside.
fn count(request: &Value, plain_tokens: u64, percent: u64) -> u64 {
    let documents: u64 = documents(request).iter().sum();
    plain_tokens * percent / 100 + documents
}

/// What the documents of a request count, each.
fn documents(request: &Value) -> Vec<u64> {
    let messages = request["messages"].as_array().into_iter().flatten();
    let blocks = messages
        .filter_map(|message| message["content"].as_array())
        .flatten();
    blocks
        .filter(|block| block["type"] == "document")
        .filter_map(|block| block["title"].as_str()?.parse().ok())
        .collect()
}

fn scripted(case: &Case, next: &Next) -> ModelConfig {
    let percents: Vec<(&str, u64)> = case
        .models
        .iter()
        .map(|model| (model.name, model.counts_percent))
        .collect();
    let (refuses, answers) = (Arc::clone(next), Arc::clone(next));
    ModelConfig {
        windows: case
            .models
            .iter()
            .map(|model| (model.name.to_owned(), model.window_tokens))
            .collect(),
        counts_output: case.counts_output,
        counts: Counts::by(move |asked| {
            let named = percents.iter().find(|(name, _)| *name == asked.model());
            let percent = named.map_or(100, |(_, percent)| *percent);
            count(asked.request, asked.plain_tokens, percent)
        }),
        refuses: Refuses::by(move |asked| {
            let answer = *refuses.lock().unwrap_or_else(PoisonError::into_inner);
            refusal(answer, asked)
        }),
        // An answer is given only to what fits, so it is looked at before.
        script: Script::by(move |_| {
            Reply::answer(message(
                *answers.lock().unwrap_or_else(PoisonError::into_inner),
            ))
        }),
        rejects_violations: false,
        ..server(128_000)
    }
}

fn refusal(answer: Answer, asked: Asked<'_>) -> Option<Reply> {
    let kind = "invalid_request_error";
    match answer {
        Answer::Usual | Answer::Searches | Answer::EndedAtWindow => None,
        Answer::Credit => Some(Reply::error(
            400,
            kind,
            "Your credit balance is too low to access the API. Please go to Plans & Billing.",
        )),
        Answer::Filter => Some(Reply::error(
            400,
            kind,
            "Output blocked by content filtering policy",
        )),
        Answer::RateLimit => Some(Reply::error(
            429,
            "rate_limit_error",
            "Request too large: limit 30000 tokens per minute, requested 41000. Please reduce the input or output tokens.",
        )),
        Answer::Echo => {
            let body = json!({"detail": [{
                "type": "string_type", "loc": ["body", "messages", 1, "content"],
                "msg": "Input should be a valid string", "input": asked.request["messages"],
            }]});
            Some(Reply::raw(422, "application/json", body.to_string()))
        }
    }
}

/// The answer of a request that fits.
fn message(answer: Answer) -> Message {
    Message {
        text: Some("Here is what I found.".into()),
        searches: if answer == Answer::Searches { 2 } else { 0 },
        stop_reason: (answer == Answer::EndedAtWindow)
            .then(|| String::from("model_context_window_exceeded")),
        ..Message::default()
    }
}
