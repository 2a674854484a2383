//! Writes a run into the tree.

use std::sync::atomic::Ordering;

use armilla_kv::Result;
use fjall::AbstractTree;
use lsm_tree::{InternalValue, ValueType};

use super::merge::{Kept, Merge, Met};
use super::{INDEX, SealedRun};
use crate::engine::Engine;
use crate::failure;

impl SealedRun {
    /// Writes the run as sorted files of the tree.
    pub(crate) fn land(&self, engine: &Engine) -> Result<()> {
        let tree = &engine.keyspaces[INDEX].tree;
        let of_tree = |error: lsm_tree::Error| failure::of_background(&error.into());
        let lock = tree.get_flush_lock();
        let oldest_needed = engine.oldest_needed();
        // What an older program has put into the memtable is older than the run.
        if !tree.active_memtable().is_empty() {
            tree.rotate_memtable();
        }
        tree.flush(&lock, oldest_needed).map_err(of_tree)?;
        let mut merge = Merge::of_chunks(self.newest_first(), Kept::Everything);
        let entries = std::iter::from_fn(|| match merge.next_met()? {
            Ok(Met::InRun(chunk, at)) => {
                let (key, value) = chunk.shared_entry(at);
                let kind = if value.is_some() { ValueType::Value } else { ValueType::Tombstone };
                let value = value.unwrap_or_default();
                Some(Ok(InternalValue::from_components(key, value, self.sequence, kind)))
            }
            Ok(Met::InTree(..)) | Err(_) => None,
        });
        if let Some((tables, files)) = tree.flush_to_tables(entries).map_err(of_tree)? {
            tree.register_tables(&tables, files.as_deref(), None, &[], oldest_needed).map_err(of_tree)?;
        }
        self.has_landed.store(true, Ordering::Release);
        Ok(())
    }
}
