//! How the trees of a store are set.

use std::sync::Arc;

use armilla_kv::Durability;
use slatedb::Settings;
use slatedb::config::{
    CompactionWorkerOptions, CompactorOptions, CompressionCodec, GarbageCollectorOptions,
    ObjectStoreCacheOptions,
};
use slatedb::db_cache::DbCache;
use slatedb::db_cache::foyer::{FoyerCache, FoyerCacheOptions};

use crate::limits::{
    MANIFEST_POLL, MERGED_FILE_BYTES_MAX, MERGES_AT_ONCE, RELAXED_FLUSH, SORTED_FILE_BYTES,
    UNFLUSHED_BYTES_MAX,
};
use crate::options::SlateOptions;

/// Pieces of the cache of blocks, each with a lock of its own.
const CACHE_SHARDS: usize = 16;

/// Returns the settings of every tree.
pub(crate) fn of_trees(options: &SlateOptions, is_folder: bool) -> Settings {
    let compression_codec = Some(CompressionCodec::Lz4);
    Settings {
        // Each group asks for its own put. What is not waited for is put from time to time.
        flush_interval: (options.durability == Durability::Relaxed).then_some(RELAXED_FLUSH),
        manifest_poll_interval: MANIFEST_POLL,
        l0_sst_size_bytes: SORTED_FILE_BYTES,
        max_unflushed_bytes: UNFLUSHED_BYTES_MAX,
        compression_codec,
        compactor_options: Some(CompactorOptions {
            max_concurrent_compactions: MERGES_AT_ONCE,
            worker: Some(CompactionWorkerOptions {
                max_concurrent_compactions: MERGES_AT_ONCE,
                max_sst_size: MERGED_FILE_BYTES_MAX,
                compression_codec,
                ..CompactionWorkerOptions::default()
            }),
            ..CompactorOptions::default()
        }),
        object_store_cache_options: match &options.disk_cache {
            Some((folder, bytes)) => ObjectStoreCacheOptions {
                root_folder: Some(folder.clone()),
                max_cache_size_bytes: Some(*bytes),
                ..ObjectStoreCacheOptions::default()
            },
            None => ObjectStoreCacheOptions::default(),
        },
        garbage_collector_options: Some(GarbageCollectorOptions {
            // A folder cannot replace a file only if it is unchanged, which these would need.
            boundary_files_enabled: !is_folder,
            ..GarbageCollectorOptions::default()
        }),
        ..Settings::default()
    }
}

/// Returns the cache that all trees share.
pub(crate) fn cache(options: &SlateOptions) -> Arc<dyn DbCache> {
    Arc::new(FoyerCache::new_with_opts(FoyerCacheOptions {
        max_capacity: options.block_cache_bytes,
        shards: CACHE_SHARDS,
    }))
}
