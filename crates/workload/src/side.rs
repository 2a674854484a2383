//! A side: something that holds the items and does the operations of plans, the server or a peer of it.
//!
//! Another peer is another implementation of [`Side`]; nothing else knows which there are but `run`.

use anyhow::Result;
use armilla_env::Env;

use crate::cpu::CpuClock;
use crate::drive::{Future, Worker};
use crate::plan::Plan;

/// Something that can be measured.
pub(crate) trait Side: Send + Sync {
    /// Returns its name in tables and results.
    fn name(&self) -> &'static str;

    /// Makes what operations need, and loads the items.
    fn load(&self, needs: Needs) -> Future<'_, Result<()>>;

    /// Opens a connection that does the operations of a plan, drawn from a stream of them.
    fn worker(&self, plan: Plan, stream: usize) -> Future<'_, Result<Box<dyn Worker>>>;

    /// Waits until it does no work in the background any more; returns a sentence where it did not come to rest or does
    /// not tell.
    fn rest<'s>(&'s self, env: &'s Env) -> Future<'s, Result<Option<String>>>;

    /// Returns how many entries the workload `script` has left, and how many its counters say.
    fn count_entries(&self) -> Future<'_, Result<Entries>>;

    /// Returns version and settings in a line.
    fn describe(&self) -> Future<'_, Result<String>>;

    /// Returns the indexes that it has of the items, each in a line.
    fn indexes(&self) -> Future<'_, Result<Vec<String>>>;

    /// Returns what tells how much processor time it uses, if it can be asked.
    fn cpu_clock(&self) -> Option<Box<dyn CpuClock>> {
        None
    }
}

/// What has to be there before plans can run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Needs {
    /// The items.
    pub(crate) items: bool,
    /// Counters and a procedure that counts entries in them.
    pub(crate) entries: bool,
}

impl Needs {
    /// Returns what some plans need.
    pub(crate) fn of<'p>(plans: impl IntoIterator<Item = &'p Plan>) -> Needs {
        plans.into_iter().fold(Needs::default(), |needs, plan| match plan {
            Plan::Script => Needs { entries: true, ..needs },
            Plan::PointRead | Plan::Write | Plan::Mixed { .. } | Plan::Query(_) => {
                Needs { items: true, ..needs }
            }
        })
    }
}

/// What is left of the workload `script`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Entries {
    /// Entries that are there.
    pub(crate) entries: u64,
    /// The sum of all counters.
    pub(crate) counted: u64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queries::Query;

    #[test]
    fn what_plans_need() {
        for (plans, expected) in [
            (vec![], (false, false)),
            (vec![Plan::Write], (true, false)),
            (vec![Plan::Script], (false, true)),
            (vec![Plan::Query(Query::Range), Plan::Script], (true, true)),
        ] {
            let needs = Needs::of(&plans);
            assert_eq!((needs.items, needs.entries), expected, "{plans:?}");
        }
    }
}
