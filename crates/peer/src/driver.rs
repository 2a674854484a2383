//! The task of a link: it connects, writes requests, hands answers to callers, and watches the time.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Poll, Waker};

use tokio::time::Instant;

use crate::alarm::Alarm;
use crate::dial::{Stream, Target};
use crate::error::CallError;
use crate::limits::{BACKOFF, IDLE, LOOK, SILENT_LOOKS_MAX};
use crate::state::Shared;
use crate::wire::{Broken, Wire};

/// Returns the task that connects, and serves the link until it needs no connection or has none. Even if it is dropped
/// before it has begun, the link knows.
pub(crate) fn run(shared: Arc<Shared>, target: Arc<Target>) -> impl Future<Output = ()> + Send {
    let end = End {
        shared,
        error: CallError::NotSent("the connection was dropped".to_owned()),
        has_connected: true,
        is_down: false,
    };
    run_until(end, target)
}

async fn run_until(mut end: End, target: Arc<Target>) {
    let shared = end.shared.clone();
    let mut alarm = Alarm::new(Instant::now());
    loop {
        let stream = match connect(&shared, &target, &mut alarm).await {
            Ok(stream) => stream,
            Err(error) => {
                tracing::debug!(%error, "no connection to another node");
                (end.error, end.has_connected) = (error, false);
                return;
            }
        };
        let connected_at = Instant::now();
        let mut wire = Wire::new(stream);
        let Err(broken) = talk(&shared, &mut wire, &mut alarm).await else {
            // Callers need not wait until it is closed.
            drop(end);
            wire.close().await;
            return;
        };
        let error = CallError::NotSent(broken.to_string());
        // What was not sent goes over the next connection: it may have been called while this one was breaking. But not if
        // that is likely to break as well.
        let is_worthless =
            connected_at.elapsed() < BACKOFF || !matches!(broken, Broken::Closed | Broken::Io(_));
        if is_worthless {
            end.error = error;
            return;
        }
        if !shared.keep_unsent(&error) {
            end.is_down = true;
            return;
        }
    }
}

/// Notes that there is no connection any more, whatever ends it: also a panic, or a runtime that is shut down.
struct End {
    shared: Arc<Shared>,
    error: CallError,
    has_connected: bool,
    /// It is noted already.
    is_down: bool,
}

impl Drop for End {
    fn drop(&mut self) {
        if !self.is_down {
            self.shared.go_down(&self.error, self.has_connected);
        }
    }
}

/// Connects. Meanwhile the patience of callers may end.
async fn connect(shared: &Shared, target: &Target, alarm: &mut Alarm) -> Result<Stream, CallError> {
    let mut dialing = pin!(target.dial());
    poll_fn(|cx| {
        if let Poll::Ready(result) = dialing.as_mut().poll(cx) {
            return Poll::Ready(result);
        }
        while alarm.poll(cx, shared.look(cx).alarm).is_ready() {
            let now = Instant::now();
            shared.expire(now, now + LOOK);
        }
        Poll::Pending
    })
    .await
}

/// What a turn found.
struct Turn {
    has_read: bool,
    /// Frames can be written, and it is worth waiting for more.
    can_write: bool,
    may_wait: bool,
    is_due: bool,
    is_over: bool,
}

/// Writes and reads until the connection is not needed any more, or breaks.
async fn talk(shared: &Shared, wire: &mut Wire<Stream>, alarm: &mut Alarm) -> Result<(), Broken> {
    let (mut frames, mut callers, mut batch) = (Vec::new(), Vec::<Waker>::new(), Vec::new());
    let mut watch = Watch::new();
    loop {
        let turn = poll_fn(|cx| {
            let is_idle = match wire.poll_write(cx) {
                Poll::Ready(Ok(())) => true,
                Poll::Ready(Err(broken)) => return Poll::Ready(Err(broken)),
                Poll::Pending => false,
            };
            let has_read = match wire.poll_read(cx, &mut frames) {
                Poll::Ready(Ok(())) => true,
                Poll::Ready(Err(broken)) => return Poll::Ready(Err(broken)),
                Poll::Pending => false,
            };
            let look = shared.look(cx);
            let turn = Turn {
                has_read,
                can_write: is_idle && look.queued > 0,
                may_wait: look.waiting > look.queued,
                is_due: alarm.poll(cx, look.alarm).is_ready(),
                is_over: is_idle && look.is_over,
            };
            let has_any = turn.has_read || turn.can_write || turn.is_due || turn.is_over;
            if has_any { Poll::Ready(Ok(turn)) } else { Poll::Pending }
        })
        .await?;
        if turn.has_read {
            watch.has_heard = true;
            let finished = shared.finish(frames.drain(..), &mut callers);
            callers.drain(..).for_each(Waker::wake);
            finished?;
        }
        if turn.is_due {
            watch.look(shared)?;
        }
        if turn.can_write {
            // Where calls are under way, others that are running now are likely to add theirs: all are written at once.
            if turn.may_wait {
                tokio::task::yield_now().await;
            }
            shared.take(&mut batch);
            watch.has_written = true;
            batch.drain(..).for_each(|frame| wire.put(frame));
        } else if turn.is_over && !turn.has_read {
            return Ok(());
        }
    }
}

/// Watches over the silence of both sides.
struct Watch {
    has_heard: bool,
    has_written: bool,
    /// When the next look at silence is due. Deadlines of calls are looked at in between.
    next: Instant,
    /// Looks in a row at which calls were pending and nothing had been heard. They are counted rather than measured, so
    /// that a process that was stopped itself does not take the other one to be gone.
    silent: u32,
    quiet_since: Instant,
}

impl Watch {
    fn new() -> Watch {
        let now = Instant::now();
        Watch { has_heard: false, has_written: false, next: now + LOOK, silent: 0, quiet_since: now }
    }

    fn look(&mut self, shared: &Shared) -> Result<(), Broken> {
        let now = Instant::now();
        let is_early = now < self.next;
        if !is_early {
            self.next = now + LOOK;
        }
        let waiting = shared.expire(now, self.next);
        if is_early {
            return Ok(());
        }
        self.silent = if waiting == 0 || self.has_heard { 0 } else { self.silent + 1 };
        self.has_heard = false;
        if self.silent >= SILENT_LOOKS_MAX {
            return Err(Broken::Silent);
        }
        if self.has_written {
            self.has_written = false;
            self.quiet_since = now;
        } else if now - self.quiet_since >= IDLE {
            self.quiet_since = now;
            shared.be_alive();
        }
        Ok(())
    }
}
