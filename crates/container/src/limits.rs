//! Bounds that this crate enforces. Those a user may change are fields of [`Limits`]; the rest are constants.

use std::time::Duration;

/// The service's limits, each settable so that tests can reach them.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Largest item, as the UTF-8 length of its JSON without system properties.
    pub item_bytes_max: usize,
    /// Largest logical partition: keys and values of its items, and keys of their index entries.
    pub logical_partition_bytes_max: u64,
    /// Largest container without a partition key, counted likewise; it is one physical partition for ever.
    pub fixed_container_bytes: u64,
    /// Most throughput of a container without a partition key, in request units a second.
    pub fixed_container_ru: u32,
    /// Throughput one physical partition can serve, in request units a second.
    pub physical_partition_ru: u32,
    /// Manual throughput for which a container begins with one physical partition, likewise: less than one can serve, so
    /// that there is room to grow before any is split.
    pub initial_partition_ru: u32,
    /// Size beyond which a physical partition is split, counted likewise.
    pub physical_partition_bytes: u64,
    /// Containers that share a database's throughput; for each further one the throughput must be higher.
    pub sharing_containers_max: usize,
    /// Minutes for which all versions of items are kept in containers that do not say so themselves; 0 for none.
    pub continuous_backup_minutes: u32,
    /// Most physical partitions a container may begin with.
    pub physical_partitions_max: u32,
    /// Receipts that a physical partition keeps; beyond it, the oldest go.
    pub receipts_max: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            item_bytes_max: 2 * 1024 * 1024,
            logical_partition_bytes_max: 20 * 1024 * 1024 * 1024,
            fixed_container_bytes: 10 * 1024 * 1024 * 1024,
            fixed_container_ru: 10_000,
            physical_partition_ru: 10_000,
            initial_partition_ru: 6_000,
            physical_partition_bytes: 50 * 1024 * 1024 * 1024,
            sharing_containers_max: 25,
            continuous_backup_minutes: 0,
            physical_partitions_max: 1_000,
            receipts_max: 65_536,
        }
    }
}

/// Longest item id, in bytes.
pub const ITEM_ID_BYTES_MAX: usize = 1_023;

/// Longest partition key value, in bytes.
pub const PARTITION_KEY_BYTES_MAX: usize = 2_048;

/// Most operations in one patch.
pub const PATCH_OPERATIONS_MAX: usize = 10;

/// Largest number of writes in one group commit.
pub const GROUP_WRITES_MAX: usize = 1_024;

/// Bytes of item values after which a group commit takes no further write.
pub const GROUP_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Most groups of one partition that the store has and has not answered for.
pub(crate) const GROUPS_ON_THEIR_WAY_MAX: usize = 4;

/// Kibibytes of writes that may wait for one committer; further writers wait before they queue.
pub const QUEUE_KIB_MAX: usize = 64 * 1024;

/// Most items in one page of a read feed.
pub const PAGE_ITEMS_MAX: usize = 1_000;

/// Bytes of item JSON after which a page of a read feed ends.
pub const PAGE_BYTES_MAX: usize = 4 * 1024 * 1024;

/// A logical partition of up to this many items is listed in the order of insertion, which needs all of
/// it at once; a larger one is listed in the order of ids.
pub(crate) const ORDERED_PARTITION_ITEMS_MAX: u64 = 1_000;

/// The same, in bytes.
pub(crate) const ORDERED_PARTITION_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// Entries of the change log that are read at once for a page of a change feed.
pub(crate) const FEED_WALK_ENTRIES: usize = 1_024;

/// Most bytes of an item that its entry in the change log carries.
pub(crate) const FEED_CARRIED_BYTES_MAX: usize = 2 * 1024;

/// Entries of the change log after which a page of a change feed ends, whatever it found.
pub const FEED_WALK_ENTRIES_MAX: usize = 500_000;

/// Most items of a logical partition that are sorted by their versions for a page of its change feed.
pub(crate) const FEED_LOGICAL_ITEMS_MAX: u64 = 262_144;

