//! As much of HTTP as it takes to ask a server on this machine, and to be one for a moment.

use std::net::SocketAddr;

use anyhow::{Context, Result, bail};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// What is read of an answer at most.
const MOST_BYTES: u64 = 4 << 20;

/// An answer.
pub(super) struct Answer {
    pub(super) status: u16,
    head: String,
    pub(super) body: String,
}

impl Answer {
    /// A header, empty where there is none.
    pub(super) fn header(&self, name: &str) -> &str {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(':'));
        lines
            .find(|(found, _)| found.eq_ignore_ascii_case(name))
            .map_or("", |(_, value)| value.trim())
    }
}

pub(super) async fn get(address: SocketAddr, path: &str) -> Result<Answer> {
    ask(
        address,
        &format!("GET {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n"),
    )
    .await
}

pub(super) async fn post(address: SocketAddr, path: &str, body: &str) -> Result<Answer> {
    let length = body.len();
    let request = format!(
        "POST {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncontent-type: application/json\r\n\
         content-length: {length}\r\n\r\n{body}"
    );
    ask(address, &request).await
}

async fn ask(address: SocketAddr, request: &str) -> Result<Answer> {
    let mut stream = TcpStream::connect(address).await?;
    stream.write_all(request.as_bytes()).await?;
    let mut bytes = Vec::new();
    stream.take(MOST_BYTES).read_to_end(&mut bytes).await?;
    let text = String::from_utf8_lossy(&bytes);
    let (head, body) = text.split_once("\r\n\r\n").context("no answer of HTTP")?;
    let status = head.split(' ').nth(1).and_then(|code| code.parse().ok());
    Ok(Answer {
        status: status.context("no status in the answer")?,
        head: head.to_owned(),
        body: body.to_owned(),
    })
}

/// Answers one request with `body`, and hands over what was asked.
pub(super) async fn answer_one(listener: TcpListener, body: &str) -> Result<String> {
    let (mut stream, _) = listener.accept().await?;
    let mut bytes = Vec::new();
    let mut piece = vec![0; 1 << 16];
    let asked = loop {
        let count = stream.read(&mut piece).await?;
        if count == 0 {
            bail!("the request ended before it was whole");
        }
        bytes.extend_from_slice(piece.get(..count).unwrap_or_default());
        let text = String::from_utf8_lossy(&bytes);
        let Some((head, got)) = text.split_once("\r\n\r\n") else {
            continue;
        };
        let length = head
            .lines()
            .filter_map(|line| line.split_once(':'))
            .find(|(name, _)| name.eq_ignore_ascii_case("content-length"))
            .and_then(|(_, value)| value.trim().parse::<usize>().ok());
        if length.is_some_and(|length| got.len() >= length) {
            break got.to_owned();
        }
    };
    let length = body.len();
    let answer = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
    );
    stream.write_all(answer.as_bytes()).await?;
    Ok(asked)
}
