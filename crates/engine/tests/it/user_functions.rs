//! User-defined functions: resources of a container that its queries call.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use armilla_engine::{
    Access, Caller, ErrorKind, QueryRequest, ResourceKind, ResourcePrecondition, USER_FUNCTIONS_MAX,
};

use crate::support::{Fixture, refused, value};

const KIND: ResourceKind = ResourceKind::UserDefinedFunction;
const NONE: ResourcePrecondition = ResourcePrecondition::None;

async fn create(fixture: &Fixture, id: &str, body: &str) -> armilla_engine::Result<armilla_engine::Resource> {
    let answer = fixture.engine.create_user_function(&fixture.caller, "d", "c", id, body).await?;
    assert!(answer.charge.hundredths() > 0);
    Ok(answer.value)
}

async fn query(fixture: &Fixture, container: &str, text: &str) -> armilla_engine::Result<String> {
    let handle = fixture.engine.container("d", container)?.container;
    let page = fixture.engine.query_items(&fixture.caller, &handle, QueryRequest::new(text)).await?;
    Ok(String::from_utf8(page.rows).unwrap())
}

fn ids(fixture: &Fixture, container: &str) -> Vec<String> {
    let feed = fixture.engine.list_user_functions(&fixture.caller, "d", container, None, None).unwrap().value;
    feed.resources.into_iter().map(|resource| resource.id).collect()
}

#[tokio::test]
async fn functions_live_through_every_operation() {
    let fixture = Fixture::with_container().await;
    let (engine, caller) = (&fixture.engine, &fixture.caller);
    let created = create(&fixture, "f", "function (x) { return x; }").await.unwrap();
    let owner = engine.read_container(caller, "d", "c", None).unwrap().value;
    assert_eq!((created.kind, created.id.as_str(), &created.parent_rid), (KIND, "f", &owner.rid));
    assert_eq!(created.self_link, format!("{}udfs/{}/", owner.self_link, created.rid));
    assert_eq!(created.body.get("body").unwrap().as_str(), Some("function (x) { return x; }"));
    refused(create(&fixture, "f", "x => x").await, ErrorKind::AlreadyExists(KIND));
    assert_eq!(engine.read_user_function(caller, "d", "c", "f", None).unwrap().value, created);
    let by_rid = engine.read_user_function(caller, &owner.parent_rid, &owner.rid, &created.rid, None);
    assert_eq!(by_rid.unwrap().value, created);
    let etag = Some(created.etag);
    refused(engine.read_user_function(caller, "d", "c", "f", etag), ErrorKind::NotModified);
    refused(engine.read_user_function(caller, "d", "c", "g", None), ErrorKind::NotFound(KIND));
    let nowhere = engine.read_user_function(caller, "d", "x", "f", None);
    refused(nowhere, ErrorKind::OwnerNotFound(ResourceKind::Container));
    create(&fixture, "e", "x => x").await.unwrap();
    assert_eq!(ids(&fixture, "c"), ["f", "e"]);

    fixture.clock.advance(Duration::from_secs(5));
    let stale = ResourcePrecondition::Version(None);
    let body = "function (x) { return x + 1; }";
    let failed = engine.replace_user_function(caller, "d", "c", "f", "f", body, stale).await;
    refused(failed, ErrorKind::PreconditionFailed);
    let taken = engine.replace_user_function(caller, "d", "c", "f", "e", body, NONE).await;
    refused(taken, ErrorKind::AlreadyExists(KIND));
    let current = ResourcePrecondition::Version(etag);
    let replaced =
        engine.replace_user_function(caller, "d", "c", "f", "g", body, current).await.unwrap().value;
    assert_eq!((replaced.id.as_str(), &replaced.rid, replaced.ts), ("g", &created.rid, created.ts + 5));
    assert_ne!(replaced.etag, created.etag);
    assert_eq!(ids(&fixture, "c"), ["g", "e"]);
    let (upserted, is_new) = engine.upsert_user_function(caller, "d", "c", "g", "x => 3").await.unwrap();
    assert_eq!((upserted.value.rid.as_str(), is_new), (created.rid.as_str(), false));
    assert!(engine.upsert_user_function(caller, "d", "c", "h", "x => 4").await.unwrap().1);

    refused(engine.delete_user_function(caller, "d", "c", "g", stale).await, ErrorKind::PreconditionFailed);
    engine.delete_user_function(caller, "d", "c", "g", NONE).await.unwrap();
    refused(engine.delete_user_function(caller, "d", "c", "g", NONE).await, ErrorKind::NotFound(KIND));
    assert_eq!(ids(&fixture, "c"), ["e", "h"]);
    assert_ne!(create(&fixture, "g", body).await.unwrap().rid, created.rid, "ids are never used twice");
}

