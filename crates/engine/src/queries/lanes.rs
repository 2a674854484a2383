//! Who computes, and who waits: short queries go first, long ones take turns.
//!
//! It is not known beforehand how long a query takes. So every one begins as a newcomer, at once, and is short if it is
//! done in a moment. One that is not becomes long: it goes on if there is a place among the long ones, where as many as
//! there are cores compute at a time and all have their slice in turn. If there is no place it is stopped, and begun
//! again when there is one; what it did in its moment is lost, and nothing else.
//!
//! Most queries are done sooner than it takes to hand them to another task. So a newcomer is tried in the task that asks
//! for it, for so short a time that it does not matter that a client which hangs up is not noticed meanwhile. What was
//! not done in that time is begun again in a task of its own, and so are the next queries of the same shape (`trials`).
//!
//! So a short query waits for newcomers alone, each of which makes room in a moment; and threads and memory are bounded by
//! the places, however many queries there are.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use armilla_env::Clock;
use armilla_query::Stop;
use parking_lot::{Condvar, Mutex, MutexGuard};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::limits::{
    FUNCTION_QUERIES_AT_ONCE_MAX, LONG_QUERIES_AT_ONCE_MAX, LONG_QUERY_SLICE, LONG_QUERY_WAIT,
    QUERIES_AT_ONCE_MAX, SHORT_QUERY_TIME, TRIAL_LOOKS_MAX, TRIAL_TIME,
};

use super::trials::Trials;

#[cfg(test)]
mod tests;

/// The places of queries: of all of an account that compute here, or of all that wait for functions in other processes.
pub(crate) struct QueryLanes {
    newcomers: Arc<Semaphore>,
    newcomers_max: usize,
    long: Arc<Semaphore>,
    turnstile: Arc<Turnstile>,
    trials: Trials,
}

impl QueryLanes {
    /// Makes the places for a machine with so many cores.
    pub(crate) fn new(cores: usize) -> QueryLanes {
        QueryLanes::with_newcomers(cores, QUERIES_AT_ONCE_MAX)
    }

    /// Makes the places of queries that call user-defined functions. One that does not come back keeps its place until
    /// it is killed, so these are places of their own, and more of them: such queries wait more than they compute.
    pub(crate) fn of_functions(cores: usize) -> QueryLanes {
        QueryLanes::with_newcomers(cores, FUNCTION_QUERIES_AT_ONCE_MAX)
    }

    fn with_newcomers(cores: usize, newcomers_max: usize) -> QueryLanes {
        QueryLanes {
            newcomers: Arc::new(Semaphore::new(newcomers_max)),
            newcomers_max,
            long: Arc::new(Semaphore::new(LONG_QUERIES_AT_ONCE_MAX)),
            turnstile: Arc::new(Turnstile::new(cores.max(1))),
            trials: Trials::default(),
        }
    }

    /// Returns how many queries compute.
    pub(crate) fn computing(&self) -> usize {
        let newcomers = self.newcomers_max.saturating_sub(self.newcomers.available_permits());
        newcomers + self.turnstile.state().inside
    }

    /// Waits for the place of a newcomer.
    pub(super) async fn newcomer(&self) -> Turn {
        let permit = self.newcomers.clone().acquire_owned().await.expect("the semaphore is never closed");
        self.turn(Stage::Newcomer { _permit: permit, began: None, trial_looks: None })
    }

    /// Waits for the place of a newcomer that is tried first, unless queries of this shape have failed to be done in that
    /// time lately: then the place is that of any other newcomer.
    pub(super) async fn trial(&self, shape: u64) -> Turn {
        let mut turn = self.newcomer().await;
        if let Stage::Newcomer { trial_looks, .. } = turn.stage.get_mut() {
            *trial_looks = self.trials.is_worth_it(shape).then_some(0);
        }
        turn
    }

    /// Notes that a query of this shape was not done in the time of a trial.
    pub(super) fn trial_failed(&self, shape: u64) {
        self.trials.failed(shape);
    }

    /// Notes that a query of this shape was.
    pub(super) fn trial_passed(&self, shape: u64) {
        self.trials.passed(shape);
    }

    /// Waits for a place among the long ones.
    pub(super) async fn long(&self) -> Turn {
        let permit = self.long.clone().acquire_owned().await.expect("the semaphore is never closed");
        self.turn(Stage::Long { _permit: permit, slice_began: None })
    }

    fn turn(&self, stage: Stage) -> Turn {
        let (long, turnstile) = (self.long.clone(), self.turnstile.clone());
        Turn { stage: RefCell::new(stage), long, turnstile }
    }
}

/// The place of one query.
pub(super) struct Turn {
    stage: RefCell<Stage>,
    long: Arc<Semaphore>,
    turnstile: Arc<Turnstile>,
}

