//! Locking a logical partition: who waits, who does not, and that every task gets on in the end.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use armilla_container::{
    BatchStep, Container, ErrorKind, Limits, OPTIMISTIC_ATTEMPTS_MAX, Precondition, Priority, ReadCost,
    Transaction, WriteMode,
};
use armilla_env::Env;
use armilla_kv::Store;
use armilla_kv::fault::{Fault, FaultStore};
use armilla_kv::memory::MemoryStore;
use tokio::task::JoinHandle;

use crate::late_store::LateStore;
use crate::support::{Fixture, check, definition, key, open, refused, run, value};

const A: &str = r#"["a"]"#;
const B: &str = r#"["b"]"#;
const HELD: u32 = OPTIMISTIC_ATTEMPTS_MAX;

fn body(partition: &str, id: &str, n: usize) -> String {
    let partition = &partition[1..partition.len() - 1];
    format!(r#"{{"id":"{id}","pk":{partition},"n":{n}}}"#)
}

async fn begin(container: &Container, attempt: u32) -> Transaction {
    container.begin(&key(A), attempt, ReadCost::Single, Priority::High).await.unwrap()
}

async fn write(container: &Container, partition: &str, id: &str, n: usize) -> u64 {
    let body = body(partition, id, n);
    let mode = WriteMode::Upsert;
    let written = container
        .write_item(mode, &key(partition), None, body.as_bytes().into(), Precondition::None, Priority::High)
        .await;
    written.unwrap().position.lsn
}

fn put(transaction: &mut Transaction, id: &str, n: usize) {
    transaction.put(WriteMode::Upsert, None, body(A, id, n).as_bytes(), Precondition::None).unwrap();
}

/// Lets everything go on that can.
async fn until_quiet() {
    for _ in 0..5_000 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn others_wait_and_neighbours_do_not() {
    let container = Arc::new(Fixture::simple().container);
    write(&container, A, "1", 1).await;
    let mut holder = begin(&container, HELD).await;
    let order = Arc::new(AtomicUsize::new(0));
    let spawn = |act: u8| -> JoinHandle<(usize, u64)> {
        let (container, order) = (container.clone(), order.clone());
        tokio::spawn(async move {
            let lsn = match act {
                0 => write(&container, A, "w", 1).await,
                1 => {
                    let body = body(A, "b", 1).into();
                    let put = BatchStep::Put {
                        mode: WriteMode::Create,
                        id: None,
                        body,
                        precondition: Precondition::None,
                    };
                    let done =
                        container.batch(&key(A), vec![put], ReadCost::Single, Priority::High).await.unwrap();
                    done.ok().unwrap().position.lsn
                }
                2 => {
                    // It has to stand in the line although it trusts in its luck.
                    let mut transaction = begin(&container, 0).await;
                    assert!(
                        transaction.read("w").unwrap().is_some() && transaction.read("b").unwrap().is_some()
                    );
                    put(&mut transaction, "t", 1);
                    transaction.commit().await.unwrap().lsn
                }
                _ => write(&container, A, "z", 1).await,
            };
            (order.fetch_add(1, Ordering::SeqCst), lsn)
        })
    };
    let mut tasks = Vec::new();
    for act in 0..4 {
        tasks.push(spawn(act));
        until_quiet().await;
    }
    assert!(tasks.iter().all(|task| !task.is_finished()));
    // Neither do they take room: nothing is on its way, and the next partition goes on.
    container.drain().await;
    assert_eq!(write(&container, B, "1", 1).await, 2);
    put(&mut holder, "1", 2);
    assert_eq!(write(&container, B, "1", 2).await, 3);
    assert_eq!(holder.commit().await.unwrap().lsn, 4);
    for (position, task) in tasks.into_iter().enumerate() {
        let (order, lsn) = task.await.unwrap();
        assert_eq!((order, lsn), (position, 5 + position as u64));
    }
    check(&container);
}

#[tokio::test]
async fn dropping_lets_go() {
    let container = Arc::new(Fixture::simple().container);
    for how in 0..4 {
        let mut holder = begin(&container, HELD).await;
        put(&mut holder, "never", how);
        let waiting = tokio::spawn({
            let container = container.clone();
            async move { write(&container, A, "1", how).await }
        });
        until_quiet().await;
        assert!(!waiting.is_finished());
        match how {
            0 => drop(holder),
            1 => {
                // A task that waits for the lock and goes away.
                let next = tokio::spawn({
                    let container = container.clone();
                    async move { begin(&container, HELD).await }
                });
                until_quiet().await;
                next.abort();
                assert!(next.await.err().unwrap().is_cancelled());
                drop(holder);
            }
            2 => {
                let panics = tokio::spawn(async move {
                    let _holder = holder;
                    panic!("a script panics");
                });
                assert!(panics.await.unwrap_err().is_panic());
            }
            _ => {
                // The commit is given up before it begins.
                let commit = holder.commit();
                drop(commit);
            }
        }
        waiting.await.unwrap();
    }
    let mut last = begin(&container, 0).await;
    assert!(last.read("never").unwrap().is_none());
    check(&container);
}

#[tokio::test]
async fn a_hold_begins_after_all_that_was_before_it() {
    // Commits are late, so there is much on its way when the hold is asked for.
    let store = Arc::new(LateStore(Arc::new(MemoryStore::new())));
    let container =
        Arc::new(open(store, Env::simulated(1).0, definition(DEFINITION), 400, Limits::default()));
    let mut writers = Vec::new();
    for n in 0..20 {
        let container = container.clone();
        writers.push(tokio::spawn(async move { write(&container, A, "1", n).await }));
        tokio::task::yield_now().await;
    }
    let mut holder = begin(&container, HELD).await;
    assert_eq!(holder.position().lsn, 20);
    let n = value(&holder.read("1").unwrap().unwrap()).get("n").and_then(|n| n.as_i64());
    assert_eq!(n, Some(19));
    holder.snapshot();
    put(&mut holder, "1", 100);
    assert_eq!(holder.commit().await.unwrap().lsn, 21);
    for writer in writers {
        writer.await.unwrap();
    }
}

const DEFINITION: &str = r#"{"id":"c","partitionKey":{"paths":["/pk"]}}"#;

#[tokio::test]
async fn broken_partitions_and_reindexing() {
    let faults = Arc::new(FaultStore::new(Arc::new(MemoryStore::new())));
    let container =
        Arc::new(open(faults.clone(), Env::simulated(1).0, definition(DEFINITION), 400, Limits::default()));
    for n in 0..250 {
        write(&container, A, &n.to_string(), n).await;
    }
    let mut holder = begin(&container, HELD).await;
    // Breaks while it is held: the holder finds what it left.
    faults.fail_next_commit(Fault::FailBefore);
    let body_b = body(B, "1", 1);
    let failed = container
        .write_item(
            WriteMode::Upsert,
            &key(B),
            None,
            body_b.as_bytes().into(),
            Precondition::None,
            Priority::High,
        )
        .await;
    refused(failed, ErrorKind::Unavailable);
    put(&mut holder, "1", 1_000);
    assert_eq!(holder.commit().await.unwrap().lsn, 251);
    // A dead store: the hold cannot begin, and nothing stays behind.
    faults.kill();
    assert!(container.begin(&key(A), HELD, ReadCost::Single, Priority::High).await.is_err());
    faults.revive();
    write(&container, A, "1", 1).await;
    // The index is made anew while a transaction has the lock; the drafted items end in the layout of the moment.
    let other = r#"{"id":"c","partitionKey":{"paths":["/pk"]},"indexingPolicy":{"indexingMode":"consistent",
        "includedPaths":[{"path":"/n/?"}],"excludedPaths":[{"path":"/*"}]}}"#;
    let mut holder = begin(&container, HELD).await;
    put(&mut holder, "early", 1);
    put(&mut holder, "2", 1_000);
    container.set_definition(definition(other), None);
    assert!(container.reindex_step().await.unwrap());
    assert!(container.reindex_step().await.unwrap());
    write(&container, B, "2", 2).await;
    holder.commit().await.unwrap();
    check(&container);
    while container.reindex_step().await.unwrap() {}
    check(&container);
}

