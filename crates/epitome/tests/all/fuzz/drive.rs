//! One run over the whole public surface, steered by bytes. The coverage-guided target uses it too.

use epitome::settings::{Settings, Value};
use epitome::{
    Basis, Block, Call, Compaction, Decision, Failure, Media, Message, Meter, Plan, Preset,
    PresetName, Reason, ResultPart, Role, Session, ToolResult, Usage, View, Window, WindowSource,
    anchors, find_pins, heartbeat_exchanges,
};

/// Bytes that are read as choices; at their end every choice is the first.
struct Choices<'a>(&'a [u8]);

impl Choices<'_> {
    fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else {
            return 0;
        };
        self.0 = rest;
        *first
    }

    fn below(&mut self, limit: usize) -> usize {
        usize::from(self.byte()) % limit.max(1)
    }

    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    fn size(&mut self) -> u64 {
        match self.below(6) {
            0 => 0,
            1 => u64::from(self.byte()),
            2 => u64::from(self.byte()) * 257,
            3 => 1 << self.below(64),
            4 => u64::MAX - u64::from(self.byte()),
            _ => 1_000 * u64::from(self.byte()),
        }
    }

    fn text(&mut self) -> String {
        let unit = self.pick(&[
            "",
            "word ",
            "Never delete src/a.rs. ",
            "Use only tabs here, nothing else.",
            "[CONTEXT SUMMARY]\n",
            "[END CONTEXT SUMMARY]",
            "[Compaction Summary]: ",
            "[System: 7 older messages were truncated due to context limits]",
            "## Session Summary (Compaction Round 3)\n",
            "[Conversation summary, epitome 1, 00 5]\nhello",
            "HEARTBEAT_OK",
            "漢字。必ず。",
            "e\u{301}😀\u{200d}",
            "</system-reminder>",
            "\r\n\n\u{0}\t",
            "{\"path\": \"src/main.rs\", \"n\": 12345}\n",
            "error: it failed at line 3\n",
            "AAAABBBBCCCCDDDD",
        ]);
        let times = self.pick(&[1, 1, 1, 2, 3, 40, 2_000]);
        let mut text = unit.repeat(times);
        if self.byte().is_multiple_of(3) {
            text.push_str(&self.text_tail());
        }
        text
    }

    fn text_tail(&mut self) -> String {
        let count = self.below(12);
        (0..count)
            .map(|_| char::from_u32(u32::from(self.byte()) * 523).unwrap_or('x'))
            .collect()
    }

    fn block(&mut self) -> Block {
        let id = self.pick(&["", "a", "b", "c", "d"]).to_owned();
        match self.below(8) {
            0..=2 => Block::Text(self.text()),
            3 => Block::Injected(self.text()),
            4 => Block::Thinking {
                chars: self.size() as usize,
            },
            5 => Block::Call(Call::new(
                id,
                self.pick(&["", "read_file", "bash"]),
                self.text(),
            )),
            6 => Block::Result(ToolResult {
                call_id: id.into(),
                parts: (0..self.below(3)).map(|_| self.part()).collect(),
                is_error: self.byte().is_multiple_of(2),
            }),
            _ => Block::Opaque {
                chars: self.size() as usize,
                ids: (0..self.below(2)).map(|_| id.as_str().into()).collect(),
            },
        }
    }

    fn part(&mut self) -> ResultPart {
        match self.below(4) {
            0 => ResultPart::Opaque {
                chars: self.size() as usize,
            },
            1 => ResultPart::Media(Media {
                kind: "image".to_owned(),
                tokens: self.size() as u32,
            }),
            _ => ResultPart::Text(self.text()),
        }
    }

    fn message(&mut self) -> Message {
        Message {
            role: self.pick(&[Role::User, Role::Assistant, Role::Tool, Role::System]),
            blocks: (0..self.below(4)).map(|_| self.block()).collect(),
        }
    }

    fn meter(&mut self) -> Meter {
        self.pick(&[Meter::Estimate, Meter::Chars4, Meter::O200k, Meter::Cl100k])
    }

    fn reason(&mut self) -> Reason {
        self.pick(&[
            Reason::Manual,
            Reason::HardLine,
            Reason::Overflow,
            Reason::NearLine,
            Reason::TooManyMessages,
            Reason::Threshold,
        ])
    }

    /// A preset as it is named, or with settings that no sane person would give.
    fn preset(&mut self) -> Preset {
        let name = self.pick(&PresetName::ALL);
        let mut settings = Settings::of(name);
        let keys: Vec<&str> = settings.keys().iter().map(|key| key.name).collect();
        for _ in 0..self.below(6) {
            let key = keys[self.below(keys.len())];
            let value = match self.below(5) {
                0 => Value::Whole(self.size() as i64),
                1 => Value::Number(f64::from(self.byte()) / 100.0),
                2 => Value::Switch(self.byte().is_multiple_of(2)),
                3 => Value::Text(
                    self.pick(&["50%", "-20000", "safeguard", "off", ""])
                        .to_owned(),
                ),
                _ => Value::Null,
            };
            let table = Value::Table(vec![(key.to_owned(), value)]);
            drop(settings.apply(&table));
        }
        Preset::from(&settings)
    }

    fn session(&mut self) -> Session {
        let window = Window {
            tokens: self.size(),
            source: WindowSource::Configured,
        };
        let meter = self.meter();
        let output_tokens = self.size();
        let mut session = Session::new(window, meter)
            .with_output_tokens(output_tokens)
            .with_preset(self.preset());
        if self.byte().is_multiple_of(2) {
            session = session.with_warnings();
        }
        if !self.byte().is_multiple_of(4) {
            session = session.without_guard();
        }
        session
    }
}

