//! A store that fails: nothing half-applies, nothing acknowledged is lost, and the partition goes on afterwards.

use std::collections::BTreeMap;
use std::sync::Arc;

use armilla_container::{
    Container, ErrorKind, Limits, Precondition, Priority, ReadCost, SessionToken, WriteMode,
};
use armilla_env::Env;
use armilla_kv::Store;
use armilla_kv::fault::{Fault, FaultStore, Rates};
use armilla_kv::memory::MemoryStore;

use crate::support::{check, definition, key, open, refused, text};

const DEFINITION: &str = r#"{"id":"c","partitionKey":{"paths":["/pk"]}}"#;

fn container(store: Arc<dyn Store>) -> Container {
    open(store, Env::simulated(1).0, definition(DEFINITION), 400, Limits::default())
}

fn body(id: u32, version: u32) -> String {
    format!(r#"{{"id":"{id}","pk":"a","version":{version}}}"#)
}

async fn upsert(container: &Container, id: u32, version: u32) -> Result<(), ErrorKind> {
    container
        .write_item(
            WriteMode::Upsert,
            &key(r#"["a"]"#),
            None,
            body(id, version).as_bytes().into(),
            Precondition::None,
            Priority::High,
        )
        .await
        .map(|_| ())
        .map_err(|error| error.kind)
}

fn read(container: &Container, id: u32) -> Option<String> {
    let session = SessionToken::default();
    container
        .read_item(&key(r#"["a"]"#), &id.to_string(), None, &session, ReadCost::Single, Priority::High)
        .ok()
        .map(|read| text(&read.item))
}

#[tokio::test]
async fn a_failed_commit_leaves_no_trace() {
    let store = Arc::new(FaultStore::new(Arc::new(MemoryStore::new())));
    let container = container(store.clone());
    upsert(&container, 1, 1).await.unwrap();
    store.fail_next_commit(Fault::FailBefore);
    assert_eq!(upsert(&container, 1, 2).await, Err(ErrorKind::Unavailable));
    assert_eq!(read(&container, 1), Some(body(1, 1)));
    upsert(&container, 2, 1).await.unwrap();
    assert_eq!(container.positions().unwrap()[0].lsn, 2);
    check(&container);
}

#[tokio::test]
async fn after_doubt_the_partition_looks_at_what_is_stored() {
    for (fault, stored_version, lsn) in [(Fault::UnknownApplied, 2, 3), (Fault::UnknownNotApplied, 1, 2)] {
        let store = Arc::new(FaultStore::new(Arc::new(MemoryStore::new())));
        let container = container(store.clone());
        upsert(&container, 1, 1).await.unwrap();
        store.fail_next_commit(fault);
        assert_eq!(upsert(&container, 1, 2).await, Err(ErrorKind::OutcomeUnknown));
        upsert(&container, 2, 1).await.unwrap();
        assert_eq!(read(&container, 1), Some(body(1, stored_version)), "{fault:?}");
        assert_eq!(container.positions().unwrap()[0].lsn, lsn, "{fault:?}");
        check(&container);
    }
}

#[tokio::test]
async fn failed_reads_are_reported_and_pass() {
    let store = Arc::new(FaultStore::new(Arc::new(MemoryStore::new())));
    let container = container(store.clone());
    upsert(&container, 1, 1).await.unwrap();
    store.fail_next_reads(1);
    let session = SessionToken::default();
    let result = container.read_item(&key(r#"["a"]"#), "1", None, &session, ReadCost::Single, Priority::High);
    refused(result, ErrorKind::Unavailable);
    assert_eq!(read(&container, 1), Some(body(1, 1)));
}

#[tokio::test]
async fn a_dead_store_refuses_until_it_is_back() {
    let store = Arc::new(FaultStore::new(Arc::new(MemoryStore::new())));
    let container = container(store.clone());
    upsert(&container, 1, 1).await.unwrap();
    store.kill();
    assert!(upsert(&container, 1, 2).await.is_err());
    assert!(upsert(&container, 1, 3).await.is_err());
    store.revive();
    upsert(&container, 1, 4).await.unwrap();
    assert_eq!(read(&container, 1), Some(body(1, 4)));
    check(&container);
}

/// Many writers on a store that fails at random: each item ends as the last acknowledged version or a later one
/// whose fate was unknown, and the stored state agrees with itself.
#[tokio::test]
async fn random_faults_lose_nothing_that_was_acknowledged() {
    for seed in 0..20 {
        let rates = Rates {
            fail_before: 7,
            unknown_applied: 7,
            unknown_not_applied: 7,
            report_late: 3,
            fail_read: 50,
        };
        let store = Arc::new(FaultStore::seeded(Arc::new(MemoryStore::new()), seed, rates));
        let container = loop {
            // Opening reads, and reads may fail too.
            let container = container(store.clone());
            if container.positions().is_ok() {
                break Arc::new(container);
            }
        };
        let mut tasks = Vec::new();
        for id in 0..8 {
            let container = container.clone();
            tasks.push(tokio::spawn(async move {
                let mut possible = vec![0];
                for version in 1..40 {
                    match upsert(&container, id, version).await {
                        Ok(()) => possible = vec![version],
                        Err(ErrorKind::OutcomeUnknown) => possible.push(version),
                        Err(ErrorKind::Unavailable) => {}
                        Err(other) => panic!("seed {seed}: {other:?}"),
                    }
                }
                (id, possible)
            }));
        }
        let mut outcomes = BTreeMap::new();
        for task in tasks {
            let (id, possible) = task.await.unwrap();
            outcomes.insert(id, possible);
        }
        store.calm();
        for (id, possible) in outcomes {
            let expected: Vec<Option<String>> =
                possible.iter().map(|version| (*version > 0).then(|| body(id, *version))).collect();
            let stored = read(&container, id);
            assert!(expected.contains(&stored), "seed {seed}, item {id}: {stored:?} is none of {possible:?}");
        }
        check(&container);
    }
}
