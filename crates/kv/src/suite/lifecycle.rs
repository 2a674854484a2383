//! Opening, fencing, dropping, closing, opening again.

use std::ops::Bound;
use std::time::Duration;

use bytes::Bytes;

use super::{Fixture, block_on, commit, put, scan_all};
use crate::{Batch, ErrorKind, Family, KEY_BYTES_MAX, RangeClone, Result, Scan, Snapshot, Space, SpaceId};

pub(super) fn opening_fences(fixture: &mut Fixture) {
    let first = fixture.space(1);
    put(&*first, Family::Item, "a", "first");
    let second = fixture.space(1);
    assert_eq!(kind(try_put(&*first, "a")), Some(ErrorKind::Fenced));
    // The older handle still reads, and sees what the newer one writes.
    put(&*second, Family::Item, "b", "second");
    for space in [&first, &second] {
        assert_eq!(space.get(Family::Item, b"a").expect("a healthy store reads"), Some(Bytes::from("first")));
        assert_eq!(
            space.get(Family::Item, b"b").expect("a healthy store reads"),
            Some(Bytes::from("second"))
        );
    }
    // Other spaces are not fenced.
    let other = fixture.space(2);
    let _third = fixture.space(1);
    put(&*other, Family::Item, "a", "other");
    assert_eq!(kind(try_put(&*second, "a")), Some(ErrorKind::Fenced));
}

pub(super) fn a_failed_commit_closes_its_handle(fixture: &mut Fixture) {
    let space = fixture.space(1);
    put(&*space, Family::Item, "a", "before");
    let mut too_large = Batch::new();
    too_large.put(Family::Item, vec![0; KEY_BYTES_MAX + 1], "x");
    // On their way together: what comes behind a failure must not be written, even if the caller has not seen it yet.
    let futures = [space.commit(too_large), space.commit(single("a")), space.commit(single("b"))];
    let outcomes = futures.map(|future| kind(block_on(future)));
    let closed = Some(ErrorKind::HandleClosed);
    assert_eq!(outcomes, [Some(ErrorKind::TooLarge), closed, closed]);
    assert_eq!(kind(try_put(&*space, "c")), closed);
    let again = fixture.space(1);
    // Another handle has taken the space over, which weighs more.
    assert_eq!(kind(try_put(&*space, "c")), Some(ErrorKind::Fenced));
    put(&*again, Family::Item, "d", "after");
    let found: Vec<Bytes> =
        scan_all(&*again.snapshot().expect("a healthy store reads"), Scan::prefix(Family::Item, b""))
            .into_iter()
            .map(|(key, _)| key)
            .collect();
    assert_eq!(found, ["a", "d"]);
}

pub(super) fn ranges_are_cloned(fixture: &mut Fixture) {
    let space = fixture.space(1);
    for key in ["a", "b", "c", "d"] {
        put(&*space, Family::Item, key, "before");
    }
    put(&*space, Family::Feed, "b", "other");
    let clone =
        |space, lower, upper| RangeClone { space: SpaceId(space), family: Family::Item, lower, upper };
    let (unbounded, c) = (Bound::Unbounded, Bytes::from("c"));
    let clones =
        [clone(2, unbounded.clone(), Bound::Excluded(c.clone())), clone(3, Bound::Included(c), unbounded)];
    let view = fixture.store().clone_ranges(SpaceId(1), &clones).expect("a healthy store makes clones");
    // Not every store can.
    let Some(view) = view else { return };
    put(&*space, Family::Item, "b", "after");
    let items = |snapshot: &dyn Snapshot| -> Vec<(Bytes, Bytes)> {
        scan_all(snapshot, Scan::prefix(Family::Item, b""))
    };
    assert_eq!(items(&*view).len(), 4);
    assert_eq!(view.get(Family::Item, b"b").expect("a healthy store reads"), Some(Bytes::from("before")));
    assert_eq!(view.get(Family::Feed, b"b").expect("a healthy store reads"), Some(Bytes::from("other")));
    drop(view);
    let check = |fixture: &Fixture| {
        for (space, expected) in [(2, ["a", "b"]), (3, ["c", "d"])] {
            let made = fixture.space(space);
            let snapshot = made.snapshot().expect("a healthy store reads");
            let expected: Vec<(Bytes, Bytes)> =
                expected.iter().map(|key| (Bytes::from(*key), Bytes::from("before"))).collect();
            assert_eq!(items(&*snapshot), expected, "space {space}");
            assert_eq!(scan_all(&*snapshot, Scan::prefix(Family::Feed, b"")), []);
        }
    };
    check(fixture);
    // They live on when what they were made of is dropped, and are written to like any other.
    drop(space);
    fixture.store().drop_space(SpaceId(1)).expect("a healthy store drops");
    check(fixture);
    fixture.reopen();
    check(fixture);
    let made = fixture.space(2);
    put(&*made, Family::Item, "b", "written");
    let mut batch = Batch::new();
    batch.delete(Family::Item, "a");
    block_on(made.commit(batch)).expect("a healthy store commits");
    assert_eq!(
        items(&*made.snapshot().expect("a healthy store reads")),
        [(Bytes::from("b"), Bytes::from("written"))]
    );
    let of_clone = [clone(4, Bound::Unbounded, Bound::Unbounded)];
    let view = fixture.store().clone_ranges(SpaceId(2), &of_clone).expect("a healthy store makes clones");
    assert!(view.is_some());
    drop((view, made));
    fixture.store().drop_space(SpaceId(2)).expect("a healthy store drops");
    fixture.store().drop_space(SpaceId(3)).expect("a healthy store drops");
    let last = fixture.space(4);
    assert_eq!(last.get(Family::Item, b"b").expect("a healthy store reads"), Some(Bytes::from("written")));
}

