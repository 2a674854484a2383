//! A request body that does not wait for ever.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use armilla_env::{Clock, SleepFuture};
use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

/// A body whose every piece must come within a time, and all of it within another.
pub(crate) struct TimedBody<B> {
    inside: B,
    clock: Arc<dyn Clock>,
    piece_timeout: Duration,
    end: Duration,
    wait: Option<SleepFuture>,
    stalled: Stalled,
}

/// Tells afterwards whether a body stood still.
#[derive(Clone, Default)]
pub(crate) struct Stalled(Arc<AtomicBool>);

impl Stalled {
    /// Returns true if the body was given up.
    pub(crate) fn get(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Why a body ended before its end.
#[derive(Debug)]
pub(crate) enum BodyError<E> {
    /// The client stopped sending.
    Stalled,
    /// The connection failed.
    Connection(E),
}

impl<E> fmt::Display for BodyError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BodyError::Stalled => write!(f, "the request body stopped arriving"),
            BodyError::Connection(_) => write!(f, "the connection failed inside the request body"),
        }
    }
}

impl<E: std::error::Error + 'static> std::error::Error for BodyError<E> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            BodyError::Stalled => None,
            BodyError::Connection(error) => Some(error),
        }
    }
}

impl<B> TimedBody<B> {
    /// Sets the times of a body, from now on.
    pub(crate) fn new(
        inside: B,
        clock: Arc<dyn Clock>,
        piece_timeout: Duration,
        total_timeout: Duration,
    ) -> TimedBody<B> {
        let end = clock.elapsed() + total_timeout;
        TimedBody { inside, clock, piece_timeout, end, wait: None, stalled: Stalled::default() }
    }

    /// Returns what will know whether the body stood still.
    pub(crate) fn stalled(&self) -> Stalled {
        self.stalled.clone()
    }
}

impl<B: Body<Data = Bytes> + Unpin> Body for TimedBody<B> {
    type Data = Bytes;
    type Error = BodyError<B::Error>;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        if let Poll::Ready(frame) = Pin::new(&mut self.inside).poll_frame(cx) {
            self.wait = None;
            return Poll::Ready(frame.map(|frame| frame.map_err(BodyError::Connection)));
        }
        let this = &mut *self;
        let wait = this.wait.get_or_insert_with(|| {
            let remaining = this.end.saturating_sub(this.clock.elapsed());
            this.clock.sleep(this.piece_timeout.min(remaining))
        });
        match wait.as_mut().poll(cx) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(()) => {
                self.wait = None;
                self.stalled.0.store(true, Ordering::Relaxed);
                Poll::Ready(Some(Err(BodyError::Stalled)))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.inside.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inside.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use armilla_env::{Env, SimulatedClock};
    use http_body_util::BodyExt as _;
    use tokio::sync::mpsc;

    use super::*;

    struct Channel(mpsc::Receiver<Bytes>);

    impl Body for Channel {
        type Data = Bytes;
        type Error = std::io::Error;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            cx: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, std::io::Error>>> {
            self.0.poll_recv(cx).map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes))))
        }
    }

    const PIECE: Duration = Duration::from_secs(30);
    const TOTAL: Duration = Duration::from_secs(100);

    /// Reads a body to which a piece comes after each of these waits; the last wait brings its end.
    async fn read(waits_ms: &[u64]) -> (Result<usize, String>, bool) {
        let (env, clock) = Env::simulated(1);
        let (sender, receiver) = mpsc::channel(1);
        let body = TimedBody::new(Channel(receiver), env.clock.clone(), PIECE, TOTAL);
        let stalled = body.stalled();
        let reading = tokio::spawn(async move {
            body.collect().await.map(|all| all.to_bytes().len()).map_err(|error| error.to_string())
        });
        let feed = async |clock: &SimulatedClock| {
            for (index, wait_ms) in waits_ms.iter().enumerate() {
                settle().await;
                clock.advance(Duration::from_millis(*wait_ms));
                settle().await;
                if index + 1 < waits_ms.len() && sender.send(Bytes::from_static(b"x")).await.is_err() {
                    return;
                }
            }
        };
        feed(&clock).await;
        drop(sender);
        (reading.await.unwrap(), stalled.get())
    }

    async fn settle() {
        for _ in 0..10 {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn times_are_kept() {
        let stopped = Err("the request body stopped arriving".to_string());
        assert_eq!(read(&[0, 0, 0]).await, (Ok(2), false));
        assert_eq!(read(&[29_999, 29_999, 29_999]).await, (Ok(2), false));
        assert_eq!(read(&[29_999, 30_000, 0]).await, (stopped.clone(), true));
        assert_eq!(read(&[25_000, 25_000, 25_000, 24_999]).await, (Ok(3), false));
        assert_eq!(read(&[25_000, 25_000, 25_000, 25_000]).await, (stopped, true));
    }
}
