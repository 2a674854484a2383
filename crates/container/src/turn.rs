//! How long something is tried that finds partitions on their way from one process to another.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use armilla_env::Clock;

use crate::error::{Error, ErrorKind, Result};
use crate::limits::MOVE_PATIENCE;
use crate::peers::Peers;

/// Something that is tried. It costs nothing where one process has everything.
pub(crate) struct Turn(Option<Trying>);

struct Trying {
    clock: Arc<dyn Clock>,
    peers: Arc<dyn Peers>,
    /// Whether the container was deleted.
    is_deleted: Arc<AtomicBool>,
    began: Duration,
}

impl Turn {
    pub(crate) fn new(
        clock: &Arc<dyn Clock>,
        peers: Option<&Arc<dyn Peers>>,
        is_deleted: &Arc<AtomicBool>,
    ) -> Turn {
        Turn(peers.map(|peers| Trying {
            clock: clock.clone(),
            peers: peers.clone(),
            is_deleted: is_deleted.clone(),
            began: clock.elapsed(),
        }))
    }

    /// Returns the failure for which to give up, where it is time to.
    pub(crate) fn check(&self, error: Error) -> Result<()> {
        self.check_within(MOVE_PATIENCE, error)
    }

    /// The same, for what waits less long.
    pub(crate) fn check_within(&self, patience: Duration, error: Error) -> Result<()> {
        let Some(Trying { clock, peers, is_deleted, began }) = &self.0 else { return Err(error) };
        if is_deleted.load(Ordering::Acquire) {
            return Err(Error { kind: ErrorKind::RangeGone, ..error });
        }
        let tried = clock.elapsed().saturating_sub(*began);
        if tried < patience && !peers.is_ending() { Ok(()) } else { Err(error) }
    }
}
