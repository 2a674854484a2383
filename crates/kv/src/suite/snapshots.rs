//! Views that never change.

use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;

use super::{Fixture, commit, put, scan_all};
use crate::{Batch, Family, Scan, SpaceId};

pub(super) fn snapshots_never_change(fixture: &mut Fixture) {
    let space = fixture.space(1);
    let mut snapshots = Vec::new();
    for round in 0..30_u32 {
        let mut batch = Batch::new();
        for number in 0..40_u32 {
            let key = number.to_be_bytes().to_vec();
            if (number + round) % 7 == 0 {
                batch.delete(Family::Item, key);
            } else {
                batch.put(Family::Item, key, round.to_string());
            }
        }
        commit(&*space, batch).expect("a healthy store commits");
        snapshots.push(space.snapshot().expect("a healthy store makes snapshots"));
    }
    for (round, snapshot) in snapshots.iter().enumerate() {
        let entries = scan_all(&**snapshot, Scan { entries_max: 9, ..Scan::prefix(Family::Item, b"") });
        let expected: Vec<_> = (0..40_u32)
            .filter(|number| !(number + round as u32).is_multiple_of(7))
            .map(|number| (Bytes::copy_from_slice(&number.to_be_bytes()), Bytes::from(round.to_string())))
            .collect();
        assert_eq!(entries, expected, "snapshot of round {round}");
        for (key, value) in &expected {
            assert_eq!(snapshot.get(Family::Item, key).expect("a healthy store reads").as_ref(), Some(value));
        }
    }
}

pub(super) fn snapshots_see_whole_batches(fixture: &mut Fixture) {
    let space = fixture.space(1);
    for round in 0..50_u32 {
        let mut batch = Batch::new();
        for family in Family::ALL {
            batch.put(family, "round", round.to_string());
        }
        let future = space.commit(batch);
        let snapshot = space.snapshot().expect("a healthy store makes snapshots");
        let seen: Vec<_> = Family::ALL
            .iter()
            .map(|family| snapshot.get(*family, b"round").expect("a healthy store reads"))
            .collect();
        assert!(seen.windows(2).all(|pair| pair[0] == pair[1]), "{seen:?}");
        super::block_on(future).expect("a healthy store commits");
    }
}

pub(super) fn snapshot_outlives_its_handle(fixture: &mut Fixture) {
    let space = fixture.space(1);
    put(&*space, Family::Item, "key", "value");
    let snapshot = space.snapshot().expect("a healthy store makes snapshots");
    drop(space);
    put(&*fixture.space(1), Family::Item, "key", "newer");
    assert_eq!(
        snapshot.get(Family::Item, b"key").expect("a healthy store reads"),
        Some(Bytes::from("value"))
    );
}

pub(super) fn store_snapshot_keeps_all(fixture: &mut Fixture) {
    let ids = [0, 1, 2, 300, u64::MAX];
    for id in ids {
        let mut batch = Batch::new();
        for family in Family::ALL {
            batch.put(family, "key", id.to_string());
            batch.put(family, "", "the shortest key");
        }
        commit(&*fixture.space(id), batch).expect("a healthy store commits");
    }
    // One was dropped before, one holds nothing any more, one never held anything.
    fixture.store().drop_space(SpaceId(2)).expect("a healthy store drops");
    let emptied = fixture.space(7);
    put(&*emptied, Family::Meta, "key", "value");
    let mut batch = Batch::new();
    batch.delete(Family::Meta, "key");
    commit(&*emptied, batch).expect("a healthy store commits");
    fixture.space(8);
    let snapshot = fixture.store().snapshot_all().expect("a healthy store makes snapshots");
    // What comes afterwards is not seen: writes, spaces, drops.
    put(&*fixture.space(0), Family::Item, "key", "newer");
    put(&*fixture.space(9), Family::Item, "key", "newer");
    fixture.store().drop_space(SpaceId(1)).expect("a healthy store drops");
    fixture.store().drop_space(SpaceId(u64::MAX)).expect("a healthy store drops");
    for _ in 0..2 {
        let seen: Vec<u64> =
            snapshot.spaces().expect("a healthy store lists").iter().map(|id| id.0).collect();
        assert_eq!(seen, [0, 1, 300, u64::MAX]);
        for id in seen {
            let space = snapshot.space(SpaceId(id)).expect("a healthy store reads");
            for family in Family::ALL {
                let entries = scan_all(&*space, Scan { entries_max: 1, ..Scan::prefix(family, b"") });
                assert_eq!(entries.len(), 2, "space {id}");
                let value = space.get(family, b"key").expect("a healthy store reads");
                assert_eq!(value, Some(Bytes::from(id.to_string())), "space {id}");
                let values = space
                    .multi_get(family, &[Bytes::from("no"), Bytes::new()])
                    .expect("a healthy store reads");
                assert_eq!(values, [None, Some(Bytes::from("the shortest key"))]);
            }
        }
        for id in [2, 7, 8, 9, 1_000] {
            let space = snapshot.space(SpaceId(id)).expect("a healthy store reads");
            for family in Family::ALL {
                let held =
                    space.scan(&Scan::prefix(family, b"")).expect("a healthy store scans").entries.len();
                // One that was dropped before may still be on its way out; no list names it.
                assert!(held == 0 || id == 2, "space {id}");
            }
        }
        // Long enough for the bytes of what was dropped to be given back, or some of them.
        for round in 0..200_u32 {
            put(&*fixture.space(0), Family::Meta, "round", round.to_string());
        }
    }
}

/// Two spaces are written to in turn, each commit waiting for the one before: in one moment they are equally far, or
/// the first is one ahead.
pub(super) fn store_snapshot_is_one_moment(fixture: &mut Fixture) {
    let (first, second) = (fixture.space(1), fixture.space(2));
    let done = AtomicBool::new(false);
    let store = fixture.store();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for round in 1..=400_u64 {
                for space in [&first, &second] {
                    let mut batch = Batch::new();
                    batch.put(Family::Meta, "round", round.to_be_bytes().to_vec());
                    batch.put(Family::Item, round.to_be_bytes().to_vec(), "item");
                    commit(&**space, batch).expect("a healthy store commits");
                }
            }
            done.store(true, Ordering::Release);
        });
        let mut before = 0;
        while !done.load(Ordering::Acquire) {
            let snapshot = store.snapshot_all().expect("a healthy store makes snapshots");
            let rounds = [1, 2].map(|id| {
                let space = snapshot.space(SpaceId(id)).expect("a healthy store reads");
                let round = space.get(Family::Meta, b"round").expect("a healthy store reads");
                let round = round.map_or(0, |bytes| {
                    u64::from_be_bytes(bytes[..].try_into().expect("a round has eight bytes"))
                });
                let items = scan_all(&*space, Scan::prefix(Family::Item, b"")).len() as u64;
                assert_eq!(items, round, "a batch is seen as a whole");
                round
            });
            assert!(rounds[0] == rounds[1] || rounds[0] == rounds[1] + 1, "{rounds:?}");
            assert!(rounds[0] >= before, "a later snapshot sees a later moment");
            before = rounds[0];
        }
    });
}
