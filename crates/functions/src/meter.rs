//! What computing may take: steps, and the bytes of values in the making.
//!
//! Loops take steps of a [`Meter`] and stop when there are none. A step stands for some ten nanoseconds: one
//! element, one row of a join, a few dozen bytes of text. Most steps cost a subtraction; now and then the meter asks its
//! watch, which knows the time and whether the caller still waits, and says when it wants to be asked again. So how
//! long a step really takes does not matter much, and neither does a loop that counts too few of them.
//!
//! Functions do not fail: where the meter has stopped they give undefined, and the caller asks the meter before
//! believing it.
//!
//! Invariants:
//! * a meter that has stopped stays so, and its reason is the first;
//! * bytes that are in the making never exceed what the meter allows.
//!
//! Not here: the time, and what becomes of a query that was stopped (`query`).

use std::cell::Cell;

use crate::limits::{STEP_BYTES, VALUES_BYTES_MAX};

#[cfg(test)]
mod tests;

/// Why work was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// It took too long.
    Time,
    /// No caller waits for it any more.
    Cancelled,
    /// Others are to have their turn first; it may be begun again.
    Postponed,
    /// It took too many steps.
    Steps,
    /// The values in the making took too much memory.
    Memory,
}

/// What a watch says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// Go on, and ask again after so many steps.
    GoOn(u64),
    /// Stop.
    Stop(Stop),
}

/// Says, of the steps that were taken so far, whether to go on.
pub type Watch<'w> = dyn Fn(u64) -> Look + 'w;

/// Counts steps and bytes, and says when to stop.
pub struct Meter<'w> {
    /// Steps until the watch is asked.
    left: Cell<u64>,
    /// Steps until the watch is asked, when it was asked last.
    granted: Cell<u64>,
    /// Steps before the watch was asked last.
    before: Cell<u64>,
    /// How often the watch was asked.
    looks: Cell<u64>,
    stopped: Cell<Option<Stop>>,
    /// Bytes of values that are given back together, by [`Meter::release`].
    making: Cell<usize>,
    /// Bytes of values that are given back one by one.
    held: Cell<usize>,
    bytes_max: usize,
    bytes_peak: Cell<usize>,
    watch: &'w Watch<'w>,
}

impl<'w> Meter<'w> {
    /// Makes a meter that asks a watch.
    pub fn new(watch: &'w Watch<'w>) -> Meter<'w> {
        Meter {
            left: Cell::new(0),
            granted: Cell::new(0),
            before: Cell::new(0),
            looks: Cell::new(0),
            stopped: Cell::new(None),
            making: Cell::new(0),
            held: Cell::new(0),
            bytes_max: VALUES_BYTES_MAX,
            bytes_peak: Cell::new(0),
            watch,
        }
    }

    /// Makes a meter that allows another amount of bytes.
    pub fn with_bytes(watch: &'w Watch<'w>, bytes_max: usize) -> Meter<'w> {
        Meter { bytes_max, ..Meter::new(watch) }
    }

    /// Makes a meter that never stops but for memory.
    pub fn unlimited() -> Meter<'static> {
        Meter::new(&|_| Look::GoOn(u64::MAX / 2))
    }

    /// Takes steps. Returns whether to go on.
    #[inline]
    #[must_use]
    pub fn go_on(&self, steps: u64) -> bool {
        match self.left.get().checked_sub(steps) {
            Some(left) => {
                self.left.set(left);
                true
            }
            None => self.look(steps),
        }
    }

    /// Takes the steps that going over bytes stands for. Returns whether to go on.
    #[inline]
    #[must_use]
    pub fn go_over(&self, bytes: usize) -> bool {
        self.go_on(1 + (bytes / STEP_BYTES) as u64)
    }

    #[cold]
    fn look(&self, steps: u64) -> bool {
        if self.stopped.get().is_some() {
            return false;
        }
        let taken = self.steps().saturating_add(steps);
        self.before.set(taken);
        self.looks.set(self.looks.get() + 1);
        match (self.watch)(taken) {
            Look::GoOn(steps) => {
                self.left.set(steps);
                self.granted.set(steps);
                true
            }
            Look::Stop(stop) => {
                self.stop(stop);
                false
            }
        }
    }

    fn stop(&self, stop: Stop) {
        if self.stopped.get().is_none() {
            self.before.set(self.steps());
            self.stopped.set(Some(stop));
        }
        self.left.set(0);
        self.granted.set(0);
    }

    /// Returns why the meter has stopped, if it has.
    #[inline]
    pub fn stopped(&self) -> Option<Stop> {
        self.stopped.get()
    }

    /// Returns how many steps were taken.
    pub fn steps(&self) -> u64 {
        self.before.get().saturating_add(self.granted.get() - self.left.get())
    }

    /// Returns how often the watch was asked: where that changes, some time has passed.
    #[inline]
    pub fn looks(&self) -> u64 {
        self.looks.get()
    }

    /// Returns the most bytes that there were at a time.
    pub fn bytes_peak(&self) -> usize {
        self.bytes_peak.get()
    }

    /// Returns the bytes in the making, for [`Meter::release`].
    #[inline]
    pub fn mark(&self) -> usize {
        self.making.get()
    }

    /// Gives back what was made since a mark was taken.
    #[inline]
    pub fn release(&self, mark: usize) {
        self.making.set(mark);
    }

    /// Takes room for a value that is made, and the steps of making it. Returns whether there is room.
    #[must_use]
    pub fn make(&self, bytes: usize) -> bool {
        self.making.set(self.making.get().saturating_add(bytes));
        self.has_room() && self.go_on((bytes / STEP_BYTES) as u64)
    }

    /// Takes room for a value that is kept until it is given back. Returns whether there is room.
    #[must_use]
    pub fn hold(&self, bytes: usize) -> bool {
        self.held.set(self.held.get().saturating_add(bytes));
        self.has_room()
    }

    /// Gives back what was held.
    pub fn give_back(&self, bytes: usize) {
        self.held.set(self.held.get().saturating_sub(bytes));
    }

    fn has_room(&self) -> bool {
        let bytes = self.making.get().saturating_add(self.held.get());
        self.bytes_peak.set(self.bytes_peak.get().max(bytes));
        if bytes > self.bytes_max {
            self.stop(Stop::Memory);
            return false;
        }
        true
    }
}
