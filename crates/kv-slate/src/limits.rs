//! Every bound of this store.

use std::time::Duration;

/// Threads of a store: they write, merge, and wait for the network.
pub(crate) const THREADS: usize = 2;

/// Most bytes of the batches that are written as one.
pub(crate) const GROUP_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Most operations of the batches that are written as one.
pub(crate) const GROUP_OPS_MAX: usize = 100_000;

/// The part of the time of a put for which the next one waits at most for those who were in the last.
pub(crate) const GATHER_PART: u32 = 8;

/// The longest such time.
pub(crate) const GATHER_TIME_MAX: Duration = Duration::from_millis(5);

/// Bytes of a tree in memory that make a sorted file.
pub(crate) const SORTED_FILE_BYTES: usize = 16 * 1024 * 1024;

/// Objects of a tree's log that make a sorted file, however small: reading one takes a request when the tree is opened after
/// a kill.
pub(crate) const LOG_OBJECTS_MAX: u32 = 256;

/// Most bytes of a tree in memory; writers wait for the object store above it.
pub(crate) const UNFLUSHED_BYTES_MAX: usize = 128 * 1024 * 1024;

/// Most bytes of a merged file.
pub(crate) const MERGED_FILE_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Merges of one tree at once.
pub(crate) const MERGES_AT_ONCE: usize = 1;

/// How often a tree looks for what others changed about it: mergers, and checkpoints. Fencing does not wait for it.
pub(crate) const MANIFEST_POLL: Duration = Duration::from_secs(10);

/// Values that are looked up at once where they have to come from the object store.
pub(crate) const READS_AT_ONCE: usize = 16;

/// Bytes that a scan asks of the object store at once.
pub(crate) const READ_AHEAD_BYTES: usize = 256 * 1024;

/// How long a tree stays open that is neither read nor written.
pub(crate) const REST_AFTER: Duration = Duration::from_secs(120);

/// How often a tree is found unused in that time before it is closed.
pub(crate) const REST_LOOKS: u32 = 12;

/// How often the store tries again to delete what is left of dropped spaces.
pub(crate) const RECLAIM_PAUSE: Duration = Duration::from_secs(5);

/// Objects that are deleted at once.
pub(crate) const DELETES_AT_ONCE: usize = 32;

/// With relaxed durability, how long what was written stays in memory alone.
pub(crate) const RELAXED_FLUSH: Duration = Duration::from_millis(100);

/// How long a closing store waits for its tasks.
pub(crate) const CLOSE_WAIT: Duration = Duration::from_secs(30);

/// How often a request to the object store is tried again.
pub(crate) const RETRIES_MAX: usize = 10;

/// For how long requests to the object store are tried again.
pub(crate) const RETRY_TIME_MAX: Duration = Duration::from_secs(60);
