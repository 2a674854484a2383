//! Verifying the index of a partition against its items: every entry that an item should have is there, no other is,
//! and what is counted is right.
//!
//! Every expected entry is looked up, and the index is walked once; as many entries as were found means that none is
//! left over.

use armilla_index::{IndexId, Part, split_entry};
use armilla_kv::Family;
use bytes::Bytes;

use super::{Check, shown};
use crate::apply::decode_count;
use crate::error::Result;
use crate::index::entries::EntryList;
use crate::index::layout::Crowded;
use crate::item::Item;
use crate::item::keys;

/// Entries that are looked up at once.
const LOOK_UP_ENTRIES: usize = 1_000;

impl Check<'_> {
    /// Looks up the entries of an item, and returns how long the keys of those are together that it should have.
    pub(super) fn item_entries(&mut self, item: &Item, name: &str) -> Result<u64> {
        let header = *item.header();
        let layout = self.index.state.layout_of(header.number).clone();
        let root = item.stored().root();
        let part = |part| EntryList::of(&layout, part, root, header.ts, &[]);
        let (content, stamp) = (part(Part::Content), part(Part::Stamp));
        let mut computed = EntryList::default();
        if let Some(record) = self.snapshot.get(Family::Meta, &keys::computed(header.number))? {
            self.index.computed += 1;
            match EntryList::decode(&record) {
                Ok(stored) => computed = stored,
                Err(error) => self.problem(format!("{name}: {error}")),
            }
        }
        if *layout == *self.compiled.layout && self.compiled.evaluates() {
            let values = self.compiled.computed(root);
            let expected = EntryList::of(&layout, Part::Computed, root, header.ts, &values);
            if !expected.iter().eq(computed.iter()) || expected.crowded != computed.crowded {
                self.problem(format!(
                    "{name}: its computed entries are not those of its computed properties"
                ));
            }
        }
        let all = EntryList::merged([content, stamp, computed]);
        all.crowded.iter().for_each(|index| self.index.crowded.add(*index));
        let key_bytes = all.key_bytes();
        let keys: Vec<Bytes> = all.into_keys(header.number).collect();
        for keys in keys.chunks(LOOK_UP_ENTRIES) {
            let found = self.snapshot.multi_get(Family::Index, keys)?;
            for (key, value) in keys.iter().zip(found) {
                match value {
                    Some(value) if value.is_empty() => self.index.found += 1,
                    Some(_) => {
                        self.index.found += 1;
                        self.problem(format!("{name}: the entry {} has a value", shown(key)));
                    }
                    None => self.problem(format!("{name}: the entry {} is missing", shown(key))),
                }
            }
        }
        Ok(key_bytes)
    }

    /// Walks the index, and compares what there is with what is counted.
    pub(super) fn entries(&mut self) -> Result<()> {
        let mut current: Option<(IndexId, u64)> = None;
        let mut total = 0;
        self.scan(Family::Index, |check, key, _| {
            total += 1;
            let Some((index, _, _)) = split_entry(key) else {
                check.problem(format!("the index has a key of {} bytes", key.len()));
                return Ok(());
            };
            match &mut current {
                Some((same, count)) if *same == index => *count += 1,
                _ => {
                    let ended = current.replace((index, 1));
                    check.end_index(ended)?;
                }
            }
            Ok(())
        })?;
        self.end_index(current)?;
        self.summary.entries = total;
        let found = self.index.found;
        if total != found {
            self.problem(format!("the index has {total} entries, {found} of them are those of items"));
        }
        let stored = &self.index.state.crowded;
        // Beyond their bound, crowded indexes are no longer known by name.
        if **stored != self.index.crowded && !stored.contains(Crowded::EVERY) {
            self.problem("the list of crowded indexes is not that of the items".to_owned());
        }
        Ok(())
    }

    fn end_index(&mut self, ended: Option<(IndexId, u64)>) -> Result<()> {
        let Some((index, count)) = ended else { return Ok(()) };
        self.index.indexes += 1;
        let record = self.snapshot.get(Family::Meta, &keys::index_count(index))?;
        let stored = record.map(|bytes| decode_count(&bytes)).transpose();
        match stored {
            Ok(Some(stored)) if stored == count => {}
            Ok(stored) => self
                .problem(format!("index {:016x} has {count} entries, its record says {stored:?}", index.0)),
            Err(error) => self.problem(format!("index {:016x}: {error}", index.0)),
        }
        let name = self.snapshot.get(Family::Meta, &keys::index_name(index))?;
        if name.is_none_or(|name| name.is_empty()) {
            self.problem(format!("index {:016x} has no name", index.0));
        }
        Ok(())
    }
}
