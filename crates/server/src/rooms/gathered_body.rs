//! A request body that comes in one piece, does not wait for ever, and takes no more memory than it is counted with.
//!
//! Clients choose how they cut a body: two million pieces of one byte would cost a hundred times what they hold. So
//! pieces are put together here, as they come, in one buffer; and room is taken for that buffer and for nothing that was
//! only announced. A body that comes whole is passed on as it is.

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use armilla_env::{Clock, SleepFuture};
use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use parking_lot::Mutex;

use crate::limits::{BODY_GATHERED_BYTES_MAX, BODY_GATHERED_BYTES_MIN, PROGRESS_BYTES};
use crate::listening::activity::Activity;
use crate::rooms::Rooms;
use crate::rooms::room::Held;

/// A body whose every piece must come within a time, and all of it within another.
pub(crate) struct GatheredBody<B> {
    state: State<B>,
    watch: Arc<BodyWatch>,
}

enum State<B> {
    /// Nothing has been asked of it.
    Fresh(Reader<B>),
    Gathering(Gathering<B>),
    /// What came so far was passed on.
    Between(Reader<B>),
    Ended,
}

/// Returns the reader with what it has put together.
type Gathering<B> = Pin<Box<dyn Future<Output = (Reader<B>, Result<Bytes, Given>)> + Send>>;

/// What is known about a body while its request is served.
pub(crate) struct BodyWatch {
    activity: Arc<Activity>,
    rooms: Arc<Rooms>,
    held: Mutex<Held>,
    given_up: AtomicU8,
}

/// Why a body was given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GivenUp {
    /// The client stopped sending, or sends too slowly.
    Stalled,
    /// There was no room for it.
    NoRoom,
}

const STALLED: u8 = 1;
const NO_ROOM: u8 = 2;

impl BodyWatch {
    /// Returns why the body was given up, if it was.
    pub(crate) fn given_up(&self) -> Option<GivenUp> {
        match self.given_up.load(Ordering::Relaxed) {
            STALLED => Some(GivenUp::Stalled),
            NO_ROOM => Some(GivenUp::NoRoom),
            _ => None,
        }
    }

    fn try_grow(&self, bytes: usize) -> bool {
        self.held.lock().try_grow(bytes).is_ok()
    }

    fn give_up(&self, why: GivenUp) -> Given {
        let code = match why {
            GivenUp::Stalled => STALLED,
            GivenUp::NoRoom => NO_ROOM,
        };
        self.given_up.store(code, Ordering::Relaxed);
        Given::Up(why)
    }
}

/// How reading ended without bytes.
enum Given {
    Up(GivenUp),
    /// The connection failed.
    Broken(String),
    /// There is no more.
    End,
}

/// Why a body ended before its end.
#[derive(Debug)]
pub(crate) enum BodyError {
    /// It was given up.
    GivenUp(GivenUp),
    /// The connection failed.
    Connection(String),
}

impl fmt::Display for BodyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BodyError::GivenUp(GivenUp::Stalled) => write!(f, "the request body stopped arriving"),
            BodyError::GivenUp(GivenUp::NoRoom) => write!(f, "there is no room for the request body"),
            BodyError::Connection(why) => write!(f, "the connection failed inside the request body: {why}"),
        }
    }
}

/// How long a body may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BodyTimes {
    /// For the next [`PROGRESS_BYTES`], or for its end.
    pub(crate) piece: Duration,
    /// For all of it.
    pub(crate) total: Duration,
}

/// Takes pieces from a body, and watches the time.
struct Reader<B> {
    inside: B,
    clock: Arc<dyn Clock>,
    piece_timeout: Duration,
    end: Duration,
    wait: Option<SleepFuture>,
    /// Bytes since the wait began.
    came: usize,
}

impl<B> GatheredBody<B> {
    /// Sets the times of a body, from now on, and returns what is to be kept until the request is answered.
    pub(crate) fn new(
        inside: B,
        times: BodyTimes,
        clock: Arc<dyn Clock>,
        rooms: &Arc<Rooms>,
        activity: &Arc<Activity>,
    ) -> (GatheredBody<B>, Arc<BodyWatch>) {
        let end = clock.elapsed() + times.total;
        let reader = Reader { inside, clock, piece_timeout: times.piece, end, wait: None, came: 0 };
        let watch = Arc::new(BodyWatch {
            activity: activity.clone(),
            rooms: rooms.clone(),
            held: Mutex::new(rooms.body(activity)),
            given_up: AtomicU8::new(0),
        });
        (GatheredBody { state: State::Fresh(reader), watch: watch.clone() }, watch)
    }
}

impl<B> Reader<B>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: fmt::Display,
{
    /// Waits for the next bytes.
    fn poll_piece(&mut self, cx: &mut Context<'_>, watch: &BodyWatch) -> Poll<Result<Bytes, Given>> {
        loop {
            match Pin::new(&mut self.inside).poll_frame(cx) {
                Poll::Ready(None) => return Poll::Ready(Err(Given::End)),
                Poll::Ready(Some(Err(error))) => return Poll::Ready(Err(Given::Broken(error.to_string()))),
                Poll::Ready(Some(Ok(frame))) => match frame.into_data() {
                    Ok(data) if !data.is_empty() => {
                        self.note(data.len(), watch);
                        return Poll::Ready(Ok(data));
                    }
                    // Nothing, or trailers, of which nobody asks.
                    _ => continue,
                },
                Poll::Pending => {}
            }
            let wait = self.wait.get_or_insert_with(|| {
                let remaining = self.end.saturating_sub(self.clock.elapsed());
                self.clock.sleep(self.piece_timeout.min(remaining))
            });
            return wait.as_mut().poll(cx).map(|()| Err(watch.give_up(GivenUp::Stalled)));
        }
    }

