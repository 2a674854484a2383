//! Bounds and periods of the embedded store.

use std::time::Duration;

/// Most bytes of client batches that one engine batch merges. A larger single batch goes alone.
pub(crate) const GROUP_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Most operations that one engine batch merges.
pub(crate) const GROUP_OPS_MAX: usize = 100_000;

/// Keys that one step of reclaiming a dropped space removes.
pub(crate) const RECLAIM_KEYS: usize = 250;

/// So many times as long as a step took, reclaiming rests after it while clients write.
pub(crate) const RECLAIM_RESTS_PER_STEP: u32 = 2;

/// Longest rest between two steps.
pub(crate) const RECLAIM_REST_MAX: Duration = Duration::from_millis(100);

/// Longest time that reclaiming waits for the clients to fall silent before it takes a turn.
pub(crate) const RECLAIM_WAIT_MAX: Duration = Duration::from_millis(250);

/// How near the store may be to holding writers back for reclaiming to go on, in percent: a third is one buffer on its
/// way to the disk.
pub(crate) const RECLAIM_PRESSURE_PERCENT_MAX: u32 = 30;

/// Longest time that reclaiming waits for that before it takes a step all the same.
pub(crate) const RECLAIM_PRESSURE_WAIT_MAX: Duration = Duration::from_secs(2);

/// How often it looks.
pub(crate) const RECLAIM_PRESSURE_POLL_PERIOD: Duration = Duration::from_millis(10);

/// With relaxed durability, the longest time that a commit stays out of reach of a crash of the machine.
pub(crate) const RELAXED_SYNC_PERIOD: Duration = Duration::from_millis(100);

/// While the engine works in the background, how often the published view is renewed without commits.
pub(crate) const VIEW_RENEWAL_PERIOD: Duration = Duration::from_secs(1);

/// Threads that merge sorted files.
pub(crate) const MERGE_THREADS: usize = 2;

/// How long closing waits for files that are being merged.
pub(crate) const CLOSE_MERGE_WAIT_MAX: Duration = Duration::from_secs(5);

/// How long nothing has to be written before sorted files are merged that need not be.
pub(crate) const MERGE_REST_PERIOD: Duration = Duration::from_secs(2);

/// Up to so many bytes of a family are merged in a pause however few they gain by it; of more, two files have to be merged.
pub(crate) const MERGE_SMALL_BYTES: u64 = 64 * 1024 * 1024;

/// Chunks of about a size that are merged into one.
pub(crate) const RUN_CHUNKS_MERGED: usize = 8;

/// Most bytes that are merged at once while a caller may wait for it.
pub(crate) const RUN_MERGE_BYTES_MAX: u64 = 2 * 1024 * 1024;

/// Largest run, whatever the write buffer: offsets in it have four bytes.
pub(crate) const RUN_BYTES_MAX: u64 = 1024 * 1024 * 1024;

/// How long nothing has to be written before the chunks of a run are merged into one.
pub(crate) const RUN_REST_PERIOD: Duration = Duration::from_millis(100);

/// Sealed memtables of one family at which writers wait. The engine itself waits at 4, in steps of 100 ms.
pub(crate) const SEALED_MEMTABLES_MAX: usize = 3;

/// Sorted runs in level 0 of one family at which writers wait, with the usual write buffer. The engine itself waits at 30.
pub(crate) const LEVEL_0_RUNS_MAX: usize = 26;

/// The fewest at which writers wait, however large each is: twice as many as the engine begins to merge at.
pub(crate) const LEVEL_0_RUNS_MAX_LEAST: usize = 8;

/// Files in level 0 at which they are merged into the level below, at least and at most.
pub(crate) const MERGED_FILES: (u64, u64) = (4, 10);

/// Between the two, files are gathered in level 0 until the level below is no more than so many times larger.
pub(crate) const MERGED_BELOW_MAX: u64 = 3;

/// Bytes of the level below level 0; each further one is ten times larger.
pub(crate) const LEVEL_1_BYTES: u64 = 256 * 1024 * 1024;

/// From so many thousandths of the runs in level 0 at which writers wait, they are slowed down.
pub(crate) const SLOW_RUNS_PERMILLE: u64 = 500;

/// From so many thousandths of the memtables at which they wait: two sealed ones. One is nearly always being flushed.
pub(crate) const SLOW_MEMTABLES_PERMILLE: u64 = 667;

/// From so many thousandths of a run that is filled while another lands: the other should have landed by then.
pub(crate) const SLOW_RUN_PERMILLE: u64 = 500;

