//! Trees that nothing asks for are closed, and open again when they are.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use armilla_env::SystemClock;
use armilla_kv::{Batch, ErrorKind, Family, Result, Space, SpaceId, Store, block_on};
use armilla_kv_slate::{Place, SlateOptions, SlateStore};
use armilla_testing_objects::{Fate, FaultyObjects, Op};
use bytes::Bytes;
use object_store::ObjectStore;
use object_store::memory::InMemory;
use object_store::path::Path;

fn open(place: &Place) -> SlateStore {
    let options = SlateOptions { rest_after: Duration::from_millis(240), ..SlateOptions::default() };
    SlateStore::open(place.clone(), &options).unwrap()
}

fn put(space: &dyn Space, key: impl Into<Bytes>) -> Result<()> {
    let mut batch = Batch::new();
    batch.put(Family::Item, key, "value");
    block_on(space.commit(batch))
}

/// A place that counts the puts of manifests: opening a tree makes one.
fn counted() -> (Place, Arc<AtomicUsize>) {
    let count = Arc::new(AtomicUsize::new(0));
    let counter = count.clone();
    let plan = move |op: Op, path: &Path| {
        if op == Op::Put && path.as_ref().contains("/manifest/") {
            counter.fetch_add(1, Ordering::Relaxed);
        }
        Fate::default()
    };
    let objects = FaultyObjects::new(Arc::new(InMemory::new()), Arc::new(SystemClock::new()), Arc::new(plan));
    (Place::of(Arc::new(objects), "", "counted"), count)
}

fn wait() {
    std::thread::sleep(Duration::from_millis(1_500));
}

#[test]
fn what_rests_is_read_and_written_as_before() {
    let (place, manifests) = counted();
    let store = open(&place);
    let space = store.open_space(SpaceId(1)).unwrap();
    put(&*space, "a").unwrap();
    let kept = space.snapshot().unwrap();
    wait();
    // It is still read.
    assert_eq!(kept.get(Family::Item, b"a").unwrap(), Some(Bytes::from("value")));
    drop(kept);
    for key in ["b", "c", "d"] {
        wait();
        let before = manifests.load(Ordering::Relaxed);
        put(&*space, key).unwrap();
        assert!(manifests.load(Ordering::Relaxed) > before, "it was closed");
        assert_eq!(space.get(Family::Item, b"a").unwrap(), Some(Bytes::from("value")));
    }
    wait();
    for key in ["a", "b", "c", "d"] {
        assert!(space.get(Family::Item, key.as_bytes()).unwrap().is_some(), "{key}");
    }
    store.close().unwrap();
    assert_eq!(put(&*space, "e").unwrap_err().kind(), ErrorKind::Closed);
}

/// Writers and readers that come all the time, and just when it is closed.
#[test]
fn nothing_is_lost_between_resting_and_waking() {
    let place = Place::memory();
    let store = open(&place);
    let space = store.open_space(SpaceId(1)).unwrap();
    for round in 0..12_u64 {
        std::thread::sleep(Duration::from_millis(200 + round * 12));
        let handles: Vec<_> = (0..3)
            .map(|writer| {
                let space = space.clone();
                std::thread::spawn(move || put(&*space, format!("{round}-{writer}")))
            })
            .collect();
        for handle in handles {
            handle.join().unwrap().unwrap();
        }
        for writer in 0..3 {
            let key = format!("{round}-{writer}");
            assert!(space.get(Family::Item, key.as_bytes()).unwrap().is_some(), "{key}");
        }
    }
}

#[test]
fn what_another_had_meanwhile_is_not_taken_back() {
    let place = Place::memory();
    let first = open(&place);
    let space = first.open_space(SpaceId(1)).unwrap();
    put(&*space, "a").unwrap();
    wait();
    let second = SlateStore::open(place.clone(), &SlateOptions::default()).unwrap();
    let other = second.open_space(SpaceId(1)).unwrap();
    put(&*other, "b").unwrap();
    assert_eq!(put(&*space, "c").unwrap_err().kind(), ErrorKind::Fenced);
    assert!(space.get(Family::Item, b"a").is_err());
    // And it goes on to have it.
    put(&*other, "d").unwrap();
}

/// One that wakes may be held up between looking whether it still has the tree and taking it. It took the tree from the
/// process that had got it meanwhile, and wrote what it had made of what it knew before.
#[test]
fn what_another_gets_while_it_wakes_is_not_taken_back() {
    let objects: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
    let is_slow = Arc::new(AtomicBool::new(false));
    let slow = is_slow.clone();
    let plan = move |op: Op, path: &Path| {
        let waits = op == Op::Put && path.as_ref().contains("/manifest/") && slow.load(Ordering::Relaxed);
        Fate { there: if waits { Duration::from_secs(1) } else { Duration::ZERO }, ..Fate::default() }
    };
    let held_up = FaultyObjects::new(objects.clone(), Arc::new(SystemClock::new()), Arc::new(plan));
    let first = open(&Place::of(Arc::new(held_up), "", "held up"));
    let space = first.open_space(SpaceId(1)).unwrap();
    put(&*space, "a").unwrap();
    wait();
    is_slow.store(true, Ordering::Relaxed);
    let waking = {
        let space = space.clone();
        std::thread::spawn(move || put(&*space, "late"))
    };
    std::thread::sleep(Duration::from_millis(300));
    let second = SlateStore::open(Place::of(objects, "", "not held up"), &SlateOptions::default()).unwrap();
    let other = second.open_space(SpaceId(1)).unwrap();
    put(&*other, "b").unwrap();
    assert_eq!(waking.join().unwrap().unwrap_err().kind(), ErrorKind::Fenced);
    put(&*other, "c").unwrap();
    assert_eq!(other.get(Family::Item, b"late").unwrap(), None);
}
