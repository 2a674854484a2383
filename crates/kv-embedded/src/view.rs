//! The moment at which readers read.
//!
//! The writer publishes a view after every commit, while no commit runs. The engine's own "newest" is not
//! good enough: a plain engine read sees single entries of a batch that is being applied, and a flush or
//! compaction that ends during a commit moves the engine's visible sequence number past that commit, so that
//! a snapshot taken then would change while it is held.

use std::sync::{Arc, PoisonError, RwLock};

use fjall::{Database, Snapshot};

/// Holds the published moment.
pub(crate) struct View(RwLock<Arc<Snapshot>>);

impl View {
    /// Publishes the present moment. No commit may be running.
    pub(crate) fn new(db: &Database) -> View {
        View(RwLock::new(Arc::new(db.snapshot())))
    }

    /// Publishes the present moment. Only the thread that commits may call this, between its commits.
    pub(crate) fn publish(&self, db: &Database) {
        let snapshot = Arc::new(db.snapshot());
        let replaced = {
            let mut published = self.0.write().unwrap_or_else(PoisonError::into_inner);
            std::mem::replace(&mut *published, snapshot)
        };
        // Outside the lock: dropping the last reference talks to the engine's snapshot tracker.
        drop(replaced);
    }

    /// Returns the published moment.
    pub(crate) fn latest(&self) -> Arc<Snapshot> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
