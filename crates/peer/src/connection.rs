//! The task of a connection that another node has made: it reads requests, has them answered, and writes the answers.

use std::collections::HashMap;
use std::future::poll_fn;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::task::Poll;

use bytes::Bytes;
use futures_util::FutureExt as _;
use parking_lot::Mutex;
use tokio::io::{AsyncBufRead, AsyncWrite};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use crate::alarm::Alarm;
use crate::frame::{Frame, Kind, Malformed};
use crate::limits::{
    BATCH_BYTES, CALLS_MAX, FRAME_BYTES_MAX, IDLE, IDLE_SILENCE_MAX, KEEPALIVE, MESSAGE_BYTES_MAX,
    REQUEST_BYTES_MAX, SMALL_TELL_BYTES, SMALL_TELLS_MAX, TELLS_MAX,
};
use crate::outbox::Outbox;
use crate::service::Service;
use crate::state::wake;
use crate::wire::{Broken, Wire};

/// Where answers wait to be written. The frame [`Kind::Ending`] among them ends the connection.
pub(crate) type Answers = Arc<Mutex<Outbox>>;

/// What tells requests without an answer from calls, whose ids do not have this bit.
const TOLD: u64 = 1 << 63;

/// A connection of another node.
pub(crate) struct Connection<S: Service> {
    service: Arc<S>,
    session: Arc<S::Session>,
    answers: Answers,
    under_way: HashMap<u64, UnderWay>,
    calls: usize,
    request_bytes: usize,
    tells: u64,
    is_ending: bool,
    /// When the other node was last known to be alive.
    last_heard: Instant,
    has_written: bool,
}

/// A request that is being served.
struct UnderWay {
    task: JoinHandle<()>,
    bytes: usize,
    is_told: bool,
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        // What was only told to this node is not given up with the connection.
        if !self.is_told {
            self.task.abort();
        }
    }
}

/// What a turn found.
struct Turn {
    has_read: bool,
    can_write: bool,
    /// It is worth waiting for more frames.
    may_wait: bool,
    /// Nothing is read, because too many answers wait to be written.
    is_full: bool,
    is_due: bool,
}

impl<S: Service> Connection<S> {
    pub(crate) fn new(service: Arc<S>, answers: Answers) -> Connection<S> {
        Connection {
            session: Arc::new(service.open()),
            service,
            answers,
            under_way: HashMap::new(),
            calls: 0,
            request_bytes: 0,
            tells: 0,
            is_ending: false,
            last_heard: Instant::now(),
            has_written: false,
        }
    }

    /// Serves until the other node closes the connection, until it breaks, or until this node has ended.
    pub(crate) async fn run<W: AsyncBufRead + AsyncWrite + Unpin>(
        &mut self,
        wire: &mut Wire<W>,
    ) -> Result<(), Broken> {
        let (mut frames, mut batch) = (Vec::new(), Vec::new());
        let mut due = Instant::now() + IDLE;
        let mut alarm = Alarm::new(due);
        loop {
            let turn = poll_fn(|cx| {
                let is_idle = match wire.poll_write(cx) {
                    Poll::Ready(Ok(())) => true,
                    Poll::Ready(Err(broken)) => return Poll::Ready(Err(broken)),
                    Poll::Pending => false,
                };
                let (is_full, queued) = {
                    let mut answers = self.answers.lock();
                    answers.wait(cx);
                    (answers.is_full(), answers.count(true))
                };
                // A caller that does not read its answers gets no more of them.
                let has_read = !is_full
                    && match wire.poll_read(cx, &mut frames) {
                        Poll::Ready(Ok(())) => true,
                        Poll::Ready(Err(broken)) => return Poll::Ready(Err(broken)),
                        Poll::Pending => false,
                    };
                let turn = Turn {
                    has_read,
                    can_write: is_idle && queued > 0,
                    may_wait: self.under_way.len() > queued,
                    is_full,
                    is_due: alarm.poll(cx, due).is_ready(),
                };
                let has_any = turn.has_read || turn.can_write || turn.is_due;
                if has_any { Poll::Ready(Ok(turn)) } else { Poll::Pending }
            })
            .await?;
            if turn.has_read {
                self.last_heard = Instant::now();
                for frame in frames.drain(..) {
                    self.take(frame)?;
                }
                if self.is_busy(wire) {
                    due = due.min(self.last_heard + KEEPALIVE);
                }
            }
            if turn.is_due {
                match self.look(wire)? {
                    Some(next) => due = next,
                    None => return Ok(()),
                }
            }
            if turn.can_write {
                // The other tasks that can run now are likely to answer too: all answers are written at once.
                if turn.may_wait {
                    tokio::task::yield_now().await;
                }
                self.has_written = true;
                if turn.is_full {
                    // It has taken all that was written before.
                    self.last_heard = Instant::now();
                }
                self.collect(&mut batch);
                batch.drain(..).for_each(|frame| wire.put(frame));
                if self.is_ending {
                    due = due.min(Instant::now() + KEEPALIVE);
                }
            }
        }
    }

