//! Watching over a query while it computes: its time, whether its caller still waits for it, and whose turn it is.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use armilla_env::Clock;
use armilla_query::{Error, Look, Result, Stop};

use super::lanes::Turn;

/// Steps until the first look, and the most between two.
const STEPS_FIRST: u64 = 256;
const STEPS_MAX: u64 = 4_096;

/// Two looks are to be about this far apart: a query is stopped within a few times of it.
const PERIOD_MIN: Duration = Duration::from_micros(200);
const PERIOD_MAX: Duration = Duration::from_millis(1);

/// Set once no caller waits for a query any more.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cancellation(Arc<AtomicBool>);

impl Cancellation {
    pub(super) fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Returns what cancels when it is dropped.
    pub(super) fn on_drop(&self) -> CancelOnDrop {
        CancelOnDrop(self.clone())
    }
}

/// Held by who waits: cancels when the waiting ends, in whatever way.
pub(super) struct CancelOnDrop(Cancellation);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.0.store(true, Ordering::Relaxed);
    }
}

/// How long a query may go on, whatever it does.
#[derive(Clone)]
pub(super) struct Patience {
    /// When it is stopped, wherever it is.
    pub(super) end: Duration,
    pub(super) cancellation: Cancellation,
}

impl Patience {
    /// Says why a query may not go on at a time, if it may not.
    pub(super) fn check(&self, now: Duration) -> Result<()> {
        match self.stop(now) {
            Some(stop) => Err(Error::stopped(stop)),
            None => Ok(()),
        }
    }

    fn stop(&self, now: Duration) -> Option<Stop> {
        if self.cancellation.is_cancelled() {
            return Some(Stop::Cancelled);
        }
        (now >= self.end).then_some(Stop::Time)
    }
}

/// Watches over one page of a query.
pub(super) struct Oversight<'o> {
    clock: &'o dyn Clock,
    patience: &'o Patience,
    /// Its place among other queries; nothing where it has a thread of its own anyway.
    turn: Option<&'o Turn>,
    last_look: Cell<Duration>,
    period_steps: Cell<u64>,
    steps: Cell<u64>,
}

impl<'o> Oversight<'o> {
    pub(super) fn new(clock: &'o dyn Clock, patience: &'o Patience, turn: Option<&'o Turn>) -> Oversight<'o> {
        Oversight {
            clock,
            patience,
            turn,
            last_look: Cell::new(clock.elapsed()),
            period_steps: Cell::new(STEPS_FIRST),
            steps: Cell::new(0),
        }
    }

    /// Returns how many steps were taken up to the last look.
    pub(super) fn steps(&self) -> u64 {
        self.steps.get()
    }

    /// Looks whether the query may go on, and says when to look again: the longer its steps take, the sooner.
    pub(super) fn look(&self, steps: u64) -> Look {
        self.steps.set(steps);
        let now = self.clock.elapsed();
        if let Some(stop) = self.patience.stop(now) {
            return Look::Stop(stop);
        }
        let took = now.saturating_sub(self.last_look.get());
        let period = self.period_steps.get();
        self.period_steps.set(if took > PERIOD_MAX {
            (period / 4).max(1)
        } else if took < PERIOD_MIN {
            (period * 2).min(STEPS_MAX)
        } else {
            period
        });
        if let Some(turn) = self.turn {
            let is_cancelled = || self.patience.stop(self.clock.elapsed()).is_some();
            if let Err(stop) = turn.look(self.clock, &is_cancelled) {
                // One that was not let in may have been waiting for too long.
                return Look::Stop(self.patience.stop(self.clock.elapsed()).unwrap_or(stop));
            }
        }
        self.last_look.set(self.clock.elapsed());
        Look::GoOn(self.period_steps.get())
    }
}

#[cfg(test)]
mod tests;
