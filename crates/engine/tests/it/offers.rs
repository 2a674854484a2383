//! Offers: what they may be set to, and what they become.

use armilla_engine::{
    EngineOptions, ErrorKind, Limits, Migration, OfferState, Resource, ResourcePrecondition,
    SHARING_CONTAINERS_MAX, Throughput,
};
use armilla_value::Value;

use crate::support::{Fixture, refused, unthrottled, value};

const NONE: ResourcePrecondition = ResourcePrecondition::None;

fn keyed(id: &str) -> Value {
    value(&format!(r#"{{"id":"{id}","partitionKey":{{"paths":["/pk"]}}}}"#))
}

fn offer(fixture: &Fixture) -> Resource {
    fixture.engine.list_offers(&fixture.caller, None, None).unwrap().value.resources[0].clone()
}

fn content<'r>(offer: &'r Resource, name: &str) -> Option<&'r Value> {
    offer.body.get("content").unwrap().get(name)
}

/// Sets an offer's manual throughput, or its autoscale maximum.
fn set(offer: &Resource, throughput: i64) -> Value {
    let mut body = offer.body.clone();
    let content = body.get_mut("content").unwrap().as_object_mut().unwrap();
    match content.get_mut("offerAutopilotSettings") {
        Some(settings) => settings.as_object_mut().unwrap().insert("maxThroughput", throughput),
        None => content.insert("offerThroughput", throughput),
    };
    Value::Object(body)
}

async fn replace(fixture: &Fixture, throughput: i64) -> armilla_engine::Result<Resource> {
    let offer = offer(fixture);
    let body = set(&offer, throughput);
    Ok(fixture.engine.replace_offer(&fixture.caller, &offer.rid, &body, NONE, None).await?.value)
}

async fn migrate(fixture: &Fixture, to: Migration) -> armilla_engine::Result<Resource> {
    let offer = offer(fixture);
    let body = Value::Object(offer.body.clone());
    Ok(fixture.engine.replace_offer(&fixture.caller, &offer.rid, &body, NONE, Some(to)).await?.value)
}

#[tokio::test]
async fn from_manual_to_autoscale_and_back() {
    let fixture = Fixture::with_container().await;
    let (engine, caller) = (&fixture.engine, &fixture.caller);
    replace(&fixture, 1_500).await.unwrap();
    refused(migrate(&fixture, Migration::ToManual).await, ErrorKind::Invalid);
    let migrated = migrate(&fixture, Migration::ToAutoscale).await.unwrap();
    let settings = content(&migrated, "offerAutopilotSettings").unwrap();
    assert_eq!(settings.get("maxThroughput"), Some(&Value::Int64(2_000)));
    assert_eq!(content(&migrated, "offerThroughput"), Some(&Value::Int64(200)));
    assert_eq!(engine.read_offer(caller, &migrated.rid, None).unwrap().value, migrated);
    refused(migrate(&fixture, Migration::ToAutoscale).await, ErrorKind::Invalid);
    replace(&fixture, 9_000).await.unwrap();
    refused(replace(&fixture, 9_500).await, ErrorKind::Invalid);
    // It stays what it is when the account is opened again.
    let fixture = fixture.reopen().await;
    assert!(content(&offer(&fixture), "offerAutopilotSettings").is_some());
    let back = migrate(&fixture, Migration::ToManual).await.unwrap();
    assert_eq!(content(&back, "offerThroughput"), Some(&Value::Int64(9_000)));
    assert!(content(&back, "offerAutopilotSettings").is_none());
    let state = fixture.engine.offer_state(&back.rid).unwrap();
    assert_eq!(state, OfferState { pending: false, minimum: 400 });
}

