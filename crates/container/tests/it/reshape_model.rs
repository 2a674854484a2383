//! Random work of many clients while partitions are split and merged at random: every answer is compared with a model.
//!
//! Each client has logical partitions of its own, so it knows what every answer must be.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use armilla_container::{
    BatchStep, Container, CutBy, ErrorKind, Limits, ListRequest, ListScope, Precondition, Priority, ReadCost,
    SessionToken, WriteMode,
};
use armilla_env::Env;
use armilla_kv::Store;
use armilla_kv::memory::MemoryStore;

use crate::late_store::LateStore;
use crate::reshaping::{ids, merge, split};
use crate::support::{Random, check, definition, key, open, run, value};

const DEFINITION: &str = r#"{"id":"c","partitionKey":{"paths":["/pk"]},
    "uniqueKeyPolicy":{"uniqueKeys":[{"paths":["/u"]}]},
    "indexingPolicy":{"includedPaths":[{"path":"/*"}],"compositeIndexes":[[{"path":"/n"},{"path":"/u"}]]}}"#;

const ALL_VERSIONS: &str = r#"{"id":"c","partitionKey":{"paths":["/pk"]},
    "uniqueKeyPolicy":{"uniqueKeys":[{"paths":["/u"]}]},"changeFeedPolicy":{"retentionDuration":600}}"#;

/// What one logical partition holds: ids with their numbers, which are unique.
type Model = BTreeMap<u64, u64>;

struct Client {
    container: Container,
    random: Random,
    number: u64,
    models: Vec<Model>,
    /// Resource ids never change, and are never given twice.
    seen: SessionToken,
}

