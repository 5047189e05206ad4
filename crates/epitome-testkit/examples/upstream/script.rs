//! A model that works off orders.
//!
//! A prompt has `order-RUN-TURN-CALLS` in it: in turn TURN of the conversation RUN the model calls the client's shell
//! so often, then says `done-RUN-TURN`. Which order is open is read from the request, how far it got is remembered:
//! the request may have been shortened. `order-RUN-TURN-CALLS-agent` wants a sub-agent first.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Mutex, PoisonError};

use epitome_testkit::{Answer, Call, Reply, Script};
use serde_json::{Value, json};

/// The rule of a conversation, as the user gives it: this sentence has to be in all that reaches the model.
const RULE: &str =
    "Never touch prod.env, whatever happens; the codeword of this session is KESTREL-";

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Order {
    run: u64,
    turn: u64,
    calls: u64,
    wants_agent: bool,
}

pub(super) fn script() -> Script {
    let given: Mutex<BTreeMap<(u64, u64), u64>> = Mutex::default();
    Script::by(move |request| {
        let text = texts(request);
        let asked = last_of_user(request);
        if is_trigger(request) {
            return compaction(&text);
        }
        if is_summary(&asked) {
            return Reply::text(summary(&text));
        }
        let Some(order) = order(&text) else {
            return Reply::text("Nothing was ordered.");
        };
        let mut given = given.lock().unwrap_or_else(PoisonError::into_inner);
        let done = given.entry((order.run, order.turn)).or_default();
        let wanted = order.calls + u64::from(order.wants_agent);
        let calls = match shell(request) {
            Some(shell) if *done < wanted => next_calls(request, &shell, order, *done, wanted),
            _ => Vec::new(),
        };
        *done += calls.len() as u64;
        let is_end = calls.is_empty();
        // No two thoughts of a conversation are the same.
        let step = *done + u64::from(is_end);
        let thought = format!(
            "Step {step} of turn {} of {}: the next part has to be read first.",
            order.turn, order.run
        );
        let submit = is_end.then(|| submission(request, &text)).flatten();
        let text = is_end.then(|| report(order) + &edit(&text, order));
        Reply::answer(Answer {
            thinking: thinks(request).then_some(thought),
            text: text.filter(|_| submit.is_none()),
            calls: calls.into_iter().chain(submit).collect(),
            ..Answer::default()
        })
    })
}

/// All that a request has in it as text, one after the other.
pub(super) fn texts(value: &Value) -> String {
    fn collect(value: &Value, found: &mut String) {
        match value {
            Value::String(text) => {
                found.push_str(text);
                found.push('\n');
            }
            Value::Array(values) => values.iter().for_each(|value| collect(value, found)),
            Value::Object(fields) => fields.values().for_each(|value| collect(value, found)),
            _ => {}
        }
    }
    let mut found = String::new();
    collect(value, &mut found);
    found
}

/// Which rules stand in a text, by the number of their conversation.
pub(super) fn rules(text: &str) -> Vec<u64> {
    let found = text.split(RULE).skip(1).filter_map(number);
    let mut found: Vec<u64> = found.map(|(number, _)| number).collect();
    found.sort_unstable();
    found.dedup();
    found
}

fn number(text: &str) -> Option<(u64, &str)> {
    let end = text
        .find(|letter: char| !letter.is_ascii_digit())
        .unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    Some((digits.parse().ok()?, rest))
}

/// The newest order of the conversation. A sub-agent's order stands in its parent's requests too and has the higher
/// number.
fn order(text: &str) -> Option<Order> {
    let orders = text.split("order-").skip(1).filter_map(|rest| {
        let (run, rest) = number(rest)?;
        let (turn, rest) = number(rest.strip_prefix('-')?)?;
        let (calls, rest) = number(rest.strip_prefix('-')?)?;
        Some(Order {
            run,
            turn,
            calls,
            wants_agent: rest.starts_with("-agent"),
        })
    });
    let orders: Vec<Order> = orders.collect();
    let run = orders.iter().map(|order| order.run).min()?;
    orders.into_iter().filter(|order| order.run == run).max()
}

fn last_of_user(request: &Value) -> String {
    let list = request.get("messages").or_else(|| request.get("input"));
    let list = list
        .and_then(Value::as_array)
        .map_or(&[][..], Vec::as_slice);
    let is_user = |message: &&Value| message.get("role").and_then(Value::as_str) == Some("user");
    list.iter().rfind(is_user).map(texts).unwrap_or_default()
}

fn thinks(request: &Value) -> bool {
    let mode = request.pointer("/thinking/type").and_then(Value::as_str);
    let model = request.get("model").and_then(Value::as_str);
    // At Responses these models always think.
    let always =
        request.get("input").is_some() && model.is_some_and(|model| model.starts_with("gpt-5"));
    matches!(mode, Some("enabled" | "adaptive")) || always
}

/// The tool that runs commands: its name, and what it calls the command.
fn shell(request: &Value) -> Option<(String, &'static str)> {
    const KNOWN: &[(&str, &str)] = &[
        ("Bash", "command"),
        ("bash", "command"),
        ("exec_command", "cmd"),
        ("shell_command", "command"),
        ("read_part", "command"),
    ];
    let tools = request.get("tools").and_then(Value::as_array)?;
    let known = |tool: &Value| {
        let tool = tool.get("function").unwrap_or(tool);
        let name = tool.get("name").and_then(Value::as_str)?;
        let (_, argument) = KNOWN.iter().find(|(known, _)| *known == name)?;
        Some((name.to_owned(), *argument))
    };
    tools.iter().find_map(known)
}