#[tokio::test]
async fn what_is_stored_is_told_and_remembered() {
    let fixture = Fixture::with_container().await;
    let stored = |fixture: &Fixture| {
        let offer = offer(fixture);
        let parameters = content(&offer, "offerMinimumThroughputParameters").unwrap();
        parameters.get("maxConsumedStorageEverInKB").unwrap().as_i64().unwrap()
    };
    assert_eq!(stored(&fixture), 0);
    let body = format!(r#"{{"id":"1","pk":"a","text":"{}"}}"#, "x".repeat(10_000));
    fixture.upsert("a", &body).await;
    let usage = fixture.container("c").usage(&fixture.caller).unwrap();
    assert!(usage.bytes > 10_000 && usage.index_bytes > 0, "{usage:?}");
    let expected = (usage.bytes + usage.index_bytes).div_ceil(1_024) as i64;
    assert_eq!(stored(&fixture), expected);
    replace(&fixture, 500).await.unwrap();
    fixture.upsert("a", r#"{"id":"1","pk":"a"}"#).await;
    let fixture = fixture.reopen().await;
    assert_eq!(stored(&fixture), expected);
}

#[tokio::test]
async fn how_many_may_share() {
    let fixture = Fixture::new().await;
    let (engine, caller) = (&fixture.engine, &fixture.caller);
    engine.create_database(caller, "d", Some(Throughput::Manual(400))).await.unwrap();
    for number in 0..SHARING_CONTAINERS_MAX {
        fixture.create_container(&format!("c{number}")).await.unwrap();
    }
    let error = refused(fixture.create_container("more").await, ErrorKind::Invalid);
    assert!(error.message.contains("at least 500"), "{error}");
    // One with throughput of its own does not share.
    engine.create_container(caller, "d", &keyed("own"), Some(Throughput::DEFAULT)).await.unwrap();
    replace(&fixture, 500).await.unwrap();
    fixture.create_container("more").await.unwrap();
    refused(fixture.create_container("yet more").await, ErrorKind::Invalid);
    refused(replace(&fixture, 400).await, ErrorKind::Invalid);
    assert_eq!(engine.offer_state(&offer(&fixture).rid).unwrap().minimum, 500);
    engine.delete_container(caller, "d", "more", NONE).await.unwrap();
    replace(&fixture, 400).await.unwrap();
}

#[tokio::test]
async fn containers_without_a_key() {
    let limits = Limits { physical_partition_ru: 1_000, fixed_container_ru: 5_000, ..Limits::default() };
    let fixture = Fixture::with_options(EngineOptions { limits, ..unthrottled() }).await;
    let (engine, caller) = (&fixture.engine, &fixture.caller);
    engine.create_database(caller, "d", None).await.unwrap();
    engine.create_database(caller, "shared", Some(Throughput::Manual(400))).await.unwrap();
    let keyless = value(r#"{"id":"c"}"#);
    refused(engine.create_container(caller, "shared", &keyless, None).await, ErrorKind::Invalid);
    let too_much = Some(Throughput::Manual(5_100));
    refused(engine.create_container(caller, "d", &keyless, too_much).await, ErrorKind::Invalid);
    engine.create_container(caller, "d", &keyless, Some(Throughput::Manual(4_000))).await.unwrap();
    let container = fixture.container("c");
    assert!(container.is_fixed());
    assert_eq!(container.ranges(caller).unwrap().ranges.len(), 1);
    let of_container = engine.list_offers(caller, None, None).unwrap().value.resources[1].clone();
    let body = set(&of_container, 5_000);
    engine.replace_offer(caller, &of_container.rid, &body, NONE, None).await.unwrap();
    assert!(!engine.offer_state(&of_container.rid).unwrap().pending);
    let body = set(&of_container, 5_100);
    let replaced = engine.replace_offer(caller, &of_container.rid, &body, NONE, None).await;
    refused(replaced, ErrorKind::Invalid);
    refused(engine.split(caller, "d", "c", None, None).await, ErrorKind::Invalid);
    assert_eq!(container.partition_bytes_max(), engine.limits().fixed_container_bytes);
    // The same when the account is opened again.
    let limits = Limits { physical_partition_ru: 1_000, ..Limits::default() };
    let fixture = fixture.reopen_with(EngineOptions { limits, ..unthrottled() }).await;
    assert_eq!(fixture.container("c").ranges(&fixture.caller).unwrap().ranges.len(), 1);
    assert!(!fixture.engine.partitions(&fixture.caller).unwrap()[0].pending);
}