/// Most arcs in a position of a change feed: as many as a container has partitions, and some more while they are split
/// and merged.
pub(crate) const FEED_TOKEN_ARCS_MAX: usize = 4_096;

/// How much earlier the time stamp of a change may be than those of changes before it, in seconds: scripts stamp their
/// writes while they run.
pub(crate) const FEED_TIME_SLACK_SECONDS: u32 = 10;

/// How far a clock may go back, in seconds, so that moments still wait for it; if it goes back further, it was set, and
/// they follow it.
pub(crate) const STEP_BACK_SECONDS_MAX: u32 = 10;

/// Entries of the change log that one step of trimming looks at.
pub(crate) const TRIM_STEP_ENTRIES: usize = 500;

/// The same, in bytes.
pub(crate) const TRIM_STEP_BYTES: usize = 4 * 1024 * 1024;

/// Most parts of the ring that a change log is complete in from different commits on; beyond it, the latest counts.
pub(crate) const TRIM_ARCS_MAX: usize = 64;

/// Longest text that is kept of an index's path.
pub(crate) const INDEX_PATH_TEXT_BYTES_MAX: usize = 512;

/// Most entries that are kept of what one item's content gives; the service has no such bound, but a batch of the
/// store has. Beyond it, whole indexes are left out for the item, those with the most entries first, and reads do
/// without them.
pub(crate) const CONTENT_ENTRIES_MAX: usize = 32_768;

/// The same, in bytes.
pub(crate) const CONTENT_ENTRY_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Most entries that are kept of what depends on an item's time stamp, or on its computed properties.
pub(crate) const EXTRA_ENTRIES_MAX: usize = 4_096;

/// The same, in bytes.
pub(crate) const EXTRA_ENTRY_BYTES_MAX: usize = 1024 * 1024;

/// Most indexes that are left out for one item by name; beyond, all are.
pub(crate) const ITEM_CROWDED_INDEXES_MAX: usize = 8;

/// Most indexes of a partition that are known by name to lack entries of some items.
pub(crate) const CROWDED_INDEXES_MAX: usize = 4_096;

/// Changes of index entries after which a group commit takes no further write: with the most that one write can
/// add, it still fits a batch of the store.
pub(crate) const GROUP_ENTRIES_MAX: usize = 24_000;

/// The same, in bytes of their keys.
pub(crate) const GROUP_ENTRY_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Items, sizes and records beside them after which a group commit takes no further write.
pub(crate) const GROUP_RECORDS_MAX: usize = 24_000;

/// Most writes in one transaction.
pub const TRANSACTION_WRITES_MAX: usize = 1_000;

/// Most bytes in one transaction: item values, replaced ones where they are kept, and keys of index entries. One write
/// alone may be larger.
pub const TRANSACTION_BYTES_MAX: usize = 24 * 1024 * 1024;

/// How long a receipt lives.
pub const RECEIPT_SECONDS: u32 = 30 * 60;

/// Longest key of a receipt, in bytes.
pub const RECEIPT_KEY_BYTES_MAX: usize = 64;

/// Most bytes in which a receipt says what was done.
pub const RECEIPT_OUTCOME_BYTES_MAX: usize = 64 * 1024;

/// Most receipts that one transaction or batch leaves.
pub const TRANSACTION_RECEIPTS_MAX: usize = 100;

/// Operations of the store for one receipt: its record and its place, and the place of one with the same key that was
/// over.
const RECEIPT_RECORDS_MAX: usize = 3;

/// Receipts that one step drops from a partition.
pub(crate) const RECEIPT_STEP_RECORDS: usize = 1_000;

/// Receipts that are counted at once.
pub(crate) const RECEIPTS_COUNTED_AT_ONCE: usize = 1_000;

/// Most operations of the store that one transaction may need for index entries, and for the counts and names of their
/// indexes. One write alone may need more.
pub const TRANSACTION_ENTRY_OPERATIONS_MAX: usize = 72_000;

