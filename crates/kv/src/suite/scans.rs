//! Reading ranges.

use std::collections::BTreeMap;
use std::ops::{Bound, ControlFlow};

use bytes::Bytes;

use super::{Fixture, commit, put, scan_all};
use crate::{Batch, Direction, Family, Scan, Snapshot, Space};

/// Returns the keys that a visit is shown until it has seen so many.
fn visit_up_to(snapshot: &dyn Snapshot, scan: &Scan, keys_max: usize) -> Vec<Bytes> {
    let mut keys = Vec::new();
    let visited = snapshot.visit_keys(scan, &mut |key| {
        keys.push(Bytes::copy_from_slice(key));
        if keys.len() < keys_max { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    visited.expect("a healthy store reads");
    keys
}

pub(super) fn every_kind_of_bound(fixture: &mut Fixture) {
    let space = fixture.space(7);
    let keys: [&[u8]; 9] = [b"", b"\0", b"a", b"a\0", b"ab", b"b", b"\xFF", b"\xFF\xFF", b"\xFF\xFF\0"];
    let model = fill(&*space, &keys);
    let probes: [&[u8]; 12] =
        [b"", b"\0", b"\0\0", b"a", b"a\0", b"aa", b"ab", b"b", b"c", b"\xFF", b"\xFF\xFF", b"\xFF\xFF\xFF"];
    let mut bounds = vec![Bound::Unbounded];
    for probe in probes {
        bounds.push(Bound::Included(Bytes::from_static(probe)));
        bounds.push(Bound::Excluded(Bytes::from_static(probe)));
    }
    let snapshot = space.snapshot().expect("a healthy store makes snapshots");
    for lower in &bounds {
        for upper in &bounds {
            let inside = |key: &Bytes| {
                let above = match lower {
                    Bound::Included(bound) => key >= bound,
                    Bound::Excluded(bound) => key > bound,
                    Bound::Unbounded => true,
                };
                let below = match upper {
                    Bound::Included(bound) => key <= bound,
                    Bound::Excluded(bound) => key < bound,
                    Bound::Unbounded => true,
                };
                above && below
            };
            let mut expected: Vec<(Bytes, Bytes)> = model
                .iter()
                .filter(|(key, _)| inside(key))
                .map(|(key, value)| (key.clone(), value.clone()))
                .collect();
            for direction in [Direction::Forward, Direction::Reverse] {
                for entries_max in [1, 2, 100] {
                    let scan = Scan {
                        family: Family::Index,
                        lower: lower.clone(),
                        upper: upper.clone(),
                        direction,
                        entries_max,
                        bytes_max: usize::MAX,
                    };
                    assert_eq!(scan_all(&*snapshot, scan.clone()), expected, "{scan:?}");
                    let keys: Vec<Bytes> = expected.iter().map(|(key, _)| key.clone()).collect();
                    assert_eq!(visit_up_to(&*snapshot, &scan, usize::MAX), keys, "visiting {scan:?}");
                    let some = &keys[..keys.len().min(2)];
                    assert_eq!(visit_up_to(&*snapshot, &scan, 2), some, "visiting two of {scan:?}");
                }
                expected.reverse();
            }
        }
    }
}

pub(super) fn pages_go_on(fixture: &mut Fixture) {
    let space = fixture.space(1);
    let mut batch = Batch::new();
    for number in 0..1_000_u32 {
        batch.put(Family::Feed, number.to_be_bytes().to_vec(), vec![0; 96]);
    }
    commit(&*space, batch).expect("a healthy store commits");
    let snapshot = space.snapshot().expect("a healthy store makes snapshots");
    for direction in [Direction::Forward, Direction::Reverse] {
        for (entries_max, bytes_max, expected) in [
            (10, usize::MAX, 10),
            (usize::MAX, 1_000, 10),
            (usize::MAX, 1_001, 11),
            (usize::MAX, 999, 10),
            (3, 1_000, 3),
            (999, usize::MAX, 999),
        ] {
            let scan = Scan { entries_max, bytes_max, direction, ..Scan::prefix(Family::Feed, b"") };
            let page = snapshot.scan(&scan).expect("a healthy store scans");
            assert_eq!(page.entries.len(), expected, "{entries_max} entries, {bytes_max} bytes");
            assert!(page.more);
            assert_eq!(scan_all(&*snapshot, scan).len(), 1_000);
        }
        let whole = Scan { entries_max: 1_001, direction, ..Scan::prefix(Family::Feed, b"") };
        let page = snapshot.scan(&whole).expect("a healthy store scans");
        assert_eq!((page.entries.len(), page.more), (1_000, false));
    }
}

pub(super) fn one_entry_always_fits(fixture: &mut Fixture) {
    let space = fixture.space(1);
    fill(&*space, &[b"a", b"b", b"c"]);
    let snapshot = space.snapshot().expect("a healthy store makes snapshots");
    for bytes_max in [0, 1] {
        let scan = Scan { bytes_max, ..Scan::prefix(Family::Index, b"") };
        let page = snapshot.scan(&scan).expect("a healthy store scans");
        assert_eq!((page.entries.len(), page.more), (1, true));
        assert_eq!(scan_all(&*snapshot, scan).len(), 3);
    }
}

pub(super) fn prefixes_stop(fixture: &mut Fixture) {
    let space = fixture.space(1);
    let keys: [&[u8]; 7] = [b"a", b"ab", b"ab\xFF\xFF", b"ac", b"b", b"\xFF", b"\xFF\xFF\x01"];
    let model = fill(&*space, &keys);
    let snapshot = space.snapshot().expect("a healthy store makes snapshots");
    for prefix in [&b""[..], b"a", b"ab", b"ab\xFF", b"b", b"c", b"\xFF", b"\xFF\xFF"] {
        let expected: Vec<_> = model
            .iter()
            .filter(|(key, _)| key.starts_with(prefix))
            .map(|(k, v)| (k.clone(), v.clone()))
            .collect();
        assert_eq!(scan_all(&*snapshot, Scan::prefix(Family::Index, prefix)), expected, "{prefix:?}");
    }
}

pub(super) fn scans_stay_in_their_space(fixture: &mut Fixture) {
    for id in [4, 5, 6, u64::MAX] {
        let space = fixture.space(id);
        put(&*space, Family::Index, "", format!("{id}"));
        put(&*space, Family::Index, vec![0xFF; 20], format!("{id}"));
        put(&*space, Family::Item, "x", format!("{id}"));
    }
    for id in [4, 5, 6, u64::MAX] {
        let snapshot = fixture.space(id).snapshot().expect("a healthy store makes snapshots");
        for direction in [Direction::Forward, Direction::Reverse] {
            let scan = Scan { direction, ..Scan::prefix(Family::Index, b"") };
            let entries = scan_all(&*snapshot, scan);
            assert_eq!(entries.len(), 2);
            assert!(entries.iter().all(|(_, value)| *value == format!("{id}")), "space {id}");
        }
    }
}

/// Puts the keys with distinct values into the index family and returns what is there.
fn fill(space: &dyn Space, keys: &[&[u8]]) -> BTreeMap<Bytes, Bytes> {
    let mut batch = Batch::new();
    let mut model = BTreeMap::new();
    for (number, key) in keys.iter().enumerate() {
        let (key, value) = (Bytes::copy_from_slice(key), Bytes::from(number.to_string()));
        batch.put(Family::Index, key.clone(), value.clone());
        model.insert(key, value);
    }
    commit(space, batch).expect("a healthy store commits");
    model
}
