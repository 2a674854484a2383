//! One HTTP/1.1 connection that costs its process little, to servers that send bodies with a length or in chunks.
//!
//! One request at a time, no redirects. A body in chunks is taken apart in place.

use std::io;
use std::net::SocketAddr;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// Room for an answer before the first one has shown how long they are.
const BUFFER_BYTES: usize = 64 * 1024;

/// Longest answer that is read.
const REPLY_BYTES_MAX: usize = 64 * 1024 * 1024;

/// An open connection.
pub(super) struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

/// An answer, as long as the connection is not used again.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reply<'c> {
    pub(super) status: u16,
    pub(super) body: &'c [u8],
    head: &'c [u8],
}

/// How a body ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Framing {
    Length(usize),
    Chunks,
}

impl Connection {
    pub(super) async fn open(address: SocketAddr) -> io::Result<Connection> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Connection { stream, buffer: vec![0; BUFFER_BYTES] })
    }

    /// Sends a request and waits for its answer.
    pub(super) async fn exchange(&mut self, request: &[u8]) -> io::Result<Reply<'_>> {
        self.stream.write_all(request).await?;
        let mut filled = 0;
        let mut searched = 0;
        let head_bytes = loop {
            filled += self.read_some(filled).await?;
            match find(&self.buffer[searched..filled], b"\r\n\r\n") {
                Some(at) => break searched + at + 4,
                // The end may straddle two reads.
                None => searched = filled.saturating_sub(3),
            }
        };
        let (status, framing) = parse_head(&self.buffer[..head_bytes])?;
        let body_bytes = match framing {
            Framing::Length(bytes) => {
                let total = head_bytes + bytes;
                while filled < total {
                    filled += self.read_some(filled).await?;
                }
                if filled > total {
                    return Err(invalid("more bytes came than the answer has"));
                }
                bytes
            }
            Framing::Chunks => self.read_chunks(head_bytes, filled).await?,
        };
        let (head, rest) = self.buffer.split_at(head_bytes);
        Ok(Reply { status, head, body: &rest[..body_bytes] })
    }

    /// Reads chunks until the last one, moves what they hold together, and returns how much that is.
    async fn read_chunks(&mut self, start: usize, mut filled: usize) -> io::Result<usize> {
        let (mut read_at, mut write_at) = (start, start);
        loop {
            let line_end = loop {
                match find(&self.buffer[read_at..filled], b"\r\n") {
                    Some(at) => break read_at + at,
                    None => filled += self.read_some(filled).await?,
                }
            };
            let size = chunk_size(&self.buffer[read_at..line_end])?;
            let chunk = line_end + 2;
            // Its own end of line comes behind a chunk; behind the last one, that of an empty trailer.
            let next = chunk.checked_add(size + 2).ok_or_else(|| invalid("a chunk is too long"))?;
            while filled < next {
                filled += self.read_some(filled).await?;
            }
            if &self.buffer[next - 2..next] != b"\r\n" {
                return Err(invalid("a chunk does not end where it should"));
            }
            if size == 0 {
                if filled > next {
                    return Err(invalid("more bytes came than the answer has"));
                }
                return Ok(write_at - start);
            }
            self.buffer.copy_within(chunk..chunk + size, write_at);
            write_at += size;
            read_at = next;
        }
    }

    async fn read_some(&mut self, filled: usize) -> io::Result<usize> {
        if filled == self.buffer.len() {
            if filled >= REPLY_BYTES_MAX {
                return Err(invalid("an answer is too long"));
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
    /// Walks the headers in the order in which they came.
    pub(super) fn headers(&self) -> impl Iterator<Item = (&str, &str)> {
        lines(self.head).skip(1).filter_map(|line| {
            let (name, value) = std::str::from_utf8(line).ok()?.split_once(':')?;
            Some((name, value.trim()))
        })
    }

    /// Returns the beginning of the body as text, for messages.
    pub(super) fn excerpt(&self) -> String {
        const CHARACTERS_MAX: usize = 400;
        String::from_utf8_lossy(self.body).chars().take(CHARACTERS_MAX).collect()
    }
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}

fn lines(head: &[u8]) -> impl Iterator<Item = &[u8]> {
    head.split(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line))
}

/// Returns the status, and how the body ends.
fn parse_head(head: &[u8]) -> io::Result<(u16, Framing)> {
    let status = head
        .strip_prefix(b"HTTP/1.1 ")
        .and_then(|rest| std::str::from_utf8(rest.get(..3)?).ok()?.parse().ok())
        .ok_or_else(|| invalid("the answer does not begin with a status line"))?;
    if matches!(status, 204 | 304) {
        return Ok((status, Framing::Length(0)));
    }
    let value = |name: &[u8]| {
        let line = lines(head).find(|line| {
            line.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name))
                && line.get(name.len()) == Some(&b':')
        })?;
        std::str::from_utf8(&line[name.len() + 1..]).ok().map(str::trim)
    };
    if value(b"transfer-encoding").is_some_and(|value| value.eq_ignore_ascii_case("chunked")) {
        return Ok((status, Framing::Chunks));
    }
    let length = value(b"content-length").and_then(|value| value.parse().ok());
    Ok((status, Framing::Length(length.ok_or_else(|| invalid("the answer has no length"))?)))
}

