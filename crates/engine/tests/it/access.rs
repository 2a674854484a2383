//! Permissions, resource tokens, keys for reading, consistency.

use std::time::Duration;

use armilla_engine::{
    Access, Caller, Consistency, ErrorKind, ListScope, PageRequest, ResourceKind, ResourcePrecondition,
};

use crate::support::{Fixture, refused, value};

async fn permission(fixture: &Fixture, body: &str) -> Result<Caller, armilla_engine::Error> {
    let seconds = Some(60);
    let answer = fixture.engine.create_permission(&fixture.caller, "d", "u", &value(body), seconds).await?;
    let token = answer.value.body.get("_token").unwrap().as_str().unwrap().to_owned();
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

    let body = r#"{"id":"q","permissionMode":"All","resource":"dbs/d/colls/c/docs/1"}"#;
    let caller = permission(&fixture, body).await.unwrap();
    fixture.read_item(&caller, "c", "1", "b").unwrap();
    refused(fixture.read_item(&caller, "c", "2", "a"), ErrorKind::Forbidden);
    refused(fixture.create_item(&caller, "c", "3", "a").await, ErrorKind::Forbidden);
}

#[tokio::test]
async fn permissions_are_checked_when_made() {
    let fixture = fixture().await;
    for (body, kind) in [
        (r#"{"permissionMode":"Read","resource":"dbs/d/colls/c"}"#, ErrorKind::Invalid),
        (r#"{"id":"p","permissionMode":"Write","resource":"dbs/d/colls/c"}"#, ErrorKind::Invalid),
        (r#"{"id":"p","permissionMode":"Read"}"#, ErrorKind::Invalid),
        (r#"{"id":"p","permissionMode":"Read","resource":"dbs/d"}"#, ErrorKind::Invalid),
        (
            r#"{"id":"p","permissionMode":"Read","resource":"dbs/d/colls/x"}"#,
            ErrorKind::OwnerNotFound(ResourceKind::Container),
        ),
        (
            r#"{"id":"p","permissionMode":"Read","resource":"dbs/d/colls/c","resourcePartitionKey":7}"#,
            ErrorKind::Invalid,
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
    let replaced = engine.replace_permission(caller, "d", "u", "p", &body, None, none).await.unwrap().value;
    assert_eq!(replaced.id, "q");
    engine.read_permission(caller, "d", "u", "q", None, None).unwrap();
    assert_eq!(engine.list_permissions(caller, "d", "u", None, None).unwrap().value.resources.len(), 1);
    engine.delete_permission(caller, "d", "u", "q", none).await.unwrap();
    refused(
        engine.read_permission(caller, "d", "u", "q", None, None),
        ErrorKind::NotFound(ResourceKind::Permission),
    );
    for seconds in [0, 9, 86_401] {
        refused(engine.create_permission(caller, "d", "u", &body, Some(seconds)).await, ErrorKind::Invalid);
    }
}

#[tokio::test]
async fn tokens_expire_and_cannot_be_forged() {
    let fixture = fixture().await;
    let body = value(r#"{"id":"p","permissionMode":"Read","resource":"dbs/d/colls/c"}"#);
    let answer = fixture.engine.create_permission(&fixture.caller, "d", "u", &body, Some(10)).await.unwrap();
    let token = answer.value.body.get("_token").unwrap().as_str().unwrap().to_owned();
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
