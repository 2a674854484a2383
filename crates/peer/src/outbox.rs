//! Frames that wait to be written by the task of a connection.

use std::collections::VecDeque;
use std::task::{Context, Waker};

use crate::frame::{Frame, HEADER_BYTES};
use crate::limits::QUEUE_BYTES_MAX;

/// Frames that wait to be written.
#[derive(Default)]
pub(crate) struct Outbox {
    /// What is written first.
    urgent: VecDeque<Frame>,
    frames: VecDeque<Frame>,
    bytes: usize,
    /// The task that writes, while it waits.
    writer: Option<Waker>,
}

impl Outbox {
    /// Queues a frame. Returns the writer if it has to be woken, which is done after the lock of the outbox is released.
    #[must_use]
    pub(crate) fn push(&mut self, frame: Frame) -> Option<Waker> {
        self.bytes += frame.payload.len() + HEADER_BYTES;
        self.frames.push_back(frame);
        self.writer.take()
    }

    /// Queues a small frame that goes before all others, however many they are.
    #[must_use]
    pub(crate) fn push_urgent(&mut self, frame: Frame) -> Option<Waker> {
        self.urgent.push_back(frame);
        self.writer.take()
    }

    /// Tells whether as much waits as may.
    pub(crate) fn is_full(&self) -> bool {
        self.bytes >= QUEUE_BYTES_MAX
    }

    /// Tells whether so much waits that not even what is small may be added.
    pub(crate) fn is_overfull(&self) -> bool {
        self.bytes >= 2 * QUEUE_BYTES_MAX
    }

    /// Returns how many frames wait. `may_send` tells whether any but urgent ones may be sent now.
    pub(crate) fn count(&self, may_send: bool) -> usize {
        self.urgent.len() + if may_send { self.frames.len() } else { 0 }
    }

    /// Takes the next frame that is urgent.
    pub(crate) fn pop_urgent(&mut self) -> Option<Frame> {
        self.urgent.pop_front()
    }

    /// Takes the next frame that is not.
    pub(crate) fn pop(&mut self) -> Option<Frame> {
        let frame = self.frames.pop_front()?;
        self.bytes -= frame.payload.len() + HEADER_BYTES;
        Some(frame)
    }

    /// Takes the urgent frames away.
    pub(crate) fn clear_urgent(&mut self) {
        self.urgent.clear();
    }

    /// Takes all frames away, and forgets the writer.
    pub(crate) fn clear(&mut self) {
        *self = Outbox::default();
    }

    /// Has the task woken at the next frame.
    pub(crate) fn wait(&mut self, cx: &Context<'_>) {
        match &mut self.writer {
            Some(writer) => writer.clone_from(cx.waker()),
            writer => *writer = Some(cx.waker().clone()),
        }
    }

    /// Returns the writer, to be woken for something else than a frame.
    #[must_use]
    pub(crate) fn wake(&mut self) -> Option<Waker> {
        self.writer.take()
    }
}
