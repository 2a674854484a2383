//! Finding the items that have a value at a path, without a plan: by the index alone.

use armilla_index::paths::PathSegment;
use armilla_index::{IndexId, KeyRange, term};
use armilla_value::Value;
use bytes::Bytes;

use super::reader::PartitionReader;
use crate::error::Result;
use crate::item::Item;
use crate::partition::lookups::{Kept, Made};

/// The values of a path that are looked up.
#[derive(Debug, Clone, Copy)]
pub struct LookupPath {
    index: IndexId,
    /// Whether what is found is kept for those who ask again.
    is_kept: bool,
}

impl LookupPath {
    /// Names a path by its segments. What is found of it is kept in memory if `is_kept`.
    pub fn new(path: &[PathSegment], is_kept: bool) -> LookupPath {
        LookupPath { index: IndexId::of_path(path), is_kept }
    }

    /// Returns what the entries of a value begin with.
    fn prefix(self, value: &Value) -> Vec<u8> {
        let mut prefix = Vec::with_capacity(64);
        prefix.extend_from_slice(&self.index.0.to_be_bytes());
        term::push_value(value, &mut prefix);
        prefix
    }
}

impl PartitionReader {
    /// Shows every item that has a value at a path, whose index must be usable. Returns false, and shows nothing, where the
    /// value has more than `entries_max` entries in the physical partition.
    pub fn look_up(
        &self,
        path: LookupPath,
        value: &Value,
        entries_max: usize,
        mut show: impl FnMut(Item),
    ) -> Result<bool> {
        // What another process's partition has is not kept: nothing would tell when it changes.
        let path = LookupPath { is_kept: path.is_kept && self.partition.far.is_none(), ..path };
        let prefix = path.prefix(value);
        let (lookups, lsn) = (&self.partition.lookups, self.counters.lsn);
        if path.is_kept
            && let Some(Kept::Items(found)) = lookups.find(&prefix, lsn)
        {
            for (key, item) in found.items() {
                if self.covers(key)? && !self.expiry.hides(key, &item) {
                    show(item);
                }
            }
            return Ok(true);
        }
        let mut numbers = Vec::new();
        if self
            .entry_numbers(&KeyRange::prefix(&prefix), entries_max.saturating_add(1), &mut numbers)?
            .is_some()
        {
            return Ok(false);
        }
        let loaded =
            self.load_keyed(&numbers, |key| if path.is_kept { Ok(true) } else { self.covers(key) })?;
        let found: Vec<(Bytes, Item)> = loaded.into_iter().flatten().collect();
        if path.is_kept {
            lookups.keep(&prefix, lsn, &found, || self.partition.settled_lsn());
        }
        for (key, item) in found {
            if self.covers(&key)? && !self.expiry.hides(&key, &item) {
                show(item);
            }
        }
        Ok(true)
    }

    /// Returns what is made of the items that have a value at a path, whose index must be usable; nothing where the value has
    /// more than `entries_max` entries in the physical partition. `make` returns it with the bytes that it takes, and is
    /// asked again only where some of the items have changed: all who ask for values of the path make the same.
    pub fn look_up_made(
        &self,
        path: LookupPath,
        value: &Value,
        entries_max: usize,
        make: &dyn Fn(&[Item]) -> (Made, usize),
    ) -> Result<Option<Made>> {
        let is_shared = path.is_kept && self.partition.far.is_none() && self.sees_all();
        if !is_shared {
            let mut items = Vec::new();
            let is_whole = self.look_up(path, value, entries_max, |item| items.push(item))?;
            return Ok(is_whole.then(|| make(&items).0));
        }
        let prefix = path.prefix(value);
        let (lookups, lsn) = (&self.partition.lookups, self.counters.lsn);
        match lookups.find(&prefix, lsn) {
            Some(Kept::Made(made)) => return Ok(Some(made)),
            Some(Kept::Items(found)) => {
                let items: Vec<Item> = found.items().map(|(_, item)| item).collect();
                return Ok(Some(make(&items).0));
            }
            None => {}
        }
        let mut numbers = Vec::new();
        let range = KeyRange::prefix(&prefix);
        if self.entry_numbers(&range, entries_max.saturating_add(1), &mut numbers)?.is_some() {
            return Ok(None);
        }
        let found: Vec<(Bytes, Item)> =
            self.load_keyed(&numbers, |_| Ok(true))?.into_iter().flatten().collect();
        let items: Vec<Item> = found.iter().map(|(_, item)| item.clone()).collect();
        let (made, bytes) = make(&items);
        lookups.keep_made(&prefix, lsn, &found, (&made, bytes), || self.partition.settled_lsn());
        Ok(Some(made))
    }
}
