//! Databases, containers, offers and users.

use armilla_engine::{Content, ErrorKind, ItemName, ResourceKind, ResourcePrecondition, Throughput};
use armilla_value::rid::ItemRid;

use crate::support::{Fixture, defined, manual, offered, refused, value};

#[tokio::test]
async fn databases() {
    let fixture = Fixture::new().await;
    let (engine, caller) = (&fixture.engine, &fixture.caller);
    let created = engine.create_database(caller, "d", None).await.unwrap().value;
    assert_eq!(created.self_link, format!("dbs/{}/", created.rid));
    refused(
        engine.create_database(caller, "d", None).await,
        ErrorKind::AlreadyExists(ResourceKind::Database),
    );
    assert_eq!(engine.read_database(caller, "d", None).unwrap().value, created);
    assert_eq!(engine.read_database(caller, &created.rid, None).unwrap().value, created);
    refused(engine.read_database(caller, "d", Some(created.etag)), ErrorKind::NotModified);
    refused(engine.read_database(caller, "x", None), ErrorKind::NotFound(ResourceKind::Database));
    for id in ["", "a/b", "a\\b", "a?b", "a#b", "trailing ", &"x".repeat(256)] {
        refused(engine.create_database(caller, id, None).await, ErrorKind::Invalid);
    }
    engine.create_database(caller, &"x".repeat(255), None).await.unwrap();
    let stale = ResourcePrecondition::Version(None);
    refused(engine.delete_database(caller, "d", stale).await, ErrorKind::PreconditionFailed);
    let current = ResourcePrecondition::Version(Some(created.etag));
    engine.delete_database(caller, "d", current).await.unwrap();
    refused(engine.read_database(caller, "d", None), ErrorKind::NotFound(ResourceKind::Database));
    let again = engine.create_database(caller, "d", None).await.unwrap().value;
    assert_ne!(again.rid, created.rid, "resource ids are never used twice");
}

#[tokio::test]
async fn lists_come_in_pages_oldest_first() {
    let fixture = Fixture::new().await;
    for id in ["c", "a", "b", "e", "d"] {
        fixture.engine.create_database(&fixture.caller, id, None).await.unwrap();
    }
    let mut ids = Vec::new();
    let mut continuation: Option<String> = None;
    loop {
        let feed =
            fixture.engine.list_databases(&fixture.caller, Some(2), continuation.as_deref()).unwrap().value;
        assert!(feed.resources.len() <= 2);
        ids.extend(feed.resources.into_iter().map(|resource| resource.id));
        continuation = feed.continuation;
        if continuation.is_none() {
            break;
        }
    }
    assert_eq!(ids, ["c", "a", "b", "e", "d"]);
    refused(fixture.engine.list_databases(&fixture.caller, None, Some("nonsense")), ErrorKind::Invalid);
}

