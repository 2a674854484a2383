//! Transactions: own writes seen, what is shown holds, all or nothing, and no update lost.

use std::sync::Arc;

use armilla_container::{
    ChangeKind, Container, ErrorKind, Item, Limits, OPTIMISTIC_ATTEMPTS_MAX, Precondition, Priority,
    ReadCost, RequestUnits, TRANSACTION_READS_MAX, TRANSACTION_WRITES_MAX, Transaction, Work, WriteMode,
    price,
};
use armilla_env::Env;
use armilla_kv::Store;
use armilla_kv::fault::{Fault, FaultStore, Rates};
use armilla_kv::memory::MemoryStore;

use crate::late_store::LateStore;
use crate::support::{Fixture, Glass, check, definition, key, open, refused, run, text, value};

const SIMPLE: &str = r#"{"id":"c","partitionKey":{"paths":["/pk"]}}"#;
const UNIQUE: &str = r#"{"id":"c","partitionKey":{"paths":["/pk"]},
    "uniqueKeyPolicy":{"uniqueKeys":[{"paths":["/u"]}]}}"#;
const ALL_VERSIONS: &str = r#"{"id":"c","partitionKey":{"paths":["/pk"]},
    "changeFeedPolicy":{"retentionDuration":60}}"#;
const KEY: &str = r#"["a"]"#;

