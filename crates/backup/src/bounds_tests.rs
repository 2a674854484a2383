//! Bounds of what is read, held and listed at a time, on stores and folders that are watched.

use std::fs;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use armilla_kv::memory::MemoryStore;
use armilla_kv::{
    Batch, CommitFuture, Family, Page, Scan, Snapshot, Space, SpaceId, Store, StoreSnapshot, StoreStats,
};
use bytes::Bytes;
use parking_lot::Mutex;

use crate::limits::{
    PROBLEMS_MAX, RESTORE_BATCH_BYTES, RESTORE_BATCHES_AT_ONCE, SCAN_BYTES_MAX, SCAN_ENTRIES_MAX,
};
use crate::tests::{files, manifest, noise, problems, put, take};
use crate::{Folder, Position, Walk, restore};

/// What was read and written of a store.
#[derive(Default)]
struct Seen {
    /// Entries and bytes of each page, in order.
    pages: Mutex<Vec<(usize, usize)>>,
    /// Bytes of each batch, in order.
    batches: Mutex<Vec<usize>>,
    on_their_way: AtomicUsize,
    on_their_way_max: AtomicUsize,
}

/// A store in front of another that notes what is read and written.
struct Watched {
    inner: Arc<dyn Store>,
    seen: Arc<Seen>,
}

struct WatchedSpace {
    inner: Arc<dyn Space>,
    seen: Arc<Seen>,
}

struct WatchedStoreSnapshot {
    inner: Box<dyn StoreSnapshot>,
    seen: Arc<Seen>,
}

struct WatchedSnapshot {
    inner: Box<dyn Snapshot>,
    seen: Arc<Seen>,
}

fn watched() -> Watched {
    Watched { inner: Arc::new(MemoryStore::new()), seen: Arc::default() }
}

impl Store for Watched {
    fn open_space(&self, space: SpaceId) -> armilla_kv::Result<Arc<dyn Space>> {
        let inner = self.inner.open_space(space)?;
        Ok(Arc::new(WatchedSpace { inner, seen: self.seen.clone() }))
    }

    fn drop_space(&self, space: SpaceId) -> armilla_kv::Result<()> {
        self.inner.drop_space(space)
    }

    fn snapshot_all(&self) -> armilla_kv::Result<Box<dyn StoreSnapshot>> {
        let inner = self.inner.snapshot_all()?;
        Ok(Box::new(WatchedStoreSnapshot { inner, seen: self.seen.clone() }))
    }

    fn stats(&self) -> StoreStats {
        self.inner.stats()
    }

    fn close(&self) -> armilla_kv::Result<()> {
        self.inner.close()
    }
}

impl Space for WatchedSpace {
    fn get(&self, family: Family, key: &[u8]) -> armilla_kv::Result<Option<Bytes>> {
        self.inner.get(family, key)
    }

    fn multi_get(&self, family: Family, keys: &[Bytes]) -> armilla_kv::Result<Vec<Option<Bytes>>> {
        self.inner.multi_get(family, keys)
    }

    fn snapshot(&self) -> armilla_kv::Result<Box<dyn Snapshot>> {
        self.inner.snapshot()
    }

    fn commit(&self, batch: Batch) -> CommitFuture {
        let seen = self.seen.clone();
        seen.batches.lock().push(batch.bytes());
        let on_their_way = 1 + seen.on_their_way.fetch_add(1, Ordering::SeqCst);
        seen.on_their_way_max.fetch_max(on_their_way, Ordering::SeqCst);
        let commit = self.inner.commit(batch);
        Box::pin(async move {
            let committed = commit.await;
            seen.on_their_way.fetch_sub(1, Ordering::SeqCst);
            committed
        })
    }
}

impl StoreSnapshot for WatchedStoreSnapshot {
    fn spaces(&self) -> armilla_kv::Result<Vec<SpaceId>> {
        self.inner.spaces()
    }

    fn space(&self, space: SpaceId) -> armilla_kv::Result<Box<dyn Snapshot>> {
        let inner = self.inner.space(space)?;
        Ok(Box::new(WatchedSnapshot { inner, seen: self.seen.clone() }))
    }
}

impl Snapshot for WatchedSnapshot {
    fn get(&self, family: Family, key: &[u8]) -> armilla_kv::Result<Option<Bytes>> {
        self.inner.get(family, key)
    }

    fn multi_get(&self, family: Family, keys: &[Bytes]) -> armilla_kv::Result<Vec<Option<Bytes>>> {
        self.inner.multi_get(family, keys)
    }

