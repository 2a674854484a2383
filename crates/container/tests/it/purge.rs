//! Purging: what is taken away when, with which budget, and that nothing is left over.

use std::sync::Arc;
use std::time::Duration;

use armilla_container::{
    Container, CutBy, ErrorKind, Limits, ListScope, PURGE_STEP_ITEMS, PartitionMap, Policy, Precondition,
    Priority, ReadCost, SessionToken, ThroughputSource, WriteMode,
};
use armilla_env::{Clock, Env, SimulatedClock};
use armilla_kv::fault::{Fault, FaultStore};
use armilla_kv::memory::MemoryStore;
use armilla_kv::{Family, SpaceId, Store};

use crate::reshaping::{begin_split, ids, merge, split};
use crate::support::{
    Fixture, Glass, check, definition, identity, key, known_numbers, list, make_older, open, ranges, refused,
    scan,
};
use crate::time_to_live::{body, fixture, purge, set_default, with_default};

const A: &str = r#"["a"]"#;

fn count(fixture: &Fixture) -> u64 {
    fixture.container.counters().unwrap().items
}

/// Nothing is left of what was purged: what is stored is what is stored of the items that stay.
#[tokio::test]
async fn nothing_is_left_of_what_is_purged() {
    let glass = Glass::new(&with_default(Some(10)), Limits::default());
    let fixture = &glass.fixture;
    for number in 0..PURGE_STEP_ITEMS * 3 {
        let ttl = [None, Some(5), Some(20)][number % 3];
        fixture.create(A, &body(&number.to_string(), ttl)).await.unwrap();
    }
    fixture.pass(11);
    let (first, more) = fixture.container.purge_step().await.unwrap();
    assert_eq!((first, more), (PURGE_STEP_ITEMS as u64, true));
    fixture.check();
    assert_eq!(fixture.purge().await, PURGE_STEP_ITEMS as u64);
    assert_eq!(count(fixture), PURGE_STEP_ITEMS as u64);
    fixture.check();
    fixture.pass(10);
    assert_eq!(fixture.purge().await, PURGE_STEP_ITEMS as u64);
    fixture.check();
    let counters = fixture.container.counters().unwrap();
    assert_eq!((counters.items, counters.bytes, counters.index_bytes), (0, 0, 0));
    let left = glass.store.dump();
    for family in [Family::Item, Family::Number, Family::Index] {
        assert!(left.keys().all(|(_, other, _)| *other != family as u8), "{family:?}");
    }
    // Counters, and the layouts of the index.
    let meta =
        left.keys().filter(|(_, family, key)| *family == Family::Meta as u8 && ![0, 6, 9].contains(&key[0]));
    assert_eq!(meta.count(), 0);
}

/// Items with a longer time of their own do not keep others from being found, and are looked at once.
#[tokio::test]
async fn long_lived_items_are_passed_over() {
    let fixture = fixture(Some(1));
    for number in 0..1_300 {
        fixture.create(A, &body(&format!("e{number}"), Some(-1))).await.unwrap();
    }
    fixture.create(A, &body("1", None)).await.unwrap();
    fixture.pass(2);
    let (purged, more) = fixture.container.purge_step().await.unwrap();
    assert_eq!((purged, more), (0, true));
    assert_eq!(fixture.container.purge_step().await.unwrap(), (1, false));
    // An early time stamp is found all the same: a transaction fixed it long before it was committed.
    let mut transaction =
        fixture.container.begin(&key(A), 0, ReadCost::Single, Priority::High).await.unwrap();
    transaction.put(WriteMode::Create, None, body("2", None).as_bytes(), Precondition::None).unwrap();
    fixture.pass(5);
    fixture.create(A, &body("3", None)).await.unwrap();
    fixture.pass(5);
    assert_eq!(fixture.purge().await, 1);
    transaction.commit().await.unwrap();
    assert_eq!(count(&fixture), 1_301);
    refused(fixture.read(A, "2"), ErrorKind::ItemNotFound);
    assert_eq!(fixture.purge().await, 1);
    assert_eq!(count(&fixture), 1_300);
    // A lower default is no reason to begin anew, a clock that was put back is one; either way all are found.
    fixture.create(A, &body("4", None)).await.unwrap();
    set_default(&fixture.container, Some(100));
    fixture.pass(50);
    assert_eq!(fixture.purge().await, 0);
    set_default(&fixture.container, Some(20));
    assert_eq!(fixture.purge().await, 1);
    fixture.check();
}

