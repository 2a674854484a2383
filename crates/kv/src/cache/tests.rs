use std::sync::atomic::AtomicU32;

use armilla_env::Random;

use super::*;
use crate::block_on;
use crate::fault::{Fault, FaultStore};
use crate::memory::MemoryStore;

fn batch(key: &'static str, value: impl Into<Bytes>) -> Batch {
    let mut batch = Batch::new();
    batch.put(Family::Item, key, value);
    batch
}

/// A store that can fail, and a cache in front of it.
fn faulty() -> (Arc<FaultStore>, CachedStore) {
    let faults = Arc::new(FaultStore::new(Arc::new(MemoryStore::new())));
    (faults.clone(), CachedStore::new(faults, 1024 * 1024))
}

fn hits(store: &CachedStore) -> u64 {
    store.stats().item_cache_hits
}

#[test]
fn reads_are_answered_by_the_cache_after_a_read_or_a_commit() {
    let (faults, store) = faulty();
    let space = store.open_space(SpaceId(1)).unwrap();
    block_on(space.commit(batch("key", "value"))).unwrap();
    // The store is dead now: only the cache can answer.
    faults.kill();
    assert_eq!(space.get(Family::Item, b"key").unwrap(), Some(Bytes::from("value")));
    assert_eq!(space.multi_get(Family::Item, &["key".into()]).unwrap(), [Some(Bytes::from("value"))]);
    assert!(space.get(Family::Item, b"other").is_err());
    assert!(space.get(Family::Meta, b"key").is_err());
    assert_eq!(hits(&store), 2);
}

#[test]
fn only_items_are_cached() {
    let store = CachedStore::new(Arc::new(MemoryStore::new()), 1024 * 1024);
    let space = store.open_space(SpaceId(1)).unwrap();
    for family in Family::ALL {
        let mut batch = Batch::new();
        batch.put(family, "key", "value");
        block_on(space.commit(batch)).unwrap();
        assert_eq!(space.get(family, b"key").unwrap(), Some(Bytes::from("value")));
    }
    assert_eq!(hits(&store), 1);
    assert_eq!(space.get(Family::Item, b"absent").unwrap(), None);
    assert_eq!(space.get(Family::Item, b"absent").unwrap(), None);
    assert_eq!((hits(&store), store.stats().item_cache_misses), (1, 2));
}

#[test]
fn failed_commits_leave_nothing_behind() {
    for (fault, expected) in
        [(Fault::FailBefore, "old"), (Fault::UnknownNotApplied, "old"), (Fault::UnknownApplied, "new")]
    {
        let (faults, store) = faulty();
        let space = store.open_space(SpaceId(1)).unwrap();
        block_on(space.commit(batch("key", "old"))).unwrap();
        assert_eq!(space.get(Family::Item, b"key").unwrap(), Some(Bytes::from("old")));
        faults.fail_next_commit(fault);
        assert!(block_on(space.commit(batch("key", "new"))).is_err());
        for _ in 0..2 {
            assert_eq!(space.get(Family::Item, b"key").unwrap(), Some(Bytes::from(expected)), "{fault:?}");
        }
        let before = hits(&store);
        let space = store.open_space(SpaceId(1)).unwrap();
        for _ in 0..2 {
            assert_eq!(space.get(Family::Item, b"key").unwrap(), Some(Bytes::from(expected)), "{fault:?}");
        }
        assert!(hits(&store) > before, "a space that was opened again is cached");
    }
}

#[test]
fn doubt_bypasses_the_cache_until_the_space_is_opened_again() {
    let (faults, store) = faulty();
    let (old, other) = (store.open_space(SpaceId(1)).unwrap(), store.open_space(SpaceId(2)).unwrap());
    let space = store.open_space(SpaceId(1)).unwrap();
    for space in [&space, &other] {
        block_on(space.commit(batch("key", "value"))).unwrap();
    }
    faults.fail_next_commit(Fault::UnknownNotApplied);
    assert!(block_on(space.commit(batch("doubt", "value"))).is_err());
    for handle in [&space, &old] {
        assert!(handle.get(Family::Item, b"key").is_ok());
    }
    assert_eq!(hits(&store), 0);
    assert!(other.get(Family::Item, b"key").is_ok());
    assert_eq!(hits(&store), 1);
}

