//! Partitions that lost parts of themselves, and are made to agree again from the items that are left.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use armilla_container::{
    Container, ContainerDefinition, ErrorKind, FeedStart, ListScope, Precondition, Priority, Rebuilt,
    WriteMode, check_partition, rebuild_partition,
};
use armilla_kv::fault::{Fault, FaultStore};
use armilla_kv::{Batch, Family, SpaceId, Store};
use bytes::Bytes;

use crate::feeding::Follower;
use crate::index::{delete, memory, open, reindex, upsert};
use crate::support::{check, definition, key, list, refused, scan};

/// Unique emails in each logical partition, and times to live.
fn policies() -> ContainerDefinition {
    definition(
        r#"{"id":"c","partitionKey":{"paths":["/pk"]},"defaultTtl":-1,
            "uniqueKeyPolicy":{"uniqueKeys":[{"paths":["/email"]}]}}"#,
    )
}

fn body(number: u32) -> String {
    // Some have a time to live of their own.
    let ttl = if number.is_multiple_of(5) { r#","ttl":100000"# } else { "" };
    format!(r#"{{"id":"{number}","pk":{},"email":"{number}@example"{ttl}}}"#, number % 7)
}

/// A store with a partition of items, some of them written twice, one of them deleted.
async fn filled(items: u32) -> Arc<dyn Store> {
    let store = memory();
    let container = open(&store, policies(), None, 400);
    for number in 0..=items {
        upsert(&container, &(number % 7).to_string(), &body(number)).await;
    }
    for number in (0..items).step_by(3) {
        upsert(&container, &(number % 7).to_string(), &body(number)).await;
    }
    assert!(delete(&container, &(items % 7).to_string(), &items.to_string()).await);
    check(&container);
    store
}

type Entries = BTreeMap<Bytes, Bytes>;

fn entries(store: &Arc<dyn Store>, family: Family) -> Entries {
    scan(store.open_space(SpaceId(1)).unwrap().as_ref(), family).into_iter().collect()
}

/// What follows from the items and is not the index: reservations, times to live, and whose sizes are known.
fn records(store: &Arc<dyn Store>) -> Entries {
    let mut records = entries(store, Family::Meta);
    records.retain(|key, _| matches!(key[0], 0x01 | 0x02 | 0x0A));
    // The sizes of the index are not known before it is built again.
    records.iter_mut().filter(|(key, _)| key[0] == 0x01).for_each(|(_, size)| *size = Bytes::new());
    records
}

async fn change(store: &Arc<dyn Store>, damage: impl FnOnce(&mut Batch)) {
    let mut batch = Batch::new();
    damage(&mut batch);
    store.open_space(SpaceId(1)).unwrap().commit(batch).await.unwrap();
}

async fn lose(store: &Arc<dyn Store>, family: Family, is_lost: impl Fn(usize, &Bytes) -> bool) {
    let keys = entries(store, family).into_keys().enumerate();
    let lost: Vec<Bytes> = keys.filter(|(place, key)| is_lost(*place, key)).map(|(_, key)| key).collect();
    assert!(!lost.is_empty());
    change(store, |batch| lost.into_iter().for_each(|key| batch.delete(family, key))).await;
}

fn rebuild(store: &Arc<dyn Store>) -> Rebuilt {
    rebuild_partition(&open(store, policies(), None, 400), 0).unwrap()
}

/// Opens what was rebuilt, lets the index be built, and checks everything.
async fn opened(store: &Arc<dyn Store>) -> Container {
    let container = open(store, policies(), None, 400);
    container.positions().unwrap();
    reindex(&container).await;
    check(&container);
    container
}

fn ids(container: &Container) -> BTreeSet<String> {
    list(container, ListScope::All, 1_000).into_iter().flatten().collect()
}

fn numbers(range: std::ops::Range<u32>) -> BTreeSet<String> {
    range.map(|number| number.to_string()).collect()
}

#[tokio::test]
async fn what_is_whole_stays_as_it_is() {
    let store = filled(60).await;
    let families = || [Family::Item, Family::Number, Family::Feed].map(|family| entries(&store, family));
    let (before, records_before) = (families(), records(&store));
    let rebuilt = rebuild(&store);
    assert_eq!((rebuilt.items, rebuilt.lost), (60, Vec::new()));
    assert!(entries(&store, Family::Index).is_empty(), "the index is built anew");
    let container = opened(&store).await;
    assert_eq!(ids(&container), numbers(0..60));
    drop(container);
    assert!(families() == before);
    assert_eq!(records(&store), records_before);
}

/// Each family but that of the items, lost as a whole or in part, is worked out from the items.
#[tokio::test]
async fn what_follows_from_the_items_comes_back() {
    for family in [Family::Number, Family::Index, Family::Feed, Family::Meta] {
        for every in [1, 3] {
            let store = filled(60).await;
            let (numbers_before, records_before) = (entries(&store, Family::Number), records(&store));
            let lsn = open(&store, policies(), None, 400).counters().unwrap().lsn;
            lose(&store, family, |place, _| place.is_multiple_of(every)).await;
            let rebuilt = rebuild(&store);
            assert_eq!((rebuilt.items, rebuilt.lost), (60, Vec::new()), "{family:?} {every}");
            assert_eq!(entries(&store, Family::Number), numbers_before, "{family:?} {every}");
            assert_eq!(records(&store), records_before, "{family:?} {every}");
            let container = opened(&store).await;
            assert_eq!(ids(&container), numbers(0..60));
            let mut follower = Follower::latest(ListScope::All, FeedStart::Beginning);
            assert_eq!(follower.drain(&container).len(), 60, "{family:?} {every}");
            // A delete was the last commit; where nothing else tells of it, the commits go on behind the last item.
            let after = container.counters().unwrap().lsn;
            let expected = if family == Family::Meta { lsn - 1..=lsn } else { lsn..=lsn };
            assert!(expected.contains(&after), "{family:?} {every}: {after} after {lsn}");
            // What was reserved is reserved, and what comes next has a number and a commit of its own.
            let partition_key = key("[1]");
            let taken = container.write_item(
                WriteMode::Create,
                &partition_key,
                None,
                br#"{"id":"new","pk":1,"email":"1@example"}"#.into(),
                Precondition::None,
                Priority::High,
            );
            refused(taken.await, ErrorKind::UniqueKeyTaken);
            upsert(&container, "1", r#"{"id":"new","pk":1,"email":"new@example"}"#).await;
            assert_eq!(follower.drain(&container).len(), 1, "{family:?} {every}");
            check(&container);
        }
    }
}

/// Items that are gone, or cannot be read, are named, and nothing of them stays.
#[tokio::test]
async fn what_is_lost_is_named_and_forgotten() {
    let store = filled(60).await;
    let items: Vec<Bytes> = entries(&store, Family::Item).into_keys().collect();
    let id_of = |key: &Bytes| {
        // The id ends the key; what is before it ends with a number as a partition key, which is no digit.
        let digits = key.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
        String::from_utf8(key[key.len() - digits..].to_vec()).unwrap()
    };
    let (gone, nonsense, moved) = (&items[3], &items[20], &items[40]);
    let other = entries(&store, Family::Item)[&items[41]].clone();
    change(&store, |batch| {
        batch.delete(Family::Item, gone.clone());
        batch.put(Family::Item, nonsense.clone(), "nonsense");
        // Another's bytes under its key.
        batch.put(Family::Item, moved.clone(), other);
    })
    .await;
    let problems = check_partition(&open(&store, policies(), None, 400), 0, &mut |_| {}).unwrap().problems;
    assert!(problems.len() >= 3, "{problems:?}");
    let rebuilt = rebuild(&store);
    assert_eq!((rebuilt.items, rebuilt.lost.len()), (57, 3), "{:?}", rebuilt.lost);
    for key in [gone, nonsense, moved] {
        let name = format!("item \"{}\" of partition key", id_of(key));
        assert!(rebuilt.lost.iter().any(|lost| lost.contains(&name)), "{name}: {:?}", rebuilt.lost);
    }
    let container = opened(&store).await;
    let lost: BTreeSet<String> = [gone, nonsense, moved].map(id_of).into();
    assert_eq!(ids(&container), numbers(0..60).difference(&lost).cloned().collect());
    let mut follower = Follower::latest(ListScope::All, FeedStart::Beginning);
    assert_eq!(follower.drain(&container).len(), 57);
    // What they had reserved is free.
    for id in lost {
        let number: u32 = id.parse().unwrap();
        let key = (number % 7).to_string();
        let other = format!(r#"{{"id":"{id}-again","pk":{key},"email":"{id}@example"}}"#);
        upsert(&container, &key, &other).await;
    }
    check(&container);
}

/// More than one batch of each, and a disk that dies after any of them: the next attempt does the same.
#[tokio::test]
async fn it_can_be_begun_again() {
    const ITEMS: u32 = 1_100;
    let expected = {
        let store = filled(ITEMS).await;
        lose(&store, Family::Number, |place, _| place.is_multiple_of(2)).await;
        assert_eq!(rebuild(&store).items, u64::from(ITEMS));
        Family::ALL.map(|family| entries(&store, family))
    };
    let mut failures = 0;
    for commits in 0.. {
        let inner = filled(ITEMS).await;
        lose(&inner, Family::Number, |place, _| place.is_multiple_of(2)).await;
        let store = Arc::new(FaultStore::new(inner.clone()));
        let dynamic: Arc<dyn Store> = store.clone();
        store.kill_after_commits(commits);
        let attempt = rebuild_partition(&open(&dynamic, policies(), None, 400), 0);
        store.revive();
        if let Ok(rebuilt) = attempt {
            assert_eq!(rebuilt.items, u64::from(ITEMS));
            break;
        }
        failures += 1;
        if commits.is_multiple_of(2) {
            store.fail_next_commit(Fault::UnknownApplied);
            assert!(rebuild_partition(&open(&dynamic, policies(), None, 400), 0).is_err());
        }
        rebuild(&inner);
        assert!(Family::ALL.map(|family| entries(&inner, family)) == expected, "after {commits} commits");
    }
    // Numbers, index and records are removed, then changes, items and sizes written: several batches of most.
    assert!(failures > 6, "{failures}");
    let store = filled(7).await;
    let container = open(&store, policies(), None, 400);
    refused(rebuild_partition(&container, 9), ErrorKind::Invalid);
}