/// One call, or two at once at every third step.
fn next_calls(
    request: &Value,
    (name, argument): &(String, &str),
    order: Order,
    done: u64,
    wanted: u64,
) -> Vec<Call> {
    if order.wants_agent
        && done == 0
        && let Some(call) = agent(request, order)
    {
        return vec![call];
    }
    let count = if done % 3 == 2 { 2 } else { 1 };
    let last = wanted.min(done + count);
    (done..last)
        .map(|step| {
            let part = (order.turn * 7 + step) % 24;
            let command = format!("cat part-{part:02}.txt");
            let mut arguments = json!({});
            if let Some(fields) = arguments.as_object_mut() {
                fields.insert((*argument).to_owned(), json!(command));
                if *argument == "command" && *name != "read_part" {
                    fields.insert("description".to_owned(), json!("Read a part"));
                }
            }
            Call::new(name.clone(), arguments)
        })
        .collect()
}

/// A sub-agent that works off an order of its own.
fn agent(request: &Value, order: Order) -> Option<Call> {
    let tools = request.get("tools").and_then(Value::as_array)?;
    let named = |tool: &&Value| {
        matches!(
            tool.get("name").and_then(Value::as_str),
            Some("Task" | "Agent" | "task")
        )
    };
    let tool = tools
        .iter()
        .find_map(|tool| Some(tool.get("function").unwrap_or(tool)).filter(named))?;
    let name = tool.get("name").and_then(Value::as_str)?;
    let run = order.run * 1000 + order.turn;
    let kind = if name == "task" {
        "general"
    } else {
        "general-purpose"
    };
    let arguments = json!({
        "description": "Read parts", "subagent_type": kind,
        "prompt": format!("Please read the parts of order-{run}-1-{} and report.", order.calls),
    });
    Some(Call::new(name, arguments))
}

/// How an agent without a last word is told that the work is done.
fn submission(request: &Value, text: &str) -> Option<Call> {
    let word = "COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT";
    if !text.contains(word) {
        return None;
    }
    let (name, argument) = shell(request)?;
    Some(Call::new(name, json!({argument: format!("echo {word}")})))
}

fn report(order: Order) -> String {
    let mut text = format!(
        "done-{}-{}. What was found in this turn:\n\n",
        order.run, order.turn
    );
    for line in 0..6 {
        let depot = (order.turn * 37 + line * 11) % 101;
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "- depot {depot} had {} parcels more than at the count before, and none was lost;",
            line * 113 + order.turn
        );
    }
    text
}

/// For aider, which has no tools: an edit that it applies.
fn edit(text: &str, order: Order) -> String {
    if !text.contains("SEARCH/REPLACE") {
        return String::new();
    }
    let (run, turn) = (order.run, order.turn);
    format!(
        "\nnotes-{turn}.txt\n```\n<<<<<<< SEARCH\n=======\nFound in turn {turn} of {run}.\n>>>>>>> REPLACE\n```\n"
    )
}

/// Whether the client asks for a summary of its own.
fn is_summary(asked: &str) -> bool {
    let asked = asked.to_lowercase();
    let wishes = [
        "create a detailed summary",
        "create a structured",
        "handoff summary",
        "create a concise",
        "briefly summarize",
        "summarize this partial conversation",
        "checkpoint compaction",
        "create a new anchored summary",
        "provide a detailed prompt for continuing",
        "summarize the conversation",
        "summarize the prefix",
        "preserve existing goals",
    ];
    wishes.iter().any(|wish| asked.contains(wish))
}

/// A summary keeps the rules and the newest order, as a good model would.
fn summary(text: &str) -> String {
    let mut summary = "<summary>\n## Session so far\nParts were read and compared.\n".to_owned();
    for rule in rules(text) {
        let _ = writeln!(summary, "The user's rule: {RULE}{rule}.");
    }
    if let Some(order) = order(text) {
        let _ = writeln!(
            summary,
            "Open: order-{}-{}-{}.",
            order.run, order.turn, order.calls
        );
    }
    summary + "</summary>\n"
}

fn is_trigger(request: &Value) -> bool {
    let last = request
        .get("input")
        .and_then(Value::as_array)
        .and_then(|input| input.last());
    last.is_some_and(|last| last.get("type").and_then(Value::as_str) == Some("compaction_trigger"))
}

/// The sealed summary that the Responses API gives when it is asked for one.
fn compaction(text: &str) -> Reply {
    let item = json!({"id": "cmp_1", "type": "compaction", "encrypted_content": summary(text)});
    let usage = json!({"input_tokens": 900, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 50,
        "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 950});
    let response = json!({"id": "resp_compaction", "object": "response", "status": "completed", "output": [item], "usage": usage});
    let events = [
        json!({"type": "response.created", "response": {"id": "resp_compaction", "object": "response", "status": "in_progress", "output": []}}),
        json!({"type": "response.output_item.done", "output_index": 0, "item": item}),
        json!({"type": "response.completed", "response": response}),
    ];
    let named = |event: &Value| {
        format!(
            "event: {}\ndata: {event}\n\n",
            event.get("type").and_then(Value::as_str).unwrap_or("")
        )
    };
    let body: String = events.iter().map(named).collect();
    Reply::raw(200, "text/event-stream; charset=utf-8", body)
}
