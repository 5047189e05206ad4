//! Server-sent events, decoded from a copy while the bytes go by. Does no I/O.

/// An event larger than this is handed on cut, unless the decoder was made with another limit.
const EVENT_LIMIT: usize = 8 << 20;
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// One event of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event<'a> {
    /// Its name; empty where the stream gives none.
    pub name: &'a [u8],
    /// Its data, lines joined by LF.
    pub data: &'a [u8],
    /// Whether the data were larger than the limit, so that the end is missing.
    pub is_cut: bool,
}

/// Decodes events from chunks of any size: line ends LF, CR LF or CR, also apart in two chunks; comments, data of several
/// lines, a byte order mark.
///
/// ```
/// use epitome_wire::sse::Decoder;
///
/// let mut seen = Vec::new();
/// let mut decoder = Decoder::new();
/// for chunk in ["event: greeting\r", "\ndata: good ", "morning\n\ndata: cut off"] {
///     decoder.feed(chunk.as_bytes(), |event| seen.push((event.name.to_vec(), event.data.to_vec())));
/// }
/// assert_eq!(seen, [(b"greeting".to_vec(), b"good morning".to_vec())]);
/// ```
#[derive(Debug)]
pub struct Decoder {
    /// The beginning of a line that is not complete.
    line: Vec<u8>,
    line_is_cut: bool,
    name: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
    is_cut: bool,
    after_return: bool,
    has_begun: bool,
    limit: usize,
}

impl Default for Decoder {
    fn default() -> Self {
        Self::new()
    }
}

impl Decoder {
    /// A decoder at the beginning of a stream.
    #[must_use]
    pub const fn new() -> Self {
        Self::with_limit(EVENT_LIMIT)
    }

    /// A decoder that keeps at most `limit` bytes of an event.
    #[must_use]
    pub const fn with_limit(limit: usize) -> Self {
        Self {
            line: Vec::new(),
            line_is_cut: false,
            name: Vec::new(),
            data: Vec::new(),
            has_data: false,
            is_cut: false,
            after_return: false,
            has_begun: false,
            limit,
        }
    }

    /// Takes the next bytes and hands every event that is complete to `event`. Data that arrive in one chunk are
    /// handed on where they lie.
    pub fn feed(&mut self, mut bytes: &[u8], mut event: impl FnMut(Event<'_>)) {
        let mut direct: Option<&[u8]> = None;
        while let Some(first) = bytes.first() {
            // A line may end in CR LF, and the two may arrive apart.
            if std::mem::take(&mut self.after_return) && *first == b'\n' {
                bytes = bytes.get(1..).unwrap_or_default();
                continue;
            }
            let Some(end) = memchr::memchr2(b'\n', b'\r', bytes) else {
                self.keep(bytes);
                break;
            };
            self.after_return = bytes.get(end) == Some(&b'\r');
            let (line, rest) = bytes.split_at(end);
            bytes = rest.get(1..).unwrap_or_default();
            if self.line.is_empty() {
                self.end_line(line, &mut direct, &mut event);
            } else {
                self.keep(line);
                let line = std::mem::take(&mut self.line);
                self.end_kept_line(&line, &mut direct, &mut event);
                self.line = line;
                self.line.clear();
            }
        }
        if let Some(data) = direct {
            self.extend_data(data);
        }
    }

    /// Hands on what a stream holds that ended without the blank line behind its last event.
    pub fn finish(mut self, mut event: impl FnMut(Event<'_>)) {
        let mut direct = None;
        if !self.line.is_empty() {
            let line = std::mem::take(&mut self.line);
            self.end_kept_line(&line, &mut direct, &mut event);
        }
        self.dispatch(None, &mut event);
    }

    fn keep(&mut self, bytes: &[u8]) {
        let room = self.limit.saturating_sub(self.line.len());
        self.line_is_cut |= bytes.len() > room;
        self.line
            .extend_from_slice(bytes.get(..room).unwrap_or(bytes));
    }

    /// A line that came in several chunks lies in a buffer that is used again: its data are copied.
    fn end_kept_line(
        &mut self,
        line: &[u8],
        direct: &mut Option<&[u8]>,
        event: &mut impl FnMut(Event<'_>),
    ) {
        if let Some(data) = direct.take() {
            self.extend_data(data);
        }
        let line_is_cut = std::mem::take(&mut self.line_is_cut);
        let mut kept = None;
        self.end_line(line, &mut kept, event);
        if let Some(data) = kept {
            self.extend_data(data);
        }
        // A comment may be as long as it likes.
        self.is_cut |= line_is_cut && self.has_data && line.starts_with(b"data");
    }

    fn end_line<'a>(
        &mut self,
        line: &'a [u8],
        direct: &mut Option<&'a [u8]>,
        event: &mut impl FnMut(Event<'_>),
    ) {
        let line = if std::mem::replace(&mut self.has_begun, true) {
            line
        } else {
            line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line)
        };
        if line.is_empty() {
            self.dispatch(direct.take(), event);
            return;
        }
        // A name without a colon is a field without a value; a line that begins with one is a comment.
        let colon = memchr::memchr(b':', line).unwrap_or(line.len());
        let (field, value) = line.split_at(colon);
        let value = value.strip_prefix(b":").unwrap_or(value);
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"data" if !self.has_data => {
                self.has_data = true;
                *direct = Some(value);
            }
            b"data" => {
                if let Some(first) = direct.take() {
                    self.extend_data(first);
                }
                self.extend_data(b"\n");
                self.extend_data(value);
            }
            b"event" => {
                self.name.clear();
                self.name.extend_from_slice(value);
            }
            _ => {}
        }
    }

    fn extend_data(&mut self, data: &[u8]) {
        let room = self.limit.saturating_sub(self.data.len());
        self.is_cut |= data.len() > room;
        self.data
            .extend_from_slice(data.get(..room).unwrap_or(data));
    }

    fn dispatch(&mut self, direct: Option<&[u8]>, event: &mut impl FnMut(Event<'_>)) {
        if self.has_data {
            let whole = direct.unwrap_or(&self.data);
            let data = whole.get(..self.limit).unwrap_or(whole);
            event(Event {
                name: &self.name,
                data,
                is_cut: self.is_cut || data.len() < whole.len(),
            });
        }
        self.name.clear();
        self.data.clear();
        self.has_data = false;
        self.is_cut = false;
    }
}
