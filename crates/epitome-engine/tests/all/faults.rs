//! Whatever goes wrong with a model, a valid and checked compaction comes of it, with the right reason.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use epitome::{PresetName, Reason};
use epitome_engine::model::Delivery;
use epitome_engine::summarise::LadderRung;
use epitome_testkit::{
    Answer, Call, Chunking, Fault, Faults, ModelConfig, Reply, Script, ScriptedModel,
};
use epitome_wire::Wire;
use futures_util::{FutureExt, StreamExt};
use serde_json::json;

use super::support::{GOOD, RULE, caller, impatient, job, ladder, wish};

/// One row of the matrix: what the model does, and what must come of it.
struct Row {
    name: &'static str,
    config: fn(Wire) -> ModelConfig,
    reason: Option<Reason>,
}

fn answering(reply: Reply) -> ModelConfig {
    ModelConfig {
        script: Script::Fixed(vec![reply; 50]),
        ..ModelConfig::default()
    }
}

fn faulty(fault: Fault) -> ModelConfig {
    ModelConfig {
        faults: Faults::none().every(1, fault),
        ..answering(Reply::text(GOOD))
    }
}

const ROWS: &[Row] = &[
    Row {
        name: "a good answer",
        config: |_| answering(Reply::text(GOOD)),
        reason: None,
    },
    Row {
        name: "a good answer byte by byte",
        config: |_| ModelConfig {
            chunking: Chunking::Bytes(7),
            ..answering(Reply::text(GOOD))
        },
        reason: None,
    },
    Row {
        name: "a storm of 429",
        config: |_| {
            faulty(Fault::RateLimited {
                retry_after_seconds: 0,
            })
        },
        reason: Some(Reason::SummaryRateLimited),
    },
    Row {
        name: "429 for longer than there is time",
        config: |_| {
            faulty(Fault::RateLimited {
                retry_after_seconds: 3_000,
            })
        },
        reason: Some(Reason::SummaryRateLimited),
    },
    Row {
        name: "one 429, then an answer",
        config: |_| ModelConfig {
            faults: Faults::none().on(
                0,
                Fault::RateLimited {
                    retry_after_seconds: 0,
                },
            ),
            ..answering(Reply::text(GOOD))
        },
        reason: None,
    },
    Row {
        name: "500",
        config: |_| faulty(Fault::ServerError),
        reason: Some(Reason::SummaryFailed),
    },
    Row {
        name: "529",
        config: |_| faulty(Fault::Overloaded),
        reason: Some(Reason::SummaryFailed),
    },
    Row {
        name: "a hang",
        config: |_| faulty(Fault::Hang),
        reason: Some(Reason::SummaryTimeout),
    },
    Row {
        name: "half an answer, then silence",
        config: |_| faulty(Fault::Stall),
        reason: Some(Reason::SummaryTimeout),
    },
    Row {
        name: "a drip",
        config: |_| ModelConfig {
            faults: Faults::none().every(1, Fault::Drip(Duration::from_millis(60))),
            chunking: Chunking::Bytes(8),
            ..answering(Reply::text(GOOD))
        },
        reason: Some(Reason::SummaryTimeout),
    },
    Row {
        name: "a closed connection",
        config: |_| faulty(Fault::Close),
        reason: Some(Reason::SummaryCutOff),
    },
    Row {
        name: "a cut answer",
        config: |_| faulty(Fault::Cut),
        reason: Some(Reason::SummaryCutOff),
    },
    Row {
        name: "garbage",
        config: |_| faulty(Fault::GarbageBody),
        reason: Some(Reason::SummaryFailed),
    },
    Row {
        name: "an empty answer",
        config: |_| answering(Reply::text(" \n ")),
        reason: Some(Reason::SummaryEmpty),
    },
    Row {
        name: "nothing but reasoning",
        config: |_| answering(Reply::text("<think>What do they want? A summary.</think>")),
        reason: Some(Reason::SummaryEmpty),
    },
    Row {
        name: "an answer at its limit",
        config: |wire| {
            let stop = match wire {
                Wire::OpenAiChat => "length",
                Wire::OpenAiResponses => "max_output_tokens",
                Wire::Anthropic => "max_tokens",
            };
            answering(Reply::answer(Answer {
                text: Some(GOOD.to_owned()),
                stop_reason: Some(stop.to_owned()),
                ..Answer::default()
            }))
        },
        reason: Some(Reason::SummaryCutOff),
    },
    Row {
        name: "more text than there was",
        config: |_| answering(Reply::text("src/parser.rs was read. ".repeat(20_000))),
        reason: Some(Reason::SummaryTooLong),
    },
    Row {
        name: "more text than fits",
        config: |_| answering(Reply::text("src/parser.rs was read again. ".repeat(1_500))),
        reason: Some(Reason::SummaryTooLong),
    },
    Row {
        name: "a refusal",
        config: |_| answering(Reply::text("I'm sorry, but I can't help with that.")),
        reason: Some(Reason::SummaryRefused),
    },
    Row {
        name: "a call instead of a text",
        config: |_| {
            answering(Reply::calls([Call::new(
                "read_file",
                json!({"path": "src/parser.rs"}),
            )]))
        },
        reason: Some(Reason::SummaryCalledTools),
    },
    Row {
        name: "inventions",
        config: |_| {
            answering(Reply::text(
                "src/lexer.rs:41, src/tokens.rs:7 and lib/grammar.rs were rewritten; deploy.sh pushed v9.8.7 to \
             https://staging.example.net/upload as build 77123.",
            ))
        },
        reason: Some(Reason::SummaryRejected),
    },
    Row {
        name: "a window that is too small",
        config: |_| ModelConfig {
            window_tokens: 1_500,
            ..answering(Reply::text(GOOD))
        },
        reason: Some(Reason::SummaryOverflow),
    },
    Row {
        name: "no such model",
        config: |_| {
            answering(Reply::error(
                404,
                "not_found_error",
                "there is no model `scripted`",
            ))
        },
        reason: Some(Reason::SummaryFailed),
    },
    Row {
        name: "a wrong key",
        config: |_| {
            answering(Reply::error(
                401,
                "authentication_error",
                "invalid x-api-key",
            ))
        },
        reason: Some(Reason::SummaryFailed),
    },
];

