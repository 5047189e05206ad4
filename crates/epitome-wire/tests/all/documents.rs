//! Random JSON in unusual spellings, and random request bodies made of it.

use epitome_testkit::Random;
use epitome_wire::Wire;

/// How the messages of a body are held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Container {
    Object,
    Array,
    Lines,
}

impl Container {
    pub(crate) const ALL: [Self; 3] = [Self::Object, Self::Array, Self::Lines];
}

/// Writes JSON that means something ordinary and looks like nothing a serializer would write.
pub(crate) struct Writer<'a> {
    pub(crate) random: &'a mut Random,
    pub(crate) text: String,
    /// One value per line: no line breaks between tokens.
    pub(crate) single_line: bool,
}

const NUMBERS: &[&str] = &[
    "0",
    "-0",
    "7",
    "-12",
    "1E3",
    "1e+3",
    "1.0",
    "0.1000",
    "-0.0",
    "2.5e-7",
    "1e0",
    "1E-0",
    "9007199254740993",
    "18446744073709551615",
    "12345678901234567890123",
    "-99999999999999999999999",
    "3.141592653589793238462643",
];
const LETTERS: &[char] = &[
    'a',
    'b',
    'Z',
    '0',
    '9',
    ' ',
    '/',
    '"',
    '\\',
    '\n',
    '\r',
    '\t',
    '\u{0}',
    '\u{8}',
    '\u{c}',
    '\u{1f}',
    '\u{7f}',
    'é',
    'ß',
    '\u{301}',
    '漢',
    '字',
    '\u{2028}',
    '\u{feff}',
    '\u{fffd}',
    '\u{ffff}',
    '😀',
    '𝔘',
    '\u{10ffff}',
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '<',
    '>',
];
const NAMES: &[&str] = &[
    "type",
    "text",
    "x",
    "id",
    "\u{e9}t\u{e9}",
    "with space",
    "",
    "messages",
    "nested",
    "n",
    "cache_control",
];

impl<'a> Writer<'a> {
    pub(crate) fn new(random: &'a mut Random, container: Container) -> Self {
        Self {
            random,
            text: String::new(),
            single_line: container == Container::Lines,
        }
    }

    pub(crate) fn space(&mut self) {
        let spaces: &[&str] = if self.single_line {
            &["", "", "", " ", "\t", "  \t "]
        } else {
            &["", "", "", " ", "\t", "\n", "\r\n", "\n\n    "]
        };
        let space = *self.random.pick(spaces);
        self.text.push_str(space);
    }

    /// Random decoded text.
    pub(crate) fn words(&mut self, most: usize) -> String {
        let length = self.random.below(most + 1);
        (0..length).map(|_| *self.random.pick(LETTERS)).collect()
    }

    /// A string in one of its spellings.
    pub(crate) fn string(&mut self, text: &str) {
        self.text.push('"');
        for letter in text.chars() {
            let short = match letter {
                '"' => Some("\\\""),
                '\\' => Some("\\\\"),
                '/' => Some("\\/"),
                '\n' => Some("\\n"),
                '\r' => Some("\\r"),
                '\t' => Some("\\t"),
                '\u{8}' => Some("\\b"),
                '\u{c}' => Some("\\f"),
                _ => None,
            };
            let must = letter < ' ' || matches!(letter, '"' | '\\');
            match (short, self.random.below(4)) {
                (Some(short), 0 | 1) => self.text.push_str(short),
                (_, 2) => self.units(letter),
                _ if must => self.units(letter),
                _ => self.text.push(letter),
            }
        }
        self.text.push('"');
    }

    fn units(&mut self, letter: char) {
        for unit in letter.encode_utf16(&mut [0; 2]) {
            let spelled = if self.random.chance(50) {
                format!("\\u{unit:04x}")
            } else {
                format!("\\u{unit:04X}")
            };
            self.text.push_str(&spelled);
        }
    }

    /// Any value, at most `depth` deep.
    pub(crate) fn value(&mut self, depth: usize) {
        match self.random.below(if depth == 0 { 5 } else { 8 }) {
            0 => self.text.push_str("null"),
            1 => self.text.push_str("true"),
            2 => self.text.push_str("false"),
            3 => {
                let number = *self.random.pick(NUMBERS);
                self.text.push_str(number);
            }
            4 => {
                let words = self.words(12);
                self.string(&words);
            }
            5 => self.list(depth),
            _ => {
                let members = self.random.below(4);
                let names: Vec<String> = (0..members)
                    .map(|_| (*self.random.pick(NAMES)).to_owned())
                    .collect();
                self.members(&names, |writer, _| writer.value(depth - 1));
            }
        }
    }

    fn list(&mut self, depth: usize) {
        self.text.push('[');
        for at in 0..self.random.below(4) {
            if at > 0 {
                self.text.push(',');
            }
            self.space();
            self.value(depth - 1);
            self.space();
        }
        self.text.push(']');
    }

    /// An object with these members; `write` writes the value of the one that it is given.
    pub(crate) fn members(&mut self, names: &[String], mut write: impl FnMut(&mut Self, &str)) {
        self.text.push('{');
        self.space();
        for (at, name) in names.iter().enumerate() {
            if at > 0 {
                self.text.push(',');
                self.space();
            }
            self.string(name);
            self.space();
            self.text.push(':');
            self.space();
            write(self, name);
            self.space();
        }
        self.text.push('}');
    }

    fn shuffled(&mut self, mut names: Vec<String>) -> Vec<String> {
        for at in (1..names.len()).rev() {
            let other = self.random.below(at + 1);
            names.swap(at, other);
        }
        names
    }