    /// Takes a frame of the other node.
    fn take(&mut self, frame: Frame) -> Result<(), Malformed> {
        match frame.kind {
            Kind::Call => self.begin(frame),
            Kind::Tell => {
                let tells = self.under_way.len() - self.calls;
                let is_small = frame.payload.len() <= SMALL_TELL_BYTES;
                if is_small && tells >= SMALL_TELLS_MAX {
                    return Err(Malformed::Unexpected(frame.kind));
                }
                if (tells >= TELLS_MAX && !is_small) || self.is_ending {
                    tracing::debug!(tells, "what another node told is dropped");
                    return Ok(());
                }
                self.tells += 1;
                self.start(TOLD | self.tells, frame.payload);
                Ok(())
            }
            Kind::Cancel => {
                self.finish(frame.id & !TOLD);
                Ok(())
            }
            Kind::Alive => Ok(()),
            Kind::Answer | Kind::Failed | Kind::NotBegun | Kind::Ending => {
                Err(Malformed::Unexpected(frame.kind))
            }
        }
    }

    fn begin(&mut self, frame: Frame) -> Result<(), Malformed> {
        if self.is_ending {
            let writer = self.answers.lock().push(Frame::bare(Kind::NotBegun, frame.id));
            wake(writer);
            return Ok(());
        }
        // A node keeps to both bounds by itself, see `Calls::may_send`.
        let is_over = self.calls >= CALLS_MAX || self.request_bytes >= REQUEST_BYTES_MAX;
        if is_over || frame.id & TOLD != 0 || self.under_way.contains_key(&frame.id) {
            return Err(Malformed::Unexpected(frame.kind));
        }
        self.calls += 1;
        self.start(frame.id, frame.payload);
        Ok(())
    }

    /// Serves a request in a task of its own.
    fn start(&mut self, id: u64, request: Bytes) {
        let bytes = request.len();
        self.request_bytes += bytes;
        let (service, session) = (self.service.clone(), self.session.clone());
        let answers = self.answers.clone();
        let task = tokio::spawn(async move {
            let answered = AssertUnwindSafe(async { service.call(session, request).await });
            let frame = match answered.catch_unwind().await {
                Ok(payload) if payload.len() <= FRAME_BYTES_MAX => Frame { kind: Kind::Answer, id, payload },
                Ok(payload) => failed(id, &format!("its answer of {} bytes is too large", payload.len())),
                Err(panic) => {
                    let message = message(panic.as_ref());
                    tracing::error!(message, "a call of another node panicked");
                    failed(id, message)
                }
            };
            let writer = answers.lock().push(frame);
            wake(writer);
        });
        self.under_way.insert(id, UnderWay { task, bytes, is_told: id & TOLD != 0 });
    }

    /// Forgets a request that is answered or given up. Returns whether it was there.
    fn finish(&mut self, id: u64) -> bool {
        let Some(finished) = self.under_way.remove(&id) else { return false };
        self.request_bytes -= finished.bytes;
        if !finished.is_told {
            self.calls -= 1;
        }
        true
    }

    /// Takes frames that are to be written.
    fn collect(&mut self, batch: &mut Vec<Frame>) {
        {
            let mut answers = self.answers.lock();
            while let Some(frame) = answers.pop_urgent() {
                batch.push(frame);
            }
            let mut bytes = 0;
            while bytes < BATCH_BYTES
                && let Some(frame) = answers.pop()
            {
                bytes += frame.payload.len();
                batch.push(frame);
            }
        }
        batch.retain(|frame| match frame.kind {
            // What was given up meanwhile has no answer, and what was told never has.
            Kind::Answer | Kind::Failed => self.finish(frame.id) && frame.id & TOLD == 0,
            Kind::Ending => {
                self.is_ending = true;
                true
            }
            _ => true,
        });
    }

    /// Tells whether the other node waits for this one.
    fn is_busy<W: AsyncBufRead + AsyncWrite + Unpin>(&self, wire: &Wire<W>) -> bool {
        !self.under_way.is_empty() || wire.is_amid()
    }

    /// Looks at the time. Returns when to look again, unless everything is done.
    fn look<W: AsyncBufRead + AsyncWrite + Unpin>(
        &mut self,
        wire: &Wire<W>,
    ) -> Result<Option<Instant>, Broken> {
        let now = Instant::now();
        let is_busy = self.is_busy(wire);
        if self.is_ending && !is_busy {
            return Ok(None);
        }
        if now - self.last_heard >= IDLE_SILENCE_MAX {
            return Err(Broken::Silent);
        }
        if is_busy && !self.has_written {
            // This task is the one that is to write it.
            let _ = self.answers.lock().push_urgent(Frame::bare(Kind::Alive, 0));
        }
        self.has_written = false;
        Ok(Some(now + if is_busy || self.is_ending { KEEPALIVE } else { IDLE }))
    }
}

fn failed(id: u64, message: &str) -> Frame {
    Frame { kind: Kind::Failed, id, payload: Bytes::copy_from_slice(message.as_bytes()) }
}

/// Returns what a panic says.
fn message(panic: &(dyn std::any::Any + Send)) -> &str {
    let text = match (panic.downcast_ref::<&str>(), panic.downcast_ref::<String>()) {
        (Some(text), _) => text,
        (None, Some(text)) => text.as_str(),
        (None, None) => "a panic",
    };
    text.get(..text.floor_char_boundary(MESSAGE_BYTES_MAX)).unwrap_or_default()
}

#[cfg(test)]
mod tests;
