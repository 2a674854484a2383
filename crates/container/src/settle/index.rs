//! What a group does to the index: the entries that come and go, and everything that is counted about them.
//!
//! The entries of the version that a write replaces are computed again from that version, under the layout that
//! holds for the item, and only the difference is written. Those of computed properties are the exception: they are
//! read from a record beside the item, because nobody promises that an expression gives the same for ever.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

use armilla_index::{Computed, IndexId, Part, visit_paths};
use armilla_kv::{Batch, Family};
use armilla_value::Node;
use bytes::Bytes;

use super::Group;
use crate::container::Plan;
use crate::counters;
use crate::entries::{EntryChange, EntryList};
use crate::error::{Error, Result};
use crate::index_state::IndexState;
use crate::item::Item;
use crate::keys;
use crate::layout::{Layout, Layouts, path_text};
use crate::limits::{GROUP_ENTRIES_MAX, GROUP_ENTRY_BYTES_MAX};

const COUNT_VERSION: u8 = 1;

/// Index ids are hashes already.
#[derive(Default)]
pub(super) struct IdHasher(u64);

impl Hasher for IdHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u64(&mut self, id: u64) {
        self.0 = id;
    }
}

pub(super) type ById<T> = HashMap<u64, T, BuildHasherDefault<IdHasher>>;

/// The number of entries of an index.
pub(super) struct Count {
    before: u64,
    pub(super) now: u64,
    /// What to call the index, if it had no entry before.
    pub(super) name: Option<String>,
}

/// What a group does to the index.
pub(crate) struct IndexEffects {
    pub(super) state: IndexState,
    pub(super) layouts_changed: bool,
    pub(super) progress_changed: bool,
    crowded_changed: bool,
    pub(super) counts: ById<Count>,
    /// Keys in the order of the writes, and whether each comes or goes.
    keys: Vec<(Bytes, bool)>,
    key_bytes: usize,
    /// Whether some key may be among them twice.
    repeats: bool,
    /// Keys that a draft only counts.
    drafted_keys: usize,
}

/// Where a transaction began.
pub(super) struct IndexMark {
    state: IndexState,
    layouts_changed: bool,
    progress_changed: bool,
    crowded_changed: bool,
    keys: usize,
    key_bytes: usize,
    repeats: bool,
    drafted_keys: usize,
}

impl IndexEffects {
    pub(super) fn new(state: IndexState) -> IndexEffects {
        IndexEffects {
            layouts_changed: !state.is_stored,
            progress_changed: false,
            crowded_changed: false,
            state,
            counts: ById::default(),
            keys: Vec::new(),
            key_bytes: 0,
            repeats: false,
            drafted_keys: 0,
        }
    }

    pub(super) fn mark(&self) -> IndexMark {
        IndexMark {
            state: self.state.clone(),
            layouts_changed: self.layouts_changed,
            progress_changed: self.progress_changed,
            crowded_changed: self.crowded_changed,
            keys: self.keys.len(),
            key_bytes: self.key_bytes,
            repeats: self.repeats,
            drafted_keys: self.drafted_keys,
        }
    }

    /// Returns how many keys came or went since the mark, and their bytes.
    pub(super) fn since(&self, mark: &IndexMark) -> (usize, usize) {
        let keys = self.keys.len() - mark.keys + self.drafted_keys - mark.drafted_keys;
        (keys, self.key_bytes - mark.key_bytes)
    }

    /// Returns how many keys come or go, and their bytes.
    pub(super) fn all(&self) -> (usize, usize) {
        (self.keys.len() + self.drafted_keys, self.key_bytes)
    }

    /// Goes back to the mark; `counts` are the numbers of entries that changed since, as they were, and whether each
    /// index had a name.
    pub(super) fn roll_back(&mut self, mark: IndexMark, counts: ById<(u64, bool)>) {
        self.state = mark.state;
        self.layouts_changed = mark.layouts_changed;
        self.progress_changed = mark.progress_changed;
        self.crowded_changed = mark.crowded_changed;
        self.keys.truncate(mark.keys);
        self.key_bytes = mark.key_bytes;
        self.repeats = mark.repeats;
        self.drafted_keys = mark.drafted_keys;
        for (id, (now, had_name)) in counts {
            if let Some(count) = self.counts.get_mut(&id) {
                count.now = now;
                if !had_name {
                    count.name = None;
                }
            }
        }
    }

