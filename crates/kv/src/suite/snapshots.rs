//! Views that never change.

use bytes::Bytes;

use super::{Fixture, commit, put, scan_all};
use crate::{Batch, Family, Scan};

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