/// The same where a transaction is committed: a little more than when it was drafted, because the layout of the index
/// may have changed meanwhile.
pub(crate) const TRANSACTION_REPLAY_ENTRY_OPERATIONS_MAX: usize = 76_000;

/// Most operations of the store that one write needs beside those for index entries: the item, its number, its entry in
/// the change log and the one before, its computed entries, when it expires and when the one before would have, and two
/// reservations for each unique key. Expired items that a transaction takes away count as its writes.
const WRITE_RECORDS_MAX: usize = 7 + 2 * crate::definition::limits::UNIQUE_KEYS_MAX;

// A group that is nearly full, with one transaction at its bounds behind it, fits a batch of the store. Each entry may
// come with the count and the name of an index of its own. A step of a re-indexing may change as many sizes as items.
// What is left is for the size of the transaction, counters and layouts.
const _: () = assert!(
    3 * GROUP_ENTRIES_MAX
        + GROUP_RECORDS_MAX
        + TRANSACTION_REPLAY_ENTRY_OPERATIONS_MAX
        + TRANSACTION_WRITES_MAX * WRITE_RECORDS_MAX
        + TRANSACTION_RECEIPTS_MAX * RECEIPT_RECORDS_MAX
        + REINDEX_STEP_ITEMS
        + 100
        <= armilla_kv::BATCH_OPS_MAX
);
const _: () = assert!(
    2 * GROUP_BYTES_MAX
        + GROUP_ENTRY_BYTES_MAX
        + TRANSACTION_BYTES_MAX
        + (GROUP_WRITES_MAX + TRANSACTION_WRITES_MAX) * FEED_CARRIED_BYTES_MAX
        <= armilla_kv::BATCH_BYTES_MAX / 16 * 13
);

/// Items whose versions one transaction remembers to have read; beyond it, it counts as having read all of its
/// logical partition.
pub const TRANSACTION_READS_MAX: usize = 4_096;

/// Sizes of logical partitions that a partition keeps in memory, with the commits that changed them last.
pub(crate) const KNOWN_SIZES_MAX: usize = 4_096;

/// Numbers of entries of single indexes that a partition keeps in memory.
pub(crate) const KNOWN_ENTRY_COUNTS_MAX: usize = 4_096;

/// Items that one step of a re-indexing looks at.
pub const REINDEX_STEP_ITEMS: usize = 100;

/// Items that one step of building a unique key looks at.
pub(crate) const CLAIM_STEP_ITEMS: usize = 100;

/// Reservations that one step of removing those of a dropped unique key looks at.
pub(crate) const DROP_STEP_RESERVATIONS: usize = 500;

/// Sizes of logical partitions in one batch, where a partition is counted anew.
pub(crate) const RECOUNT_BATCH_SIZES: usize = 1_000;

/// Bytes that item numbers with their keys take in memory, over all containers of an account, where the caller that opens
/// it says nothing else: about 200,000 of them.
pub const KNOWN_NUMBERS_BYTES: usize = 16 * 1024 * 1024;

/// Bytes that items take in memory that were found by values of indexes, likewise.
pub const KNOWN_LOOKUPS_BYTES: usize = 8 * 1024 * 1024;

/// Parts of that memory with locks of their own.
pub(crate) const LOOKUP_SHARDS: usize = 16;

/// Bytes of the items of one value beyond which they are not kept.
pub(crate) const LOOKUP_BYTES_MAX: usize = 64 * 1024;

/// Indexes of a partition whose values are looked up so that what is found is kept.
pub(crate) const LOOKUP_INDEXES_MAX: usize = 16;

/// Hashes by which a partition notes what of them has changed.
pub(crate) const LOOKUP_CHANGES: usize = 32 * 1024;

/// Parts of the memory of numbers with locks of their own.
pub(crate) const KNOWN_NUMBERS_SHARDS: usize = 16;

/// Numbers that are looked up in it at once, while nothing is written to their parts.
pub(crate) const KNOWN_NUMBERS_AT_ONCE: usize = 128;

/// Items or entries of the change log that are copied at once while their partition serves others.
pub(crate) const COPY_ENTRIES: usize = 32;

