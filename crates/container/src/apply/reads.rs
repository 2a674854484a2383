//! What a transaction read of the state that it began with, for its commit to compare.

use std::collections::HashMap;

use bytes::Bytes;

use crate::item::Item;
use crate::limits::TRANSACTION_READS_MAX;

/// What names a version of an item: its commit, and which operation of it.
pub(crate) type Version = (u64, u16);

/// What a transaction read of the state that it began with.
#[derive(Debug)]
pub(crate) struct Reads {
    /// The newest commit of that state.
    lsn: u64,
    /// Whether it may have seen anything of its logical partition.
    is_whole: bool,
    /// The items that it asked for, each with the version that was there.
    items: HashMap<Bytes, Option<Version>>,
}

impl Reads {
    pub(super) fn new(lsn: u64) -> Reads {
        Reads { lsn, is_whole: false, items: HashMap::new() }
    }

    /// Returns what another process says that its transaction read.
    pub(crate) fn of_parts(lsn: u64, is_whole: bool, items: HashMap<Bytes, Option<Version>>) -> Reads {
        Reads { lsn, is_whole, items }
    }

    pub(super) fn note(&mut self, key: &Bytes, item: Option<&Item>) {
        if self.is_whole || self.items.contains_key(key) {
            return;
        }
        if self.items.len() == TRANSACTION_READS_MAX {
            self.see_whole();
            return;
        }
        self.items.insert(key.clone(), item.map(|item| item.header().version()));
    }

    pub(super) fn see_whole(&mut self) {
        self.is_whole = true;
        self.items = HashMap::new();
    }

    pub(crate) fn lsn(&self) -> u64 {
        self.lsn
    }

    pub(crate) fn is_whole(&self) -> bool {
        self.is_whole
    }

    pub(crate) fn items(&self) -> impl Iterator<Item = (&Bytes, Option<Version>)> {
        self.items.iter().map(|(key, version)| (key, *version))
    }

    /// Returns about how much memory it holds.
    pub(crate) fn bytes(&self) -> usize {
        const FIXED: usize = 64;
        self.items.keys().map(|key| FIXED + key.len()).sum()
    }
}
