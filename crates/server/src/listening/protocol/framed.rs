//! Frames over a stream: each is read whole, up to a bound, and answered before the next one is.
//!
//! A front end says how long a frame is and what it is answered with; all else happens here. The first bytes of a frame,
//! until its length is known, have the time of a request's headers, the rest that of a body, and room is taken for what
//! came and for nothing that was only announced. So a client that speaks in frames can make the server hold no more than
//! one that speaks HTTP.
//!
//! While a frame is answered whose answer is of use to its client alone, the connection is watched: one who hangs up is
//! answered no further. A little of what comes next may be read ahead for it, and no more.
//!
//! When the server is to end, a frame that has begun is still read and answered, and none after it; whoever has none is
//! told goodbye at once.
//!
//! Not here: what a frame means. And whether a connection is idle, or slow to take its answers: that is found out for all
//! protocols alike (`connection`).

use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;

use bytes::{Buf as _, Bytes, BytesMut};
use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _, ReadHalf, WriteHalf};

use super::{Protocol, Serving, Session};
use crate::limits::{ANSWER_BYTES_EXPECTED, BODY_TOTAL_TIMEOUT, FRAME_READ_AHEAD_BYTES, PROGRESS_BYTES};
use crate::listening::activity::{Activity, InFlight};
use crate::listening::connection::Common;
use crate::listening::stream::Stream;
use crate::requests::api::Front;
use crate::requests::catch_panic::CatchPanic;
use crate::rooms::room::Held;

/// A front end that speaks in frames.
pub(crate) trait FrameService: Send + Sync + 'static {
    /// What is remembered of a connection from one frame to the next.
    type Conversation: Send;

    /// Returns the front end, for the figures.
    fn front(&self) -> Front;

    /// Returns the longest frame that is taken, its head included.
    fn frame_bytes_max(&self) -> usize;

    /// Begins a conversation.
    fn begin(&self, session: &Session) -> Self::Conversation;

    /// Tells from its first bytes how long a frame is. They are never more than [`FRAME_READ_AHEAD_BYTES`].
    fn measure(&self, begun: &[u8]) -> Measure;

    /// Says whether a frame asks for nothing but its answer, so that no more need be done for it once its client is gone.
    fn ends_with_client(&self, _frame: &[u8]) -> bool {
        false
    }

    /// Answers a frame, with any number of frames of its own; breaks off when the conversation is over.
    fn answer(
        &self,
        conversation: &mut Self::Conversation,
        frame: Bytes,
        answers: &mut Answers<'_>,
    ) -> impl Future<Output = ControlFlow<()>> + Send;

    /// Returns what is said last to a client whose connection is closed for a reason.
    fn farewell(&self, end: End) -> Option<Bytes>;
}

/// What the first bytes of a frame tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Measure {
    /// Not enough: more of them are needed.
    More,
    /// The length of the frame, all of it.
    Bytes(usize),
    /// No frame begins like this.
    Malformed,
}

/// Why a connection is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// The conversation is over: the client hung up, or the front end said so.
    Over,
    /// The server is to end.
    Shutdown,
    /// What came is no frame.
    Malformed,
    /// A frame is longer than any may be.
    TooLong,
    /// A frame stopped arriving.
    Stalled,
    /// There was no room for a frame, or for the answer to it.
    NoRoom,
    /// A frame met a defect of ours.
    Defect,
}

/// Frames from the first byte of a connection on.
pub(crate) struct Framed<S> {
    service: S,
    common: Arc<Common>,
}

impl<S: FrameService> Framed<S> {
    /// Puts a front end behind a port.
    pub(crate) fn new(service: S, common: Arc<Common>) -> Framed<S> {
        Framed { service, common }
    }
}

impl<S: FrameService> Protocol for Framed<S> {
    fn tls_names(&self) -> &'static [&'static [u8]] {
        &[]
    }

    fn serve(&self, stream: Stream, session: Session) -> Serving<'_> {
        Box::pin(serve(&self.service, &self.common, stream, Bytes::new(), session))
    }
}