    fn scan(&self, scan: &Scan) -> armilla_kv::Result<Page> {
        let page = self.inner.scan(scan)?;
        let bytes = page.entries.iter().map(|(key, value)| key.len() + value.len()).sum();
        self.seen.pages.lock().push((page.entries.len(), bytes));
        Ok(page)
    }
}

fn items(numbers: RangeInclusive<u32>, bytes: usize) -> impl Iterator<Item = (Family, Vec<u8>, Vec<u8>)> {
    numbers
        .map(move |number| (Family::Item, number.to_be_bytes().to_vec(), noise(u64::from(number), bytes - 4)))
}

/// Returns the pages with entries that a walk read.
fn pages_of(store: &Watched) -> Vec<(usize, usize)> {
    let walk = Walk::new(store.snapshot_all().unwrap(), &[]).unwrap();
    let mut position = Position::START;
    while !position.is_over() {
        position = walk.frame(&position).unwrap().1;
    }
    let mut pages = std::mem::take(&mut *store.seen.pages.lock());
    pages.retain(|(entries, _)| *entries > 0);
    pages
}

#[test]
fn a_walk_reads_so_many_entries_at_once() {
    let store = watched();
    put(&store, 1, items(1..=SCAN_ENTRIES_MAX as u32, 8));
    assert_eq!(pages_of(&store), [(SCAN_ENTRIES_MAX, 8 * SCAN_ENTRIES_MAX)]);
    put(&store, 1, items(0..=0, 8));
    assert_eq!(pages_of(&store), [(SCAN_ENTRIES_MAX, 8 * SCAN_ENTRIES_MAX), (1, 8)]);
}

#[test]
fn a_walk_reads_so_many_bytes_at_once() {
    let store = watched();
    let count = SCAN_BYTES_MAX / 1_024;
    put(&store, 1, items(1..=count as u32, 1_024));
    assert_eq!(pages_of(&store), [(count, SCAN_BYTES_MAX)]);
    put(&store, 1, items(0..=0, 1_023));
    // The page ends with the entry that reaches the bound.
    assert_eq!(pages_of(&store), [(count + 1, SCAN_BYTES_MAX + 1_023)]);
    put(&store, 1, items(0..=0, 1_024));
    assert_eq!(pages_of(&store), [(count, SCAN_BYTES_MAX), (1, 1_024)]);
}

#[test]
fn a_restore_has_so_many_batches_of_so_many_bytes_on_their_way() {
    const ENTRY_BYTES: usize = 64 * 1024;
    let folder = tempfile::tempdir().unwrap();
    let store = watched();
    // Three batches and a half for each of the batches that may be on their way.
    let count = 7 * RESTORE_BATCHES_AT_ONCE * RESTORE_BATCH_BYTES / ENTRY_BYTES / 2;
    put(&store, 1, items(1..=count as u32, ENTRY_BYTES));
    put(&store, 2, items(1..=1, ENTRY_BYTES));
    take(folder.path(), &store);
    let opened = Folder::open(folder.path()).unwrap();
    let manifest = manifest(&opened, None).unwrap();
    let target = watched();
    restore(&opened, &manifest, &target, &mut |_| {}).unwrap();
    let seen = &target.seen;
    assert_eq!(seen.on_their_way.load(Ordering::SeqCst), 0);
    assert_eq!(seen.on_their_way_max.load(Ordering::SeqCst), RESTORE_BATCHES_AT_ONCE);
    let batches = seen.batches.lock();
    let (last, rest) = batches.split_last().unwrap();
    let (end, full) = rest.split_last().unwrap();
    assert_eq!(full.len(), count * ENTRY_BYTES / RESTORE_BATCH_BYTES - 1, "{batches:?}");
    assert!(
        full.iter().all(|bytes| (RESTORE_BATCH_BYTES..RESTORE_BATCH_BYTES + ENTRY_BYTES).contains(bytes))
    );
    assert!(*end <= RESTORE_BATCH_BYTES + ENTRY_BYTES && *last < 2 * ENTRY_BYTES, "{batches:?}");
}

#[test]
fn so_many_problems_are_listed() {
    let folder = tempfile::tempdir().unwrap();
    let store = MemoryStore::new();
    for space in 1..=PROBLEMS_MAX as u64 + 2 {
        put(&store, space, items(1..=1, 100));
    }
    take(folder.path(), &store);
    assert_eq!(problems(folder.path()).len(), 0);
    let segments = files(&folder.path().join("segments"));
    assert_eq!(segments.len(), PROBLEMS_MAX + 2);
    for (place, segment) in segments.iter().enumerate() {
        fs::write(segment, "damaged").unwrap();
        if place + 2 >= PROBLEMS_MAX {
            assert_eq!(problems(folder.path()).len(), (place + 1).min(PROBLEMS_MAX), "{place}");
        }
    }
}
