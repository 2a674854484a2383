//! A client of the Gremlin API that can log in, ask, and say what no driver says: frames of WebSocket, byte by byte.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context as _, Result, anyhow, ensure};
use armilla_rest_wire::well_known;
use armilla_value::{Object, Value, json};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// The first byte of a frame that is a whole message, or the last of one.
pub const FINAL: u8 = 0x80;

/// What a frame is.
pub mod opcode {
    /// More of a message.
    pub const CONTINUATION: u8 = 0;
    /// Text.
    pub const TEXT: u8 = 1;
    /// Bytes.
    pub const BINARY: u8 = 2;
    /// The end.
    pub const CLOSE: u8 = 8;
    /// To be answered with the same.
    pub const PING: u8 = 9;
}

/// Frames of a client are masked; with zeros they stay what they are.
const MASK: [u8; 4] = [0; 4];
const MASKED: u8 = 0x80;

/// Longest message that is read.
const MESSAGE_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Results of a script that are kept.
const RESULTS_MAX: usize = 1_000;

/// What asks for WebSocket.
pub const HANDSHAKE: &str = "GET /gremlin HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: websocket\r\n\
                             sec-websocket-version: 13\r\nsec-websocket-key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n\r\n";

/// A connection to the Gremlin port.
pub struct GremlinConnection {
    stream: TcpStream,
    ahead: Vec<u8>,
    number: u64,
}

/// A message of the server.
#[derive(Debug)]
pub struct Message {
    /// What it is.
    pub opcode: u8,
    /// What it says.
    pub bytes: Vec<u8>,
}

/// What came of a script.
#[derive(Debug)]
pub struct Outcome {
    /// The status of the last answer.
    pub code: i64,
    /// The status of the service in it.
    pub inner: i64,
    /// What it says.
    pub message: String,
    /// The first results of all answers.
    pub results: Vec<Value>,
}

impl Outcome {
    /// Says whether it went well.
    pub fn is_ok(&self) -> bool {
        matches!(self.code, 200 | 204)
    }
}

/// Returns a frame: the first byte as it is, then the length, masked or not, then the text.
pub fn frame_of(first: u8, is_masked: bool, text: &[u8]) -> Vec<u8> {
    let mut frame = announced(first, is_masked, text.len() as u64);
    frame.extend_from_slice(text);
    frame
}

/// Returns the head of a frame of some length.
pub fn announced(first: u8, is_masked: bool, length: u64) -> Vec<u8> {
    let masked = if is_masked { MASKED } else { 0 };
    let mut head = vec![first];
    match (u8::try_from(length), u16::try_from(length)) {
        (Ok(length), _) if length < 126 => head.push(masked | length),
        (_, Ok(length)) => {
            head.push(masked | 126);
            head.extend_from_slice(&length.to_be_bytes());
        }
        _ => {
            head.push(masked | 127);
            head.extend_from_slice(&length.to_be_bytes());
        }
    }
    if is_masked {
        head.extend_from_slice(&MASK);
    }
    head
}

/// Returns a message of text.
pub fn text(message: &str) -> Vec<u8> {
    frame_of(FINAL | opcode::TEXT, true, message.as_bytes())
}

/// Returns a message of bytes in a format, by its mime type.
pub fn binary(mime: &str, payload: &[u8]) -> Vec<u8> {
    let length = u8::try_from(mime.len()).unwrap_or(u8::MAX);
    frame_of(FINAL | opcode::BINARY, true, &[&[length], mime.as_bytes(), payload].concat())
}

/// Returns the id of the request of a number.
pub fn request_id(number: u64) -> String {
    format!("00000000-0000-4000-8000-{number:012x}")
}

/// Returns a request to run a script, with further arguments as members of JSON.
pub fn script_request(number: u64, script: &str, arguments: &str) -> String {
    format!(
        "{{\"requestId\":\"{}\",\"op\":\"eval\",\"processor\":\"\",\"args\":{{\"gremlin\":{}{arguments}}}}}",
        request_id(number),
        json::to_string(&Value::from(script))
    )
}

