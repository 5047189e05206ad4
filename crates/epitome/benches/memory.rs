//! What a session keeps beyond the texts: at most 160 bytes per entry and 48 per block. Heap bytes as they were asked
//! for, counted by the allocator.

#![expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]

use std::process::ExitCode;

use epitome::{Block, Call, Message, Meter, ResultPart, Role, Session, ToolResult, Window};

#[global_allocator]
static HEAP: dhat::Alloc = dhat::Alloc;

const ENTRIES: usize = 65_536;
const PER_ENTRY: usize = 160;
const PER_BLOCK: usize = 48;

fn main() -> ExitCode {
    let _profiler = dhat::Profiler::builder().testing().build();
    println!("messages                      bytes beyond the text   limit");
    let kinds: [(&str, Make); 4] = [
        ("one text", text),
        ("three texts", texts),
        ("two calls", calls),
        ("one result", result),
    ];
    let mut verdict = ExitCode::SUCCESS;
    for (name, make) in kinds {
        let (beyond, limit) = measure(make);
        println!("{name:<28} {beyond:>22.1} {limit:>7}");
        if beyond > limit as f64 {
            verdict = ExitCode::FAILURE;
        }
    }
    verdict
}

/// Makes a message of a kind.
type Make = fn(usize) -> Message;

/// Bytes per entry beyond its texts, and what is allowed for a message of so many blocks.
fn measure(make: Make) -> (f64, usize) {
    let before = dhat::HeapStats::get().curr_bytes;
    let mut session = Session::new(Window::configured(1_000_000), Meter::Chars4);
    let mut text_bytes = 0;
    let mut blocks = 0;
    for number in 0..ENTRIES {
        let message = make(number);
        text_bytes += text_bytes_of(&message);
        blocks += message.blocks.len();
        session.push(message);
    }
    let kept = dhat::HeapStats::get().curr_bytes - before;
    drop(session);
    let beyond = (kept - text_bytes) as f64 / ENTRIES as f64;
    (beyond, PER_ENTRY + PER_BLOCK * blocks / ENTRIES)
}

fn text_bytes_of(message: &Message) -> usize {
    let of_block = |block: &Block| match block {
        Block::Text(text) | Block::Injected(text) => text.len(),
        Block::Call(call) => call.id.len() + call.name.len() + call.arguments.len(),
        Block::Result(result) => result.call_id.len() + result.texts().map(str::len).sum::<usize>(),
        _ => 0,
    };
    message.blocks.iter().map(of_block).sum()
}

fn text(number: usize) -> Message {
    Message::text(Role::User, format!("Question {number}"))
}

fn texts(number: usize) -> Message {
    Message {
        role: Role::User,
        blocks: (0..3)
            .map(|part| Block::Text(format!("Part {part} of question {number}")))
            .collect(),
    }
}

fn calls(number: usize) -> Message {
    let call = |part: usize| {
        Block::Call(Call::new(
            format!("call_{number}_{part}"),
            "read",
            format!("{{\"path\":\"src/{number}.rs\"}}"),
        ))
    };
    Message {
        role: Role::Assistant,
        blocks: (0..2).map(call).collect(),
    }
}

fn result(number: usize) -> Message {
    Message {
        role: Role::Tool,
        blocks: vec![Block::Result(ToolResult {
            call_id: format!("call_{number}").into(),
            parts: vec![ResultPart::Text(format!("{number} lines"))],
            is_error: false,
        })],
    }
}
