//! Permissions, resource tokens, keys for reading, consistency.

use std::time::Duration;

use armilla_engine::{
    Access, BucketShares, Caller, Consistency, DataRole, ErrorKind, ListScope, PageRequest, Precondition,
    QueryRequest, ResourceKind, ResourcePrecondition, Triggers, WriteMode,
};

use crate::support::{Fixture, partition_key, permitted, refused, value};

async fn permission(fixture: &Fixture, body: &str) -> Result<Caller, armilla_engine::Error> {
    let seconds = Some(60);
    let answer = fixture
        .engine
        .create_permission(&fixture.caller, "d", "u", &permitted(&value(body)), seconds)
        .await?;
    let token = crate::support::token(&answer.value);
    let grant = fixture.engine.authorize_token(&token)?;
    Ok(Caller { access: Access::Granted(grant), ..Caller::full() })
}

async fn fixture() -> Fixture {
    let fixture = Fixture::with_container().await;
    fixture.create_container("other").await.unwrap();
    fixture.engine.create_user(&fixture.caller, "d", "u").await.unwrap();
    for key in ["a", "b"] {
        fixture.create_item(&fixture.caller, "c", "1", key).await.unwrap();
    }
    fixture
}

#[tokio::test]
async fn a_permission_to_read_reads_one_container() {
    let fixture = fixture().await;
    let body = r#"{"id":"p","permissionMode":"Read","resource":"dbs/d/colls/c"}"#;
    let caller = permission(&fixture, body).await.unwrap();
    fixture.read_item(&caller, "c", "1", "a").unwrap();
    fixture.engine.read_container(&caller, "d", "c", None).unwrap();
    fixture.engine.container("d", "c").unwrap().container.ranges(&caller).unwrap();
    refused(fixture.create_item(&caller, "c", "2", "a").await, ErrorKind::Forbidden);
    refused(fixture.read_item(&caller, "other", "1", "a"), ErrorKind::Forbidden);
    refused(fixture.engine.read_container(&caller, "d", "other", None), ErrorKind::Forbidden);
    refused(fixture.engine.read_database(&caller, "d", None), ErrorKind::Forbidden);
    let none = ResourcePrecondition::None;
    refused(fixture.engine.delete_container(&caller, "d", "c", none).await, ErrorKind::Forbidden);
}

