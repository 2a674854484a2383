//! What closes a handle after a failed commit.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::{Error, ErrorKind, Result};

/// Closes a handle for writing once a commit through it has failed.
///
/// A writer that has several commits on their way has built the later ones on the earlier ones: if one fails, none
/// behind it may be written.
#[derive(Debug, Default)]
pub struct CommitLatch(AtomicBool);

impl CommitLatch {
    /// Fails if a commit has failed before.
    pub fn check(&self) -> Result<()> {
        if self.0.load(Ordering::Acquire) {
            let message = "an earlier commit through this handle failed: open the space again";
            return Err(Error::new(ErrorKind::HandleClosed, message));
        }
        Ok(())
    }

    /// Passes an outcome on, and closes the handle if it is a failure. One that was fenced needs no closing, and
    /// must go on to say so: its owner may open a closed handle's space again, but not a fenced one's.
    pub fn pass<T>(&self, outcome: Result<T>) -> Result<T> {
        if outcome.as_ref().is_err_and(|error| error.kind() != ErrorKind::Fenced) {
            self.0.store(true, Ordering::Release);
        }
        outcome
    }
}
