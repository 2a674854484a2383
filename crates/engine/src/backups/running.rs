//! The backups that are being read.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use armilla_backup::{Position, Walk};
use parking_lot::{Mutex, MutexGuard};

use crate::error::{Error, Result};
use crate::limits::{BACKUP_IDLE_MAX, BACKUPS_AT_ONCE_MAX};

/// The backups that are being read.
#[derive(Default)]
pub(crate) struct Backups {
    running: Mutex<HashMap<String, Arc<Running>>>,
}

pub(super) struct Running {
    pub(super) walk: Walk,
    /// Held while a frame is made.
    pub(super) reading: Arc<tokio::sync::Mutex<Reading>>,
    pub(super) used_last: Mutex<Duration>,
}

/// Which frame was made last, if any, and where it and the next begin.
pub(super) struct Reading {
    pub(super) number: u64,
    pub(super) here: Position,
    pub(super) next: Option<Position>,
}

impl Backups {
    pub(super) fn lock(&self) -> MutexGuard<'_, HashMap<String, Arc<Running>>> {
        self.running.lock()
    }

    /// Lets go of all moments.
    pub(crate) fn end_all(&self) {
        let all = std::mem::take(&mut *self.lock());
        drop(all);
    }

    pub(super) fn add(&self, id: String, running: Arc<Running>) -> Result<()> {
        let mut all = self.lock();
        if all.len() < BACKUPS_AT_ONCE_MAX {
            all.insert(id, running);
            return Ok(());
        }
        Err(Error::locked(format!(
            "{BACKUPS_AT_ONCE_MAX} backups are being taken already; one that nobody asks for is given up after {} s",
            BACKUP_IDLE_MAX.as_secs()
        )))
    }
}

impl Running {
    pub(super) fn new(walk: Walk, now: Duration) -> Running {
        let reading = Reading { number: 0, here: Position::START, next: None };
        Running { walk, reading: Arc::new(tokio::sync::Mutex::new(reading)), used_last: Mutex::new(now) }
    }

    pub(super) fn touch(&self, now: Duration) {
        *self.used_last.lock() = now;
    }

    pub(super) fn idle_until(&self) -> Duration {
        *self.used_last.lock() + BACKUP_IDLE_MAX
    }
}