fn single(key: &'static str) -> Batch {
    let mut batch = Batch::new();
    batch.put(Family::Item, key, "late");
    batch
}

pub(super) fn fenced_batch_changes_nothing(fixture: &mut Fixture) {
    let first = fixture.space(1);
    let in_flight: Vec<_> = (0..20_u32)
        .map(|number| {
            let mut batch = Batch::new();
            for family in Family::ALL {
                batch.put(family, number.to_be_bytes().to_vec(), "first");
            }
            first.commit(batch)
        })
        .collect();
    let second = fixture.space(1);
    let at_take_over = second.snapshot().expect("a healthy store makes snapshots");
    let mut succeeded = 0;
    for (number, future) in in_flight.into_iter().enumerate() {
        match block_on(future) {
            Ok(()) => {
                assert_eq!(number, succeeded, "a commit succeeded behind one that was fenced");
                succeeded += 1;
            }
            Err(error) => assert_eq!(error.kind(), ErrorKind::Fenced),
        }
    }
    for family in Family::ALL {
        assert_eq!(
            scan_all(&*at_take_over, Scan::prefix(family, b"")).len(),
            succeeded,
            "{family:?} at take-over"
        );
    }
    let now = second.snapshot().expect("a healthy store makes snapshots");
    assert_eq!(scan_all(&*now, Scan::prefix(Family::Item, b"")).len(), succeeded);
}

pub(super) fn dropped_is_unreachable(fixture: &mut Fixture) {
    let space = fixture.space(1);
    put(&*space, Family::Item, "key", "value");
    let snapshot = space.snapshot().expect("a healthy store makes snapshots");
    assert!(space.get(Family::Item, b"key").is_ok());
    fixture.store().drop_space(SpaceId(1)).expect("a healthy store drops");
    let check = |fixture: &Fixture| {
        let opened = fixture.store().open_space(SpaceId(1));
        assert_eq!(opened.err().map(|error| error.kind()), Some(ErrorKind::SpaceDropped));
    };
    check(fixture);
    let key = [Bytes::from("key")];
    let failures = [
        kind(space.get(Family::Item, b"key")),
        kind(space.multi_get(Family::Item, &key)),
        kind(space.snapshot()),
        kind(try_put(&*space, "key")),
        kind(snapshot.get(Family::Item, b"key")),
        kind(snapshot.multi_get(Family::Item, &key)),
        kind(snapshot.scan(&Scan::prefix(Family::Item, b""))),
    ];
    assert_eq!(failures, [Some(ErrorKind::SpaceDropped); 7]);
    drop((space, snapshot));
    fixture.reopen();
    check(fixture);
    wait_until_reclaimed(fixture);
    fixture.reopen();
    check(fixture);
}

pub(super) fn dropping_is_idempotent(fixture: &mut Fixture) {
    for id in 1..=5 {
        put(&*fixture.space(id), Family::Item, "key", id.to_string());
    }
    for id in [2, 4, 2, 3, 4] {
        fixture.store().drop_space(SpaceId(id)).expect("dropping again succeeds");
    }
    for round in 0..2 {
        for id in 1..=5 {
            match fixture.store().open_space(SpaceId(id)) {
                Ok(space) => {
                    assert!([1, 5].contains(&id));
                    let value = space.get(Family::Item, b"key").expect("a healthy store reads");
                    assert_eq!(value, Some(Bytes::from(id.to_string())));
                }
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::SpaceDropped, "space {id}");
                    assert!([2, 3, 4].contains(&id), "space {id} in round {round}");
                }
            }
        }
        wait_until_reclaimed(fixture);
        fixture.store().drop_space(SpaceId(3)).expect("dropping a space that is gone succeeds");
        fixture.reopen();
    }
}

