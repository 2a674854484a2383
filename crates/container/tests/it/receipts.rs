//! Receipts: stored with what they are of, found again whatever happens to the partition, and gone after a while.

use std::sync::Arc;
use std::time::Duration;

use armilla_container::{
    BatchStep, Container, CutBy, ErrorKind, Limits, Precondition, Priority, RECEIPT_SECONDS, ReadCost,
    Receipt, TRANSACTION_RECEIPTS_MAX, WriteMode,
};
use armilla_env::Env;
use armilla_kv::memory::MemoryStore;
use armilla_kv::{Family, Store};
use armilla_value::PartitionKey;

use crate::reshaping::{begin_split, ids, merge, split};
use crate::support::{Fixture, Glass, check, definition, key, open, refused};

const SIMPLE: &str = r#"{"id":"c","partitionKey":{"paths":["/pk"]}}"#;
const ALL_VERSIONS: &str = r#"{"id":"c","partitionKey":{"paths":["/pk"]},
    "changeFeedPolicy":{"retentionDuration":600}}"#;

fn pk(number: u32) -> PartitionKey {
    key(&format!(r#"["{number}"]"#))
}

fn receipt(name: &str) -> Receipt {
    Receipt::new(name.to_owned(), format!("outcome of {name}")).unwrap()
}

fn put(pk: u32, id: &str) -> BatchStep {
    BatchStep::Put {
        mode: WriteMode::Create,
        id: None,
        body: format!(r#"{{"id":"{id}","pk":"{pk}"}}"#).into(),
        precondition: Precondition::None,
    }
}

/// Creates an item and leaves a receipt of it, in a transaction.
async fn transact(container: &Container, number: u32, id: &str, name: &str) -> Result<u64, ErrorKind> {
    let begun = container.begin(&pk(number), 0, ReadCost::Single, Priority::High).await;
    let mut transaction = begun.map_err(|error| error.kind)?;
    let body = format!(r#"{{"id":"{id}","pk":"{number}"}}"#);
    transaction
        .put(WriteMode::Create, None, body.as_bytes(), Precondition::None)
        .map_err(|error| error.kind)?;
    transaction.leave_receipt(receipt(name)).map_err(|error| error.kind)?;
    transaction.commit().await.map(|position| position.lsn).map_err(|error| error.kind)
}

/// The same as a batch.
async fn batch(container: &Container, number: u32, id: &str, name: &str) -> Result<(), ErrorKind> {
    let (steps, receipts) = (vec![put(number, id)], vec![receipt(name)]);
    let done =
        container.batch_with_receipts(&pk(number), steps, receipts, ReadCost::Single, Priority::High).await;
    match done {
        Ok(Ok(_)) => Ok(()),
        Ok(Err(failed)) => Err(failed.error.kind),
        Err(error) => Err(error.kind),
    }
}

fn found(container: &Container, number: u32, name: &str) -> bool {
    let found = container.find_receipt(&pk(number), name.as_bytes()).unwrap();
    let anywhere = container.find_receipt_anywhere(name.as_bytes()).unwrap();
    if let Some(outcome) = &found {
        assert_eq!(outcome, format!("outcome of {name}").as_bytes());
        assert_eq!(anywhere, found);
    }
    found.is_some()
}

fn exists(container: &Container, number: u32, id: &str) -> bool {
    let session = Default::default();
    container.read_item(&pk(number), id, None, &session, ReadCost::Single, Priority::High).is_ok()
}

#[tokio::test]
async fn receipts_are_stored_with_what_they_are_of() {
    let fixture = Fixture::simple();
    let container = &fixture.container;
    transact(container, 1, "a", "first").await.unwrap();
    batch(container, 1, "b", "second").await.unwrap();
    assert!(found(container, 1, "first") && found(container, 1, "second"));
    // Of another logical partition, and with another key, there is none.
    assert!(!found(container, 2, "first") && !found(container, 1, "firs") && !found(container, 1, "first "));
    assert_eq!(container.find_receipt_anywhere(b"firs").unwrap(), None);

    // What was not stored left none.
    let mut dropped = container.begin(&pk(1), 0, ReadCost::Single, Priority::High).await.unwrap();
    dropped.put(WriteMode::Create, None, br#"{"id":"c","pk":"1"}"#, Precondition::None).unwrap();
    dropped.leave_receipt(receipt("third")).unwrap();
    assert_eq!(dropped.find_receipt(b"first").unwrap().unwrap(), &b"outcome of first"[..]);
    assert_eq!(dropped.find_receipt(b"third").unwrap(), None);
    drop(dropped);
    assert_eq!(batch(container, 1, "a", "fourth").await, Err(ErrorKind::ItemExists));
    assert!(!found(container, 1, "third") && !found(container, 1, "fourth"));
    fixture.check();
}

#[tokio::test]
async fn what_was_done_once_is_not_done_again() {
    let fixture = Fixture::simple();
    let container = &fixture.container;
    transact(container, 1, "a", "first").await.unwrap();
    for id in ["a", "b"] {
        assert_eq!(batch(container, 1, id, "first").await, Err(ErrorKind::Conflict));
    }
    assert_eq!(transact(container, 1, "b", "first").await, Err(ErrorKind::Conflict));
    assert!(!exists(container, 1, "b"));
    // Elsewhere the same key is another.
    transact(container, 2, "a", "first").await.unwrap();

    // Of many that try at the same time one does it.
    let tries = (0..20).map(|number| {
        let container = container.clone();
        tokio::spawn(async move { batch(&container, 3, &format!("i{number}"), "once").await })
    });
    let mut done = 0;
    for one in tries.collect::<Vec<_>>() {
        match one.await.unwrap() {
            Ok(()) => done += 1,
            Err(kind) => assert_eq!(kind, ErrorKind::Conflict),
        }
    }
    assert_eq!(done, 1);
    fixture.check();
}

#[tokio::test]
async fn bounds() {
    let fixture = Fixture::simple();
    let container = &fixture.container;
    let receipts = |count: usize| (0..count).map(|number| receipt(&format!("r{number}"))).collect::<Vec<_>>();
    let leave = async |receipts| {
        container
            .batch_with_receipts(&pk(1), vec![put(1, "a")], receipts, ReadCost::Single, Priority::High)
            .await
    };
    refused(leave(receipts(TRANSACTION_RECEIPTS_MAX + 1)).await.map(|_| ()), ErrorKind::Invalid);
    refused(leave([receipts(1), receipts(1)].concat()).await.map(|_| ()), ErrorKind::Invalid);
    assert!(leave(receipts(TRANSACTION_RECEIPTS_MAX)).await.unwrap().is_ok());
    let mut transaction = container.begin(&pk(2), 0, ReadCost::Single, Priority::High).await.unwrap();
    for receipt in receipts(TRANSACTION_RECEIPTS_MAX) {
        transaction.leave_receipt(receipt).unwrap();
    }
    refused(transaction.leave_receipt(receipt("more")), ErrorKind::Invalid);
    // It wrote nothing, and has a commit of its own all the same.
    let before = transaction.position();
    assert_eq!(transaction.commit().await.unwrap().lsn, before.lsn + 1);
    assert!(found(container, 2, "r0") && found(container, 2, "r99") && !found(container, 2, "more"));
    refused(container.find_receipt(&pk(1), b""), ErrorKind::Invalid);
    refused(container.find_receipt_anywhere(&[7; 65]), ErrorKind::Invalid);
    fixture.check();
}

#[tokio::test]
async fn receipts_survive_a_restart() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let (env, _) = Env::simulated(1);
    let reopen = || open(store.clone(), env.clone(), definition(SIMPLE), 400, Limits::default());
    transact(&reopen(), 1, "a", "first").await.unwrap();
    let container = reopen();
    assert!(found(&container, 1, "first"));
    assert_eq!(batch(&container, 1, "b", "first").await, Err(ErrorKind::Conflict));
    check(&container);
}

#[tokio::test]
async fn splits_and_merges_take_receipts_along() {
    for text in [SIMPLE, ALL_VERSIONS] {
        let fixture = Fixture::new(text, 400, Limits::default());
        let container = &fixture.container;
        for number in 0..40 {
            transact(container, number, "a", &format!("before {number}")).await.unwrap();
        }
        let mut reshape = begin_split(container, 0, CutBy::Arc).unwrap();
        reshape.copy().await.unwrap();
        for number in 0..40 {
            // Half of them without writes, which the change log does not tell of.
            if number % 2 == 0 {
                let begun = container.begin(&pk(number), 0, ReadCost::Single, Priority::High).await;
                let mut transaction = begun.unwrap();
                transaction.leave_receipt(receipt(&format!("while {number}"))).unwrap();
                transaction.commit().await.unwrap();
            } else {
                batch(container, number, "b", &format!("while {number}")).await.unwrap();
            }
        }
        let version = container.map().version + 1;
        reshape.close().await.unwrap().flip(version);
        assert_eq!(ids(container).len(), 2);
        let all_there = || {
            (0..40).all(|number| {
                found(container, number, &format!("before {number}"))
                    && found(container, number, &format!("while {number}"))
            })
        };
        assert!(all_there());
        check(container);
        assert_eq!(batch(container, 7, "c", "before 7").await, Err(ErrorKind::Conflict));
        batch(container, 7, "c", "after 7").await.unwrap();
        let [first, second] = ids(container)[..] else { panic!("two ranges") };
        merge(container, [first, second]).await.unwrap();
        assert!(all_there() && found(container, 7, "after 7"));
        check(container);
        let only = ids(container)[0];
        split(container, only, CutBy::Arc).await.unwrap();
        assert!(all_there() && found(container, 7, "after 7"));
        check(container);
    }
}

/// A key that was over and is used again while its partition is copied has one place, not two.
#[tokio::test]
async fn keys_are_used_again_during_a_split() {
    let fixture = Fixture::simple();
    let container = &fixture.container;
    for number in 0..10 {
        transact(container, number, "a", "same").await.unwrap();
    }
    fixture.clock.advance(Duration::from_secs(u64::from(RECEIPT_SECONDS) + 1));
    let mut reshape = begin_split(container, 0, CutBy::Arc).unwrap();
    reshape.copy().await.unwrap();
    for number in 0..10 {
        assert!(!found(container, number, "same"));
        transact(container, number, "b", "same").await.unwrap();
    }
    // Nothing is dropped from what is being copied.
    assert_eq!(container.sweep_step().await.unwrap().receipts, 0);
    reshape.close().await.unwrap().flip(2);
    assert!((0..10).all(|number| found(container, number, "same")));
    check(container);
}

/// Returns how many records there are of receipts.
fn records(glass: &Glass) -> usize {
    let is_of_receipt =
        |family: u8, key: &[u8]| family == Family::Meta as u8 && matches!(key[0], 0x0C | 0x0D);
    glass.store.dump().keys().filter(|(_, family, key)| is_of_receipt(*family, key)).count()
}

#[tokio::test]
async fn receipts_are_over_after_a_while() {
    let glass = Glass::new(SIMPLE, Limits::default());
    let (container, clock) = (&glass.fixture.container, &glass.fixture.clock);
    let empty = {
        transact(container, 1, "a", "gone").await.unwrap();
        assert_eq!(records(&glass), 2);
        clock.advance(Duration::from_secs(u64::from(RECEIPT_SECONDS)));
        assert!(found(container, 1, "gone"));
        let swept = container.sweep_step().await.unwrap();
        assert_eq!((swept.receipts, swept.periodic), (0, true));
        clock.advance(Duration::from_secs(1));
        assert!(!found(container, 1, "gone"));
        let swept = container.sweep_step().await.unwrap();
        assert_eq!((swept.receipts, swept.more), (1, false));
        assert!(!container.sweep_step().await.unwrap().periodic);
        records(&glass)
    };
    assert_eq!(empty, 0);
    // The key is free again.
    batch(container, 1, "b", "gone").await.unwrap();
    assert!(found(container, 1, "gone"));
    check(container);
}

#[tokio::test]
async fn the_oldest_go_where_there_are_too_many() {
    let limits = Limits { receipts_max: 16, ..Limits::default() };
    let fixture = Fixture::new(SIMPLE, 400, limits);
    let container = &fixture.container;
    for number in 0..40 {
        batch(container, number % 5, &format!("i{number}"), &format!("r{number}")).await.unwrap();
    }
    let swept = container.sweep_step().await.unwrap();
    assert_eq!((swept.receipts, swept.more), (26, false));
    assert!((0..26).all(|number| !found(container, number % 5, &format!("r{number}"))));
    assert!((26..40).all(|number| found(container, number % 5, &format!("r{number}"))));
    // There is room for two more.
    for number in 40..42 {
        batch(container, number % 5, &format!("i{number}"), &format!("r{number}")).await.unwrap();
        assert_eq!(container.sweep_step().await.unwrap().receipts, 0);
    }
    batch(container, 0, "i42", "r42").await.unwrap();
    assert_eq!(container.sweep_step().await.unwrap().receipts, 3);
    assert!(found(container, 29 % 5, "r29") && !found(container, 28 % 5, "r28"));
    check(container);
}
