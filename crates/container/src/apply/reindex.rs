//! One step of bringing a partition's items to another layout of the index.
//!
//! A step is a task of the committer like a write: it sees what is applied so far, and its effects are in the same
//! batch as everything of its group. So an item never has entries of two layouts, and every snapshot agrees with the
//! layouts and the progress that are stored in it.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use armilla_kv::{Family, Scan};
use armilla_value::Node;
use bytes::Bytes;

use super::Group;
use crate::compiled_definition::CompiledDefinition;
use crate::error::{Error, Result};
use crate::index::layout::{Layout, Layouts, Progress};
use crate::item::keys::{self, LogicalKey};
use crate::item::number::SEQUENCE_BITS;
use crate::limits::REINDEX_STEP_ITEMS;
use crate::partition::counters::SizeChange;

impl Group<'_> {
    /// Goes one step towards the layout that the compiled definition wants.
    pub(super) fn reindex(&mut self, compiled: &CompiledDefinition) -> Result<()> {
        let state = self.effects.index.state.clone();
        if !compiled.needs_reindex(&state) {
            return Ok(());
        }
        let (Some(built), Some(progress)) = (&state.layouts.built, state.progress) else {
            self.begin_reindex(compiled);
            return Ok(());
        };
        let (items, covered) = self.next_items(&progress)?;
        // A key may come twice: by this step, and by a write of the same group.
        self.index_repeats();
        let mut done = Progress { after: covered, ..progress };
        let mut is_changed = false;
        for (number, key) in items {
            match self.reindex_item(compiled, built, number, &key) {
                Ok(()) => {}
                Err(error) if !is_changed => return Err(error),
                // What was done so far is whole: it stays, and the step ends here.
                Err(_) => {
                    done.after = number - 1;
                    break;
                }
            }
            is_changed = true;
            done.done += 1;
            if self.is_full() {
                done.after = number;
                break;
            }
        }
        self.effects.written = true;
        let index = &mut self.effects.index;
        index.progress_changed = true;
        if done.after >= done.end {
            index.layouts_changed = true;
            let target = index.state.layouts.target.clone();
            index.state.layouts = Arc::new(Layouts::of(target));
            index.state.progress = None;
        } else {
            index.state.progress = Some(done);
        }
        Ok(())
    }

    fn reindex_item(
        &mut self,
        compiled: &CompiledDefinition,
        built: &Layout,
        number: u64,
        key: &Bytes,
    ) -> Result<()> {
        // The newest version, which may have come or gone after the numbers were read.
        let Some(item) = self.item(key)?.filter(|item| item.header().number == number) else { return Ok(()) };
        let target = self.effects.index.state.layouts.target.clone();
        let root = item.stored().root();
        let computed = if target.has_computed { compiled.computed(root) } else { Vec::new() };
        let change = self.layout_change(&item, built, &target, &computed)?;
        let resized = match change.growth() {
            0 => None,
            growth => Some(self.resized(size_key(key, root)?, SizeChange::of_index(growth))?),
        };

        // From here on nothing fails.
        self.change_index(change, &target, Some((root, &computed)));
        self.note_computed(compiled, false);
        if let Some(resized) = resized {
            self.resize(resized, None);
        }
        Ok(())
    }

    fn begin_reindex(&mut self, compiled: &CompiledDefinition) {
        let counters = &self.effects.counters;
        let end = u64::from(self.partition.range_id) << SEQUENCE_BITS | counters.sequence;
        let progress = Progress { after: 0, end, done: 0, total: counters.items };
        self.effects.written = true;
        let index = &mut self.effects.index;
        index.layouts_changed = true;
        if progress.total == 0 {
            index.state.layouts = Arc::new(Layouts::of(compiled.layout.clone()));
            return;
        }
        let built = Some(index.state.layouts.target.clone());
        index.state.layouts = Arc::new(Layouts { target: compiled.layout.clone(), built });
        index.state.progress = Some(progress);
        index.progress_changed = true;
    }

    /// Returns the next items by number, and up to which number they are all.
    fn next_items(&self, progress: &Progress) -> Result<(BTreeMap<u64, Bytes>, u64)> {
        let mut scan = Scan::prefix(Family::Number, b"");
        scan.lower = Bound::Excluded(keys::number(progress.after));
        scan.upper = Bound::Included(keys::number(progress.end));
        scan.entries_max = REINDEX_STEP_ITEMS;
        let page = self.base.snapshot()?.scan(&scan)?;
        let mut items = BTreeMap::new();
        for (number, key) in page.entries {
            items.insert(keys::decode_number(&number)?, key);
        }
        let covered = match items.last_key_value() {
            Some((last, _)) if page.more => *last,
            _ => progress.end,
        };
        // The store does not show yet what is on its way to it.
        let on_their_way = self.applied.items.iter().map(|(key, (_, item))| (key, item));
        for (key, item) in on_their_way.chain(&self.effects.items) {
            if let Some(number) = item.as_ref().map(|item| item.header().number)
                && progress.after < number
                && number <= covered
            {
                items.insert(number, key.clone());
            }
        }
        Ok((items, covered))
    }
}

/// Returns the key of the size of an item's logical partition.
fn size_key(item_key: &Bytes, root: Node<'_>) -> Result<Bytes> {
    let id = root.get("id");
    let logical = id.and_then(|id| id.as_str()).and_then(|id| LogicalKey::of_item(item_key, &id));
    logical
        .map(|logical| keys::size(&logical))
        .ok_or_else(|| Error::corrupt("an item's id is not the one in its key"))
}
