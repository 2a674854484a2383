//! Bounds that this crate enforces. Those a user may change are fields of [`Limits`]; the rest are constants.

/// The service's limits, each settable so that tests can reach them.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Largest item, as the UTF-8 length of its JSON without system properties.
    pub item_bytes_max: usize,
    /// Largest logical partition, keys and values together.
    pub logical_partition_bytes_max: u64,
    /// Throughput one physical partition can serve, in request units a second.
    pub physical_partition_ru: u32,
    /// Most physical partitions a container may begin with.
    pub physical_partitions_max: u32,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            item_bytes_max: 2 * 1024 * 1024,
            logical_partition_bytes_max: 20 * 1024 * 1024 * 1024,
            physical_partition_ru: 10_000,
            physical_partitions_max: 1_000,
        }
    }
}

/// Longest item id, in bytes.
pub const ITEM_ID_BYTES_MAX: usize = 1_023;

/// Longest partition key value, in bytes, for hash version 2 and hierarchical keys.
pub const PARTITION_KEY_BYTES_MAX: usize = 2_048;

/// Longest partition key value, in bytes, for hash version 1.
pub const PARTITION_KEY_V1_BYTES_MAX: usize = 101;

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
