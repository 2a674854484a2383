//! Queries through the engine: policies that change under them, computed properties, conditions of patches.

use std::sync::Arc;

use armilla_engine::{
    ContainerHandle, ErrorKind, IdRange, ItemName, ListScope, Operation, PageRequest, Patch, Pointer,
    Precondition, QueryPage, QueryRequest, ResourcePrecondition, WriteMode,
};
use armilla_value::Value;

use crate::support::{Fixture, defined, partition_key, value};

const ITEMS: usize = 250;

async fn fixture(definition: &str) -> (Fixture, Arc<ContainerHandle>) {
    let fixture = Fixture::new().await;
    fixture.engine.create_database(&fixture.caller, "d", None).await.unwrap();
    fixture.engine.create_container(&fixture.caller, "d", defined(&value(definition)), None).await.unwrap();
    let container = fixture.engine.container("d", "c").unwrap().container;
    for number in 0..ITEMS {
        let body = format!(
            r#"{{"id":"{number}","pk":"p{}","n":{number},"name":"Name {}"}}"#,
            number % 7,
            number % 10
        );
        upsert(&fixture, &container, &format!("p{}", number % 7), &body).await;
    }
    (fixture, container)
}

async fn upsert(fixture: &Fixture, container: &Arc<ContainerHandle>, key: &str, body: &str) {
    let key = partition_key(key);
    let (mode, free) = (WriteMode::Upsert, Precondition::None);
    let (body, none) = (body.as_bytes(), Default::default());
    let written =
        fixture.engine.write_item(&fixture.caller, container, mode, Some(&key), body.into(), free, &none);
    written.await.unwrap();
}

async fn query(fixture: &Fixture, container: &Arc<ContainerHandle>, text: &str) -> QueryPage {
    let request = QueryRequest { rows_max: Some(1_000), ..QueryRequest::new(text) };
    fixture.engine.query_items(&fixture.caller, container, request).await.unwrap()
}

fn rows(page: &QueryPage) -> String {
    String::from_utf8(page.rows.clone()).unwrap()
}

