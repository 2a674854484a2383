//! The change log of a physical partition: one entry for every write, in commit order.
//!
//! A container that keeps the latest versions only has one entry for each live item, at the commit that wrote
//! it last, and one for each delete; a container that keeps all versions keeps every entry, each with the
//! image that it replaced. Reading the log comes with the change feed; it is written from the first item on.

use bytes::Bytes;

use crate::error::{Error, Result};

const FORMAT_VERSION: u8 = 1;

/// Bytes before the item key in an entry.
const FIXED_BYTES: usize = 26;

/// What a write did to an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeKind {
    /// It came into being.
    Create,
    /// It got a new version.
    Replace,
    /// It went.
    Delete,
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
    /// The item's key.
    pub(crate) item_key: Bytes,
    /// The stored bytes of the version before, where the container keeps all versions.
    pub(crate) previous: Option<Bytes>,
}

impl Change {
    pub(crate) fn encode(&self) -> Bytes {
        let previous = self.previous.as_deref().unwrap_or_default();
        let mut bytes = Vec::with_capacity(FIXED_BYTES + self.item_key.len() + previous.len());
        bytes.push(FORMAT_VERSION);
        bytes.push(match self.kind {
            ChangeKind::Create => 1,
            ChangeKind::Replace => 2,
            ChangeKind::Delete => 3,
        });
        bytes.extend_from_slice(&self.ts.to_be_bytes());
        bytes.extend_from_slice(&self.number.to_be_bytes());
        bytes.extend_from_slice(&self.previous_lsn.to_be_bytes());
        bytes.extend_from_slice(&(self.item_key.len() as u32).to_be_bytes());
        bytes.extend_from_slice(&self.item_key);
        bytes.extend_from_slice(previous);
        bytes.into()
    }

    pub(crate) fn decode(bytes: &Bytes) -> Result<Change> {
        Change::decode_checked(bytes)
            .ok_or_else(|| Error::corrupt("an entry of the change log is damaged or of an unknown version"))
    }

    fn decode_checked(bytes: &Bytes) -> Option<Change> {
        if bytes.len() < FIXED_BYTES || bytes[0] != FORMAT_VERSION {
            return None;
        }
        let kind = match bytes[1] {
            1 => ChangeKind::Create,
            2 => ChangeKind::Replace,
            3 => ChangeKind::Delete,
            _ => return None,
        };
        let u32_at = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
        let u64_at = |at: usize| u64::from_be_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
        let key_end = FIXED_BYTES.checked_add(u32_at(22) as usize)?;
        if key_end > bytes.len() {
            return None;
        }
        Some(Change {
            kind,
            ts: u32_at(2),
            number: u64_at(6),
            previous_lsn: u64_at(14),
            item_key: bytes.slice(FIXED_BYTES..key_end),
            previous: (key_end < bytes.len()).then(|| bytes.slice(key_end..)),
        })
    }
}

#[cfg(test)]
mod tests;