    /// Returns whether the group should take no further write.
    pub(super) fn is_full(&self) -> bool {
        self.keys.len() >= GROUP_ENTRIES_MAX || self.key_bytes >= GROUP_ENTRY_BYTES_MAX
    }

    /// Returns whether the state differs from what it was.
    pub(super) fn is_state_changed(&self) -> bool {
        self.layouts_changed || self.progress_changed || self.crowded_changed
    }

    /// Moves what is to be written into a batch.
    pub(super) fn write(&mut self, batch: &mut Batch) {
        if self.repeats {
            // The last word on each key; sorting keeps the order of equal ones.
            self.keys.sort_by(|left, right| left.0.cmp(&right.0));
            self.keys.reverse();
            self.keys.dedup_by(|later, earlier| later.0 == earlier.0);
        }
        for (key, comes) in std::mem::take(&mut self.keys) {
            if comes {
                batch.put(Family::Index, key, Bytes::new());
            } else {
                batch.delete(Family::Index, key);
            }
        }
        self.write_counts(batch);
        if self.layouts_changed {
            batch.put(Family::Meta, Bytes::from_static(keys::INDEX_LAYOUTS), self.state.layouts.encode());
            self.state.is_stored = true;
        }
        if self.progress_changed {
            let key = Bytes::from_static(keys::INDEX_PROGRESS);
            match &self.state.progress {
                Some(progress) => batch.put(Family::Meta, key, progress.encode()),
                None => batch.delete(Family::Meta, key),
            }
        }
        if self.crowded_changed {
            let key = Bytes::from_static(keys::INDEX_CROWDED);
            if self.state.crowded.is_empty() {
                batch.delete(Family::Meta, key);
            } else {
                batch.put(Family::Meta, key, self.state.crowded.encode());
            }
        }
    }

    fn write_counts(&self, batch: &mut Batch) {
        // Keys and values are small and many: one buffer holds them all.
        const RECORD_BYTES: usize = 18;
        let changed = || self.counts.iter().filter(|(_, count)| count.now != count.before);
        let mut buffer = Vec::with_capacity(changed().count() * RECORD_BYTES);
        for (id, count) in changed() {
            buffer.extend_from_slice(&keys::index_count(IndexId(*id)));
            buffer.push(COUNT_VERSION);
            buffer.extend_from_slice(&count.now.to_be_bytes());
        }
        let buffer = Bytes::from(buffer);
        for (position, (id, count)) in changed().enumerate() {
            let record = buffer.slice(position * RECORD_BYTES..(position + 1) * RECORD_BYTES);
            let key = record.slice(..RECORD_BYTES / 2);
            if count.now > 0 {
                batch.put(Family::Meta, key, record.slice(RECORD_BYTES / 2..));
            } else {
                batch.delete(Family::Meta, key);
            }
            let name_key = || Bytes::copy_from_slice(&keys::index_name(IndexId(*id)));
            if count.before == 0 {
                let name = count.name.clone().unwrap_or_default();
                batch.put(Family::Meta, name_key(), name.into_bytes());
            } else if count.now == 0 {
                batch.delete(Family::Meta, name_key());
            }
        }
    }
}

/// Reads the record of an index's number of entries.
pub(crate) fn decode_count(bytes: &[u8]) -> Result<u64> {
    let [count] = counters::decode(bytes, COUNT_VERSION)
        .ok_or_else(|| Error::corrupt("the number of entries of an index is damaged"))?;
    Ok(count)
}

/// The version of an item that a write leaves behind.
pub(super) struct NewVersion<'a> {
    pub(super) root: Node<'a>,
    pub(super) ts: u32,
    pub(super) computed: &'a Computed,
    /// The entries of its content, and under which layout.
    pub(super) content: Option<(EntryList, &'a Layout)>,
}

/// What a write will do to the index, with everything read that it takes.
pub(super) struct IndexChange {
    change: EntryChange,
    number: u64,
    /// The record of computed entries, where it changes.
    computed: Option<Option<Bytes>>,
}

impl IndexChange {
    /// Returns the indexes whose entries change.
    pub(super) fn indexes(&self) -> Vec<IndexId> {
        self.change.counts.iter().map(|(id, _)| *id).collect()
    }

    /// Returns by how many bytes the keys of the item's entries become more.
    pub(super) fn growth(&self) -> i64 {
        self.change.growth()
    }
}

