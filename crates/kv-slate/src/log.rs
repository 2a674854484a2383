//! How long the log of a tree gets.
//!
//! Each put leaves an object in it, and who opens the tree after this process was killed reads all of them, one by one,
//! before the tree serves. So what the log has is put into a sorted file every so many puts, however small that is, and
//! once it was read: else what is killed again and again would be read again and again.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use armilla_kv::Durability;

use crate::limits::{LOG_OBJECTS_MAX, RELAXED_FLUSH};
use crate::spaces::{Put, Shared};
use crate::tree::Tree;

/// Objects that were put into the log of a tree since it was last emptied.
pub(crate) struct Log {
    durability: Durability,
    objects: u32,
    /// When the last one that counts was put.
    counted: Option<Instant>,
}

impl Log {
    /// Begins to count for a tree that was just opened, and has emptied what was read.
    pub(crate) fn of(shared: &Arc<Shared>, tree: &Arc<Tree>) -> Log {
        if tree.was_replayed() {
            empty(shared, tree);
        }
        Log { durability: shared.durability, objects: 0, counted: None }
    }

    /// Counts a put, and has the log emptied when it is long enough.
    pub(crate) fn count(&mut self, put: &Put, shared: &Arc<Shared>, tree: &Arc<Tree>) {
        // What is not waited for is put from time to time, many groups at once.
        let is_one = match (self.durability, self.counted) {
            (Durability::Relaxed, Some(last)) => put.ended.saturating_duration_since(last) >= RELAXED_FLUSH,
            _ => true,
        };
        if !is_one {
            return;
        }
        self.counted = Some(put.ended);
        self.objects += 1;
        if self.objects >= LOG_OBJECTS_MAX && empty(shared, tree) {
            self.objects = 0;
        }
    }
}

/// Begins to put what the log has into a sorted file, unless that is under way.
fn empty(shared: &Arc<Shared>, tree: &Arc<Tree>) -> bool {
    if tree.is_sorting.swap(true, Ordering::AcqRel) {
        return false;
    }
    let tree = tree.clone();
    shared.runtime.spawn(async move {
        // A tree that another process has taken, or that was closed, has nothing to put any more; else writers will find
        // out what is wrong.
        if let Err(error) = tree.sort().await {
            tracing::debug!(%error, "a log was not emptied");
        }
        tree.is_sorting.store(false, Ordering::Release);
    });
    true
}
