//! The keys of a tree: the family in front of the key.

use std::ops::Bound;

use armilla_kv::{Family, Scan};
use bytes::{BufMut, Bytes, BytesMut};

/// Returns the key of a tree for a key of a family.
pub(crate) fn tree_key(family: Family, key: &[u8]) -> Bytes {
    let mut bytes = BytesMut::with_capacity(key.len() + 1);
    bytes.put_u8(family as u8);
    bytes.put_slice(key);
    bytes.freeze()
}

/// Returns the key of a family for a key of a tree.
pub(crate) fn family_key(key: &Bytes) -> Bytes {
    key.slice(key.len().min(1)..)
}

/// Returns the bounds in a tree for those of a family.
pub(crate) fn tree_bounds(
    family: Family,
    lower: &Bound<Bytes>,
    upper: &Bound<Bytes>,
) -> (Bound<Bytes>, Bound<Bytes>) {
    let lower = match lower {
        Bound::Included(key) => Bound::Included(tree_key(family, key)),
        Bound::Excluded(key) => Bound::Excluded(tree_key(family, key)),
        Bound::Unbounded => Bound::Included(tree_key(family, b"")),
    };
    let upper = match upper {
        Bound::Included(key) => Bound::Included(tree_key(family, key)),
        Bound::Excluded(key) => Bound::Excluded(tree_key(family, key)),
        Bound::Unbounded => Bound::Excluded(Bytes::copy_from_slice(&[family as u8 + 1])),
    };
    (lower, upper)
}

/// Returns the range of a tree that a scan walks, or nothing where its bounds leave no key.
pub(crate) fn tree_range(scan: &Scan) -> Option<(Bound<Bytes>, Bound<Bytes>)> {
    let (lower, upper) = tree_bounds(scan.family, &scan.lower, &scan.upper);
    let is_empty = match (&lower, &upper) {
        (Bound::Included(lower), Bound::Included(upper)) => lower > upper,
        (
            Bound::Included(lower) | Bound::Excluded(lower),
            Bound::Included(upper) | Bound::Excluded(upper),
        ) => lower >= upper,
        _ => false,
    };
    (!is_empty).then_some((lower, upper))
}
