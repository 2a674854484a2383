//! Splits and merges on a store that dies, at every commit in turn: the parents stay whole until the map is replaced, and
//! whichever map was stored, what it names is whole.

use std::collections::BTreeMap;
use std::sync::Arc;

use armilla_container::{
    Container, CutBy, Error, Limits, ListScope, PartitionMap, Policy, Precondition, Priority, Range,
    ThroughputSource, WriteMode,
};
use armilla_env::Env;
use armilla_kv::fault::{Fault, FaultStore, Rates};
use armilla_kv::memory::MemoryStore;
use armilla_kv::{Batch, Family, Store};

use crate::reshaping::{children, ids};
use crate::support::{check, definition, identity, key, known_numbers, list, ranges};

const DEFINITION: &str = r#"{"id":"c","partitionKey":{"paths":["/pk"]},
    "uniqueKeyPolicy":{"uniqueKeys":[{"paths":["/u"]}]}}"#;

const KEYS: u32 = 24;

fn open(store: Arc<dyn Store>, map: PartitionMap) -> Container {
    let policy = Policy { enforced: false, burst: false };
    let env = Env::simulated(1).0;
    let (limits, definition) = (Arc::new(Limits::default()), definition(DEFINITION));
    let supply = ThroughputSource::own(400);
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
    )
}

fn first_map(throughput: u32) -> PartitionMap {
    PartitionMap { version: 1, ranges: ranges(&definition(DEFINITION), throughput, &Limits::default()) }
}