    fn note(&mut self, bytes: usize, watch: &BodyWatch) {
        self.came += bytes;
        if self.came >= PROGRESS_BYTES {
            (self.came, self.wait) = (0, None);
        }
        watch.activity.bodies.moved(bytes, watch.activity.now_ms());
    }

    /// Puts pieces together, as many as there are or as are passed on at once.
    async fn gather(mut self, first: Option<Bytes>, watch: Arc<BodyWatch>) -> (Self, Result<Bytes, Given>) {
        let mut gathered = Gathered { bytes: Vec::new(), watch: &watch };
        let mut next = first;
        loop {
            let piece = match next.take() {
                Some(piece) => piece,
                None => match poll_fn(|cx| self.poll_piece(cx, &watch)).await {
                    Ok(piece) => piece,
                    Err(Given::End) if !gathered.bytes.is_empty() => break,
                    Err(given) => return (self, Err(given)),
                },
            };
            let more = self.inside.size_hint().exact();
            let more = more.map(|more| usize::try_from(more).unwrap_or(usize::MAX));
            if let Some(bytes) = gathered.missing(piece.len(), more) {
                if !watch.try_grow(bytes) {
                    if watch.rooms.grow_body(&watch.activity, &watch.held, bytes).await.is_err() {
                        return (self, Err(watch.give_up(GivenUp::NoRoom)));
                    }
                    // The time that it took to find room is not the client's.
                    (self.came, self.wait) = (0, None);
                }
                gathered.grow(bytes);
            }
            gathered.bytes.extend_from_slice(&piece);
            if gathered.bytes.len() >= BODY_GATHERED_BYTES_MAX || self.inside.is_end_stream() {
                break;
            }
        }
        let bytes = gathered.take();
        (self, Ok(bytes))
    }
}

/// What was put together of a body that has not come to its end.
struct Gathered<'a> {
    bytes: Vec<u8>,
    watch: &'a BodyWatch,
}

impl Gathered<'_> {
    /// Returns by how much the buffer must grow for another piece, if it must. It grows to twice its size, but not
    /// beyond what is still to come where that is known.
    fn missing(&self, piece: usize, more: Option<usize>) -> Option<usize> {
        let capacity = self.bytes.capacity();
        let needed = self.bytes.len() + piece;
        if needed <= capacity {
            return None;
        }
        let whole = more.map_or(usize::MAX, |more| needed.saturating_add(more));
        let wanted = needed.saturating_mul(2).max(BODY_GATHERED_BYTES_MIN).min(whole).max(needed);
        Some(wanted - capacity)
    }

    fn grow(&mut self, bytes: usize) {
        let before = self.bytes.capacity();
        self.bytes.reserve_exact(before - self.bytes.len() + bytes);
        let activity = &self.watch.activity;
        activity.bodies.hold(self.bytes.capacity() - before, activity.now_ms());
    }

    fn take(mut self) -> Bytes {
        let capacity = self.bytes.capacity();
        let bytes = std::mem::take(&mut self.bytes);
        self.watch.activity.bodies.release(capacity);
        Bytes::from(bytes)
    }
}

impl Drop for Gathered<'_> {
    fn drop(&mut self) {
        self.watch.activity.bodies.release(self.bytes.capacity());
    }
}

impl<B> Body for GatheredBody<B>
where
    B: Body<Data = Bytes> + Unpin + Send + 'static,
    B::Error: fmt::Display,
{
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let this = &mut *self;
        loop {
            match std::mem::replace(&mut this.state, State::Ended) {
                State::Ended => return Poll::Ready(None),
                State::Fresh(mut reader) => {
                    // Nearly every body comes whole: it is passed on without a copy.
                    match Pin::new(&mut reader.inside).poll_frame(cx) {
                        Poll::Ready(None) => return Poll::Ready(None),
                        Poll::Ready(Some(Err(error))) => {
                            return Poll::Ready(Some(Err(BodyError::Connection(error.to_string()))));
                        }
                        Poll::Ready(Some(Ok(frame))) => {
                            let first = frame.into_data().ok().filter(|data| !data.is_empty());
                            let is_whole = reader.inside.is_end_stream();
                            match first {
                                Some(data) if is_whole && this.watch.try_grow(data.len()) => {
                                    return Poll::Ready(Some(Ok(Frame::data(data))));
                                }
                                first => {
                                    let gathering = reader.gather(first, this.watch.clone());
                                    this.state = State::Gathering(Box::pin(gathering));
                                }
                            }
                        }
                        Poll::Pending => {
                            this.state = State::Gathering(Box::pin(reader.gather(None, this.watch.clone())));
                        }
                    }
                }
                State::Between(reader) => {
                    this.state = State::Gathering(Box::pin(reader.gather(None, this.watch.clone())));
                }
                State::Gathering(mut gathering) => {
                    let Poll::Ready((reader, gathered)) = gathering.as_mut().poll(cx) else {
                        this.state = State::Gathering(gathering);
                        return Poll::Pending;
                    };
                    return Poll::Ready(match gathered {
                        Ok(bytes) => {
                            this.state = State::Between(reader);
                            Some(Ok(Frame::data(bytes)))
                        }
                        Err(Given::End) => None,
                        Err(Given::Up(why)) => Some(Err(BodyError::GivenUp(why))),
                        Err(Given::Broken(why)) => Some(Err(BodyError::Connection(why))),
                    });
                }
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.state {
            State::Fresh(reader) | State::Between(reader) => reader.inside.is_end_stream(),
            State::Gathering(_) => false,
            State::Ended => true,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.state {
            State::Fresh(reader) | State::Between(reader) => reader.inside.size_hint(),
            State::Gathering(_) | State::Ended => SizeHint::default(),
        }
    }
}

#[cfg(test)]
mod tests;
