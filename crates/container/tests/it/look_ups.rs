//! Looking items up by the values of a path: what is kept in memory is what the store would have given.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use armilla_container::{Container, LookupPath, PartitionReader};
use armilla_kv::Store;
use armilla_kv::memory::MemoryStore;
use armilla_value::Value;
use proptest::prelude::*;

use crate::index::{delete, memory, open, path, reader, readers, reindex, upsert, with_policy};
use crate::late_store::LateStore;
use crate::support::{Random, definition, text};

const ENTRIES_MAX: usize = 8;

/// Looks a value up, with the memory or without; none where it has too many entries.
fn look_up(reader: &PartitionReader, value: u64, is_kept: bool) -> Option<Vec<String>> {
    let value = Value::from(format!("a{value}"));
    let mut found = Vec::new();
    let path = LookupPath::new(&path("/a"), is_kept);
    reader.look_up(path, &value, ENTRIES_MAX, |item| found.push(text(&item))).unwrap().then_some(found)
}

#[track_caller]
fn compare(reader: &PartitionReader, value: u64) {
    if !reader.usable().is_path_usable(&path("/a")) {
        return;
    }
    // The first of both may find what is kept, the second does.
    let kept = look_up(reader, value, true);
    assert_eq!(look_up(reader, value, true), kept);
    assert_eq!(look_up(reader, value, false), kept);
}

fn body(id: u64, value: u64, other: u64) -> String {
    format!(r#"{{"id":"{id}","pk":{},"a":"a{value}","b":{other}}}"#, id % 3)
}

async fn put(container: &Container, id: u64, value: u64, other: u64) {
    upsert(container, &(id % 3).to_string(), &body(id, value, other)).await;
}

#[tokio::test]
async fn what_is_found_is_what_has_the_value() {
    let container = open(&memory(), with_policy("{}"), None, 400);
    for id in 0..20 {
        put(&container, id, id % 3, 0).await;
    }
    put(&container, 7, 9, 0).await;
    let now = reader(&container);
    let found = look_up(&now, 1, true).unwrap();
    assert_eq!(found.len(), 6);
    assert!(found.iter().all(|text| text.contains(r#""a":"a1""#)), "{found:?}");
    assert_eq!(look_up(&now, 9, true).unwrap().len(), 1);
    assert_eq!(look_up(&now, 8, true).unwrap().len(), 0);
    for id in 20..40 {
        put(&container, id, 1, 0).await;
    }
    assert_eq!(look_up(&reader(&container), 1, true), None);
    assert_eq!(look_up(&now, 1, true).unwrap(), found);
}

#[derive(Debug, Clone)]
enum Step {
    Put(u64, u64, u64),
    Delete(u64),
    Hold,
    Reindex(bool),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => (0..12_u64, 0..4_u64, 0..3_u64).prop_map(|(id, value, other)| Step::Put(id, value, other)),
        3 => (0..12_u64).prop_map(Step::Delete),
        2 => Just(Step::Hold),
        1 => any::<bool>().prop_map(Step::Reindex),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Readers of several moments, at each step.
    #[test]
    fn readers_of_all_moments_find_their_own(steps in prop::collection::vec(step(), 1..40), throughput in prop_oneof![Just(400_u32), Just(20_000)]) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let container = open(&memory(), with_policy("{}"), None, throughput);
            let mut held = Vec::new();
            for step in steps {
                match step {
                    Step::Put(id, value, other) => put(&container, id, value, other).await,
                    Step::Delete(id) => {
                        delete(&container, &(id % 3).to_string(), &id.to_string()).await;
                    }
                    Step::Hold => held.extend(readers(&container)),
                    Step::Reindex(without) => {
                        let policy = if without { r#"{"includedPaths":[{"path":"/*"}],"excludedPaths":[{"path":"/a/?"}]}"# } else { "{}" };
                        container.set_definition(with_policy(policy), None);
                        reindex(&container).await;
                    }
                }
                for reader in held.iter().rev().take(4).chain(&readers(&container)) {
                    (0..4).for_each(|value| compare(reader, value));
                }
            }
        });
    }
}

/// Expired items are kept and not shown.
#[tokio::test]
async fn what_expires_is_not_found() {
    let fixture = crate::support::Fixture::new(
        r#"{"id":"c","partitionKey":{"paths":["/pk"]},"defaultTtl":10}"#,
        400,
        armilla_container::Limits::default(),
    );
    put(&fixture.container, 1, 1, 0).await;
    assert_eq!(look_up(&reader(&fixture.container), 1, true).unwrap().len(), 1);
    assert_eq!(look_up(&reader(&fixture.container), 1, true).unwrap().len(), 1);
    fixture.clock.advance(Duration::from_secs(11));
    assert_eq!(look_up(&reader(&fixture.container), 1, true).unwrap().len(), 0);
}

/// Writers and readers at once: whatever is on its way to the store, a reader finds what its own moment has.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn readers_beside_writers_find_their_own() {
    for seed in 0..4 {
        let store: Arc<dyn Store> = match seed % 2 {
            0 => Arc::new(MemoryStore::new()),
            // Much is on its way for long.
            _ => Arc::new(LateStore(Arc::new(MemoryStore::new()))),
        };
        let container =
            Arc::new(open(&store, definition(r#"{"id":"c","partitionKey":{"paths":["/pk"]}}"#), None, 400));
        let is_over = Arc::new(AtomicBool::new(false));
        let readers: Vec<_> = (0..2)
            .map(|number| {
                let (container, is_over) = (container.clone(), is_over.clone());
                tokio::task::spawn_blocking(move || {
                    let random = Random::new(seed * 10 + number);
                    while !is_over.load(Ordering::Relaxed) {
                        let reader = reader(&container);
                        (0..4).for_each(|_| compare(&reader, random.below(16)));
                    }
                })
            })
            .collect();
        let writers: Vec<_> = (0..3_u64)
            .map(|writer| {
                let container = container.clone();
                tokio::spawn(async move {
                    let random = Random::new(seed * 100 + writer);
                    for round in 0..400 {
                        let id = random.below(20) * 3 + writer;
                        match random.below(4) {
                            0 => {
                                delete(&container, &(id % 3).to_string(), &id.to_string()).await;
                            }
                            _ => put(&container, id, random.below(16), round).await,
                        }
                    }
                })
            })
            .collect();
        for writer in writers {
            writer.await.unwrap();
        }
        is_over.store(true, Ordering::Relaxed);
        for reader in readers {
            reader.await.unwrap();
        }
        (0..16).for_each(|value| compare(&reader(&container), value));
    }
}
