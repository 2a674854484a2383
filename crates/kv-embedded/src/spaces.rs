//! Who owns which space: fences, and which spaces are gone.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use armilla_kv::id_set::IdSet;
use armilla_kv::{Error, ErrorKind, Result, SpaceId};
use parking_lot::{Condvar, Mutex, MutexGuard};

/// What all handles of one space share.
pub(crate) struct SpaceState {
    pub(crate) id: SpaceId,
    dropped: AtomicBool,
}

/// The spaces that are open or gone.
pub(crate) struct Spaces {
    inner: Mutex<Inner>,
    /// Told whenever a group of commits is over.
    group_over: Condvar,
}

struct Inner {
    open: HashMap<SpaceId, Open>,
    dropped: IdSet,
    /// Spaces with a batch in the group that is being written.
    in_flight: HashSet<SpaceId>,
}

struct Open {
    state: Arc<SpaceState>,
    epoch: u64,
}

impl SpaceState {
    /// Fails if the space is gone.
    pub(crate) fn check_reachable(&self) -> Result<()> {
        if self.dropped.load(Ordering::Acquire) { Err(dropped(self.id)) } else { Ok(()) }
    }
}

impl Inner {
    fn check_current(&self, state: &SpaceState, epoch: u64) -> Result<()> {
        let newest = self.open.get(&state.id).map(|open| open.epoch);
        if newest == Some(epoch) {
            return Ok(());
        }
        let message = format!("space {} was opened again after this handle was made", state.id.0);
        Err(Error::new(ErrorKind::Fenced, message))
    }
}

impl Spaces {
    /// Returns the registry of a store in which these spaces are gone.
    pub(crate) fn new(dropped: IdSet) -> Spaces {
        Spaces {
            inner: Mutex::new(Inner { open: HashMap::new(), dropped, in_flight: HashSet::new() }),
            group_over: Condvar::new(),
        }
    }

    /// Takes a space over. When this returns, no older handle can write any more, and what they wrote is visible.
    pub(crate) fn open(&self, id: SpaceId) -> Result<(Arc<SpaceState>, u64)> {
        let mut inner = self.lock();
        if inner.dropped.contains(id.0) {
            return Err(dropped(id));
        }
        let open = inner.open.entry(id).or_insert_with(|| Open {
            state: Arc::new(SpaceState { id, dropped: AtomicBool::new(false) }),
            epoch: 0,
        });
        open.epoch += 1;
        let taken = (open.state.clone(), open.epoch);
        self.wait_until_landed(inner, id);
        Ok(taken)
    }

    /// Makes a space unreachable. Returns whether it was reachable before.
    pub(crate) fn mark_dropped(&self, id: SpaceId) -> bool {
        let mut inner = self.lock();
        if inner.dropped.contains(id.0) {
            return false;
        }
        inner.dropped.insert(id.0);
        if let Some(open) = inner.open.remove(&id) {
            open.state.dropped.store(true, Ordering::Release);
        }
        self.wait_until_landed(inner, id);
        true
    }

    /// Admits a batch to the group that is about to be written, or says why it may not be.
    pub(crate) fn admit(&self, state: &SpaceState, epoch: u64) -> Result<()> {
        let mut inner = self.lock();
        state.check_reachable()?;
        inner.check_current(state, epoch)?;
        inner.in_flight.insert(state.id);
        Ok(())
    }

    /// Fails if a space was opened after the handle with this epoch.
    pub(crate) fn check_current(&self, state: &SpaceState, epoch: u64) -> Result<()> {
        self.lock().check_current(state, epoch)
    }

    /// Says that the group is over and its outcome visible.
    pub(crate) fn group_over(&self) {
        self.lock().in_flight.clear();
        self.group_over.notify_all();
    }

    fn wait_until_landed(&self, mut inner: MutexGuard<'_, Inner>, id: SpaceId) {
        while inner.in_flight.contains(&id) {
            self.group_over.wait(&mut inner);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock()
    }
}

fn dropped(id: SpaceId) -> Error {
    Error::new(ErrorKind::SpaceDropped, format!("space {} was dropped", id.0))
}
