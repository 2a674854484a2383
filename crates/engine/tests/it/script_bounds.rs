//! What scripts may use: time, request units, room in their transaction, memory; and what it costs.

use std::sync::Arc;
use std::time::Duration;

use armilla_engine::{
    EngineOptions, ErrorKind, ListScope, ProcedureOptions, QueryRequest, SCRIPT_CHARGE_MAX, ScriptKind, check,
};

use crate::procedures::{CREATE_MANY, DELETE_ALL, body};
use crate::support::{Fixture, defined, partition_key, refused, script, unthrottled, value};

#[tokio::test]
async fn endless_scripts_are_stopped_and_leave_nothing() {
    let fixture = Fixture::with_container().await;
    for text in [
        "function () { var c = getContext().getCollection(); \
         c.createDocument(c.getSelfLink(), { id: 'x', pk: 'a' }, function () { for (;;) {} }); }",
        "function () { for (;;) { try { for (;;) {} } catch (e) {} } }",
        "async function () { for (;;) await null; }",
    ] {
        let moving = fixture.moving_time();
        let error = refused(fixture.run_text(text, "a", "").await, ErrorKind::ScriptTimeout);
        drop(moving);
        assert!(error.charge.hundredths() > 0);
        assert_eq!(fixture.item("a", "x"), None);
    }
}

#[tokio::test]
async fn the_time_of_scripts_can_be_set() {
    let fixture = Fixture::with_container().await;
    let options = EngineOptions { script_time: Duration::from_secs(50), ..unthrottled() };
    let fixture = fixture.reopen_with(options).await;
    fixture.procedure("endless", "function () { for (;;) {} }").await;
    let before = armilla_env::Clock::elapsed(&*fixture.clock);
    let moving = fixture.moving_time();
    refused(fixture.run("endless", "a", "").await, ErrorKind::ScriptTimeout);
    drop(moving);
    assert!(armilla_env::Clock::elapsed(&*fixture.clock) - before >= Duration::from_secs(50));
}

