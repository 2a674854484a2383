//! Gives back the bytes of dropped spaces, in the background.
//!
//! A dropped space is a to-do record. This thread removes its keys, family by family, in small batches that
//! wait while clients write, and then replaces the record by the fact that the space is gone. It starts
//! again from the records when the store is opened.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use armilla_kv::id_set::IdSet;
use armilla_kv::{Error, ErrorKind, Family, Result, SpaceId};
use parking_lot::{Condvar, Mutex, MutexGuard};

use crate::keys::{self, EngineOp};
use crate::limits::{
    OP_OVERHEAD_BYTES, RECLAIM_KEYS, RECLAIM_PRESSURE_PERCENT_MAX, RECLAIM_PRESSURE_POLL_PERIOD,
    RECLAIM_PRESSURE_WAIT_MAX, RECLAIM_REST_MAX, RECLAIM_RESTS_PER_STEP, RECOVERY_PERIOD_MAX,
};
use crate::priority::stand_back;
use crate::queue::Priority;
use crate::records;
use crate::shared::Shared;
use crate::time::now;

/// The list of what is to be done.
pub(crate) struct Reclaim {
    inner: Mutex<Inner>,
    changed: Condvar,
}

struct Inner {
    /// Dropped spaces with a durable to-do record.
    to_reclaim: BTreeSet<u64>,
    /// Dropped spaces whose bytes are given back.
    gone: IdSet,
    stopping: bool,
}

impl Reclaim {
    pub(crate) fn new(to_reclaim: Vec<u64>, gone: IdSet) -> Reclaim {
        let to_reclaim = to_reclaim.into_iter().collect();
        Reclaim { inner: Mutex::new(Inner { to_reclaim, gone, stopping: false }), changed: Condvar::new() }
    }

    /// Returns whether the drop of a space is already durable.
    pub(crate) fn knows(&self, id: SpaceId) -> bool {
        let inner = self.lock();
        inner.to_reclaim.contains(&id.0) || inner.gone.contains(id.0)
    }

    /// Takes on a space whose to-do record is durable.
    pub(crate) fn add(&self, id: SpaceId) {
        self.lock().to_reclaim.insert(id.0);
        self.changed.notify_all();
    }

    /// Ends the thread as soon as its present step is over.
    pub(crate) fn stop(&self) {
        self.lock().stopping = true;
        self.changed.notify_all();
    }

    pub(crate) fn to_reclaim_count(&self) -> u64 {
        self.lock().to_reclaim.len() as u64
    }

    /// Waits a while after a failure, unless it is time to stop.
    fn rest(&self) {
        self.changed.wait_while_for(&mut self.lock(), |inner| !inner.stopping, RECOVERY_PERIOD_MAX);
    }

    fn is_stopping(&self) -> bool {
        self.lock().stopping
    }

    /// Waits for a space to reclaim, or returns nothing when it is time to stop.
    fn next(&self) -> Option<u64> {
        let mut inner = self.lock();
        loop {
            if inner.stopping {
                return None;
            }
            if let Some(id) = inner.to_reclaim.first() {
                return Some(*id);
            }
            self.changed.wait(&mut inner);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock()
    }
}

/// Reclaims until told to stop. While the store takes no writes, it waits.
pub(crate) fn run(shared: &Arc<Shared>) {
    stand_back();
    while let Some(id) = shared.reclaim.next() {
        match reclaim(shared, SpaceId(id)) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::Closed => return,
            Err(error) => {
                tracing::warn!(space = id, %error, "reclaiming a dropped space stopped, it goes on later");
                shared.reclaim.rest();
            }
        }
    }
}

fn reclaim(shared: &Arc<Shared>, id: SpaceId) -> Result<()> {
    for family in Family::ALL {
        let mut from = keys::prefixed(id, &[]);
        loop {
            give_way(shared);
            let (started, commits) = (now(), shared.counters.commits.load(Ordering::Relaxed));
            let (ops, last) = next_keys(shared, id, family, &from)?;
            let Some(last) = last else { break };
            write(shared, ops)?;
            if shared.reclaim.is_stopping() {
                return Err(Error::new(ErrorKind::Closed, "the store is closing"));
            }
            // While clients write, it leaves them most of the writer's time.
            if shared.counters.commits.load(Ordering::Relaxed) != commits {
                std::thread::sleep((RECLAIM_RESTS_PER_STEP * started.elapsed()).min(RECLAIM_REST_MAX));
            }
            // Above the last key, so that the next step does not walk over what this one removed.
            from = last;
            from.push(0);
        }
    }
    // Only this thread changes it, and only once it is written: a failed write is tried again.
    let mut gone = shared.reclaim.lock().gone.clone();
    write(shared, records::reclaimed(&mut gone, id.0))?;
    let mut inner = shared.reclaim.lock();
    inner.gone = gone;
    inner.to_reclaim.remove(&id.0);
    Ok(())
}

/// Waits until the engine is through with most of its background work, for a while: what is removed makes more of it,
/// and clients must not be held back for that.
fn give_way(shared: &Shared) {
    let started = now();
    while shared.pressure_percent() > RECLAIM_PRESSURE_PERCENT_MAX
        && started.elapsed() < RECLAIM_PRESSURE_WAIT_MAX
        && !shared.reclaim.is_stopping()
    {
        std::thread::sleep(RECLAIM_PRESSURE_POLL_PERIOD);
    }
}

fn next_keys(
    shared: &Arc<Shared>,
    id: SpaceId,
    family: Family,
    from: &[u8],
) -> Result<(Vec<EngineOp>, Option<Vec<u8>>)> {
    let range = (std::ops::Bound::Included(from.to_vec()), keys::upper(id, &std::ops::Bound::Unbounded));
    let mut ops = Vec::with_capacity(RECLAIM_KEYS);
    let moment = shared.view.latest()?;
    for key in moment.sight().keys(family, range).take(RECLAIM_KEYS) {
        ops.push(EngineOp { keyspace: family as usize, key: key?.into(), value: None });
    }
    let last = ops.last().map(|op| op.key.to_vec());
    Ok((ops, last))
}

fn write(shared: &Arc<Shared>, ops: Vec<EngineOp>) -> Result<()> {
    let bytes = ops.iter().map(|op| op.key.len() + OP_OVERHEAD_BYTES).sum();
    shared.queue.push(Priority::Background, None, ops, bytes)?.wait()
}