#[tokio::test]
async fn what_cannot_be_a_function_is_refused() {
    let fixture = Fixture::with_container().await;
    for (id, body) in [
        ("", "x => x"),
        ("a/b", "x => x"),
        (&*"x".repeat(256), "x => x"),
        ("f", ""),
        ("f", "1"),
        ("f", "function ("),
        ("f", "(() => { for (;;) {} })()"),
    ] {
        refused(create(&fixture, id, body).await, ErrorKind::Invalid);
    }
    create(&fixture, "f", "x => x").await.unwrap();
    let replaced =
        fixture.engine.replace_user_function(&fixture.caller, "d", "c", "f", "f", "no function", NONE).await;
    refused(replaced, ErrorKind::Invalid);
}

#[tokio::test]
async fn a_container_has_so_many_functions_and_no_more() {
    let fixture = Fixture::with_container().await;
    for n in 0..USER_FUNCTIONS_MAX {
        create(&fixture, &format!("f{n}"), "x => x").await.unwrap();
    }
    refused(create(&fixture, "more", "x => x").await, ErrorKind::Invalid);
    let (_, is_new) =
        fixture.engine.upsert_user_function(&fixture.caller, "d", "c", "f7", "x => 1").await.unwrap();
    assert!(!is_new);
    fixture.engine.delete_user_function(&fixture.caller, "d", "c", "f0", NONE).await.unwrap();
    create(&fixture, "more", "x => x").await.unwrap();
}

