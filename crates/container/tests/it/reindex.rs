//! Changing what is indexed while the container lives.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use armilla_container::{Container, Priority, REINDEX_STEP_ITEMS};
use armilla_index::TermRange;
use armilla_kv::fault::{FaultStore, Rates};
use armilla_kv::memory::MemoryStore;
use armilla_kv::{Batch, SpaceId, Store};
use proptest::prelude::*;

use crate::index::{delete, find, memory, open, path, reader, reindex, stored_index, upsert, with_policy};
use crate::late_store::LateStore;
use crate::support::{check, key, make_older};

const POLICIES: [&str; 8] = [
    "{}",
    r#"{"indexingMode":"none"}"#,
    r#"{"excludedPaths":[{"path":"/*"}]}"#,
    r#"{"includedPaths":[{"path":"/a/?"},{"path":"/o/*"}],"excludedPaths":[{"path":"/*"}]}"#,
    r#"{"includedPaths":[{"path":"/*"},{"path":"/a/?"}],"excludedPaths":[{"path":"/o/*"}]}"#,
    r#"{"compositeIndexes":[[{"path":"/a"},{"path":"/_ts","order":"descending"}],[{"path":"/a"},{"path":"/t/[]"}]]}"#,
    r#"{"includedPaths":[{"path":"/t/[]/{x, y}/?"},{"path":"/a/?"}],"excludedPaths":[{"path":"/*"}],"compositeIndexes":[[{"path":"/a"},{"path":"/_ts","order":"descending"}]]}"#,
    r#"{"includedPaths":[{"path":"/*"},{"path":"/o/k/?"}],"excludedPaths":[{"path":"/a/?"}]}"#,
];

