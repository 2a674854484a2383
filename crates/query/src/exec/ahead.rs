//! Plans of the sources to come, made on other threads while those before are read.
//!
//! Where a query asks many partitions for little, most of its time goes into finding out that they have nothing. That is
//! done while a source is planned, it reads nothing but the source, and nothing is counted for it; so it can be done
//! beforehand. All that follows stays on one thread, in the order of the sources: rows, charges and continuations are
//! the same with helpers and without.
//!
//! The reader helps as well: instead of waiting for a plan it makes the next that no thread has begun.

use std::collections::VecDeque;
use std::thread::{self, Scope};

use parking_lot::{Condvar, Mutex, MutexGuard};

use super::context::{Context, Planner};
use crate::error::Result;
use crate::limits::{AHEAD_AFTER_SOURCES, AHEAD_SOURCES_MAX};
use crate::logical::LogicalPlan;
use crate::physical::PhysicalPlan;
use crate::source::Source;

/// Calls `read` with the plans of all sources.
pub(super) fn with_plans<T>(
    context: &Context<'_>,
    plan: &LogicalPlan,
    read: impl FnOnce(&mut Plans<'_, '_>) -> T,
) -> T {
    let desk = Desk::new(plan, context.sources, context.planner);
    thread::scope(|scope| {
        let mut plans = Plans { scope, desk: &desk, helpers: context.helpers, started: 0, taken: 0 };
        read(&mut plans)
    })
}

/// The plans of all sources; they are taken in the order of the sources, some of which may be left out.
pub(super) struct Plans<'s, 'd> {
    scope: &'s Scope<'s, 'd>,
    desk: &'d Desk<'d>,
    /// How many other threads may help.
    helpers: usize,
    /// How many of them were started.
    started: usize,
    taken: usize,
}

impl Plans<'_, '_> {
    /// Returns the plan of the source at a place.
    pub(super) fn take(&mut self, at: usize) -> Result<PhysicalPlan> {
        self.taken += 1;
        // A page that ends in one of the first sources has no use for the plans of others.
        if self.taken <= AHEAD_AFTER_SOURCES || self.helpers == 0 {
            return self.desk.make(at);
        }
        self.desk.move_on(at);
        while self.started < self.helpers {
            self.started += 1;
            let desk = self.desk;
            let helper = thread::Builder::new().name("query-ahead".to_owned());
            // Without it the query takes longer, no more.
            let _ = helper.spawn_scoped(self.scope, move || desk.help());
        }
        self.desk.take(at)
    }
}

impl Drop for Plans<'_, '_> {
    fn drop(&mut self) {
        self.desk.close();
    }
}

/// Where plans are put down until they are taken.
struct Desk<'d> {
    plan: &'d LogicalPlan,
    sources: &'d [&'d dyn Source],
    planner: Planner<'d>,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// The first source whose plan was not taken.
    at: usize,
    /// The plans from `at` on that were begun.
    begun: VecDeque<Begun>,
    /// Whether no more plans are wanted.
    is_closed: bool,
}

enum Begun {
    /// A thread is making it.
    Making,
    /// It is made.
    Made(Box<Result<PhysicalPlan>>),
    /// The thread that made it has failed, so the reader is to make it again.
    Lost,
}

impl<'d> Desk<'d> {
    fn new(plan: &'d LogicalPlan, sources: &'d [&'d dyn Source], planner: Planner<'d>) -> Desk<'d> {
        Desk { plan, sources, planner, state: Mutex::default(), changed: Condvar::new() }
    }

    /// The state is whole whenever its lock is free, whichever thread has failed.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    fn make(&self, at: usize) -> Result<PhysicalPlan> {
        (self.planner)(self.plan, self.sources[at])
    }

    /// Says that no plan of a source before this one will be taken any more.
    fn move_on(&self, at: usize) {
        let mut state = self.state();
        let passed = at.saturating_sub(state.at).min(state.begun.len());
        state.begun.drain(..passed);
        state.at = at;
        self.changed.notify_all();
    }

    /// Returns the plan of the first source whose plan was not taken.
    fn take(&self, at: usize) -> Result<PhysicalPlan> {
        let mut state = self.state();
        loop {
            match state.begun.pop_front() {
                Some(Begun::Made(plan)) => {
                    state.at += 1;
                    return *plan;
                }
                Some(Begun::Lost) => {
                    state.at += 1;
                    drop(state);
                    return self.make(at);
                }
                Some(Begun::Making) => state.begun.push_front(Begun::Making),
                None => {}
            }
            drop(state);
            let has_helped = self.help_once();
            state = self.state();
            if !has_helped && matches!(state.begun.front(), Some(Begun::Making)) {
                self.changed.wait(&mut state);
            }
        }
    }

    /// Makes plans until no more are wanted.
    fn help(&self) {
        loop {
            if self.help_once() {
                continue;
            }
            let mut state = self.state();
            if state.is_closed || state.next() >= self.sources.len() {
                return;
            }
            if !state.has_room() {
                self.changed.wait(&mut state);
            }
        }
    }

    /// Makes the next plan that no thread has begun. Returns whether there was one.
    fn help_once(&self) -> bool {
        let mut state = self.state();
        let next = state.next();
        if state.is_closed || next >= self.sources.len() || !state.has_room() {
            return false;
        }
        state.begun.push_back(Begun::Making);
        drop(state);
        let mut making = Making { desk: self, at: next, outcome: Begun::Lost };
        making.outcome = Begun::Made(Box::new(self.make(next)));
        true
    }

    fn close(&self) {
        self.state().is_closed = true;
        self.changed.notify_all();
    }
}

impl State {
    /// Returns the first source whose plan no thread has begun.
    fn next(&self) -> usize {
        self.at + self.begun.len()
    }

    fn has_room(&self) -> bool {
        self.begun.len() < AHEAD_SOURCES_MAX
    }
}

/// A plan that is being made. What came of it is put down also where making it panics, so that the reader does not wait
/// for it for ever.
struct Making<'d> {
    desk: &'d Desk<'d>,
    at: usize,
    outcome: Begun,
}

impl Drop for Making<'_> {
    fn drop(&mut self) {
        let mut state = self.desk.state();
        let outcome = std::mem::replace(&mut self.outcome, Begun::Lost);
        // The source may have been left out meanwhile.
        if let Some(place) = self.at.checked_sub(state.at).and_then(|place| state.begun.get_mut(place)) {
            *place = outcome;
        }
        self.desk.changed.notify_all();
    }
}
