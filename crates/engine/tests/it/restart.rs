//! What survives opening an account again: everything.

use armilla_engine::{Content, ErrorKind, ItemName, ResourceKind, ResourcePrecondition, Throughput, check};

use crate::support::{Fixture, defined, partition_key, permitted, refused, value};

#[tokio::test]
async fn the_tree_comes_back_as_it_was() {
    let fixture = Fixture::with_container().await;
    let (engine, caller) = (&fixture.engine, &fixture.caller);
    engine.create_database(caller, "shared", Some(Throughput::Manual(1_000))).await.unwrap();
    let definition = value(
        r#"{"id":"rich","partitionKey":{"paths":["/a","/b"],"kind":"MultiHash","version":2},"defaultTtl":-1,
            "uniqueKeyPolicy":{"uniqueKeys":[{"paths":["/mail"]}]},
            "indexingPolicy":{"indexingMode":"consistent","includedPaths":[{"path":"/*"}],
            "compositeIndexes":[[{"path":"/x","order":"ascending"},{"path":"/y","order":"descending"}]]}}"#,
    );
    let autoscale = Some(Throughput::Autoscale { max: 30_000, increment_percent: Some(10) });
    engine.create_container(caller, "shared", defined(&definition), autoscale).await.unwrap();
    engine.create_user(caller, "d", "u").await.unwrap();
    let body = value(
        r#"{"id":"p","permissionMode":"Read","resource":"dbs/d/colls/c","resourcePartitionKey":["a"]}"#,
    );
    engine.create_permission(caller, "d", "u", &permitted(&body), None).await.unwrap();
    fixture.create_item(caller, "c", "1", "a").await.unwrap();

    let picture = |fixture: &Fixture| {
        let (engine, caller) = (&fixture.engine, &fixture.caller);
        let mut permission = engine.read_permission(caller, "d", "u", "p", None, None).unwrap().value;
        let Content::Permission(content) = &mut permission.content else { panic!("{permission:?}") };
        assert!(!std::mem::take(&mut content.token).is_empty());
        let item = fixture.read_item(caller, "c", "1", "a").unwrap().item;
        let rich = engine.container("shared", "rich").unwrap().container;
        (
            engine.list_databases(caller, None, None).unwrap().value,
            engine.list_containers(caller, "d", None, None).unwrap().value,
            engine.list_containers(caller, "shared", None, None).unwrap().value,
            engine.list_offers(caller, None, None).unwrap().value,
            engine.list_users(caller, "d", None, None).unwrap().value,
            permission,
            rich.ranges(caller).unwrap(),
            (*item.header(), item.stored().text().to_owned()),
        )
    };
    let before = picture(&fixture);
    let fixture = fixture.reopen().await;
    assert_eq!(picture(&fixture), before);
    assert_eq!(before.6.ranges.len(), 3);
    let created = fixture.create_container("next").await.unwrap().value;
    assert!(before.1.resources.iter().all(|container| container.rid != created.rid));
}

#[tokio::test]
async fn deleted_things_stay_deleted() {
    let fixture = Fixture::with_container().await;
    fixture.create_item(&fixture.caller, "c", "1", "a").await.unwrap();
    fixture.engine.delete_container(&fixture.caller, "d", "c", ResourcePrecondition::None).await.unwrap();
    let fixture = fixture.reopen().await;
    let gone = fixture.engine.read_container(&fixture.caller, "d", "c", None);
    refused(gone, ErrorKind::NotFound(ResourceKind::Container));
    fixture.create_container("c").await.unwrap();
    refused(fixture.read_item(&fixture.caller, "c", "1", "a"), ErrorKind::NotFound(ResourceKind::Item));
}

#[tokio::test]
async fn an_engine_whose_account_was_opened_again_is_fenced() {
    let first = Fixture::with_container().await;
    first.create_item(&first.caller, "c", "1", "a").await.unwrap();
    let old = first.engine.clone();
    let second = first.reopen().await;
    second.create_item(&second.caller, "c", "2", "a").await.unwrap();
    let container = old.container("d", "c").unwrap().container;
    let body = br#"{"id":"3","pk":"a"}"#;
    let key = partition_key("a");
    let (mode, none) = (armilla_engine::WriteMode::Create, Default::default());
    // However often the older owner tries, it must neither write nor take the partition back.
    for _ in 0..3 {
        let late = old
            .write_item(&second.caller, &container, mode, Some(&key), body.into(), Default::default(), &none)
            .await;
        refused(late, ErrorKind::RangeGone);
        assert!(old.create_database(&second.caller, "late", None).await.is_err());
    }
    second.create_item(&second.caller, "c", "4", "a").await.unwrap();
    second.engine.create_database(&second.caller, "e", None).await.unwrap();
    refused(second.read_item(&second.caller, "c", "3", "a"), ErrorKind::NotFound(ResourceKind::Item));
    let report = check(&second.engine, &mut |_, _| {}).unwrap();
    assert_eq!((report.items, report.problems), (3, vec![]));
}

#[tokio::test]
async fn check_counts_what_there_is() {
    let fixture = Fixture::with_container().await;
    for id in ["1", "2", "3"] {
        fixture.create_item(&fixture.caller, "c", id, "a").await.unwrap();
    }
    let container = fixture.engine.container("d", "c").unwrap().container;
    let (key, none) = (partition_key("a"), Default::default());
    let deleted = fixture.engine.delete_item(
        &fixture.caller,
        &container,
        ItemName::Id("2"),
        Some(&key),
        Default::default(),
        &none,
    );
    deleted.await.unwrap();
    let report = check(&fixture.engine, &mut |_, _| {}).unwrap();
    assert_eq!((report.databases, report.containers, report.partitions, report.items), (1, 1, 1, 2));
    assert_eq!(report.problems, Vec::<String>::new());
}

#[tokio::test]
async fn check_finds_what_belongs_to_nobody_and_starts_nothing() {
    let fixture = Fixture::with_container().await;
    fixture.create_item(&fixture.caller, "c", "1", "a").await.unwrap();
    let problems = |fixture: &Fixture| check(&fixture.engine, &mut |_, _| {}).unwrap().problems;
    assert_eq!(problems(&fixture), Vec::<String>::new());
    // A space whose container the tree has forgotten.
    fixture.create_container("other").await.unwrap();
    fixture.create_item(&fixture.caller, "other", "1", "a").await.unwrap();
    let root = fixture.store.open_space(armilla_kv::SpaceId(0)).unwrap();
    let rid = fixture.container("other").rid().to_string();
    let offer = 2u32.to_be_bytes();
    let mut batch = armilla_kv::Batch::new();
    batch.delete(armilla_kv::Family::Meta, [b"k", rid.as_bytes()].concat());
    batch.delete(armilla_kv::Family::Meta, [&b"o"[..], &offer].concat());
    root.commit(batch).await.unwrap();
    let options = crate::support::unthrottled();
    let engine = armilla_engine::Engine::open_at_rest(fixture.store.clone(), fixture.env.clone(), options);
    let report = check(&engine.await.unwrap(), &mut |_, _| {}).unwrap();
    assert_eq!(
        (report.containers, report.problems),
        (1, vec!["space 2 holds data and belongs to no container".to_owned()])
    );
}
