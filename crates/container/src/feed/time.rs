//! Finding the first commit of a time in the change log.
//!
//! Commits are in the order of time but for scripts, whose writes have the time at which they were drafted, and but for
//! what a merge brought together: two logs, each in its own order, whose commit numbers say nothing of each other. Up to
//! the merge the log is then read from its beginning.
//!
//! A clock that was ahead for a while leaves changes whose time is still to come. What lies behind them is found by its
//! own time; how old they are themselves, what lies behind them tells.

use std::ops::Bound;

use armilla_kv::{Family, Snapshot};

use super::{Merged, read_log};
use crate::error::Result;
use crate::item::keys;
use crate::limits::{FEED_TIME_SLACK_SECONDS, STEP_BACK_SECONDS_MAX};
use crate::map::Slot;
use crate::partition::Partition;
use crate::partition::counters::Counters;

/// Returns a commit before everything that was written at or after a second since 1970 UTC, and not long before.
pub(super) fn commit_before(slot: &Slot, partition: &Partition, ts: u32) -> Result<u64> {
    let snapshot = partition.space().snapshot()?;
    let newest = match snapshot.get(Family::Meta, keys::COUNTERS)? {
        Some(bytes) => Counters::decode(&bytes)?.lsn,
        None => slot.range.lsn_base,
    };
    let target = ts.saturating_sub(FEED_TIME_SLACK_SECONDS);
    let merged = snapshot.get(Family::Meta, keys::MERGED)?.map(|bytes| Merged::decode(&bytes)).transpose()?;
    let mut before = match merged {
        Some(merged) if target <= merged.ts => return Ok(0),
        Some(merged) => merged.lsn,
        None => 0,
    };
    // Nothing at or before the one is late enough, everything behind the other is.
    let mut late = newest.max(before);
    while before < late {
        let middle = before + (late - before) / 2;
        let lower = Bound::Included(keys::feed(middle + 1, 0));
        let page = read_log(snapshot.as_ref(), lower, Bound::Unbounded, 1, 1)?;
        match page.entries.first() {
            Some(entry) if entry.change.ts < target => before = entry.position.0,
            _ => late = middle,
        }
    }
    Ok(late)
}

/// When changes were written at the latest, as far as their log tells.
pub(crate) struct Ages<'s> {
    snapshot: &'s dyn Snapshot,
    now: u32,
    /// A commit whose time has come, and its second: what lies before it is older.
    known: Option<(u64, u32)>,
}

impl<'s> Ages<'s> {
    /// Judges by a second since 1970 UTC.
    pub(crate) fn new(snapshot: &'s dyn Snapshot, now: u32) -> Ages<'s> {
        Ages { snapshot, now, known: None }
    }

    /// Returns the second by which a change of a commit was written that says when. That is what it says, unless that is
    /// still to come: then it is the second of a commit behind it, or the last there is while no such commit is found.
    pub(crate) fn written_by(&mut self, lsn: u64, ts: u32) -> Result<u32> {
        if self.has_come(ts) {
            return Ok(ts);
        }
        if let Some((_, ts)) = self.known.filter(|(known, _)| lsn < *known) {
            return Ok(ts);
        }
        // Twice as far each time, and from there on again, until the end: few reads, however many there are.
        let (mut base, mut furthest, mut distance) = (lsn, lsn, 1);
        loop {
            let lower = Bound::Included(keys::feed(base.saturating_add(distance), 0));
            let page = read_log(self.snapshot, lower, Bound::Unbounded, 1, 1)?;
            match page.entries.first() {
                Some(entry) if self.has_come(entry.change.ts) => {
                    self.known = Some((entry.position.0, entry.change.ts));
                    return Ok(entry.change.ts);
                }
                Some(entry) => {
                    furthest = entry.position.0;
                    distance = distance.saturating_mul(2);
                }
                None if distance == 1 => return Ok(u32::MAX),
                None => (base, distance) = (furthest, 1),
            }
        }
    }

    fn has_come(&self, ts: u32) -> bool {
        ts <= self.now.saturating_add(STEP_BACK_SECONDS_MAX)
    }
}
