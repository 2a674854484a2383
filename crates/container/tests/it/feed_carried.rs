//! Entries of the change log that carry the version that they are about: which do, and what becomes of what they carry.

use std::sync::Arc;

use armilla_container::{
    Container, CutBy, ErrorKind, FeedStart, Limits, ListScope, Precondition, Priority, WriteMode,
    check_partition, rebuild_partition,
};
use armilla_kv::memory::MemoryStore;
use armilla_kv::{Batch, Family, SpaceId, Store};
use bytes::Bytes;

use crate::feed::{delete, put, put_together};
use crate::feeding::{Follower, shown};
use crate::index::open;
use crate::reshaping::{ids, merge, split};
use crate::support::{self, Glass, check, definition, key, refused, scan};

const LATEST: &str = r#"{"id":"c","partitionKey":{"paths":["/pk"]}}"#;
const ALL_VERSIONS: &str =
    r#"{"id":"c","partitionKey":{"paths":["/pk"]},"changeFeedPolicy":{"retentionDuration":10}}"#;

/// Most bytes of an item that is carried.
const CARRIED_BYTES_MAX: usize = 2_048;

/// Returns what an entry carries.
fn carried(entry: &Bytes) -> Option<Bytes> {
    support::carried(entry).0
}

/// Returns the entries of all change logs, and all items.
fn stored(glass: &Glass) -> (Vec<Bytes>, Vec<Bytes>) {
    let dump = glass.store.dump();
    let of = |family: Family| {
        let of_family = dump.iter().filter(move |((_, own, _), _)| *own == family as u8);
        of_family.map(|(_, value)| value.clone()).collect::<Vec<_>>()
    };
    (of(Family::Feed), of(Family::Item))
}

