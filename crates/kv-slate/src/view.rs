//! Reading a snapshot of a tree.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use armilla_kv::{Direction, Family, Page, Result, Scan, Snapshot, SpaceId, StoreSnapshot};
use bytes::Bytes;
use futures_util::stream::{self, StreamExt, TryStreamExt};
use slatedb::config::ScanOptions;
use slatedb::{DbSnapshot, IterationOrder};
use tokio::runtime::Handle;

use crate::failure;
use crate::keys::{family_key, tree_key, tree_range};
use crate::limits::{READ_AHEAD_BYTES, READS_AT_ONCE};
use crate::spaces::{Shared, SpaceState};
use crate::tree::Tree;
use crate::waiting::answer;

/// One moment of a space.
#[derive(Clone)]
pub(crate) struct View {
    runtime: Handle,
    space: Arc<SpaceState>,
    snapshot: Arc<DbSnapshot>,
    /// It must stay open as long as it is read.
    _tree: Arc<Tree>,
    /// Whether it goes on when the space is dropped.
    sees_dropped: bool,
}

impl View {
    /// Returns what readers of a space see now.
    pub(crate) fn now(shared: &Arc<Shared>, space: &Arc<SpaceState>) -> Result<View> {
        let tree = shared.readable(space)?;
        Ok(View {
            runtime: shared.runtime.clone(),
            space: space.clone(),
            snapshot: tree.published(),
            _tree: tree,
            sees_dropped: false,
        })
    }

    /// Returns what readers of a moment of a space see.
    pub(crate) fn of(
        shared: &Shared,
        space: &Arc<SpaceState>,
        tree: &Arc<Tree>,
        snapshot: Arc<DbSnapshot>,
    ) -> View {
        let (runtime, space) = (shared.runtime.clone(), space.clone());
        View { runtime, space, snapshot, _tree: tree.clone(), sees_dropped: false }
    }

    /// Does a read, and says why it failed.
    fn read<T: Send + 'static>(
        &self,
        work: impl Future<Output = std::result::Result<T, slatedb::Error>> + Send + 'static,
    ) -> Result<T> {
        let is_dropped = || !self.sees_dropped && self.space.is_dropped();
        if is_dropped() {
            return Err(failure::dropped(self.space.id));
        }
        let done = answer(&self.runtime, async move { work.await.map_err(|error| failure::of_read(&error)) });
        match done {
            // Its tree was closed meanwhile.
            Err(_) if is_dropped() => Err(failure::dropped(self.space.id)),
            // Whoever reads it begins anew where the space is by then.
            Err(_) if self.space.is_released() => Err(failure::released(self.space.id)),
            done => done,
        }
    }

    /// Returns whether there is nothing in it.
    fn is_empty(&self) -> Result<bool> {
        let snapshot = self.snapshot.clone();
        self.read(async move { Ok(snapshot.scan::<std::ops::RangeFull>(..).await?.next().await?.is_none()) })
    }
}

impl Snapshot for View {
    fn get(&self, family: Family, key: &[u8]) -> Result<Option<Bytes>> {
        let (snapshot, key) = (self.snapshot.clone(), tree_key(family, key));
        self.read(async move { Ok(snapshot.get(key).await?.as_deref().map(Bytes::copy_from_slice)) })
    }

    fn multi_get(&self, family: Family, keys: &[Bytes]) -> Result<Vec<Option<Bytes>>> {
        let snapshot = self.snapshot.clone();
        let keys: Vec<Bytes> = keys.iter().map(|key| tree_key(family, key)).collect();
        self.read(async move {
            stream::iter(keys)
                .map(|key| {
                    let snapshot = &snapshot;
                    async move { Ok(snapshot.get(key).await?.as_deref().map(Bytes::copy_from_slice)) }
                })
                .buffered(READS_AT_ONCE)
                .try_collect()
                .await
        })
    }

    fn scan(&self, scan: &Scan) -> Result<Page> {
        let Some(range) = tree_range(scan) else { return Ok(Page::default()) };
        let snapshot = self.snapshot.clone();
        let (entries_max, bytes_max) = (scan.entries_max, scan.bytes_max);
        let options = ScanOptions {
            order: match scan.direction {
                Direction::Forward => IterationOrder::Ascending,
                Direction::Reverse => IterationOrder::Descending,
            },
            read_ahead_bytes: READ_AHEAD_BYTES,
            cache_blocks: true,
            ..ScanOptions::default()
        };
        self.read(async move {
            let mut walk = snapshot.scan_with_options(range, &options).await?;
            let mut page = Page::default();
            let mut bytes = 0;
            while let Some(entry) = walk.next().await? {
                if page.entries.len() >= entries_max || (bytes >= bytes_max && !page.entries.is_empty()) {
                    page.more = true;
                    break;
                }
                let key = family_key(&entry.key);
                bytes += key.len() + entry.value.len();
                page.entries.push((key, entry.value));
            }
            Ok(page)
        })
    }
}

/// One moment of all spaces. Those that are dropped stay as long as it does.
pub(crate) struct AllView {
    /// In the order of their ids.
    views: Vec<View>,
}

impl AllView {
    /// Makes one of the spaces that were published at one moment.
    pub(crate) fn new(mut views: Vec<View>) -> AllView {
        for view in &mut views {
            view.sees_dropped = true;
            view.space.pins.fetch_add(1, Ordering::AcqRel);
        }
        views.sort_by_key(|view| view.space.id);
        AllView { views }
    }

    fn find(&self, id: u64) -> Option<&View> {
        let place = self.views.binary_search_by_key(&id, |view| view.space.id).ok()?;
        self.views.get(place)
    }
}

impl Drop for AllView {
    fn drop(&mut self) {
        for view in &self.views {
            view.space.pins.fetch_sub(1, Ordering::AcqRel);
        }
    }
}

impl StoreSnapshot for AllView {
    fn spaces(&self) -> Result<Vec<SpaceId>> {
        let mut ids = Vec::new();
        for view in &self.views {
            if !view.is_empty()? {
                ids.push(SpaceId(view.space.id));
            }
        }
        Ok(ids)
    }

    fn space(&self, space: SpaceId) -> Result<Box<dyn Snapshot>> {
        match self.find(space.0) {
            Some(view) => Ok(Box::new(view.clone())),
            None => Ok(Box::new(Nothing)),
        }
    }
}

/// A space that was not there.
struct Nothing;

impl Snapshot for Nothing {
    fn get(&self, _: Family, _: &[u8]) -> Result<Option<Bytes>> {
        Ok(None)
    }

    fn multi_get(&self, _: Family, keys: &[Bytes]) -> Result<Vec<Option<Bytes>>> {
        Ok(vec![None; keys.len()])
    }

    fn scan(&self, _: &Scan) -> Result<Page> {
        Ok(Page::default())
    }
}
