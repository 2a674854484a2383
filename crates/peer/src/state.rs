//! What a link, its callers and the task of its connection share.

use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::calls::{Calls, Outcome};
use crate::error::CallError;
use crate::frame::{Frame, Kind, Malformed};
use crate::limits::{BACKOFF, BATCH_BYTES, FRAME_BYTES_MAX, IDLE, LOOK, SMALL_TELL_BYTES};
use crate::outbox::Outbox;

/// What a link, its callers and the task of its connection share.
pub(crate) struct Shared {
    state: Mutex<State>,
    /// Callers for whose requests there was no room are woken here.
    pub(crate) room: Notify,
}

struct State {
    phase: Phase,
    outbox: Outbox,
    calls: Calls,
    /// When the task looks at the time next, at the latest.
    alarm: Instant,
    /// No caller has the link any more.
    is_abandoned: bool,
}

enum Phase {
    /// There is no connection and no task. Until the moment, calls fail at once.
    Down(Option<(Instant, CallError)>),
    /// There is a task, which connects or has connected.
    Up,
    /// The other node has said that it ends.
    Ending,
}

/// A request that is queued.
pub(crate) struct Queued {
    pub(crate) id: u64,
    /// The task of the connection has to be started.
    pub(crate) must_start: bool,
}

/// Why a request is not queued.
pub(crate) enum NotQueued {
    /// There is no room now.
    Full(Bytes),
    Failed(CallError),
}

/// What there is to do for the task of a connection.
pub(crate) struct Look {
    /// Frames that can be written now.
    pub(crate) queued: usize,
    /// Calls without an outcome.
    pub(crate) waiting: usize,
    pub(crate) alarm: Instant,
    /// The connection is not needed any more.
    pub(crate) is_over: bool,
}

impl Shared {
    pub(crate) fn new() -> Shared {
        Shared {
            state: Mutex::new(State {
                phase: Phase::Down(None),
                outbox: Outbox::default(),
                calls: Calls::default(),
                alarm: Instant::now(),
                is_abandoned: false,
            }),
            room: Notify::new(),
        }
    }

    /// Queues a call that has to end at a moment.
    pub(crate) fn call(&self, request: Bytes, now: Instant, deadline: Instant) -> Result<Queued, NotQueued> {
        let mut state = self.state.lock();
        let must_start = state.admit(&request, now, false)?;
        let id = state.calls.add(deadline, request.len());
        // While calls are pending the task looks at the time often, and at the moment at which the first has to end.
        state.alarm = state.alarm.min(deadline).min(now + LOOK);
        let writer = state.outbox.push(Frame { kind: Kind::Call, id, payload: request });
        drop(state);
        wake(writer);
        Ok(Queued { id, must_start })
    }

    /// Queues a request without an answer.
    pub(crate) fn tell(&self, request: Bytes, now: Instant) -> Result<Queued, NotQueued> {
        let mut state = self.state.lock();
        let is_small = request.len() <= SMALL_TELL_BYTES;
        let must_start = state.admit(&request, now, is_small)?;
        let writer = state.outbox.push(Frame { kind: Kind::Tell, id: 0, payload: request });
        drop(state);
        wake(writer);
        Ok(Queued { id: 0, must_start })
    }

    /// Returns the outcome of a call.
    pub(crate) fn poll(&self, id: u64, cx: &Context<'_>) -> Poll<Outcome> {
        self.state.lock().calls.poll(id, cx)
    }

    /// Ends a call that its caller has given up.
    pub(crate) fn give_up(&self, id: u64) {
        let mut state = self.state.lock();
        if state.calls.abandon(id) {
            let writer = state.outbox.push_urgent(Frame::bare(Kind::Cancel, id));
            drop(state);
            wake(writer);
        }
    }

    /// Ends the connection once it has written what it was given.
    pub(crate) fn abandon(&self) {
        let mut state = self.state.lock();
        state.is_abandoned = true;
        let writer = state.outbox.wake();
        drop(state);
        wake(writer);
    }

    /// Says what there is to do, and has the task woken when there is more.
    pub(crate) fn look(&self, cx: &Context<'_>) -> Look {
        let mut state = self.state.lock();
        let queued = state.outbox.count(state.calls.may_send());
        let waiting = state.calls.waiting();
        let is_over = match state.phase {
            Phase::Ending => waiting == 0,
            Phase::Up | Phase::Down(_) => state.is_abandoned && queued == 0,
        };
        state.outbox.wait(cx);
        Look { queued, waiting, alarm: state.alarm, is_over }
    }

