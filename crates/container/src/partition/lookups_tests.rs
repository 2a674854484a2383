//! What is kept, for whom it stands, and when it goes.

use armilla_index::entry_key;

use super::*;

const INDEX: IndexId = IndexId(7);

fn prefix(value: u64) -> Vec<u8> {
    let key = entry_key(INDEX, &value.to_be_bytes(), 0);
    key[..16].to_vec()
}

fn lookups(bytes_max: usize) -> Lookups {
    Lookups::new(Arc::new(KnownLookups::new(bytes_max)))
}

fn is_known(lookups: &Lookups, value: u64, lsn: u64) -> bool {
    lookups.find(&prefix(value), lsn).is_some()
}

fn note(lookups: &Lookups, lsn: u64, value: u64) {
    let entry = entry_key(INDEX, &value.to_be_bytes(), 1);
    lookups.note(lsn, [&entry[..]].into_iter(), std::iter::empty());
}

#[test]
fn a_change_is_for_readers_of_both_sides() {
    let lookups = lookups(1 << 20);
    lookups.keep(&prefix(1), 10, &[], || 10);
    lookups.keep(&prefix(2), 12, &[], || 12);
    assert!(is_known(&lookups, 1, 10) && is_known(&lookups, 1, 11) && is_known(&lookups, 2, 13));
    // It is not known since when it was so.
    assert!(!is_known(&lookups, 1, 9));
    note(&lookups, 12, 1);
    assert!(!is_known(&lookups, 1, 11) && !is_known(&lookups, 1, 12) && is_known(&lookups, 2, 13));
    // What was read before the change is not taken for what is there after it.
    lookups.keep(&prefix(1), 11, &[], || 12);
    assert!(!is_known(&lookups, 1, 12));
    lookups.keep(&prefix(1), 12, &[], || 12);
    assert!(is_known(&lookups, 1, 12) && is_known(&lookups, 1, 20) && !is_known(&lookups, 1, 11));
}

#[test]
fn what_was_on_its_way_when_an_index_was_first_asked_about_is_waited_for() {
    let lookups = lookups(1 << 20);
    // Commit 11 was not noted, and is not there yet.
    lookups.keep(&prefix(1), 10, &[], || 12);
    lookups.keep(&prefix(1), 11, &[], || 12);
    assert!(!is_known(&lookups, 1, 11));
    // Now it is.
    lookups.keep(&prefix(1), 11, &[], || 11);
    assert!(is_known(&lookups, 1, 11) && !is_known(&lookups, 1, 10));
}

#[test]
fn memory_is_bounded_and_partitions_are_apart() {
    let known = Arc::new(KnownLookups::new(LOOKUP_SHARDS * 1_000));
    let (one, other) = (Lookups::new(known.clone()), Lookups::new(known.clone()));
    for value in 0..10_000 {
        one.keep(&prefix(value), 5, &[], || 5);
        assert!(!is_known(&other, value, 5));
    }
    let bytes: usize = known.shards.iter().map(|shard| shard.lock().bytes).sum();
    let entries: usize = known.shards.iter().map(|shard| shard.lock().entries.len()).sum();
    let queued: usize = known.shards.iter().map(|shard| shard.lock().queue.len()).sum();
    assert!(
        bytes <= LOOKUP_SHARDS * 1_000 && entries > LOOKUP_SHARDS && entries == queued,
        "{bytes} {entries}"
    );
    // Nothing is kept where there is no room.
    let none = lookups(0);
    none.keep(&prefix(1), 5, &[], || 5);
    assert!(!is_known(&none, 1, 5));
}

#[test]
fn only_so_many_indexes_are_watched() {
    let lookups = lookups(1 << 20);
    for index in 1..=LOOKUP_INDEXES_MAX as u64 + 1 {
        let prefix = index.to_be_bytes();
        lookups.keep(&prefix, 5, &[], || 5);
        assert_eq!(lookups.find(&prefix, 5).is_some(), index <= LOOKUP_INDEXES_MAX as u64);
    }
}
