//! The change feed as the APIs ask for it: starts, permissions, waiting.
//!
//! Not here: the log itself (`container`), the wire (`api-sql`).

use std::time::Duration;

use armilla_engine::{
    Caller, ChangeKind, EngineOptions, Error, ErrorKind, FEED_WAIT_MAX, FeedAnswer, FeedMode,
    FeedPageRequest, FeedStart, ItemName, ListScope, Policy, Precondition, ResourceKind,
    ResourcePrecondition, Throughput, Triggers, WriteMode,
};
use armilla_env::Clock as _;
use armilla_value::Value;

use crate::support::{Fixture, defined, partition_key, refused, usual, value};

fn request(start: FeedStart) -> FeedPageRequest {
    FeedPageRequest {
        mode: FeedMode::Latest,
        scope: ListScope::All,
        start,
        modified_since: None,
        items_max: None,
        wait: None,
    }
}

async fn read(fixture: &Fixture, caller: &Caller, request: FeedPageRequest) -> Result<FeedAnswer, Error> {
    fixture.engine.change_feed(caller, &fixture.container("c"), request).await
}

fn ids(fixture: &Fixture, answer: &FeedAnswer) -> Vec<String> {
    let shown = answer.changes.iter().map(|change| fixture.shown(change.item.as_ref().unwrap()));
    shown.map(|item| item.get("id").and_then(Value::as_str).unwrap().to_owned()).collect()
}

/// Returns where the feed ends.
async fn end(fixture: &Fixture) -> String {
    read(fixture, &fixture.caller, request(FeedStart::Now)).await.unwrap().token.clone()
}

async fn delete(fixture: &Fixture, key: &str, id: &str) {
    let (container, key) = (fixture.container("c"), partition_key(key));
    let (name, none, triggers) = (ItemName::Id(id), Precondition::None, Triggers::default());
    let deleted = fixture.engine.delete_item(&fixture.caller, &container, name, Some(&key), none, &triggers);
    deleted.await.unwrap();
}

/// Lets others run, in tasks and on threads that may block.
async fn rest() {
    for _ in 0..50 {
        tokio::task::yield_now().await;
        tokio::task::spawn_blocking(|| std::thread::sleep(Duration::from_micros(100))).await.unwrap();
    }
}

#[tokio::test]
async fn pages_follow_each_other() {
    let fixture = Fixture::with_container().await;
    for n in 0..150 {
        fixture.create_item(&fixture.caller, "c", &n.to_string(), "a").await.unwrap();
    }
    let expected: Vec<String> = (0..150).map(|n| n.to_string()).collect();
    let first = read(&fixture, &fixture.caller, request(FeedStart::Beginning)).await.unwrap();
    assert_eq!(
        (ids(&fixture, &first), first.wait),
        (expected[..100].to_vec(), None),
        "a hundred, unless told"
    );
    let rest = FeedPageRequest { items_max: Some(1_000), ..request(FeedStart::Token(first.token.clone())) };
    let second = read(&fixture, &fixture.caller, rest).await.unwrap();
    assert_eq!(ids(&fixture, &second), expected[100..]);
    let last =
        read(&fixture, &fixture.caller, request(FeedStart::Token(second.token.clone()))).await.unwrap();
    assert!(last.changes.is_empty() && last.is_end);
    assert_eq!(last.positions.len(), 1);
}