    /// Takes frames that are to be written. From here on their calls count as sent.
    pub(crate) fn take(&self, batch: &mut Vec<Frame>) {
        let mut guard = self.state.lock();
        let state = &mut *guard;
        let was_full = state.outbox.is_full();
        let mut bytes = 0;
        while let Some(frame) = state.outbox.pop_urgent() {
            batch.push(frame);
        }
        while bytes < BATCH_BYTES && state.calls.may_send() {
            let Some(frame) = state.outbox.pop() else { break };
            // What its caller has given up meanwhile is not sent.
            if frame.kind != Kind::Call || state.calls.mark_sent(frame.id) {
                bytes += frame.payload.len();
                batch.push(frame);
            }
        }
        let has_room = was_full && !state.outbox.is_full();
        drop(guard);
        if has_room {
            self.room.notify_waiters();
        }
    }

    /// Gives calls the answers that have come. Adds the callers that have to be woken.
    pub(crate) fn finish(
        &self,
        frames: impl Iterator<Item = Frame>,
        callers: &mut Vec<Waker>,
    ) -> Result<(), Malformed> {
        let mut state = self.state.lock();
        for frame in frames {
            let text = || String::from_utf8_lossy(&frame.payload).into_owned();
            let outcome = match frame.kind {
                Kind::Answer => Ok(frame.payload),
                Kind::Failed => Err(CallError::Unknown(format!("the other node failed: {}", text()))),
                Kind::NotBegun => Err(ending()),
                Kind::Alive => continue,
                Kind::Ending => {
                    state.phase = Phase::Ending;
                    continue;
                }
                Kind::Call | Kind::Tell | Kind::Cancel => return Err(Malformed::Unexpected(frame.kind)),
            };
            callers.extend(state.calls.finish(frame.id, outcome));
        }
        Ok(())
    }

    /// Looks at the time: ends calls whose patience is at its end. Returns how many are left; while any are, the task looks
    /// again at `next_look`, if not before.
    pub(crate) fn expire(&self, now: Instant, next_look: Instant) -> usize {
        let (mut given_up, mut callers) = (Vec::new(), Vec::new());
        let mut guard = self.state.lock();
        let state = &mut *guard;
        let next = state.calls.expire(now, &mut given_up, &mut callers);
        state.alarm = next.map_or(now + IDLE, |next| next.min(next_look));
        for id in given_up {
            // The task that is to write it is the one that is here.
            let _ = state.outbox.push_urgent(Frame::bare(Kind::Cancel, id));
        }
        let waiting = state.calls.waiting();
        drop(guard);
        callers.into_iter().for_each(Waker::wake);
        waiting
    }

    /// Queues that this node is alive.
    pub(crate) fn be_alive(&self) {
        // The task that is to write it is the one that is here.
        let _ = self.state.lock().outbox.push_urgent(Frame::bare(Kind::Alive, 0));
    }

    /// Notes that the connection broke. Ends the calls that were sent; returns whether others are left, for which the task has
    /// to connect again. If none are, there is no connection from here on.
    pub(crate) fn keep_unsent(&self, error: &CallError) -> bool {
        let mut callers = Vec::new();
        let mut state = self.state.lock();
        state.calls.fail_sent(error, &mut callers);
        state.outbox.clear_urgent();
        let is_left = state.outbox.count(true) > 0;
        state.phase = if is_left { Phase::Up } else { Phase::Down(None) };
        drop(state);
        callers.into_iter().for_each(Waker::wake);
        is_left
    }

    /// Notes that there is no connection any more. All calls end; after a failure to connect, those of the next moments too.
    pub(crate) fn go_down(&self, error: &CallError, has_connected: bool) {
        let mut callers = Vec::new();
        let mut state = self.state.lock();
        let until = (!has_connected).then(|| (Instant::now() + BACKOFF, error.clone()));
        state.phase = Phase::Down(until);
        state.outbox.clear();
        state.calls.fail(error, &mut callers);
        drop(state);
        callers.into_iter().for_each(Waker::wake);
        self.room.notify_waiters();
    }
}

impl State {
    /// Tells whether a request may be queued, and whether a task has to be started for it. What is small and has no answer
    /// goes past the bound: the other node may keep something until it hears it.
    fn admit(&mut self, request: &Bytes, now: Instant, is_small: bool) -> Result<bool, NotQueued> {
        if request.len() > FRAME_BYTES_MAX {
            let message = format!("{} bytes are more than a request may have", request.len());
            return Err(NotQueued::Failed(CallError::NotSent(message)));
        }
        match &self.phase {
            Phase::Up if self.outbox.is_full() && (!is_small || self.outbox.is_overfull()) => {
                return Err(NotQueued::Full(request.clone()));
            }
            Phase::Up => return Ok(false),
            Phase::Ending => return Err(NotQueued::Failed(ending())),
            Phase::Down(Some((until, error))) if now < *until => {
                return Err(NotQueued::Failed(error.clone()));
            }
            Phase::Down(_) => {}
        }
        self.phase = Phase::Up;
        self.alarm = now + LOOK;
        Ok(true)
    }
}

fn ending() -> CallError {
    CallError::NotSent("the other node is ending".to_owned())
}

/// Wakes a task, if there is one to be woken.
pub(crate) fn wake(task: Option<Waker>) {
    if let Some(task) = task {
        task.wake();
    }
}
