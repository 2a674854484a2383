//! The bytes of one connection, plain or under TLS, counted and watched.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::server::TlsStream;

use crate::listening::activity::Activity;
use crate::metrics::Metrics;

enum Transport {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

/// The stream of one connection.
pub(crate) struct Stream {
    transport: Transport,
    activity: Arc<Activity>,
    metrics: Arc<Metrics>,
}

impl Stream {
    /// Watches over a plain connection.
    pub(crate) fn plain(stream: TcpStream, activity: Arc<Activity>, metrics: Arc<Metrics>) -> Stream {
        Stream::new(Transport::Plain(stream), activity, metrics)
    }

    /// Watches over a TLS connection.
    pub(crate) fn tls(
        stream: TlsStream<TcpStream>,
        activity: Arc<Activity>,
        metrics: Arc<Metrics>,
    ) -> Stream {
        Stream::new(Transport::Tls(Box::new(stream)), activity, metrics)
    }

    fn new(transport: Transport, activity: Arc<Activity>, metrics: Arc<Metrics>) -> Stream {
        Stream { transport, activity, metrics }
    }

    /// Returns by which address the client came: the name that it asked TLS for, or our end of the socket.
    pub(crate) fn came_to(&self) -> String {
        let (socket, name) = match &self.transport {
            Transport::Plain(socket) => (socket, None),
            Transport::Tls(stream) => {
                let (socket, tls) = stream.get_ref();
                (socket, tls.server_name())
            }
        };
        match (socket.local_addr(), name) {
            (Ok(address), Some(name)) => format!("{name}:{}", address.port()),
            (Ok(address), None) => address.to_string(),
            (Err(_), _) => String::new(),
        }
    }

    fn note_sent(&self, count: usize) {
        self.activity.sent(count);
        self.metrics.sent(count);
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(match &mut self.transport {
            Transport::Plain(stream) => Pin::new(stream).poll_read(cx, buffer),
            Transport::Tls(stream) => Pin::new(stream.as_mut()).poll_read(cx, buffer),
        })?;
        let count = buffer.filled().len() - before;
        if count > 0 {
            self.activity.received();
            self.metrics.received(count);
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Stream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = match &mut self.transport {
            Transport::Plain(stream) => Pin::new(stream).poll_write(cx, bytes),
            Transport::Tls(stream) => Pin::new(stream.as_mut()).poll_write(cx, bytes),
        };
        if let Poll::Ready(Ok(count)) = written {
            self.note_sent(count);
        }
        written
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = match &mut self.transport {
            Transport::Plain(stream) => Pin::new(stream).poll_write_vectored(cx, slices),
            Transport::Tls(stream) => Pin::new(stream.as_mut()).poll_write_vectored(cx, slices),
        };
        if let Poll::Ready(Ok(count)) = written {
            self.note_sent(count);
        }
        written
    }

    fn is_write_vectored(&self) -> bool {
        match &self.transport {
            Transport::Plain(stream) => stream.is_write_vectored(),
            Transport::Tls(stream) => stream.is_write_vectored(),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.transport {
            Transport::Plain(stream) => Pin::new(stream).poll_flush(cx),
            Transport::Tls(stream) => Pin::new(stream.as_mut()).poll_flush(cx),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.transport {
            Transport::Plain(stream) => Pin::new(stream).poll_shutdown(cx),
            Transport::Tls(stream) => Pin::new(stream.as_mut()).poll_shutdown(cx),
        }
    }
}
