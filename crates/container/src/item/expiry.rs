//! Which items have expired, or went with all of their logical partition, as of one moment.
//!
//! A reader fixes the moment when it begins, so that what it sees does not change while it reads. An expired item is
//! there for no reader, also as long as it is still stored.
//!
//! Not here: how long an item lives (`item`), taking away what is stored of it (`purge`, and `apply`).

use std::sync::Arc;

use crate::item::Item;
use crate::item::deleted_keys::DeletedKeys;

/// The time to live of a container's items, the logical partitions that were deleted, and a moment.
#[derive(Debug, Clone)]
pub(crate) struct Expiry {
    default_ttl: Option<i32>,
    now: u32,
    deleted_keys: Option<Arc<DeletedKeys>>,
}

impl Expiry {
    /// Judges by a container's default and a second since 1970 UTC.
    pub(crate) fn new(default_ttl: Option<i32>, now: u32, deleted_keys: Option<Arc<DeletedKeys>>) -> Expiry {
        Expiry { default_ttl, now, deleted_keys }
    }

    /// Returns whether an item is there for no reader.
    pub(crate) fn hides(&self, key: &[u8], item: &Item) -> bool {
        self.is_over(item) || self.deleted_keys.as_ref().is_some_and(|keys| keys.hide(key, item))
    }

    /// Returns whether an item has expired.
    pub(crate) fn is_over(&self, item: &Item) -> bool {
        item.is_expired(self.default_ttl, self.now)
    }

    /// Returns whether items of some logical partitions are gone and may still be stored.
    pub(crate) fn has_deleted_keys(&self) -> bool {
        self.deleted_keys.is_some()
    }

    /// Returns whether anything can expire.
    pub(crate) fn is_on(&self) -> bool {
        self.default_ttl.is_some()
    }

    /// Returns the moment, in seconds since 1970 UTC.
    pub(crate) fn now(&self) -> u32 {
        self.now
    }

    /// Returns the first time stamp with which an item that has no time to live of its own still lives; nothing where all
    /// of them do.
    pub(crate) fn first_live_ts(&self) -> Option<u32> {
        let default_ttl = self.default_ttl.filter(|seconds| *seconds > 0)?;
        self.now.checked_sub(default_ttl.unsigned_abs())
    }
}
