//! Bounds of what a client waits for and takes.

use std::time::Duration;

/// How long a server may take to answer, unless a request says otherwise.
pub const ANSWER_TIMEOUT: Duration = Duration::from_secs(30);

/// Bytes of a server's answer.
pub const ANSWER_BYTES_MAX: usize = 256 * 1024 * 1024;

/// How long a request is sent again in all that is refused for its rate, unless a session says otherwise.
pub const THROTTLE_PATIENCE: Duration = Duration::from_secs(120);

/// How long to wait after a refusal for the rate that does not say how long.
pub(crate) const THROTTLE_WAIT_DEFAULT: Duration = Duration::from_millis(100);

/// The longest wait after one refusal for the rate, whatever the server says.
pub(crate) const THROTTLE_WAIT_MAX: Duration = Duration::from_secs(5);

/// Operations of one bulk request or batch. Service limit.
pub const BULK_OPERATIONS_MAX: usize = 100;

/// Bytes of the body of a bulk request or batch. Service limit.
pub const BULK_BODY_BYTES_MAX: usize = 2 * 1024 * 1024;

/// Bytes of a configuration file.
pub(crate) const CONFIG_FILE_BYTES_MAX: u64 = 1024 * 1024;

/// Bytes of a certificate file.
pub(crate) const PEM_FILE_BYTES_MAX: u64 = 1024 * 1024;

/// How often a piece of a backup is asked for that does not come, and how long is waited before each time but the first.
pub(crate) const BACKUP_TRIES_MAX: u32 = 10;
pub(crate) const BACKUP_RETRY_PERIOD: Duration = Duration::from_secs(2);
