//! User-defined functions as queries call them. As resources they are scripts like any other: `scripts`.

use armilla_engine::{ErrorKind, QueryRequest, ResourcePrecondition, ScriptKind};

use crate::support::{Fixture, refused, script};

const KIND: ScriptKind = ScriptKind::UserDefinedFunction;
const NONE: ResourcePrecondition = ResourcePrecondition::None;

async fn create(fixture: &Fixture, id: &str, body: &str) -> armilla_engine::Result<armilla_engine::Resource> {
    fixture.script(KIND, id, body).await
}

async fn query(fixture: &Fixture, container: &str, text: &str) -> armilla_engine::Result<String> {
    let handle = fixture.engine.container("d", container)?.container;
    let page = fixture.engine.query_items(&fixture.caller, &handle, QueryRequest::new(text)).await?;
    Ok(String::from_utf8(page.rows).unwrap())
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
    let (engine, caller) = (&fixture.engine, &fixture.caller);
    let thrice = script("twice", "function (x) { return x * 3; }");
    engine.replace_script(caller, "d", "c", KIND, "twice", &thrice, NONE).await.unwrap();
    assert_eq!(query(&fixture, "c", "SELECT VALUE udf.twice(1)").await.unwrap(), "3");
    engine.delete_script(caller, "d", "c", KIND, "twice", NONE).await.unwrap();
    refused(query(&fixture, "c", "SELECT VALUE udf.twice(1)").await, ErrorKind::BadQuery);
}

#[tokio::test]
async fn failures_name_the_function() {
    let fixture = Fixture::with_container().await;
    for (id, body, message) in [
        ("picky", "function () { throw new Error('no \"such\" luck'); }", r#"exception: no "such" luck"#),
        (
            "greedy",
            "function () { const a = []; for (;;) a.push({ a }); }",
            "it needed too much memory and was stopped",
        ),
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
        let expected = format!("the user-defined function '{id}' failed: {message}");
        assert!(error.message.starts_with(&expected), "{error}");
    }
}

#[tokio::test]
async fn endless_functions_are_stopped() {
    let fixture = Fixture::with_container().await;
    create(&fixture, "endless", "function () { for (;;) {} }").await.unwrap();
    let _moving = fixture.moving_time();
    let outcome = query(&fixture, "c", "SELECT VALUE udf.endless()").await;
    let error = refused(outcome, ErrorKind::BadQuery);
    assert!(error.message.contains("'endless' failed: it took too long and was stopped"), "{error}");
}

#[tokio::test]
async fn calls_of_functions_are_charged() {
    let fixture = Fixture::with_container().await;
    create(&fixture, "same", "x => x").await.unwrap();
    for n in 0..50 {
        fixture.upsert("k", &format!(r#"{{"id":"{n}","pk":"k","n":{n}}}"#)).await;
    }
    let charge = async |text: &str| {
        let (container, request) = (fixture.container("c"), QueryRequest::new(text));
        let page = fixture.engine.query_items(&fixture.caller, &container, request).await.unwrap();
        page.charge.hundredths()
    };
    let plain = charge("SELECT VALUE c.n FROM c").await;
    let called = charge("SELECT VALUE udf.same(c.n) FROM c").await;
    assert_eq!(called - plain, 50, "0.01 request units for each of 50 calls");
}
