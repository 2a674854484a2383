//! Engine keys: the eight bytes of the space id, then the caller's key.

use std::ops::Bound;

use armilla_kv::{Batch, Family, Op, SpaceId};
use bytes::{Buf, Bytes};
use fjall::Slice;

/// Bytes that the space id takes in front of every key.
pub(crate) const SPACE_PREFIX_BYTES: usize = 8;

/// One change of one engine key.
pub(crate) struct EngineOp {
    pub(crate) keyspace: usize,
    pub(crate) key: Slice,
    /// The new value, or nothing to remove the key.
    pub(crate) value: Option<Slice>,
}

/// Returns the engine key of a caller's key.
pub(crate) fn prefixed(space: SpaceId, key: &[u8]) -> Vec<u8> {
    let mut prefixed = Vec::with_capacity(SPACE_PREFIX_BYTES + key.len());
    prefixed.extend_from_slice(&space.0.to_be_bytes());
    prefixed.extend_from_slice(key);
    prefixed
}

/// Calls `read` with the engine key of a caller's key, without an allocation for short keys.
pub(crate) fn with_prefixed<T>(space: SpaceId, key: &[u8], read: impl FnOnce(&[u8]) -> T) -> T {
    const SHORT_BYTES: usize = 256;
    let length = SPACE_PREFIX_BYTES + key.len();
    if length <= SHORT_BYTES {
        let mut buffer = [0; SHORT_BYTES];
        buffer[..SPACE_PREFIX_BYTES].copy_from_slice(&space.0.to_be_bytes());
        buffer[SPACE_PREFIX_BYTES..length].copy_from_slice(key);
        read(&buffer[..length])
    } else {
        read(&prefixed(space, key))
    }
}

/// Returns the caller's key inside an engine key.
pub(crate) fn stripped(mut key: Bytes) -> Bytes {
    // Not by splitting, which would make the bytes shared and cost an allocation.
    key.advance(SPACE_PREFIX_BYTES.min(key.len()));
    key
}

/// Returns the lower bound of a caller's range as an engine key.
pub(crate) fn lower(space: SpaceId, bound: &Bound<Bytes>) -> Bound<Vec<u8>> {
    match bound {
        Bound::Included(key) => Bound::Included(prefixed(space, key)),
        Bound::Excluded(key) => Bound::Excluded(prefixed(space, key)),
        Bound::Unbounded => Bound::Included(prefixed(space, &[])),
    }
}

/// Returns the upper bound of a caller's range as an engine key.
pub(crate) fn upper(space: SpaceId, bound: &Bound<Bytes>) -> Bound<Vec<u8>> {
    match bound {
        Bound::Included(key) => Bound::Included(prefixed(space, key)),
        Bound::Excluded(key) => Bound::Excluded(prefixed(space, key)),
        Bound::Unbounded => match space.0.checked_add(1) {
            Some(next) => Bound::Excluded(prefixed(SpaceId(next), &[])),
            None => Bound::Unbounded,
        },
    }
}

/// Turns a batch into engine operations.
///
/// The engine keeps keys until their memtable is flushed, and all keys of one batch in one family go into
/// the same memtable; so they share one buffer instead of having one each.
pub(crate) fn engine_ops(space: SpaceId, batch: Batch) -> Vec<EngineOp> {
    let mut key_bytes = [0; Family::ALL.len()];
    for op in batch.ops() {
        let (Op::Put { family, key, .. } | Op::Delete { family, key }) = op;
        key_bytes[*family as usize] += SPACE_PREFIX_BYTES + key.len();
    }
    let mut buffers = key_bytes.map(Vec::with_capacity);
    for op in batch.ops() {
        let (Op::Put { family, key, .. } | Op::Delete { family, key }) = op;
        let buffer = &mut buffers[*family as usize];
        buffer.extend_from_slice(&space.0.to_be_bytes());
        buffer.extend_from_slice(key);
    }
    let mut rest = buffers.map(Bytes::from);
    batch
        .into_ops()
        .into_iter()
        .map(|op| {
            let (family, key_bytes, value) = match op {
                Op::Put { family, key, value } => (family, key.len(), Some(Slice::from(value))),
                Op::Delete { family, key } => (family, key.len(), None),
            };
            let key = rest[family as usize].split_to(SPACE_PREFIX_BYTES + key_bytes);
            EngineOp { keyspace: family as usize, key: key.into(), value }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_keep_their_order_and_their_keys() {
        let mut batch = Batch::new();
        batch.put(Family::Item, "a", "1");
        batch.put(Family::Index, "xyz", "");
        batch.delete(Family::Item, "bc");
        let ops = engine_ops(SpaceId(258), batch);
        let shown: Vec<_> = ops
            .iter()
            .map(|op| {
                (
                    op.keyspace,
                    op.key[SPACE_PREFIX_BYTES - 2..].to_vec(),
                    op.value.as_ref().map(|v| v.to_vec()),
                )
            })
            .collect();
        assert_eq!(
            shown,
            [
                (1, b"\x01\x02a".to_vec(), Some(b"1".to_vec())),
                (3, b"\x01\x02xyz".to_vec(), Some(vec![])),
                (1, b"\x01\x02bc".to_vec(), None),
            ]
        );
        assert_eq!(stripped(ops[1].key.clone().into()), "xyz");
    }

    #[test]
    fn long_and_short_keys_are_prefixed_alike() {
        for length in [0, 1, 247, 248, 249, 5_000] {
            let key = vec![7; length];
            with_prefixed(SpaceId(3), &key, |found| assert_eq!(found, prefixed(SpaceId(3), &key)));
        }
    }

    #[test]
    fn the_last_space_has_no_upper_bound() {
        assert_eq!(upper(SpaceId(u64::MAX), &Bound::Unbounded), Bound::Unbounded);
        assert_eq!(upper(SpaceId(0), &Bound::Unbounded), Bound::Excluded(prefixed(SpaceId(1), &[])));
    }
}