pub(super) fn dropped_gives_bytes_back(fixture: &mut Fixture) {
    let (doomed, neighbour) = (fixture.space(1), fixture.space(2));
    for space in [&doomed, &neighbour] {
        for chunk in 0..5_u32 {
            let mut batch = Batch::new();
            for number in 0..500_u32 {
                for family in Family::ALL {
                    batch.put(family, (chunk * 500 + number).to_be_bytes().to_vec(), vec![7; 50]);
                }
            }
            commit(&**space, batch).expect("a healthy store commits");
        }
    }
    drop(doomed);
    fixture.store().drop_space(SpaceId(1)).expect("a healthy store drops");
    // A restart in the middle resumes the work.
    drop(neighbour);
    fixture.reopen_without_closing();
    wait_until_reclaimed(fixture);
    let snapshot = fixture.space(2).snapshot().expect("a healthy store makes snapshots");
    for family in Family::ALL {
        assert_eq!(
            scan_all(&*snapshot, Scan::prefix(family, b"")).len(),
            2_500,
            "the neighbour lost entries"
        );
    }
}

pub(super) fn unknown_space_can_be_dropped(fixture: &mut Fixture) {
    fixture.store().drop_space(SpaceId(99)).expect("a space that never was can be dropped");
    let opened = fixture.store().open_space(SpaceId(99));
    assert_eq!(opened.err().map(|error| error.kind()), Some(ErrorKind::SpaceDropped));
}

pub(super) fn closed_refuses(fixture: &mut Fixture) {
    let space = fixture.space(1);
    put(&*space, Family::Item, "key", "value");
    fixture.store().close().expect("a healthy store closes");
    fixture.store().close().expect("closing again succeeds");
    assert_eq!(kind(try_put(&*space, "key")), Some(ErrorKind::Closed));
    let opened = fixture.store().open_space(SpaceId(1));
    assert_eq!(opened.err().map(|error| error.kind()), Some(ErrorKind::Closed));
    assert_eq!(kind(fixture.store().drop_space(SpaceId(1))), Some(ErrorKind::Closed));
}

pub(super) fn survives_reopening(fixture: &mut Fixture) {
    if !fixture.is_durable() {
        return;
    }
    for round in 0..4_u32 {
        let space = fixture.space(1);
        for earlier in 0..round {
            for family in Family::ALL {
                let value = space.get(family, &earlier.to_be_bytes()).expect("a healthy store reads");
                assert_eq!(
                    value,
                    Some(Bytes::from(format!("round {earlier}"))),
                    "{family:?} after {round} reopenings"
                );
            }
        }
        let mut batch = Batch::new();
        for family in Family::ALL {
            batch.put(family, round.to_be_bytes().to_vec(), format!("round {round}"));
        }
        commit(&*space, batch).expect("a healthy store commits");
        drop(space);
        if round % 2 == 0 { fixture.reopen() } else { fixture.reopen_without_closing() }
    }
}

pub(super) fn figures_are_counted(fixture: &mut Fixture) {
    let before = fixture.store().stats();
    let space = fixture.space(1);
    for _ in 0..10 {
        put(&*space, Family::Item, "key", vec![1; 1_000]);
    }
    let after = fixture.store().stats();
    assert_eq!(after.commits - before.commits, 10);
    assert!(after.write_buffer_bytes > before.write_buffer_bytes || after.disk_bytes > before.disk_bytes);
    assert_eq!(after.queued_bytes, 0);
    assert!(after.flush_us >= after.flush_max_us && after.stall_us >= after.stall_max_us);
}

fn wait_until_reclaimed(fixture: &Fixture) {
    for _ in 0..6_000 {
        if fixture.store().stats().spaces_to_reclaim == 0 {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("a dropped space was not reclaimed within a minute");
}

fn try_put(space: &dyn Space, key: &'static str) -> Result<()> {
    let mut batch = Batch::new();
    batch.put(Family::Item, key, "late");
    commit(space, batch)
}

fn kind<T>(result: Result<T>) -> Option<ErrorKind> {
    result.err().map(|error| error.kind())
}
