//! Operations on documents that a script has begun and that wait to be sent.
//!
//! Callbacks run after the turn that asked for them, so what became of an operation is not looked at before; until then
//! it can travel with others. Whether it is accepted is said at once: the server has said ahead how many are.

use armilla_script::limits::{WAITING_CALLS_BYTES_MAX, WINDOW_STEPS_MAX};
use armilla_script::wire::{Call, CallList};

/// What waits to be sent.
#[derive(Default)]
pub(crate) struct Waiting {
    calls: CallList,
    /// How many operations the server accepts without being asked for.
    window: u64,
    /// What the script had computed when the server said so.
    window_steps: u64,
    /// Whether one of them has a callback, which is told how much is stored.
    wants_usage: bool,
}

impl Waiting {
    pub(crate) fn new(window: u64) -> Waiting {
        Waiting { window, ..Waiting::default() }
    }

    /// Says how many operations the server accepts from now on. `steps` is what the script has computed, here and below.
    pub(crate) fn set_window(&mut self, window: u64, steps: u64) {
        (self.window, self.window_steps) = (window, steps);
    }

    fn is_spent(&self, steps: u64) -> bool {
        self.calls.len() >= self.window || steps.saturating_sub(self.window_steps) >= WINDOW_STEPS_MAX
    }

    /// Says whether what waits has to be sent before anything is added.
    pub(crate) fn is_full(&self, steps: u64) -> bool {
        !self.calls.is_empty() && (self.is_spent(steps) || self.calls.bytes_len() >= WAITING_CALLS_BYTES_MAX)
    }

    /// Adds an operation, if it is accepted without asking.
    pub(crate) fn add(&mut self, call: &Call<'_>, is_wanted: bool, steps: u64) -> bool {
        self.wants_usage |= is_wanted;
        if self.is_spent(steps) {
            return false;
        }
        self.calls.push(call);
        true
    }

    /// Says whether a callback wants to know how much is stored.
    pub(crate) fn wants_usage(&self) -> bool {
        self.wants_usage
    }

    /// Takes what waits.
    pub(crate) fn take(&mut self) -> CallList {
        std::mem::take(&mut self.calls)
    }

    /// Takes back the room that it had.
    pub(crate) fn reuse(&mut self, mut calls: CallList) {
        calls.clear(WAITING_CALLS_BYTES_MAX);
        self.calls = calls;
    }
}
