//! Bounds of backups: what is held in memory of one, and how long its files are.

use armilla_kv::{KEY_BYTES_MAX, VALUE_BYTES_MAX};

/// A segment does not end before it has so many bytes, unless its space does: small files cost more than they hold.
pub const SEGMENT_BYTES_MIN: usize = 256 * 1024;

/// A segment ends with the entry that reaches so many bytes: what is held in memory for a request, and what a change
/// of one entry costs the next backup at most.
pub const SEGMENT_BYTES_MAX: usize = 4 * 1024 * 1024;

/// How many bytes a segment has beyond the least, on average.
pub(crate) const SEGMENT_BYTES_SPREAD: u64 = 768 * 1024;

/// Longest frame: a segment, and the largest entry as its last.
pub const FRAME_BYTES_MAX: usize = SEGMENT_BYTES_MAX + KEY_BYTES_MAX + VALUE_BYTES_MAX + 1024;

/// Longest file of a segment: what does not get smaller gets a little larger.
pub(crate) const SEGMENT_FILE_BYTES_MAX: u64 = (FRAME_BYTES_MAX + FRAME_BYTES_MAX / 200 + 1024) as u64;

/// Entries and bytes that a walk reads from the store at once. What is behind the end of a segment is read again.
pub(crate) const SCAN_ENTRIES_MAX: usize = 2_048;
pub(crate) const SCAN_BYTES_MAX: usize = 128 * 1024;

/// Longest manifest: enough for some two million segments, 2 TB of data.
pub const MANIFEST_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// Longest index: enough for 10,000 backups.
pub(crate) const INDEX_BYTES_MAX: u64 = 2 * 1024 * 1024;

/// Bytes that a restore commits at once, and commits that it has on their way.
pub(crate) const RESTORE_BATCH_BYTES: usize = 2 * 1024 * 1024;
pub(crate) const RESTORE_BATCHES_AT_ONCE: usize = 4;

/// Problems that are listed of one backup.
pub(crate) const PROBLEMS_MAX: usize = 100;
