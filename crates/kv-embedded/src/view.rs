//! The moment at which readers read.
//!
//! The writer publishes a view after every commit, while no commit runs. The engine's own "newest" is not
//! good enough: a plain engine read sees single entries of a batch that is being applied, and a flush or
//! compaction that ends during a commit moves the engine's visible sequence number past that commit, so that
//! a snapshot taken then would change while it is held.
//!
//! While the engine is replaced there is no view, and readers are told to come again.

use std::sync::{Arc, Weak};

use armilla_kv::{Error, ErrorKind, Result};
use fjall::Snapshot;
use parking_lot::RwLock;

use crate::engine::Engine;
use crate::read::Sight;
use crate::runs::RunSet;

/// Holds the published moment.
pub(crate) struct View(RwLock<Option<Arc<Moment>>>);

/// A moment of an instance of the engine. Held for one operation, not longer: it keeps the instance.
pub(crate) struct Moment {
    pub(crate) snapshot: Arc<Snapshot>,
    pub(crate) runs: Arc<RunSet>,
    pub(crate) engine: Arc<Engine>,
}

/// A moment that can be held for long. It ends with the instance of the engine.
pub(crate) struct HeldMoment {
    snapshot: Arc<Snapshot>,
    runs: Arc<RunSet>,
    engine: Weak<Engine>,
}

impl View {
    /// Publishes the present moment. No commit may be running.
    pub(crate) fn new(engine: &Arc<Engine>, runs: RunSet) -> View {
        View(RwLock::new(Some(Moment::now(engine, runs))))
    }

    /// Publishes the present moment. Only the thread that commits may call this, between its commits.
    pub(crate) fn publish(&self, engine: &Arc<Engine>, runs: RunSet) {
        self.replace(Some(Moment::now(engine, runs)));
    }

    /// Publishes nothing, until the next moment.
    pub(crate) fn clear(&self) {
        self.replace(None);
    }

    fn replace(&self, moment: Option<Arc<Moment>>) {
        let replaced = {
            let mut published = self.0.write();
            std::mem::replace(&mut *published, moment)
        };
        // Outside the lock: dropping the last reference talks to the engine's snapshot tracker.
        drop(replaced);
    }

    /// Returns the published moment.
    pub(crate) fn latest(&self) -> Result<Arc<Moment>> {
        self.0.read().clone().ok_or_else(reopening)
    }

    /// Returns the engine, unless it is just being replaced.
    pub(crate) fn engine(&self) -> Option<Arc<Engine>> {
        let published = self.0.read();
        published.as_ref().map(|moment| moment.engine.clone())
    }
}

impl Moment {
    /// What has landed is not in the runs any more, so the snapshot is taken behind them.
    fn now(engine: &Arc<Engine>, runs: RunSet) -> Arc<Moment> {
        let snapshot = Arc::new(engine.db.snapshot());
        Arc::new(Moment { snapshot, runs: Arc::new(runs), engine: engine.clone() })
    }

    /// Returns what a reader reads.
    pub(crate) fn sight(&self) -> Sight<'_> {
        Sight { snapshot: &self.snapshot, runs: &self.runs, engine: self.engine.clone() }
    }

    /// Returns the moment for a reader that keeps it.
    pub(crate) fn hold(&self) -> HeldMoment {
        let engine = Arc::downgrade(&self.engine);
        HeldMoment { snapshot: self.snapshot.clone(), runs: self.runs.clone(), engine }
    }
}

impl HeldMoment {
    /// Returns the moment for one operation.
    pub(crate) fn get(&self) -> Result<Sight<'_>> {
        let engine = self.engine.upgrade().filter(|engine| !engine.is_retired()).ok_or_else(ended)?;
        Ok(Sight { snapshot: &self.snapshot, runs: &self.runs, engine })
    }
}

fn reopening() -> Error {
    Error::new(ErrorKind::Io, "the store opens its files again after a failed write: try again in a moment")
}

/// Says that a moment is over.
pub(crate) fn ended() -> Error {
    Error::new(ErrorKind::Io, "the store has opened its files again since this was begun: begin again")
}
