//! Random histories of writes, passing time, other defaults, purges, splits and merges, compared with a model that knows
//! of every stored item until when it lives.

use std::collections::BTreeMap;
use std::time::Duration;

use armilla_container::{
    BatchStep, ChangeKind, CutBy, Error, ErrorKind, Limits, ListScope, Precondition, Priority, ReadCost,
    SessionToken, WriteMode, Written,
};
use armilla_env::{Clock, Entropy, SeededEntropy};

use crate::reshaping::{ids, merge, split};
use crate::support::{Fixture, definition, key, list};

const SEEDS: u64 = 40;
const STEPS: u64 = 150;
const PARTITIONS: u64 = 4;
const IDS: u64 = 6;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stored {
    ts: i64,
    ttl: i64,
    unique: u64,
}

/// What is stored, by partition and id.
type Items = BTreeMap<(u64, u64), Stored>;

struct History {
    fixture: Fixture,
    entropy: SeededEntropy,
    default_ttl: Option<i64>,
    rest: &'static str,
    items: Items,
}

/// What a write does in the model.
type Outcome = Result<ChangeKind, ErrorKind>;

impl History {
    fn below(&self, end: u64) -> u64 {
        let mut bytes = [0; 8];
        self.entropy.fill(&mut bytes);
        u64::from_le_bytes(bytes) % end
    }

    fn now(&self) -> i64 {
        self.fixture.clock.now_seconds()
    }

    fn definition_text(default_ttl: Option<i64>, rest: &str) -> String {
        let default_ttl = default_ttl.map_or(String::new(), |seconds| format!(r#","defaultTtl":{seconds}"#));
        format!(
            r#"{{"id":"c","partitionKey":{{"paths":["/pk"]}},
                "uniqueKeyPolicy":{{"uniqueKeys":[{{"paths":["/u"]}}]}}{default_ttl}{rest}}}"#
        )
    }

    fn lives(&self, stored: &Stored, now: i64) -> bool {
        let Some(default_ttl) = self.default_ttl else { return true };
        let ttl = if stored.ttl == 0 { default_ttl } else { stored.ttl };
        ttl < 0 || now <= stored.ts + ttl
    }