impl GremlinConnection {
    /// Connects, and says nothing.
    pub async fn silent(address: SocketAddr) -> Result<GremlinConnection> {
        let stream = TcpStream::connect(address).await.context("cannot connect")?;
        stream.set_nodelay(true)?;
        Ok(GremlinConnection { stream, ahead: Vec::new(), number: 0 })
    }

    /// Connects, and agrees on WebSocket.
    pub async fn open(address: SocketAddr) -> Result<GremlinConnection> {
        let mut connection = GremlinConnection::silent(address).await?;
        connection.send(HANDSHAKE.as_bytes()).await?;
        let status = connection.handshake_status(crate::stage::ANSWER_TIMEOUT).await?;
        ensure!(status == Some(101), "the handshake got {status:?}");
        Ok(connection)
    }

    /// Connects, and logs in with the key of the account.
    pub async fn login(address: SocketAddr, graph: &str) -> Result<GremlinConnection> {
        let mut connection = GremlinConnection::open(address).await?;
        let number = connection.send_script("g.inject(0)", "").await?;
        let challenge = connection.answer().await?.context("no challenge")?;
        ensure!(status_of(&challenge).0 == 407, "no challenge: {challenge:?}");
        let sasl = STANDARD.encode(format!("\0{graph}\0{}", well_known::COSMOS_KEY));
        let login = format!(
            "{{\"requestId\":\"{}\",\"op\":\"authentication\",\"processor\":\"traversal\",\"args\":{{\"sasl\":\"{sasl}\"}}}}",
            request_id(number)
        );
        connection.send(&text(&login)).await?;
        let answer = connection.answer().await?.context("the login was not answered")?;
        ensure!(status_of(&answer).0 == 200, "the login was refused: {answer:?}");
        Ok(connection)
    }

    /// Sends bytes as they are.
    pub async fn send(&mut self, bytes: &[u8]) -> Result<()> {
        self.stream.write_all(bytes).await.context("cannot send")?;
        Ok(self.stream.flush().await?)
    }

    /// Sends bytes for as long as they are taken within a time each; returns how many were.
    pub async fn send_while_taken(&mut self, bytes: &[u8], times: usize, patience: Duration) -> usize {
        let mut sent = 0;
        for _ in 0..times {
            match timeout(patience, self.stream.write_all(bytes)).await {
                Ok(Ok(())) => sent += bytes.len(),
                _ => break,
            }
        }
        sent
    }

    /// Sends a script and does not wait; returns the number of the request.
    pub async fn send_script(&mut self, script: &str, arguments: &str) -> Result<u64> {
        self.number += 1;
        let request = text(&script_request(self.number, script, arguments));
        self.send(&request).await?;
        Ok(self.number)
    }

    /// Reads the status of what comes before WebSocket; none if the server closed the connection instead.
    pub async fn handshake_status(&mut self, limit: Duration) -> Result<Option<u16>> {
        const HEAD_END: &[u8] = b"\r\n\r\n";
        loop {
            if let Some(end) = self.ahead.windows(HEAD_END.len()).position(|window| window == HEAD_END) {
                let status = crate::raw::status_of(&self.ahead);
                self.ahead.drain(..end + HEAD_END.len());
                return Ok(Some(status.context("no status line")?));
            }
            if !self.read_more(limit).await? {
                return Ok(None);
            }
        }
    }

    async fn read_more(&mut self, limit: Duration) -> Result<bool> {
        let mut buffer = [0; 16 * 1024];
        let read = timeout(limit, self.stream.read(&mut buffer))
            .await
            .with_context(|| format!("neither an answer nor an end within {limit:?}"))?;
        // A server may reset a connection on which it was sent more than it read.
        let count = read.unwrap_or(0);
        self.ahead.extend_from_slice(&buffer[..count]);
        ensure!(self.ahead.len() <= MESSAGE_BYTES_MAX, "a message without an end");
        Ok(count > 0)
    }