impl Client {
    fn pk(&self, partition: usize) -> String {
        format!(r#"["{}-{partition}"]"#, self.number)
    }

    fn body(&self, partition: usize, id: u64, n: u64) -> String {
        format!(r#"{{"id":"{id}","pk":"{}-{partition}","n":{n},"u":{n}}}"#, self.number)
    }

    async fn act(&mut self, count: u64) {
        let partition = self.random.below(self.models.len() as u64) as usize;
        let (id, n) = (self.random.below(6), self.random.below(12));
        let partition_key = key(&self.pk(partition));
        let model = self.models[partition].clone();
        let taken = |id: u64, n: u64| model.iter().any(|(other, value)| *other != id && *value == n);
        match self.random.below(8) {
            0..=2 => {
                let (mode, body) = (WriteMode::Upsert, self.body(partition, id, n));
                let done = self.container.write_item(
                    mode,
                    &partition_key,
                    None,
                    body.as_bytes().into(),
                    Precondition::None,
                    Priority::High,
                );
                match done.await {
                    Ok(written) => {
                        assert!(!taken(id, n), "{count}: {n} was taken");
                        self.models[partition].insert(id, n);
                        self.seen = SessionToken::from(written.position);
                    }
                    Err(error) => {
                        assert_eq!(error.kind, ErrorKind::UniqueKeyTaken, "{count}: {error}");
                        assert!(taken(id, n), "{count}: {n} is free: {model:?}");
                    }
                }
            }
            3 => {
                let id_text = id.to_string();
                let done =
                    self.container.delete_item(&partition_key, &id_text, Precondition::None, Priority::High);
                let done = done.await.map(|_| ()).map_err(|error| error.kind);
                let expected = model.get(&id).map(|_| ()).ok_or(ErrorKind::ItemNotFound);
                assert_eq!(done, expected, "{count}");
                self.models[partition].remove(&id);
            }
            4 => {
                let read = self.container.read_item(
                    &partition_key,
                    &id.to_string(),
                    None,
                    &self.seen,
                    ReadCost::Single,
                    Priority::High,
                );
                let found = read.map(|read| value(&read.item)).map_err(|error| error.kind);
                match (found, model.get(&id)) {
                    (Ok(item), Some(n)) => {
                        let found = item.as_object().unwrap().get("n").unwrap().as_i64();
                        assert_eq!(found, Some(*n as i64), "{count}");
                    }
                    (Err(ErrorKind::ItemNotFound), None) => {}
                    (found, expected) => panic!("{count}: {found:?} instead of {expected:?}"),
                }
            }
            5 => {
                // All or none: an increment of what is there, and something new.
                let fresh = 100 + count;
                let put = |id, n| BatchStep::Put {
                    mode: WriteMode::Upsert,
                    id: None,
                    body: self.body(partition, id, n).into(),
                    precondition: Precondition::None,
                };
                let steps = vec![put(id, fresh), put(6, n)];
                let done =
                    self.container.batch(&partition_key, steps, ReadCost::Single, Priority::High).await;
                let mut after = model.clone();
                after.insert(id, fresh);
                let is_taken = after.iter().any(|(other, value)| *other != 6 && *value == n);
                match done.unwrap() {
                    Ok(_) => {
                        assert!(!is_taken, "{count}");
                        after.insert(6, n);
                        self.models[partition] = after;
                    }
                    Err(failed) => {
                        assert_eq!(failed.error.kind, ErrorKind::UniqueKeyTaken, "{count}");
                        assert!(is_taken, "{count}");
                    }
                }
            }
            6 => {
                let fresh = 100_000 + count;
                let body = self.body(partition, 7, fresh);
                let (sum, _, _) = run(&self.container, &partition_key, |transaction| {
                    let mut sum = 0;
                    for id in 0..8 {
                        let item = transaction.read(&u64::to_string(&id))?;
                        sum += item.map_or(0, |item| {
                            value(&item).as_object().unwrap().get("n").unwrap().as_i64().unwrap() as u64
                        });
                    }
                    transaction.put(WriteMode::Upsert, None, body.as_bytes(), Precondition::None)?;
                    Ok(sum)
                })
                .await
                .unwrap();
                assert_eq!(sum, model.values().sum::<u64>(), "{count}");
                self.models[partition].insert(7, fresh);
            }
            _ => {
                let scope = ListScope::PartitionKey(partition_key.clone());
                if n % 2 == 0 {
                    let readers = self.container.readers(&scope, &self.seen).unwrap();
                    let mut items = Vec::new();
                    assert!(!readers[0].scan(None, 100, &mut items).unwrap());
                    assert_eq!(items.len(), model.len(), "{count}");
                    return;
                }
                let request = ListRequest {
                    scope,
                    items_max: 100,
                    continuation: None,
                    session: self.seen.clone(),
                    cost: ReadCost::Single,
                    claim: Priority::High.into(),
                };
                assert_eq!(self.container.list_items(&request).unwrap().items.len(), model.len(), "{count}");
            }
        }
    }
}

async fn run_model(store: Arc<dyn Store>, text: &str, throughput: u32, seed: u64, steps: u64) {
    let container = open(store, Env::simulated(seed).0, definition(text), throughput, Limits::default());
    let is_over = Arc::new(AtomicBool::new(false));
    let shaper = {
        let (container, is_over) = (container.clone(), is_over.clone());
        let random = Random::new(seed);
        tokio::spawn(async move {
            let mut count = 0;
            while !is_over.load(Ordering::Relaxed) || count < 4 {
                let ranges = ids(&container);
                let place = random.below(ranges.len() as u64) as usize;
                let by = if random.below(2) == 0 { CutBy::Arc } else { CutBy::Bytes };
                if ranges.len() > 1 && (ranges.len() > 4 || random.below(2) == 0) {
                    let place = place.min(ranges.len() - 2);
                    merge(&container, [ranges[place], ranges[place + 1]]).await.unwrap();
                } else if container.split_point(ranges[place], by).unwrap().is_some() {
                    split(&container, ranges[place], by).await.unwrap();
                }
                count += 1;
            }
            count
        })
    };
    let clients: Vec<_> = (0..4)
        .map(|number| {
            let mut client = Client {
                container: container.clone(),
                random: Random::new(seed * 100 + number),
                number,
                models: vec![Model::new(); 6],
                seen: SessionToken::default(),
            };
            tokio::spawn(async move {
                for count in 0..steps {
                    client.act(count).await;
                }
                client
            })
        })
        .collect();
    let mut items = 0;
    let mut done = Vec::new();
    for client in clients {
        done.push(client.await.unwrap());
    }
    is_over.store(true, Ordering::Relaxed);
    let reshapes = shaper.await.unwrap();
    assert!(reshapes >= 4);
    for client in done {
        for (partition, model) in client.models.iter().enumerate() {
            items += model.len() as u64;
            for (id, n) in model {
                let session = SessionToken::default();
                let partition_key = key(&client.pk(partition));
                let read = container
                    .read_item(
                        &partition_key,
                        &id.to_string(),
                        None,
                        &session,
                        ReadCost::Single,
                        Priority::High,
                    )
                    .unwrap();
                let found = value(&read.item).as_object().unwrap().get("n").unwrap().as_i64();
                assert_eq!(found, Some(*n as i64));
            }
        }
    }
    assert_eq!(container.counters().unwrap().items, items);
    check(&container);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn clients_notice_nothing() {
    for seed in 0..6 {
        let text = if seed % 2 == 0 { DEFINITION } else { ALL_VERSIONS };
        run_model(Arc::new(MemoryStore::new()), text, 400, seed, 400).await;
        run_model(Arc::new(MemoryStore::cloning()), text, 400, seed, 400).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clients_of_a_slow_store_notice_nothing() {
    for seed in 10..13 {
        let store = Arc::new(LateStore(Arc::new(MemoryStore::new())));
        run_model(store, DEFINITION, 30_000, seed, 200).await;
    }
}
