//! Bounds that every store enforces.

/// Longest key, in bytes. An item key holds up to 3 x 2,048 bytes of partition key (escaped) and a 1,023-byte id.
pub const KEY_BYTES_MAX: usize = 16 * 1024;

/// Longest value, in bytes: an item of 2 MB with its skeleton, and a previous image in a feed entry.
pub const VALUE_BYTES_MAX: usize = 32 * 1024 * 1024;

/// Most operations in one batch.
pub const BATCH_OPS_MAX: usize = 200_000;

/// Most bytes of keys and values in one batch.
pub const BATCH_BYTES_MAX: usize = 64 * 1024 * 1024;
