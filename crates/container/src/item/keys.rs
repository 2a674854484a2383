//! The keys of a physical partition's families. Byte by byte: `docs/on-disk.md`.
//!
//! Items lie in the order of their hashed keys, then of the partition key's own bytes (two values may share
//! a hash), then of their ids, so a logical partition is one contiguous run that begins with its
//! [`LogicalKey`].

use armilla_index::IndexId;
use armilla_value::{HashVersion, HashedKey, PartitionKey, key};
use bytes::Bytes;

use crate::error::{Error, Result};

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

    /// Returns the prefix of the item with a key and an id; `None` if that is not its id.
    pub(crate) fn of_item(item_key: &Bytes, id: &str) -> Option<LogicalKey> {
        let length = item_key.strip_suffix(id.as_bytes())?.len();
        Some(LogicalKey(item_key.slice(..length)))
    }

    /// Returns the prefix that another process says it is.
    pub(crate) fn from_bytes(bytes: Bytes) -> LogicalKey {
        LogicalKey(bytes)
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

/// What the numbers of entries of indexes begin with, in the meta family.
pub(crate) const INDEX_COUNT_TAG: u8 = 0x03;

/// What the names of indexes begin with, in the meta family.
pub(crate) const INDEX_NAME_TAG: u8 = 0x04;

/// What the computed entries of items begin with, in the meta family.
pub(crate) const COMPUTED_TAG: u8 = 0x05;

/// The record of the layouts of a partition's index, in the meta family.
pub(crate) const INDEX_LAYOUTS: &[u8] = &[0x06];

/// The record of how far a re-indexing is, in the meta family.
pub(crate) const INDEX_PROGRESS: &[u8] = &[0x07];

/// The record of the indexes that lack entries of some items, in the meta family.
pub(crate) const INDEX_CROWDED: &[u8] = &[0x08];

/// The record of what a change log holds beside one entry for each live item, in the meta family.
pub(crate) const TRIM_STATE: &[u8] = &[0x09];

/// The record of the last merge among a partition's ancestors, in the meta family.
pub(crate) const MERGED: &[u8] = &[0x0B];

/// What the records of items with a time to live of their own begin with, in the meta family.
pub(crate) const EXPIRY_TAG: u8 = 0x0A;

/// What the receipts begin with, in the meta family.
pub(crate) const RECEIPT_TAG: u8 = 0x0C;

/// What the places of receipts in the order of commits begin with, in the meta family.
pub(crate) const RECEIPT_PLACE_TAG: u8 = 0x0D;

/// The key of the mark of a partition whose children are complete, and in whose place they are about to be put.
pub(crate) const GIVEN_WAY: &[u8] = &[0x0E];

/// The record of a receipt in a logical partition, in the meta family; without one, what all with that key begin with.
pub(crate) fn receipt(key: &[u8], logical: &[u8]) -> Bytes {
    let mut bytes = Vec::with_capacity(2 + key.len() + logical.len());
    // Its length is bounded by that of a byte.
    bytes.extend_from_slice(&[RECEIPT_TAG, key.len() as u8]);
    bytes.extend_from_slice(key);
    bytes.extend_from_slice(logical);
    bytes.into()
}

/// Returns the logical partition that the record of a receipt belongs to.
pub(crate) fn logical_of_receipt(record: &Bytes) -> Result<Bytes> {
    let length = record.get(1).map_or(0, |length| 2 + usize::from(*length));
    if record.first() != Some(&RECEIPT_TAG) || length == 0 || record.len() <= length {
        return Err(Error::corrupt(format!("a receipt has a key of {} bytes", record.len())));
    }
    Ok(record.slice(length..))
}

/// The place of a receipt in the order of commits, in the meta family.
pub(crate) fn receipt_place(lsn: u64, record: &[u8]) -> Bytes {
    let mut bytes = Vec::with_capacity(8 + record.len());
    bytes.push(RECEIPT_PLACE_TAG);
    bytes.extend_from_slice(&lsn.to_be_bytes());
    bytes.extend_from_slice(record.get(1..).unwrap_or_default());
    bytes.into()
}

/// Reads the commit and the record of the receipt that are such a place.
pub(crate) fn decode_receipt_place(place: &[u8]) -> Result<(u64, Bytes)> {
    let damaged = || Error::corrupt(format!("the place of a receipt has a key of {} bytes", place.len()));
    let (lsn, rest) = place.get(1..).and_then(<[u8]>::split_first_chunk).ok_or_else(damaged)?;
    let record = Bytes::from([&[RECEIPT_TAG], rest].concat());
    logical_of_receipt(&record)?;
    Ok((u64::from_be_bytes(*lsn), record))
}

/// The record of an item with a time to live of its own, in the meta family: they lie in the order in which the
/// items expire. `last_second` is the last one in which the item lives.
pub(crate) fn expiry(last_second: u32, number: u64) -> Bytes {
    let mut bytes = [EXPIRY_TAG; 13];
    bytes[1..5].copy_from_slice(&last_second.to_be_bytes());
    bytes[5..].copy_from_slice(&number.to_be_bytes());
    Bytes::copy_from_slice(&bytes)
}

/// Reads the last second and the item number that are such a key.
pub(crate) fn decode_expiry(key: &[u8]) -> Result<(u32, u64)> {
    let damaged = || Error::corrupt(format!("the record of a time to live has a key of {} bytes", key.len()));
    let (last_second, number) = key.get(1..).and_then(<[u8]>::split_first_chunk).ok_or_else(damaged)?;
    let number = number.try_into().map_err(|_| damaged())?;
    Ok((u32::from_be_bytes(*last_second), u64::from_be_bytes(number)))
}

/// The number of entries of an index, in the meta family.
pub(crate) fn index_count(index: IndexId) -> [u8; 9] {
    tagged(INDEX_COUNT_TAG, index.0)
}

/// The name of an index, in the meta family.
pub(crate) fn index_name(index: IndexId) -> [u8; 9] {
    tagged(INDEX_NAME_TAG, index.0)
}

/// The computed entries of the item with a number, in the meta family.
pub(crate) fn computed(number: u64) -> Bytes {
    Bytes::copy_from_slice(&tagged(COMPUTED_TAG, number))
}

fn tagged(tag: u8, number: u64) -> [u8; 9] {
    let mut bytes = [tag; 9];
    bytes[1..].copy_from_slice(&number.to_be_bytes());
    bytes
}

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

/// Reads the item number that is a key of the number family.
pub(crate) fn decode_number(key: &[u8]) -> Result<u64> {
    let bytes = key.try_into().map_err(|_| Error::corrupt("an item number is not 8 bytes long"))?;
    Ok(u64::from_be_bytes(bytes))
}

/// The entry of a change, in the feed family.
pub(crate) fn feed(lsn: u64, operation: u16) -> Bytes {
    let mut bytes = [0; 10];
    bytes[..8].copy_from_slice(&lsn.to_be_bytes());
    bytes[8..].copy_from_slice(&operation.to_be_bytes());
    Bytes::copy_from_slice(&bytes)
}

/// What keys of images end with, in the feed family.
const IMAGE_MARK: u8 = 0x01;

/// The image of the version that a change is about, in the feed family: right behind the entry of the change.
pub(crate) fn feed_image(lsn: u64, operation: u16) -> Bytes {
    let mut bytes = [IMAGE_MARK; 11];
    bytes[..8].copy_from_slice(&lsn.to_be_bytes());
    bytes[8..10].copy_from_slice(&operation.to_be_bytes());
    Bytes::copy_from_slice(&bytes)
}

/// Reads the commit number and the operation that are a key of the feed family, and whether it is that of an image.
pub(crate) fn decode_feed(key: &[u8]) -> Result<((u64, u16), bool)> {
    let damaged = || Error::corrupt(format!("the change log has a key of {} bytes", key.len()));
    let (lsn, rest) = key.split_first_chunk().ok_or_else(damaged)?;
    let (operation, mark) = rest.split_first_chunk().ok_or_else(damaged)?;
    let is_image = match mark {
        [] => false,
        [IMAGE_MARK] => true,
        _ => return Err(damaged()),
    };
    Ok(((u64::from_be_bytes(*lsn), u16::from_be_bytes(*operation)), is_image))
}

/// Returns where the keys of items at and behind a hashed key begin, which need not be the hash of anything; `None`
/// where there can be none.
pub(crate) fn from_hashed(hashed: &HashedKey, version: HashVersion, levels: usize) -> Option<Bytes> {
    match version {
        HashVersion::V1 => {
            let mut bytes = Vec::new();
            key::escape(hashed.as_bytes(), &mut bytes);
            // Without the mark of the end, longer hashes that begin so are not below either.
            bytes.truncate(bytes.len() - 2);
            Some(bytes.into())
        }
        HashVersion::V2 | HashVersion::MultiHash => {
            let bytes = hashed.as_bytes();
            match bytes.get(..hashed_bytes(version, levels)) {
                // What is longer than a hash lies behind the one that it begins with.
                Some(whole) if whole.len() < bytes.len() => armilla_kv::prefix_end(whole),
                _ => Some(Bytes::copy_from_slice(bytes)),
            }
        }
    }
}

/// Returns how long hashed keys are at the start of item keys, where they are all of one length.
fn hashed_bytes(version: HashVersion, levels: usize) -> usize {
    16 * if version == HashVersion::V2 { 1 } else { levels }
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
            let (hashed, rest) = item_key.split_at_checked(hashed_bytes(version, levels))?;
            Some((HashedKey::from_bytes(hashed), rest))
        }
    }
}
