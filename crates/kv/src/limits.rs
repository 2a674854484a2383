//! Bounds that every store enforces, before anything of a batch is written.

use crate::{Batch, Error, ErrorKind, Op, Result};

/// Longest key, in bytes. An item key holds up to 3 x 2,048 bytes of partition key (escaped) and a 1,023-byte id.
pub const KEY_BYTES_MAX: usize = 16 * 1024;

/// Longest value, in bytes: an item of 2 MB with its skeleton, and a previous image in a feed entry.
pub const VALUE_BYTES_MAX: usize = 32 * 1024 * 1024;

/// Most operations in one batch.
pub const BATCH_OPS_MAX: usize = 200_000;

/// Most bytes of keys and values in one batch.
pub const BATCH_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Fails with [`ErrorKind::TooLarge`] if a key, a value or the whole batch is over its bound.
pub fn check_batch(batch: &Batch) -> Result<()> {
    if batch.ops().len() > BATCH_OPS_MAX {
        return Err(too_large("operations in a batch", batch.ops().len(), BATCH_OPS_MAX));
    }
    if batch.bytes() > BATCH_BYTES_MAX {
        return Err(too_large("bytes in a batch", batch.bytes(), BATCH_BYTES_MAX));
    }
    for op in batch.ops() {
        let (key, value_bytes) = match op {
            Op::Put { key, value, .. } => (key, value.len()),
            Op::Delete { key, .. } => (key, 0),
        };
        if key.len() > KEY_BYTES_MAX {
            return Err(too_large("bytes in a key", key.len(), KEY_BYTES_MAX));
        }
        if value_bytes > VALUE_BYTES_MAX {
            return Err(too_large("bytes in a value", value_bytes, VALUE_BYTES_MAX));
        }
    }
    Ok(())
}

fn too_large(what: &str, count: usize, max: usize) -> Error {
    Error::new(ErrorKind::TooLarge, format!("{count} {what}, the most is {max}"))
}
