//! What every part of an execution shares, and what it counts.

use std::cell::{Cell, RefCell};

use crate::budget::Memory;
use crate::error::Result;
use crate::eval::Evaluator;
use crate::logical::LogicalPlan;
use crate::physical::PhysicalPlan;
use crate::source::Source;
use crate::work::Work;

/// Chooses how the items of a source are found.
pub(super) type Planner<'q> = &'q (dyn Fn(&LogicalPlan, &dyn Source) -> Result<PhysicalPlan> + Sync);

/// What every part of an execution shares.
pub(super) struct Context<'q> {
    /// Evaluates expressions.
    pub(super) evaluator: &'q Evaluator<'q>,
    /// Where items come from, in ring order.
    pub(super) sources: &'q [&'q dyn Source],
    /// Chooses how the items of a source are found.
    pub(super) planner: Planner<'q>,
    /// How many other threads may help.
    pub(super) helpers: usize,
    /// Tells of what the page has counted so far whether it is enough, or has taken long enough.
    pub(super) expired: &'q dyn Fn(&Work) -> bool,
    /// The memory that the query holds.
    pub(super) memory: Memory,
    /// Most item numbers that are collected from an index to be put in order.
    pub(super) collected_max: usize,
    /// What was counted.
    pub(super) tally: Tally,
}

/// What an execution counts.
#[derive(Default)]
pub(super) struct Tally {
    work: Cell<Work>,
    retrieved: Cell<Retrieved>,
    plans: RefCell<Vec<PhysicalPlan>>,
}

/// Items that a page looked at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Retrieved {
    /// How many.
    pub items: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl Tally {
    /// Adds to what was counted.
    pub(super) fn add(&self, work: Work, retrieved: Retrieved) {
        let mut sum = self.work.get();
        sum += work;
        self.work.set(sum);
        let Retrieved { items, bytes } = self.retrieved.get();
        self.retrieved.set(Retrieved { items: items + retrieved.items, bytes: bytes + retrieved.bytes });
    }

    /// Keeps a plan for metrics.
    pub(super) fn keep_plan(&self, plan: PhysicalPlan) {
        self.plans.borrow_mut().push(plan);
    }

    /// Forgets what was counted.
    pub(super) fn reset(&self) {
        *self.plans.borrow_mut() = Vec::new();
        self.work.take();
        self.retrieved.take();
    }

    /// Returns what was counted.
    pub(super) fn finish(&self) -> (Work, Retrieved, Vec<PhysicalPlan>) {
        (self.work.get(), self.retrieved.get(), self.plans.take())
    }
}

/// What one walk over items counts; it is added to the tally at the end.
#[derive(Default)]
pub(super) struct Counter {
    /// What was done.
    pub(super) work: Work,
    /// What was looked at.
    pub(super) retrieved: Retrieved,
}

/// How items of an access are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// An index named them.
    Fetched,
    /// They were met by a scan.
    Scanned,
    /// They were met by a scan of one logical partition, which stands for an index of it.
    Logical,
    /// They were met by a walk through the index of an order.
    Walked,
}

impl Counter {
    /// Counts an item that was looked at; `passed` says whether the conditions on it hold. One that indexes would have
    /// passed over counts as if they had, whichever way was quicker: the price must not depend on it.
    pub(super) fn item(&mut self, physical: &PhysicalPlan, class: Class, json_bytes: u32, passed: bool) {
        let bytes = u64::from(json_bytes);
        match class {
            Class::Scanned => {
                self.work.scanned += 1;
                self.work.scanned_bytes += bytes;
            }
            Class::Logical if !passed && physical.rejects_by_index => {}
            Class::Logical if !passed => self.work.entries += 1,
            Class::Walked if !passed && physical.rejects_by_index => self.work.entries += 1,
            Class::Fetched | Class::Logical | Class::Walked => {
                self.work.fetched += 1;
                self.work.fetched_bytes += bytes;
            }
        }
    }

    /// Notes an item that was looked at, counted or not.
    pub(super) fn look_at(&mut self, json_bytes: u32) {
        self.retrieved.items += 1;
        self.retrieved.bytes += u64::from(json_bytes);
    }
}