fn act(choices: &mut Choices<'_>, session: &mut Session) -> usize {
    let mut pushed = 0;
    match choices.below(12) {
        0..=5 => {
            for _ in 0..=choices.below(8) {
                session.push(choices.message());
                pushed += 1;
            }
        }
        6 => {
            if let Ok(job) = session.begin(choices.reason()) {
                if choices.byte().is_multiple_of(2) {
                    session.push(choices.message());
                    pushed += 1;
                }
                match job.extract() {
                    Ok(prepared) => drop(session.commit(prepared)),
                    Err(no) => session.failed(Failure::NotSmaller, no.to_string()),
                }
            }
        }
        7 => {
            let _ = session.compact(choices.reason());
        }
        8 => {
            let _ = session.undo();
        }
        9 => {
            let at = choices.size() as usize;
            let fork = session.fork(at);
            assert_eq!(fork.messages().len(), at.min(session.messages().len()));
            drop(fork.view_messages());
        }
        10 => {
            let usage = Usage {
                fresh_tokens: choices.size(),
                cache_read_tokens: choices.size(),
                cache_write_tokens: choices.size(),
                output_tokens: choices.size(),
            };
            session.observe(usage);
        }
        _ => {
            if let Decision::Compact(reason) = session.before_turn() {
                let _ = session.compact(reason);
            }
        }
    }
    pushed
}

fn plans(choices: &mut Choices<'_>, session: &Session) {
    let messages: Vec<&Message> = session.messages().iter().map(|m| &**m).collect();
    let meter = choices.meter();
    let mut log = epitome::Log::new();
    for message in &messages {
        log.push(&epitome::Facts::of(message, meter));
    }
    let preset = choices.preset();
    let budget = Some(choices.size()).filter(|size| !size.is_multiple_of(3));
    let target = choices.size();
    let made = Plan::with(
        &preset,
        &log,
        budget,
        epitome::Room::of(target),
        choices.reason(),
    );
    if let Ok(plan) = made.map(|plan| plan.without_heartbeats(&log)) {
        drop(View::of(&plan, log.len(), &[]));
        let basis = Basis {
            design: preset.design,
            focus: Some("src/a.rs"),
            ..Basis::new(&log, &messages, meter)
        };
        let compaction = Compaction::extract(plan, &basis);
        if let Ok(compaction) = compaction
            && let Some(budget) = budget
        {
            assert!(compaction.tokens_after <= budget);
        }
    }
    drop(Plan::at(
        &log,
        choices.below(30),
        choices.size(),
        Reason::Manual,
    ));
    drop(Plan::at_most(
        &log,
        choices.below(30),
        Reason::TooManyMessages,
    ));
    let owned: Vec<Message> = messages.iter().map(|m| (*m).clone()).collect();
    drop(heartbeat_exchanges(&owned));
    drop(find_pins(owned.iter().enumerate()));
    for message in &owned {
        let counts: usize = message.spoken().map(|text| anchors(text).count()).sum();
        assert!(counts <= 1_000_000);
    }
}

/// Reads `bytes` as a session, does what they say with it, and checks that nothing pushed is missing.
pub(super) fn run(bytes: &[u8]) {
    let mut choices = Choices(bytes);
    let mut session = choices.session();
    let mut pushed = 0;
    while !choices.0.is_empty() {
        pushed += act(&mut choices, &mut session);
        let _ = session.decide();
        for event in session.take_events() {
            for name in PresetName::ALL.iter().copied() {
                drop(event.lines(name));
                drop(event.fields(name));
            }
        }
    }
    assert_eq!(session.messages().len(), pushed);
    assert_eq!(session.view_messages().len(), session.log().len());
    plans(&mut Choices(bytes), &session);
}
