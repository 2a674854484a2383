//! The task that purges what is expired: when it begins, what it leaves alone, when it ends.
//!
//! Not here: what every kind of query sees of expired items (`time_to_live`).

use std::time::Duration;

use armilla_engine::{
    Engine, FeedMode, FeedPageRequest, FeedStart, ListScope, PageRequest, ResourcePrecondition, check,
};

use crate::reshaping::split;
use crate::support::{Fixture, defined, unthrottled, value};

async fn with_time_to_live(definition: &str) -> Fixture {
    let fixture = Fixture::new().await;
    create(&fixture, definition).await;
    fixture
}

async fn create(fixture: &Fixture, definition: &str) {
    fixture.engine.create_database(&fixture.caller, "d", None).await.unwrap();
    let definition = value(&format!(r#"{{"id":"c","partitionKey":{{"paths":["/pk"]}}{definition}}}"#));
    fixture.engine.create_container(&fixture.caller, "d", defined(&definition), None).await.unwrap();
}

async fn fill(fixture: &Fixture, numbers: std::ops::Range<u32>, more: &str) {
    for n in numbers {
        fixture.upsert(&format!("k{n}"), &format!(r#"{{"id":"{n}","pk":"k{n}","n":{n}{more}}}"#)).await;
    }
}

fn stored(fixture: &Fixture) -> u64 {
    fixture.container("c").usage(&fixture.caller).unwrap().items
}

/// How many items each way of reading finds: points, lists, queries, the change feed.
async fn seen(fixture: &Fixture, ids: std::ops::Range<u32>) -> [usize; 5] {
    let container = fixture.container("c");
    let points = ids.filter(|n| fixture.item(&format!("k{n}"), &n.to_string()).is_some()).count();
    let page = PageRequest { scope: ListScope::All, items_max: Some(1_000), continuation: None };
    let listed = fixture.engine.list_items(&fixture.caller, &container, page).unwrap().items.len();
    let rows = fixture.query("SELECT VALUE c.n FROM c WHERE c.n >= 0").await;
    let queried = rows.split(',').filter(|row| !row.is_empty()).count();
    let counted = fixture.query("SELECT VALUE COUNT(1) FROM c").await.parse().unwrap();
    let feed = FeedPageRequest {
        mode: FeedMode::Latest,
        scope: ListScope::All,
        start: FeedStart::Beginning,
        modified_since: None,
        items_max: Some(1_000),
        wait: None,
    };
    let changes = fixture.engine.change_feed(&fixture.caller, &container, feed).await.unwrap().changes.len();
    [points, listed, queried, counted, changes]
}

async fn assert_sound(fixture: &Fixture, items: u64) {
    let engine = fixture.engine.clone();
    let report = tokio::task::spawn_blocking(move || check(&engine, &mut |_, _| {}).unwrap()).await.unwrap();
    assert_eq!((report.items, report.problems), (items, vec![]));
}

#[tokio::test]
async fn what_is_expired_is_seen_by_nobody_and_then_purged() {
    let fixture = with_time_to_live(r#","defaultTtl":10"#).await;
    fill(&fixture, 0..20, "").await;
    fill(&fixture, 20..30, r#","ttl":-1"#).await;
    assert_eq!(seen(&fixture, 0..30).await, [30; 5]);
    fixture.clock.advance(Duration::from_secs(10));
    assert_eq!(seen(&fixture, 0..30).await, [30; 5], "an item lives for all of its time");
    fixture.clock.advance(Duration::from_secs(1));
    assert_eq!(seen(&fixture, 0..30).await, [10; 5], "whether it is purged or not");
    fixture.until(|fixture| stored(fixture) == 10).await;
    assert_eq!(seen(&fixture, 0..30).await, [10; 5]);
    assert_sound(&fixture, 10).await;
}

#[tokio::test]
async fn accounts_are_swept_when_they_are_opened() {
    let fixture = Fixture::new().await;
    // Whoever looks at an account changes nothing in it that was not asked for.
    let engine =
        Engine::open_at_rest(fixture.store.clone(), fixture.env.clone(), unthrottled()).await.unwrap();
    let fixture = Fixture { engine, ..fixture };
    create(&fixture, r#","defaultTtl":10"#).await;
    fill(&fixture, 0..20, "").await;
    for _ in 0..100 {
        fixture.clock.advance(Duration::from_secs(1));
        tokio::task::yield_now().await;
    }
    assert_eq!(seen(&fixture, 0..20).await, [0; 5]);
    assert_eq!(stored(&fixture), 20);
    let fixture = fixture.reopen().await;
    assert_eq!(seen(&fixture, 0..20).await, [0; 5]);
    fixture.until(|fixture| stored(fixture) == 0).await;
    assert_sound(&fixture, 0).await;
}

#[tokio::test]
async fn a_default_that_comes_later_is_carried_out() {
    let fixture = with_time_to_live("").await;
    fill(&fixture, 0..10, r#","ttl":5"#).await;
    fill(&fixture, 10..20, "").await;
    fixture.clock.advance(Duration::from_secs(100));
    assert_eq!(seen(&fixture, 0..20).await, [20; 5]);
    let replace = async |ttl: &str| {
        let definition = value(&format!(r#"{{"id":"c","partitionKey":{{"paths":["/pk"]}}{ttl}}}"#));
        let none = ResourcePrecondition::None;
        fixture
            .engine
            .replace_container(&fixture.caller, "d", "c", defined(&definition), none)
            .await
            .unwrap();
    };
    replace(r#","defaultTtl":-1"#).await;
    assert_eq!(seen(&fixture, 0..20).await, [10; 5]);
    fixture.until(|fixture| stored(fixture) == 10).await;
    replace(r#","defaultTtl":50"#).await;
    assert_eq!(seen(&fixture, 0..20).await, [0; 5]);
    fixture.until(|fixture| stored(fixture) == 0).await;
    replace("").await;
    fill(&fixture, 0..5, r#","ttl":1"#).await;
    fixture.clock.advance(Duration::from_secs(100));
    assert_eq!(seen(&fixture, 0..5).await, [5; 5]);
    assert_sound(&fixture, 5).await;
}

#[tokio::test]
async fn items_expire_through_a_split() {
    let fixture = with_time_to_live(r#","defaultTtl":3600"#).await;
    fill(&fixture, 0..30, "").await;
    fill(&fixture, 30..40, r#","ttl":1000000"#).await;
    split(&fixture, None, None).await;
    assert_eq!(seen(&fixture, 0..40).await, [40; 5]);
    fixture.clock.advance(Duration::from_secs(3_601));
    assert_eq!(seen(&fixture, 0..40).await, [10; 5]);
    fixture.until(|fixture| stored(fixture) == 10).await;
    assert_sound(&fixture, 10).await;
}

#[tokio::test]
async fn tasks_end_with_their_container() {
    let fixture = with_time_to_live(r#","defaultTtl":10"#).await;
    fill(&fixture, 0..10, "").await;
    fixture.clock.advance(Duration::from_secs(11));
    fixture.engine.delete_container(&fixture.caller, "d", "c", ResourcePrecondition::None).await.unwrap();
    fixture.clock.advance(Duration::from_secs(100));
    let closed = tokio::time::timeout(Duration::from_secs(10), fixture.engine.close()).await;
    closed.unwrap().unwrap();
}
