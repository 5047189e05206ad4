use serde_json::Value;

use crate::random::Random;

/// The same JSON value in an unusual spelling: odd spaces, escaped letters and slashes.
///
/// For tests that must show that bytes pass through as they are, or that a parser takes any spelling.
#[must_use]
pub fn untidy(value: &Value, seed: u64) -> Vec<u8> {
    let mut writer = Writer {
        random: Random::new(seed),
        text: String::new(),
    };
    writer.value(value);
    writer.space();
    writer.text.into_bytes()
}

struct Writer {
    random: Random,
    text: String,
}

impl Writer {
    fn space(&mut self) {
        let space = *self
            .random
            .pick(&["", "", "", " ", "\n", "\t", "\r\n", "  "]);
        self.text.push_str(space);
    }

    fn value(&mut self, value: &Value) {
        self.space();
        match value {
            Value::Object(fields) => {
                self.text.push('{');
                for (position, (key, field)) in fields.iter().enumerate() {
                    self.separate(position);
                    self.string(key);
                    self.space();
                    self.text.push(':');
                    self.value(field);
                }
                self.space();
                self.text.push('}');
            }
            Value::Array(items) => {
                self.text.push('[');
                for (position, item) in items.iter().enumerate() {
                    self.separate(position);
                    self.value(item);
                }
                self.space();
                self.text.push(']');
            }
            Value::String(text) => self.string(text),
            other => self.text.push_str(&other.to_string()),
        }
    }

    fn separate(&mut self, position: usize) {
        if position > 0 {
            self.text.push(',');
        }
        self.space();
    }

    fn string(&mut self, text: &str) {
        self.text.push('"');
        for letter in text.chars() {
            let needs_escape = letter < ' ' || matches!(letter, '"' | '\\');
            // Plain letters are escaped rarely, others often: both spellings must occur side by side.
            let percent = if letter.is_ascii() { 1 } else { 40 };
            match letter {
                '/' if self.random.chance(30) => self.text.push_str("\\/"),
                '\n' => self.text.push_str("\\n"),
                '\\' => self.text.push_str("\\\\"),
                _ if needs_escape || self.random.chance(percent) => {
                    for unit in letter.encode_utf16(&mut [0; 2]) {
                        self.text.push_str(&format!("\\u{unit:04x}"));
                    }
                }
                _ => self.text.push(letter),
            }
        }
        self.text.push('"');
    }
}