#[test]
fn dropped_futures_keep_their_keys_out_until_they_end() {
    let (faults, store) = faulty();
    let space = store.open_space(SpaceId(1)).unwrap();
    block_on(space.commit(batch("key", "old"))).unwrap();
    faults.fail_next_commit(Fault::ReportLate { polls: 3 });
    // The store shows the new value at once, but no caller has been told.
    drop(space.commit(batch("key", "new")));
    assert_eq!(space.get(Family::Item, b"key").unwrap(), Some(Bytes::from("new")));
    assert_eq!(hits(&store), 0);
    // Each read that passes the cache by polls the orphan once more; in the end it is over and the key is cached again.
    for _ in 0..6 {
        assert_eq!(space.get(Family::Item, b"key").unwrap(), Some(Bytes::from("new")));
    }
    assert!(hits(&store) > 0);
    assert_eq!(store.cache.orphan_count.load(Ordering::Relaxed), 0);
}

#[test]
fn overlapping_commits_of_one_key_are_not_cached() {
    let (faults, store) = faulty();
    let space = store.open_space(SpaceId(1)).unwrap();
    faults.fail_next_commit(Fault::ReportLate { polls: 2 });
    let first = space.commit(batch("key", "first"));
    let second = space.commit(batch("key", "second"));
    // The second is told before the first.
    block_on(second).unwrap();
    block_on(first).unwrap();
    assert_eq!(space.get(Family::Item, b"key").unwrap(), Some(Bytes::from("second")));
    assert_eq!(space.get(Family::Item, b"key").unwrap(), Some(Bytes::from("second")));
    assert_eq!(hits(&store), 1);
}

#[test]
fn dropping_a_space_forgets_its_entries() {
    let store = CachedStore::new(Arc::new(MemoryStore::new()), 1024 * 1024);
    let spaces: Vec<_> = (1..=2).map(|id| store.open_space(SpaceId(id)).unwrap()).collect();
    for space in &spaces {
        block_on(space.commit(batch("key", vec![0; 1_000]))).unwrap();
    }
    store.drop_space(SpaceId(1)).unwrap();
    assert!(matches!(store.cache.lookup(SpaceId(1), b"key"), Found::Miss { .. }));
    assert_eq!(spaces[0].get(Family::Item, b"key").unwrap_err().kind(), ErrorKind::SpaceDropped);
    assert!(spaces[1].get(Family::Item, b"key").unwrap().is_some());
}

#[test]
fn bytes_stay_below_the_bound_and_large_entries_stay_out() {
    let bytes_max = 256 * 1024;
    let store = CachedStore::new(Arc::new(MemoryStore::new()), bytes_max);
    let space = store.open_space(SpaceId(1)).unwrap();
    for number in 0..2_000_u32 {
        let mut batch = Batch::new();
        batch.put(Family::Item, number.to_be_bytes().to_vec(), vec![0; number as usize % 3_000]);
        block_on(space.commit(batch)).unwrap();
        assert!(store.stats().item_cache_bytes <= bytes_max as u64);
    }
    assert!(store.stats().item_cache_bytes > bytes_max as u64 / 2);
    let largest = bytes_max / 16;
    for (length, expected_hits) in [(largest * 4 / 5, 1), (largest, 0)] {
        block_on(space.commit(batch("big", vec![0; length]))).unwrap();
        let before = hits(&store);
        assert_eq!(space.get(Family::Item, b"big").unwrap().unwrap().len(), length);
        assert_eq!(hits(&store) - before, expected_hits, "{length} bytes");
    }
}

