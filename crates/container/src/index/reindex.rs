//! Bringing a container's index to what its definition asks for, in the background and in small steps.
//!
//! Nothing here runs by itself: the owner of the container calls [`Container::reindex_step`] as long as there is
//! something to do. Between steps everything is whole: each step is one task of a partition's committer, so it can
//! be the last one before a restart, and the next process goes on from there.

use std::sync::Arc;
use std::time::Duration;

use crate::container::Container;
use crate::error::{ErrorKind, Result};
use crate::limits::PROGRESS_PATIENCE;
use crate::partition::Partition;

impl Container {
    /// Returns whether a partition that was opened has an index other than the definition asks for.
    pub fn needs_reindex(&self) -> bool {
        self.partition_to_reindex().is_some()
    }

    /// Waits until [`Container::needs_reindex`].
    pub async fn reindex_wanted(&self) {
        loop {
            let told = self.core.reindex_wanted.notified();
            if self.needs_reindex() {
                return;
            }
            told.await;
        }
    }

    /// Does one bounded piece of re-indexing, if there is something to do. Returns whether there is more.
    pub async fn reindex_step(&self) -> Result<bool> {
        let Some(partition) = self.partition_to_reindex() else { return Ok(false) };
        match partition.reindex(self.compiled()).await {
            // Others have taken its place, and have the same to do.
            Err(error) if error.kind == ErrorKind::Conflict => {}
            done => done?,
        }
        Ok(self.needs_reindex())
    }

    /// Returns how far the index is, in percent: 100 if it is as the definition asks for. A partition that another process
    /// has which does not answer counts as not done: it is hardly waited for, and no caller is to think that it is.
    pub fn index_progress(&self) -> Result<u8> {
        let compiled = self.compiled();
        let (mut done, mut total, mut is_complete) = (0, 0, true);
        for slot in &self.map_now().slots {
            let patience = if is_complete { PROGRESS_PATIENCE } else { Duration::ZERO };
            let state = self.settled_within(patience, || {
                let partition = self.partition(slot)?;
                let state = partition.fresh_index(&compiled)?;
                let items = match state.progress {
                    Some(progress) => progress.total,
                    None => crate::Counters::load(partition.space().as_ref(), slot.range.lsn_base)?.items,
                };
                Ok((state, items))
            });
            let (state, items) = match state {
                Err(error) if error.kind == ErrorKind::Moved => {
                    is_complete = false;
                    continue;
                }
                state => state?,
            };
            total += items;
            if !compiled.needs_reindex(&state) {
                done += items;
                continue;
            }
            is_complete = false;
            // What will be built after this counts as not begun.
            if let Some(progress) = state.progress.filter(|_| *state.layouts.target == *compiled.layout) {
                done += progress.done.min(progress.total);
            }
        }
        if is_complete {
            return Ok(100);
        }
        const ALMOST: u64 = 99;
        Ok((done * 100).checked_div(total).unwrap_or(0).min(ALMOST) as u8)
    }

    fn partition_to_reindex(&self) -> Option<Arc<Partition>> {
        let compiled = self.compiled();
        let map = self.map_now();
        // What is about to be replaced is not worth it, and must not change under those who copy it.
        let mut wanting = map
            .opened()
            .filter(|(_, partition)| !partition.is_reshaping() && compiled.needs_reindex(&partition.index()))
            .filter(|(_, partition)| partition.is_held());
        wanting.next().map(|(_, partition)| partition)
    }
}
