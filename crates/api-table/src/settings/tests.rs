//! Tests of what is kept, and for how long it is believed.

use std::sync::Arc;
use std::time::Duration;

use armilla_engine::{Caller, Engine, EngineOptions, ItemName, Policy, Precondition, Triggers, WriteMode};
use armilla_env::{Env, SimulatedClock};
use armilla_kv::Store;
use armilla_kv::memory::MemoryStore;

use super::{CONTAINER, REMEMBERED_COUNT_MAX, REMEMBERED_MAX, Settings, partition_key};
use crate::tables::DATABASE;

pub(crate) async fn engine() -> (Engine, Env, Arc<SimulatedClock>) {
    let (env, clock) = Env::simulated(1);
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    // Nothing is throttled: time stands still unless a test moves it.
    let policy = Policy { enforced: false, burst: false };
    let options = EngineOptions { policy, ..EngineOptions::default() };
    let engine = Engine::open(store, env.clone(), options).await.unwrap();
    (engine, env, clock)
}

fn parse(text: &str) -> Option<String> {
    (text != "broken").then(|| text.to_owned())
}

async fn settings() -> (Settings<String>, Engine, Env, Arc<SimulatedClock>) {
    let (engine, env, clock) = engine().await;
    (Settings::new(engine.clone(), env.clone(), parse), engine, env, clock)
}

async fn write(settings: &Settings<String>, id: &str, text: &str) {
    settings.write(id, text.to_owned(), text.to_owned()).await.unwrap();
}

#[tokio::test]
async fn what_was_never_written_is_the_default_and_makes_nothing() {
    let (settings, engine, _, _) = settings().await;
    assert_eq!(*settings.read("a").unwrap(), "");
    settings.remove("a").await.unwrap();
    assert!(engine.container(DATABASE, CONTAINER).is_err());
    write(&settings, "a", "1").await;
    assert!(engine.container(DATABASE, CONTAINER).is_ok());
    assert_eq!(*settings.read("a").unwrap(), "1");
    assert_eq!(*settings.read("b").unwrap(), "");
    settings.remove("b").await.unwrap();
    settings.remove("a").await.unwrap();
    assert_eq!(*settings.read("a").unwrap(), "");
}

#[tokio::test]
async fn own_writes_are_seen_at_once_and_those_of_others_soon() {
    let (settings, engine, env, clock) = settings().await;
    let other = Settings::new(engine, env, parse);
    assert_eq!(*other.read("a").unwrap(), "");
    write(&settings, "a", "1").await;
    assert_eq!(*settings.read("a").unwrap(), "1");
    assert_eq!(*other.read("a").unwrap(), "");
    clock.advance(REMEMBERED_MAX - Duration::from_nanos(1));
    assert_eq!(*other.read("a").unwrap(), "");
    clock.advance(Duration::from_nanos(1));
    assert_eq!(*other.read("a").unwrap(), "1");
    other.remove("a").await.unwrap();
    assert_eq!(*other.read("a").unwrap(), "");
    clock.advance(REMEMBERED_MAX);
    assert_eq!(*settings.read("a").unwrap(), "");
}

#[tokio::test]
async fn what_others_made_of_it_counts_as_unset() {
    let (settings, engine, _, clock) = settings().await;
    write(&settings, "a", "1").await;
    let container = engine.container(DATABASE, CONTAINER).unwrap().container;
    for body in [r#"{"id":"a"}"#, r#"{"id":"a","text":7}"#, r#"{"id":"a","text":"broken"}"#] {
        let (caller, key) = (Caller::full(), partition_key("a"));
        let (mode, triggers) = (WriteMode::Upsert, Triggers::default());
        let written = engine.write_item(
            &caller,
            &container,
            mode,
            Some(&key),
            body.as_bytes().into(),
            Precondition::None,
            &triggers,
        );
        written.await.unwrap();
        clock.advance(REMEMBERED_MAX);
        assert_eq!(*settings.read("a").unwrap(), "", "{body}");
    }
    // It stands there as an item like any other.
    write(&settings, "a", "it's \"2\"").await;
    let read = engine
        .read_item(&Caller::full(), &container, ItemName::Id("a"), Some(&partition_key("a")), None)
        .unwrap();
    assert_eq!(read.item.stored().root().get("text").unwrap().as_str().as_deref(), Some("it's \"2\""));
}

#[tokio::test]
async fn a_read_from_before_a_write_is_not_remembered_after_it() {
    let (settings, _, _, _) = settings().await;
    let write_count = settings.remembered().write_count;
    write(&settings, "a", "1").await;
    assert_eq!(settings.remembered().write_count, write_count + 1);
    settings.remove("a").await.unwrap();
    assert_eq!(settings.remembered().write_count, write_count + 2);
}

#[tokio::test]
async fn not_more_is_remembered_than_there_is_room_for() {
    let (settings, _, _, clock) = settings().await;
    for number in 0..REMEMBERED_COUNT_MAX {
        settings.read(&number.to_string()).unwrap();
    }
    assert_eq!(settings.remembered().by_id.len(), REMEMBERED_COUNT_MAX);
    settings.read("0").unwrap();
    assert_eq!(settings.remembered().by_id.len(), REMEMBERED_COUNT_MAX);
    settings.read("one more").unwrap();
    assert_eq!(settings.remembered().by_id.len(), 1);
    clock.advance(REMEMBERED_MAX);
    settings.read("one more").unwrap();
    assert_eq!(settings.remembered().by_id.len(), 1);
}

#[tokio::test]
async fn writers_at_once_find_the_container_that_one_of_them_made() {
    let (settings, _, _, _) = settings().await;
    let settings = Arc::new(settings);
    let writers: Vec<_> = (0..8)
        .map(|number| {
            let settings = settings.clone();
            tokio::spawn(async move { write(&settings, &number.to_string(), "x").await })
        })
        .collect();
    for writer in writers {
        writer.await.unwrap();
    }
    for number in 0..8 {
        assert_eq!(*settings.read(&number.to_string()).unwrap(), "x");
    }
}
