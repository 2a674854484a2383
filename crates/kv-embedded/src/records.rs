//! The store's own records, in a keyspace of their own.
//!
//! | key | value | meaning |
//! |---|---|---|
//! | `g` | group number, 8 bytes | written with every group of commits, see [`GROUP`] |
//! | `d` space id (8) | empty | the space is dropped and its bytes are not yet given back |
//! | `r` first id (8) | last id (8) | the spaces of this range are dropped and gone |

use armilla_kv::id_set::IdSet;
use armilla_kv::{Error, ErrorKind, Result};
use bytes::Bytes;
use fjall::{AbstractTree, Keyspace, Readable, Slice, Snapshot};

use crate::failure;
use crate::keys::EngineOp;
use crate::options::RECORDS;

/// Key of the record that is part of every group of commits.
///
/// Because it is, no keyspace may hold anything newer than this record. If one does, the journal has lost
/// groups that had partly reached sorted files.
pub(crate) const GROUP: &[u8] = b"g";

const TO_RECLAIM: u8 = b'd';
const GONE: u8 = b'r';

/// What the records say when a store is opened.
pub(crate) struct Loaded {
    /// Number of the newest group, or nothing in a new store.
    pub(crate) group: Option<u64>,
    /// Every dropped space.
    pub(crate) dropped: IdSet,
    /// Dropped spaces whose bytes are given back.
    pub(crate) gone: IdSet,
    /// Dropped spaces whose bytes are not yet given back.
    pub(crate) to_reclaim: Vec<u64>,
}

/// Reads all records.
pub(crate) fn load(snapshot: &Snapshot, keyspace: &Keyspace) -> Result<Loaded> {
    read(snapshot.iter(keyspace).map(|entry| {
        let (key, value) = entry.into_inner().map_err(|error| failure::of_read(&error))?;
        Ok((key.into(), value.into()))
    }))
}

/// Makes out what all records say.
pub(crate) fn read(records: impl Iterator<Item = Result<(Bytes, Bytes)>>) -> Result<Loaded> {
    let mut loaded =
        Loaded { group: None, dropped: IdSet::default(), gone: IdSet::default(), to_reclaim: Vec::new() };
    for record in records {
        let (key, value) = record?;
        match (key.first(), key.get(1..).and_then(number), number(&value)) {
            (Some(&TO_RECLAIM), Some(id), _) => {
                loaded.dropped.insert(id);
                loaded.to_reclaim.push(id);
            }
            (Some(&GONE), Some(first), Some(last)) if first <= last => {
                loaded.dropped.insert_range(first, last);
                loaded.gone.insert_range(first, last);
            }
            (_, _, Some(group)) if *key == *GROUP => loaded.group = Some(group),
            _ => {
                let message =
                    format!("the store's own record {:02x?} is not one that this version writes", &key[..]);
                return Err(Error::new(ErrorKind::Corrupt, message));
            }
        }
    }
    Ok(loaded)
}

/// Returns the engine's sequence number of the newest group.
pub(crate) fn group_sequence(keyspace: &Keyspace) -> Result<Option<u64>> {
    let entry = keyspace
        .tree
        .get_internal_entry(GROUP, fjall::SeqNo::MAX)
        .map_err(|error| failure::of_read(&error.into()))?;
    Ok(entry.map(|entry| entry.key.seqno))
}

/// Returns the write that is part of group `number`.
pub(crate) fn group(number: u64) -> EngineOp {
    EngineOp { keyspace: RECORDS, key: GROUP.into(), value: Some(number.to_be_bytes().into()) }
}

/// Returns the write that drops a space.
pub(crate) fn drop_space(id: u64) -> EngineOp {
    EngineOp { keyspace: RECORDS, key: key(TO_RECLAIM, id), value: Some(Slice::default()) }
}

/// Returns the writes that say that the bytes of a dropped space are given back.
pub(crate) fn reclaimed(gone: &mut IdSet, id: u64) -> Vec<EngineOp> {
    let merged = gone.insert(id);
    let mut ops = vec![EngineOp { keyspace: RECORDS, key: key(TO_RECLAIM, id), value: None }];
    for first in merged.replaced {
        ops.push(EngineOp { keyspace: RECORDS, key: key(GONE, first), value: None });
    }
    let last = Some(merged.last.to_be_bytes().into());
    ops.push(EngineOp { keyspace: RECORDS, key: key(GONE, merged.first), value: last });
    ops
}

fn key(tag: u8, id: u64) -> Slice {
    let mut key = vec![tag];
    key.extend_from_slice(&id.to_be_bytes());
    key.into()
}

fn number(bytes: &[u8]) -> Option<u64> {
    bytes.try_into().ok().map(u64::from_be_bytes)
}