fn body(id: u8, shape: u8) -> String {
    let parts = [
        format!(r#","a":{}"#, shape % 3),
        format!(r#","a":"{}""#, shape % 2),
        r#","o":{"k":1,"l":[true,{"m":null}]}"#.to_owned(),
        format!(r#","t":[{{"x":1,"y":{shape}}},"s",{}]"#, shape % 5),
    ];
    let chosen: String = parts
        .iter()
        .enumerate()
        .filter(|(at, _)| shape >> at & 1 == 1 && !(*at == 1 && shape & 1 == 1))
        .map(|(_, part)| part.as_str())
        .collect();
    format!(r#"{{"id":"{id}","pk":{}{chosen}}}"#, id % 3)
}

#[tokio::test]
async fn a_new_policy_is_built_step_by_step() {
    let store = memory();
    let container = open(&store, with_policy(POLICIES[0]), None, 400);
    let count = 2 * REINDEX_STEP_ITEMS + 1;
    for n in 0..count {
        upsert(&container, "1", &format!(r#"{{"id":"{n}","pk":1,"a":{n},"o":{{"k":1}}}}"#)).await;
    }
    assert!(!container.needs_reindex() && container.index_progress().unwrap() == 100);
    assert!(!container.reindex_step().await.unwrap());
    container.set_definition(with_policy(POLICIES[3]), None);
    let usable = |name: &str| reader(&container).usable().is_path_usable(&path(name));
    let undefined = |name: &str| reader(&container).usable().has_undefined_entries(&path(name));
    // What is removed stops at once, what is added is not there yet, what both have goes on.
    assert!(usable("/a") && usable("/o/k") && !usable("/pk") && !undefined("/a") && undefined("/id"));
    assert!(container.needs_reindex());
    assert_eq!(container.index_progress().unwrap(), 0);
    let mut seen = Vec::new();
    while container.reindex_step().await.unwrap() {
        seen.push(container.index_progress().unwrap());
        assert!(usable("/a") && !usable("/pk") && !undefined("/a"));
        assert_eq!(find(&container, "/a", TermRange::NUMBERS).len(), count);
        check(&container);
    }
    assert_eq!(seen, [0, 49, 99]);
    assert!(usable("/a") && undefined("/a") && usable("/o/k") && !usable("/pk"));
    assert_eq!(find(&container, "/pk", TermRange::All).len(), 0);
    check(&container);
    // As if it had always been so.
    let fresh_store = memory();
    let fresh = open(&fresh_store, with_policy(POLICIES[3]), None, 400);
    for n in 0..count {
        upsert(&fresh, "1", &format!(r#"{{"id":"{n}","pk":1,"a":{n},"o":{{"k":1}}}}"#)).await;
    }
    assert_eq!(stored_index(&store, 1), stored_index(&fresh_store, 1));
}

#[tokio::test]
async fn an_empty_partition_needs_one_step() {
    let container = open(&memory(), with_policy(POLICIES[0]), None, 30_000);
    assert_eq!(container.positions().unwrap().len(), 3);
    container.set_definition(with_policy(POLICIES[4]), None);
    assert!(container.needs_reindex());
    assert_eq!(reindex(&container).await, 3);
    check(&container);
}

#[tokio::test]
async fn waiting_for_something_to_do() {
    let store = memory();
    let container = Arc::new(open(&store, with_policy(POLICIES[0]), None, 400));
    upsert(&container, "1", r#"{"id":"a","pk":1}"#).await;
    let waiting = tokio::spawn({
        let container = container.clone();
        async move { container.reindex_wanted().await }
    });
    tokio::task::yield_now().await;
    assert!(!waiting.is_finished());
    container.set_definition(with_policy(POLICIES[1]), None);
    waiting.await.unwrap();
    // A partition that is opened later says so too.
    let container = Arc::new(open(&store, with_policy(POLICIES[2]), None, 400));
    assert!(!container.needs_reindex());
    let waiting = tokio::spawn({
        let container = container.clone();
        async move { container.reindex_wanted().await }
    });
    tokio::task::yield_now().await;
    container.positions().unwrap();
    waiting.await.unwrap();
    reindex(&container).await;
}

#[tokio::test]
async fn a_container_of_an_older_program_is_built_when_it_is_opened() {
    let store = memory();
    let container = open(&store, with_policy(POLICIES[0]), None, 400);
    for n in 0..REINDEX_STEP_ITEMS as u8 + 50 {
        upsert(&container, &(n % 3).to_string(), &body(n, n)).await;
    }
    drop(container);
    let expected = stored_index(&store, 1);
    let mut batch = Batch::new();
    for (family, key) in expected.keys() {
        batch.delete(*family, key.clone());
    }
    make_older(&store, 1, 1).await;
    store.open_space(SpaceId(1)).unwrap().commit(batch).await.unwrap();
    let container = open(&store, with_policy(POLICIES[0]), None, 400);
    let usable = |name: &str| reader(&container).usable().is_path_usable(&path(name));
    assert!(!usable("/a") && !usable("/id"));
    assert!(container.needs_reindex());
    upsert(&container, "2", &body(5, 9)).await;
    upsert(&container, "2", &body(5, 5)).await;
    check(&container);
    reindex(&container).await;
    assert!(usable("/a") && usable("/id"));
    check(&container);
    drop(container);
    assert_eq!(stored_index(&store, 1), expected);
}

#[derive(Debug, Clone)]
enum Step {
    Upsert { id: u8, shape: u8 },
    Delete { id: u8 },
    Policy(usize),
    Reindex(usize),
    Restart,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => (any::<u8>(), any::<u8>()).prop_map(|(id, shape)| Step::Upsert { id, shape }),
        2 => any::<u8>().prop_map(|id| Step::Delete { id }),
        1 => (0..POLICIES.len()).prop_map(Step::Policy),
        2 => (1usize..4).prop_map(Step::Reindex),
        1 => Just(Step::Restart),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Whatever happened, the index is that of the items, and what is usable on the way is right.
    #[test]
    fn histories_leave_the_index_whole(
        first in 0..POLICIES.len(),
        begin in 0u8..250,
        steps in prop::collection::vec(step(), 1..60),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let store = memory();
            let mut policy = first;
            let mut container = open(&store, with_policy(POLICIES[policy]), None, 20_000);
            let mut model: BTreeMap<u8, u8> = BTreeMap::new();
            // Enough that a build takes several steps.
            for id in 0..begin {
                upsert(&container, &(id % 3).to_string(), &body(id, id)).await;
                model.insert(id, id);
            }
            for step in steps {
                match step {
                    Step::Upsert { id, shape } => {
                        upsert(&container, &(id % 3).to_string(), &body(id, shape)).await;
                        model.insert(id, shape);
                    }
                    Step::Delete { id } => {
                        let gone = delete(&container, &(id % 3).to_string(), &id.to_string()).await;
                        assert_eq!(gone, model.remove(&id).is_some());
                    }
                    Step::Policy(next) => {
                        policy = next;
                        container.set_definition(with_policy(POLICIES[policy]), None);
                    }
                    Step::Reindex(count) => {
                        for _ in 0..count {
                            container.reindex_step().await.unwrap();
                        }
                    }
                    Step::Restart => {
                        drop(container);
                        container = open(&store, with_policy(POLICIES[policy]), None, 20_000);
                    }
                }
                // Whatever is usable is right.
                let usable = crate::index::readers(&container).iter().all(|reader| reader.usable().is_path_usable(&path("/a")));
                if usable {
                    let expected = model.values().filter(|shape| *shape & 3 != 0).count();
                    assert_eq!(find(&container, "/a", TermRange::Defined).len(), expected);
                }
                let complete = crate::index::readers(&container).iter().all(|reader| reader.usable().has_undefined_entries(&path("/a")));
                if complete {
                    assert_eq!(find(&container, "/a", TermRange::All).len(), model.len());
                }
            }
            check(&container);
            container.positions().unwrap();
            reindex(&container).await;
            check(&container);
        });
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn writers_go_on_while_it_is_built() {
    let container = Arc::new(open(&memory(), with_policy(POLICIES[0]), None, 400));
    for id in 0..250 {
        upsert(&container, &(id % 3).to_string(), &body(id, id)).await;
    }
    let stop = Arc::new(AtomicBool::new(false));
    let writers: Vec<_> = (0..4u8)
        .map(|writer| {
            let (container, stop) = (container.clone(), stop.clone());
            tokio::spawn(async move {
                let mut round = 0u8;
                while !stop.load(Ordering::Relaxed) {
                    for id in (0..64).map(|n| n * 4 + writer) {
                        let pk = (id % 3).to_string();
                        if (id ^ round).is_multiple_of(5) {
                            delete(&container, &pk, &id.to_string()).await;
                        } else {
                            upsert(&container, &pk, &body(id, id.wrapping_add(round))).await;
                        }
                    }
                    round = round.wrapping_add(1);
                }
            })
        })
        .collect();
    for policy in [3, 5, 1, 6, 0, 4, 2, 7] {
        container.set_definition(with_policy(POLICIES[policy]), None);
        for _ in 0..2 {
            container.reindex_step().await.unwrap();
            check(&container);
        }
        if policy % 2 == 0 {
            while container.reindex_step().await.unwrap() {
                check(&container);
            }
        }
    }
    stop.store(true, Ordering::Relaxed);
    for writer in writers {
        writer.await.unwrap();
    }
    reindex(&container).await;
    check(&container);
}

/// A store that fails at random: whatever was lost, index and items agree, and building goes on.
#[tokio::test]
async fn faults_while_it_is_built() {
    for seed in 0..20 {
        let rates = Rates {
            fail_before: 9,
            unknown_applied: 9,
            unknown_not_applied: 9,
            report_late: 3,
            fail_read: 60,
        };
        let store = Arc::new(FaultStore::seeded(Arc::new(MemoryStore::new()), seed, rates));
        let dynamic: Arc<dyn Store> = store.clone();
        let container = Arc::new(open(&dynamic, with_policy(POLICIES[0]), None, 400));
        let try_upsert = |id: u8, shape: u8| {
            let container = container.clone();
            async move {
                let text = body(id, shape);
                let key = key(&format!("[{}]", id % 3));
                let mode = armilla_container::WriteMode::Upsert;
                let _ = container
                    .write_item(mode, &key, None, text.as_bytes().into(), Default::default(), Priority::High)
                    .await;
            }
        };
        for id in 0..250 {
            try_upsert(id, id).await;
        }
        for policy in [3, 5, 0] {
            container.set_definition(with_policy(POLICIES[policy]), None);
            for n in 0..6u8 {
                let writes: Vec<_> =
                    (0..10).map(|id| tokio::spawn(try_upsert(id * 17 + n, id + n))).collect();
                let _ = container.reindex_step().await;
                for write in writes {
                    write.await.unwrap();
                }
            }
        }
        store.calm();
        // One write brings a partition back that a failed commit has stopped.
        try_upsert(0, 0).await;
        check(&container);
        reindex(&container).await;
        check(&container);
    }
}

#[tokio::test]
async fn the_definition_may_change_again_before_it_is_built() {
    let container = open(&memory(), with_policy(POLICIES[0]), None, 400);
    for id in 0..=255 {
        upsert(&container, &(id % 3).to_string(), &body(id, id)).await;
    }
    let usable = |name: &str| reader(&container).usable().is_path_usable(&path(name));
    container.set_definition(with_policy(POLICIES[3]), None);
    container.reindex_step().await.unwrap();
    container.reindex_step().await.unwrap();
    container.set_definition(with_policy(POLICIES[0]), None);
    // Some items lack `/pk` now.
    assert!(!usable("/pk") && usable("/a"));
    check(&container);
    reindex(&container).await;
    assert!(usable("/pk") && usable("/a"));
    assert_eq!(find(&container, "/pk", TermRange::All).len(), 256);
    check(&container);
}

async fn one_step(container: &Container) {
    container.reindex_step().await.unwrap();
}

/// Items that are applied and not in the store yet are brought to the new layout too.
#[tokio::test]
async fn what_is_on_its_way_is_indexed_too() {
    for late in [false, true] {
        let store: Arc<dyn Store> = if late { Arc::new(LateStore(memory())) } else { memory() };
        let container = Arc::new(open(&store, with_policy(POLICIES[0]), None, 400));
        for id in 0..3 {
            upsert(&container, &(id % 3).to_string(), &body(id, id)).await;
        }
        for round in 0..12u8 {
            container.set_definition(with_policy(POLICIES[usize::from(round) % POLICIES.len()]), None);
            let mut tasks = Vec::new();
            // Everything queues up before the committer runs: creates, replaces, deletes, and steps between them.
            for n in 0..60u8 {
                let container = container.clone();
                tasks.push(tokio::spawn(async move {
                    let id = n.wrapping_mul(7).wrapping_add(round.wrapping_mul(40));
                    let pk = (id % 3).to_string();
                    match n % 10 {
                        4 | 9 => one_step(&container).await,
                        7 => {
                            delete(&container, &pk, &id.wrapping_sub(14).to_string()).await;
                        }
                        _ => upsert(&container, &pk, &body(id, id ^ round)).await,
                    }
                    // Let others come in while groups are on their way.
                    if n % 3 == 0 {
                        tokio::task::yield_now().await;
                        upsert(&container, &pk, &body(id, round)).await;
                    }
                }));
                if n % 20 == 19 {
                    tokio::task::yield_now().await;
                }
            }
            for task in tasks {
                task.await.unwrap();
            }
            check(&container);
        }
        reindex(&container).await;
        check(&container);
    }
}

/// A group that begins and ends a build while the items it is about are in a group before it that has not landed.
#[tokio::test]
async fn a_build_overtakes_no_write() {
    let store: Arc<dyn Store> = Arc::new(LateStore(memory()));
    let container = Arc::new(open(&store, with_policy(POLICIES[0]), None, 400));
    upsert(&container, "0", &body(0, 1)).await;
    container.set_definition(with_policy(POLICIES[3]), None);
    let mut tasks = Vec::new();
    for id in 1..6u8 {
        let container = container.clone();
        tasks.push(tokio::spawn(
            async move { upsert(&container, &(id % 3).to_string(), &body(id, id)).await },
        ));
    }
    for _ in 0..3 {
        tokio::task::yield_now().await;
    }
    assert_eq!(container.positions().unwrap()[0].lsn, 1, "the writes are on their way");
    for _ in 0..6 {
        let container = container.clone();
        tasks.push(tokio::spawn(async move { one_step(&container).await }));
    }
    for task in tasks {
        task.await.unwrap();
    }
    assert!(!container.needs_reindex());
    assert_eq!(find(&container, "/a", TermRange::All).len(), 6);
    check(&container);
}