#[tokio::test]
async fn without_a_time_to_live_nothing_is_opened_or_purged() {
    let glass = Glass::new(&with_default(None), Limits::default());
    assert_eq!(glass.fixture.container.purge_step().await.unwrap(), (0, false));
    assert!(glass.store.dump().is_empty());
    glass.fixture.create(A, &body("1", Some(1))).await.unwrap();
    glass.fixture.pass(10);
    assert_eq!(glass.fixture.container.purge_step().await.unwrap(), (0, false));
    assert_eq!(count(&glass.fixture), 1);
}

/// An index alone answers only where it is exact.
#[tokio::test]
async fn readers_know_whether_expired_items_are_stored() {
    let fixture = fixture(Some(10));
    let reader = |scope: ListScope| {
        fixture.container.readers(&scope, &SessionToken::default()).unwrap().pop().unwrap()
    };
    let whole = |expected: bool, what: &str| {
        let all = reader(ListScope::All);
        assert_eq!((all.is_whole(), all.is_counted()), (expected, expected), "{what}");
        let logical = reader(ListScope::PartitionKey(key(A)));
        assert_eq!((logical.is_whole(), logical.is_counted()), (false, expected), "{what}");
    };
    whole(true, "nothing");
    fixture.create(A, &body("1", None)).await.unwrap();
    fixture.create(A, &body("2", Some(5))).await.unwrap();
    whole(true, "fresh ones");
    fixture.pass(5);
    whole(true, "at the bound");
    let early = reader(ListScope::All);
    fixture.pass(1);
    whole(false, "one of its own time");
    assert!(early.is_whole(), "a reader is of its own moment");
    assert_eq!(fixture.purge().await, 1);
    whole(true, "purged");
    fixture.pass(4);
    whole(true, "at the bound of the default");
    fixture.pass(1);
    whole(false, "one of the container's time");
    set_default(&fixture.container, None);
    whole(true, "no time to live");
    set_default(&fixture.container, Some(10));
    assert_eq!(fixture.purge().await, 1);
    whole(true, "purged");
    for number in 0..15 {
        fixture.create(A, &body(&format!("e{number}"), Some(-1))).await.unwrap();
    }
    fixture.pass(100);
    whole(true, "a few that live for ever");
    fixture.create(A, &body("3", None)).await.unwrap();
    fixture.pass(11);
    whole(false, "behind some that live for ever");
    let part = ListScope::Range { id: None, min: None, max: armilla_value::HashedKey::from_hex("7F") };
    let part = reader(part);
    assert!(!part.is_whole() && !part.is_counted());
}

fn metered(throughput: u32, default_ttl: i32) -> (Container, Arc<SimulatedClock>) {
    let (env, clock) = Env::simulated(1);
    let (definition, limits) = (definition(&with_default(Some(default_ttl))), Limits::default());
    let map = PartitionMap { version: 1, ranges: ranges(&definition, throughput, &limits) };
    let policy = Policy { enforced: true, burst: false };
    let (store, supply) = (Arc::new(MemoryStore::new()), ThroughputSource::own(throughput));
    let limits = Arc::new(limits);
    (
        Container::open(
            store,
            env,
            limits,
            identity(),
            definition,
            None,
            map,
            supply,
            policy,
            known_numbers(),
            None,
        ),
        clock,
    )
}

async fn upsert(container: &Container, body: &str) -> Result<u64, ErrorKind> {
    let (mode, key) = (WriteMode::Upsert, key(A));
    let written =
        container.write_item(mode, &key, None, body.as_bytes().into(), Precondition::None, Priority::High);
    written.await.map(|written| written.charge.hundredths()).map_err(|error| error.kind)
}

