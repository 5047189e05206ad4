//! Server-sent events, decoded from a copy while the bytes go by.

/// An event larger than this is not collected; the stream goes on.
const EVENT_LIMIT: usize = 8 << 20;

/// Decodes `data` of events from chunks of any size. Does no I/O.
#[derive(Debug, Default)]
pub struct Decoder {
    line: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
    after_return: bool,
    has_begun: bool,
}

impl Decoder {
    /// A decoder at the beginning of a stream.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            line: Vec::new(),
            data: Vec::new(),
            has_data: false,
            after_return: false,
            has_begun: false,
        }
    }

    /// Takes the next bytes and hands the data of every event that is complete to `event`.
    pub fn feed(&mut self, mut bytes: &[u8], mut event: impl FnMut(&[u8])) {
        while let Some(first) = bytes.first() {
            // A line may end in CR LF, and the two may arrive apart.
            if std::mem::take(&mut self.after_return) && *first == b'\n' {
                bytes = bytes.get(1..).unwrap_or_default();
                continue;
            }
            match memchr::memchr2(b'\n', b'\r', bytes) {
                None => {
                    self.extend_line(bytes);
                    return;
                }
                Some(at) => {
                    self.extend_line(bytes.get(..at).unwrap_or_default());
                    self.after_return = bytes.get(at) == Some(&b'\r');
                    bytes = bytes.get(at + 1..).unwrap_or_default();
                    self.end_line(&mut event);
                }
            }
        }
    }

    fn extend_line(&mut self, bytes: &[u8]) {
        if self.line.len() + bytes.len() <= EVENT_LIMIT {
            self.line.extend_from_slice(bytes);
        }
    }

    fn end_line(&mut self, event: &mut impl FnMut(&[u8])) {
        let line = std::mem::take(&mut self.line);
        let mark: &[u8] = if std::mem::replace(&mut self.has_begun, true) {
            b""
        } else {
            b"\xEF\xBB\xBF"
        };
        let content = line.strip_prefix(mark).unwrap_or(&line);
        // A name without a colon is a field without a value.
        let content = if content == b"data" {
            b"data:"
        } else {
            content
        };
        if content.is_empty() {
            if self.has_data {
                event(&self.data);
            }
            self.data.clear();
            self.has_data = false;
        } else if let Some(data) = content.strip_prefix(b"data:") {
            if self.has_data {
                self.data.push(b'\n');
            }
            self.has_data = true;
            if self.data.len() + data.len() <= EVENT_LIMIT {
                self.data
                    .extend_from_slice(data.strip_prefix(b" ").unwrap_or(data));
            }
        }
        self.line = line;
        self.line.clear();
    }
}