/// Faults that only a stream can have.
const STREAM_ROWS: &[Row] = &[
    Row {
        name: "an error in the stream",
        config: |_| faulty(Fault::ErrorInStream),
        reason: Some(Reason::SummaryFailed),
    },
    Row {
        name: "garbage in an otherwise whole stream",
        config: |_| faulty(Fault::GarbageInStream),
        reason: None,
    },
];

async fn check(row: &Row, wire: Wire, delivery: Delivery) {
    let what = format!("{} over {wire}, {delivery:?}", row.name);
    let model = ScriptedModel::start((row.config)(wire)).await;
    let caller = match row.reason {
        Some(Reason::SummaryTimeout) => impatient(wire, &model.base_url(), delivery),
        _ => caller(wire, &model.base_url(), delivery),
    };
    let (mut session, job) = job(PresetName::Default);
    let wish = wish(&caller);
    let written = ladder(PresetName::Default, caller).write(&job, wish).await;

    assert_eq!(
        written.first_failure(),
        row.reason,
        "{what}: {:?}",
        written.steps
    );
    let rung = written
        .rung()
        .unwrap_or_else(|| panic!("{what}: {:?}", written.steps));
    match row.reason {
        None => assert_eq!(rung, LadderRung::Full, "{what}"),
        // Once the true window is known, the model may write after all.
        Some(Reason::SummaryOverflow) => assert_ne!(rung, LadderRung::Full, "{what}"),
        Some(_) => assert_eq!(rung, LadderRung::BuiltIn, "{what}"),
    }
    let prepared = written.prepared.unwrap_or_else(|no| panic!("{what}: {no}"));
    let report = prepared.compaction().report.as_deref();
    let report = report.unwrap_or_else(|| panic!("{what}: no report"));
    if row.reason.is_some() {
        assert_eq!(report.total().invented, 0, "{what}");
    }
    let before = session.view_tokens();
    session
        .commit(prepared)
        .unwrap_or_else(|error| panic!("{what}: {error}"));
    assert!(
        session.view_tokens() * 10 <= before * 9,
        "{what}: not clearly smaller"
    );
    let shown: Vec<epitome::Message> = session
        .view_messages()
        .iter()
        .map(|message| (**message).clone())
        .collect();
    assert_eq!(epitome_wire::violations(wire, &shown), [], "{what}");
    let text: String = shown
        .iter()
        .flat_map(|message| message.spoken().map(str::to_owned))
        .collect();
    assert!(text.contains(RULE), "{what}: the rule is gone");
    for request in model.requests() {
        assert_eq!(request.violations, [], "{what}: our own request is invalid");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_fault_ends_in_a_checked_compaction() {
    let mut checks = Vec::new();
    for wire in Wire::ALL {
        for delivery in [Delivery::Streamed, Delivery::Whole] {
            for row in ROWS {
                checks.push(check(row, *wire, delivery));
            }
        }
        for row in STREAM_ROWS {
            checks.push(check(row, *wire, Delivery::Streamed));
        }
    }
    // Several at a time: most of them wait for a time limit.
    let caught = checks
        .into_iter()
        .map(|check| AssertUnwindSafe(Box::pin(check)).catch_unwind());
    let outcomes: Vec<_> = futures_util::stream::iter(caught)
        .buffer_unordered(8)
        .collect()
        .await;
    let failed = outcomes.iter().filter(|outcome| outcome.is_err()).count();
    assert_eq!(failed, 0, "of {} combinations", outcomes.len());
}