enum Stage {
    /// It has computed since then, if it has begun. While it is on trial, the looks at it are counted.
    Newcomer { _permit: OwnedSemaphorePermit, began: Option<Duration>, trial_looks: Option<u32> },
    /// It was not done in the time of its trial, and is to be begun again as any other newcomer.
    Tried,
    /// It has computed since then, if it is its turn.
    Long { _permit: OwnedSemaphorePermit, slice_began: Option<Duration> },
    /// It was stopped, and is to be begun again as a long one.
    Postponed,
}

impl Turn {
    /// Says whether the query may go on. Waits here while it is the turn of others.
    pub(super) fn look(&self, clock: &dyn Clock, is_cancelled: &dyn Fn() -> bool) -> Result<(), Stop> {
        let mut stage = self.stage.borrow_mut();
        let now = clock.elapsed();
        match &mut *stage {
            Stage::Newcomer { began, trial_looks, .. } => {
                let took = now.saturating_sub(*began.get_or_insert(now));
                if let Some(looks) = trial_looks {
                    *looks += 1;
                    if took >= TRIAL_TIME || *looks > TRIAL_LOOKS_MAX {
                        *stage = Stage::Tried;
                        return Err(Stop::Postponed);
                    }
                }
                if took < SHORT_QUERY_TIME {
                    return Ok(());
                }
                // Its place is free for the next newcomer from here on.
                let Ok(permit) = self.long.clone().try_acquire_owned() else {
                    *stage = Stage::Postponed;
                    return Err(Stop::Postponed);
                };
                *stage = Stage::Long { _permit: permit, slice_began: None };
            }
            Stage::Long { slice_began: Some(began), .. } => {
                if now.saturating_sub(*began) < LONG_QUERY_SLICE || !self.turnstile.is_waited_for() {
                    return Ok(());
                }
                self.turnstile.leave();
            }
            Stage::Long { slice_began: None, .. } => {}
            Stage::Tried | Stage::Postponed => return Err(Stop::Postponed),
        }
        let is_inside = self.turnstile.enter(is_cancelled);
        if let Stage::Long { slice_began, .. } = &mut *stage {
            *slice_began = is_inside.then(|| clock.elapsed());
        }
        if is_inside { Ok(()) } else { Err(Stop::Cancelled) }
    }

    /// Returns whether the query is on trial.
    pub(super) fn is_trial(&self) -> bool {
        matches!(*self.stage.borrow(), Stage::Newcomer { trial_looks: Some(_), .. })
    }

    /// Returns whether the query's trial was too short for it.
    pub(super) fn is_tried(&self) -> bool {
        matches!(*self.stage.borrow(), Stage::Tried)
    }

    /// Returns whether the query was stopped to be begun again as a long one.
    pub(super) fn is_postponed(&self) -> bool {
        matches!(*self.stage.borrow(), Stage::Postponed)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        if matches!(*self.stage.borrow(), Stage::Long { slice_began: Some(_), .. }) {
            self.turnstile.leave();
        }
    }
}

/// Lets so many threads compute at a time, in the order in which they came.
struct Turnstile {
    inside_max: usize,
    state: Mutex<State>,
    changed: Condvar,
    waiting: AtomicUsize,
}

#[derive(Default)]
struct State {
    inside: usize,
    tickets: u64,
    queue: VecDeque<u64>,
}

impl Turnstile {
    fn new(inside_max: usize) -> Turnstile {
        Turnstile {
            inside_max,
            state: Mutex::default(),
            changed: Condvar::new(),
            waiting: AtomicUsize::new(0),
        }
    }

    /// The state is whole whenever its lock is free, whichever thread has failed.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    fn is_waited_for(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) > 0
    }

    /// Waits for a turn. Returns false where it was cancelled before.
    fn enter(&self, is_cancelled: &dyn Fn() -> bool) -> bool {
        let mut state = self.state();
        let ticket = state.tickets;
        state.tickets += 1;
        state.queue.push_back(ticket);
        loop {
            let is_inside = state.inside < self.inside_max && state.queue.front() == Some(&ticket);
            if is_inside || is_cancelled() {
                state.queue.retain(|other| *other != ticket);
                state.inside += usize::from(is_inside);
                self.waiting.store(state.queue.len(), Ordering::Relaxed);
                self.changed.notify_all();
                return is_inside;
            }
            self.waiting.store(state.queue.len(), Ordering::Relaxed);
            // Cancelling a query wakes no thread here, so it is looked for now and then.
            self.changed.wait_for(&mut state, LONG_QUERY_WAIT);
        }
    }

    fn leave(&self) {
        self.state().inside -= 1;
        self.changed.notify_all();
    }
}
