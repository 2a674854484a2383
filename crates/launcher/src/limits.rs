//! Every bound of starting and ending a server.

use std::time::Duration;

/// How long a server may take until it is ready: it may have to recover after a crash.
pub const READY_TIMEOUT: Duration = Duration::from_secs(120);

/// How long a server may take to end once it was asked to.
pub const STOP_TIMEOUT: Duration = Duration::from_secs(120);

/// How often it is looked whether a server has ended.
pub(crate) const POLL_PERIOD: Duration = Duration::from_millis(5);

/// How often it is looked whether the log of a process that has ended was read to its end.
pub(crate) const LOG_END_POLLS_MAX: u32 = 200;

/// Bytes of the end of a server's log that are kept, and told when it does not start.
pub(crate) const LOG_TOLD_BYTES_MAX: usize = 4 * 1024;
