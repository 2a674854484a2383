//! Why a server did not come to be ready.

use std::fmt;
use std::process::ExitStatus;
use std::time::Duration;

/// A server that did not come to be ready; it is gone.
#[derive(Debug)]
pub struct NotReady {
    /// How it ended by itself; nothing if it was killed because it took too long.
    pub status: Option<ExitStatus>,
    pub(crate) patience: Duration,
    /// The end of what it logged.
    pub(crate) log_tail: String,
}

impl fmt::Display for NotReady {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.status {
            Some(status) => write!(f, "the server did not start: it ended with {status}")?,
            None => write!(f, "the server did not start: it was not ready in {} s", self.patience.as_secs())?,
        }
        match self.log_tail.trim_end() {
            "" => Ok(()),
            log => write!(f, "; its log ends with: {log}"),
        }
    }
}

impl std::error::Error for NotReady {}
