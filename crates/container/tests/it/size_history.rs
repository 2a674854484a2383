//! Random histories, after each step of which the sizes that are stored are compared with what is there.

use std::collections::BTreeMap;
use std::sync::Arc;

use armilla_container::{
    BatchStep, Container, ContainerDefinition, Counters, Error, ErrorKind, Limits, LogicalSize, Operation,
    Patch, Pointer, Precondition, Priority, ReadCost, WriteMode,
};
use armilla_env::Env;
use armilla_kv::{Family, Store};
use armilla_value::{PartitionKey, Value};
use bytes::Bytes;
use proptest::prelude::*;

use crate::index::{Computed, memory, open as open_plain, reindex, upsert, with_policy};
use crate::late_store::LateStore;
use crate::support::{GlassStore, check, definition, key, open_ranges, ranges, run};

/// Adds up what a space holds from its bytes alone, and compares with what it says of itself.
fn compare(stored: &[(u8, &Bytes, &Bytes)]) -> LogicalSize {
    let family = |family: Family| stored.iter().filter(move |entry| entry.0 == family as u8);
    let numbers = |bytes: &[u8]| -> Vec<u64> {
        bytes.chunks(8).map(|number| u64::from_be_bytes(number.try_into().unwrap())).collect()
    };
    // The hash takes 16 bytes, the partition key says where it ends, and the rest is the id.
    let logical = |item_key: &Bytes| {
        let (_, used) = PartitionKey::from_key_bytes(&item_key[16..]).unwrap();
        item_key.slice(..16 + used)
    };
    let mut found: BTreeMap<Bytes, LogicalSize> = BTreeMap::new();
    let keys: BTreeMap<&Bytes, &Bytes> =
        family(Family::Number).map(|(_, number, key)| (*number, *key)).collect();
    for (_, key, value) in family(Family::Item) {
        let size = found.entry(logical(key)).or_default();
        size.items += 1;
        size.bytes += (key.len() + value.len()) as u64;
    }
    for (_, entry, _) in family(Family::Index) {
        let item_key = keys[&entry.slice(entry.len() - 8..)];
        found.get_mut(&logical(item_key)).unwrap().index_bytes += entry.len() as u64;
    }
    let mut counted = BTreeMap::new();
    let mut total = LogicalSize::default();
    for (_, key, value) in family(Family::Meta).filter(|(_, key, _)| key[0] <= 1) {
        match (key[0], numbers(&value[1..]).as_slice()) {
            (0, &[_, _, items, bytes, index_bytes]) => total = LogicalSize { items, bytes, index_bytes },
            (1, &[items, bytes, index_bytes]) => {
                counted.insert(key.slice(1..), LogicalSize { items, bytes, index_bytes });
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(counted, found);
    let sum = found.values().fold(LogicalSize::default(), |sum, size| LogicalSize {
        items: sum.items + size.items,
        bytes: sum.bytes + size.bytes,
        index_bytes: sum.index_bytes + size.index_bytes,
    });
    assert_eq!(total, sum);
    total
}

/// Does so for every space, and for what the container says.
fn compare_all(store: &GlassStore, container: &Container) {
    let dump = store.dump();
    let mut sum = Counters::default();
    for space in 1..=2 {
        let stored: Vec<(u8, &Bytes, &Bytes)> = dump
            .iter()
            .filter(|((id, _, _), _)| *id == space)
            .map(|((_, family, key), value)| (*family, key, value))
            .collect();
        let total = compare(&stored);
        sum.items += total.items;
        sum.bytes += total.bytes;
        sum.index_bytes += total.index_bytes;
    }
    assert_eq!(container.counters().unwrap().size(), sum.size());
}

const POLICIES: [&str; 6] = [
    "{}",
    r#"{"indexingMode":"none"}"#,
    r#"{"includedPaths":[{"path":"/*"},{"path":"/low/?"}],"compositeIndexes":[[{"path":"/double"},{"path":"/_ts"}],[{"path":"/n"},{"path":"/name","order":"descending"}]]}"#,
    r#"{"includedPaths":[{"path":"/n/?"},{"path":"/low/?"}],"excludedPaths":[{"path":"/*"}]}"#,
    r#"{"includedPaths":[{"path":"/*"},{"path":"/hidden/?"},{"path":"/double/?"}],"excludedPaths":[{"path":"/list/*"}]}"#,
    r#"{"compositeIndexes":[[{"path":"/n"},{"path":"/_ts","order":"descending"}],[{"path":"/n"},{"path":"/list/[]"}]]}"#,
];

fn rich(policy: usize) -> ContainerDefinition {
    definition(&format!(
        r#"{{"id":"c","partitionKey":{{"paths":["/pk"]}},"indexingPolicy":{},
            "uniqueKeyPolicy":{{"uniqueKeys":[{{"paths":["/u"]}},{{"paths":["/name","/u"]}}]}},
            "computedProperties":[
                {{"name":"low","query":"SELECT VALUE LOWER(c.name) FROM c"}},
                {{"name":"double","query":"SELECT VALUE c.n * 2 FROM c"}},
                {{"name":"hidden","query":"SELECT VALUE null FROM c"}}]}}"#,
        POLICIES[policy]
    ))
}

#[derive(Debug, Clone, Copy)]
enum Write {
    Put { mode: WriteMode, id: u8, shape: u8 },
    Delete { id: u8 },
    Patch { id: u8, shape: u8 },
}

#[derive(Debug, Clone)]
enum Step {
    One {
        partition: u8,
        write: Write,
    },
    Batch {
        partition: u8,
        writes: Vec<Write>,
    },
    Transaction {
        partition: u8,
        writes: Vec<Write>,
    },
    /// Writes, batches and steps of a re-indexing that share groups.
    Together(Vec<(u8, Write)>),
    Policy(usize),
    Reindex,
    Restart,
}

fn write() -> impl Strategy<Value = Write> {
    let mode = prop_oneof![Just(WriteMode::Create), Just(WriteMode::Upsert), Just(WriteMode::Replace)];
    prop_oneof![
        5 => (mode, 0..10u8, any::<u8>()).prop_map(|(mode, id, shape)| Write::Put { mode, id, shape }),
        1 => (0..10u8).prop_map(|id| Write::Delete { id }),
        2 => (0..10u8, any::<u8>()).prop_map(|(id, shape)| Write::Patch { id, shape }),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let partition = || 0..4u8;
    let writes = || prop::collection::vec(write(), 1..6);
    prop_oneof![
        8 => (partition(), write()).prop_map(|(partition, write)| Step::One { partition, write }),
        3 => (partition(), writes()).prop_map(|(partition, writes)| Step::Batch { partition, writes }),
        3 => (partition(), writes()).prop_map(|(partition, writes)| Step::Transaction { partition, writes }),
        3 => prop::collection::vec((partition(), write()), 1..30).prop_map(Step::Together),
        2 => (0..POLICIES.len()).prop_map(Step::Policy),
        4 => Just(Step::Reindex),
        1 => Just(Step::Restart),
    ]
}

fn body(partition: u8, id: u8, shape: u8) -> String {
    let parts = [
        format!(r#","u":{}"#, shape % 16),
        format!(r#","n":{}"#, shape % 3),
        format!(r#","name":"NAME{}""#, "x".repeat(usize::from(shape))),
        format!(r#","list":[1,{shape},{{"deep":[{}]}}]"#, shape % 5),
        r#","low":"stored""#.to_owned(),
    ];
    let chosen: String = parts
        .iter()
        .enumerate()
        .filter(|(at, _)| shape >> at & 1 == 1)
        .map(|(_, part)| part.as_str())
        .collect();
    format!(r#"{{"id":"{id}","pk":{partition}{chosen}}}"#)
}

fn patch(shape: u8) -> Patch {
    let value = |value| Operation::Set { path: Pointer::parse("/n").unwrap(), value };
    let operation = match shape % 3 {
        0 => value(Value::Int64(i64::from(shape))),
        1 => value(Value::String("n".repeat(usize::from(shape)))),
        _ => Operation::Remove { path: Pointer::parse("/list").unwrap() },
    };
    Patch::new(vec![operation], 100).unwrap()
}

fn batch_step(partition: u8, write: Write) -> BatchStep {
    let precondition = Precondition::None;
    match write {
        Write::Put { mode, id, shape } => {
            BatchStep::Put { mode, id: None, body: body(partition, id, shape).into(), precondition }
        }
        Write::Delete { id } => BatchStep::Delete { id: id.to_string(), precondition },
        Write::Patch { id, shape } => {
            BatchStep::Patch { id: id.to_string(), patch: patch(shape), precondition }
        }
    }
}

async fn one(container: &Container, partition: u8, write: Write) -> Result<(), Error> {
    let key = key(&format!("[{partition}]"));
    let precondition = Precondition::None;
    match write {
        Write::Put { mode, id, shape } => {
            let body = body(partition, id, shape);
            container
                .write_item(mode, &key, None, body.as_bytes().into(), precondition, Priority::High)
                .await?;
        }
        Write::Delete { id } => {
            container.delete_item(&key, &id.to_string(), precondition, Priority::High).await?;
        }
        Write::Patch { id, shape } => {
            container.patch_item(&key, &id.to_string(), patch(shape), precondition, Priority::High).await?;
        }
    }
    Ok(())
}

async fn transact(container: &Container, partition: u8, writes: &[Write]) {
    let key = key(&format!("[{partition}]"));
    let done = run(container, &key, |transaction| {
        for write in writes {
            // Those that are refused are left out.
            let _ = match *write {
                Write::Put { mode, id, shape } => {
                    transaction.put(mode, None, body(partition, id, shape).as_bytes(), Precondition::None)
                }
                Write::Delete { id } => transaction.delete(&id.to_string(), Precondition::None),
                Write::Patch { id, shape } => {
                    let body = body(partition, id, shape);
                    transaction.put(WriteMode::Upsert, None, body.as_bytes(), Precondition::None)
                }
            };
        }
        Ok(())
    });
    done.await.unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn sizes_are_exact_after_every_step(
        first in 0..POLICIES.len(),
        late in any::<bool>(),
        begin in 0..60u8,
        steps in prop::collection::vec(step(), 1..50),
    ) {
        const MAX: u64 = 4_000;
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let inner: Arc<dyn Store> = if late { Arc::new(LateStore(memory())) } else { memory() };
            let store = Arc::new(GlassStore::new(inner));
            let (env, clock) = Env::simulated(1);
            let limits = Limits { logical_partition_bytes_max: MAX, ..Limits::default() };
            let open = |policy: usize| {
                let (limits, definition) = (limits.clone(), rich(policy));
                let ranges = ranges(&definition, 20_000, &limits);
                let computed = Some(Arc::new(Computed) as _);
                let (store, env, limits) = (store.clone(), env.clone(), Arc::new(limits));
                Arc::new(open_ranges(store, env, limits, definition, computed, ranges))
            };
            let mut policy = first;
            let mut container = open(policy);
            for n in 0..begin {
                let put = Write::Put { mode: WriteMode::Upsert, id: n / 4, shape: n.wrapping_mul(37) };
                let _ = one(&container, n % 4, put).await;
            }
            for step in steps {
                clock.advance(std::time::Duration::from_secs(1));
                match step {
                    Step::One { partition, write } => {
                        let size = || container.logical_size(&key(&format!("[{partition}]"))).unwrap();
                        let before = size();
                        let refusal = one(&container, partition, write).await.err().map(|error| error.kind);
                        let after = size();
                        if refusal.is_some() {
                            assert_eq!(before, after);
                        }
                        assert!(after.total_bytes() <= MAX.max(before.total_bytes()));
                        let may_be_full = !matches!(write, Write::Delete { .. });
                        assert!(refusal != Some(ErrorKind::LogicalPartitionFull) || may_be_full);
                    }
                    Step::Batch { partition, writes } => {
                        let key = key(&format!("[{partition}]"));
                        let steps = writes.into_iter().map(|write| batch_step(partition, write)).collect();
                        let _ = container.batch(&key, steps, ReadCost::Single, Priority::High).await.unwrap();
                    }
                    Step::Transaction { partition, writes } => transact(&container, partition, &writes).await,
                    Step::Together(writes) => {
                        let tasks: Vec<_> = writes
                            .into_iter()
                            .enumerate()
                            .map(|(at, (partition, write))| {
                                let container = container.clone();
                                tokio::spawn(async move {
                                    match at % 5 {
                                        0 => {
                                            container.reindex_step().await.unwrap();
                                        }
                                        1 => transact(&container, partition, &[write]).await,
                                        2 => {
                                            let key = key(&format!("[{partition}]"));
                                            let steps = vec![batch_step(partition, write)];
                                            let _ = container.batch(&key, steps, ReadCost::Single, Priority::High).await.unwrap();
                                        }
                                        _ => {
                                            let _ = one(&container, partition, write).await;
                                        }
                                    }
                                })
                            })
                            .collect();
                        for task in tasks {
                            task.await.unwrap();
                        }
                    }
                    Step::Policy(next) => {
                        policy = next;
                        container.set_definition(rich(policy), Some(Arc::new(Computed)));
                    }
                    Step::Reindex => {
                        container.reindex_step().await.unwrap();
                    }
                    Step::Restart => {
                        drop(container);
                        container = open(policy);
                    }
                }
                compare_all(&store, &container);
            }
            check(&container);
            reindex(&container).await;
            compare_all(&store, &container);
            check(&container);
        });
    }
}

/// A re-indexing of more logical partitions than are kept in memory, among writes, on a store that is slow.
#[tokio::test]
async fn sizes_are_not_forgotten_before_they_are_stored() {
    const PARTITIONS: u32 = 4_600;
    let glass = Arc::new(GlassStore::new(Arc::new(LateStore(memory()))));
    let store: Arc<dyn Store> = glass.clone();
    let container = Arc::new(open_plain(&store, with_policy("{}"), None, 400));
    let body = |n: u32, version: u32| format!(r#"{{"id":"i","pk":{n},"a":[{n},{version}],"b":"{n}"}}"#);
    let all = |container: &Arc<Container>, version: u32, every: usize| {
        (0..PARTITIONS)
            .step_by(every)
            .map(|n| {
                let (container, body) = (container.clone(), body(n, version));
                tokio::spawn(async move { upsert(&container, &n.to_string(), &body).await })
            })
            .collect::<Vec<_>>()
    };
    for task in all(&container, 0, 1) {
        task.await.unwrap();
    }
    for (version, policy) in (1..).zip([r#"{"indexingMode":"none"}"#, "{}"]) {
        container.set_definition(with_policy(policy), None);
        let mut tasks = Vec::new();
        for write in all(&container, version, 3) {
            let container = container.clone();
            // Each waits for a write of its own, so that steps and writes are in groups one behind the other.
            tasks.push(tokio::spawn(async move {
                write.await.unwrap();
                container.reindex_step().await.unwrap();
            }));
        }
        for task in tasks {
            task.await.unwrap();
        }
        reindex(&container).await;
        compare_all(&glass, &container);
        assert_eq!(container.counters().unwrap().items, u64::from(PARTITIONS));
    }
}
