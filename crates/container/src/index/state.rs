//! What a partition knows of its index: the layouts in force, how far a re-indexing is, which indexes are crowded.
//!
//! All of it is stored with the batch that changes it. A partition that was never written takes the layout of its
//! container with its first batch; one that was written before there were indexes has none until it is built.

use std::sync::Arc;

use armilla_kv::{Family, Result as StoreResult};
use bytes::Bytes;

use crate::error::Result;
use crate::index::layout::{Crowded, Layout, Layouts, Progress};
use crate::item::keys;
use crate::partition::counters::Counters;

/// What a partition knows of its index.
#[derive(Clone)]
pub(crate) struct IndexState {
    pub(crate) layouts: Arc<Layouts>,
    /// While re-indexing.
    pub(crate) progress: Option<Progress>,
    pub(crate) crowded: Arc<Crowded>,
    /// Whether the layouts are in the store.
    pub(crate) is_stored: bool,
}

impl IndexState {
    /// Reads the state; `wanted` is the layout of the container.
    pub(crate) fn load(
        get: impl Fn(Family, &[u8]) -> StoreResult<Option<Bytes>>,
        decode: impl Fn(&Bytes) -> Result<Arc<Layouts>>,
        counters: &Counters,
        wanted: &Arc<Layout>,
    ) -> Result<IndexState> {
        let crowded = match get(Family::Meta, keys::INDEX_CROWDED)? {
            Some(bytes) => Crowded::decode(&bytes)?,
            None => Crowded::default(),
        };
        let stored = get(Family::Meta, keys::INDEX_LAYOUTS)?.map(|bytes| decode(&bytes)).transpose()?;
        let is_stored = stored.is_some();
        let layouts = match stored {
            Some(layouts) => layouts,
            None if counters.items == 0 => Arc::new(Layouts::of(wanted.clone())),
            None => Arc::new(Layouts::of(Arc::new(Layout::nothing()))),
        };
        let progress = match (&layouts.built, get(Family::Meta, keys::INDEX_PROGRESS)?) {
            (Some(_), Some(bytes)) => Some(Progress::decode(&bytes)?),
            (None, None) => None,
            _ => return Err(crate::Error::corrupt("the layouts of an index and its progress do not agree")),
        };
        Ok(IndexState { layouts, progress, crowded: Arc::new(crowded), is_stored })
    }

    /// Returns whether the item with a number still has the layout that was built before.
    pub(crate) fn is_built(&self, number: u64) -> bool {
        self.progress.is_some_and(|progress| progress.after < number && number <= progress.end)
    }

    /// Returns the layout of the item with a number.
    pub(crate) fn layout_of(&self, number: u64) -> &Arc<Layout> {
        match &self.layouts.built {
            Some(built) if self.is_built(number) => built,
            _ => &self.layouts.target,
        }
    }

    /// Returns whether there is something to do to get to a layout.
    pub(crate) fn needs(&self, wanted: &Layout) -> bool {
        self.layouts.built.is_some() || *self.layouts.target != *wanted
    }
}
