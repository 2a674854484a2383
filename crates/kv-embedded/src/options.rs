//! How a store is opened, and how each family is laid out in the engine.

use armilla_kv::{Durability, Family};
use fjall::config::{
    BlockSizePolicy, BloomConstructionPolicy, CompressionPolicy, FilterPolicy, FilterPolicyEntry,
    HashRatioPolicy, PartitioningPolicy,
};
use fjall::{CompressionType, KeyspaceCreateOptions};

use crate::limits::{
    CACHED_FILES_MIN, JOURNAL_BYTES_MIN, LEVEL_0_RUNS_MAX, LEVEL_0_RUNS_MAX_LEAST, RUN_BYTES_MAX,
    WRITE_BUFFER_BYTES_MIN,
};

/// How an embedded store is opened. Values below the engine's minimum are raised to it.
#[derive(Debug, Clone)]
pub struct Options {
    /// When a commit counts as done.
    pub durability: Durability,
    /// Most bytes of decompressed blocks kept in memory.
    pub block_cache_bytes: u64,
    /// Most bytes of written data kept in memory before it reaches sorted files, all families together.
    pub write_buffer_bytes: u64,
    /// Bytes of journal at which families are flushed early; bounds the time of a start after a crash.
    pub journal_bytes_max: u64,
    /// Most files kept open.
    pub cached_files_max: usize,
    /// Bytes of waiting batches at which further commits are refused.
    pub queue_bytes_max: usize,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            durability: Durability::Strict,
            block_cache_bytes: 64 * 1024 * 1024,
            write_buffer_bytes: 64 * 1024 * 1024,
            journal_bytes_max: 128 * 1024 * 1024,
            cached_files_max: 256,
            queue_bytes_max: 256 * 1024 * 1024,
        }
    }
}

impl Options {
    /// Returns the usual options with a write buffer of that size, and a journal that lets it be filled.
    pub fn with_write_buffer(bytes: u64) -> Options {
        let usual = Options::default();
        let journal_bytes_max = usual.journal_bytes_max.max(bytes.saturating_mul(2));
        Options { write_buffer_bytes: bytes, journal_bytes_max, ..usual }
    }

    /// Returns the options with every value inside what the engine accepts.
    pub(crate) fn clamped(mut self) -> Options {
        self.write_buffer_bytes = self.write_buffer_bytes.max(WRITE_BUFFER_BYTES_MIN);
        self.journal_bytes_max = self.journal_bytes_max.max(JOURNAL_BYTES_MIN);
        self.cached_files_max = self.cached_files_max.max(CACHED_FILES_MIN);
        self
    }

    /// Returns the size at which the active memtable of a keyspace is sealed.
    ///
    /// The active memtables together take half of the write buffer, which leaves the other half to those
    /// that are being flushed.
    pub(crate) fn memtable_bytes_max(&self, keyspace: usize) -> u64 {
        // Index entries go by way of runs, whose records have their share; the store's own records fit in anything. The
        // change log carries most items, so it fills as fast as they do.
        const SHARES: [u64; KEYSPACES] = [5, 26, 6, 0, 22, 1, 10, 10];
        self.write_buffer_bytes / 2 * SHARES[keyspace] / 100
    }

    /// Returns the size at which a run of index entries is sealed. Index entries are the bulk of all writes.
    pub(crate) fn run_bytes_max(&self) -> u64 {
        (self.write_buffer_bytes / 2 * 30 / 100).min(RUN_BYTES_MAX)
    }

    /// Returns how many sorted runs there may be in level 0 of a family before writers wait.
    ///
    /// They wait until all of them are merged, which takes as long as there are bytes in them: with 26 runs of a write
    /// buffer of 256 MB, more than the half minute that clients wait for an answer. So the larger a run, the fewer.
    pub(crate) fn level_0_runs_max(&self) -> usize {
        let usual_bytes = LEVEL_0_RUNS_MAX as u64 * Options::default().write_buffer_bytes;
        let runs = usize::try_from(usual_bytes / self.write_buffer_bytes.max(1)).unwrap_or(usize::MAX);
        runs.clamp(LEVEL_0_RUNS_MAX_LEAST, LEVEL_0_RUNS_MAX)
    }
}

/// Number of engine keyspaces: the families, then the store's own records, then those of runs.
pub(crate) const KEYSPACES: usize = Family::ALL.len() + 3;

/// Index of the keyspace with the store's own records.
pub(crate) const RECORDS: usize = Family::ALL.len();