#[tokio::test]
async fn a_permission_for_all_writes_items() {
    let fixture = fixture().await;
    let link = fixture.engine.read_container(&fixture.caller, "d", "c", None).unwrap().value.self_link;
    let body = format!(r#"{{"id":"p","permissionMode":"All","resource":"{link}"}}"#);
    let caller = permission(&fixture, &body).await.unwrap();
    fixture.create_item(&caller, "c", "2", "a").await.unwrap();
    refused(
        fixture.create_container("x").await.and(fixture.engine.read_database(&caller, "d", None)),
        ErrorKind::Forbidden,
    );
}

#[tokio::test]
async fn a_permission_can_be_for_one_partition_or_one_item() {
    let fixture = fixture().await;
    let body = r#"{"id":"p","permissionMode":"All","resource":"dbs/d/colls/c","resourcePartitionKey":["a"]}"#;
    let caller = permission(&fixture, body).await.unwrap();
    fixture.read_item(&caller, "c", "1", "a").unwrap();
    fixture.create_item(&caller, "c", "2", "a").await.unwrap();
    refused(fixture.read_item(&caller, "c", "1", "b"), ErrorKind::Forbidden);
    let container = fixture.engine.container("d", "c").unwrap().container;
    let all = PageRequest { scope: ListScope::All, items_max: None, continuation: None };
    let page = fixture.engine.list_items(&caller, &container, all).unwrap();
    assert_eq!(page.items.len(), 2, "a list sees the one partition");

    let body =
        r#"{"id":"q","permissionMode":"All","resource":"dbs/d/colls/c/docs/1","resourcePartitionKey":["b"]}"#;
    let caller = permission(&fixture, body).await.unwrap();
    fixture.read_item(&caller, "c", "1", "b").unwrap();
    refused(fixture.read_item(&caller, "c", "1", "a"), ErrorKind::Forbidden);
    refused(fixture.read_item(&caller, "c", "2", "b"), ErrorKind::Forbidden);
    refused(fixture.create_item(&caller, "c", "3", "b").await, ErrorKind::Forbidden);
    refused(fixture.engine.read_container(&caller, "d", "c", None), ErrorKind::Forbidden);
}

/// Two items had the same id and different partition keys. A permission for one, by its `_self`, opened the other, too.
#[tokio::test]
async fn a_permission_for_an_item_by_resource_id_is_for_that_item() {
    let fixture = fixture().await;
    let found = fixture.read_item(&fixture.caller, "c", "1", "a").unwrap().item;
    let mut text = Vec::new();
    found.write_json(fixture.container("c").identity(), &mut text);
    let link = value(std::str::from_utf8(&text).unwrap()).get("_self").unwrap().as_str().unwrap().to_owned();
    let body = |more: &str| format!(r#"{{"id":"p","permissionMode":"All","resource":"{link}"{more}}}"#);
    let other = body(r#","resourcePartitionKey":["b"]"#);
    refused(permission(&fixture, &other).await, ErrorKind::Invalid);
    for more in ["", r#","resourcePartitionKey":["a"]"#] {
        let caller = permission(&fixture, &body(more)).await.unwrap();
        fixture.read_item(&caller, "c", "1", "a").unwrap();
        refused(fixture.read_item(&caller, "c", "1", "b"), ErrorKind::Forbidden);
        refused(fixture.create_item(&caller, "c", "1", "z").await, ErrorKind::Forbidden);
        let none = ResourcePrecondition::None;
        fixture.engine.delete_permission(&fixture.caller, "d", "u", "p", none).await.unwrap();
    }
    // By name the partition key has to be said.
    let body = r#"{"id":"p","permissionMode":"All","resource":"dbs/d/colls/c/docs/1"}"#;
    refused(permission(&fixture, body).await, ErrorKind::Invalid);
}

/// With the key that only reads, a permission was read, and came with a token that writes.
#[tokio::test]
async fn a_key_for_reading_makes_no_tokens() {
    let fixture = fixture().await;
    let body = r#"{"id":"p","permissionMode":"All","resource":"dbs/d/colls/c"}"#;
    let granted = permission(&fixture, body).await.unwrap();
    let reader = Caller { access: Access::ReadOnly, ..Caller::full() };
    let engine = &fixture.engine;
    for caller in [&reader, &granted] {
        let none = ResourcePrecondition::None;
        refused(engine.read_permission(caller, "d", "u", "p", None, None), ErrorKind::Forbidden);
        refused(engine.read_permission(caller, "d", "u", "missing", None, None), ErrorKind::Forbidden);
        refused(engine.list_permissions(caller, "d", "u", None, None), ErrorKind::Forbidden);
        refused(engine.list_permissions(caller, "d", "missing", None, None), ErrorKind::Forbidden);
        let body = value(body);
        refused(
            engine.create_permission(caller, "d", "u", &permitted(&body), None).await,
            ErrorKind::Forbidden,
        );
        refused(
            engine.upsert_permission(caller, "d", "missing", &permitted(&body), None).await,
            ErrorKind::Forbidden,
        );
        let replaced = engine.replace_permission(caller, "d", "u", "p", &permitted(&body), None, none).await;
        refused(replaced, ErrorKind::Forbidden);
        refused(engine.delete_permission(caller, "d", "u", "p", none).await, ErrorKind::Forbidden);
    }
    engine.list_users(&reader, "d", None, None).unwrap();
}

/// A caller with a token learns nothing of what is outside of its scope.
#[tokio::test]
async fn what_is_outside_of_a_scope_is_answered_the_same_whether_it_exists_or_not() {
    let fixture = fixture().await;
    let body = r#"{"id":"p","permissionMode":"All","resource":"dbs/d/colls/c","resourcePartitionKey":["a"]}"#;
    let caller = permission(&fixture, body).await.unwrap();
    let engine = &fixture.engine;
    let message = |error: Option<armilla_engine::Error>| error.map(|error| (error.kind, error.message));
    for (exists, missing) in [("other", "missing"), ("c", "missing")] {
        let read = |name| message(engine.read_container(&caller, "d", name, None).err());
        if exists == "other" {
            assert_eq!(read(exists), read(missing));
        }
        let scripts = |name| {
            let kind = armilla_engine::ScriptKind::StoredProcedure;
            message(engine.list_scripts(&caller, "d", name, kind, None, None).err())
        };
        assert_eq!(scripts(exists), scripts(missing));
        assert!(scripts(missing).is_some());
    }
    // An item of another partition, by its resource id, and one that was deleted.
    let container = fixture.container("c");
    let rid = |id: &str, key: &str| {
        let found = fixture.read_item(&fixture.caller, "c", id, key).unwrap().item;
        armilla_value::rid::ItemRid::new(container.rid(), found.header().number).unwrap()
    };
    let exists = rid("1", "b");
    fixture.create_item(&fixture.caller, "c", "gone", "b").await.unwrap();
    let gone = rid("gone", "b");
    let (name, key) = (armilla_engine::ItemName::Id("gone"), crate::support::partition_key("b"));
    let (none, triggers) = (armilla_engine::Precondition::None, armilla_engine::Triggers::default());
    let deleted = engine.delete_item(&fixture.caller, &container, name, Some(&key), none, &triggers).await;
    deleted.unwrap();
    let read = |rid| {
        let name = armilla_engine::ItemName::Rid(rid);
        message(engine.read_item(&caller, &container, name, None, None).err())
    };
    assert_eq!(read(exists), read(gone));
    assert!(read(gone).is_some_and(|(kind, _)| kind == ErrorKind::Forbidden));
}

/// A container that is made again under the same name is another; so is what a position in its list leads to.
#[tokio::test]
async fn tokens_end_with_their_container() {
    let fixture = fixture().await;
    let body = r#"{"id":"p","permissionMode":"All","resource":"dbs/d/colls/other"}"#;
    let caller = permission(&fixture, body).await.unwrap();
    fixture.engine.read_container(&caller, "d", "other", None).unwrap();
    let none = ResourcePrecondition::None;
    fixture.engine.delete_container(&fixture.caller, "d", "other", none).await.unwrap();
    refused(fixture.engine.read_container(&caller, "d", "other", None), ErrorKind::Forbidden);
    fixture.create_container("other").await.unwrap();
    refused(fixture.engine.read_container(&caller, "d", "other", None), ErrorKind::Forbidden);
    refused(fixture.create_item(&caller, "other", "1", "a").await, ErrorKind::Forbidden);
}

/// As the service has it: a token lives to its end, whatever becomes of the permission.
#[tokio::test]
async fn tokens_outlive_their_permission() {
    let fixture = fixture().await;
    let body = r#"{"id":"p","permissionMode":"All","resource":"dbs/d/colls/c"}"#;
    let caller = permission(&fixture, body).await.unwrap();
    let none = ResourcePrecondition::None;
    fixture.engine.delete_permission(&fixture.caller, "d", "u", "p", none).await.unwrap();
    fixture.create_item(&caller, "c", "2", "a").await.unwrap();
}

/// A position of a caller that sees everything, in the hands of a caller that sees one partition.
#[tokio::test]
async fn positions_of_others_lead_to_nothing_outside_of_a_scope() {
    let fixture = fixture().await;
    for number in 0..20 {
        for key in ["a", "b"] {
            fixture.create_item(&fixture.caller, "c", &format!("n{number}"), key).await.unwrap();
        }
    }
    let body =
        r#"{"id":"p","permissionMode":"Read","resource":"dbs/d/colls/c","resourcePartitionKey":["a"]}"#;
    let caller = permission(&fixture, body).await.unwrap();
    let container = fixture.container("c");
    let mut continuation = None;
    loop {
        let all = PageRequest { scope: ListScope::All, items_max: Some(3), continuation };
        let page = fixture.engine.list_items(&fixture.caller, &container, all).unwrap();
        let Some(next) = page.continuation else { break };
        let stolen =
            PageRequest { scope: ListScope::All, items_max: Some(100), continuation: Some(next.clone()) };
        // It is refused, or goes on in the own partition.
        if let Ok(page) = fixture.engine.list_items(&caller, &container, stolen) {
            for item in page.items {
                let key = item.stored().root().get("pk").and_then(|key| key.as_str()).unwrap().into_owned();
                assert_eq!(key, "a");
            }
        }
        continuation = Some(next);
    }
}

/// The clock was ahead when a token was made: it would have been good until the clock is there again.
#[tokio::test]
async fn tokens_of_a_clock_that_was_ahead_are_refused() {
    let fixture = fixture().await;
    let body = value(r#"{"id":"p","permissionMode":"Read","resource":"dbs/d/colls/c"}"#);
    fixture.engine.create_permission(&fixture.caller, "d", "u", &permitted(&body), None).await.unwrap();
    let token = |fixture: &Fixture| {
        let read = fixture.engine.read_permission(&fixture.caller, "d", "u", "p", Some(60), None).unwrap();
        crate::support::token(&read.value)
    };
    fixture.clock.set_ms(fixture.env.clock.now_ms() + 3_600_000);
    let early = token(&fixture);
    fixture.engine.authorize_token(&early).unwrap();
    fixture.clock.set_ms(fixture.env.clock.now_ms() - 3_600_000);
    refused(fixture.engine.authorize_token(&early), ErrorKind::Forbidden);
    fixture.engine.authorize_token(&token(&fixture)).unwrap();
    // Machines that agree to within minutes do.
    fixture.clock.set_ms(fixture.env.clock.now_ms() - 299_000);
    let near = token(&fixture);
    fixture.clock.set_ms(fixture.env.clock.now_ms() - 299_000);
    fixture.engine.authorize_token(&near).unwrap();
}

#[tokio::test]
async fn permissions_are_checked_when_made() {
    let fixture = fixture().await;
    for (body, kind) in [
        (r#"{"id":"","permissionMode":"Read","resource":"dbs/d/colls/c"}"#, ErrorKind::Invalid),
        (r#"{"id":"p","permissionMode":"Read","resource":"dbs/d"}"#, ErrorKind::Invalid),
        (
            r#"{"id":"p","permissionMode":"Read","resource":"dbs/d/colls/x"}"#,
            ErrorKind::OwnerNotFound(ResourceKind::Container),
        ),
    ] {
        refused(permission(&fixture, body).await, kind);
    }
    permission(&fixture, r#"{"id":"p","permissionMode":"Read","resource":"dbs/d/colls/c"}"#).await.unwrap();
    // One permission for one resource.
    let second =
        permission(&fixture, r#"{"id":"q","permissionMode":"All","resource":"dbs/d/colls/c"}"#).await;
    refused(second, ErrorKind::AlreadyExists(ResourceKind::Permission));
    let body = value(r#"{"id":"q","permissionMode":"All","resource":"dbs/d/colls/c"}"#);
    let (engine, caller) = (&fixture.engine, &fixture.caller);
    let none = ResourcePrecondition::None;
    let replaced =
        engine.replace_permission(caller, "d", "u", "p", &permitted(&body), None, none).await.unwrap().value;
    assert_eq!(replaced.id, "q");
    engine.read_permission(caller, "d", "u", "q", None, None).unwrap();
    assert_eq!(engine.list_permissions(caller, "d", "u", None, None).unwrap().value.resources.len(), 1);
    engine.delete_permission(caller, "d", "u", "q", none).await.unwrap();
    refused(
        engine.read_permission(caller, "d", "u", "q", None, None),
        ErrorKind::NotFound(ResourceKind::Permission),
    );
    for seconds in [0, 9, 86_401] {
        refused(
            engine.create_permission(caller, "d", "u", &permitted(&body), Some(seconds)).await,
            ErrorKind::Invalid,
        );
    }
}

#[tokio::test]
async fn tokens_expire_and_cannot_be_forged() {
    let fixture = fixture().await;
    let body = value(r#"{"id":"p","permissionMode":"Read","resource":"dbs/d/colls/c"}"#);
    let answer = fixture
        .engine
        .create_permission(&fixture.caller, "d", "u", &permitted(&body), Some(10))
        .await
        .unwrap();
    let token = crate::support::token(&answer.value);
    fixture.engine.authorize_token(&token).unwrap();
    for position in token.find("sig=").unwrap() + 4..token.len() - 1 {
        let mut forged = token.clone().into_bytes();
        forged[position] = if forged[position] == b'A' { b'B' } else { b'A' };
        let result = fixture.engine.authorize_token(&String::from_utf8(forged).unwrap());
        refused(result, ErrorKind::Unauthenticated);
    }
    for nonsense in ["", ";", ";;", "a;b;", &"x".repeat(100_000)] {
        refused(fixture.engine.authorize_token(nonsense), ErrorKind::Unauthenticated);
    }
    fixture.clock.advance(Duration::from_secs(10));
    refused(fixture.engine.authorize_token(&token), ErrorKind::Forbidden);
}

#[tokio::test]
async fn a_key_for_reading_reads_everything_and_writes_nothing() {
    let fixture = fixture().await;
    let caller = Caller { access: Access::ReadOnly, ..Caller::full() };
    fixture.read_item(&caller, "c", "1", "a").unwrap();
    fixture.engine.list_databases(&caller, None, None).unwrap();
    refused(fixture.create_item(&caller, "c", "9", "a").await, ErrorKind::Forbidden);
    refused(fixture.engine.create_database(&caller, "x", None).await, ErrorKind::Forbidden);
}

#[tokio::test]
async fn consistency_can_only_be_weakened() {
    let fixture = fixture().await;
    for level in Consistency::ALL {
        let caller = Caller { consistency: Some(level), ..Caller::full() };
        let result = fixture.read_item(&caller, "c", "1", "a");
        if level > Consistency::Session {
            refused(result, ErrorKind::Invalid);
        } else {
            assert_eq!(result.unwrap().charge.to_string(), "1.00");
        }
    }
}

#[tokio::test]
async fn roles_are_for_data_alone() {
    let fixture = Fixture::with_container().await;
    fixture.upsert("k", r#"{"id":"1","pk":"k"}"#).await;
    let container = fixture.container("c");
    let key = partition_key("k");
    for (role, of_writing) in [(DataRole::Reader, Some(ErrorKind::BeyondRole)), (DataRole::Contributor, None)]
    {
        let caller = Caller { access: Access::Role(role), ..Caller::full() };
        assert!(fixture.read_item(&caller, "c", "1", "k").is_ok(), "{role:?}");
        assert!(fixture.engine.read_container(&caller, "d", "c", None).is_ok(), "{role:?}");
        let query = QueryRequest::new("SELECT * FROM c");
        assert!(fixture.engine.query_items(&caller, &container, query).await.is_ok(), "{role:?}");
        let (body, none) = (r#"{"id":"2","pk":"k"}"#, Precondition::None);
        let (mode, triggers) = (WriteMode::Upsert, Triggers::default());
        let written = fixture.engine.write_item(
            &caller,
            &container,
            mode,
            Some(&key),
            body.as_bytes().into(),
            none,
            &triggers,
        );
        assert_eq!(written.await.err().map(|error| error.kind), of_writing, "{role:?}");
        let deleted = fixture.engine.delete_partition_key(&caller, &container, &partition_key("x")).await;
        assert_eq!(deleted.err().map(|error| error.kind), of_writing, "{role:?}");
        let created = fixture.engine.create_database(&caller, "e", None).await;
        assert_eq!(created.unwrap_err().kind, ErrorKind::NotData, "{role:?}");
        let buckets = fixture.engine.set_throughput_buckets(&caller, "d", "c", BucketShares::default()).await;
        assert_eq!(buckets.unwrap_err().kind, ErrorKind::NotData, "{role:?}");
        // To show a permission is to make a token.
        let granted = fixture.engine.list_permissions(&caller, "d", "u", None, None);
        assert_eq!(granted.unwrap_err().kind, ErrorKind::NotData, "{role:?}");
    }
}