fn body(id: &str, n: i64) -> String {
    format!(r#"{{"id":"{id}","pk":"a","n":{n}}}"#)
}

async fn begin(container: &Container, attempt: u32) -> Transaction {
    container.begin(&key(KEY), attempt, ReadCost::Single, Priority::High).await.unwrap()
}

fn put(transaction: &mut Transaction, mode: WriteMode, id: &str, n: i64) -> Item {
    transaction.put(mode, None, body(id, n).as_bytes(), Precondition::None).unwrap().item
}

fn number(item: Option<&Item>) -> i64 {
    item.map_or(0, |item| value(item).get("n").and_then(|n| n.as_i64()).unwrap())
}

fn json(fixture: &Fixture, item: &Item) -> String {
    let mut out = Vec::new();
    item.write_json(fixture.container.identity(), &mut out);
    String::from_utf8(out).unwrap()
}

fn is_send<T: Send + 'static>(_: &T) {}

#[tokio::test]
async fn what_is_shown_is_what_clients_see_afterwards() {
    for definition in [SIMPLE, ALL_VERSIONS] {
        for attempt in [0, OPTIMISTIC_ATTEMPTS_MAX] {
            let glass = Glass::new(definition, Limits::default());
            let fixture = &glass.fixture;
            fixture.create(KEY, &body("old", 1)).await.unwrap();
            let mut transaction = begin(&fixture.container, attempt).await;
            is_send(&transaction);
            assert_eq!((transaction.position().lsn, transaction.partition_key()), (1, &key(KEY)));
            put(&mut transaction, WriteMode::Create, "new", 1);
            let shown = [
                put(&mut transaction, WriteMode::Replace, "new", 2),
                put(&mut transaction, WriteMode::Upsert, "other", 3),
                put(&mut transaction, WriteMode::Upsert, "old", 4),
            ];
            // Others come in between, and take numbers and commits.
            let between = fixture.create(r#"["b"]"#, r#"{"id":"1","pk":"b"}"#).await.unwrap();
            fixture.clock.advance(std::time::Duration::from_secs(9));
            let own = shown.iter().map(|item| item.header().number);
            assert!(own.clone().all(|number| number != between.item.header().number));
            for (item, id) in shown.iter().zip(["new", "other", "old"]) {
                assert_eq!(
                    json(fixture, &transaction.read(id).unwrap().unwrap()),
                    json(fixture, item),
                    "own writes are read"
                );
                assert_eq!(transaction.id_of(item.header().number).unwrap().as_deref(), Some(id));
            }
            refused(fixture.read(KEY, "new"), ErrorKind::ItemNotFound);
            let position = transaction.commit().await.unwrap();
            assert_eq!(position.lsn, 3);
            for (item, id) in shown.iter().zip(["new", "other", "old"]) {
                let read = fixture.read(KEY, id).unwrap();
                assert_eq!(json(fixture, &read), json(fixture, item));
                assert_eq!(read.header().lsn, 3);
                assert_eq!(read.header().operation, item.header().operation);
            }
            if definition == SIMPLE {
                assert_eq!(glass.store.feed(), [(2, 0), (3, 1), (3, 2), (3, 3)]);
            } else {
                assert_eq!(glass.store.feed(), [(1, 0), (2, 0), (3, 0), (3, 1), (3, 2), (3, 3)]);
            }
            fixture.check();
            // An etag from inside a transaction is good outside.
            let held = Precondition::Version(Some(fixture.etag(&shown[0])));
            fixture.write(WriteMode::Replace, KEY, &body("new", 5), held).await.unwrap();
            refused(
                fixture.write(WriteMode::Replace, KEY, &body("new", 6), held).await,
                ErrorKind::PreconditionFailed,
            );
            fixture.check();
        }
    }
}

#[tokio::test]
async fn preconditions_on_own_versions() {
    let fixture = Fixture::simple();
    let mut transaction = begin(&fixture.container, 0).await;
    let first = put(&mut transaction, WriteMode::Create, "1", 1);
    let version = |item: &Item| Precondition::Version(Some(item.etag(fixture.container.identity())));
    let second = body("1", 2);
    let written = transaction.put(WriteMode::Replace, Some("1"), second.as_bytes(), version(&first)).unwrap();
    assert_eq!(written.kind, ChangeKind::Replace);
    let stale = transaction.put(WriteMode::Replace, Some("1"), second.as_bytes(), version(&first));
    assert_eq!(stale.err().unwrap().kind, ErrorKind::PreconditionFailed);
    transaction.delete("1", version(&written.item)).unwrap();
    put(&mut transaction, WriteMode::Create, "1", 3);
    transaction.commit().await.unwrap();
    assert_eq!(number(Some(&fixture.read(KEY, "1").unwrap())), 3);
    fixture.check();
}

#[tokio::test]
async fn refusals_are_those_of_the_committer_and_leave_nothing() {
    let limits = Limits { logical_partition_bytes_max: 2_000, ..Limits::default() };
    let glass = Glass::new(UNIQUE, limits);
    let fixture = &glass.fixture;
    fixture.create(KEY, r#"{"id":"1","pk":"a","u":1}"#).await.unwrap();
    let before = glass.store.dump();
    let mut transaction = begin(&fixture.container, 0).await;
    let large = format!(r#"{{"id":"2","pk":"a","u":2,"x":"{}"}}"#, "x".repeat(2_000));
    let stale = Precondition::Version(None);
    #[rustfmt::skip]
    let rows = [
        (ErrorKind::ItemExists, WriteMode::Create, None, r#"{"id":"1","pk":"a"}"#, Precondition::None),
        (ErrorKind::ItemNotFound, WriteMode::Replace, None, r#"{"id":"2","pk":"a"}"#, Precondition::None),
        (ErrorKind::PreconditionFailed, WriteMode::Replace, None, r#"{"id":"1","pk":"a"}"#, stale),
        (ErrorKind::UniqueKeyTaken, WriteMode::Upsert, None, r#"{"id":"2","pk":"a","u":1}"#, Precondition::None),
        (ErrorKind::LogicalPartitionFull, WriteMode::Upsert, None, &large, Precondition::None),
        (ErrorKind::PartitionKeyMismatch, WriteMode::Upsert, None, r#"{"id":"2","pk":"b"}"#, Precondition::None),
        (ErrorKind::Invalid, WriteMode::Upsert, None, r#"{"pk":"a"}"#, Precondition::None),
        (ErrorKind::Invalid, WriteMode::Replace, Some("1"), r#"{"id":"2","pk":"a"}"#, Precondition::None),
    ];
    let count = rows.len();
    for (kind, mode, id, body, precondition) in rows {
        let error = transaction.put(mode, id, body.as_bytes(), precondition).err().unwrap();
        assert_eq!((error.kind, error.charge.to_string()), (kind, "1.24".to_owned()), "{error}");
        assert_eq!(error.position, Some(transaction.position()));
    }
    let error = transaction.delete("2", Precondition::None).err().unwrap();
    assert_eq!((error.kind, error.charge.to_string()), (ErrorKind::ItemNotFound, "1.24".to_owned()));
    // 26/21 each, rounded once.
    let units = 26 * (count as u64 + 1);
    assert_eq!(transaction.charge(), RequestUnits::from_hundredths((units * 200 + 21) / 42));
    assert_eq!(transaction.commit().await.unwrap().lsn, 1, "nothing was written, so nothing is committed");
    assert_eq!(glass.store.dump(), before);
    // One that wrote, and was dropped.
    let mut dropped = begin(&fixture.container, OPTIMISTIC_ATTEMPTS_MAX).await;
    dropped.delete("1", Precondition::None).unwrap();
    drop(dropped);
    assert_eq!(glass.store.dump(), before);
    fixture.create(KEY, r#"{"id":"3","pk":"a","u":3}"#).await.unwrap();
    fixture.check();
}

#[tokio::test]
async fn a_conflict_leaves_the_store_as_it_was() {
    let glass = Glass::new(UNIQUE, Limits::default());
    let fixture = &glass.fixture;
    fixture.create(KEY, r#"{"id":"1","pk":"a","u":1}"#).await.unwrap();
    let mut transaction = begin(&fixture.container, 0).await;
    for id in 2..20 {
        let body = format!(r#"{{"id":"{id}","pk":"a","u":{id}}}"#);
        transaction.put(WriteMode::Create, None, body.as_bytes(), Precondition::None).unwrap();
    }
    // Nothing that was read changes, but a unique key that the last write needs is gone.
    fixture.create(KEY, r#"{"id":"x","pk":"a","u":19}"#).await.unwrap();
    let before = glass.store.dump();
    let error = transaction.commit().await.unwrap_err();
    assert_eq!((error.kind, error.charge.to_string()), (ErrorKind::Conflict, "1.24".to_owned()));
    assert_eq!(glass.store.dump(), before);
    fixture.create(KEY, r#"{"id":"y","pk":"a","u":2}"#).await.unwrap();
    assert_eq!(fixture.container.positions().unwrap()[0].lsn, 3);
    fixture.check();
}

#[tokio::test]
async fn unique_keys_can_change_hands() {
    let fixture = Fixture::new(UNIQUE, 400, Limits::default());
    for id in 1..=2 {
        fixture.create(KEY, &format!(r#"{{"id":"{id}","pk":"a","u":{id}}}"#)).await.unwrap();
    }
    let mut transaction = begin(&fixture.container, 0).await;
    transaction.delete("1", Precondition::None).unwrap();
    for (mode, body) in [
        (WriteMode::Replace, r#"{"id":"2","pk":"a","u":1}"#),
        (WriteMode::Create, r#"{"id":"1","pk":"a","u":2}"#),
    ] {
        transaction.put(mode, None, body.as_bytes(), Precondition::None).unwrap();
    }
    transaction.commit().await.unwrap();
    assert_eq!(text(&fixture.read(KEY, "1").unwrap()), r#"{"id":"1","pk":"a","u":2}"#);
    fixture.check();
}

/// What one transaction does, what another writer does meanwhile, and whether that is a conflict.
#[tokio::test]
async fn conflicts() {
    type Act = fn(&mut Transaction);
    let write: Act = |transaction| {
        put(transaction, WriteMode::Upsert, "out", 1);
    };
    let read: Act = |transaction| {
        transaction.read("1").unwrap();
    };
    let read_missing: Act = |transaction| assert!(transaction.read("9").unwrap().is_none());
    let query: Act = |transaction| {
        let mut items = Vec::new();
        transaction.snapshot().scan(None, 100, &mut items).unwrap();
    };
    let refused_create: Act = |transaction| {
        let body = body("1", 5);
        transaction.put(WriteMode::Create, None, body.as_bytes(), Precondition::None).err().unwrap();
    };
    let refused_replace: Act = |transaction| {
        let body = body("9", 5);
        transaction.put(WriteMode::Replace, None, body.as_bytes(), Precondition::None).err().unwrap();
    };
    let id_of_none: Act = |transaction| assert!(transaction.id_of(77).unwrap().is_none());
    #[rustfmt::skip]
    let rows: [(&str, Act, &str, bool); 14] = [
        ("lost update", read, "1", true),
        ("write skew", read, "2", false),
        ("blind write", write, "1", false),
        ("write after write", write, "out", true),
        ("absence that ends", read_missing, "9", true),
        ("absence that stays", read_missing, "8", false),
        ("phantom", query, "9", true),
        ("query and replace", query, "2", true),
        ("query and nothing", query, "", false),
        ("refused create", refused_create, "1", true),
        ("refused replace", refused_replace, "9", true),
        ("unknown number", id_of_none, "9", true),
        ("another logical partition", query, "b", false),
        ("reads alone", |_| {}, "1", false),
    ];
    for late in [false, true] {
        for (name, act, other, conflicts) in rows {
            let memory: Arc<dyn Store> = Arc::new(MemoryStore::new());
            let store = if late { Arc::new(LateStore(memory)) } else { memory };
            let container = open(store, Env::simulated(1).0, definition(SIMPLE), 400, Limits::default());
            let upsert = async |id: &str, n: i64| {
                let (key, body) = match id {
                    "b" => (self::key(r#"["b"]"#), r#"{"id":"1","pk":"b"}"#.to_owned()),
                    id => (self::key(KEY), body(id, n)),
                };
                container
                    .write_item(
                        WriteMode::Upsert,
                        &key,
                        None,
                        body.as_bytes().into(),
                        Precondition::None,
                        Priority::High,
                    )
                    .await
                    .unwrap();
            };
            upsert("1", 1).await;
            upsert("2", 1).await;
            let committed = if late {
                // The other's write is applied when the transaction begins, but not durable.
                let (committed, ()) = tokio::join!(
                    async {
                        tokio::task::yield_now().await;
                        tokio::task::yield_now().await;
                        let mut transaction = begin(&container, 0).await;
                        assert_eq!(transaction.position().lsn, 2, "{name}: the other's is not seen");
                        act(&mut transaction);
                        write(&mut transaction);
                        transaction.commit().await
                    },
                    async {
                        if !other.is_empty() {
                            upsert(other, 2).await;
                        }
                    }
                );
                committed
            } else {
                let mut transaction = begin(&container, 0).await;
                act(&mut transaction);
                write(&mut transaction);
                if !other.is_empty() {
                    upsert(other, 2).await;
                }
                transaction.commit().await
            };
            let kind = committed.err().map(|error| error.kind);
            assert_eq!(kind, conflicts.then_some(ErrorKind::Conflict), "{name}, late {late}");
            check(&container);
        }
    }
}

#[tokio::test]
async fn queries_see_the_snapshot_without_own_writes() {
    let fixture = Fixture::simple();
    fixture.create(KEY, &body("1", 1)).await.unwrap();
    let mut transaction = begin(&fixture.container, 0).await;
    put(&mut transaction, WriteMode::Replace, "1", 2);
    put(&mut transaction, WriteMode::Create, "2", 2);
    fixture.create(KEY, &body("3", 3)).await.unwrap();
    let snapshot = transaction.snapshot();
    assert_eq!((snapshot.item_count(), snapshot.logical(), snapshot.position().lsn), (1, true, 1));
    assert_eq!(number(snapshot.point("1").unwrap().as_ref()), 1);
    assert!(snapshot.point("2").unwrap().is_none() && snapshot.point("3").unwrap().is_none());
    assert!(transaction.read("3").unwrap().is_none());
    refused(transaction.commit().await, ErrorKind::Conflict);
}

/// Counters that many tasks add to, each through read and replace, retried as the engine does.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_increment_is_lost() {
    const TASKS: usize = 16;
    const ROUNDS: usize = 1_000;
    let container = Arc::new(Fixture::simple().container);
    let mut tasks = Vec::new();
    for task in 0..TASKS {
        let container = container.clone();
        tasks.push(tokio::spawn(async move {
            let mut attempts_max = 0;
            for round in 0..ROUNDS {
                let id = ["x", "y"][(task + round) % 2];
                let (_, _, attempt) = run(&container, &key(KEY), |transaction| {
                    let before = transaction.read(id)?;
                    put(transaction, WriteMode::Upsert, id, number(before.as_ref()) + 1);
                    Ok(())
                })
                .await
                .unwrap();
                attempts_max = attempts_max.max(attempt);
            }
            attempts_max
        }));
    }
    for task in tasks {
        // With the logical partition held there is no writer to conflict with.
        assert!(task.await.unwrap() <= OPTIMISTIC_ATTEMPTS_MAX);
    }
    let sum = async |id: &str| {
        let mut transaction = begin(&container, 0).await;
        number(transaction.read(id).unwrap().as_ref())
    };
    assert_eq!(sum("x").await + sum("y").await, (TASKS * ROUNDS) as i64);
    check(&container);
}

#[tokio::test]
async fn charges() {
    // Two leaves each, keyed by the id: 26 write units, and 12/21 for the script itself.
    let fixture = Fixture::new(r#"{"id":"c","partitionKey":{"paths":["/id"]}}"#, 400, Limits::default());
    let mut transaction =
        fixture.container.begin(&key(r#"["u"]"#), 0, ReadCost::Single, Priority::High).await.unwrap();
    for _ in 0..150 / 2 {
        let body = br#"{"id":"u","username":"u"}"#;
        let written = transaction.put(WriteMode::Create, None, body, Precondition::None).unwrap();
        assert_eq!(written.charge.to_string(), "4.95");
        // A delete costs what the create did.
        transaction.delete("u", Precondition::None).unwrap();
    }
    let script = price(&Work::Script { steps: 99_999 }, ReadCost::Single);
    assert_eq!((transaction.charge() + script).to_string(), "743.43");
    drop(transaction);

    let fixture = Fixture::simple();
    fixture.create(KEY, &body("1", 1)).await.unwrap();
    let mut transaction =
        fixture.container.begin(&key(KEY), 0, ReadCost::Double, Priority::High).await.unwrap();
    transaction.read("1").unwrap();
    transaction.read("2").unwrap();
    assert_eq!(transaction.charge().to_string(), "4.00");
    // The old version is known: 26 + 4 - 4 write units.
    let body = body("1", 2);
    let written = transaction.put(WriteMode::Replace, None, body.as_bytes(), Precondition::None).unwrap();
    assert_eq!(written.charge.to_string(), "4.95");
    assert_eq!(transaction.charge().to_string(), "8.95");
}

#[tokio::test]
async fn a_transaction_has_bounds() {
    let fixture = Fixture::simple();
    let mut transaction = begin(&fixture.container, 0).await;
    for id in 0..TRANSACTION_WRITES_MAX {
        assert!(!transaction.is_full(), "{id}");
        put(&mut transaction, WriteMode::Create, &id.to_string(), 1);
    }
    assert!(transaction.is_full());
    let charge = transaction.charge();
    let error = transaction.put(WriteMode::Upsert, None, body("x", 1).as_bytes(), Precondition::None);
    assert_eq!(error.err().unwrap().kind, ErrorKind::ItemTooLarge);
    assert_eq!(transaction.charge(), charge);
    assert!(transaction.read("x").unwrap().is_none());
    let position = transaction.commit().await.unwrap();
    assert_eq!(fixture.container.counters().unwrap().items, TRANSACTION_WRITES_MAX as u64);
    assert_eq!(fixture.read(KEY, "999").unwrap().header().operation, 999);
    assert_eq!(position.lsn, 1);
    fixture.check();

    // Bytes: items of 1 MB until it says that it is full, then until it refuses; what was taken is committed.
    let mut transaction = begin(&fixture.container, 0).await;
    let large = |id: usize| format!(r#"{{"id":"l{id}","pk":"a","x":"{}"}}"#, "x".repeat(1 << 20));
    let mut taken = 0;
    let mut full_at = None;
    let error = loop {
        if transaction.is_full() && full_at.is_none() {
            full_at = Some(taken);
        }
        match transaction.put(WriteMode::Create, None, large(taken).as_bytes(), Precondition::None) {
            Ok(_) => taken += 1,
            Err(error) => break error,
        }
    };
    assert_eq!(error.kind, ErrorKind::ItemTooLarge);
    assert_eq!((full_at, taken), (Some(18), 23));
    transaction.commit().await.unwrap();
    fixture.check();

    // Reads that are too many to remember count as a read of everything.
    for (reads, conflicts) in [(TRANSACTION_READS_MAX, false), (TRANSACTION_READS_MAX + 1, true)] {
        let mut transaction = begin(&fixture.container, 0).await;
        for id in 0..reads {
            transaction.read(&format!("r{id}")).unwrap();
        }
        fixture.write(WriteMode::Upsert, KEY, &body("0", 9), Precondition::None).await.unwrap();
        put(&mut transaction, WriteMode::Upsert, "r0", 1);
        let kind = transaction.commit().await.err().map(|error| error.kind);
        assert_eq!(kind, conflicts.then_some(ErrorKind::Conflict));
        fixture.container.delete_item(&key(KEY), "r0", Precondition::None, Priority::High).await.ok();
    }
}

#[tokio::test]
async fn numbers_are_not_given_twice() {
    let memory: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let faults = Arc::new(FaultStore::new(memory.clone()));
    let container = open(faults.clone(), Env::simulated(1).0, definition(SIMPLE), 400, Limits::default());
    let mut transaction = begin(&container, 0).await;
    let drafted = put(&mut transaction, WriteMode::Create, "1", 1);
    // The partition reads its counters again, which know nothing of the draft.
    faults.fail_next_commit(Fault::FailBefore);
    let create = async |container: &Container, id: &str| {
        let body = body(id, 1);
        let mode = WriteMode::Create;
        container
            .write_item(mode, &key(KEY), None, body.as_bytes().into(), Precondition::None, Priority::High)
            .await
    };
    refused(create(&container, "2").await, ErrorKind::Unavailable);
    let second = create(&container, "2").await.unwrap().item;
    assert_ne!(second.header().number, drafted.header().number);
    transaction.commit().await.unwrap();
    let (stamp, ..) = run(&container, &key(KEY), |transaction| {
        Ok(put(transaction, WriteMode::Replace, "1", 2).header().stamp.unwrap())
    })
    .await
    .unwrap();
    check(&container);
    // After a restart numbers go on behind all that was used, the stamp of a replace too.
    drop(container);
    let container = open(memory, Env::simulated(1).0, definition(SIMPLE), 400, Limits::default());
    let third = create(&container, "3").await.unwrap().item;
    assert_eq!(third.header().number, stamp.number() + 1);
    check(&container);
}

#[tokio::test]
async fn a_failed_commit_leaves_nothing_or_all() {
    for fault in [Fault::FailBefore, Fault::UnknownNotApplied, Fault::UnknownApplied] {
        for attempt in [0, OPTIMISTIC_ATTEMPTS_MAX] {
            let memory: Arc<dyn Store> = Arc::new(MemoryStore::new());
            let faults = Arc::new(FaultStore::new(memory.clone()));
            let container =
                open(faults.clone(), Env::simulated(1).0, definition(SIMPLE), 400, Limits::default());
            let mut transaction = begin(&container, attempt).await;
            for id in 0..10 {
                put(&mut transaction, WriteMode::Create, &id.to_string(), 1);
            }
            faults.fail_next_commit(fault);
            let kind = transaction.commit().await.unwrap_err().kind;
            let (expected, items) = match fault {
                Fault::FailBefore => (ErrorKind::Unavailable, 0),
                Fault::UnknownNotApplied => (ErrorKind::OutcomeUnknown, 0),
                _ => (ErrorKind::OutcomeUnknown, 10),
            };
            assert_eq!(kind, expected);
            assert_eq!(container.counters().unwrap().items, items, "{fault:?}");
            // The next reader sees what is stored, and nothing is locked.
            let (_, position, _) = run(&container, &key(KEY), |transaction| {
                assert_eq!(transaction.read("3")?.is_some(), items > 0);
                put(transaction, WriteMode::Upsert, "3", 2);
                Ok(())
            })
            .await
            .unwrap();
            assert_eq!(position.lsn, if items > 0 { 2 } else { 1 });
            check(&container);
            drop(container);
            let container = open(memory, Env::simulated(1).0, definition(SIMPLE), 400, Limits::default());
            assert_eq!(container.counters().unwrap().items, items.max(1));
            check(&container);
        }
    }
}

/// Transfers between accounts on a store that fails at random: the sum never changes, at no moment.
#[tokio::test]
async fn random_faults_keep_the_sum() {
    const ACCOUNTS: usize = 4;
    for seed in 0..20 {
        let rates = Rates {
            fail_before: 9,
            unknown_applied: 9,
            unknown_not_applied: 9,
            report_late: 3,
            fail_read: 200,
        };
        let memory: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let first = open(memory.clone(), Env::simulated(1).0, definition(SIMPLE), 400, Limits::default());
        run(&first, &key(KEY), |transaction| {
            for id in 0..ACCOUNTS {
                put(transaction, WriteMode::Create, &id.to_string(), 100);
            }
            Ok(())
        })
        .await
        .unwrap();
        drop(first);
        let store = Arc::new(FaultStore::seeded(memory.clone(), seed, rates));
        let container = loop {
            let env = Env::simulated(1).0;
            let container = open(store.clone(), env, definition(SIMPLE), 400, Limits::default());
            if container.positions().is_ok() {
                break Arc::new(container);
            }
        };
        let mut tasks = Vec::new();
        for task in 0..6 {
            let container = container.clone();
            tasks.push(tokio::spawn(async move {
                for round in 0..20 {
                    let (from, to) = ((task + round) % ACCOUNTS, (task + 2 * round + 1) % ACCOUNTS);
                    let moved = run(&container, &key(KEY), |transaction| {
                        let balance = number(transaction.read(&from.to_string())?.as_ref());
                        let body = body(&from.to_string(), balance - 1);
                        transaction.put(WriteMode::Replace, None, body.as_bytes(), Precondition::None)?;
                        let balance = number(transaction.read(&to.to_string())?.as_ref());
                        let body = self::body(&to.to_string(), balance + 1);
                        transaction.put(WriteMode::Replace, None, body.as_bytes(), Precondition::None)?;
                        Ok(())
                    })
                    .await;
                    match moved.map_err(|error| error.kind) {
                        Ok(_) | Err(ErrorKind::Unavailable | ErrorKind::OutcomeUnknown) => {}
                        Err(other) => panic!("seed {seed}: {other:?}"),
                    }
                }
            }));
        }
        for task in tasks {
            task.await.unwrap();
        }
        store.calm();
        let sum = |container: &Container| {
            let session = Default::default();
            (0..ACCOUNTS)
                .map(|id| {
                    let id = id.to_string();
                    let read = container
                        .read_item(&key(KEY), &id, None, &session, ReadCost::Single, Priority::High)
                        .unwrap();
                    number(Some(&read.item))
                })
                .sum::<i64>()
        };
        assert_eq!(sum(&container), 100 * ACCOUNTS as i64, "seed {seed}");
        check(&container);
        drop(container);
        let container = open(memory, Env::simulated(1).0, definition(SIMPLE), 400, Limits::default());
        assert_eq!(sum(&container), 100 * ACCOUNTS as i64, "seed {seed}, after a restart");
        check(&container);
    }
}

#[tokio::test]
async fn deleted_items_of_the_snapshot_are_known_by_number() {
    let glass = Glass::new(SIMPLE, Limits::default());
    let fixture = &glass.fixture;
    let old = fixture.create(KEY, &body("old", 1)).await.unwrap().item;
    fixture.create(KEY, &body("kept", 1)).await.unwrap();
    let mut transaction = begin(&fixture.container, 0).await;
    assert!(transaction.deleted().is_empty());
    put(&mut transaction, WriteMode::Create, "new", 1);
    transaction.delete("new", Precondition::None).unwrap();
    assert!(transaction.deleted().is_empty(), "its own creation was never in the snapshot");
    put(&mut transaction, WriteMode::Replace, "old", 2);
    transaction.delete("old", Precondition::None).unwrap();
    // Another item with the same id.
    put(&mut transaction, WriteMode::Create, "old", 3);
    assert!(transaction.delete("missing", Precondition::None).is_err());
    let deleted: Vec<u64> = transaction.deleted().iter().copied().collect();
    assert_eq!(deleted, [old.header().number]);
}
