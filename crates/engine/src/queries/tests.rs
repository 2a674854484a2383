//! Queries that never end by themselves, beside others, and after whoever asked has gone.

#![expect(clippy::disallowed_methods, reason = "long queries run on real threads, for real time")]

use std::time::Instant;

use armilla_env::{Clock, Env, SimulatedClock};
use armilla_kv::memory::MemoryStore;
use armilla_value::{PartitionKey, json};

use super::*;
use crate::{EngineOptions, Policy, Precondition, WriteMode};

const CROSS: &str = "FROM c JOIN v IN c.a JOIN w IN c.a JOIN x IN c.a JOIN y IN c.a JOIN z IN c.a";

/// An account with one item of a thousand elements, and a hundred small ones.
async fn account(env: &Env) -> (Engine, Arc<ContainerHandle>) {
    let options =
        EngineOptions { policy: Policy { enforced: false, burst: false }, ..EngineOptions::default() };
    let engine = Engine::open(Arc::new(MemoryStore::new()), env.clone(), options).await.unwrap();
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
    let numbers: Vec<String> = (0..1_000).map(|number| number.to_string()).collect();
    let mut items = vec![format!(r#"{{"id":"large","pk":"p","a":[{}]}}"#, numbers.join(","))];
    items.extend((0..100).map(|number| format!(r#"{{"id":"{number}","pk":"p","n":{number}}}"#)));
    let key = PartitionKey::from_json(br#"["p"]"#).unwrap();
    for item in &items {
        let (mode, free, none) = (WriteMode::Create, Precondition::None, Default::default());
        let write =
            engine.write_item(&caller, &container, mode, Some(&key), item.as_bytes().into(), free, &none);
        write.await.unwrap();
    }
    (engine, container)
}

async fn ask(engine: &Engine, container: &Arc<ContainerHandle>, text: &str) -> Result<QueryPage> {
    engine.query_items(&Caller::full(), container, QueryRequest::new(text)).await
}

/// Lets time pass until a task is done.
async fn pass_time<T>(clock: &SimulatedClock, task: tokio::task::JoinHandle<T>) -> T {
    while !task.is_finished() {
        clock.advance(Duration::from_millis(100));
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    task.await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_ends_in_time_inside_of_one_item() {
    let (env, clock) = Env::simulated(1);
    let (engine, container) = account(&env).await;
    for text in [format!("SELECT VALUE COUNT(1) {CROSS}"), format!("SELECT VALUE v {CROSS} WHERE z + v < 0")]
    {
        let mut continuation = None;
        for _ in 0..3 {
            let (engine, container) = (engine.clone(), container.clone());
            let request = QueryRequest { continuation: continuation.clone(), ..QueryRequest::new(&text) };
            let task =
                tokio::spawn(async move { engine.query_items(&Caller::full(), &container, request).await });
            let page = pass_time(&clock, task).await.unwrap();
            assert_eq!(page.row_count(), 0, "{text}");
            assert!(page.charge.hundredths() > 0, "{text}");
            let next = page.continuation.expect("there is more to count");
            assert_ne!(Some(&next), continuation.as_ref(), "{text}: no progress");
            continuation = Some(next);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_that_cannot_end_fails_in_time() {
    let (env, clock) = Env::simulated(1);
    let (engine, container) = account(&env).await;
    for text in [
        format!("SELECT DISTINCT VALUE v {CROSS}"),
        format!("SELECT v, COUNT(1) AS n {CROSS} GROUP BY v"),
        "SELECT * FROM c WHERE EXISTS(SELECT VALUE 1 FROM v IN c.a JOIN w IN c.a JOIN x IN c.a JOIN y IN c.a WHERE v + w < 0)"
            .to_owned(),
    ] {
        let (engine, container, began) = (engine.clone(), container.clone(), clock.elapsed());
        let asked = text.clone();
        let task = tokio::spawn(async move { ask(&engine, &container, &asked).await });
        let error = pass_time(&clock, task).await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::QueryTimeout, "{text}: {}", error.message);
        assert!(error.charge.hundredths() > 1_000, "{text}: {} for a minute of computing", error.charge);
        let took = clock.elapsed() - began;
        assert!(took >= PAGE_TIME_MAX && took < PAGE_TIME_MAX + Duration::from_secs(10), "{text}: {took:?}");
    }
}

/// Waits until no query computes any more.
async fn until_idle(engine: &Engine) {
    let began = Instant::now();
    while engine.query_lanes(false).computing() > 0 {
        assert!(began.elapsed() < Duration::from_secs(5), "queries go on though nobody waits for them");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_hangs_up_stops_the_work() {
    // Time stands still, so nothing else stops it.
    let (env, _clock) = Env::simulated(1);
    let (engine, container) = account(&env).await;
    for text in [
        format!("SELECT VALUE COUNT(1) {CROSS}"),
        format!("SELECT DISTINCT VALUE v {CROSS}"),
        "SELECT VALUE COUNT(1) FROM (SELECT VALUE 1 FROM c JOIN a IN c.a JOIN b IN c.a JOIN d IN c.a JOIN e IN c.a)".to_owned(),
    ] {
        let tasks: Vec<_> = (0..4)
            .map(|_| {
                let (engine, container, text) = (engine.clone(), container.clone(), text.clone());
                tokio::spawn(async move { ask(&engine, &container, &text).await })
            })
            .collect();
        while engine.query_lanes(false).computing() < 4 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        for task in &tasks {
            task.abort();
        }
        until_idle(&engine).await;
    }
}

/// Sixteen long queries blocked all others for as long as they liked.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_short_query_is_answered_within_a_second_beside_long_ones() {
    let env = Env::system();
    let (engine, container) = account(&env).await;
    let tasks: Vec<_> = (0..64)
        .map(|number| {
            let (engine, container) = (engine.clone(), container.clone());
            let text = match number % 3 {
                0 => format!("SELECT VALUE COUNT(1) {CROSS}"),
                1 => format!("SELECT DISTINCT VALUE v {CROSS}"),
                _ => format!("SELECT VALUE v {CROSS} WHERE z + v < 0"),
            };
            tokio::spawn(async move {
                // Whoever asks for this asks again.
                loop {
                    let _ = ask(&engine, &container, &text).await;
                }
            })
        })
        .collect();
    // Also while they come, and once they are all there.
    for _ in 0..10 {
        let began = Instant::now();
        let page = ask(&engine, &container, "SELECT VALUE c.n FROM c WHERE c.n = 7").await.unwrap();
        assert_eq!(page.rows, b"7");
        assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert!(engine.query_lanes(false).computing() > 0, "the long ones were running");
    for task in &tasks {
        task.abort();
    }
    until_idle(&engine).await;
}

#[tokio::test]
async fn large_values_are_refused_and_what_was_computed_is_charged() {
    let (env, _clock) = Env::simulated(1);
    let (engine, container) = account(&env).await;
    let joined = format!("CONCAT({})", ["@p"; 8].join(","));
    let fields: Vec<String> = (0..100).map(|number| format!("{joined} AS f{number}")).collect();
    let parameters = vec![("@p".to_owned(), Value::String("x".repeat(1_900_000)))];
    let text = format!("SELECT {} FROM c WHERE c.id = 'large'", fields.join(","));
    let request = QueryRequest::with_parameters(text, parameters.clone());
    let error = engine.query_items(&Caller::full(), &container, request).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Invalid, "{}", error.message);
    assert!(error.message.contains("16 MiB that a row may have"), "{}", error.message);
    assert!(error.charge.hundredths() > 1_000, "{}", error.charge);
    // What fits is given, and its bytes are paid for.
    let text = format!("SELECT VALUE LENGTH({joined}) FROM c WHERE c.id = 'large'");
    let request = QueryRequest::with_parameters(text, parameters);
    let page = engine.query_items(&Caller::full(), &container, request).await.unwrap();
    assert_eq!(page.rows, b"15200000");
    assert!(page.charge.hundredths() > 1_000, "{}", page.charge);
}