#[tokio::test]
async fn a_space_that_another_handle_took_is_no_trap() {
    let memory: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let open = || open(memory.clone(), Env::simulated(1).0, definition(DEFINITION), 400, Limits::default());
    let old = open();
    write(&old, A, "1", 1).await;
    let mut drafted = begin(&old, HELD).await;
    put(&mut drafted, "1", 2);
    let new = open();
    write(&new, A, "1", 3).await;
    refused(drafted.commit().await, ErrorKind::RangeGone);
    let again = old.begin(&key(A), HELD, ReadCost::Single, Priority::High).await;
    assert!(again.is_err_and(|error| error.kind == ErrorKind::RangeGone));
    assert!(run(&old, &key(A), |_| Ok(())).await.is_ok(), "reads are answered");
    check(&new);
}

/// Writers, batches, short and held transactions and a drain, all at once: no task waits for ever.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn every_task_gets_on() {
    let container = Arc::new(Fixture::simple().container);
    let mut tasks = Vec::new();
    for task in 0..12_usize {
        let container = container.clone();
        tasks.push(tokio::spawn(async move {
            for round in 0..200 {
                match (task + round) % 4 {
                    0 => {
                        let mut transaction = begin(&container, HELD).await;
                        let n = transaction.read("n").unwrap().map_or(0, |item| {
                            value(&item).get("n").and_then(|n| n.as_i64()).unwrap() as usize
                        });
                        transaction.snapshot();
                        put(&mut transaction, "n", n + 1);
                        if round % 5 > 0 {
                            // Locked, so no writer can have come in between.
                            transaction.commit().await.unwrap();
                        }
                    }
                    1 => container.drain().await,
                    2 => {
                        write(&container, B, &task.to_string(), round).await;
                    }
                    _ => {
                        write(&container, A, &task.to_string(), round).await;
                    }
                }
            }
        }));
    }
    for task in tasks {
        task.await.unwrap();
    }
    check(&container);
}

/// So many logical partitions are written meanwhile that it is not remembered when ours changed last. A transaction that trusted in
/// its luck has to run again then, and one with the lock has not.
#[tokio::test]
async fn forgotten_changes_do_not_stop_a_holder() {
    const FORGOTTEN_AFTER: usize = 4_096;
    let container = Fixture::simple().container;
    write(&container, A, "1", 1).await;
    for (attempt, others, conflicts) in
        [(0, 100, false), (0, FORGOTTEN_AFTER + 100, true), (HELD, FORGOTTEN_AFTER + 100, false)]
    {
        let mut transaction = begin(&container, attempt).await;
        transaction.snapshot();
        put(&mut transaction, "1", 2);
        for other in 0..others {
            write(&container, &format!(r#"["{other}"]"#), "1", 1).await;
        }
        let kind = transaction.commit().await.err().map(|error| error.kind);
        assert_eq!(kind, conflicts.then_some(ErrorKind::Conflict), "attempt {attempt}, {others} others");
    }
    check(&container);
}