#[tokio::test]
async fn containers() {
    let fixture = Fixture::with_container().await;
    let (engine, caller) = (&fixture.engine, &fixture.caller);
    refused(fixture.create_container("c").await, ErrorKind::AlreadyExists(ResourceKind::Container));
    let definition = value(r#"{"id":"x","partitionKey":{"paths":["/pk"]}}"#);
    let missing = engine.create_container(caller, "none", defined(&definition), None).await;
    refused(missing, ErrorKind::OwnerNotFound(ResourceKind::Database));
    let created = engine.read_container(caller, "d", "c", None).unwrap().value;
    let Content::Container(definition) = &created.content else { panic!("{created:?}") };
    assert_eq!(definition.partition_key.version, armilla_value::HashVersion::V2);
    refused(engine.read_container(caller, "d", "x", None), ErrorKind::NotFound(ResourceKind::Container));
    // A container that is in the way of an item is an owner.
    assert!(
        engine
            .container("d", "x")
            .is_err_and(|error| error.kind == ErrorKind::OwnerNotFound(ResourceKind::Container))
    );

    let mut changed = (**definition).clone();
    changed.default_ttl = Some(60);
    let stale = ResourcePrecondition::Version(None);
    refused(
        engine.replace_container(caller, "d", "c", changed.clone(), stale).await,
        ErrorKind::PreconditionFailed,
    );
    let none = ResourcePrecondition::None;
    let replaced = engine.replace_container(caller, "d", "c", changed, none).await.unwrap().value;
    let Content::Container(definition) = &replaced.content else { panic!("{replaced:?}") };
    assert_eq!(definition.default_ttl, Some(60));
    assert_ne!(replaced.etag, created.etag);
    assert_eq!(replaced.rid, created.rid);
    let other_key = value(r#"{"id":"c","partitionKey":{"paths":["/other"]}}"#);
    refused(engine.replace_container(caller, "d", "c", defined(&other_key), none).await, ErrorKind::Invalid);
    assert_eq!(engine.read_container(caller, "d", "c", None).unwrap().value, replaced);
}

#[tokio::test]
async fn items_are_found_by_resource_ids() {
    let fixture = Fixture::with_container().await;
    let (engine, caller) = (&fixture.engine, &fixture.caller);
    fixture.create_item(caller, "c", "1", "a").await.unwrap();
    let by_name = fixture.read_item(caller, "c", "1", "a").unwrap().item;
    let database = engine.read_database(caller, "d", None).unwrap().value;
    let container = engine.read_container(caller, "d", "c", None).unwrap().value;
    let located = engine.container(&database.rid, &container.rid).unwrap();
    assert!(located.by_rid);
    let rid: ItemRid = by_name.rid(located.container.identity());
    let by_rid = engine.read_item(caller, &located.container, ItemName::Rid(rid), None, None).unwrap().item;
    assert_eq!(by_rid.stored().text(), by_name.stored().text());
    // A name below a resource id leads nowhere.
    assert!(engine.container(&database.rid, "c").is_err());
    let precondition = Default::default();
    let (name, none) = (ItemName::Rid(rid), Default::default());
    engine.delete_item(caller, &located.container, name, None, precondition, &none).await.unwrap();
    let gone = engine.read_item(caller, &located.container, ItemName::Rid(rid), None, None);
    refused(gone, ErrorKind::NotFound(ResourceKind::Item));
}

#[tokio::test]
async fn deleting_an_owner_deletes_all_below_it() {
    let fixture = Fixture::with_container().await;
    let (engine, caller) = (&fixture.engine, &fixture.caller);
    fixture.create_item(caller, "c", "1", "a").await.unwrap();
    let held = engine.container("d", "c").unwrap().container;
    let none = ResourcePrecondition::None;
    engine.delete_container(caller, "d", "c", none).await.unwrap();
    // A caller that still holds it is told that it is gone.
    let key = crate::support::partition_key("a");
    let read = engine.read_item(caller, &held, ItemName::Id("1"), Some(&key), None);
    refused(read, ErrorKind::OwnerNotFound(ResourceKind::Container));
    assert!(engine.list_offers(caller, None, None).unwrap().value.resources.is_empty());
    fixture.create_container("c").await.unwrap();
    refused(fixture.read_item(caller, "c", "1", "a"), ErrorKind::NotFound(ResourceKind::Item));
    engine.create_user(caller, "d", "u").await.unwrap();
    engine.delete_database(caller, "d", none).await.unwrap();
    engine.create_database(caller, "d", None).await.unwrap();
    assert!(engine.list_users(caller, "d", None, None).unwrap().value.resources.is_empty());
    assert!(engine.list_containers(caller, "d", None, None).unwrap().value.resources.is_empty());
    assert!(engine.list_offers(caller, None, None).unwrap().value.resources.is_empty());
}

/// A client deleted a container and made it again under the same name. It still held the session token of the
/// first, `0:-1#3`, and its next read was refused, because the second had only reached commit 0. Commit numbers of
/// a new container therefore begin above those of all deleted ones.
#[tokio::test]
async fn session_tokens_outlive_a_container_that_is_made_again() {
    let fixture = Fixture::with_container().await;
    let (engine, caller) = (&fixture.engine, &fixture.caller);
    for id in ["1", "2", "3"] {
        fixture.create_item(caller, "c", id, "a").await.unwrap();
    }
    let seen = fixture.read_item(caller, "c", "3", "a").unwrap().position;
    engine.delete_container(caller, "d", "c", ResourcePrecondition::None).await.unwrap();
    fixture.create_container("c").await.unwrap();
    let session = armilla_engine::SessionToken::from(seen);
    let caller = armilla_engine::Caller { session, ..armilla_engine::Caller::full() };
    refused(fixture.read_item(&caller, "c", "3", "a"), ErrorKind::NotFound(ResourceKind::Item));
    let written = fixture.create_item(&caller, "c", "3", "a").await.unwrap();
    assert_eq!(written.position.lsn, seen.lsn + 1);
    let usage = engine.container("d", "c").unwrap().container.usage(&caller).unwrap();
    assert_eq!(usage.items, 1);
    let fixture = fixture.reopen().await;
    assert_eq!(fixture.read_item(&caller, "c", "3", "a").unwrap().position.lsn, seen.lsn + 1);
}

#[tokio::test]
async fn throughput_and_ranges() {
    let fixture = Fixture::new().await;
    let (engine, caller) = (&fixture.engine, &fixture.caller);
    engine.create_database(caller, "d", None).await.unwrap();
    let definition =
        |id: &str| value(&format!(r#"{{"id":"{id}","partitionKey":{{"paths":["/deviceId"]}}}}"#));
    let large = Some(Throughput::Manual(20_000));
    engine.create_container(caller, "d", defined(&definition("two")), large).await.unwrap();
    let map = engine.container("d", "two").unwrap().container.ranges(caller).unwrap();
    assert_eq!(map.ranges.len(), 2);
    assert_eq!((map.ranges[0].min.as_str(), map.ranges[1].max.as_str()), ("", "FF"));
    assert_eq!(map.ranges[0].throughput_fraction, 0.5);
    for bad in [0, 399, 401, 1_000_100] {
        let result = engine
            .create_container(caller, "d", defined(&definition("bad")), Some(Throughput::Manual(bad)))
            .await;
        refused(result, ErrorKind::Invalid);
    }
    let autoscale = |max| Some(Throughput::Autoscale { max, increment_percent: None });
    refused(
        engine.create_container(caller, "d", defined(&definition("bad")), autoscale(1_500)).await,
        ErrorKind::Invalid,
    );
    engine.create_container(caller, "d", defined(&definition("auto")), autoscale(4_000)).await.unwrap();
    let offers = engine.list_offers(caller, None, None).unwrap().value.resources;
    assert_eq!(offers.len(), 2);
    let two = engine.read_container(caller, "d", "two", None).unwrap().value;
    assert_eq!(offered(&offers[0]).resource_link, two.self_link);
    assert!(matches!(offered(&offers[0]).throughput, Throughput::Manual(_)));
    assert_eq!(Some(offered(&offers[1]).throughput), autoscale(4_000));

    let none = ResourcePrecondition::None;
    let replaced = engine.replace_offer(caller, &offers[0].rid, manual(500), none).await.unwrap().value;
    assert_eq!(offered(&replaced).current, 500);
    refused(engine.replace_offer(caller, &offers[0].rid, manual(300), none).await, ErrorKind::Invalid);
    refused(
        engine.replace_offer(caller, "AAAA", manual(500), none).await,
        ErrorKind::NotFound(ResourceKind::Offer),
    );
    let big = engine.replace_offer(caller, &offers[0].rid, manual(100_000), none).await;
    big.unwrap();
    fixture.until_whole("two").await;
    let error =
        refused(engine.replace_offer(caller, &offers[0].rid, manual(900), none).await, ErrorKind::Invalid);
    assert!(error.message.contains("below the minimum of 1000"), "{error}");
}

#[tokio::test]
async fn containers_of_a_database_with_throughput_share_it() {
    let fixture = Fixture::new().await;
    let (engine, caller) = (&fixture.engine, &fixture.caller);
    engine.create_database(caller, "d", Some(Throughput::Manual(1_000))).await.unwrap();
    fixture.create_container("shared").await.unwrap();
    assert_eq!(engine.list_offers(caller, None, None).unwrap().value.resources.len(), 1);
    let definition = value(r#"{"id":"own","partitionKey":{"paths":["/pk"]}}"#);
    engine.create_container(caller, "d", defined(&definition), Some(Throughput::Manual(400))).await.unwrap();
    assert_eq!(engine.list_offers(caller, None, None).unwrap().value.resources.len(), 2);
}

#[tokio::test]
async fn users() {
    let fixture = Fixture::with_container().await;
    let (engine, caller) = (&fixture.engine, &fixture.caller);
    let created = engine.create_user(caller, "d", "u").await.unwrap().value;
    refused(engine.create_user(caller, "d", "u").await, ErrorKind::AlreadyExists(ResourceKind::User));
    assert_eq!(engine.read_user(caller, "d", "u", None).unwrap().value, created);
    let (touched, was_created) = engine.upsert_user(caller, "d", "u").await.unwrap();
    assert!(!was_created);
    assert_eq!(touched.value.rid, created.rid);
    let none = ResourcePrecondition::None;
    let renamed = engine.replace_user(caller, "d", "u", "v", none).await.unwrap().value;
    assert_eq!((renamed.id.as_str(), &renamed.rid), ("v", &created.rid));
    refused(engine.read_user(caller, "d", "u", None), ErrorKind::NotFound(ResourceKind::User));
    assert!(engine.upsert_user(caller, "d", "u").await.unwrap().1);
    refused(
        engine.replace_user(caller, "d", "v", "u", none).await,
        ErrorKind::AlreadyExists(ResourceKind::User),
    );
    engine.delete_user(caller, "d", "v", none).await.unwrap();
    assert_eq!(engine.list_users(caller, "d", None, None).unwrap().value.resources.len(), 1);
}