/// Bytes a second that are written when slowing down begins, and just before writers wait.
pub(crate) const SLOW_BYTES_PER_SECOND: (u64, u64) = (96 * 1024 * 1024, 4 * 1024 * 1024);

/// Longest time that one group is held back to slow down those behind it.
pub(crate) const SLOW_PAUSE_MAX: Duration = Duration::from_millis(80);

/// Bytes of entries that are written at once to the new store when a damaged one is saved.
pub(crate) const SALVAGE_BATCH_BYTES: usize = 4 * 1024 * 1024;

/// Longest manifest that is read, in bytes. A sorted file takes some 80 of them.
pub(crate) const MANIFEST_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// Longest list of sorted files of the engine's that is read, in bytes. A sorted file takes 33 of them.
pub(crate) const ENGINE_LIST_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// Bytes of the end of a sorted file that are compared at every start.
pub(crate) const TABLE_TAIL_BYTES: u64 = 4 * 1024;

/// Findings that a refusal to open a folder tells of; `check` tells of all.
pub(crate) const FINDINGS_TOLD_MAX: usize = 5;

/// How long the manifest may stay behind the engine's files.
pub(crate) const WATCH_PERIOD: Duration = Duration::from_secs(2);

/// Looks without anything new after which only work of the engine is a reason to look again.
pub(crate) const WATCH_LOOKS_IN_VAIN_MAX: u32 = 5;

/// How soon after a failed write it is tried whether there is room again. Doubles with every failure that follows soon.
pub(crate) const RECOVERY_PERIOD_MIN: Duration = Duration::from_millis(500);

/// The longest time between two attempts.
pub(crate) const RECOVERY_PERIOD_MAX: Duration = Duration::from_secs(30);

/// A failure so soon after a recovery makes the next attempt wait longer.
pub(crate) const RECOVERY_TRUST_PERIOD: Duration = Duration::from_secs(60);

/// Bytes that must be free on the disk, beyond what is buffered, before the store goes on after a failure.
pub(crate) const RECOVERY_FREE_BYTES: u64 = 8 * 1024 * 1024;

/// Descriptors that must be free before the store goes on after a failure.
pub(crate) const RECOVERY_FREE_DESCRIPTORS: usize = 24;

/// How often it is looked whether the last reader has let go of an engine that is to be replaced.
pub(crate) const RECOVERY_POLL_PERIOD: Duration = Duration::from_millis(1);

/// Bytes that an operation takes in the queue and in the journal beside its key and its value.
pub(crate) const OP_OVERHEAD_BYTES: usize = 40;

/// Longest time that a writer waits for background work before it does a piece of it itself.
pub(crate) const STALL_PATIENCE: Duration = Duration::from_secs(1);

/// How often a writer that waits for background work looks again.
pub(crate) const STALL_POLL_PERIOD: Duration = Duration::from_millis(1);

/// A single engine commit that takes longer than this was held back by the engine.
pub(crate) const COMMIT_STALL_MIN: Duration = Duration::from_millis(50);

/// Smallest total write buffer that is accepted.
pub(crate) const WRITE_BUFFER_BYTES_MIN: u64 = 1024 * 1024;

/// Smallest journal bound that the engine accepts.
pub(crate) const JOURNAL_BYTES_MIN: u64 = 64 * 1024 * 1024;

/// Fewest cached files that the engine accepts.
pub(crate) const CACHED_FILES_MIN: usize = 10;

/// How soon a sealed memtable is looked at whether the engine is done with it. Doubles with every look.
pub(crate) const RETIRED_POLL_MIN: Duration = Duration::from_millis(20);

/// The longest time between two looks, after which only new memtables are a reason to look again.
pub(crate) const RETIRED_POLL_MAX: Duration = Duration::from_secs(5);

/// How often it is looked for files that were replaced while the engine replaces some. Doubles with every look in vain.
pub(crate) const REPLACED_POLL_MIN: Duration = Duration::from_millis(25);

/// The longest time between two looks; once nothing is old any more, only new work is a reason to look.
pub(crate) const REPLACED_POLL_MAX: Duration = Duration::from_millis(1600);

/// Versions that the engine is made to forget while it holds the lock that everybody needs, once.
pub(crate) const REPLACED_VERSIONS_PER_STEP: usize = 4;

/// Longest rest after a version's files were deleted.
pub(crate) const REPLACED_REST_MAX: Duration = Duration::from_millis(50);

/// Bytes of a removed journal that are given back at once: the file system's syncs wait for it.
pub(crate) const JOURNAL_PIECE_BYTES: u64 = 8 * 1024 * 1024;

/// How long is waited after that.
pub(crate) const JOURNAL_PIECE_REST: Duration = Duration::from_millis(10);
