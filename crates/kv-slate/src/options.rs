//! How a store is opened.

use std::path::PathBuf;
use std::time::Duration;

use armilla_kv::Durability;
use armilla_lease::Tenure;

use crate::limits::REST_AFTER;

/// What can be chosen about a store.
#[derive(Debug, Clone)]
pub struct SlateOptions {
    /// When a commit counts as done.
    pub durability: Durability,
    /// Bytes of blocks, indexes and filters of all trees that are kept in memory.
    pub block_cache_bytes: u64,
    /// Most bytes that wait to be written, of all spaces.
    pub queue_bytes_max: usize,
    /// A folder for copies of what was read from the object store, with the bytes that it may hold.
    pub disk_cache: Option<(PathBuf, usize)>,
    /// How long a tree stays open that is neither read nor written.
    pub rest_after: Duration,
    /// What says whether this process may still speak for the store, where several could.
    pub tenure: Option<Tenure>,
}

impl Default for SlateOptions {
    fn default() -> SlateOptions {
        SlateOptions {
            durability: Durability::Strict,
            block_cache_bytes: 256 * 1024 * 1024,
            queue_bytes_max: 256 * 1024 * 1024,
            disk_cache: None,
            rest_after: REST_AFTER,
            tenure: None,
        }
    }
}