    /// Some names that are not in use, for members nobody knows.
    fn unknown(&mut self, prefix: &str) -> Vec<String> {
        (0..self.random.below(3))
            .map(|at| format!("{prefix}{at}\u{e9}"))
            .collect()
    }

    /// A message with a tool result, in order to have something to trim, or any other message.
    fn message(&mut self, wire: Wire) {
        let is_result = self.random.chance(60);
        let names: &[&str] = match (wire, is_result) {
            (Wire::OpenAiChat, true) => &["role", "content", "tool_call_id"],
            (Wire::OpenAiResponses, true) => &["type", "call_id", "output"],
            (Wire::OpenAiResponses, false) if self.random.chance(50) => {
                &["type", "role", "content"]
            }
            _ => &["role", "content"],
        };
        let mut names: Vec<String> = names.iter().copied().map(str::to_owned).collect();
        names.extend(self.unknown("extra"));
        let names = self.shuffled(names);
        self.members(&names, |writer, name| match (name, is_result, wire) {
            ("role", true, Wire::OpenAiChat) => writer.string("tool"),
            ("role", true, Wire::Anthropic) => writer.string("user"),
            ("role", false, _) => {
                let role = *writer.random.pick(&["user", "assistant", "system"]);
                writer.string(role);
            }
            ("type", true, _) => writer.string("function_call_output"),
            ("type", false, _) => writer.string("message"),
            ("tool_call_id" | "call_id", ..) => writer.string("call_1"),
            ("output", ..) => writer.result_content(wire),
            ("content", true, Wire::OpenAiChat) => writer.result_content(wire),
            ("content", true, Wire::Anthropic) => writer.result_blocks(),
            ("content", false, _) => {
                let words = writer.words(20);
                writer.string(&words);
            }
            _ => writer.value(3),
        });
    }

    fn result_blocks(&mut self) {
        self.text.push('[');
        for at in 0..self.random.between(1, 3) {
            if at > 0 {
                self.text.push(',');
            }
            self.space();
            let names = ["type", "tool_use_id", "content"].map(str::to_owned);
            let names = self.shuffled(names.to_vec());
            self.members(&names, |writer, name| match name {
                "type" => writer.string("tool_result"),
                "content" => writer.result_content(Wire::Anthropic),
                _ => writer.string("toolu_1"),
            });
            self.space();
        }
        self.text.push(']');
    }

    fn result_content(&mut self, wire: Wire) {
        let words = self.words(40);
        if self.random.chance(60) {
            self.string(&words);
            return;
        }
        self.text.push('[');
        for at in 0..self.random.between(1, 3) {
            if at > 0 {
                self.text.push(',');
            }
            self.space();
            if self.random.chance(20) {
                self.picture(wire);
                self.space();
                continue;
            }
            let names = self.shuffled(["type", "text"].map(str::to_owned).to_vec());
            self.members(&names, |writer, name| match name {
                "type" => writer.string("text"),
                _ => {
                    let words = writer.words(20);
                    writer.string(&words);
                }
            });
            self.space();
        }
        self.text.push(']');
    }

    fn picture(&mut self, wire: Wire) {
        let (kind, place) = match wire {
            Wire::OpenAiChat => ("image_url", "image_url"),
            Wire::Anthropic => ("image", "source"),
            Wire::OpenAiResponses => ("input_image", "image_url"),
        };
        let mut names = vec!["type".to_owned(), place.to_owned()];
        if wire == Wire::Anthropic && self.random.chance(30) {
            names.push("cache_control".to_owned());
        }
        let names = self.shuffled(names);
        self.members(&names, |writer, name| match name {
            "type" => writer.string(kind),
            "cache_control" => writer.text.push_str(r#"{ "type":"ephemeral" }"#),
            _ => writer
                .text
                .push_str(r#"{"url" : "https://example.org/x.png"}"#),
        });
    }
}

/// A body with `count` messages.
pub(crate) fn body(random: &mut Random, wire: Wire, container: Container, count: usize) -> Vec<u8> {
    let mut writer = Writer::new(random, container);
    match container {
        Container::Object => {
            let list_name = wire.list_name();
            let mut names = vec![list_name.to_owned()];
            names.extend(writer.unknown("other"));
            names.extend(["model", "system", "stream"].map(str::to_owned));
            let names = writer.shuffled(names);
            writer.space();
            writer.members(&names, |writer, name| match name {
                name if name == list_name => messages(writer, wire, count),
                _ => writer.value(3),
            });
            writer.space();
        }
        Container::Array => {
            writer.space();
            messages(&mut writer, wire, count);
            writer.space();
        }
        Container::Lines => {
            let ending = *writer.random.pick(&["\n", "\r\n"]);
            for at in 0..count {
                while writer.random.chance(10) {
                    writer.text.push_str(ending);
                }
                writer.space();
                writer.message(wire);
                if at + 1 < count || writer.random.chance(70) {
                    writer.text.push_str(ending);
                }
            }
        }
    }
    writer.text.into_bytes()
}

fn messages(writer: &mut Writer<'_>, wire: Wire, count: usize) {
    writer.text.push('[');
    for at in 0..count {
        if at > 0 {
            writer.text.push(',');
        }
        writer.space();
        writer.message(wire);
    }
    writer.space();
    writer.text.push(']');
}

/// A message that was not there.
pub(crate) fn message(random: &mut Random, wire: Wire, container: Container) -> Vec<u8> {
    let mut writer = Writer::new(random, container);
    writer.message(wire);
    writer.text.into_bytes()
}
