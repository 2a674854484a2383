//! One connection of WebSocket that costs its process little: masked with zeros, without TLS, one request at a time.

use std::net::SocketAddr;

use anyhow::{Context as _, Result, bail, ensure};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// Room for an answer before the first one has shown how long they are.
const BUFFER_BYTES: usize = 16 * 1024;

/// The head of an answer to the upgrade at most.
const HEAD_BYTES_MAX: usize = 8 * 1024;

const END: u8 = 0x80;
const BINARY: u8 = 0x2;
const CONTINUED: u8 = 0x0;
const CLOSE: u8 = 0x8;
const MASKED: u8 = 0x80;

/// An open connection.
pub(super) struct WebSocket {
    stream: TcpStream,
    buffer: Vec<u8>,
    filled: usize,
    sent: Vec<u8>,
}

/// A frame in the buffer: where what it holds begins and ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Frame {
    first: u8,
    begin: usize,
    end: usize,
}

impl WebSocket {
    /// Connects, and asks for WebSocket.
    pub(super) async fn open(address: SocketAddr) -> Result<WebSocket> {
        let mut stream = TcpStream::connect(address).await.context("cannot connect")?;
        stream.set_nodelay(true)?;
        let upgrade = format!(
            "GET /gremlin HTTP/1.1\r\nHost: {address}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: YSBrZXkgb2YgMTYgYi4uLg==\r\n\r\n"
        );
        stream.write_all(upgrade.as_bytes()).await.context("cannot send")?;
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            ensure!(head.len() < HEAD_BYTES_MAX, "the server's answer does not end");
            head.push(stream.read_u8().await.context("the server does not answer")?);
        }
        ensure!(head.starts_with(b"HTTP/1.1 101"), "the server answers {}", String::from_utf8_lossy(&head));
        Ok(WebSocket { stream, buffer: vec![0; BUFFER_BYTES], filled: 0, sent: Vec::new() })
    }

    /// Sends a message, and hands over every message that answers it until one is said to be the last.
    pub(super) async fn exchange(
        &mut self,
        message: &[u8],
        mut look: impl FnMut(&[u8]) -> Result<bool>,
    ) -> Result<()> {
        self.sent.clear();
        write_frame(&mut self.sent, message);
        self.stream.write_all(&self.sent).await.context("cannot send")?;
        let mut parts: Vec<u8> = Vec::new();
        loop {
            let frame = self.frame().await?;
            let held = &self.buffer[frame.begin..frame.end];
            let (is_end, kind) = (frame.first & END != 0, frame.first & 0x0F);
            let mut is_last = false;
            match kind {
                BINARY if is_end => is_last = look(held)?,
                BINARY | CONTINUED => {
                    parts.extend_from_slice(held);
                    if is_end {
                        is_last = look(&parts)?;
                        parts.clear();
                    }
                }
                CLOSE => bail!("the server closed the connection"),
                // Others ask whether the client is there, which its next request tells.
                _ => {}
            }
            self.buffer.copy_within(frame.end..self.filled, 0);
            self.filled -= frame.end;
            if is_last {
                return Ok(());
            }
        }
    }

    async fn frame(&mut self) -> Result<Frame> {
        loop {
            match measure(&self.buffer[..self.filled]) {
                Some(frame) if frame.end <= self.filled => return Ok(frame),
                Some(frame) if frame.end > self.buffer.len() => self.buffer.resize(frame.end, 0),
                _ => {}
            }
            let read = self.stream.read(&mut self.buffer[self.filled..]).await.context("cannot receive")?;
            ensure!(read > 0, "the server closed the connection");
            self.filled += read;
        }
    }
}

/// Returns the frame that bytes begin with, as soon as its length is known.
fn measure(bytes: &[u8]) -> Option<Frame> {
    let [first, second, ..] = bytes else { return None };
    let (begin, length) = match second & 0x7F {
        126 => (4, u64::from(u16::from_be_bytes(bytes.get(2..4)?.try_into().ok()?))),
        127 => (10, u64::from_be_bytes(bytes.get(2..10)?.try_into().ok()?)),
        length => (2, u64::from(length)),
    };
    Some(Frame { first: *first, begin, end: begin + usize::try_from(length).ok()? })
}

/// Writes a message as one frame, with a mask that changes nothing.
fn write_frame(out: &mut Vec<u8>, message: &[u8]) {
    out.push(END | BINARY);
    match message.len() {
        length if length < 126 => out.push(MASKED | length as u8),
        length => match u16::try_from(length) {
            Ok(length) => {
                out.push(MASKED | 126);
                out.extend_from_slice(&length.to_be_bytes());
            }
            Err(_) => {
                out.push(MASKED | 127);
                out.extend_from_slice(&(length as u64).to_be_bytes());
            }
        },
    }
    out.extend_from_slice(&[0; 4]);
    out.extend_from_slice(message);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_have_their_length() {
        for length in [0, 125, 126, 65_535, 65_536] {
            let message = vec![7; length];
            let mut frame = Vec::new();
            write_frame(&mut frame, &message);
            let measured = measure(&frame).unwrap();
            // The mask is not a part of what servers send.
            assert_eq!(measured.end + 4, frame.len(), "{length}");
            assert_eq!(measured.end - measured.begin, length);
            assert_eq!(measured.first, END | BINARY);
        }
        assert_eq!(measure(&[0x82]), None);
        assert_eq!(measure(&[0x82, 126, 1]), None);
    }
}
