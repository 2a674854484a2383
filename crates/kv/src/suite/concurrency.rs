//! Many threads at once.

use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;

use super::{Fixture, block_on, commit, put, scan_all};
use crate::{Batch, ErrorKind, Family, Scan, Space};

const WRITERS: u32 = 4;
const ROUNDS: u32 = 100;

pub(super) fn writers_lose_nothing(fixture: &mut Fixture) {
    let spaces: Vec<_> = (0..2).map(|id| fixture.space(id)).collect();
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            let space = &spaces[writer as usize % spaces.len()];
            scope.spawn(move || {
                for round in 0..ROUNDS {
                    let mut batch = Batch::new();
                    for family in Family::ALL {
                        batch.put(family, key(writer, round), round.to_string());
                    }
                    commit(&**space, batch).expect("a healthy store commits");
                    let value = space.get(Family::Item, &key(writer, round)).expect("a healthy store reads");
                    assert_eq!(value, Some(Bytes::from(round.to_string())), "a writer reads what it wrote");
                }
            });
        }
    });
    drop(spaces);
    fixture.reopen();
    for id in 0..2 {
        let snapshot = fixture.space(id).snapshot().expect("a healthy store makes snapshots");
        for family in Family::ALL {
            assert_eq!(
                scan_all(&*snapshot, Scan::prefix(family, b"")).len(),
                (WRITERS * ROUNDS / 2) as usize
            );
        }
    }
}

pub(super) fn readers_see_whole_batches(fixture: &mut Fixture) {
    let space = fixture.space(1);
    commit(&*space, round_batch(0)).expect("a healthy store commits");
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let mut newest = 0;
                while !done.load(Ordering::Relaxed) {
                    let snapshot = space.snapshot().expect("a healthy store makes snapshots");
                    let seen: Vec<u32> = Family::ALL
                        .iter()
                        .flat_map(|family| scan_all(&*snapshot, Scan::prefix(*family, b"")))
                        .map(|(_, value)| number(&value))
                        .collect();
                    assert_eq!(seen.len(), Family::ALL.len() * 8);
                    assert!(seen.iter().all(|round| *round == seen[0]), "half a batch: {seen:?}");
                    assert!(seen[0] >= newest, "a snapshot is older than one before it");
                    newest = seen[0];
                    // The snapshot still shows the same.
                    let again = snapshot.get(Family::Feed, &[7]).expect("a healthy store reads");
                    assert_eq!(again.map(|value| number(&value)), Some(newest));
                }
            });
        }
        for round in 1..=300 {
            commit(&*space, round_batch(round)).expect("a healthy store commits");
        }
        done.store(true, Ordering::Relaxed);
    });
}

pub(super) fn reads_never_go_back(fixture: &mut Fixture) {
    let space = fixture.space(1);
    commit(&*space, round_batch(0)).expect("a healthy store commits");
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for reader in 0..3_u8 {
            let (space, done) = (&space, &done);
            scope.spawn(move || {
                let mut newest = 0;
                while !done.load(Ordering::Relaxed) {
                    // The keys of one batch in turn: having seen one, a reader must see the others.
                    for step in 0..8_u8 {
                        let value =
                            space.get(Family::Item, &[(step + reader) % 8]).expect("a healthy store reads");
                        let seen = value.map_or(0, |value| number(&value));
                        assert!(seen >= newest, "read {seen} after {newest}");
                        newest = seen;
                    }
                }
            });
        }
        for round in 1..=1_000 {
            commit(&*space, round_batch(round)).expect("a healthy store commits");
            let value = space.get(Family::Item, &[3]).expect("a healthy store reads");
            assert_eq!(value.map(|value| number(&value)), Some(round), "a writer reads what it wrote");
        }
        done.store(true, Ordering::Relaxed);
    });
}

pub(super) fn take_over_under_load(fixture: &mut Fixture) {
    put(&*fixture.space(1), Family::Meta, "sum", "0");
    let fixture = &*fixture;
    let store = fixture.store();
    let successes = std::sync::atomic::AtomicU32::new(0);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                // Adds one, as an owner would: read on opening, count in memory, write back. A lost fence
                // shows as a lost addition.
                for _ in 0..20 {
                    let space = store.open_space(crate::SpaceId(1)).expect("a healthy store opens");
                    let mut sum = number(&read_sum(&*space));
                    for _ in 0..5 {
                        let mut batch = Batch::new();
                        batch.put(Family::Meta, "sum", (sum + 1).to_string());
                        match block_on(space.commit(batch)) {
                            Ok(()) => {
                                sum += 1;
                                successes.fetch_add(1, Ordering::Relaxed);
                            }
                            Err(error) => {
                                assert_eq!(error.kind(), ErrorKind::Fenced);
                                break;
                            }
                        }
                    }
                }
            });
        }
    });
    let sum = number(&read_sum(&*fixture.space(1)));
    assert_eq!(sum, successes.load(Ordering::Relaxed));
}

fn read_sum(space: &dyn Space) -> Bytes {
    space.get(Family::Meta, b"sum").expect("a healthy store reads").expect("the sum is there")
}

fn round_batch(round: u32) -> Batch {
    let mut batch = Batch::new();
    for family in Family::ALL {
        for key in 0..8_u8 {
            batch.put(family, vec![key], round.to_string());
        }
    }
    batch
}

fn key(writer: u32, round: u32) -> Vec<u8> {
    [writer.to_be_bytes(), round.to_be_bytes()].concat()
}

fn number(value: &Bytes) -> u32 {
    std::str::from_utf8(value)
        .ok()
        .and_then(|text| text.parse().ok())
        .expect("the suite writes decimal numbers")
}