#[tokio::test]
async fn purging_spends_what_is_left_and_no_more() {
    let (container, clock) = metered(400, 1_000);
    let mut written = 0;
    while written < 300 {
        match upsert(&container, &body(&written.to_string(), None)).await {
            Ok(_) => written += 1,
            Err(kind) => {
                assert_eq!(kind, ErrorKind::Throttled);
                clock.advance(Duration::from_millis(100));
            }
        }
    }
    clock.advance(Duration::from_secs(1_001));
    // A second without other writers: what it costs is the rate, and at most one item more.
    let figures = || container.figures()[0].governor.clone();
    let (before, refused_before) = (figures().charge.hundredths(), figures().refused);
    let purged = purge(&container).await;
    let spent = figures().charge.hundredths() - before;
    assert!(purged > 10 && purged < 290, "{purged}");
    assert!((40_000..42_000).contains(&spent), "{spent}");
    assert_eq!(container.purge_step().await.unwrap(), (0, false), "the second is spent");
    assert_eq!(figures().refused, refused_before, "a purge is no request that was refused");
    check(&container);

    // Others go first: a busy second is followed by one in which they are expected again.
    clock.advance(Duration::from_millis(1_000 - clock.now_ms().rem_euclid(1_000) as u64));
    while upsert(&container, &body("fresh", None)).await.is_ok() {}
    clock.advance(Duration::from_secs(1));
    let (first, _) = container.purge_step().await.unwrap();
    assert!(first <= 2, "{first} were purged although others want all there is");
    // Then they stay away.
    let mut left = 300 - purged - first;
    for _ in 0..100 {
        clock.advance(Duration::from_secs(1));
        left -= purge(&container).await;
    }
    assert_eq!(left, 0);
    assert_eq!(container.counters().unwrap().items, 1);
    check(&container);
}

#[tokio::test]
async fn a_purge_that_fails_is_done_again() {
    let (env, clock) = Env::simulated(1);
    let store = Arc::new(FaultStore::new(Arc::new(MemoryStore::new())));
    let container = open(store.clone(), env, definition(&with_default(Some(10))), 400, Limits::default());
    for number in 0..50 {
        upsert(&container, &body(&number.to_string(), [None, Some(10)][number % 2])).await.unwrap();
    }
    clock.advance(Duration::from_secs(11));
    for fault in [Fault::FailBefore, Fault::UnknownApplied] {
        store.fail_next_commit(fault);
        assert!(container.purge_step().await.is_err());
        assert!(list(&container, ListScope::All, 100).concat().is_empty());
    }
    purge(&container).await;
    assert_eq!(container.counters().unwrap().items, 0);
    check(&container);
}

