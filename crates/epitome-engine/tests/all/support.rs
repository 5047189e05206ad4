//! Conversations, models and writers that several tests share.

use std::sync::Arc;
use std::time::Duration;

use epitome::settings::Settings;
use epitome::{
    Block, Call, Job, Message, Meter, PresetName, Reason, ResultPart, Role, Session, ToolResult,
    Window,
};
use epitome_engine::Clock;
use epitome_engine::model::{CallLimits, Caller, Delivery, Endpoint, SpendLedger, SpendLimits};
use epitome_engine::summarise::{Ladder, ModelWriter, Parts, Style, Templates, Wish};
use epitome_testkit::{ModelConfig, Reply, Script, ScriptedModel};
use epitome_wire::Wire;

/// A number from the environment.
pub(crate) fn number<T: std::str::FromStr>(name: &str) -> Option<T> {
    let value = std::env::var(name).ok()?;
    let parsed = value.parse().ok();
    Some(parsed.unwrap_or_else(|| panic!("{name}={value} is not a number")))
}

pub(crate) const RULE: &str = "Never push to the main branch.";

/// What a good model writes about [`conversation`].
pub(crate) const GOOD: &str = "\
## What the user wants
The parser in src/parser.rs has to read nested lists.

## What was done
src/parser.rs was read and changed several times; the tests ran after each change.

## Where it stands
The change in src/parser.rs goes on.";

/// Work on a file, with a rule of the user at the beginning.
pub(crate) fn conversation(steps: usize) -> Vec<Message> {
    let mut out = vec![
        Message::text(Role::System, "You are a careful programmer."),
        Message::text(
            Role::User,
            format!("Make the parser in src/parser.rs read nested lists. {RULE}"),
        ),
    ];
    for step in 0..steps {
        let id = format!("call_{step}");
        out.push(Message {
            role: Role::Assistant,
            blocks: vec![
                Block::Text(format!(
                    "Step {step}: the tests of src/parser.rs come next."
                )),
                Block::Call(Call::new(
                    id.as_str(),
                    "read_file",
                    format!(r#"{{"path":"src/parser.rs","line":{step}}}"#),
                )),
            ],
        });
        out.push(Message {
            role: Role::Tool,
            blocks: vec![Block::Result(ToolResult {
                call_id: id.into(),
                parts: vec![ResultPart::Text(format!(
                    "line {step} of src/parser.rs\n{}",
                    "fn parse(input: &str) -> Vec<Item> { items(input) }\n".repeat(12)
                ))],
                is_error: false,
            })],
        });
    }
    out
}

/// A session in the way of a preset, with this conversation in it.
pub(crate) fn session(preset: PresetName, window: u64, messages: Vec<Message>) -> Session {
    let settings = Settings::of(preset);
    let mut session =
        Session::from_settings(&settings, Window::configured(window), Meter::Estimate)
            .without_guard();
    for message in messages {
        session.push(message);
    }
    session
}

pub(crate) fn job(preset: PresetName) -> (Session, Job) {
    let mut session = session(preset, 40_000, conversation(60));
    let job = session.begin(Reason::Manual).expect("something to compact");
    (session, job)
}

const LIMITS: CallLimits = CallLimits {
    call: Duration::from_secs(20),
    silence: Duration::from_secs(20),
    operation: Duration::from_secs(60),
    retries: 1,
};

/// A caller for tests in which nobody has to wait.
pub(crate) fn caller(wire: Wire, url: &str, delivery: Delivery) -> Caller {
    caller_with(wire, url, delivery, LIMITS)
}

/// A caller that gives up soon.
pub(crate) fn impatient(wire: Wire, url: &str, delivery: Delivery) -> Caller {
    let limits = CallLimits {
        call: Duration::from_millis(400),
        silence: Duration::from_millis(250),
        ..LIMITS
    };
    caller_with(wire, url, delivery, limits)
}

fn caller_with(wire: Wire, url: &str, delivery: Delivery, limits: CallLimits) -> Caller {
    let endpoint = Endpoint::new(wire, url, "scripted")
        .expect("an address")
        .with_delivery(delivery)
        .with_window(100_000)
        .with_limits(limits);
    let spending = Arc::new(SpendLedger::new(SpendLimits::default()));
    Caller::new(endpoint, spending, Clock::default()).with_first_wait(Duration::from_millis(5))
}

pub(crate) fn ladder(preset: PresetName, caller: Caller) -> Ladder {
    let settings = Settings::of(preset);
    let writer = ModelWriter::new(
        caller,
        Arc::new(Templates::built_in()),
        Style::of(&settings),
        Parts::default(),
    );
    Ladder::new(Some(Arc::new(writer)), settings.common.on_failure)
}

pub(crate) fn wish(caller: &Caller) -> Wish<'static> {
    Wish {
        focus: None,
        request: None,
        asked: caller.begin("test"),
    }
}

/// A model that gives these replies, again and again the last one.
pub(crate) async fn replies(replies: Vec<Reply>) -> ScriptedModel {
    let last = replies.last().cloned().into_iter().cycle().take(40);
    let script = Script::Fixed(replies.into_iter().chain(last).collect());
    ScriptedModel::start(ModelConfig {
        script,
        ..ModelConfig::default()
    })
    .await
}
