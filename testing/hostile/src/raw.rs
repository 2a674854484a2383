//! Bytes on a socket, for what no proper client would send.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context as _, Result};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// Longest answer that is read.
const ANSWER_BYTES_MAX: usize = 16 * 1024 * 1024;

/// A connection without any protocol.
pub struct RawConnection {
    stream: TcpStream,
}

impl RawConnection {
    /// Connects.
    pub async fn open(address: SocketAddr) -> Result<RawConnection> {
        let stream = TcpStream::connect(address).await.context("cannot connect")?;
        stream.set_nodelay(true)?;
        Ok(RawConnection { stream })
    }

    /// Sends bytes at once.
    pub async fn send(&mut self, bytes: &[u8]) -> Result<()> {
        self.stream.write_all(bytes).await.context("cannot send")?;
        Ok(self.stream.flush().await?)
    }

    /// Says that nothing more will be sent.
    pub async fn end(&mut self) -> Result<()> {
        Ok(self.stream.shutdown().await?)
    }

    /// Reads until the server closes the connection, or nothing came for a while. Says which.
    pub async fn read_all(&mut self, patience: Duration) -> Result<(Vec<u8>, Ending)> {
        let mut answer = Vec::new();
        let mut buffer = vec![0; 16 * 1024];
        while answer.len() < ANSWER_BYTES_MAX {
            match timeout(patience, self.stream.read(&mut buffer)).await {
                Err(_) => return Ok((answer, Ending::Silence)),
                Ok(Ok(0)) => return Ok((answer, Ending::Closed)),
                Ok(Ok(count)) => answer.extend_from_slice(&buffer[..count]),
                // A server may reset a connection on which it was sent more than it read.
                Ok(Err(_)) => return Ok((answer, Ending::Closed)),
            }
        }
        Ok((answer, Ending::Silence))
    }

    /// Reads the status of the next answer, throwing the rest away.
    pub async fn status(&mut self, patience: Duration) -> Result<u16> {
        let (answer, _) = self.read_all(patience).await?;
        status_of(&answer).with_context(|| {
            format!("no status line: {:?}", String::from_utf8_lossy(&answer[..answer.len().min(200)]))
        })
    }
}

/// How reading ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The server closed the connection.
    Closed,
    /// Nothing came for as long as was waited.
    Silence,
}

/// Returns the status of an answer of HTTP/1.
pub fn status_of(answer: &[u8]) -> Option<u16> {
    let line = std::str::from_utf8(answer.get(..12)?).ok()?;
    line.strip_prefix("HTTP/1.1 ").or_else(|| line.strip_prefix("HTTP/1.0 "))?.parse().ok()
}
