//! Frames over a stream of bytes: what comes is cut into frames, what goes is put together and written at once.

use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use tokio::io::{AsyncBufRead, AsyncWrite, AsyncWriteExt as _};

use crate::frame::{Decoder, Frame, Malformed};
use crate::limits::{BATCH_BYTES, CLOSE_TIME, COPIED_BYTES_MAX, RECORDS_AT_ONCE};

/// Why a connection ended.
pub(crate) enum Broken {
    /// The other side closed it.
    Closed,
    Io(io::Error),
    Malformed(Malformed),
    /// Nothing was heard for too long.
    Silent,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Broken::Closed => f.write_str("the other node closed the connection"),
            Broken::Io(error) => write!(f, "the connection broke: {error}"),
            Broken::Malformed(what) => write!(f, "the other node sent {what}"),
            Broken::Silent => f.write_str("the other node is silent"),
        }
    }
}

impl From<Malformed> for Broken {
    fn from(malformed: Malformed) -> Broken {
        Broken::Malformed(malformed)
    }
}

/// A stream of frames in both directions.
pub(crate) struct Wire<S> {
    stream: S,
    decoder: Decoder,
    /// What is being written, but for large payloads.
    out: Vec<u8>,
    written: usize,
    /// Large payloads, and where in `out` they belong.
    large: VecDeque<(usize, Bytes)>,
    must_flush: bool,
}

impl<S: AsyncBufRead + AsyncWrite + Unpin> Wire<S> {
    pub(crate) fn new(stream: S) -> Wire<S> {
        Wire {
            stream,
            decoder: Decoder::default(),
            out: Vec::new(),
            written: 0,
            large: VecDeque::new(),
            must_flush: false,
        }
    }

    /// Reads what there is and adds the frames that are complete. Is ready when anything was read.
    pub(crate) fn poll_read(
        &mut self,
        cx: &mut Context<'_>,
        frames: &mut Vec<Frame>,
    ) -> Poll<Result<(), Broken>> {
        for round in 0..RECORDS_AT_ONCE {
            let bytes = match Pin::new(&mut self.stream).poll_fill_buf(cx) {
                Poll::Ready(Ok([])) => Err(Broken::Closed),
                Poll::Ready(Ok(bytes)) => Ok(bytes),
                Poll::Ready(Err(error)) if error.kind() == io::ErrorKind::UnexpectedEof => {
                    Err(Broken::Closed)
                }
                Poll::Ready(Err(error)) => Err(Broken::Io(error)),
                Poll::Pending if round == 0 => return Poll::Pending,
                Poll::Pending => break,
            };
            let bytes = match bytes {
                Ok(bytes) => bytes,
                // First what has come before; the end is found again.
                Err(_) if round > 0 => break,
                Err(broken) => return Poll::Ready(Err(broken)),
            };
            let count = bytes.len();
            self.decoder.feed(bytes, frames)?;
            Pin::new(&mut self.stream).consume(count);
        }
        Poll::Ready(Ok(()))
    }

    /// Tells whether a frame has come in part.
    pub(crate) fn is_amid(&self) -> bool {
        self.decoder.is_amid()
    }

    /// Adds a frame to what is written.
    pub(crate) fn put(&mut self, frame: Frame) {
        self.out.extend_from_slice(&frame.header());
        if frame.payload.len() <= COPIED_BYTES_MAX {
            self.out.extend_from_slice(&frame.payload);
        } else {
            self.large.push_back((self.out.len(), frame.payload));
        }
    }

    /// Writes what was put. Is ready when all of it is written.
    pub(crate) fn poll_write(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Broken>> {
        match ready!(self.poll_write_io(cx)) {
            Ok(()) => Poll::Ready(Ok(())),
            Err(error) => Poll::Ready(Err(Broken::Io(error))),
        }
    }

    /// Closes the stream as it should be closed, if that does not take long.
    pub(crate) async fn close(&mut self) {
        let _ = tokio::time::timeout(CLOSE_TIME, self.stream.shutdown()).await;
    }

    fn poll_write_io(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut stream = Pin::new(&mut self.stream);
        loop {
            let small_end = self.large.front().map_or(self.out.len(), |(at, _)| *at);
            if self.written < small_end {
                let small = &self.out[self.written..small_end];
                let count = ready!(stream.as_mut().poll_write(cx, small))?;
                self.written += check(count)?;
            } else if let Some((_, payload)) = self.large.front_mut() {
                let count = ready!(stream.as_mut().poll_write(cx, payload))?;
                let _ = payload.split_to(check(count)?);
                if payload.is_empty() {
                    self.large.pop_front();
                }
            } else {
                break;
            }
            self.must_flush = true;
        }
        if self.must_flush {
            ready!(stream.poll_flush(cx))?;
            self.must_flush = false;
            self.out.clear();
            self.written = 0;
            self.out.shrink_to(BATCH_BYTES);
        }
        Poll::Ready(Ok(()))
    }
}

/// Refuses to go on when nothing was written.
fn check(count: usize) -> io::Result<usize> {
    if count == 0 { Err(io::ErrorKind::WriteZero.into()) } else { Ok(count) }
}
