//! Partitions of programs that did not count the bytes of the index: they are counted anew when they are opened.

use std::collections::BTreeMap;
use std::sync::Arc;

use armilla_container::{
    ComputedProperties, Container, ContainerDefinition, Error, ErrorKind, FeedStart, ListScope, Priority,
    check_partition,
};
use armilla_kv::fault::{Fault, FaultStore};
use armilla_kv::memory::MemoryStore;
use armilla_kv::{Batch, Family, SpaceId, Store};
use bytes::Bytes;

use crate::feeding::Follower;
use crate::index::{Computed, computed_definition, memory, open, reindex, upsert, with_policy};
use crate::late_store::LateStore;
use crate::support::{carried, check, key, make_older, scan};

type Dump = BTreeMap<(Family, Bytes), Bytes>;

/// Returns all that a space holds.
fn dump(store: &Arc<dyn Store>) -> Dump {
    let space = store.open_space(SpaceId(1)).unwrap();
    let family =
        |family| scan(space.as_ref(), family).into_iter().map(move |(key, value)| ((family, key), value));
    Family::ALL.into_iter().flat_map(family).collect()
}

/// Returns what a space holds once it was brought up to date: it is not known what its change log holds, if it has entries.
fn brought_up_to_date(mut dump: Dump) -> Dump {
    if dump.keys().any(|(family, _)| *family == Family::Feed) {
        let unknown = [&[2][..], &[0xFF; 8], &[0; 26], &[0xFF; 4]].concat();
        dump.insert((Family::Meta, Bytes::from_static(&[9])), unknown.into());
    }
    dump
}

/// Opens the one partition of a container, or fails to.
fn try_open(store: &Arc<dyn Store>) -> Result<Container, Error> {
    let container = open(store, with_policy("{}"), None, 400);
    container.positions()?;
    Ok(container)
}

fn body(number: u32, partition: u32) -> String {
    format!(
        r#"{{"id":"{number}","pk":{partition},"name":"Name {number}","n":{number},"list":[1,[{number}]]}}"#
    )
}

async fn fill(container: &Container, items: u32, partitions: u32) {
    for number in 0..items {
        let partition = number % partitions;
        upsert(container, &partition.to_string(), &body(number, partition)).await;
    }
}

