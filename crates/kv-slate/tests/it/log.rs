//! How much of a tree's log is read when it is opened after a kill.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use armilla_env::{Clock, SystemClock};
use armilla_kv::{Batch, Durability, Family, Result, Scan, Space, SpaceId, Store, block_on};
use armilla_kv_slate::{Place, SlateOptions, SlateStore};
use armilla_testing_objects::{Fate, FaultyObjects, Op};
use bytes::Bytes;
use object_store::memory::InMemory;
use object_store::path::Path;

fn put(space: &dyn Space, key: impl Into<Bytes>) -> Result<()> {
    let mut batch = Batch::new();
    batch.put(Family::Item, key, "value");
    block_on(space.commit(batch))
}

/// A place that counts how often something is done to objects of one kind.
fn counted(counted: Op, kind: &'static str) -> (Place, Arc<AtomicUsize>) {
    let count = Arc::new(AtomicUsize::new(0));
    let counter = count.clone();
    let plan = move |op: Op, path: &Path| {
        if op == counted && path.as_ref().contains(kind) {
            counter.fetch_add(1, Ordering::Relaxed);
        }
        Fate::default()
    };
    let objects = FaultyObjects::new(Arc::new(InMemory::new()), Arc::new(SystemClock::new()), Arc::new(plan));
    (Place::of(Arc::new(objects), "", "counted"), count)
}

fn count(space: &dyn Space) -> usize {
    let scan = Scan { entries_max: usize::MAX, bytes_max: usize::MAX, ..Scan::prefix(Family::Item, b"") };
    let page = space.snapshot().unwrap().scan(&scan).unwrap();
    assert!(!page.more);
    page.entries.len()
}

/// Partitions of a node that was killed were served by others after 8 s at first, and after 30 s when the account had been
/// used for half an hour: all that had been written since anything was put into a sorted file was read object by object,
/// and that were up to 4,096 objects of each partition.
#[test]
fn what_has_to_be_read_after_a_kill_does_not_grow_with_what_was_written() {
    let (place, gets) = counted(Op::Get, "/wal/");
    let open = || SlateStore::open(place.clone(), &SlateOptions::default()).unwrap();
    let mut stores = Vec::new();
    let mut written = 0;
    // The one before still runs when the next one takes the space, as if it had been killed.
    for puts in [1_500, 200, 200, 200, 200, 0] {
        let store = open();
        let before = gets.load(Ordering::Relaxed);
        let space = store.open_space(SpaceId(1)).unwrap();
        let read = gets.load(Ordering::Relaxed) - before;
        assert!(read < 2 * 400, "{read} requests for objects of the log");
        assert_eq!(count(&*space), written);
        for _ in 0..puts {
            put(&*space, format!("{written:06}")).unwrap();
            written += 1;
        }
        // What was begun in the background comes to its end.
        std::thread::sleep(Duration::from_millis(500));
        stores.push(store);
    }
}

/// Where commits are not waited for, objects of the log hold many of them each.
#[test]
fn groups_that_share_an_object_count_once() {
    let (place, sorted) = counted(Op::Put, "/compacted/");
    let options = SlateOptions { durability: Durability::Relaxed, ..SlateOptions::default() };
    let store = SlateStore::open(place, &options).unwrap();
    let space = store.open_space(SpaceId(1)).unwrap();
    let clock = SystemClock::new();
    let began = clock.elapsed();
    for number in 0..3_000 {
        put(&*space, format!("{number:06}")).unwrap();
    }
    let objects = (clock.elapsed() - began).as_millis() / 100 + 1;
    let expected = usize::try_from(objects / 256).unwrap();
    assert!(sorted.load(Ordering::Relaxed) <= expected, "{sorted:?} sorted files of {objects} objects");
}