fn chunk_size(line: &[u8]) -> io::Result<usize> {
    let text = line.split(|byte| *byte == b';').next().unwrap_or_default();
    let size = std::str::from_utf8(text).ok().and_then(|text| usize::from_str_radix(text.trim(), 16).ok());
    size.filter(|size| *size <= REPLY_BYTES_MAX).ok_or_else(|| invalid("a chunk has no size"))
}

fn invalid(message: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, message)
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;

    use super::*;

    /// Answers one request with some bytes in pieces, and says what became of them.
    async fn exchange(pieces: &'static [&'static [u8]]) -> io::Result<(u16, Vec<u8>)> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        tokio::spawn(async move {
            let (mut socket, _) = listener.accept().await.unwrap();
            let _ = socket.read(&mut [0; 64]).await.unwrap();
            for piece in pieces {
                socket.write_all(piece).await.unwrap();
                socket.flush().await.unwrap();
                tokio::task::yield_now().await;
            }
        });
        let mut connection = Connection::open(address).await?;
        let reply = connection.exchange(b"GET / HTTP/1.1\r\n\r\n").await?;
        Ok((reply.status, reply.body.to_vec()))
    }

    #[tokio::test]
    async fn answers() {
        let long: &'static [u8] = Vec::leak(vec![b'x'; 100_000]);
        for (pieces, expected) in [
            (
                &[b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}" as &[u8]] as &[&[u8]],
                (200, b"{}" as &[u8]),
            ),
            (&[b"HTTP/1.1 200 OK\r\ncontent-length:2\r", b"\n\r", b"\n{", b"}"], (200, b"{}")),
            (&[b"HTTP/1.1 204 No Content\r\n\r\n"], (204, b"")),
            (&[b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"], (200, b"")),
            (
                &[b"HTTP/1.1 202 Ok\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\n\r\n"],
                (202, b"abc0123456789"),
            ),
            (
                &[b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1", b"86a0\r", b"\n", long, b"\r\n0\r\n", b"\r\n"],
                (200, long),
            ),
        ] {
            let pieces: &'static [&'static [u8]] = Vec::leak(pieces.to_vec());
            let (status, body) = exchange(pieces).await.unwrap();
            assert_eq!((status, body.as_slice()), expected);
        }
    }

    #[tokio::test]
    async fn what_is_no_answer_is_an_error() {
        for pieces in [
            &[b"" as &[u8]] as &[&[u8]],
            &[b"HTTP/1.1 200 OK\r\n\r\n{}"],
            &[b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n{}"],
            &[b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nx\r\n\r\n"],
            &[b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\nabc\r\n0\r\n\r\n"],
            &[b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\nmore"],
            &[b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nffffffffffffffff\r\n"],
            &[b"SSH-2.0\r\n\r\n"],
        ] {
            let pieces: &'static [&'static [u8]] = Vec::leak(pieces.to_vec());
            assert!(exchange(pieces).await.is_err(), "{pieces:?}");
        }
    }
}