async fn upsert(container: &Container, pk: u32, n: u32) -> Result<(), Error> {
    let body = format!(r#"{{"id":"1","pk":"{pk}","n":{n},"u":{n}}}"#);
    let (mode, key) = (WriteMode::Upsert, key(&format!(r#"["{pk}"]"#)));
    container
        .write_item(mode, &key, None, body.as_bytes().into(), Precondition::None, Priority::High)
        .await
        .map(|_| ())
}

fn contents(container: &Container) -> BTreeMap<u32, i64> {
    let session = armilla_container::SessionToken::default();
    let mut all = BTreeMap::new();
    for pk in 0..KEYS {
        let key = key(&format!(r#"["{pk}"]"#));
        let cost = armilla_container::ReadCost::Single;
        if let Ok(read) = container.read_item(&key, "1", None, &session, cost, Priority::High) {
            let root = read.item.stored().root().get("n").unwrap().as_i64().unwrap();
            all.insert(pk, root);
        }
    }
    all
}

/// Goes as far as it can; returns the children once they are closed, and what is left to do.
async fn reshape(
    container: &Container,
    parents: &[u32],
    ranges: Vec<Range>,
) -> Result<armilla_container::Closed, Error> {
    let mut reshape = container.reshape(parents, ranges)?;
    reshape.copy().await?;
    // More is written between the copy and the end of it.
    for pk in 0..4 {
        // The store may be dead.
        let _ = upsert(container, pk, 1_000 + pk).await;
    }
    reshape.close().await
}

#[tokio::test]
async fn a_death_at_every_commit_leaves_the_parents_whole() {
    for (throughput, parents, clones) in
        [(400, vec![0], false), (20_000, vec![0, 1], false), (400, vec![0], true)]
    {
        let mut deaths = 0;
        for commits in 0.. {
            let memory: Arc<dyn Store> =
                Arc::new(if clones { MemoryStore::cloning() } else { MemoryStore::new() });
            let store = Arc::new(FaultStore::new(memory.clone()));
            let container = open(store.clone(), first_map(throughput));
            for pk in 0..KEYS {
                upsert(&container, pk, pk).await.unwrap();
            }
            let cuts = match parents.len() {
                1 => vec![container.split_point(0, CutBy::Bytes).unwrap().unwrap()],
                _ => Vec::new(),
            };
            let ranges = children(&container, &parents, &cuts);
            let old_map = container.map();
            store.kill_after_commits(commits);
            let result = reshape(&container, &parents, ranges.clone()).await;
            store.revive();
            let expected = contents(&container);
            assert_eq!(expected.len(), KEYS as usize);
            let Ok(closed) = result else {
                deaths += 1;
                // It goes on in the same process,
                assert_eq!(ids(&container), parents);
                upsert(&container, 1, 2_000 + commits as u32).await.unwrap();
                check(&container);
                let expected = contents(&container);
                // and in the next one, which clears away what there is of the children and begins again.
                let next = open(memory.clone(), old_map);
                for range in &ranges {
                    memory.drop_space(range.space).unwrap();
                }
                assert_eq!(contents(&next), expected);
                check(&next);
                let mut again = ranges;
                again.iter_mut().for_each(|range| range.space.0 += 100);
                let closed = reshape(&next, &parents, again).await.unwrap();
                closed.flip(2);
                check(&next);
                assert_eq!(contents(&next).len(), expected.len());
                continue;
            };
            // Once the new map is stored, the next process finds everything in the children,
            let new_map = PartitionMap { version: 2, ranges };
            let next = open(memory.clone(), new_map);
            assert_eq!(contents(&next), expected);
            check(&next);
            // and if it was not, in the parents.
            let next = open(memory.clone(), old_map);
            assert_eq!(contents(&next), expected);
            check(&next);
            drop(closed);
            break;
        }
        assert!(deaths > 3, "{deaths}");
    }
}

#[tokio::test]
async fn a_failed_read_or_commit_gives_up_and_no_more() {
    for seed in 0..60 {
        let rates = Rates {
            fail_before: 25,
            unknown_applied: 25,
            unknown_not_applied: 25,
            report_late: 5,
            fail_read: 60,
        };
        // Items come into the children by copying, or lie there already.
        let memory = if seed % 2 == 0 { MemoryStore::new() } else { MemoryStore::cloning() };
        let store = Arc::new(FaultStore::seeded(Arc::new(memory), seed, rates));
        store.calm();
        let container = open(store.clone(), first_map(400));
        for pk in 0..KEYS {
            upsert(&container, pk, pk).await.unwrap();
        }
        let cut = container.split_point(0, CutBy::Bytes).unwrap().unwrap();
        for attempt in 0..10 {
            let mut ranges = children(&container, &[0], std::slice::from_ref(&cut));
            ranges.iter_mut().for_each(|range| range.space.0 += 10 * attempt);
            let before = contents(&container);
            if attempt < 9 {
                let faults = [Fault::FailBefore, Fault::UnknownApplied, Fault::UnknownNotApplied];
                store.fail_next_reads(seed % 7);
                for _ in 0..(seed / 20 + attempt) {
                    store.fail_next_commit(Fault::ReportLate { polls: 2 });
                }
                store.fail_next_commit(faults[(seed % 3) as usize]);
            }
            match reshape(&container, &[0], ranges).await {
                Ok(closed) => {
                    store.calm();
                    closed.flip(2);
                    break;
                }
                Err(_) => store.calm(),
            }
            // What was written in the middle may be there.
            assert_eq!(contents(&container).len(), before.len());
            check(&container);
        }
        assert_eq!(ids(&container), [1, 2], "seed {seed}");
        assert_eq!(list(&container, ListScope::All, 100).concat().len(), KEYS as usize);
        check(&container);
    }
}

/// A node was killed when its split was complete and the new map was not stored: the mark of that stays in the parent. `check`
/// called it a record of no known kind.
#[tokio::test]
async fn the_mark_of_a_split_that_was_not_finished_is_no_damage() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let before = open(store.clone(), first_map(400));
    upsert(&before, 1, 1).await.unwrap();
    let space = before.map().ranges[0].space;
    drop(before);
    let mut batch = Batch::new();
    batch.put(Family::Meta, vec![0x0E], vec![1]);
    store.open_space(space).unwrap().commit(batch).await.unwrap();
    let container = open(store, first_map(400));
    check(&container);
    upsert(&container, 2, 2).await.unwrap();
    check(&container);
}
