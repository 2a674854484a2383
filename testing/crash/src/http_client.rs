//! One HTTP/1.1 connection that costs its process little: request bytes go out as they are, and of the
//! answer only the status and the length are read until somebody asks for a header.
//!
//! One request at a time, no redirects, no chunked bodies (the server sends none).

use std::io;
use std::net::SocketAddr;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// Room for an answer before the first one has shown how long they are.
const BUFFER_BYTES: usize = 16 * 1024;

/// Longest answer that is read; feed pages have up to 4 MiB of items.
const REPLY_BYTES_MAX: usize = 64 * 1024 * 1024;

/// An open connection.
pub struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

/// An answer, as long as the connection is not used again.
#[derive(Debug, Clone, Copy)]
pub struct Reply<'c> {
    /// The status code.
    pub status: u16,
    /// The body.
    pub body: &'c [u8],
    head: &'c [u8],
}

impl Connection {
    /// Connects.
    pub async fn open(address: SocketAddr) -> io::Result<Connection> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Connection { stream, buffer: vec![0; BUFFER_BYTES] })
    }

    /// Sends a request and waits for its answer.
    pub async fn exchange(&mut self, request: &[u8]) -> io::Result<Reply<'_>> {
        self.stream.write_all(request).await?;
        let mut filled = 0;
        let mut searched = 0;
        let head_bytes = loop {
            filled += self.read_some(filled).await?;
            match find_head_end(&self.buffer[searched..filled]) {
                Some(end) => break searched + end,
                // The end may straddle two reads.
                None => searched = filled.saturating_sub(3),
            }
        };
        let (status, body_bytes) = parse_head(&self.buffer[..head_bytes])?;
        let total = head_bytes + body_bytes;
        if total > REPLY_BYTES_MAX {
            return Err(invalid("an answer is too long"));
        }
        if total > self.buffer.len() {
            self.buffer.resize(total, 0);
        }
        while filled < total {
            filled += self.read_some(filled).await?;
        }
        if filled > total {
            return Err(invalid("more bytes came than the answer has"));
        }
        Ok(Reply { status, head: &self.buffer[..head_bytes], body: &self.buffer[head_bytes..total] })
    }

    async fn read_some(&mut self, filled: usize) -> io::Result<usize> {
        if filled == self.buffer.len() {
            if filled >= REPLY_BYTES_MAX {
                return Err(invalid("the head of an answer does not end"));
            }
            self.buffer.resize(2 * filled, 0);
        }
        match self.stream.read(&mut self.buffer[filled..]).await? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            count => Ok(count),
        }
    }
}

impl Reply<'_> {
    /// Returns a header's value.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers().find(|(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// Says whether the server will take no further request on this connection.
    pub fn is_last(&self) -> bool {
        self.header("connection").is_some_and(|value| value.eq_ignore_ascii_case("close"))
    }

    /// Walks the headers in the order in which they came.
    pub fn headers(&self) -> impl Iterator<Item = (&str, &str)> {
        lines(self.head).skip(1).filter_map(|line| {
            let (name, value) = std::str::from_utf8(line).ok()?.split_once(':')?;
            Some((name, value.trim()))
        })
    }

    /// Returns the beginning of the body as text, for messages.
    pub fn excerpt(&self) -> String {
        const CHARACTERS_MAX: usize = 400;
        String::from_utf8_lossy(self.body).chars().take(CHARACTERS_MAX).collect()
    }
}

fn find_head_end(bytes: &[u8]) -> Option<usize> {
    bytes.windows(4).position(|window| window == b"\r\n\r\n").map(|at| at + 4)
}

fn lines(head: &[u8]) -> impl Iterator<Item = &[u8]> {
    head.split(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line))
}

/// Returns the status and the length of the body.
fn parse_head(head: &[u8]) -> io::Result<(u16, usize)> {
    const LENGTH: &[u8] = b"content-length:";
    let status = head
        .strip_prefix(b"HTTP/1.1 ")
        .and_then(|rest| std::str::from_utf8(rest.get(..3)?).ok()?.parse().ok())
        .ok_or_else(|| invalid("the answer does not begin with a status line"))?;
    if matches!(status, 204 | 304) {
        return Ok((status, 0));
    }
    let length = lines(head)
        .find(|line| line.len() > LENGTH.len() && line[..LENGTH.len()].eq_ignore_ascii_case(LENGTH))
        .and_then(|line| std::str::from_utf8(&line[LENGTH.len()..]).ok()?.trim().parse().ok())
        .ok_or_else(|| invalid("the answer has no length"))?;
    Ok((status, length))
}

fn invalid(message: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, message)
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;

    use super::*;

    /// Answers one request with some bytes in pieces, and says what became of them.
    async fn exchange(pieces: &'static [&'static [u8]]) -> io::Result<(u16, Option<String>, Vec<u8>)> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        tokio::spawn(async move {
            let (mut socket, _) = listener.accept().await.unwrap();
            let mut request = [0; 64];
            let _ = socket.read(&mut request).await.unwrap();
            for piece in pieces {
                socket.write_all(piece).await.unwrap();
                socket.flush().await.unwrap();
                tokio::task::yield_now().await;
            }
        });
        let mut connection = Connection::open(address).await?;
        let reply = connection.exchange(b"GET / HTTP/1.1\r\n\r\n").await?;
        assert_eq!(reply.is_last(), reply.status == 404);
        Ok((reply.status, reply.header("ETag").map(str::to_owned), reply.body.to_vec()))
    }

    #[tokio::test]
    async fn answers() {
        let long: &'static [u8] = Vec::leak(vec![b'x'; 40_000]);
        for (pieces, expected) in [
            (
                &[b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\netag: \"a\"\r\n\r\n{}" as &[u8]] as &[&[u8]],
                (200, Some("\"a\""), b"{}" as &[u8]),
            ),
            (&[b"HTTP/1.1 200 OK\r\ncontent-length:2\r", b"\n\r", b"\n{", b"}"], (200, None, b"{}")),
            (&[b"HTTP/1.1 204 No Content\r\n\r\n"], (204, None, b"")),
            (
                &[b"HTTP/1.1 404 Not Found\r\nConnection: close\r\ncontent-length: 0\r\n\r\n"],
                (404, None, b""),
            ),
            (&[b"HTTP/1.1 200 OK\r\ncontent-length: 40000\r\n\r\n", long], (200, None, long)),
        ] {
            let pieces: &'static [&'static [u8]] = Vec::leak(pieces.to_vec());
            let (status, etag, body) = exchange(pieces).await.unwrap();
            assert_eq!((status, etag.as_deref(), body.as_slice()), expected);
        }
    }

    #[tokio::test]
    async fn what_is_no_answer_is_an_error() {
        for pieces in [
            &[b"" as &[u8]] as &[&[u8]],
            &[b"HTTP/1.1 200 OK\r\n"],
            &[b"HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\n{}"],
            &[b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n{}"],
            &[b"HTTP/1.1 200 OK\r\n\r\n{}"],
            &[b"SSH-2.0\r\n\r\n"],
        ] {
            let pieces: &'static [&'static [u8]] = Vec::leak(pieces.to_vec());
            assert!(exchange(pieces).await.is_err(), "{pieces:?}");
        }
    }
}
