//! An object store that loses requests and answers: what was acknowledged is there, what failed is there as a whole or not at
//! all, and nothing that was seen goes away.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use armilla_env::{Random, SystemClock};
use armilla_kv::{Batch, Family, Space, SpaceId, Store, block_on};
use armilla_kv_slate::{Place, SlateOptions, SlateStore};
use armilla_testing_objects::{Fate, FaultyObjects, Op};
use bytes::Bytes;
use object_store::memory::InMemory;
use object_store::path::Path;
use parking_lot::Mutex;

const SPACE: SpaceId = SpaceId(1);
const HISTORIES: u64 = 12;
const WRITES: u64 = 40;

/// A place whose puts and gets are lost with a chance in a hundred, while there is trouble.
fn place(seed: u64, percent: u64, is_troubled: &Arc<AtomicBool>) -> Place {
    let (random, is_troubled) = (Mutex::new(Random::new(seed)), is_troubled.clone());
    let plan = move |op: Op, _: &Path| {
        let mut random = random.lock();
        let mut fate = Fate::default();
        if is_troubled.load(Ordering::Relaxed) {
            fate.is_lost = random.percent(percent);
            fate.is_answer_lost = op == Op::Put && random.percent(percent);
            fate.back = Duration::from_micros(random.below(500));
        }
        fate
    };
    let objects = FaultyObjects::new(Arc::new(InMemory::new()), Arc::new(SystemClock::new()), Arc::new(plan));
    Place::of(Arc::new(objects), "", "faulty")
}

fn number(space: &dyn Space, key: &str) -> u64 {
    let found = space.get(Family::Item, key.as_bytes()).unwrap();
    found.map_or(0, |value| std::str::from_utf8(&value).unwrap().parse().unwrap())
}

/// A batch of two keys that always have the same number, and one of its own.
fn batch(count: u64) -> Batch {
    let mut batch = Batch::new();
    let value = Bytes::from(count.to_string());
    batch.put(Family::Item, "first", value.clone());
    batch.put(Family::Meta, "second", value.clone());
    batch.put(Family::Feed, format!("log-{count:04}"), value);
    batch
}

fn history(seed: u64) -> (u64, u64) {
    let is_troubled = Arc::new(AtomicBool::new(false));
    let place = place(seed, 3 + seed % 20, &is_troubled);
    let store = SlateStore::open(place, &SlateOptions::default()).unwrap();
    let open = || {
        // Opening may fail as well, and is tried again then.
        for _ in 0..200 {
            if let Ok(space) = store.open_space(SPACE) {
                return space;
            }
        }
        panic!("seed {seed}: the space does not open");
    };
    let mut space = open();
    is_troubled.store(true, Ordering::Relaxed);
    let (mut acknowledged, mut failed) = (Vec::new(), 0);
    let mut seen = 0;
    for count in 1..=WRITES {
        match block_on(space.commit(batch(count))) {
            Ok(()) => acknowledged.push(count),
            Err(_) => {
                failed += 1;
                space = open();
            }
        }
        is_troubled.store(false, Ordering::Relaxed);
        let now = number(&*space, "first");
        let newest = acknowledged.last().copied().unwrap_or(0);
        assert!(now >= newest, "seed {seed}: {newest} was acknowledged and {now} is there");
        assert!(now >= seen, "seed {seed}: {seen} was seen and {now} is there");
        assert!(now <= count, "seed {seed}");
        seen = now;
        is_troubled.store(true, Ordering::Relaxed);
    }
    is_troubled.store(false, Ordering::Relaxed);
    let space = open();
    let snapshot = space.snapshot().unwrap();
    let second = snapshot.get(Family::Meta, b"second").unwrap().unwrap();
    assert_eq!(snapshot.get(Family::Item, b"first").unwrap().unwrap(), second, "seed {seed}");
    for count in &acknowledged {
        let key = format!("log-{count:04}");
        assert!(snapshot.get(Family::Feed, key.as_bytes()).unwrap().is_some(), "seed {seed}: {key} is lost");
    }
    (acknowledged.len() as u64, failed)
}

#[test]
fn what_is_acknowledged_is_there_whatever_the_object_store_loses() {
    let (mut acknowledged, mut failed) = (0, 0);
    for seed in 0..HISTORIES {
        let (of_acknowledged, of_failed) = history(seed);
        acknowledged += of_acknowledged;
        failed += of_failed;
    }
    println!("{acknowledged} acknowledged, {failed} failed");
    assert!(acknowledged > HISTORIES * WRITES / 2, "{acknowledged} acknowledged, {failed} failed");
}
