//! The change log of a physical partition: what was written, in the order of commits.
//!
//! An entry lies at the position of its version: the commit, and which operation of it. Invariants:
//! * a container that keeps the latest versions only has exactly one entry for each live item, at the commit that wrote
//!   it last; a delete leaves nothing. What else the log may hold for a while, and how it goes, is told in `trim`;
//! * a container that keeps all versions has an entry for each write, deletes included. The version that an entry is
//!   about is the item itself if it is the newest, and else the image right behind the entry, which the write put there
//!   that came after it. So the log is read forwards only;
//! * an entry may *carry* the version that it is about, so that the latest versions are read where they are told of. It
//!   is the whole value of the item, byte by byte, as long as no image follows and the entry is there.
//!
//! In this folder: reading the log (`log`), the feed that is made of it (`read`, `walk`, `page`), positions in it
//! (`token`), waiting for it to grow (`wait`). Not here: who writes it (`apply`), what is dropped from it (`trim`).

use bytes::Bytes;

use crate::compiled_definition::CompiledDefinition;
use crate::error::{Error, Result};
use crate::item::Item;
use crate::limits::FEED_CARRIED_BYTES_MAX;

mod bounds;
mod log;
mod merged;
mod page;
mod read;
mod request;
mod time;
pub(crate) mod token;
pub(crate) mod trim;
mod versions;
mod wait;
mod walk;

pub(crate) use log::{LogEntry, LogPage, read_log};
pub(crate) use merged::Merged;
pub use request::{FeedChange, FeedMode, FeedPage, FeedRequest, FeedStart};
pub(crate) use time::Ages;
pub(crate) use versions::find_version;

/// Entries of version 1 know only the commit of the version before, and had its image behind them where all versions
/// were kept. No reader holds a position from the time when they were written, so that image is not looked at.
const FIRST_VERSION: u8 = 1;

const FORMAT_VERSION: u8 = 2;

/// Entries of version 3 carry the item behind its key, and else are those of version 2.
const CARRYING_VERSION: u8 = 3;

/// Bytes before the item key in an entry of version 1.
const FIRST_FIXED_BYTES: usize = 26;

/// Bytes before the item key in an entry.
const FIXED_BYTES: usize = 28;

/// What a write did to an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeKind {
    /// It came into being.
    Create,
    /// It got a new version.
    Replace,
    /// It got a new version by changes to parts of it.
    Update,
    /// It went.
    Delete,
    /// It expired.
    Expire,
}

impl ChangeKind {
    /// Returns whether the item is not there any more afterwards.
    pub fn is_removal(self) -> bool {
        matches!(self, ChangeKind::Delete | ChangeKind::Expire)
    }
}

/// One entry of the change log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Change {
    /// What happened.
    pub(crate) kind: ChangeKind,
    /// Seconds since 1970 UTC when it happened.
    pub(crate) ts: u32,
    /// The item's number.
    pub(crate) number: u64,
    /// The commit that had written the version before, 0 for a create.
    pub(crate) previous_lsn: u64,
    /// Which operation of that commit, as far as it is known.
    pub(crate) previous_operation: u16,
    /// The item's key.
    pub(crate) item_key: Bytes,
    /// The value of the item, where the entry carries it.
    pub(crate) carried: Option<Bytes>,
}

impl Change {
    pub(crate) fn encode(&self) -> Bytes {
        let carried = self.carried.as_deref().unwrap_or_default();
        let mut bytes = Vec::with_capacity(FIXED_BYTES + self.item_key.len() + carried.len());
        bytes.push(if carried.is_empty() { FORMAT_VERSION } else { CARRYING_VERSION });
        bytes.push(match self.kind {
            ChangeKind::Create => 1,
            ChangeKind::Replace => 2,
            ChangeKind::Delete => 3,
            ChangeKind::Expire => 4,
            ChangeKind::Update => 5,
        });
        bytes.extend_from_slice(&self.ts.to_be_bytes());
        bytes.extend_from_slice(&self.number.to_be_bytes());
        bytes.extend_from_slice(&self.previous_lsn.to_be_bytes());
        bytes.extend_from_slice(&self.previous_operation.to_be_bytes());
        bytes.extend_from_slice(&(self.item_key.len() as u32).to_be_bytes());
        bytes.extend_from_slice(&self.item_key);
        bytes.extend_from_slice(carried);
        bytes.into()
    }

