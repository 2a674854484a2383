//! Offers: what they may be set to, and what they become.

use armilla_engine::{
    EngineOptions, ErrorKind, Limits, Migration, OfferChange, OfferState, Resource, ResourcePrecondition,
    Throughput,
};
use armilla_value::Value;

use crate::support::{Fixture, defined, manual, offered, refused, unthrottled, value};

const NONE: ResourcePrecondition = ResourcePrecondition::None;

fn keyed(id: &str) -> Value {
    value(&format!(r#"{{"id":"{id}","partitionKey":{{"paths":["/pk"]}}}}"#))
}

fn offer(fixture: &Fixture) -> Resource {
    fixture.engine.list_offers(&fixture.caller, None, None).unwrap().value.resources[0].clone()
}

/// Sets an offer's manual throughput, or its autoscale maximum.
async fn replace(fixture: &Fixture, throughput: u32) -> armilla_engine::Result<Resource> {
    let offer = offer(fixture);
    let wanted = match offered(&offer).throughput {
        Throughput::Manual(_) => Throughput::Manual(throughput),
        Throughput::Autoscale { increment_percent, .. } => {
            Throughput::Autoscale { max: throughput, increment_percent }
        }
    };
    change(fixture, OfferChange::Set(wanted)).await
}

async fn migrate(fixture: &Fixture, to: Migration) -> armilla_engine::Result<Resource> {
    change(fixture, OfferChange::Migrate(to)).await
}

async fn change(fixture: &Fixture, wanted: OfferChange) -> armilla_engine::Result<Resource> {
    let rid = offer(fixture).rid;
    Ok(fixture.engine.replace_offer(&fixture.caller, &rid, wanted, NONE).await?.value)
}

#[tokio::test]
async fn from_manual_to_autoscale_and_back() {
    let fixture = Fixture::with_container().await;
    let (engine, caller) = (&fixture.engine, &fixture.caller);
    replace(&fixture, 1_500).await.unwrap();
    refused(migrate(&fixture, Migration::ToManual).await, ErrorKind::Invalid);
    let migrated = migrate(&fixture, Migration::ToAutoscale).await.unwrap();
    let content = offered(&migrated);
    assert_eq!(content.throughput, Throughput::Autoscale { max: 2_000, increment_percent: None });
    assert_eq!(content.current, 200);
    assert_eq!(engine.read_offer(caller, &migrated.rid, None).unwrap().value, migrated);
    refused(migrate(&fixture, Migration::ToAutoscale).await, ErrorKind::Invalid);
    replace(&fixture, 9_000).await.unwrap();
    refused(replace(&fixture, 9_500).await, ErrorKind::Invalid);
    // It stays what it is when the account is opened again.
    let fixture = fixture.reopen().await;
    assert!(matches!(offered(&offer(&fixture)).throughput, Throughput::Autoscale { .. }));
    // What does not fit its kind is refused.
    refused(change(&fixture, manual(500)).await, ErrorKind::Invalid);
    let back = migrate(&fixture, Migration::ToManual).await.unwrap();
    assert_eq!((offered(&back).throughput, offered(&back).current), (Throughput::Manual(9_000), 9_000));
    let state = fixture.engine.offer_state(&back.rid).unwrap();
    assert_eq!(state, OfferState { pending: false, minimum: 400 });
}

#[tokio::test]
async fn what_is_stored_is_told_and_remembered() {
    let fixture = Fixture::with_container().await;
    let stored = |fixture: &Fixture| offered(&offer(fixture)).stored_ever_kb;
    assert_eq!(stored(&fixture), 0);
    let body = format!(r#"{{"id":"1","pk":"a","text":"{}"}}"#, "x".repeat(10_000));
    fixture.upsert("a", &body).await;
    let usage = fixture.container("c").usage(&fixture.caller).unwrap();
    assert!(usage.bytes > 10_000 && usage.index_bytes > 0, "{usage:?}");
    let expected = (usage.bytes + usage.index_bytes).div_ceil(1_024);
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
    for number in 0..Limits::default().sharing_containers_max {
        fixture.create_container(&format!("c{number}")).await.unwrap();
    }
    let error = refused(fixture.create_container("more").await, ErrorKind::Invalid);
    assert!(error.message.contains("at least 500"), "{error}");
    // One with throughput of its own does not share.
    engine.create_container(caller, "d", defined(&keyed("own")), Some(Throughput::DEFAULT)).await.unwrap();
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
    refused(engine.create_container(caller, "shared", defined(&keyless), None).await, ErrorKind::Invalid);
    let too_much = Some(Throughput::Manual(5_100));
    refused(engine.create_container(caller, "d", defined(&keyless), too_much).await, ErrorKind::Invalid);
    engine.create_container(caller, "d", defined(&keyless), Some(Throughput::Manual(4_000))).await.unwrap();
    let container = fixture.container("c");
    assert!(container.is_fixed());
    assert_eq!(container.ranges(caller).unwrap().ranges.len(), 1);
    let of_container = engine.list_offers(caller, None, None).unwrap().value.resources[1].clone();
    let wanted = manual(5_000);
    engine.replace_offer(caller, &of_container.rid, wanted, NONE).await.unwrap();
    assert!(!engine.offer_state(&of_container.rid).unwrap().pending);
    let wanted = manual(5_100);
    let replaced = engine.replace_offer(caller, &of_container.rid, wanted, NONE).await;
    refused(replaced, ErrorKind::Invalid);
    refused(engine.split(caller, "d", "c", None, None).await, ErrorKind::Invalid);
    assert_eq!(container.partition_bytes_max(), engine.limits().fixed_container_bytes);
    // The same when the account is opened again.
    let limits = Limits { physical_partition_ru: 1_000, ..Limits::default() };
    let fixture = fixture.reopen_with(EngineOptions { limits, ..unthrottled() }).await;
    assert_eq!(fixture.container("c").ranges(&fixture.caller).unwrap().ranges.len(), 1);
    assert!(!fixture.engine.partitions(&fixture.caller).unwrap()[0].pending);
}