    /// Waits for the next message; none if the server closed the connection instead, with or without a word.
    pub async fn next(&mut self, limit: Duration) -> Result<Option<Message>> {
        loop {
            if let Some(message) = self.take_message()? {
                return Ok((message.opcode != opcode::CLOSE).then_some(message));
            }
            if !self.read_more(limit).await? {
                return Ok(None);
            }
        }
    }

    /// Takes a message that has come; the server sends each in one frame, unmasked.
    fn take_message(&mut self) -> Result<Option<Message>> {
        let Some((&[first, second], rest)) = self.ahead.split_first_chunk() else { return Ok(None) };
        ensure!(first & FINAL != 0 && second & MASKED == 0, "a frame that begins with {first:x} {second:x}");
        let (length, head) = match second {
            126 => match rest.first_chunk() {
                Some(bytes) => (usize::from(u16::from_be_bytes(*bytes)), 4),
                None => return Ok(None),
            },
            127 => match rest.first_chunk() {
                Some(bytes) => (usize::try_from(u64::from_be_bytes(*bytes))?, 10),
                None => return Ok(None),
            },
            length => (usize::from(length), 2),
        };
        ensure!(length <= MESSAGE_BYTES_MAX, "a message of {length} bytes");
        let Some(bytes) = self.ahead.get(head..head + length) else { return Ok(None) };
        let message = Message { opcode: first & 0x0F, bytes: bytes.to_vec() };
        self.ahead.drain(..head + length);
        Ok(Some(message))
    }

    async fn answer(&mut self) -> Result<Option<Object>> {
        self.answer_within(crate::stage::ANSWER_TIMEOUT).await
    }

    /// Waits for the next answer, which is JSON; none if the server closed the connection instead.
    pub async fn answer_within(&mut self, limit: Duration) -> Result<Option<Object>> {
        let Some(message) = self.next(limit).await? else { return Ok(None) };
        match json::parse(&message.bytes) {
            Ok(Value::Object(answer)) => Ok(Some(answer)),
            other => Err(anyhow!("an answer that is none: {other:?}")),
        }
    }

    /// Sends a script and waits for all of its answers.
    pub async fn ask(&mut self, script: &str) -> Result<Outcome> {
        self.ask_within(script, "", crate::stage::ANSWER_TIMEOUT).await
    }

    /// Sends a script that must succeed; returns its results.
    pub async fn run(&mut self, script: &str) -> Result<Vec<Value>> {
        let outcome = self.ask(script).await?;
        ensure!(outcome.is_ok(), "{script} got {}: {}", outcome.code, outcome.message);
        Ok(outcome.results)
    }

    /// Sends a script, and gives up after a while.
    pub async fn ask_within(&mut self, script: &str, arguments: &str, limit: Duration) -> Result<Outcome> {
        let asking = async {
            self.send_script(script, arguments).await?;
            let mut results = Vec::new();
            loop {
                let answer = self.answer_within(limit).await?.context("the connection was closed instead")?;
                let (code, inner, message) = status_of(&answer);
                if let Some(Value::Array(data)) = answer.get("result").and_then(|result| result.get("data")) {
                    let room = RESULTS_MAX.saturating_sub(results.len());
                    results.extend(data.iter().take(room).cloned());
                }
                if code != 206 {
                    return anyhow::Ok(Outcome { code, inner, message, results });
                }
            }
        };
        let shown: String = script.chars().take(100).collect();
        let asked = timeout(limit, asking).await;
        asked.with_context(|| format!("no end of answers to {shown} within {limit:?}"))?.context(shown)
    }
}

/// Returns the statuses and the message of an answer.
pub fn status_of(answer: &Object) -> (i64, i64, String) {
    let status = answer.get("status");
    let number = |value: Option<&Value>| value.and_then(Value::as_i64).unwrap_or(0);
    let code = number(status.and_then(|status| status.get("code")));
    let attributes = status.and_then(|status| status.get("attributes"));
    let inner = number(attributes.and_then(|attributes| attributes.get("x-ms-status-code")));
    let message = status.and_then(|status| status.get("message")).and_then(Value::as_str);
    (code, inner, message.unwrap_or_default().to_owned())
}