/// Indexes of the keyspaces with the records of runs.
pub(crate) const RUN_KEYSPACES: [usize; 2] = [RECORDS + 1, RECORDS + 2];

/// Engine names of the keyspaces. Part of the format on disk. Folders of older programs lack the last two.
pub(crate) const KEYSPACE_NAMES: [&str; KEYSPACES] =
    ["meta", "item", "number", "index", "feed", "store", "run-a", "run-b"];

/// Returns how a keyspace is laid out when it is made. The engine keeps this with the keyspace, so it can't
/// be changed for folders that exist; what may change (memtable sizes) is therefore not part of it.
pub(crate) fn layout(keyspace: usize) -> KeyspaceCreateOptions {
    let block_bytes: u32 = match keyspace {
        // Items, index and feed are read in runs, items singly as well: a miss decompresses a whole block.
        1 | 3 | 4 => 8 * 1024,
        _ => 4 * 1024,
    };
    let point_reads = matches!(keyspace, 0..=2 | RECORDS);
    let filter = if point_reads {
        FilterPolicy::new([
            FilterPolicyEntry::Bloom(BloomConstructionPolicy::FalsePositiveRate(0.001)),
            FilterPolicyEntry::Bloom(BloomConstructionPolicy::BitsPerKey(10.0)),
        ])
    } else {
        // Index, feed and records of runs are only ever read in ranges, which filters cannot help.
        FilterPolicy::disabled()
    };
    // The hash index inside blocks pays where small blocks are read by point.
    let hash_ratio = if matches!(keyspace, 0 | 2) { 1.33 } else { 0.0 };
    KeyspaceCreateOptions::default()
        .data_block_size_policy(BlockSizePolicy::all(block_bytes))
        .data_block_hash_ratio_policy(HashRatioPolicy::all(hash_ratio))
        // The two uppermost levels hold little and are rewritten soon: compressing them costs more than it saves.
        .data_block_compression_policy(CompressionPolicy::new([
            CompressionType::None,
            CompressionType::None,
            CompressionType::Lz4,
        ]))
        .filter_policy(filter)
        // What a file is looked up by is kept in memory for the uppermost levels, and beyond them cut into blocks: whole
        // it would take hundreds of kilobytes a file, read and checked again each time that the cache has lost it.
        .index_block_partitioning_policy(PartitioningPolicy::new([false, false, true]))
        .filter_block_partitioning_policy(PartitioningPolicy::new([false, true]))
        // Sealing is decided by the writer, so that it follows the options of this run.
        .max_memtable_size(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_journal_holds_more_than_the_write_buffer() {
        let usual = Options::default();
        for bytes in [0, 1, usual.write_buffer_bytes, 512 * 1024 * 1024, u64::MAX] {
            let options = Options::with_write_buffer(bytes);
            assert_eq!(options.write_buffer_bytes, bytes);
            assert!(options.journal_bytes_max >= usual.journal_bytes_max.max(bytes), "{bytes}");
        }
        assert_eq!(
            Options::with_write_buffer(usual.write_buffer_bytes).journal_bytes_max,
            usual.journal_bytes_max
        );
    }

    #[test]
    fn larger_runs_are_fewer() {
        const MEGABYTE: u64 = 1024 * 1024;
        let cases = [(0, 26), (1, 26), (64, 26), (128, 13), (256, 8), (4_096, 8)];
        for (megabytes, expected) in cases {
            let options = Options::with_write_buffer(megabytes * MEGABYTE);
            assert_eq!(options.level_0_runs_max(), expected, "{megabytes} MB");
        }
    }

    #[test]
    fn memtables_take_at_most_half_of_the_write_buffer() {
        let options = Options::default();
        // Of the two keyspaces of runs, one takes records.
        let keyspaces = (0..KEYSPACES).filter(|keyspace| *keyspace != RUN_KEYSPACES[1]);
        let sum: u64 = keyspaces.map(|keyspace| options.memtable_bytes_max(keyspace)).sum();
        assert!(sum + options.run_bytes_max() <= options.write_buffer_bytes / 2);
    }

    #[test]
    fn small_values_are_raised() {
        let options = Options {
            write_buffer_bytes: 0,
            journal_bytes_max: 0,
            cached_files_max: 0,
            ..Options::default()
        }
        .clamped();
        assert_eq!(options.write_buffer_bytes, WRITE_BUFFER_BYTES_MIN);
        assert_eq!(options.journal_bytes_max, JOURNAL_BYTES_MIN);
        assert_eq!(options.cached_files_max, CACHED_FILES_MIN);
    }
}
