use std::sync::Arc;
use std::time::Duration;

use armilla_container::{FeedMode, FeedStart, ListScope};
use armilla_env::{Env, SimulatedClock};
use armilla_kv::memory::MemoryStore;
use armilla_value::{HashedKey, PartitionKey, json};
use tokio::task::JoinSet;

use super::{FeedAnswer, FeedPageRequest, after};
use crate::limits::{FEED_WAIT_MAX, FEED_WAITERS_MAX};
use crate::{Caller, ContainerHandle, Engine, EngineOptions, Policy, Precondition, Triggers, WriteMode};

#[test]
fn keys_have_a_next_one() {
    for (hex, expected) in
        [("00", Some("01")), ("1F", Some("20")), ("01FF", Some("0200")), ("FFFF", None), ("", None)]
    {
        let key = HashedKey::from_hex(hex).unwrap();
        assert_eq!(after(&key).map(|key| key.to_hex()), expected.map(str::to_owned), "{hex}");
    }
}

/// An account with one empty container.
async fn account() -> (Engine, Arc<ContainerHandle>, Arc<SimulatedClock>) {
    let (env, clock) = Env::simulated(1);
    let policy = Policy { enforced: false, burst: false };
    let options = EngineOptions { policy, ..EngineOptions::default() };
    let engine = Engine::open(Arc::new(MemoryStore::new()), env, options).await.unwrap();
    let caller = Caller::full();
    engine.create_database(&caller, "d", None).await.unwrap();
    let definition = json::parse(br#"{"id":"c","partitionKey":{"paths":["/pk"]}}"#).unwrap();
    engine
        .create_container(
            &caller,
            "d",
            armilla_container::ContainerDefinition::from_value(&definition).unwrap(),
            None,
        )
        .await
        .unwrap();
    let container = engine.container("d", "c").unwrap().container;
    (engine, container, clock)
}

async fn wait(engine: &Engine, container: &Arc<ContainerHandle>, wait: Duration) -> FeedAnswer {
    let request = FeedPageRequest {
        mode: FeedMode::Latest,
        scope: ListScope::All,
        start: FeedStart::Beginning,
        modified_since: None,
        items_max: None,
        wait: Some(wait),
    };
    engine.change_feed(&Caller::full(), container, request).await.unwrap()
}

async fn write(engine: &Engine, container: &Arc<ContainerHandle>) {
    let key = PartitionKey::from_json(br#"["a"]"#).unwrap();
    let (caller, body, triggers) = (Caller::full(), br#"{"id":"1","pk":"a"}"#, Triggers::default());
    let (mode, none) = (WriteMode::Upsert, Precondition::None);
    engine.write_item(&caller, container, mode, Some(&key), body.into(), none, &triggers).await.unwrap();
}

/// Lets others run until so many callers may wait besides.
async fn until_room_for(engine: &Engine, callers: usize) {
    while engine.feeds().waiters.available_permits() != callers {
        tokio::task::yield_now().await;
        tokio::task::spawn_blocking(|| std::thread::sleep(Duration::from_micros(100))).await.unwrap();
    }
}

#[tokio::test]
async fn waiters_are_limited_in_number() {
    let (engine, container, _clock) = account().await;
    let mut waiters = JoinSet::new();
    for _ in 0..FEED_WAITERS_MAX {
        let (engine, container) = (engine.clone(), container.clone());
        waiters.spawn(async move {
            let answer = wait(&engine, &container, FEED_WAIT_MAX).await;
            (answer.changes.len(), answer.wait)
        });
    }
    until_room_for(&engine, 0).await;
    // The next one is told that it did not wait.
    let turned_away = wait(&engine, &container, FEED_WAIT_MAX).await;
    assert_eq!((turned_away.changes.len(), turned_away.is_end, turned_away.wait), (0, true, None));
    assert!(waiters.try_join_next().is_none(), "nobody else was answered");
    write(&engine, &container).await;
    let answers = waiters.join_all().await;
    assert!(answers.iter().all(|answer| *answer == (1, Some(FEED_WAIT_MAX))), "{answers:?}");
    assert_eq!(engine.feeds().waiters.available_permits(), FEED_WAITERS_MAX);
}

#[tokio::test]
async fn waits_that_are_given_up_make_room() {
    let (engine, container, clock) = account().await;
    let mut waiters = JoinSet::new();
    for _ in 0..10 {
        let (engine, container) = (engine.clone(), container.clone());
        waiters.spawn(async move { wait(&engine, &container, FEED_WAIT_MAX).await.wait });
    }
    until_room_for(&engine, FEED_WAITERS_MAX - 10).await;
    waiters.shutdown().await;
    assert_eq!(engine.feeds().waiters.available_permits(), FEED_WAITERS_MAX);
    // However long somebody would like to wait, there is an end.
    let (answer, ()) = tokio::join!(wait(&engine, &container, 100 * FEED_WAIT_MAX), async {
        until_room_for(&engine, FEED_WAITERS_MAX - 1).await;
        clock.advance(FEED_WAIT_MAX);
    });
    assert_eq!((answer.changes.len(), answer.wait), (0, Some(FEED_WAIT_MAX)));
}