#[tokio::test]
async fn a_list_by_ids_costs_what_a_query_costs() {
    let (fixture, container) = fixture(r#"{"id":"c","partitionKey":{"paths":["/pk"]}}"#).await;
    let scope = || ListScope::PartitionKey(partition_key("p3"));
    let request = QueryRequest { scope: scope(), ..QueryRequest::new("SELECT * FROM c") };
    let queried = fixture.engine.query_items(&fixture.caller, &container, request).await.unwrap();
    let request = PageRequest { scope: scope(), items_max: Some(ITEMS), continuation: None };
    let listed =
        fixture.engine.list_items_by_id(&fixture.caller, &container, request, &IdRange::ALL).unwrap();
    assert_eq!(listed.items.len(), queried.row_count());
    assert_eq!(listed.charge, queried.charge);
}

#[tokio::test]
async fn a_changed_policy_is_carried_out_while_queries_stay_right() {
    let definition = |policy: &str| {
        format!(r#"{{"id":"c","partitionKey":{{"paths":["/pk"]}},"indexingPolicy":{policy}}}"#)
    };
    let narrow = r#"{"includedPaths":[{"path":"/pk/?"}],"excludedPaths":[{"path":"/*"}]}"#;
    let (fixture, container) = fixture(&definition(narrow)).await;
    let text = "SELECT VALUE c.n FROM c WHERE c.n >= 200 AND c.n < 203";
    let before = query(&fixture, &container, text).await;
    assert_eq!((rows(&before).as_str(), before.metrics.retrieved_count), ("200,201,202", ITEMS as u64));
    assert_eq!(fixture.engine.index_progress(&container).unwrap(), 100);

    let wide = value(&definition(r#"{"includedPaths":[{"path":"/*"}]}"#));
    let free = ResourcePrecondition::default();
    fixture.engine.replace_container(&fixture.caller, "d", "c", defined(&wide), free).await.unwrap();
    assert!(fixture.engine.index_progress(&container).unwrap() < 100);
    let mut rounds = 0;
    while fixture.engine.index_progress(&container).unwrap() < 100 {
        assert_eq!(rows(&query(&fixture, &container, text).await), "200,201,202", "round {rounds}");
        // Writes go on meanwhile.
        upsert(&fixture, &container, "p1", &format!(r#"{{"id":"new{rounds}","pk":"p1","n":-1}}"#)).await;
        rounds += 1;
        assert!(rounds < 10_000, "the index is never complete");
        tokio::task::yield_now().await;
    }
    let after = query(&fixture, &container, text).await;
    assert_eq!((rows(&after).as_str(), after.metrics.retrieved_count), ("200,201,202", 3));
    assert!(after.charge < before.charge, "{} and {}", after.charge, before.charge);
    let new = query(&fixture, &container, "SELECT VALUE COUNT(1) FROM c WHERE c.n = -1").await;
    assert_eq!(rows(&new), rounds.to_string());
    fixture.engine.close().await.unwrap();
}

#[tokio::test]
async fn an_interrupted_change_goes_on_after_a_restart() {
    let definition = |policy: &str| {
        format!(r#"{{"id":"c","partitionKey":{{"paths":["/pk"]}},"indexingPolicy":{policy}}}"#)
    };
    let narrow = r#"{"includedPaths":[{"path":"/pk/?"}],"excludedPaths":[{"path":"/*"}]}"#;
    let (fixture, container) = fixture(&definition(narrow)).await;
    let wide = value(&definition(r#"{"includedPaths":[{"path":"/*"}]}"#));
    let free = ResourcePrecondition::default();
    fixture.engine.replace_container(&fixture.caller, "d", "c", defined(&wide), free).await.unwrap();
    drop(container);
    let fixture = fixture.reopen().await;
    let container = fixture.engine.container("d", "c").unwrap().container;
    let text = "SELECT VALUE c.n FROM c WHERE c.n = 77";
    for round in 0.. {
        let page = query(&fixture, &container, text).await;
        assert_eq!(rows(&page), "77", "round {round}");
        if fixture.engine.index_progress(&container).unwrap() == 100 {
            assert_eq!(query(&fixture, &container, text).await.metrics.retrieved_count, 1);
            break;
        }
        assert!(round < 10_000, "the index is never complete");
        tokio::task::yield_now().await;
    }
    fixture.engine.close().await.unwrap();
}

#[tokio::test]
async fn computed_properties_are_indexed_where_the_policy_names_them() {
    let definition = r#"{"id":"c","partitionKey":{"paths":["/pk"]},
        "indexingPolicy":{"includedPaths":[{"path":"/*"},{"path":"/lower/?"}]},
        "computedProperties":[{"name":"lower","query":"SELECT VALUE LOWER(c.name) FROM c"}]}"#;
    let (fixture, container) = fixture(definition).await;
    let page = query(&fixture, &container, "SELECT VALUE COUNT(1) FROM c WHERE c.lower = 'name 3'").await;
    assert_eq!(rows(&page), "25");
    let page =
        query(&fixture, &container, "SELECT VALUE c.n FROM c WHERE c.lower = 'name 3' AND c.n < 30").await;
    assert_eq!((rows(&page).as_str(), page.metrics.retrieved_count), ("3,13,23", 3));
    let wrong = definition.replace("SELECT VALUE LOWER(c.name) FROM c", "SELECT VALUE COUNT(1) FROM c");
    let wrong = value(&wrong.replace("\"id\":\"c\"", "\"id\":\"other\""));
    let refused =
        fixture.engine.create_container(&fixture.caller, "d", defined(&wrong), None).await.unwrap_err();
    assert_eq!(refused.kind, ErrorKind::Invalid, "{refused}");
}

#[tokio::test]
async fn patches_depend_on_their_condition() {
    let (fixture, container) = fixture(r#"{"id":"c","partitionKey":{"paths":["/pk"]}}"#).await;
    let patch = |condition: &'static str| {
        let set = Operation::Set { path: Pointer::parse("/done").unwrap(), value: Value::Bool(true) };
        let patch = Patch::new(vec![set], 10).unwrap();
        let (engine, caller, container) = (&fixture.engine, &fixture.caller, &container);
        async move {
            let key = partition_key("p3");
            let (name, free) = (ItemName::Id("3"), Precondition::None);
            engine.patch_item(caller, container, name, Some(&key), patch, Some(condition), free).await
        }
    };
    let kind =
        |outcome: Result<armilla_engine::Written, armilla_engine::Error>| outcome.map_err(|error| error.kind);
    assert!(patch("FROM c WHERE c.n = 3 AND IS_DEFINED(c._etag)").await.is_ok());
    assert_eq!(kind(patch("from c where c.n = 4").await).err(), Some(ErrorKind::PreconditionFailed));
    assert_eq!(
        kind(patch("SELECT * FROM c WHERE c.missing").await).err(),
        Some(ErrorKind::PreconditionFailed)
    );
    assert_eq!(kind(patch("FROM c WHERE").await).err(), Some(ErrorKind::BadQuery));
    assert_eq!(kind(patch("FROM c").await).err(), Some(ErrorKind::Invalid));
    assert_eq!(kind(patch("FROM c JOIN t IN c.n WHERE true").await).err(), Some(ErrorKind::BadQuery));
}

/// A condition that holds, but takes more steps than one item may: it counts as not holding.
#[tokio::test]
async fn conditions_of_too_many_steps_do_not_hold() {
    let (fixture, container) = fixture(r#"{"id":"c","partitionKey":{"paths":["/pk"]}}"#).await;
    let condition = "FROM c WHERE NOT EXISTS(SELECT VALUE 1 FROM a IN c.list JOIN b IN c.list JOIN d IN c.list \
                     WHERE a + b + d < 0)";
    for (id, elements, expected) in [("few", 30, None), ("many", 280, Some(ErrorKind::PreconditionFailed))] {
        let list: Vec<String> = (0..elements).map(|element: u32| element.to_string()).collect();
        fixture.upsert("p", &format!(r#"{{"id":"{id}","pk":"p","list":[{}]}}"#, list.join(","))).await;
        let set = Operation::Set { path: Pointer::parse("/done").unwrap(), value: Value::Bool(true) };
        let patch = Patch::new(vec![set], 10).unwrap();
        let (name, key) = (ItemName::Id(id), partition_key("p"));
        let (caller, free) = (&fixture.caller, Precondition::None);
        let patched =
            fixture.engine.patch_item(caller, &container, name, Some(&key), patch, Some(condition), free);
        assert_eq!(patched.await.err().map(|error| error.kind), expected, "{id}");
        let is_done = fixture.item("p", id).unwrap().get("done").is_some();
        assert_eq!(is_done, expected.is_none(), "{id}");
    }
}

#[tokio::test]
async fn queries_stay_inside_their_scope() {
    let (fixture, container) = fixture(r#"{"id":"c","partitionKey":{"paths":["/pk"]}}"#).await;
    let scope = ListScope::PartitionKey(partition_key("p2"));
    let request = QueryRequest { scope, ..QueryRequest::new("SELECT VALUE COUNT(1) FROM c WHERE c.n < 100") };
    let page = fixture.engine.query_items(&fixture.caller, &container, request).await.unwrap();
    assert_eq!(rows(&page), "14");
    // A filter on the key narrows as well, and needs no permission to cross partitions.
    let mut request = QueryRequest::new("SELECT VALUE c.n FROM c WHERE c.pk = 'p2' AND c.id = '9'");
    request.cross_partition = false;
    let page = fixture.engine.query_items(&fixture.caller, &container, request).await.unwrap();
    assert_eq!((rows(&page).as_str(), page.metrics.retrieved_count), ("9", 1));
    let mut request = QueryRequest::new("SELECT VALUE c.n FROM c WHERE c.n = 9");
    request.cross_partition = false;
    let refused = fixture.engine.query_items(&fixture.caller, &container, request).await.unwrap_err();
    assert_eq!(refused.kind, ErrorKind::CrossPartition, "{refused}");
}