#[tokio::test]
async fn functions_survive_and_go_with_their_container() {
    let fixture = Fixture::with_container().await;
    fixture.create_container("other").await.unwrap();
    let created = create(&fixture, "f", "function (x) { return x + '!'; }").await.unwrap();
    create(&fixture, "g", "x => x").await.unwrap();
    let fixture = fixture.reopen().await;
    let (engine, caller) = (&fixture.engine, &fixture.caller);
    assert_eq!(engine.read_user_function(caller, "d", "c", "f", None).unwrap().value, created);
    assert_eq!(query(&fixture, "c", "SELECT VALUE udf.f('a')").await.unwrap(), r#""a!""#);
    assert_eq!(ids(&fixture, "other"), [] as [&str; 0]);

    engine.delete_container(caller, "d", "c", NONE).await.unwrap();
    fixture.create_container("c").await.unwrap();
    assert_eq!(ids(&fixture, "c"), [] as [&str; 0]);
    create(&fixture, "f", "x => x").await.unwrap();
    let fixture = fixture.reopen().await;
    assert_eq!(ids(&fixture, "c"), ["f"]);
    fixture.engine.delete_database(&fixture.caller, "d", NONE).await.unwrap();
    // An orphan's record would be an error here.
    fixture.reopen().await;
}

#[tokio::test]
async fn queries_call_the_functions_of_their_container() {
    let fixture = Fixture::with_container().await;
    fixture.create_container("other").await.unwrap();
    for n in 0..5 {
        fixture.create_item(&fixture.caller, "c", &n.to_string(), "k").await.unwrap();
    }
    create(&fixture, "twice", "function (x) { return x * 2; }").await.unwrap();
    create(&fixture, "calls", "function () { return globalThis.n = (globalThis.n || 0) + 1; }")
        .await
        .unwrap();
    let text = "SELECT VALUE udf.twice(c.id) FROM c WHERE udf.twice(c.id) > 2 ORDER BY c.id";
    assert_eq!(query(&fixture, "c", text).await.unwrap(), "4,6,8");
    let error = refused(query(&fixture, "other", text).await, ErrorKind::BadQuery);
    assert!(error.message.contains("'twice' is not registered in this container"), "{error}");
    refused(query(&fixture, "c", "SELECT VALUE udf.nobody(udf.twice(1))").await, ErrorKind::BadQuery);
    // What one query leaves behind, no other finds.
    for _ in 0..2 {
        assert_eq!(query(&fixture, "c", "SELECT VALUE udf.calls()").await.unwrap(), "1");
    }
    let body = "function (x) { return x * 3; }";
    fixture
        .engine
        .replace_user_function(&fixture.caller, "d", "c", "twice", "twice", body, NONE)
        .await
        .unwrap();
    assert_eq!(query(&fixture, "c", "SELECT VALUE udf.twice(1)").await.unwrap(), "3");
    fixture.engine.delete_user_function(&fixture.caller, "d", "c", "twice", NONE).await.unwrap();
    refused(query(&fixture, "c", "SELECT VALUE udf.twice(1)").await, ErrorKind::BadQuery);
}

#[tokio::test]
async fn failures_name_the_function() {
    let fixture = Fixture::with_container().await;
    for (id, body, message) in [
        ("picky", "function () { throw new Error('no \"such\" luck'); }", r#"exception: no \"such\" luck"#),
        ("greedy", "function () { const a = []; for (;;) a.push({ a }); }", "exception: out of memory"),
        ("deep", "function f() { return f(); }", "exception: Maximum call stack size exceeded"),
        (
            "long",
            "function () { return 'x'.repeat(3e6); }",
            "the result is longer than 2097152 bytes of JSON",
        ),
    ] {
        create(&fixture, id, body).await.unwrap();
        let text = format!("SELECT VALUE udf.{id}()");
        let error = refused(query(&fixture, "c", &text).await, ErrorKind::BadQuery);
        let expected = format!(r#"{{"Errors":["the user-defined function '{id}' failed: {message}"#);
        assert!(error.message.starts_with(&expected), "{error}");
    }
}

#[tokio::test]
async fn endless_functions_are_stopped() {
    let fixture = Fixture::with_container().await;
    create(&fixture, "endless", "function () { for (;;) {} }").await.unwrap();
    let (clock, done) = (fixture.clock.clone(), Arc::new(AtomicBool::new(false)));
    let is_done = done.clone();
    // Simulated time stands still unless somebody moves it.
    let moving = std::thread::spawn(move || {
        while !is_done.load(Ordering::Relaxed) {
            clock.advance(Duration::from_millis(100));
            std::thread::sleep(Duration::from_millis(1));
        }
    });
    let outcome = query(&fixture, "c", "SELECT VALUE udf.endless()").await;
    done.store(true, Ordering::Relaxed);
    moving.join().unwrap();
    let error = refused(outcome, ErrorKind::BadQuery);
    assert!(error.message.contains("'endless' failed: it took too long and was stopped"), "{error}");
}

#[tokio::test]
async fn who_may_read_and_write_functions() {
    let fixture = Fixture::with_container().await;
    let engine = &fixture.engine;
    create(&fixture, "f", "x => x").await.unwrap();
    engine.create_user(&fixture.caller, "d", "u").await.unwrap();
    let mut callers = Vec::new();
    for (mode, resource, reads, writes) in [
        ("Read", "dbs/d/colls/c", true, false),
        ("Read", "dbs/d/colls/c/docs/1", false, false),
        ("All", "dbs/d/colls/c/docs/2", false, false),
    ] {
        let id = callers.len();
        let body = format!(r#"{{"id":"p{id}","permissionMode":"{mode}","resource":"{resource}"}}"#);
        let permission =
            engine.create_permission(&fixture.caller, "d", "u", &value(&body), None).await.unwrap();
        let token = permission.value.body.get("_token").unwrap().as_str().unwrap().to_owned();
        let access = Access::Granted(engine.authorize_token(&token).unwrap());
        callers.push((Caller { access, ..Caller::full() }, reads, writes));
    }
    engine.create_user(&fixture.caller, "d", "v").await.unwrap();
    let all = value(r#"{"id":"p","permissionMode":"All","resource":"dbs/d/colls/c"}"#);
    let permission = engine.create_permission(&fixture.caller, "d", "v", &all, None).await.unwrap();
    let token = permission.value.body.get("_token").unwrap().as_str().unwrap().to_owned();
    let access = Access::Granted(engine.authorize_token(&token).unwrap());
    callers.push((Caller { access, ..Caller::full() }, true, true));
    callers.push((Caller { access: Access::ReadOnly, ..Caller::full() }, true, false));

    for (index, (caller, reads, writes)) in callers.iter().enumerate() {
        let read = engine.read_user_function(caller, "d", "c", "f", None);
        assert_eq!(read.is_ok(), *reads, "{index}");
        let listed = engine.list_user_functions(caller, "d", "c", None, None);
        assert_eq!(listed.is_ok(), *reads, "{index}");
        let id = format!("g{index}");
        let created = engine.create_user_function(caller, "d", "c", &id, "x => x").await;
        assert_eq!(created.is_ok(), *writes, "{index}");
        let replaced = engine.replace_user_function(caller, "d", "c", "f", "f", "x => x", NONE).await;
        assert_eq!(replaced.is_ok(), *writes, "{index}");
        for failed in [created.err(), replaced.err(), read.err()].into_iter().flatten() {
            assert_eq!(failed.kind, ErrorKind::Forbidden, "{index}: {failed}");
        }
    }
    let last = &callers[2].0;
    refused(engine.delete_user_function(last, "d", "c", "f", NONE).await, ErrorKind::Forbidden);
}
