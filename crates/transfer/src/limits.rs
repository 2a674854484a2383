//! Bounds of imports and exports.

use std::time::Duration;

/// Connections that an import may use.
pub(crate) const CONNECTIONS_MAX: u16 = 64;

/// Connections that an import uses unless it is told otherwise.
pub(crate) const CONNECTIONS_DEFAULT: u16 = 8;

/// Bytes of one record; a longer one is rejected. Twice the largest item, which leaves room for white space.
pub(crate) const RECORD_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Bytes of a rejected record that are told of; the rest is cut off.
pub(crate) const REJECT_TEXT_BYTES_MAX: usize = 64 * 1024;

/// Rejected records that are told of on standard error if there is no file for them.
pub(crate) const REJECTS_TOLD_MAX: u64 = 10;

/// Bytes that are read at once.
pub(crate) const READ_BYTES: usize = 256 * 1024;

/// Records that are handed on at once.
pub(crate) const RECORDS_AT_ONCE: usize = 64;

/// Bytes of records that are handed on at once.
pub(crate) const RECORDS_AT_ONCE_BYTES: usize = 1024 * 1024;

/// Handfuls of records that wait for the connections.
pub(crate) const HANDFULS_WAITING_MAX: usize = 16;

/// Requests that wait for one connection.
pub(crate) const REQUESTS_WAITING_MAX: usize = 2;

/// Bytes of items that wait for their requests to become full; beyond, those that there are go as they are.
pub(crate) const WAITING_BYTES_MAX: usize = 64 * 1024 * 1024;

/// How long an item waits for its request to become full while no other comes.
pub(crate) const FILL_WAIT: Duration = Duration::from_millis(100);

/// How often the position is kept.
pub(crate) const STATE_PERIOD: Duration = Duration::from_millis(500);

/// Bytes of the file that keeps a position.
pub(crate) const STATE_BYTES_MAX: u64 = 64 * 1024;

/// How long a server that is away is waited for.
pub(crate) const SERVER_PATIENCE: Duration = Duration::from_secs(300);

/// How long to wait before a server is asked again that was away; doubled each time up to the longest.
pub(crate) const RETRY_LEAST: Duration = Duration::from_millis(50);
/// See [`RETRY_LEAST`].
pub(crate) const RETRY_MOST: Duration = Duration::from_secs(2);

/// The longest wait after a refusal for the rate, whatever the server says.
pub(crate) const THROTTLE_WAIT_MAX: Duration = Duration::from_secs(5);

/// How long a refusal for the rate is waited out by a connection: for ever, since it is the server that decides.
pub(crate) const THROTTLE_PATIENCE: Duration = Duration::from_secs(u32::MAX as u64);

/// How often progress is shown where lines cannot be overwritten.
pub(crate) const PROGRESS_LINE_PERIOD: Duration = Duration::from_secs(10);

/// Items that an export asks for at once; the server also bounds the bytes of a page.
pub(crate) const EXPORT_PAGE_ITEMS: u32 = 1_000;

/// Columns of a CSV file.
pub(crate) const COLUMNS_MAX: usize = 10_000;

/// Paths of a partition key. Service limit.
pub(crate) const PARTITION_KEY_PATHS_MAX: usize = 3;