impl Group<'_> {
    /// Works out what a write of the item with this number does to the index.
    pub(super) fn index_change(
        &mut self,
        number: u64,
        old: Option<&Item>,
        new: Option<NewVersion<'_>>,
    ) -> Result<IndexChange> {
        let layout = self.effects.index.state.layout_of(number).clone();
        let entries = match new {
            Some(new) if layout.matcher.has_entries() => {
                let part = |part| EntryList::of(&layout, part, new.root, new.ts, new.computed);
                let (stamp, computed) = (part(Part::Stamp), part(Part::Computed));
                let content = match new.content {
                    Some((content, prepared)) if *prepared == *layout => content,
                    _ => part(Part::Content),
                };
                [content, stamp, computed]
            }
            _ => Default::default(),
        };
        self.entry_change(&layout, number, old, entries)
    }

    /// The same where the entries of the new version are known, part by part.
    pub(super) fn entry_change(
        &mut self,
        layout: &Layout,
        number: u64,
        old: Option<&Item>,
        [content, stamp, computed]: [EntryList; 3],
    ) -> Result<IndexChange> {
        let mut change = EntryChange::default();
        let mut computed_record = None;
        if layout.matcher.has_entries() {
            let [old_content, old_stamp, old_computed] = match old {
                Some(old) => self.stored_entries(layout, old)?,
                None => Default::default(),
            };
            let had_record = !old_computed.is_empty();
            if layout.has_computed && (had_record || !computed.is_empty()) {
                computed_record = Some((!computed.is_empty()).then(|| computed.encode()));
            }
            change.add(old_content, content, number);
            change.add(old_stamp, stamp, number);
            change.add(old_computed, computed, number);
        }
        if !self.is_draft() {
            self.load_counts(&change)?;
        }
        Ok(IndexChange { change, number, computed: computed_record })
    }

    /// Gives indexes that a change has brought into being the names that they have elsewhere, where neither the layout
    /// nor an item says them.
    pub(super) fn name_as_elsewhere(
        &mut self,
        changed: &[IndexId],
        name_of: impl Fn(IndexId) -> Result<Option<String>>,
    ) -> Result<()> {
        for id in changed {
            if let Some(count) = self.effects.index.counts.get_mut(&id.0)
                && count.before == 0
                && count.now > 0
                && count.name.is_none()
            {
                count.name = name_of(*id)?;
            }
        }
        Ok(())
    }

    /// Works out what it takes to bring an item from one layout to another.
    pub(super) fn layout_change(
        &mut self,
        item: &Item,
        from: &Layout,
        to: &Layout,
        computed: &Computed,
    ) -> Result<IndexChange> {
        let number = item.header().number;
        let old = self.stored_entries(from, item)?;
        let had_record = !old[2].is_empty();
        let root = item.stored().root();
        let part = |part| EntryList::of(to, part, root, item.header().ts, computed);
        let new = [part(Part::Content), part(Part::Stamp), part(Part::Computed)];
        let computed =
            (had_record || !new[2].is_empty()).then(|| (!new[2].is_empty()).then(|| new[2].encode()));
        let mut change = EntryChange::default();
        change.add(EntryList::merged(old), EntryList::merged(new), number);
        self.load_counts(&change)?;
        Ok(IndexChange { change, number, computed })
    }

    /// Returns the entries that an item has, part by part.
    fn stored_entries(&self, layout: &Layout, item: &Item) -> Result<[EntryList; 3]> {
        let (root, ts) = (item.stored().root(), item.header().ts);
        let computed = if layout.has_computed {
            let record = self.look_up(Family::Meta, &keys::computed(item.header().number))?;
            record.map(|bytes| EntryList::decode(&bytes)).transpose()?.unwrap_or_default()
        } else {
            EntryList::default()
        };
        let part = |part| EntryList::of(layout, part, root, ts, &[]);
        Ok([part(Part::Content), part(Part::Stamp), computed])
    }

    /// Makes sure that the numbers of entries that will change are known, and stay sane.
    fn load_counts(&mut self, change: &EntryChange) -> Result<()> {
        let mut unknown = Vec::new();
        for (id, _) in &change.counts {
            if self.effects.index.counts.contains_key(&id.0) {
                continue;
            }
            match self.settled.counts.get(&id.0) {
                Some((known, _)) => self.know_count(*id, *known),
                None => unknown.push(*id),
            }
        }
        if !unknown.is_empty() {
            let records: Vec<Bytes> =
                unknown.iter().map(|id| Bytes::copy_from_slice(&keys::index_count(*id))).collect();
            for (id, record) in unknown.into_iter().zip(self.base.multi_get(Family::Meta, &records)?) {
                let count = record.map_or(Ok(0), |bytes| decode_count(&bytes))?;
                self.know_count(id, count);
            }
        }
        for (id, by) in &change.counts {
            let count = &self.effects.index.counts[&id.0];
            if count.now.checked_add_signed(*by).is_none() {
                return Err(Error::corrupt(format!(
                    "index {:016x} is said to have {} entries, {} of them go",
                    id.0, count.now, -by
                )));
            }
        }
        Ok(())
    }

    fn know_count(&mut self, id: IndexId, count: u64) {
        self.effects.index.counts.insert(id.0, Count { before: count, now: count, name: None });
    }

    /// Does what was worked out. `root` and `computed` are those of the version that stays, where one does.
    pub(super) fn change_index(
        &mut self,
        planned: IndexChange,
        layout: &Layout,
        version: Option<(Node<'_>, &Computed)>,
    ) {
        let IndexChange { change, number, computed } = planned;
        if let Some(record) = computed {
            self.record(Family::Meta, keys::computed(number), record);
        }
        for (id, _) in &change.counts {
            if self.is_draft() {
                self.know_count(*id, 0);
            }
            self.effects.note_count(id.0);
        }
        let is_draft = self.is_draft();
        let index = &mut self.effects.index;
        index.key_bytes += change.key_bytes();
        if is_draft {
            index.drafted_keys += change.keys.len();
            return;
        }
        let mut unnamed = Vec::new();
        for (id, by) in &change.counts {
            let count = index.counts.get_mut(&id.0).expect("it was loaded before");
            count.now = count.now.checked_add_signed(*by).expect("it was checked before");
            if count.before == 0 && count.now > 0 && count.name.is_none() {
                unnamed.push(*id);
            }
        }
        if !change.crowded_added.is_empty() || !change.crowded_removed.is_empty() {
            let crowded = Arc::make_mut(&mut index.state.crowded);
            change.crowded_removed.iter().for_each(|id| crowded.remove(*id));
            change.crowded_added.iter().for_each(|id| crowded.add(*id));
            index.crowded_changed = true;
        }
        index.keys.extend(change.keys);
        if !unnamed.is_empty() {
            self.name_indexes(unnamed, layout, version);
        }
    }

    /// Takes note of computed entries that were made by other queries than those of the layout they belong to: the
    /// layout that was built before, or the one that is wanted.
    pub(super) fn note_computed(&mut self, plan: &Plan, built: bool) {
        let state = &mut self.effects.index.state;
        let layout = if built { state.layouts.built.as_ref() } else { Some(&state.layouts.target) };
        let Some(layout) = layout.filter(|layout| layout.has_computed) else { return };
        if Arc::ptr_eq(layout, &plan.layout) && plan.evaluates() {
            return;
        }
        let Some(mixed) = layout.mixed(plan.evaluates().then_some(&plan.layout)) else { return };
        let mut layouts = Layouts::clone(&state.layouts);
        if built {
            layouts.built = Some(Arc::new(mixed));
        } else {
            layouts.target = Arc::new(mixed);
        }
        state.layouts = Arc::new(layouts);
        self.effects.index.layouts_changed = true;
    }

    /// Remembers that an item is written that this group has written before.
    pub(super) fn index_repeats(&mut self) {
        self.effects.index.repeats = true;
    }

    fn name_indexes(
        &mut self,
        unnamed: Vec<IndexId>,
        layout: &Layout,
        version: Option<(Node<'_>, &Computed)>,
    ) {
        let counts = &mut self.effects.index.counts;
        let mut set = |id: IndexId, name: String| {
            if let Some(count) = counts.get_mut(&id.0) {
                count.name = Some(name);
            }
        };
        let mut left = Vec::new();
        for id in unnamed {
            match layout.name(id) {
                Some(name) => set(id, name.to_owned()),
                None => left.push(id),
            }
        }
        let (Some((root, computed)), false) = (version, left.is_empty()) else { return };
        left.sort_unstable();
        let mut named = vec![false; left.len()];
        visit_paths(&layout.matcher, root, computed, |path| {
            if let Ok(at) = left.binary_search(&IndexId(path.fingerprint()))
                && !std::mem::replace(&mut named[at], true)
            {
                set(left[at], path_text(&path.segments()));
            }
        });
    }
}
