//! What a write does to the index: which entries come and go.
//!
//! The entries of the version that a write replaces are computed again from that version, under the layout that
//! holds for the item, and only the difference is written. Those of computed properties are the exception: they are
//! read from a record beside the item, because nothing promises that an expression gives the same for ever.

use std::sync::Arc;

use armilla_index::{Computed, IndexId, Part, visit_paths};
use armilla_kv::Family;
use armilla_value::Node;
use bytes::Bytes;

use super::Group;
use super::index_effects::{Count, decode_count};
use crate::compiled_definition::CompiledDefinition;
use crate::error::{Error, Result};
use crate::index::entries::{EntryChange, EntryList};
use crate::index::layout::{Layout, Layouts, path_text};
use crate::item::Item;
use crate::item::keys;

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
            match self.applied.counts.get(&id.0) {
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
    pub(super) fn note_computed(&mut self, compiled: &CompiledDefinition, built: bool) {
        let state = &mut self.effects.index.state;
        let layout = if built { state.layouts.built.as_ref() } else { Some(&state.layouts.target) };
        let Some(layout) = layout.filter(|layout| layout.has_computed) else { return };
        if Arc::ptr_eq(layout, &compiled.layout) && compiled.evaluates() {
            return;
        }
        let Some(mixed) = layout.mixed(compiled.evaluates().then_some(&compiled.layout)) else { return };
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