#[test]
fn used_entries_survive_a_flood() {
    let store = CachedStore::new(Arc::new(MemoryStore::new()), 512 * 1024);
    let space = store.open_space(SpaceId(1)).unwrap();
    block_on(space.commit(batch("hot", vec![1; 100]))).unwrap();
    for number in 0..20_000_u32 {
        let mut batch = Batch::new();
        batch.put(Family::Item, number.to_be_bytes().to_vec(), vec![0; 100]);
        block_on(space.commit(batch)).unwrap();
        if number % 100 == 0 {
            let before = hits(&store);
            space.get(Family::Item, b"hot").unwrap();
            assert_eq!(hits(&store), before + 1, "after {number} cold entries");
        }
    }
}

/// Writers write growing numbers, readers check that no key ever goes back, while commits fail, are delayed,
/// and have their futures dropped.
#[test]
fn no_reader_ever_sees_a_value_go_back() {
    const KEYS: u32 = 16;
    const ROUNDS: u32 = 3_000;
    for cache_bytes in [8 * 1024, 1024 * 1024] {
        let faults = Arc::new(FaultStore::new(Arc::new(MemoryStore::new())));
        let store = CachedStore::new(faults.clone(), cache_bytes);
        let spaces: Vec<_> = (0..2_u64).map(|id| store.open_space(SpaceId(id)).unwrap()).collect();
        let done = AtomicBool::new(false);
        let largest = AtomicU32::new(0);
        std::thread::scope(|scope| {
            for reader in 0..3_u64 {
                let (spaces, done, largest) = (&spaces, &done, &largest);
                scope.spawn(move || {
                    let mut random = Random::new(reader);
                    let mut seen = vec![0_u32; spaces.len() * KEYS as usize];
                    while !done.load(Ordering::Relaxed) {
                        let space = random.below(spaces.len() as u64) as usize;
                        // Different ones: the values of one call need not be of one moment.
                        let first = random.below(u64::from(KEYS)) as u32;
                        let keys: Vec<u32> = (0..3).map(|step| (first + 5 * step) % KEYS).collect();
                        let names: Vec<Bytes> =
                            keys.iter().map(|key| Bytes::copy_from_slice(&key.to_be_bytes())).collect();
                        let values = if random.one_in(2) {
                            spaces[space].multi_get(Family::Item, &names).unwrap()
                        } else {
                            names.iter().map(|name| spaces[space].get(Family::Item, name).unwrap()).collect()
                        };
                        for (key, value) in keys.into_iter().zip(values) {
                            let number =
                                value.map_or(0, |value| u32::from_be_bytes(value[..4].try_into().unwrap()));
                            let newest = &mut seen[space * KEYS as usize + key as usize];
                            assert!(number >= *newest, "key {key} went from {newest} to {number}");
                            *newest = number;
                            largest.fetch_max(number, Ordering::Relaxed);
                        }
                    }
                });
            }
            std::thread::scope(|writers| {
                for writer in 0..spaces.len() as u64 {
                    let (faults, store) = (&faults, &store);
                    writers.spawn(move || {
                        let mut space = store.open_space(SpaceId(writer)).unwrap();
                        let mut random = Random::new(100 + writer);
                        let mut pipeline = Vec::new();
                        for round in 1..=ROUNDS {
                            match random.below(40) {
                                0 => faults.fail_next_commit(Fault::FailBefore),
                                1..6 => faults.fail_next_commit(Fault::ReportLate { polls: 2 }),
                                _ => {}
                            }
                            let mut batch = Batch::new();
                            for _ in 0..3 {
                                let key = random.below(u64::from(KEYS)) as u32;
                                batch.put(
                                    Family::Item,
                                    key.to_be_bytes().to_vec(),
                                    round.to_be_bytes().to_vec(),
                                );
                            }
                            pipeline.push(space.commit(batch));
                            if random.one_in(3) {
                                for future in pipeline.drain(..) {
                                    // A third of the futures is dropped without being waited for.
                                    if !random.one_in(3) && block_on(future).is_err() {
                                        // A failed commit closes its handle.
                                        space = store.open_space(SpaceId(writer)).unwrap();
                                    }
                                }
                            }
                        }
                    });
                }
            });
            done.store(true, Ordering::Relaxed);
        });
        assert!(largest.load(Ordering::Relaxed) > ROUNDS / 2);
        assert!(hits(&store) > 0);
    }
}
