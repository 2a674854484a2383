//! A page of a change feed while it fills.

use super::FeedChange;
use crate::limits::FEED_WALK_ENTRIES_MAX;
use crate::read::page::{Metered, PageMeter};

pub(super) struct FeedPageBuilder<'a> {
    pub(super) meter: PageMeter<'a>,
    pub(super) changes: Vec<FeedChange>,
    /// Entries of the change log that were looked at.
    walked: usize,
}

impl<'a> FeedPageBuilder<'a> {
    pub(super) fn new(meter: PageMeter<'a>) -> FeedPageBuilder<'a> {
        FeedPageBuilder { meter, changes: Vec::new(), walked: 0 }
    }

    /// Takes note of entries that were looked at.
    pub(super) fn walk(&mut self, entries: usize) {
        self.walked += entries;
    }

    /// Takes note of an entry that was looked at for nothing.
    pub(super) fn skip(&mut self) {
        self.meter.entries_skipped += 1;
    }

    /// Returns whether the page should end at the end of the commit that is being read.
    pub(super) fn is_full(&self) -> bool {
        self.meter.is_full() || self.walked >= FEED_WALK_ENTRIES_MAX
    }

    /// Returns whether no further partition should be read for it.
    pub(super) fn is_packed(&self) -> bool {
        self.meter.is_packed() || self.walked >= FEED_WALK_ENTRIES_MAX
    }

    pub(super) fn push(&mut self, change: FeedChange) {
        let versions = change.item.iter().chain(&change.previous);
        let bytes = versions.map(|item| self.meter.json_bytes(item)).sum();
        self.meter.note(bytes);
        self.changes.push(change);
    }

    /// Returns how many changes to load at once: as many as there is room for if they are like those before.
    pub(super) fn changes_at_once(&self) -> usize {
        const FIRST: usize = 64;
        let (bytes, changes) = self.meter.filled();
        let fitting = match bytes.checked_div(changes) {
            Some(mean_bytes) => self.meter.room_bytes() / mean_bytes.max(1) + 1,
            None => FIRST,
        };
        // A page that is full may have to go on to the end of a commit.
        fitting.min(self.meter.room()).max(1)
    }
}

impl<'a> Metered<'a> for FeedPageBuilder<'a> {
    fn meter(&mut self) -> &mut PageMeter<'a> {
        &mut self.meter
    }
}