#[tokio::test]
async fn what_is_counted_anew_is_what_would_have_been_counted() {
    let computed: Option<Arc<dyn ComputedProperties>> = Some(Arc::new(Computed));
    type Row = (&'static str, ContainerDefinition, Option<Arc<dyn ComputedProperties>>, u32, u32);
    let rows: [Row; 7] = [
        ("nothing", with_policy("{}"), None, 0, 1),
        ("one item", with_policy("{}"), None, 1, 1),
        ("one logical partition", with_policy("{}"), None, 300, 1),
        ("several logical partitions", with_policy("{}"), None, 300, 7),
        ("more logical partitions than a batch has sizes", with_policy("{}"), None, 2_300, 2_300),
        ("no index", with_policy(r#"{"indexingMode":"none"}"#), None, 30, 7),
        ("computed properties", computed_definition("LOWER(c.name)"), computed, 300, 7),
    ];
    for (what, definition, computed, items, partitions) in rows {
        let store = memory();
        let container = open(&store, definition.clone(), computed.clone(), 400);
        fill(&container, items, partitions).await;
        if items > 0 {
            container.delete_item(&key("[0]"), "0", Default::default(), Priority::High).await.unwrap();
        }
        drop(container);
        let expected = brought_up_to_date(dump(&store));
        make_older_if_written(&store, 2).await;
        let container = open(&store, definition, computed, 400);
        check(&container);
        let counters = container.counters().unwrap();
        assert_eq!(counters.items, u64::from(items.saturating_sub(1)), "{what}");
        drop(container);
        assert!(dump(&store) == expected, "{what}");
    }
}

async fn make_older_if_written(store: &Arc<dyn Store>, version: u8) {
    if !dump(store).is_empty() {
        make_older(store, 1, version).await;
    }
}

/// Some items have the entries of one layout, some those of another.
#[tokio::test]
async fn in_the_middle_of_a_re_indexing() {
    let store = memory();
    let other = || with_policy(r#"{"includedPaths":[{"path":"/n/?"}],"excludedPaths":[{"path":"/*"}]}"#);
    let container = open(&store, with_policy("{}"), None, 400);
    fill(&container, 350, 7).await;
    container.set_definition(other(), None);
    for _ in 0..3 {
        assert!(container.reindex_step().await.unwrap());
    }
    upsert(&container, "1", &body(1_000, 1)).await;
    drop(container);
    let expected = brought_up_to_date(dump(&store));
    make_older(&store, 1, 2).await;
    let container = open(&store, other(), None, 400);
    check(&container);
    drop(container);
    assert!(dump(&store) == expected);
    let container = open(&store, other(), None, 400);
    container.positions().unwrap();
    reindex(&container).await;
    check(&container);
}

/// Dying after any number of commits leaves a partition that is counted by the next opening.
#[tokio::test]
async fn crashes_in_the_middle() {
    let inner = memory();
    let container = open(&inner, with_policy("{}"), None, 400);
    fill(&container, 2_500, 2_300).await;
    drop(container);
    let expected = brought_up_to_date(dump(&inner));
    for fault in [Fault::FailBefore, Fault::UnknownApplied, Fault::UnknownNotApplied] {
        let mut failures = 0;
        for commits in 0.. {
            make_older(&inner, 1, 2).await;
            let store = Arc::new(FaultStore::new(inner.clone()));
            let dynamic: Arc<dyn Store> = store.clone();
            if commits == 3 {
                try_open(&dynamic).unwrap();
                break;
            }
            // Whatever comes after it fails too, because a failed commit closes its handle.
            store.kill_after_commits(commits);
            let error = try_open(&dynamic).err().unwrap();
            assert_eq!(error.kind, ErrorKind::Unavailable, "{error}");
            failures += 1;
            store.revive();
            store.fail_next_commit(fault);
            let _ = try_open(&dynamic);
            let container = try_open(&dynamic).unwrap();
            check(&container);
            drop(container);
            assert!(dump(&inner) == expected, "{fault:?} after {commits}");
        }
        assert_eq!(failures, 3);
    }
}

#[tokio::test]
async fn it_is_done_once() {
    let inner = memory();
    let container = open(&inner, with_policy("{}"), None, 400);
    fill(&container, 10, 3).await;
    drop(container);
    make_older(&inner, 1, 2).await;
    drop(try_open(&inner).unwrap());
    // A second opening needs no commit.
    let store = Arc::new(FaultStore::new(inner));
    let dynamic: Arc<dyn Store> = store.clone();
    store.fail_next_commit(Fault::FailBefore);
    check(&try_open(&dynamic).unwrap());
    assert_eq!(store.faults(), 0);
}

/// Where commits take their time, and where a thread must not just stop.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_a_busy_runtime() {
    let inner = memory();
    let container = open(&inner, with_policy("{}"), None, 400);
    fill(&container, 1_500, 1_200).await;
    drop(container);
    make_older(&inner, 1, 2).await;
    let store: Arc<dyn Store> = Arc::new(LateStore(inner));
    let container = Arc::new(open(&store, with_policy("{}"), None, 400));
    let opened: Vec<_> = (0..8u32)
        .map(|number| {
            let container = container.clone();
            tokio::spawn(async move { upsert(&container, "0", &body(5_000 + number, 0)).await })
        })
        .collect();
    for task in opened {
        task.await.unwrap();
    }
    check(&container);
    assert_eq!(container.counters().unwrap().items, 1_508);
}

#[tokio::test]
async fn what_was_wrong_is_put_right() {
    let store = memory();
    let container = open(&store, with_policy("{}"), None, 400);
    fill(&container, 10, 3).await;
    drop(container);
    let expected = brought_up_to_date(dump(&store));
    make_older(&store, 1, 2).await;
    let space = store.open_space(SpaceId(1)).unwrap();
    let mut batch = Batch::new();
    // More numbers were given than there are items; those stay.
    let mut counters = space.get(Family::Meta, &[0]).unwrap().unwrap().to_vec();
    counters[24] = 99;
    batch.put(Family::Meta, vec![0], counters);
    for (position, (size, _)) in
        scan(space.as_ref(), Family::Meta).into_iter().filter(|(key, _)| key[0] == 1).enumerate()
    {
        match position {
            0 => batch.delete(Family::Meta, size),
            _ => batch.put(Family::Meta, size, "nonsense"),
        }
    }
    // The size of a logical partition that is not there.
    batch.put(Family::Meta, vec![1, 7, 7, 7], vec![1; 17]);
    space.commit(batch).await.unwrap();
    check(&try_open(&store).unwrap());
    assert!(dump(&store) == expected);
}

/// One damaged item does not keep the others from being used; a check tells.
#[tokio::test]
async fn a_damaged_item_is_passed_over() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let container = open(&store, with_policy("{}"), None, 400);
    fill(&container, 10, 3).await;
    drop(container);
    make_older(&store, 1, 2).await;
    let space = store.open_space(SpaceId(1)).unwrap();
    let (damaged, _) = scan(space.as_ref(), Family::Item).swap_remove(4);
    let mut batch = Batch::new();
    batch.put(Family::Item, damaged, "nonsense");
    space.commit(batch).await.unwrap();
    let container = try_open(&store).unwrap();
    let counters = container.counters().unwrap();
    let summary = check_partition(&container, 0, &mut |_| {}).unwrap();
    let seen = (summary.items, summary.bytes, summary.index_bytes);
    assert_eq!(seen, (counters.items, counters.bytes, counters.index_bytes));
    assert!(!summary.problems.is_empty());
    upsert(&container, "1", &body(50, 1)).await;
}

/// The change log of a program that kept deletes for ever, and whose entries were shorter.
#[tokio::test]
async fn an_older_change_log_is_read_and_trimmed() {
    let store = memory();
    let container = open(&store, with_policy("{}"), None, 400);
    fill(&container, 20, 3).await;
    drop(container);
    let space = store.open_space(SpaceId(1)).unwrap();
    let mut batch = Batch::new();
    let mut counters = space.get(Family::Meta, &[0]).unwrap().unwrap().to_vec();
    (counters[0], counters[8]) = (3, 21);
    batch.put(Family::Meta, vec![0], counters);
    let older = |entry: &Bytes, kind: u8| {
        // Nothing was carried then.
        let entry = carried(entry).1;
        [&[1, kind], &entry[2..22], &entry[24..]].concat()
    };
    let log = scan(space.as_ref(), Family::Feed);
    for (key, entry) in &log {
        batch.put(Family::Feed, key.clone(), older(entry, entry[1]));
    }
    // The delete of an item that came again later would have been before it; this one is of one that is gone.
    let mut gone = older(&log[0].1, 3);
    gone.extend_from_slice(b"the image before");
    let last = gone.len() - "the image before".len() - 1;
    gone[last] = b'x';
    batch.put(Family::Feed, [&21_u64.to_be_bytes()[..], &[0, 0]].concat(), gone);
    space.commit(batch).await.unwrap();
    let container = try_open(&store).unwrap();
    check(&container);
    let changes = |container: &Container| check_partition(container, 0, &mut |_| {}).unwrap().changes;
    assert_eq!(changes(&container), 21);
    let mut follower = Follower::latest(ListScope::All, FeedStart::Beginning);
    assert_eq!(follower.drain(&container).len(), 20);
    assert_eq!(follower.token(), "21");
    upsert(&container, "1", &body(1, 1)).await;
    assert_eq!(follower.drain(&container).len(), 1);
    assert_eq!(container.sweep_step().await.unwrap().trimmed, 1);
    assert_eq!(changes(&container), 20);
    check(&container);
}