async fn put_long(container: &Container, id: &str, note_bytes: usize) {
    let note = "x".repeat(note_bytes);
    let body = format!(r#"{{"id":"{id}","pk":"a","n":{note_bytes},"note":"{note}"}}"#);
    let key = key(r#"["a"]"#);
    let write = container.write_item(
        WriteMode::Upsert,
        &key,
        None,
        body.as_bytes().into(),
        Precondition::None,
        Priority::High,
    );
    write.await.unwrap();
}

#[tokio::test]
async fn every_live_item_is_carried_once() {
    let glass = Glass::new(LATEST, Limits::default());
    let container = &glass.fixture.container;
    for n in 0..3 {
        for id in 0..20 {
            put(container, "a", &id.to_string(), n).await;
        }
    }
    put_together(container, "b", 0..5, 7).await;
    delete(container, "a", "3").await;
    let (entries, mut items) = stored(&glass);
    assert_eq!(items.len(), 24);
    let mut all: Vec<Bytes> = entries.iter().map(|entry| carried(entry).unwrap()).collect();
    all.sort_unstable();
    items.sort_unstable();
    assert!(all == items, "the log carries the items byte by byte, each once");
    check(container);
}

/// Nothing but the log is read for what it carries: without the items the feed is the same.
#[tokio::test]
async fn the_feed_of_what_is_carried_reads_no_item() {
    let glass = Glass::new(LATEST, Limits::default());
    let container = &glass.fixture.container;
    for n in 0..30 {
        put(container, "a", &(n % 20).to_string(), n).await;
    }
    let whole = Follower::latest(ListScope::All, FeedStart::Beginning).drain(container);
    let space = glass.store.inner.open_space(SpaceId(1)).unwrap();
    let mut batch = Batch::new();
    for (key, _) in scan(space.as_ref(), Family::Item) {
        batch.delete(Family::Item, key);
    }
    space.commit(batch).await.unwrap();
    for items_max in [1, 7, 1_000] {
        let mut follower = Follower::latest(ListScope::All, FeedStart::Beginning);
        follower.items_max = items_max;
        assert_eq!(shown(&follower.drain(container)), shown(&whole));
    }
}

#[tokio::test]
async fn large_items_are_fetched() {
    let glass = Glass::new(LATEST, Limits::default());
    let container = &glass.fixture.container;
    // Where the bound lies for this item, told by what one with a long note takes beside the note.
    put_long(container, "0000", 1_000).await;
    let beside = stored(&glass).1[0].len() - 1_000;
    for bytes in [CARRIED_BYTES_MAX - 1, CARRIED_BYTES_MAX, CARRIED_BYTES_MAX + 1, 10_000] {
        put_long(container, &bytes.to_string(), bytes - beside).await;
    }
    let (entries, items) = stored(&glass);
    assert!(items.iter().any(|item| item.len() >= 10_000));
    let lengths: Vec<_> = entries.iter().map(|entry| carried(entry).map(|carried| carried.len())).collect();
    let (max, first) = (CARRIED_BYTES_MAX, beside + 1_000);
    assert_eq!(lengths, [Some(first), Some(max - 1), Some(max), None, None]);
    let changes = Follower::latest(ListScope::All, FeedStart::Beginning).drain(container);
    assert_eq!(changes.len(), 5);
    // An item that grows is carried no more, one that shrinks is carried.
    put_long(container, "0000", 9_000).await;
    put_long(container, "10000", 10).await;
    let entries = stored(&glass).0;
    let is_carried: Vec<_> = entries.iter().map(|entry| carried(entry).is_some()).collect();
    assert_eq!(is_carried, [true, true, false, false, true]);
    let changes = Follower::latest(ListScope::All, FeedStart::Beginning).drain(container);
    assert_eq!(changes.iter().map(|change| change.lsn).collect::<Vec<_>>(), [2, 3, 4, 6, 7]);
    check(container);
}

/// Where all versions are kept, entries carry nothing; those from before do until they go.
#[tokio::test]
async fn what_was_carried_before_all_versions_were_kept() {
    let glass = Glass::new(LATEST, Limits::default());
    let container = &glass.fixture.container;
    put(container, "a", "x", 1).await;
    put(container, "a", "y", 1).await;
    container.set_definition(definition(ALL_VERSIONS), None);
    let mut follower = Follower::versions(ListScope::All, FeedStart::Now);
    follower.next(container);
    put(container, "a", "x", 2).await;
    put(container, "a", "z", 2).await;
    delete(container, "a", "y").await;
    check(container);
    let latest = || shown(&Follower::latest(ListScope::All, FeedStart::Beginning).drain(container));
    assert_eq!(latest(), ["a/x=2", "a/z=2"], "what is carried and was replaced is no news");
    assert_eq!(follower.drain(container).len(), 3);
    container.set_definition(definition(LATEST), None);
    put(container, "a", "z", 3).await;
    assert_eq!(latest(), ["a/x=2", "a/z=3"]);
    while container.sweep_step().await.unwrap().trimmed > 0 {}
    assert_eq!(latest(), ["a/x=2", "a/z=3"]);
    check(container);
}

/// Children carry what their parents did, with the operation numbers that versions have there.
#[tokio::test]
async fn splits_and_merges_carry_on() {
    let glass = Glass::with(LATEST, 20_000, Limits::default());
    let container = &glass.fixture.container;
    for pk in 0..40 {
        put_together(container, &pk.to_string(), 0..3, pk).await;
    }
    let shown_now = || {
        let mut all = shown(&Follower::latest(ListScope::All, FeedStart::Beginning).drain(container));
        all.sort_unstable();
        all
    };
    let before = shown_now();
    assert_eq!(before.len(), 120);
    // Commits of both sides have the same numbers, so many of one side get other operation numbers.
    let merged = ids(container);
    merge(container, [merged[0], merged[1]]).await.unwrap();
    check(container);
    assert_eq!(shown_now(), before);
    let is_renumbered = |entry: &Bytes| carried(entry).is_some_and(|item| item[1] & 2 != 0);
    assert!(stored(&glass).0.iter().any(is_renumbered), "some were given other operation numbers");
    split(container, ids(container)[0], CutBy::Bytes).await.unwrap();
    check(container);
    assert_eq!(shown_now(), before);
}

/// Entries of older programs carry nothing; children carry what their parents did not.
#[tokio::test]
async fn entries_that_carry_nothing_are_read() {
    let glass = Glass::new(LATEST, Limits::default());
    let container = &glass.fixture.container;
    for n in 0..30 {
        put(container, &n.to_string(), "1", n).await;
    }
    let before = shown(&Follower::latest(ListScope::All, FeedStart::Beginning).drain(container));
    let space = glass.store.inner.open_space(SpaceId(1)).unwrap();
    let mut batch = Batch::new();
    for (key, entry) in scan(space.as_ref(), Family::Feed) {
        batch.put(Family::Feed, key, support::carried(&entry).1);
    }
    space.commit(batch).await.unwrap();
    drop(space);
    let store = glass.store.clone() as Arc<dyn Store>;
    let container = &open(&store, definition(LATEST), None, 400);
    check(container);
    assert_eq!(shown(&Follower::latest(ListScope::All, FeedStart::Beginning).drain(container)), before);
    split(container, 0, CutBy::Bytes).await.unwrap();
    check(container);
    let (entries, _) = stored(&glass);
    assert!(entries.iter().filter(|entry| carried(entry).is_some()).count() >= 30);
    let mut after = shown(&Follower::latest(ListScope::All, FeedStart::Beginning).drain(container));
    let mut before = before;
    before.sort_unstable();
    after.sort_unstable();
    assert_eq!(after, before);
}

/// What an entry carries is checked when it is read, told by a check, and taken out by a repair.
#[tokio::test]
async fn what_is_damaged_is_told() {
    let store = Arc::new(MemoryStore::new()) as Arc<dyn Store>;
    let container = open(&store, definition(LATEST), None, 400);
    for n in 0..3 {
        put(&container, "a", &n.to_string(), n).await;
    }
    let space = store.open_space(SpaceId(1)).unwrap();
    let log = scan(space.as_ref(), Family::Feed);
    let (first, second) = (carried(&log[0].1).unwrap(), carried(&log[1].1).unwrap());
    let plain_bytes = log[0].1.len() - first.len();
    let of_another = [&log[0].1[..plain_bytes], &second].concat();
    let mut batch = Batch::new();
    batch.put(Family::Feed, log[0].0.clone(), of_another);
    space.commit(batch).await.unwrap();
    drop((space, container));
    let container = open(&store, definition(LATEST), None, 400);
    let mut follower = Follower::latest(ListScope::All, FeedStart::Beginning);
    let error = refused(follower.try_next(&container), ErrorKind::Corrupt);
    assert!(error.to_string().contains("carries another version"), "{error}");
    let problems = format!("{:?}", check_partition(&container, 0, &mut |_| {}).unwrap().problems);
    assert!(problems.contains("carries another version"), "{problems}");
    drop(container);
    assert_eq!(rebuild_partition(&open(&store, definition(LATEST), None, 400), 0).unwrap().items, 3);
    let container = open(&store, definition(LATEST), None, 400);
    let changes = Follower::latest(ListScope::All, FeedStart::Beginning).drain(&container);
    assert_eq!(shown(&changes), ["a/0=0", "a/1=1", "a/2=2"]);
}
