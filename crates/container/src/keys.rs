//! The keys of a physical partition's families. Byte by byte: `docs/on-disk.md`.
//!
//! Items lie in the order of their hashed keys, then of the partition key's own bytes (two values may share
//! a hash), then of their ids, so a logical partition is one contiguous run that begins with its
//! [`LogicalKey`].

use armilla_value::{HashVersion, HashedKey, PartitionKey, key};
use bytes::Bytes;

/// The key prefix that all items of one logical partition share.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct LogicalKey(Bytes);

impl LogicalKey {
    /// Returns the prefix for a partition key with its hash.
    pub(crate) fn new(partition_key: &PartitionKey, hashed: &HashedKey, version: HashVersion) -> LogicalKey {
        let mut bytes = Vec::with_capacity(64);
        match version {
            // Hashes of version 1 differ in length; escaping keeps their order and shows where they end.
            HashVersion::V1 => key::escape(hashed.as_bytes(), &mut bytes),
            // Those of version 2 have 16 bytes a level.
            HashVersion::V2 | HashVersion::MultiHash => bytes.extend_from_slice(hashed.as_bytes()),
        }
        partition_key.key_bytes(&mut bytes);
        LogicalKey(bytes.into())
    }

    pub(crate) fn as_bytes(&self) -> &Bytes {
        &self.0
    }

    /// Returns the key of an item of this logical partition.
    pub(crate) fn item(&self, id: &str) -> Bytes {
        let mut bytes = Vec::with_capacity(self.0.len() + id.len());
        bytes.extend_from_slice(&self.0);
        bytes.extend_from_slice(id.as_bytes());
        bytes.into()
    }
}

/// The record of a partition's counters, in the meta family.
pub(crate) const COUNTERS: &[u8] = &[0x00];

/// What the size records begin with, in the meta family.
pub(crate) const SIZE_TAG: u8 = 0x01;

/// What the unique-key reservations begin with, in the meta family.
pub(crate) const UNIQUE_TAG: u8 = 0x02;

/// The record of a logical partition's size, in the meta family.
pub(crate) fn size(logical: &LogicalKey) -> Bytes {
    let mut bytes = Vec::with_capacity(1 + logical.0.len());
    bytes.push(SIZE_TAG);
    bytes.extend_from_slice(&logical.0);
    bytes.into()
}

/// The reservation of a unique key's values, in the meta family.
pub(crate) fn unique(logical: &LogicalKey, constraint: u8, values: &[u8]) -> Bytes {
    let mut bytes = Vec::with_capacity(2 + logical.0.len() + values.len());
    bytes.push(UNIQUE_TAG);
    bytes.extend_from_slice(&logical.0);
    bytes.push(constraint);
    bytes.extend_from_slice(values);
    bytes.into()
}

/// The entry of an item number, in the number family.
pub(crate) fn number(number: u64) -> Bytes {
    Bytes::copy_from_slice(&number.to_be_bytes())
}

/// The entry of a change, in the feed family.
pub(crate) fn feed(lsn: u64, operation: u16) -> Bytes {
    let mut bytes = [0; 10];
    bytes[..8].copy_from_slice(&lsn.to_be_bytes());
    bytes[8..].copy_from_slice(&operation.to_be_bytes());
    Bytes::copy_from_slice(&bytes)
}

/// Returns the hashed key that an item's key begins with.
pub(crate) fn hashed(item_key: &[u8], version: HashVersion, levels: usize) -> Option<HashedKey> {
    split_item_key(item_key, version, levels).map(|(hashed, _)| hashed)
}

/// Splits an item's key into its hashed key and the bytes of partition key and id.
pub(crate) fn split_item_key(
    item_key: &[u8],
    version: HashVersion,
    levels: usize,
) -> Option<(HashedKey, &[u8])> {
    match version {
        HashVersion::V1 => {
            let (hashed, rest) = key::unescape(item_key)?;
            Some((HashedKey::from_bytes(&hashed), rest))
        }
        HashVersion::V2 | HashVersion::MultiHash => {
            let length = 16 * if version == HashVersion::V2 { 1 } else { levels };
            let (hashed, rest) = item_key.split_at_checked(length)?;
            Some((HashedKey::from_bytes(hashed), rest))
        }
    }
}