    /// A random item, and what its JSON is.
    fn any_item(&self, partition: u64, ts: i64) -> (u64, Stored, String) {
        let (id, unique) = (self.below(IDS), self.below(10));
        let ttl = [0, 0, -1, 1, 2, 4, 7][self.below(7) as usize];
        let shown = if ttl == 0 { String::new() } else { format!(r#","ttl":{ttl}"#) };
        let body = format!(r#"{{"id":"{id}","pk":{partition},"u":{unique}{shown}}}"#);
        (id, Stored { ts, ttl, unique }, body)
    }

    /// Does a write to some items, as of a moment. What was in the way is gone also where the write is refused.
    fn write(&self, items: &mut Items, now: i64, mode: WriteMode, at: (u64, u64), new: Stored) -> Outcome {
        let old = items.get(&at).filter(|old| self.lives(old, now)).copied();
        match (mode, old) {
            (WriteMode::Create, Some(_)) => return Err(ErrorKind::ItemExists),
            (WriteMode::Replace, None) => return Err(ErrorKind::ItemNotFound),
            (_, None) => drop(items.remove(&at)),
            _ => {}
        }
        let holder = items
            .iter()
            .find(|(other, stored)| other.0 == at.0 && **other != at && stored.unique == new.unique)
            .map(|(other, stored)| (*other, *stored));
        match holder {
            Some((_, stored)) if self.lives(&stored, now) => return Err(ErrorKind::UniqueKeyTaken),
            Some((other, _)) => drop(items.remove(&other)),
            None => {}
        }
        items.insert(at, new);
        Ok(if old.is_some() { ChangeKind::Replace } else { ChangeKind::Create })
    }

    async fn step(&mut self) {
        let partition = self.below(PARTITIONS);
        let partition_key = key(&format!("[{partition}]"));
        let now = self.now();
        let container = self.fixture.container.clone();
        let outcome = |done: Result<Written, Error>| done.map(|done| done.kind).map_err(|error| error.kind);
        match self.below(20) {
            0..=7 => {
                let (id, new, body) = self.any_item(partition, now);
                let mode = [WriteMode::Create, WriteMode::Upsert, WriteMode::Upsert, WriteMode::Replace]
                    [self.below(4) as usize];
                let mut items = self.items.clone();
                let expected = self.write(&mut items, now, mode, (partition, id), new);
                self.items = items;
                let (body, free) = (body.as_bytes(), Precondition::None);
                let done =
                    container.write_item(mode, &partition_key, None, body.into(), free, Priority::High).await;
                assert_eq!(outcome(done), expected);
            }
            8 => {
                let at = (partition, self.below(IDS));
                let expected = match self.items.get(&at).filter(|stored| self.lives(stored, now)) {
                    Some(_) => Ok(ChangeKind::Delete),
                    None => Err(ErrorKind::ItemNotFound),
                };
                let (id, free) = (at.1.to_string(), Precondition::None);
                let done = container.delete_item(&partition_key, &id, free, Priority::High).await;
                assert_eq!(outcome(done), expected);
                if expected.is_ok() {
                    self.items.remove(&at);
                }
            }
            9 | 10 => {
                let mut items = self.items.clone();
                let (mut steps, mut failed) = (Vec::new(), None);
                for number in 0..3 {
                    let (id, new, body) = self.any_item(partition, now);
                    let mode = [WriteMode::Upsert, WriteMode::Create][self.below(2) as usize];
                    let (body, precondition) = (body.into(), Precondition::None);
                    steps.push(BatchStep::Put { mode, id: None, body, precondition });
                    if failed.is_none() {
                        let done = self.write(&mut items, now, mode, (partition, id), new);
                        failed = done.err().map(|kind| (number, kind));
                    }
                }
                let done = container.batch(&partition_key, steps, ReadCost::Single, Priority::High).await;
                let done = done.unwrap().err().map(|failed| (failed.step, failed.error.kind));
                assert_eq!(done, failed);
                if failed.is_none() {
                    self.items = items;
                }
            }
            11 | 12 => {
                let mut transaction =
                    container.begin(&partition_key, 0, ReadCost::Single, Priority::High).await.unwrap();
                let mut items = self.items.clone();
                for _ in 0..3 {
                    // Time passes, and what it saw at its beginning is what it goes on seeing.
                    self.pass(self.below(3));
                    let (id, new, body) = self.any_item(partition, self.now());
                    let seen = items.get(&(partition, id)).is_some_and(|stored| self.lives(stored, now));
                    assert_eq!(transaction.read(&id.to_string()).unwrap().is_some(), seen);
                    let before = items.clone();
                    let expected = self.write(&mut items, now, WriteMode::Upsert, (partition, id), new);
                    let done = transaction.put(WriteMode::Upsert, None, body.as_bytes(), Precondition::None);
                    assert_eq!(outcome(done), expected);
                    if expected.is_err() {
                        items = before;
                    }
                }
                transaction.commit().await.unwrap();
                self.items = items;
            }
            13..=15 => self.pass(1 + self.below(3)),
            16 => {
                self.default_ttl = [None, Some(-1), Some(1), Some(3), Some(5)][self.below(5) as usize];
                let text = Self::definition_text(self.default_ttl, self.rest);
                container.set_definition(definition(&text), None);
            }
            17 | 18 => {
                let before = self.items.len();
                let alive = |stored: &Stored| self.lives(stored, now);
                let items: Items = self
                    .items
                    .iter()
                    .filter(|(_, stored)| alive(stored))
                    .map(|(at, stored)| (*at, *stored))
                    .collect();
                self.items = items;
                assert_eq!(self.fixture.purge().await, (before - self.items.len()) as u64);
            }
            _ => {
                let ranges = ids(&container);
                if ranges.len() < 3 {
                    // What has one hashed key cannot be cut.
                    let range = ranges[self.below(ranges.len() as u64) as usize];
                    if container.split_point(range, CutBy::Arc).unwrap().is_some() {
                        split(&container, range, CutBy::Arc).await.unwrap();
                    }
                } else {
                    let first = self.below(ranges.len() as u64 - 1) as usize;
                    merge(&container, [ranges[first], ranges[first + 1]]).await.unwrap();
                }
            }
        }
    }

    fn pass(&self, seconds: u64) {
        self.fixture.clock.advance(Duration::from_secs(seconds));
    }

    fn compare(&self) {
        let (container, now) = (&self.fixture.container, self.now());
        assert_eq!(container.counters().unwrap().items, self.items.len() as u64);
        for partition in 0..PARTITIONS {
            let expected: Vec<String> = (0..IDS)
                .filter(|id| self.items.get(&(partition, *id)).is_some_and(|stored| self.lives(stored, now)))
                .map(|id| id.to_string())
                .collect();
            let scope = ListScope::PartitionKey(key(&format!("[{partition}]")));
            let mut listed = list(container, scope.clone(), 2).concat();
            listed.sort();
            assert_eq!(listed, expected);
            for id in 0..IDS {
                let read = self.fixture.read(&format!("[{partition}]"), &id.to_string());
                assert_eq!(read.is_ok(), expected.contains(&id.to_string()));
            }
            let reader = container.readers(&scope, &SessionToken::default()).unwrap().pop().unwrap();
            let mut scanned = Vec::new();
            reader.scan(None, 100, &mut scanned).unwrap();
            assert_eq!(scanned.len(), expected.len());
            if reader.is_counted() {
                assert_eq!(reader.item_count(), expected.len() as u64);
            }
        }
        self.fixture.check();
    }
}

#[tokio::test]
async fn the_container_agrees_with_a_model_of_time() {
    for seed in 0..SEEDS {
        let rest = ["", r#","changeFeedPolicy":{"retentionDuration":600}"#][seed as usize % 2];
        let default_ttl = [Some(3), None, Some(-1)][seed as usize % 3];
        let text = History::definition_text(default_ttl, rest);
        let mut history = History {
            fixture: Fixture::new(&text, 400, Limits::default()),
            entropy: SeededEntropy::new(seed),
            default_ttl,
            rest,
            items: Items::new(),
        };
        for step in 0..STEPS {
            // A failure says where.
            eprintln!("seed {seed}, step {step}");
            history.step().await;
            if step % 5 == 0 {
                history.compare();
            }
        }
        history.compare();
    }
}
