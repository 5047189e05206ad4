use bytes::Bytes;
use serde_json::Value;

/// One scripted reply.
#[derive(Clone, Debug)]
pub struct Reply {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) content: Content,
}

#[derive(Clone, Debug)]
pub(super) enum Content {
    Answer(Answer),
    Error { kind: String, message: String },
    Raw(Bytes),
}

impl Reply {
    /// An assistant message in the format of the request, streamed if the request asks for it.
    #[must_use]
    pub const fn answer(answer: Answer) -> Self {
        Self {
            status: 200,
            headers: Vec::new(),
            content: Content::Answer(answer),
        }
    }

    /// An assistant message of text alone.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::answer(Answer {
            text: Some(text.into()),
            ..Answer::default()
        })
    }

    /// An assistant message of tool calls alone.
    #[must_use]
    pub fn calls(calls: impl IntoIterator<Item = Call>) -> Self {
        Self::answer(Answer {
            calls: calls.into_iter().collect(),
            ..Answer::default()
        })
    }

    /// An error in the shape of the provider the request was meant for.
    #[must_use]
    pub fn error(status: u16, kind: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            status,
            headers: Vec::new(),
            content: Content::Error {
                kind: kind.into(),
                message: message.into(),
            },
        }
    }

    /// Exactly these bytes.
    #[must_use]
    pub fn raw(status: u16, content_type: impl Into<String>, body: impl Into<Bytes>) -> Self {
        Self {
            status,
            headers: vec![(String::from("content-type"), content_type.into())],
            content: Content::Raw(body.into()),
        }
    }

    /// Adds a header to the response.
    #[must_use]
    pub fn with_header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Changes the HTTP status.
    #[must_use]
    pub const fn with_status(mut self, status: u16) -> Self {
        self.status = status;
        self
    }
}

/// What an assistant message holds, in the order in which it is sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// Thinking, which only Anthropic answers show; the server signs it.
    pub thinking: Option<String>,
    /// Text.
    pub text: Option<String>,
    /// Tool calls.
    pub calls: Vec<Call>,
    /// Searches of the web that the provider made before it wrote; only Anthropic answers show them. Each reads the
    /// whole input once more, and the usage at the end of the answer is the sum of them all.
    pub searches: u32,
    /// The reason to stop, in the words of the format; by default it follows from the content.
    pub stop_reason: Option<String>,
}

/// One tool call of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The identifier; by default one that is unique for the request.
    pub id: Option<String>,
    /// The tool.
    pub name: String,
    /// Its arguments, an object.
    pub arguments: Value,
}

impl Call {
    /// A call whose identifier the server chooses.
    #[must_use]
    pub fn new(name: impl Into<String>, arguments: Value) -> Self {
        Self {
            id: None,
            name: name.into(),
            arguments,
        }
    }
}