/// Splits and merges take over what is stored, expired or not, and the children go on purging.
#[tokio::test]
async fn through_splits_and_merges() {
    for change_feed in ["", r#","changeFeedPolicy":{"retentionDuration":600}"#] {
        let text = format!(
            r#"{{"id":"c","partitionKey":{{"paths":["/pk"]}},"defaultTtl":10{change_feed},
                "uniqueKeyPolicy":{{"uniqueKeys":[{{"paths":["/u"]}}]}}}}"#
        );
        let fixture = Fixture::new(&text, 400, Limits::default());
        let container = &fixture.container;
        let write = async |pk: u32, id: &str, ttl: Option<i32>| {
            let ttl = ttl.map_or(String::new(), |ttl| format!(r#","ttl":{ttl}"#));
            let body = format!(r#"{{"id":"{id}","pk":{pk},"u":"{id}"{ttl}}}"#);
            fixture.write(WriteMode::Upsert, &format!("[{pk}]"), &body, Precondition::None).await.unwrap()
        };
        for pk in 0..30 {
            write(pk, "default", None).await;
            write(pk, "short", Some(5)).await;
            write(pk, "long", Some(100)).await;
            write(pk, "never", Some(-1)).await;
        }
        fixture.pass(6);
        let mut reshape = begin_split(container, ids(container)[0], CutBy::Bytes).unwrap();
        reshape.copy().await.unwrap();
        // While it is copied: some are written anew, one makes room, the time of others comes.
        assert_eq!(fixture.purge().await, 0, "what is copied is not purged");
        for pk in 0..10 {
            write(pk, "short", Some(50)).await;
            write(pk, "long", None).await;
        }
        fixture.pass(5);
        for pk in 10..15 {
            write(pk, "default", Some(7)).await;
        }
        finish_copied(container, reshape).await;
        assert_eq!(container.map().ranges.len(), 2);
        fixture.check();
        let there = |what: &str, expected: usize| {
            let found = list(container, ListScope::All, 1_000).concat();
            assert_eq!(found.iter().filter(|id| *id == what).count(), expected, "{what}");
        };
        let all = || {
            there("default", 5);
            there("short", 10);
            there("long", 30);
            there("never", 30);
        };
        all();
        assert_eq!(fixture.purge().await, 25 + 20);
        all();
        fixture.check();
        // An item that was copied with its record is found by it.
        fixture.pass(8);
        merge(container, ids(container).try_into().unwrap()).await.unwrap();
        fixture.check();
        there("default", 0);
        there("long", 20);
        assert_eq!(fixture.purge().await, 5 + 10);
        split(container, ids(container)[0], CutBy::Bytes).await.unwrap();
        fixture.pass(1_000);
        assert_eq!(fixture.purge().await, 10 + 20);
        there("never", 30);
        assert_eq!(count(&fixture), 30);
        fixture.check();
    }
}

async fn finish_copied(container: &Container, reshape: armilla_container::Reshape) {
    let closed = reshape.close().await.unwrap();
    closed.flip(container.map().version + 1);
}

/// Records of times to live are made for items of older programs.
#[tokio::test]
async fn older_folders_get_their_records() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let (env, clock) = Env::simulated(1);
    let container = open(store.clone(), env.clone(), definition(&with_default(None)), 400, Limits::default());
    for number in 0..2_300_usize {
        let ttl = [None, Some(5), Some(20), Some(-1)][number % 4];
        upsert(&container, &body(&number.to_string(), ttl)).await.unwrap();
    }
    drop(container);
    make_older(&store, 1, 2).await;
    let space = store.open_space(SpaceId(1)).unwrap();
    let records = |space: &dyn armilla_kv::Space| {
        let meta = scan(space, Family::Meta).into_iter();
        meta.filter(|(key, _)| key[0] == 0x0A).collect::<Vec<_>>()
    };
    let expected = records(space.as_ref());
    assert_eq!(expected.len(), 1_150);
    let mut batch = armilla_kv::Batch::new();
    expected.iter().for_each(|(key, _)| batch.delete(Family::Meta, key.clone()));
    space.commit(batch).await.unwrap();
    let container = open(store.clone(), env, definition(&with_default(Some(-1))), 400, Limits::default());
    check(&container);
    clock.advance(Duration::from_secs(6));
    assert_eq!(purge(&container).await, 575);
    clock.advance(Duration::from_secs(15));
    assert_eq!(purge(&container).await, 575);
    check(&container);
}

/// A change of the indexing policy that leaves no index of time stamps is only possible without a default; while it is
/// built, nothing is missed.
#[tokio::test]
async fn while_the_index_is_built() {
    let with = |policy: &str, rest: &str| {
        definition(&format!(
            r#"{{"id":"c","partitionKey":{{"paths":["/pk"]}},"indexingPolicy":{policy}{rest}}}"#
        ))
    };
    let (env, clock) = Env::simulated(1);
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let container = open(store, env, with(r#"{"indexingMode":"none"}"#, ""), 400, Limits::default());
    for number in 0..250_usize {
        let body = format!(r#"{{"id":"{number}","pk":"a"{}}}"#, [r#","ttl":3"#, ""][number % 2]);
        upsert(&container, &body).await.unwrap();
    }
    clock.advance(Duration::from_secs(11));
    container.set_definition(with("{}", r#","defaultTtl":10"#), None);
    let reader = || container.readers(&ListScope::All, &SessionToken::default()).unwrap().pop().unwrap();
    assert!(container.reindex_step().await.unwrap());
    assert!(!reader().is_whole());
    assert!(list(&container, ListScope::All, 10).concat().is_empty());
    // Those with records do not need the index.
    assert_eq!(purge(&container).await, 125);
    assert!(!reader().is_whole());
    while container.reindex_step().await.unwrap() {}
    assert!(!reader().is_whole());
    assert_eq!(purge(&container).await, 125);
    assert!(reader().is_whole());
    check(&container);
}
