//! Frees flushed memtables where no reader waits for it.
//!
//! The engine lets go of a flushed memtable while it holds the lock that every reader of the family needs, and
//! freeing its hundred thousands of entries takes tens of milliseconds. So this module holds on to every
//! sealed memtable until the engine is done with it, and frees it on a thread of its own.

use std::sync::Arc;

use parking_lot::{Condvar, Mutex, MutexGuard};

use crate::limits::{RETIRED_POLL_MAX, RETIRED_POLL_MIN};

type Memtable = Arc<dyn Send + Sync>;

/// Sealed memtables that the engine may still use.
#[derive(Default)]
pub(crate) struct Retired {
    inner: Mutex<Inner>,
    changed: Condvar,
}

#[derive(Default)]
struct Inner {
    memtables: Vec<Memtable>,
    stopping: bool,
}

impl Retired {
    /// Takes on a memtable that was sealed, once.
    pub(crate) fn add(&self, memtable: Memtable) {
        self.lock().memtables.push(memtable);
        self.changed.notify_one();
    }

    /// Says that a moment let go of memtables.
    pub(crate) fn look_again(&self) {
        self.changed.notify_one();
    }

    /// Ends the thread. What is left goes with the store.
    pub(crate) fn stop(&self) {
        self.lock().stopping = true;
        self.changed.notify_one();
    }

    /// Lets go of everything, with the engine.
    pub(crate) fn clear(&self) {
        let memtables = std::mem::take(&mut self.lock().memtables);
        // Outside the lock: it takes a while.
        drop(memtables);
    }

    /// Returns whether the engine still holds on to something.
    pub(crate) fn is_waiting(&self) -> bool {
        !self.lock().memtables.is_empty()
    }

    /// Frees memtables until told to stop.
    pub(crate) fn run(&self) {
        let mut period = RETIRED_POLL_MIN;
        let mut inner = self.lock();
        while !inner.stopping {
            let (free, used): (Vec<_>, Vec<_>) =
                inner.memtables.drain(..).partition(|memtable| Arc::strong_count(memtable) == 1);
            inner.memtables = used;
            if !free.is_empty() {
                drop(inner);
                drop(free);
                period = RETIRED_POLL_MIN;
                inner = self.lock();
            } else if inner.memtables.is_empty() || period > RETIRED_POLL_MAX {
                // The engine lets go of the rest only when it works again, and then more will come.
                self.changed.wait(&mut inner);
                period = RETIRED_POLL_MIN;
            } else {
                self.changed.wait_for(&mut inner, period);
                period *= 2;
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock()
    }
}
