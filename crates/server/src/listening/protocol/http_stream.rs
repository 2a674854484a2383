//! The bytes of an HTTP connection.
//!
//! It tells `activity` of HTTP/2, where bytes are no sign of a request. And it mends one thing: the HTTP stack answers a
//! request head that it cannot parse by itself, with a status and no body, and SDKs parse the body of every failure as
//! JSON. No answer of ours with such a status is without a body, so those answers can be told apart and given one.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::listening::activity::Activity;
use crate::listening::stream::Stream;
use crate::requests::answer;

/// What an HTTP/2 connection begins with; no HTTP/1.1 method does.
const HTTP2_PREFACE: &[u8] = b"PRI * HTTP/2.0";

/// The stream of one connection.
pub(super) struct HttpStream {
    stream: Stream,
    activity: Arc<Activity>,
    /// How many bytes of the preface were seen, until they differ or are all there.
    preface_seen: Option<usize>,
    /// An answer that takes the place of one without a body, and how much of it went out.
    mended: Option<(Vec<u8>, usize)>,
}

impl HttpStream {
    /// Watches over a connection.
    pub(super) fn new(stream: Stream, activity: Arc<Activity>) -> HttpStream {
        HttpStream { stream, activity, preface_seen: Some(0), mended: None }
    }

    /// Returns what is beneath, for another protocol.
    pub(super) fn into_inner(self) -> Stream {
        self.stream
    }

    fn watch_preface(&mut self, bytes: &[u8]) {
        let Some(seen) = self.preface_seen else { return };
        let rest = &HTTP2_PREFACE[seen..];
        let length = rest.len().min(bytes.len());
        if rest[..length] != bytes[..length] {
            self.preface_seen = None;
        } else if length == rest.len() {
            self.preface_seen = None;
            self.activity.is_http2();
        } else {
            self.preface_seen = Some(seen + length);
        }
    }

    /// Writes a mended answer if these bytes call for one; `None` if they do not.
    fn poll_mended(
        &mut self,
        cx: &mut Context<'_>,
        first: &[u8],
        whole_length: usize,
    ) -> Option<Poll<io::Result<usize>>> {
        if self.mended.is_none() {
            if !self.activity.is_reading_head() || first.len() != whole_length {
                return None;
            }
            self.mended = Some((answer::with_body(first)?, 0));
        }
        let (bytes, mut done) = self.mended.take()?;
        while done < bytes.len() {
            match Pin::new(&mut self.stream).poll_write(cx, &bytes[done..]) {
                Poll::Pending => {
                    self.mended = Some((bytes, done));
                    return Some(Poll::Pending);
                }
                Poll::Ready(Err(error)) => return Some(Poll::Ready(Err(error))),
                Poll::Ready(Ok(0)) => return Some(Poll::Ready(Err(io::ErrorKind::WriteZero.into()))),
                Poll::Ready(Ok(count)) => done += count,
            }
        }
        Some(Poll::Ready(Ok(whole_length)))
    }
}

impl AsyncRead for HttpStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, buffer))?;
        if self.preface_seen.is_some() {
            self.watch_preface(&buffer.filled()[before..]);
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for HttpStream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self.poll_mended(cx, bytes, bytes.len()) {
            Some(written) => written,
            None => Pin::new(&mut self.stream).poll_write(cx, bytes),
        }
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let first = slices.first().map_or(&[][..], |slice| slice);
        let whole_length = slices.iter().map(|slice| slice.len()).sum();
        match self.poll_mended(cx, first, whole_length) {
            Some(written) => written,
            None => Pin::new(&mut self.stream).poll_write_vectored(cx, slices),
        }
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