/// Serves a connection of which some bytes may have been read already.
pub(super) async fn serve<S: FrameService>(
    service: &S,
    common: &Common,
    stream: Stream,
    received: Bytes,
    session: Session,
) {
    let mut conversation = service.begin(&session);
    let (stream, mut out) = tokio::io::split(stream);
    let shape =
        Shape { measure: |begun: &[u8]| service.measure(begun), frame_bytes_max: service.frame_bytes_max() };
    let mut reader = Reader { shape, common, stream, session, ahead: BytesMut::from(&received[..]) };
    let end = loop {
        let frame = match reader.next().await {
            Ok(frame) => frame,
            Err(end) => break end,
        };
        if let Err(end) = answer(service, &mut reader, &mut out, &mut conversation, frame).await {
            break end;
        }
        // Also where more has come already: one who never stops to send must not keep the server from ending.
        if *reader.session.shutdown.borrow() {
            break End::Shutdown;
        }
    };
    let Reader { session, .. } = reader;
    tracing::debug!(peer = %session.peer, ?end, "connection closed");
    if end == End::Stalled {
        common.metrics.timed_out();
    }
    if let Some(farewell) = service.farewell(end) {
        // Whether anybody listens is not known.
        let _ = out.write_all(&farewell).await;
    }
    let _ = out.shutdown().await;
}

/// A frame that is all there, until it is answered.
pub(super) struct Frame {
    pub(super) bytes: Bytes,
    pub(super) hold: FrameHold,
}

/// What a frame takes up until it is answered.
pub(super) struct FrameHold {
    _in_flight: InFlight,
    _held: Mutex<Held>,
}

/// How frames are told apart.
pub(super) struct Shape<M> {
    /// Tells from its first bytes how long a frame is.
    pub(super) measure: M,
    pub(super) frame_bytes_max: usize,
}

/// Takes frames from a connection, or from the half of it that is read.
pub(super) struct Reader<'s, M, R> {
    pub(super) shape: Shape<M>,
    pub(super) common: &'s Common,
    pub(super) stream: R,
    pub(super) session: Session,
    /// What came and belongs to no frame that was passed on.
    pub(super) ahead: BytesMut,
}

impl<M, R> Reader<'_, M, R>
where
    M: Fn(&[u8]) -> Measure,
    R: AsyncRead + Unpin,
{
    /// Waits for the next frame.
    pub(super) async fn next(&mut self) -> Result<Frame, End> {
        if self.ahead.is_empty() {
            self.ahead.reserve(FRAME_READ_AHEAD_BYTES);
            tokio::select! {
                // A frame whose first bytes are there has begun, whatever happens at the same moment.
                biased;
                read = self.stream.read_buf(&mut self.ahead) => some(read)?,
                () = self.session.ending() => return Err(End::Shutdown),
            };
        }
        let length = loop {
            match (self.shape.measure)(&self.ahead[..self.ahead.len().min(FRAME_READ_AHEAD_BYTES)]) {
                Measure::Bytes(length) if length > self.shape.frame_bytes_max => {
                    return Err(End::TooLong);
                }
                // A frame of nothing would never end.
                Measure::Malformed | Measure::Bytes(0) => return Err(End::Malformed),
                Measure::Bytes(length) => break length,
                Measure::More if self.ahead.len() >= FRAME_READ_AHEAD_BYTES => return Err(End::Malformed),
                Measure::More => {
                    self.ahead.reserve(FRAME_READ_AHEAD_BYTES - self.ahead.len());
                    some(self.stream.read_buf(&mut self.ahead).await)?;
                }
            }
        };
        let activity = &self.session.activity;
        let in_flight = activity.request();
        let held = Mutex::new(self.common.rooms.body(activity));
        let bytes = self.gather(length, &held).await?;
        Ok(Frame { bytes, hold: FrameHold { _in_flight: in_flight, _held: held } })
    }

    /// Reads the rest of a frame.
    async fn gather(&mut self, length: usize, held: &Mutex<Held>) -> Result<Bytes, End> {
        let Common { rooms, clock, settings, .. } = self.common;
        let activity = &self.session.activity;
        let mut gathered = Gathered { bytes: Vec::new(), activity };
        let end = clock.elapsed() + BODY_TOTAL_TIMEOUT;
        let mut progress_by = clock.elapsed() + settings.body_timeout;
        let mut came = 0;
        loop {
            let missing = length - gathered.bytes.len();
            if gathered.bytes.len() == gathered.bytes.capacity() && missing > 0 {
                // To twice its size, but not beyond the frame.
                let more =
                    gathered.bytes.len().max(FRAME_READ_AHEAD_BYTES).max(self.ahead.len()).min(missing);
                rooms.grow_body(activity, held, more).await.map_err(|_| End::NoRoom)?;
                gathered.grow(more);
                // The time that it took to find room is not the client's.
                (progress_by, came) = (clock.elapsed() + settings.body_timeout, 0);
            }
            let taken = self.ahead.len().min(missing).min(gathered.room());
            gathered.bytes.extend_from_slice(&self.ahead[..taken]);
            self.ahead.advance(taken);
            if gathered.bytes.len() == length {
                return Ok(gathered.take());
            }
            if gathered.room() == 0 {
                continue;
            }
            let wanted = gathered.room().min(length - gathered.bytes.len());
            let mut part = (&mut self.stream).take(wanted as u64);
            let wait = progress_by.min(end).saturating_sub(clock.elapsed());
            let count = tokio::select! {
                biased;
                read = part.read_buf(&mut gathered.bytes) => some(read)?,
                () = clock.sleep(wait) => return Err(End::Stalled),
            };
            activity.bodies.moved(count, activity.now_ms());
            came += count;
            if came >= PROGRESS_BYTES {
                (progress_by, came) = (clock.elapsed() + settings.body_timeout, 0);
            }
        }
    }
}

