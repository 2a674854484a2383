//! Random transactions that overlap, compared with the same ones run one after the other in the order of their commits.

use std::collections::BTreeMap;
use std::sync::Arc;

use armilla_container::{
    BatchStep, ErrorKind, Limits, OPTIMISTIC_ATTEMPTS_MAX, Precondition, Priority, ReadCost, Transaction,
    WriteMode,
};
use armilla_env::Env;
use armilla_kv::Store;
use armilla_kv::memory::MemoryStore;
use proptest::prelude::*;

use crate::late_store::LateStore;
use crate::support::{check, definition, key, open, value};

const KEY: &str = r#"["a"]"#;

/// Transactions that are open at a time.
const OPEN_MAX: usize = 4;

#[derive(Debug, Clone, Copy)]
enum Act {
    Read(u8),
    Query,
    Put(u8, u8, u8),
    Delete(u8),
}

#[derive(Debug, Clone)]
enum Move {
    Act(usize, Act),
    /// Commits a transaction, and waits for the answer or not.
    Commit(usize, bool),
    Drop(usize),
    /// A batch of another writer.
    Other(Vec<Act>, bool),
}

/// What an act showed.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Seen {
    Value(Option<u8>),
    All(BTreeMap<u8, u8>),
    Done,
    Refused(ErrorKind),
}

/// What a transaction did, and what it saw.
type Acts = Vec<(Act, Seen)>;

/// A transaction that is open.
type Open = Option<(Transaction, Acts)>;

/// Where one was committed, and whether it only read.
type Place = (u64, bool);

fn act() -> impl Strategy<Value = Act> {
    let id = 0..5_u8;
    prop_oneof![
        3 => id.clone().prop_map(Act::Read),
        1 => Just(Act::Query),
        5 => (0..3_u8, id.clone(), 0..24_u8).prop_map(|(mode, id, n)| Act::Put(mode, id, n)),
        2 => id.prop_map(Act::Delete),
    ]
}

fn moves() -> impl Strategy<Value = Move> {
    let writes = prop::collection::vec(act(), 1..4);
    prop_oneof![
        10 => (0..OPEN_MAX, act()).prop_map(|(slot, act)| Move::Act(slot, act)),
        3 => (0..OPEN_MAX, any::<bool>()).prop_map(|(slot, waits)| Move::Commit(slot, waits)),
        1 => (0..OPEN_MAX).prop_map(Move::Drop),
        2 => (writes, any::<bool>()).prop_map(|(acts, waits)| Move::Other(acts, waits)),
    ]
}

fn mode(mode: u8) -> WriteMode {
    [WriteMode::Create, WriteMode::Upsert, WriteMode::Replace][usize::from(mode)]
}