    /// Returns the bytes of an entry as they are without what it carries.
    pub(crate) fn without_carried(bytes: &Bytes) -> Result<Bytes> {
        match Change::decode(bytes)? {
            Change { carried: None, .. } => Ok(bytes.clone()),
            change => Ok(Change { carried: None, ..change }.encode()),
        }
    }

    /// Returns the bytes of an entry that carries nothing with a version that it carries from now on, unless it is one of
    /// those that cannot.
    pub(crate) fn with_carried(bytes: Bytes, carried: Option<Bytes>) -> Bytes {
        match carried {
            Some(carried) if bytes.first() == Some(&FORMAT_VERSION) => {
                [&[CARRYING_VERSION], &bytes[1..], &carried].concat().into()
            }
            _ => bytes,
        }
    }

    /// Takes the version out that the entry carries, which lies at this position.
    pub(crate) fn take_carried(&mut self, position: (u64, u16)) -> Result<Option<Item>> {
        let Some(item) = self.carried.take().map(Item::open).transpose()? else { return Ok(None) };
        if item.header().version() != position || item.header().number != self.number {
            return Err(Error::corrupt(format!(
                "commit {} carries another version than its own",
                position.0
            )));
        }
        Ok(Some(item))
    }

    pub(crate) fn decode(bytes: &Bytes) -> Result<Change> {
        Change::decode_checked(bytes)
            .ok_or_else(|| Error::corrupt("an entry of the change log is damaged or of an unknown version"))
    }

    fn decode_checked(bytes: &Bytes) -> Option<Change> {
        let version = *bytes.first()?;
        let is_first = version == FIRST_VERSION;
        let fixed = if is_first { FIRST_FIXED_BYTES } else { FIXED_BYTES };
        if bytes.len() < fixed || !(FIRST_VERSION..=CARRYING_VERSION).contains(&version) {
            return None;
        }
        let kind = match bytes[1] {
            1 => ChangeKind::Create,
            2 => ChangeKind::Replace,
            3 => ChangeKind::Delete,
            4 if !is_first => ChangeKind::Expire,
            5 if !is_first => ChangeKind::Update,
            _ => return None,
        };
        let u32_at = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
        let u64_at = |at: usize| u64::from_be_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
        let key_end = fixed.checked_add(u32_at(fixed - 4) as usize)?;
        // Behind the key nothing comes but the image of an entry of the first version, and what an entry carries.
        let carried = match version {
            FIRST_VERSION if key_end <= bytes.len() => None,
            FORMAT_VERSION if key_end == bytes.len() => None,
            CARRYING_VERSION if key_end < bytes.len() => Some(bytes.slice(key_end..)),
            _ => return None,
        };
        Some(Change {
            kind,
            ts: u32_at(2),
            number: u64_at(6),
            previous_lsn: u64_at(14),
            previous_operation: if is_first { 0 } else { u16::from_be_bytes([bytes[22], bytes[23]]) },
            item_key: bytes.slice(fixed..key_end),
            carried,
        })
    }
}

/// Returns what the entry of a version carries.
///
/// Where all versions are kept, nothing: the version is written into the log once there is a newer one. Large items
/// neither: to fetch them costs little beside what they are, and to write them twice much.
pub(crate) fn carried(compiled: &CompiledDefinition, item: &Item) -> Option<Bytes> {
    let is_carried = !compiled.keeps_all_versions && item.bytes().len() <= FEED_CARRIED_BYTES_MAX;
    is_carried.then(|| item.bytes().clone())
}

#[cfg(test)]
mod tests;