#[tokio::test]
async fn permissions_are_those_of_lists() {
    let fixture = Fixture::with_container().await;
    for (id, key) in [("1", "a"), ("2", "b"), ("3", "a")] {
        fixture.create_item(&fixture.caller, "c", id, key).await.unwrap();
    }
    fixture.create_container("other").await.unwrap();
    let permission = |more: &str| format!(r#"{{"id":"p","permissionMode":"Read",{more}}}"#);
    let whole = fixture.granted("u1", &permission(r#""resource":"dbs/d/colls/c""#)).await;
    let key = permission(r#""resource":"dbs/d/colls/c","resourcePartitionKey":["a"]"#);
    let key = fixture.granted("u2", &key).await;
    let other = fixture.granted("u3", &permission(r#""resource":"dbs/d/colls/other""#)).await;
    let item = permission(r#""resource":"dbs/d/colls/c/docs/1","resourcePartitionKey":["a"]"#);
    let item = fixture.granted("u4", &item).await;
    let of = |key: &str| ListScope::PartitionKey(partition_key(key));
    let range = || ListScope::Range { id: Some(0), min: None, max: None };
    for (caller, scope, expected) in [
        (&whole, ListScope::All, Some(&["1", "2", "3"][..])),
        (&whole, of("b"), Some(&["2"])),
        (&whole, range(), Some(&["1", "2", "3"])),
        (&key, ListScope::All, Some(&["1", "3"])),
        (&key, of("a"), Some(&["1", "3"])),
        (&key, of("b"), None),
        (&key, range(), None),
        (&other, ListScope::All, None),
        (&item, of("a"), None),
    ] {
        let asked = FeedPageRequest { scope: scope.clone(), ..request(FeedStart::Beginning) };
        match (read(&fixture, caller, asked).await, expected) {
            (Ok(answer), Some(expected)) => assert_eq!(ids(&fixture, &answer), expected, "{scope:?}"),
            (answer, None) => drop(refused(answer, ErrorKind::Forbidden)),
            (Err(error), Some(_)) => panic!("{scope:?}: {error}"),
        }
    }
}

#[tokio::test]
async fn positions_are_checked() {
    let fixture = Fixture::with_container().await;
    fixture.create_item(&fixture.caller, "c", "1", "a").await.unwrap();
    for token in ["", "x", "-1", "1;2", "F1;", "F2;00-FF-1", "F1;FF-00-1", "F1;00-10-1;20-FF-1"] {
        let answer = read(&fixture, &fixture.caller, request(FeedStart::Token(token.to_owned()))).await;
        refused(answer, ErrorKind::Invalid);
    }
    for start in [FeedStart::Beginning, FeedStart::Now, FeedStart::Time(1), FeedStart::Token("1".to_owned())]
    {
        let all = FeedPageRequest { mode: FeedMode::AllVersions, ..request(start) };
        refused(read(&fixture, &fixture.caller, all).await, ErrorKind::Invalid);
    }
    let gone = FeedPageRequest {
        scope: ListScope::Range { id: Some(7), min: None, max: None },
        ..request(FeedStart::Beginning)
    };
    refused(read(&fixture, &fixture.caller, gone).await, ErrorKind::RangeGone);
}

#[tokio::test]
async fn a_wait_pays_for_all_its_reads() {
    let fixture = Fixture::with_container().await;
    fixture.create_item(&fixture.caller, "c", "1", "b").await.unwrap();
    let scope = || ListScope::PartitionKey(partition_key("a"));
    let token = end(&fixture).await;
    let once = FeedPageRequest { scope: scope(), ..request(FeedStart::Token(token.clone())) };
    let once = read(&fixture, &fixture.caller, once.clone()).await.unwrap();
    let waiting = FeedPageRequest {
        scope: scope(),
        wait: Some(Duration::from_secs(10)),
        ..request(FeedStart::Token(token.clone()))
    };
    let (answer, ()) = tokio::join!(read(&fixture, &fixture.caller, waiting), async {
        for n in 0..3 {
            rest().await;
            fixture.upsert("b", &format!(r#"{{"id":"1","pk":"b","n":{n}}}"#)).await;
            rest().await;
            fixture.clock.advance(Duration::from_secs(1));
        }
        rest().await;
        fixture.clock.advance(Duration::from_secs(10));
    });
    let answer = answer.unwrap();
    assert!(answer.changes.is_empty() && answer.is_end);
    assert_ne!(answer.token, token, "the changes of others are behind it");
    assert!(answer.charge.hundredths() >= 2 * once.charge.hundredths(), "{} {}", answer.charge, once.charge);
}

#[tokio::test]
async fn waits_last_until_there_is_a_budget() {
    let policy = Policy { enforced: true, burst: false };
    let fixture = Fixture::with_options(EngineOptions { policy, ..usual() }).await;
    fixture.engine.create_database(&fixture.caller, "d", None).await.unwrap();
    let definition = value(r#"{"id":"c","partitionKey":{"paths":["/pk"]}}"#);
    let throughput = Some(Throughput::Manual(400));
    fixture.engine.create_container(&fixture.caller, "d", defined(&definition), throughput).await.unwrap();
    let token = end(&fixture).await;
    let asked = || request(FeedStart::Token(token.clone()));
    let waiting = FeedPageRequest { wait: Some(Duration::from_secs(30)), ..asked() };
    let (answer, ()) = tokio::join!(read(&fixture, &fixture.caller, waiting), async {
        rest().await;
        // Costs more than the second has, in one write.
        let big = format!(r#"{{"id":"1","pk":"a","t":"{}"}}"#, "x".repeat(1_500_000));
        let written = fixture.put(WriteMode::Upsert, "a", &big, &Triggers::default()).await.unwrap();
        assert!(written.charge.hundredths() > 40_000, "{}", written.charge);
        refused(read(&fixture, &fixture.caller, asked()).await, ErrorKind::Throttled);
        for _ in 0..200 {
            fixture.clock.advance(Duration::from_millis(100));
            rest().await;
        }
    });
    assert_eq!(ids(&fixture, &answer.unwrap()), ["1"]);
}

#[tokio::test]
async fn waits_end_with_the_container_and_the_account() {
    let fixture = Fixture::with_container().await;
    let waiting = || FeedPageRequest { wait: Some(FEED_WAIT_MAX), ..request(FeedStart::Now) };
    let (answer, ()) = tokio::join!(read(&fixture, &fixture.caller, waiting()), async {
        rest().await;
        let none = ResourcePrecondition::None;
        fixture.engine.delete_container(&fixture.caller, "d", "c", none).await.unwrap();
    });
    refused(answer, ErrorKind::OwnerNotFound(ResourceKind::Container));
    fixture.create_container("c").await.unwrap();
    let (answer, ()) = tokio::join!(read(&fixture, &fixture.caller, waiting()), async {
        rest().await;
        fixture.engine.close().await.unwrap();
    });
    assert!(answer.unwrap().changes.is_empty());
}

#[tokio::test]
async fn the_database_of_a_waited_for_container_goes() {
    let fixture = Fixture::with_container().await;
    let waiting = FeedPageRequest { wait: Some(FEED_WAIT_MAX), ..request(FeedStart::Now) };
    let (answer, ()) = tokio::join!(read(&fixture, &fixture.caller, waiting), async {
        rest().await;
        fixture.engine.delete_database(&fixture.caller, "d", ResourcePrecondition::None).await.unwrap();
    });
    refused(answer, ErrorKind::OwnerNotFound(ResourceKind::Container));
}

#[tokio::test]
async fn all_versions_tell_both_images() {
    let fixture = Fixture::new().await;
    fixture.engine.create_database(&fixture.caller, "d", None).await.unwrap();
    let definition = value(
        r#"{"id":"c","partitionKey":{"paths":["/pk"]},"changeFeedPolicy":{"retentionDuration":5,"previousImages":true}}"#,
    );
    fixture.engine.create_container(&fixture.caller, "d", defined(&definition), None).await.unwrap();
    let token = end(&fixture).await;
    fixture.upsert("a", r#"{"id":"1","pk":"a","n":1}"#).await;
    fixture.upsert("a", r#"{"id":"1","pk":"a","n":2}"#).await;
    delete(&fixture, "a", "1").await;
    fixture.upsert("a", r#"{"id":"1","pk":"a","n":3}"#).await;
    let all = FeedPageRequest { mode: FeedMode::AllVersions, ..request(FeedStart::Token(token)) };
    let answer = read(&fixture, &fixture.caller, all).await.unwrap();
    let n = |item: &Option<armilla_engine::Item>| {
        let item = item.as_ref()?;
        fixture.shown(item).get("n").and_then(Value::as_i64)
    };
    let found: Vec<_> = answer
        .changes
        .iter()
        .map(|change| (change.kind, n(&change.item), n(&change.previous), change.id.as_str()))
        .collect();
    assert_eq!(
        found,
        [
            (ChangeKind::Create, Some(1), None, "1"),
            (ChangeKind::Replace, Some(2), Some(1), "1"),
            (ChangeKind::Delete, None, Some(2), "1"),
            (ChangeKind::Create, Some(3), None, "1"),
        ]
    );
    assert!(answer.changes.iter().all(|change| change.partition_key == partition_key("a")));
    let lsns: Vec<u64> = answer.changes.iter().map(|change| change.lsn).collect();
    let before: Vec<u64> = answer.changes.iter().map(|change| change.previous_lsn).collect();
    assert_eq!(before, [0, lsns[0], lsns[1], 0]);
}

#[tokio::test]
async fn all_versions_from_the_beginning_and_from_a_time() {
    let fixture = Fixture::new().await;
    fixture.engine.create_database(&fixture.caller, "d", None).await.unwrap();
    let definition =
        value(r#"{"id":"c","partitionKey":{"paths":["/pk"]},"changeFeedPolicy":{"retentionDuration":5}}"#);
    fixture.engine.create_container(&fixture.caller, "d", defined(&definition), None).await.unwrap();
    fixture.upsert("a", r#"{"id":"1","pk":"a","n":1}"#).await;
    fixture.upsert("a", r#"{"id":"1","pk":"a","n":2}"#).await;
    fixture.clock.advance(Duration::from_secs(60));
    let later = u32::try_from(fixture.clock.now_ms() / 1_000).unwrap();
    delete(&fixture, "a", "1").await;
    for (start, changes) in [
        (FeedStart::Beginning, 3),
        (FeedStart::Time(0), 3),
        (FeedStart::Time(later), 1),
        (FeedStart::Time(later + 1), 0),
    ] {
        let all = FeedPageRequest { mode: FeedMode::AllVersions, ..request(start.clone()) };
        let answer = read(&fixture, &fixture.caller, all).await.unwrap();
        assert_eq!(answer.changes.len(), changes, "{start:?}");
    }
}