/// Has a frame answered.
async fn answer<S: FrameService, M>(
    service: &S,
    reader: &mut Reader<'_, M, ReadHalf<Stream>>,
    out: &mut WriteHalf<Stream>,
    conversation: &mut S::Conversation,
    frame: Frame,
) -> Result<(), End> {
    let (common, activity) = (reader.common, &reader.session.activity);
    let expected = common.rooms.before_answer(activity, ANSWER_BYTES_EXPECTED).await;
    let _expected = expected.map_err(|_| End::NoRoom)?;
    let _request = common.metrics.request();
    let mut answers = Answers { stream: out, common, activity };
    let answer = CatchPanic::new(service.answer(conversation, frame.bytes.clone(), &mut answers));
    let gone = async {
        if service.ends_with_client(&frame.bytes) {
            hung_up(&mut reader.stream, &mut reader.ahead).await;
        } else {
            std::future::pending().await
        }
    };
    let answered = tokio::select! {
        // What is answered at once is answered without a look.
        biased;
        answered = answer => answered,
        () = gone => Ok(ControlFlow::Break(())),
    };
    common.metrics.served(service.front());
    match answered {
        Ok(ControlFlow::Continue(())) => Ok(()),
        Ok(ControlFlow::Break(())) => Err(End::Over),
        Err(panicked) => {
            common.metrics.panicked();
            tracing::error!(peer = %reader.session.peer, "a frame's answer panicked: {panicked}");
            Err(End::Defect)
        }
    }
}

/// Waits until the client hangs up. What comes meanwhile is kept, up to a bound; beyond it, nothing is noticed.
pub(super) async fn hung_up(stream: &mut (impl AsyncRead + Unpin), ahead: &mut BytesMut) {
    while ahead.len() < FRAME_READ_AHEAD_BYTES {
        let room = FRAME_READ_AHEAD_BYTES - ahead.len();
        ahead.reserve(room);
        let mut part = (&mut *stream).take(room as u64);
        if some(part.read_buf(ahead).await).is_err() {
            return;
        }
    }
    std::future::pending().await
}

/// Returns how many bytes were read, or that there are no more.
fn some(read: io::Result<usize>) -> Result<usize, End> {
    match read {
        Ok(0) | Err(_) => Err(End::Over),
        Ok(count) => Ok(count),
    }
}

/// What has come of a frame that is not all there.
struct Gathered<'a> {
    bytes: Vec<u8>,
    activity: &'a Activity,
}

impl Gathered<'_> {
    fn room(&self) -> usize {
        self.bytes.capacity() - self.bytes.len()
    }

    fn grow(&mut self, more: usize) {
        let before = self.bytes.capacity();
        self.bytes.reserve_exact(more);
        self.activity.bodies.hold(self.bytes.capacity() - before, self.activity.now_ms());
    }

    fn take(mut self) -> Bytes {
        self.activity.bodies.release(self.bytes.capacity());
        std::mem::take(&mut self.bytes).into()
    }
}

impl Drop for Gathered<'_> {
    fn drop(&mut self) {
        self.activity.bodies.release(self.bytes.capacity());
    }
}

/// Where answers go.
pub(crate) struct Answers<'a> {
    stream: &'a mut WriteHalf<Stream>,
    common: &'a Common,
    activity: &'a Arc<Activity>,
}

impl Answers<'_> {
    /// Sends a frame and waits until the client's machine has it, or as good as. It is counted among the unsent answers
    /// meanwhile.
    pub(crate) async fn send(&mut self, bytes: Bytes) -> io::Result<()> {
        let bytes = self.common.rooms.hold_answer(self.activity, bytes, false);
        let bytes = bytes.map_err(|_| io::ErrorKind::OutOfMemory)?;
        self.stream.write_all(&bytes).await?;
        self.stream.flush().await
    }
}