fn body(id: u8, n: u8) -> String {
    format!(r#"{{"id":"{id}","pk":"a","n":{n},"u":{}}}"#, n % 8)
}

fn n(item: &armilla_container::Item) -> u8 {
    value(item).get("n").and_then(|n| n.as_i64()).unwrap() as u8
}

fn perform(transaction: &mut Transaction, act: Act) -> Seen {
    let written = match act {
        Act::Read(id) => {
            return Seen::Value(transaction.read(&id.to_string()).unwrap().as_ref().map(n));
        }
        Act::Query => {
            let mut items = Vec::new();
            transaction.snapshot().scan(None, 100, &mut items).unwrap();
            let id = |item| value(item).get("id").unwrap().as_str().unwrap().parse().unwrap();
            return Seen::All(items.iter().map(|(_, item)| (id(item), n(item))).collect());
        }
        Act::Put(how, id, n) => transaction.put(mode(how), None, body(id, n).as_bytes(), Precondition::None),
        Act::Delete(id) => transaction.delete(&id.to_string(), Precondition::None),
    };
    written.map_or_else(|error| Seen::Refused(error.kind), |_| Seen::Done)
}

/// The same on a map.
fn replay(base: &BTreeMap<u8, u8>, now: &mut BTreeMap<u8, u8>, act: Act) -> Seen {
    match act {
        Act::Read(id) => Seen::Value(now.get(&id).copied()),
        Act::Query => Seen::All(base.clone()),
        Act::Put(how, id, n) => {
            let refused = match (mode(how), now.contains_key(&id)) {
                (WriteMode::Create, true) => Some(ErrorKind::ItemExists),
                (WriteMode::Replace, false) => Some(ErrorKind::ItemNotFound),
                _ if now.iter().any(|(other, held)| *other != id && held % 8 == n % 8) => {
                    Some(ErrorKind::UniqueKeyTaken)
                }
                _ => None,
            };
            if let Some(kind) = refused {
                return Seen::Refused(kind);
            }
            now.insert(id, n);
            Seen::Done
        }
        Act::Delete(id) => match now.remove(&id) {
            Some(_) => Seen::Done,
            None => Seen::Refused(ErrorKind::ItemNotFound),
        },
    }
}

async fn history(moves: Vec<Move>, late: bool) {
    let memory: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let store = if late { Arc::new(LateStore(memory)) } else { memory };
    let definition = definition(
        r#"{"id":"c","partitionKey":{"paths":["/pk"]},"uniqueKeyPolicy":{"uniqueKeys":[{"paths":["/u"]}]}}"#,
    );
    let container = Arc::new(open(store, Env::simulated(1).0, definition, 400, Limits::default()));
    let mut slots: [Open; OPEN_MAX] = Default::default();
    let mut tasks = Vec::new();
    let mut begun = 0_u32;
    for step in moves {
        let (task, waits) = match step {
            Move::Act(slot, act) => {
                if slots[slot].is_none() {
                    // Some hold, if no transaction here would keep them waiting for ever.
                    begun += 1;
                    let holds = begun.is_multiple_of(5) && slots.iter().all(Option::is_none);
                    let attempt = if holds { OPTIMISTIC_ATTEMPTS_MAX } else { 0 };
                    let partition_key = key(KEY);
                    let begins = container.begin(&partition_key, attempt, ReadCost::Single, Priority::High);
                    let ready = tokio::select! {
                        biased;
                        transaction = begins => Some(transaction.unwrap()),
                        () = never_if(holds) => None,
                    };
                    // Another of ours has the lock: this one has to come again later.
                    let Some(transaction) = ready else { continue };
                    slots[slot] = Some((transaction, Vec::new()));
                }
                let (transaction, acts) = slots[slot].as_mut().unwrap();
                let seen = perform(transaction, act);
                acts.push((act, seen));
                continue;
            }
            Move::Drop(slot) => {
                slots[slot] = None;
                continue;
            }
            Move::Commit(slot, waits) => {
                let Some((transaction, acts)) = slots[slot].take() else { continue };
                let has_writes = acts
                    .iter()
                    .any(|(act, seen)| matches!(act, Act::Put(..) | Act::Delete(_)) && *seen == Seen::Done);
                let task = tokio::spawn(async move {
                    match transaction.commit().await {
                        // Those that only read come behind those of the same commit.
                        Ok(position) => Some(((position.lsn, !has_writes), acts)),
                        Err(error) => {
                            assert_eq!(error.kind, ErrorKind::Conflict, "{error}");
                            None
                        }
                    }
                });
                (task, waits)
            }
            Move::Other(acts, waits) => {
                let container = container.clone();
                let task = tokio::spawn(async move {
                    let precondition = Precondition::None;
                    let steps = acts.iter().filter_map(|act| match *act {
                        Act::Put(how, id, n) => Some(BatchStep::Put {
                            mode: mode(how),
                            id: None,
                            body: body(id, n).into(),
                            precondition,
                        }),
                        Act::Delete(id) => Some(BatchStep::Delete { id: id.to_string(), precondition }),
                        Act::Read(_) | Act::Query => None,
                    });
                    let steps: Vec<BatchStep> = steps.collect();
                    let is_empty = steps.is_empty();
                    let done =
                        container.batch(&key(KEY), steps, ReadCost::Single, Priority::High).await.unwrap();
                    let writes = acts.into_iter().filter(|act| matches!(act, Act::Put(..) | Act::Delete(_)));
                    let done = done.ok().filter(|_| !is_empty)?;
                    Some(((done.position.lsn, false), writes.map(|act| (act, Seen::Done)).collect()))
                });
                (task, waits)
            }
        };
        // No task may wait here for one of the open transactions that holds.
        if waits && slots.iter().all(Option::is_none) {
            tasks.push(tokio::spawn(std::future::ready(task.await.unwrap())));
        } else {
            tasks.push(task);
        }
    }
    slots = Default::default();
    drop(slots);
    let mut committed: Vec<(Place, Acts)> = Vec::new();
    for task in tasks {
        committed.extend(task.await.unwrap());
    }
    committed.sort_by_key(|(place, _)| *place);
    let mut model = BTreeMap::new();
    let mut lsn = 0;
    for ((place, reads_only), acts) in committed {
        if !reads_only {
            lsn += 1;
        }
        assert_eq!(place, lsn, "every commit has a number of its own, without gaps");
        let base = model.clone();
        for (act, seen) in acts {
            assert_eq!(replay(&base, &mut model, act), seen, "commit {place}: {act:?}");
        }
    }
    let mut last = container.begin(&key(KEY), 0, ReadCost::Single, Priority::High).await.unwrap();
    assert_eq!(perform(&mut last, Act::Query), Seen::All(model));
    check(&container);
}

/// Ends soon, unless it must not.
async fn never_if(never: bool) {
    if never {
        std::future::pending::<()>().await;
    }
    tokio::task::yield_now().await;
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn what_overlaps_could_have_come_one_after_the_other(
        moves in prop::collection::vec(moves(), 1..120),
        late in any::<bool>(),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(history(moves, late));
    }
}
