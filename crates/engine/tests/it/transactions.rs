//! Transactions that callers hold open, and work that is run as one.

use std::sync::Arc;
use std::time::Duration;

use armilla_engine::{
    ActionDone, BatchAnswer, Caller, ChangeKind, ErrorKind, ItemAction, ItemBody, Policy, Precondition,
    QueryRequest, Receipt, RequestUnits, ResourceKind, TRANSACTION_TIME_MAX, TRANSACTIONS_OPEN_MAX,
    Throughput, Transaction, WriteMode, check,
};
use armilla_value::{Object, Value};

use crate::batches::{delete, increment, outcomes, put, read};
use crate::support::{Fixture, defined, partition_key, refused, usual, value};

async fn begin(fixture: &Fixture) -> Transaction {
    let key = partition_key("a");
    fixture.engine.begin_transaction(&fixture.caller, &fixture.container("c"), &key).await.unwrap()
}

fn n(fixture: &Fixture, id: &str) -> Option<i64> {
    fixture.item("a", id).map(|item| item.get("n").unwrap().as_i64().unwrap())
}

#[tokio::test]
async fn nothing_is_seen_before_the_commit_and_all_of_it_afterwards() {
    let fixture = Fixture::with_container().await;
    fixture.upsert("a", r#"{"id":"1","pk":"a","n":1}"#).await;
    fixture.upsert("a", r#"{"id":"2","pk":"a","n":2}"#).await;
    let mut open = begin(&fixture).await;
    open.act(put(WriteMode::Create, "3", 3)).unwrap();
    open.act(increment("1", None)).unwrap();
    open.act(increment("1", Some("FROM c WHERE c.n = 2"))).unwrap();
    open.act(delete("2")).unwrap();
    let ActionDone::Read(own) = open.act(read("1", None)).unwrap() else { panic!("it was written") };
    assert_eq!(fixture.shown(&own.item).get("n"), Some(&Value::Int64(3)));
    assert_eq!((n(&fixture, "1"), n(&fixture, "2"), n(&fixture, "3")), (Some(1), Some(2), None));
    let etag = own.item.etag(fixture.container("c").identity());
    let charge = open.charge();
    let committed = open.commit().await.unwrap();
    assert_eq!(committed.charge, charge);
    assert_eq!((n(&fixture, "1"), n(&fixture, "2"), n(&fixture, "3")), (Some(3), None, Some(3)));
    // What was shown of an item inside is what it is now.
    let stored = fixture.read_item(&fixture.caller, "c", "1", "a").unwrap();
    assert_eq!(stored.item.etag(fixture.container("c").identity()), etag);
    assert_eq!(check(&fixture.engine, &mut |_, _| {}).unwrap().problems, Vec::<String>::new());
}

#[tokio::test]
async fn dropped_it_leaves_nothing() {
    let fixture = Fixture::with_container().await;
    let mut open = begin(&fixture).await;
    open.act(put(WriteMode::Create, "1", 1)).unwrap();
    drop(open);
    assert_eq!(n(&fixture, "1"), None);
    fixture.upsert("a", r#"{"id":"1","pk":"a","n":5}"#).await;
}

/// An action that is refused has done nothing, and the others go on.
#[tokio::test]
async fn refused_actions_do_nothing() {
    let fixture = Fixture::with_container().await;
    fixture.upsert("a", r#"{"id":"1","pk":"a","n":1}"#).await;
    let mut open = begin(&fixture).await;
    refused(open.act(put(WriteMode::Create, "1", 9)), ErrorKind::AlreadyExists(ResourceKind::Item));
    refused(open.act(put(WriteMode::Replace, "2", 9)), ErrorKind::NotFound(ResourceKind::Item));
    refused(open.act(read("2", None)), ErrorKind::NotFound(ResourceKind::Item));
    refused(open.act(delete("2")), ErrorKind::NotFound(ResourceKind::Item));
    refused(open.act(increment("1", Some("FROM c WHERE c.n = 7"))), ErrorKind::PreconditionFailed);
    refused(open.act(ItemAction::Invalid("odd".to_owned())), ErrorKind::Invalid);
    let missing = ItemAction::Read { id: "1".to_owned(), known: None, precondition: Precondition::Missing };
    refused(open.act(missing), ErrorKind::PreconditionFailed);
    let elsewhere = ItemAction::Put {
        mode: WriteMode::Upsert,
        id: None,
        body: ItemBody::from(r#"{"id":"1","pk":"b"}"#),
        precondition: Precondition::None,
    };
    refused(open.act(elsewhere), ErrorKind::PartitionKeyMismatch);
    open.act(increment("1", None)).unwrap();
    open.commit().await.unwrap();
    assert_eq!(n(&fixture, "1"), Some(2));
}

#[tokio::test]
async fn a_commit_fails_if_what_was_read_has_changed() {
    let fixture = Fixture::with_container().await;
    fixture.upsert("a", r#"{"id":"1","pk":"a","n":1}"#).await;
    let mut open = begin(&fixture).await;
    open.act(read("1", None)).unwrap();
    open.act(put(WriteMode::Create, "2", 2)).unwrap();
    fixture.upsert("a", r#"{"id":"1","pk":"a","n":7}"#).await;
    refused(open.commit().await, ErrorKind::Conflict);
    assert_eq!((n(&fixture, "1"), n(&fixture, "2")), (Some(7), None));
    // What others do elsewhere is no conflict.
    let mut open = begin(&fixture).await;
    open.act(read("1", None)).unwrap();
    open.act(put(WriteMode::Create, "2", 2)).unwrap();
    fixture.upsert("b", r#"{"id":"1","pk":"b","n":7}"#).await;
    open.commit().await.unwrap();
}

#[tokio::test]
async fn queries_see_the_snapshot() {
    let fixture = Fixture::with_container().await;
    fixture.upsert("a", r#"{"id":"1","pk":"a","n":1}"#).await;
    fixture.upsert("b", r#"{"id":"1","pk":"b","n":1}"#).await;
    let mut open = begin(&fixture).await;
    open.act(put(WriteMode::Create, "2", 2)).unwrap();
    let before = open.charge();
    let request = QueryRequest::new("SELECT VALUE c.n FROM c");
    let page = open.query(&request).unwrap();
    assert_eq!(String::from_utf8(page.rows.clone()).unwrap(), "1");
    assert_eq!(open.charge(), before + page.charge);
    // A query reads all of the logical partition, so a change of any of it is a conflict.
    fixture.upsert("a", r#"{"id":"9","pk":"a","n":1}"#).await;
    refused(open.commit().await, ErrorKind::Conflict);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn work_is_repeated_until_no_other_writer_came_between() {
    const TASKS: usize = 8;
    const EACH: usize = 40;
    let fixture = Arc::new(Fixture::with_container().await);
    fixture.upsert("a", r#"{"id":"x","pk":"a","n":0}"#).await;
    let mut tasks = Vec::new();
    for _ in 0..TASKS {
        let fixture = fixture.clone();
        tasks.push(tokio::spawn(async move {
            let (container, key) = (fixture.container("c"), partition_key("a"));
            let mut charges = Vec::new();
            for _ in 0..EACH {
                let work = |open: &mut Transaction| {
                    let ActionDone::Read(found) = open.act(read("x", None))? else { panic!("it is there") };
                    let n = found.item.stored().root().get("n").unwrap().as_i64().unwrap();
                    open.act(put(WriteMode::Replace, "x", n + 1))?;
                    Ok(n)
                };
                let done = fixture.engine.transact(&fixture.caller, &container, &key, work).await.unwrap();
                charges.push(done.charge);
            }
            charges
        }));
    }
    for task in tasks {
        assert_eq!(task.await.unwrap().len(), EACH);
    }
    assert_eq!(n(&fixture, "x"), Some((TASKS * EACH) as i64));
}

/// The same actions as a batch and as a transaction: the same answers, the same items, the same price but for where it
/// is rounded: each action of a batch, all of a transaction.
#[tokio::test]
async fn batches_and_transactions_agree() {
    let actions = || {
        vec![
            put(WriteMode::Create, "2", 2),
            put(WriteMode::Upsert, "1", 5),
            increment("1", None),
            read("1", None),
            put(WriteMode::Replace, "2", 8),
            read("2", None),
            delete("3"),
        ]
    };
    let fixture = async || {
        let fixture = Fixture::with_container().await;
        fixture.upsert("a", r#"{"id":"1","pk":"a","n":1}"#).await;
        fixture.upsert("a", r#"{"id":"3","pk":"a","n":3}"#).await;
        fixture
    };
    let (one, other) = (fixture().await, fixture().await);
    let key = partition_key("a");
    let batch =
        one.engine.execute_batch(&one.caller, &one.container("c"), Some(&key), actions()).await.unwrap();
    let mut open = begin(&other).await;
    let results = actions().into_iter().map(|action| open.act(action)).collect();
    let committed = open.commit().await.unwrap();
    let transaction = BatchAnswer { results, charge: committed.charge, position: Some(committed.position) };
    assert_eq!(outcomes(&other, &transaction), outcomes(&one, &batch));
    let difference = transaction.charge.hundredths().abs_diff(batch.charge.hundredths());
    assert!(difference < actions().len() as u64, "{} {}", transaction.charge, batch.charge);
    let sum: RequestUnits = transaction.results.iter().flatten().map(spent).sum();
    assert_eq!(sum, transaction.charge, "what the actions cost adds up");
    for id in ["1", "2", "3"] {
        assert_eq!(n(&one, id), n(&other, id), "{id}");
    }
}

fn spent(done: &ActionDone) -> RequestUnits {
    match done {
        ActionDone::Written(written) => written.charge,
        ActionDone::Read(read) => read.charge,
        ActionDone::NotModified { charge, .. } => *charge,
    }
}

#[tokio::test]
async fn a_transaction_that_is_open_for_too_long_is_over() {
    let fixture = Fixture::with_container().await;
    let mut open = begin(&fixture).await;
    open.act(put(WriteMode::Create, "1", 1)).unwrap();
    fixture.clock.advance(TRANSACTION_TIME_MAX - Duration::from_millis(1));
    open.act(put(WriteMode::Create, "2", 1)).unwrap();
    fixture.clock.advance(Duration::from_millis(1));
    refused(open.act(put(WriteMode::Create, "3", 1)), ErrorKind::TransactionExpired);
    refused(open.query(&QueryRequest::new("SELECT * FROM c")), ErrorKind::TransactionExpired);
    refused(open.commit().await, ErrorKind::TransactionExpired);
    assert_eq!(n(&fixture, "1"), None);
}

#[tokio::test]
async fn so_many_may_be_open() {
    let fixture = Fixture::with_container().await;
    let mut open = Vec::new();
    for _ in 0..TRANSACTIONS_OPEN_MAX {
        open.push(begin(&fixture).await);
    }
    let (container, key) = (fixture.container("c"), partition_key("a"));
    let refusal = fixture.engine.begin_transaction(&fixture.caller, &container, &key).await;
    refused(refusal, ErrorKind::Unavailable);
    // Work that is run as one is not held up by them.
    let work = |open: &mut Transaction| open.act(put(WriteMode::Upsert, "1", 1)).map(|_| ());
    fixture.engine.transact(&fixture.caller, &container, &key, work).await.unwrap();
    open.pop();
    begin(&fixture).await.commit().await.unwrap();
}

/// Work that holds the logical partition, because it was disturbed too often, is not held up by open transactions, and an
/// open one that begins meanwhile holds nothing either.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn an_open_transaction_holds_no_other_writer_up() {
    let fixture = Arc::new(Fixture::with_container().await);
    fixture.upsert("a", r#"{"id":"x","pk":"a","n":0}"#).await;
    let disturbed = {
        let fixture = fixture.clone();
        tokio::spawn(async move {
            let (container, key) = (fixture.container("c"), partition_key("a"));
            let (begun, ended) = (Arc::new(std::sync::Barrier::new(2)), Arc::new(std::sync::Barrier::new(2)));
            let (own_begun, own_ended) = (begun.clone(), ended.clone());
            let disturbing = fixture.clone();
            let disturber = tokio::spawn(async move {
                for n in 0..2 {
                    tokio::task::block_in_place(|| begun.wait());
                    disturbing.upsert("a", &format!(r#"{{"id":"x","pk":"a","n":{n}}}"#)).await;
                    tokio::task::block_in_place(|| ended.wait());
                }
            });
            let attempts = std::sync::atomic::AtomicUsize::new(0);
            let work = move |open: &mut Transaction| {
                open.act(read("x", None))?;
                if attempts.fetch_add(1, std::sync::atomic::Ordering::Relaxed) < 2 {
                    own_begun.wait();
                    own_ended.wait();
                }
                open.act(put(WriteMode::Upsert, "x", 7)).map(|_| ())
            };
            fixture.engine.transact(&fixture.caller, &container, &key, work).await.unwrap();
            disturber.await.unwrap();
        })
    };
    let mut open = Vec::new();
    while !disturbed.is_finished() {
        open.push(begin(&fixture).await);
        open.truncate(100);
        tokio::task::yield_now().await;
    }
    disturbed.await.unwrap();
    // They are still open, and a write goes through.
    let mut last = begin(&fixture).await;
    last.act(read("x", None)).unwrap();
    fixture.upsert("a", r#"{"id":"y","pk":"a","n":1}"#).await;
    assert_eq!((n(&fixture, "x"), n(&fixture, "y")), (Some(7), Some(1)));
}

#[tokio::test]
async fn every_action_needs_its_permission() {
    let fixture = Fixture::with_container().await;
    fixture.upsert("a", r#"{"id":"1","pk":"a","n":1}"#).await;
    let reader =
        r#"{"id":"p","permissionMode":"Read","resource":"dbs/d/colls/c","resourcePartitionKey":["a"]}"#;
    let caller = fixture.granted("u", reader).await;
    let container = fixture.container("c");
    let key = partition_key("a");
    let mut open = fixture.engine.begin_transaction(&caller, &container, &key).await.unwrap();
    open.act(read("1", None)).unwrap();
    open.query(&QueryRequest::new("SELECT * FROM c")).unwrap();
    refused(open.act(put(WriteMode::Upsert, "1", 2)), ErrorKind::Forbidden);
    refused(open.act(delete("1")), ErrorKind::Forbidden);
    let mut elsewhere =
        fixture.engine.begin_transaction(&caller, &container, &partition_key("b")).await.unwrap();
    refused(elsewhere.act(read("1", None)), ErrorKind::Forbidden);
    refused(elsewhere.query(&QueryRequest::new("SELECT * FROM c")), ErrorKind::Forbidden);
}

/// What a transaction did is paid for, also where it is given up.
#[tokio::test]
async fn given_up_it_is_charged() {
    let fixture = Fixture::with_options(armilla_engine::EngineOptions {
        policy: Policy { enforced: true, burst: false },
        ..usual()
    })
    .await;
    fixture.engine.create_database(&fixture.caller, "d", None).await.unwrap();
    let definition = defined(&value(r#"{"id":"c","partitionKey":{"paths":["/pk"]}}"#));
    let throughput = Some(Throughput::Manual(400));
    fixture.engine.create_container(&fixture.caller, "d", definition, throughput).await.unwrap();
    let mut open = begin(&fixture).await;
    for id in 0..100 {
        open.act(put(WriteMode::Create, &id.to_string(), 1)).unwrap();
    }
    assert!(open.charge() > RequestUnits::from_hundredths(40_000), "{}", open.charge());
    let free = fixture.read_item(&fixture.caller, "c", "0", "a").err().unwrap();
    assert!(matches!(free.kind, ErrorKind::NotFound(_)), "{free}");
    drop(open);
    let error = fixture.read_item(&fixture.caller, "c", "0", "a").err().unwrap();
    assert_eq!(error.kind, ErrorKind::Throttled, "{error}");
}

/// Items may come as values, with types that JSON does not have.
#[tokio::test]
async fn items_as_values() {
    let fixture = Fixture::with_container().await;
    let (container, key, caller) = (fixture.container("c"), partition_key("a"), Caller::full());
    let body =
        |members: Vec<(&str, Value)>| -> Value { Value::Object(members.into_iter().collect::<Object>()) };
    let item = body(vec![
        ("id", "1".into()),
        ("pk", "a".into()),
        ("_ts", Value::Int64(5)),
        ("when", Value::Date(1_700_000_000_000)),
        ("few", Value::Int32(7)),
        ("key", Value::ObjectId([7; 12])),
    ]);
    let none = Default::default();
    let (engine, free) = (&fixture.engine, Precondition::None);
    let written = engine
        .write_item(&caller, &container, WriteMode::Create, Some(&key), item.clone().into(), free, &none)
        .await;
    assert_eq!(written.unwrap().kind, ChangeKind::Create);
    let stored = fixture.read_item(&caller, "c", "1", "a").unwrap().item;
    let root = stored.stored().root().to_value();
    for name in ["when", "few", "key"] {
        assert_eq!(root.get(name), item.get(name), "{name}");
    }
    assert_eq!(root.get("_ts"), None, "what the server adds is not taken from clients");
    assert_eq!(fixture.query("SELECT VALUE c.few FROM c WHERE c.few > 6").await, "7");
    // The same in a transaction, and what is wrong with it is said.
    let mut open = begin(&fixture).await;
    let put = |body: Value| ItemAction::Put {
        mode: WriteMode::Upsert,
        id: None,
        body: body.into(),
        precondition: Precondition::None,
    };
    open.act(put(body(vec![("id", "2".into()), ("pk", "a".into()), ("few", Value::Int32(8))]))).unwrap();
    refused(open.act(put(body(vec![("pk", "a".into())]))), ErrorKind::Invalid);
    refused(open.act(put(Value::Int64(1))), ErrorKind::Invalid);
    open.commit().await.unwrap();
    assert_eq!(fixture.query("SELECT VALUE c.few FROM c WHERE c.few > 6 ORDER BY c.few").await, "7,8");
}

/// Work that is asked for twice under one key is done once, also if it is asked for after a restart.
#[tokio::test]
async fn receipts_say_what_was_done() {
    let fixture = Fixture::with_container().await;
    fixture.upsert("a", r#"{"id":"1","pk":"a","n":1}"#).await;
    let (engine, caller, container) = (&fixture.engine, &fixture.caller, fixture.container("c"));
    let key = partition_key("a");
    for _ in 0..3 {
        let work = |transaction: &mut Transaction| {
            if let Some(outcome) = transaction.find_receipt(b"once")? {
                return Ok(outcome);
            }
            transaction.act(increment("1", None))?;
            transaction.leave_receipt(Receipt::new("once", "added one").expect("it is short"))?;
            Ok("added one".into())
        };
        let done = engine.transact(caller, &container, &key, work).await.unwrap();
        assert_eq!(done.value, &b"added one"[..]);
        assert_eq!(n(&fixture, "1"), Some(2));
    }
    let receipt = |name: &'static str| vec![Receipt::new(name, "").unwrap()];
    let batch = |name| {
        let actions = vec![increment("1", None)];
        engine.execute_batch_with_receipts(caller, &container, Some(&key), actions, receipt(name))
    };
    batch("other").await.unwrap();
    for name in ["once", "other"] {
        assert_eq!(batch(name).await.err().map(|error| error.kind), Some(ErrorKind::Conflict));
    }
    assert_eq!(n(&fixture, "1"), Some(3));
    assert_eq!(engine.find_receipt(caller, &container, &key, b"once").unwrap().unwrap(), &b"added one"[..]);
    assert_eq!(engine.find_receipt_anywhere(caller, &container, b"other").unwrap().unwrap(), &b""[..]);
    assert_eq!(engine.find_receipt(caller, &container, &partition_key("b"), b"once").unwrap(), None);
    assert_eq!(check(engine, &mut |_, _| {}).unwrap().problems, Vec::<String>::new());
}