/// The same, in bytes.
pub(crate) const COPY_BYTES: usize = 256 * 1024;

/// Items or entries of the change log that are copied at once while their partition is closed.
pub(crate) const COPY_ENTRIES_IDLE: usize = 512;

/// The same, in bytes.
pub(crate) const COPY_BYTES_IDLE: usize = 1024 * 1024;

/// How near a store may be to holding writers back for a copy to go on, in percent: a third is one buffer on its way to
/// the disk.
pub(crate) const COPY_PRESSURE_PERCENT_MAX: u32 = 30;

/// Longest time that a copy waits for that before it takes a step all the same.
pub(crate) const COPY_PRESSURE_WAIT_MAX: Duration = Duration::from_secs(2);

/// A partition that is to be replaced is closed once no more changes than these were left to be copied.
pub(crate) const CATCH_UP_LEFT_MAX: usize = 128;

/// Rounds of catching up after which a partition is closed, however much is left: its writers are faster than the copy.
pub(crate) const CATCH_UP_ROUNDS_MAX: u32 = 32;

/// Rounds of catching up that give way to others; later ones hurry.
pub(crate) const CATCH_UP_PACED_ROUNDS_MAX: u32 = 8;

/// Items that one step of a purge takes away from a partition.
pub const PURGE_STEP_ITEMS: usize = 100;

/// Index entries that one step of a purge looks at in a partition: items with a longer time to live of their own are
/// passed over.
pub(crate) const PURGE_STEP_ENTRIES: usize = 1_000;

/// How long another process may take to answer. One that has stopped is noticed much earlier.
pub(crate) const CALL_PATIENCE: Duration = Duration::from_secs(60);

/// Threads that wait for other processes at a time. A program has more threads than these, for what need not wait.
pub(crate) const WAITS_MAX: usize = 384;

/// How long a request waits for a partition that is on its way from one process to another.
pub(crate) const MOVE_PATIENCE: Duration = Duration::from_secs(20);

/// How long one who asks how far an index is waits for a partition that is on its way.
pub(crate) const PROGRESS_PATIENCE: Duration = Duration::from_secs(1);

/// Locks of one connection that were let go of before they were taken, and are remembered.
pub(crate) const UNWANTED_LOCKS_MAX: usize = 1_024;

/// How often it is looked whether a partition has been opened that is to be let go of.
pub(crate) const OPENING_LOOK_PERIOD: Duration = Duration::from_millis(5);

/// How long readers may go on with a partition that another process is about to have.
pub(crate) const RELEASE_PATIENCE: Duration = Duration::from_millis(300);

/// How long another process is asked to wait for a change at a time.
pub(crate) const AWAIT_MAX: Duration = Duration::from_secs(5);

/// Bytes of values in one answer to another process, beyond which it asks again for the rest.
pub(crate) const ANSWER_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Snapshots and locks that are kept for one connection of another process.
pub(crate) const KEPT_FOR_PEER_MAX: usize = 16_384;

/// Items that are loaded at once to see whether they have expired.
pub(crate) const PURGE_LOADED_ITEMS: usize = 64;

/// Changes of index entries for expired items that hold the unique keys of one write, beyond which the write has to be
/// sent again once they are gone.
pub(crate) const PURGED_ENTRIES_PER_WRITE_MAX: usize = 4_000;

/// Items of a logical partition that are read at once to find their numbers.
pub(crate) const LOGICAL_ITEMS_AT_ONCE: usize = 256;

/// Up to so many bytes the items of a logical partition that were read for their numbers are kept, while they are read.
pub(crate) const LOGICAL_KEPT_BYTES_MAX: usize = 256 * 1024;

/// Items old enough to be expired that a reader looks at to learn whether one is; where there are more, it takes it that
/// one is.
pub(crate) const EXPIRED_LOOK_ENTRIES: usize = 16;

/// Operations that are committed at once while a damaged partition is made to agree with itself.
pub(crate) const REBUILD_BATCH_OPS: usize = 1_000;