#[tokio::test]
async fn a_script_is_told_to_end_in_time() {
    let fixture = Fixture::with_container().await;
    let text = "function () {
        var c = getContext().getCollection(), n = 0;
        while (c.readDocument(c.getAltLink() + '/docs/x', function () {})) n++;
        c.createDocument(c.getSelfLink(), { id: 'late', pk: 'a' });
        getContext().getResponse().setBody('stopped');
    }";
    fixture.upsert("a", r#"{"id":"x","pk":"a"}"#).await;
    // Slowly: thousands of callbacks have the last fifth of the time.
    let moving = fixture.moving_time_by(Duration::from_millis(5));
    let done = fixture.run_text(text, "a", "").await.unwrap();
    drop(moving);
    assert_eq!(done.body.as_deref(), Some(r#""stopped""#));
    assert_eq!(fixture.item("a", "late"), None, "refused like the read before it");
}

#[tokio::test]
async fn a_script_is_told_to_end_when_its_transaction_is_full() {
    let fixture = Fixture::with_container().await;
    fixture.procedure("many", CREATE_MANY).await;
    fixture.procedure("clear", DELETE_ALL).await;
    let mut made = 0;
    for key in ["a", "b"] {
        let text = CREATE_MANY.replace("pk: 'a'", &format!("pk: '{key}'"));
        let done = fixture.run_text(&text, key, "[1000000]").await.unwrap();
        made = body(&done).as_i64().unwrap();
        assert!((100..1_000_000).contains(&made), "{made}");
    }
    assert_eq!(fixture.query("SELECT VALUE COUNT(1) FROM c").await, (2 * made).to_string());
    for n in 0..300 {
        fixture.upsert("a", &format!(r#"{{"id":"more{n}","pk":"a"}}"#)).await;
    }
    // Deleting them takes several runs, each of which is stored.
    let (mut deleted, mut runs) = (0, 0);
    loop {
        let done = body(&fixture.run("clear", "a", "").await.unwrap());
        deleted += done.get("deleted").unwrap().as_i64().unwrap();
        runs += 1;
        if done.get("more") == Some(&value("false")) {
            break;
        }
        assert!(runs < 100);
    }
    assert_eq!(deleted, made + 300);
    assert!(runs > 1);
    assert_eq!(fixture.query("SELECT VALUE COUNT(1) FROM c").await, made.to_string());
    assert_eq!(check(&fixture.engine, &mut |_, _| {}).unwrap().problems, Vec::<String>::new());
}

#[tokio::test]
async fn a_script_is_told_to_end_when_its_budget_is_spent() {
    let fixture = Fixture::with_container().await;
    let large = format!(r#"{{"id":"large","pk":"a","text":"{}"}}"#, "x".repeat(1_000_000));
    fixture.upsert("a", &large).await;
    let text = "function () {
        var c = getContext().getCollection(), count = 0;
        next();
        function next() {
            var accepted = c.readDocument(c.getAltLink() + '/docs/large', function (err) {
                if (err) throw err;
                count++;
                next();
            });
            if (!accepted) getContext().getResponse().setBody(count);
        }
    }";
    let done = fixture.run_text(text, "a", "").await.unwrap();
    let each = fixture.read_item(&fixture.caller, "c", "large", "a").unwrap().charge;
    let (most, spent) = (SCRIPT_CHARGE_MAX.hundredths(), done.charge.hundredths());
    assert!((most..most + each.hundredths() + 1_000).contains(&spent), "{}", done.charge);
    assert_eq!(body(&done).as_i64(), Some(most.div_ceil(each.hundredths()) as i64));
}

#[tokio::test]
async fn charges_are_those_of_what_was_done() {
    let fixture = Fixture::new().await;
    fixture.engine.create_database(&fixture.caller, "d", None).await.unwrap();
    let definition = value(r#"{"id":"c","partitionKey":{"paths":["/pk"]}}"#);
    fixture.engine.create_container(&fixture.caller, "d", defined(&definition), None).await.unwrap();
    let empty = fixture.run_text("function () {}", "a", "").await.unwrap().charge.hundredths();
    assert_eq!(empty, 57, "12/21");
    // The same again costs the same.
    assert_eq!(fixture.run_text("function () {}", "a", "").await.unwrap().charge.hundredths(), empty);
    let busy = "function () { for (var i = 0; i < 1000000; i++); }";
    assert!(fixture.run_text(busy, "a", "").await.unwrap().charge.hundredths() > empty);

    // The published figure is 743 request units for a script that inserts 150 small items. With a partition key that
    // is a path of its own, each is 4/21 more.
    fixture.procedure("many", CREATE_MANY).await;
    let many = fixture.run("many", "a", "[150]").await.unwrap().charge.hundredths();
    assert_eq!(many, 74_343 + (150 * 400 + 10) / 21);

    // A read by id, and a query, cost what they cost elsewhere.
    let read =
        "function () { var c = getContext().getCollection(); c.readDocument(c.getAltLink() + '/docs/i1'); }";
    assert_eq!(fixture.run_text(read, "a", "").await.unwrap().charge.hundredths(), empty + 100);
    let missing = "function () { var c = getContext().getCollection(); \
                   c.readDocument(c.getAltLink() + '/docs/no', function () {}); }";
    assert_eq!(fixture.run_text(missing, "a", "").await.unwrap().charge.hundredths(), empty + 100);
    let count = "SELECT VALUE COUNT(1) FROM c";
    let request =
        QueryRequest { scope: ListScope::PartitionKey(partition_key("a")), ..QueryRequest::new(count) };
    let outside =
        fixture.engine.query_items(&fixture.caller, &fixture.container("c"), request).await.unwrap();
    let query =
        format!("function () {{ __.queryDocuments(__.getSelfLink(), '{count}', function () {{}}); }}");
    let inside = fixture.run_text(&query, "a", "").await.unwrap().charge.hundredths();
    assert_eq!(inside, empty + outside.charge.hundredths());
}

#[tokio::test]
async fn a_result_that_is_too_large_is_refused() {
    let fixture = Fixture::with_container().await;
    // The quotes count.
    let most = armilla_script::limits::RESPONSE_BYTES_MAX - 2;
    let text = "function (length) { getContext().getResponse().setBody('x'.repeat(length)); }";
    let done = fixture.run_text(text, "a", &format!("[{most}]")).await.unwrap();
    assert_eq!(done.body.map(|body| body.len()), Some(most + 2));
    let more = fixture.run_text(text, "a", &format!("[{}]", most + 1)).await;
    refused(more, ErrorKind::ScriptResultTooLarge);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn endless_scripts_leave_the_others_alone() {
    let fixture = Arc::new(Fixture::with_container().await);
    fixture.procedure("endless", "function () { for (;;) {} }").await;
    let mut endless = Vec::new();
    for n in 0..40 {
        let fixture = fixture.clone();
        endless.push(tokio::spawn(async move { fixture.run("endless", &format!("k{n}"), "").await }));
    }
    // Simulated time stands still, so they run for as long as it is not moved.
    tokio::task::yield_now().await;
    fixture.upsert("a", r#"{"id":"1","pk":"a"}"#).await;
    fixture.upsert("k0", r#"{"id":"1","pk":"k0"}"#).await;
    assert_eq!(fixture.query("SELECT VALUE COUNT(1) FROM c").await, "2");
    // Another container's scripts find a turn.
    fixture.create_container("other").await.unwrap();
    let definition = script("p", "function () { getContext().getResponse().setBody(1); }");
    let (engine, caller, kind) = (&fixture.engine, &fixture.caller, ScriptKind::StoredProcedure);
    engine.create_script(caller, "d", "other", kind, &definition).await.unwrap();
    let located = engine.container("d", "other").unwrap();
    let done = engine
        .execute_procedure(caller, &located, "p", Some(&partition_key("a")), b"", ProcedureOptions::default())
        .await;
    assert_eq!(done.unwrap().body.as_deref(), Some("1"));
    let moving = fixture.moving_time();
    for task in endless {
        refused(task.await.unwrap(), ErrorKind::ScriptTimeout);
    }
    drop(moving);
}
