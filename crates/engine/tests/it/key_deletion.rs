//! Deleting all items of a partition key: gone at once for everybody, taken away in the background.

use std::time::Duration;

use armilla_engine::{
    Engine, EngineOptions, ErrorKind, FeedMode, FeedPageRequest, FeedStart, Limits, ListScope, PageRequest,
    Policy, Triggers, WriteMode, check,
};

use crate::reshaping::split;
use crate::support::{Fixture, defined, partition_key, unthrottled, value};

const COUNT: usize = 30;

async fn prepared(options: EngineOptions) -> Fixture {
    let fixture = Fixture::with_options(options).await;
    fixture.engine.create_database(&fixture.caller, "d", None).await.unwrap();
    let definition = r#"{"id":"c","partitionKey":{"paths":["/pk"]},
        "uniqueKeyPolicy":{"uniqueKeys":[{"paths":["/u"]}]}}"#;
    let definition = defined(&value(definition));
    fixture.engine.create_container(&fixture.caller, "d", definition, None).await.unwrap();
    fixture
}

async fn create(fixture: &Fixture, key: &str, id: usize) -> Result<(), armilla_engine::Error> {
    let body = format!(r#"{{"id":"{id}","pk":"{key}","n":{id},"u":{id}}}"#);
    fixture.put(WriteMode::Create, key, &body, &Triggers::default()).await.map(|_| ())
}

async fn fill(fixture: &Fixture) {
    for id in 0..COUNT {
        for key in ["a", "b"] {
            create(fixture, key, id).await.unwrap();
        }
    }
}

async fn delete(fixture: &Fixture, key: &str) {
    let key = partition_key(key);
    fixture.engine.delete_partition_key(&fixture.caller, &fixture.container("c"), &key).await.unwrap();
}

/// How many items of a key each way of reading finds: points, lists, queries, counts, the change feed.
async fn seen(fixture: &Fixture, key: &str) -> [usize; 6] {
    let container = fixture.container("c");
    let points = (0..COUNT).filter(|id| fixture.item(key, &id.to_string()).is_some()).count();
    let scope = || ListScope::PartitionKey(partition_key(key));
    let page = PageRequest { scope: scope(), items_max: Some(1_000), continuation: None };
    let listed = fixture.engine.list_items(&fixture.caller, &container, page).unwrap().items.len();
    let rows = fixture.query(&format!("SELECT VALUE c.n FROM c WHERE c.n >= 0 AND c.pk = '{key}'")).await;
    let queried = rows.split(',').filter(|row| !row.is_empty()).count();
    let count = async |text: &str| fixture.query(text).await.parse::<usize>().unwrap();
    let counted = count(&format!("SELECT VALUE COUNT(1) FROM c WHERE c.pk = '{key}'")).await;
    let others = count("SELECT VALUE COUNT(1) FROM c").await - counted;
    let feed = FeedPageRequest {
        mode: FeedMode::Latest,
        scope: scope(),
        start: FeedStart::Beginning,
        modified_since: None,
        items_max: Some(1_000),
        wait: None,
    };
    let changes = fixture.engine.change_feed(&fixture.caller, &container, feed).await.unwrap().changes.len();
    [points, listed, queried, counted, changes, others]
}

fn stored(fixture: &Fixture) -> u64 {
    fixture.container("c").usage(&fixture.caller).unwrap().items
}

async fn assert_sound(fixture: &Fixture, items: u64) {
    let engine = fixture.engine.clone();
    let report = tokio::task::spawn_blocking(move || check(&engine, &mut |_, _| {}).unwrap()).await.unwrap();
    assert_eq!((report.items, report.problems), (items, vec![]));
}

/// The same account, in which nothing happens by itself.
async fn at_rest(fixture: Fixture) -> Fixture {
    let (store, env) = (fixture.store.clone(), fixture.env.clone());
    Fixture { engine: Engine::open_at_rest(store, env, unthrottled()).await.unwrap(), ..fixture }
}

#[tokio::test]
async fn items_are_gone_at_once_and_then_taken_away() {
    let fixture = prepared(unthrottled()).await;
    fill(&fixture).await;
    assert_eq!(seen(&fixture, "a").await, [COUNT; 6]);
    delete(&fixture, "a").await;
    assert_eq!(seen(&fixture, "a").await, [0, 0, 0, 0, 0, COUNT], "whether they are taken away or not");
    // Their ids and unique keys are free, and what comes later lives.
    create(&fixture, "a", 7).await.unwrap();
    assert_eq!(seen(&fixture, "a").await, [1, 1, 1, 1, 1, COUNT]);
    assert_eq!(
        create(&fixture, "a", 7).await.unwrap_err().kind,
        ErrorKind::AlreadyExists(armilla_engine::ResourceKind::Item)
    );
    fixture.until(|fixture| stored(fixture) == COUNT as u64 + 1).await;
    assert_eq!(seen(&fixture, "a").await, [1, 1, 1, 1, 1, COUNT]);
    assert_sound(&fixture, COUNT as u64 + 1).await;
    // And again.
    delete(&fixture, "a").await;
    assert_eq!(seen(&fixture, "a").await, [0, 0, 0, 0, 0, COUNT]);
    fixture.until(|fixture| stored(fixture) == COUNT as u64).await;
    assert_sound(&fixture, COUNT as u64).await;
}

#[tokio::test]
async fn a_tenth_of_the_throughput_is_used_and_restarts_do_not_matter() {
    let limits = Limits { initial_partition_ru: 10_000, ..Limits::default() };
    let throttled = || EngineOptions { policy: Policy::default(), limits: limits.clone(), ..unthrottled() };
    let fixture = prepared(unthrottled()).await;
    fill(&fixture).await;
    let fixture = fixture.reopen_with(throttled()).await;
    fixture.clock.advance(Duration::from_secs(2));
    let before = fixture.env.clock.elapsed();
    delete(&fixture, "a").await;
    // However many keys are deleted at once.
    delete(&fixture, "nothing").await;
    fixture.until(|fixture| stored(fixture) < 2 * COUNT as u64).await;
    assert!(stored(&fixture) > COUNT as u64, "a step takes away few");
    assert_eq!(fixture.item("a", "29"), None);
    let fixture = fixture.reopen_with(throttled()).await;
    assert_eq!((fixture.item("a", "0"), fixture.item("a", "29")), (None, None));
    fixture.until(|fixture| stored(fixture) == COUNT as u64).await;
    // 30 deletes of more than 5 request units each, with 40 of 400 a second.
    let took = fixture.env.clock.elapsed() - before;
    assert!(took > Duration::from_secs(3), "{took:?}");
    fixture.clock.advance(Duration::from_secs(2));
    let fixture = fixture.reopen().await;
    assert_eq!(seen(&fixture, "a").await, [0, 0, 0, 0, 0, COUNT]);
    create(&fixture, "a", 0).await.unwrap();
    assert_sound(&fixture, COUNT as u64 + 1).await;
}

#[tokio::test]
async fn splits_carry_it_on() {
    let fixture = prepared(unthrottled()).await;
    fill(&fixture).await;
    let fixture = at_rest(fixture).await;
    delete(&fixture, "a").await;
    assert_eq!(stored(&fixture), 2 * COUNT as u64);
    let fixture = fixture.reopen().await;
    split(&fixture, None, None).await;
    assert_eq!(seen(&fixture, "a").await, [0, 0, 0, 0, 0, COUNT]);
    fixture.until(|fixture| stored(fixture) == COUNT as u64).await;
    assert_sound(&fixture, COUNT as u64).await;
}

#[tokio::test]
async fn a_container_takes_what_was_to_be_deleted_with_it() {
    let fixture = prepared(unthrottled()).await;
    fill(&fixture).await;
    let fixture = at_rest(fixture).await;
    delete(&fixture, "a").await;
    let none = armilla_engine::ResourcePrecondition::None;
    fixture.engine.delete_container(&fixture.caller, "d", "c", none).await.unwrap();
    // A record without a container would be damage.
    let fixture = fixture.reopen().await;
    assert!(fixture.engine.container("d", "c").is_err());
}

/// The part of the throughput is that of a physical partition, whatever the number of keys.
#[tokio::test]
async fn many_keys_use_no_more_than_one() {
    let limits = Limits { initial_partition_ru: 10_000, ..Limits::default() };
    let throttled = EngineOptions { policy: Policy::default(), limits, ..unthrottled() };
    let fixture = prepared(unthrottled()).await;
    let keys: Vec<String> = (0..8).map(|key| format!("k{key}")).collect();
    for key in &keys {
        for id in 0..5 {
            create(&fixture, key, id).await.unwrap();
        }
    }
    let fixture = fixture.reopen_with(throttled).await;
    fixture.clock.advance(Duration::from_secs(2));
    for key in &keys {
        delete(&fixture, key).await;
    }
    let before = fixture.env.clock.elapsed();
    fixture.until(|fixture| stored(fixture) == 0).await;
    // 40 deletes of more than 5 request units each, with 40 of 400 a second.
    let took = fixture.env.clock.elapsed() - before;
    assert!(took > Duration::from_secs(4), "{took:?}");
}
