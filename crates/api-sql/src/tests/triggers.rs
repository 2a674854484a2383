//! Triggers that writes name.

use armilla_value::{Value, json};
use http::Method;

use super::client::{Answer, Client};

const TRIGGERS: &str = "/dbs/d/colls/c/triggers";
const DOCS: &str = "/dbs/d/colls/c/docs";
const ITEM: &str = "/dbs/d/colls/c/docs/1";
const KEY: (&str, &str) = ("x-ms-documentdb-partitionkey", "[1]");
const UPSERT: (&str, &str) = ("x-ms-documentdb-is-upsert", "True");
const PRE: &str = "x-ms-documentdb-pre-trigger-include";
const POST: &str = "x-ms-documentdb-post-trigger-include";
const BODY: &str = r#"{"id":"1","pk":1}"#;

/// Marks the item with the operation that the trigger saw.
const STAMP: &str = "function () {
    const request = getContext().getRequest();
    const item = request.getBody();
    item.seen = request.getOperationType();
    request.setBody(item);
}";
/// Writes a second item that tells of the first.
const AUDIT: &str = "function () {
    const item = getContext().getResponse().getBody();
    __.upsertDocument(__.getSelfLink(), { id: 'audit', pk: 1, of: item && item.id, etag: item && item._etag });
}";
const FAIL: &str = "function () { throw new Error(409, 'refused by a trigger'); }";

async fn store(client: &Client, id: &str, time: &str, operation: &str, body: &str) {
    let body = json::to_string(&Value::from(body));
    let definition =
        format!(r#"{{"id":"{id}","body":{body},"triggerType":"{time}","triggerOperation":"{operation}"}}"#);
    client.post(TRIGGERS, &definition).await.expect(201);
}

async fn with_triggers() -> Client {
    let client = Client::with_container().await;
    for (id, time, body) in [
        ("stamp", "Pre", STAMP),
        ("audit", "Post", AUDIT),
        ("failsBefore", "Pre", FAIL),
        ("failsAfter", "Post", FAIL),
    ] {
        store(&client, id, time, "All", body).await;
    }
    client
}

async fn item(client: &Client, id: &str) -> Answer {
    client.send(Method::GET, &format!("{DOCS}/{id}"), &[KEY], "").await
}

#[tokio::test]
async fn triggers_run_with_every_write_that_names_them() {
    let client = with_triggers().await;
    let named = [(PRE, "stamp"), (POST, "audit")];
    for (method, path, extra, status, operation) in [
        (Method::POST, DOCS, None, 201, "Create"),
        (Method::PUT, ITEM, None, 200, "Replace"),
        (Method::POST, DOCS, Some(UPSERT), 200, "Upsert"),
    ] {
        let mut headers = vec![KEY, named[0], named[1]];
        headers.extend(extra);
        let written = client.send(method, path, &headers, BODY).await.expect(status);
        assert_eq!(written.member("seen"), operation);
        assert_eq!(item(&client, "1").await.expect(200).text, written.text);
        assert_eq!(written.header("etag"), Some(&*written.member("_etag")));
        let audit = item(&client, "audit").await.expect(200);
        assert_eq!((audit.member("of"), audit.member("etag")), ("1".to_owned(), written.member("_etag")));
        // Both writes are one commit.
        assert_eq!(audit.header("x-ms-item-lsn"), written.header("x-ms-item-lsn"));
        assert_eq!(written.header("lsn"), written.header("x-ms-item-lsn"));
    }
    // A write that names none runs none.
    let plain = client.send(Method::PUT, ITEM, &[KEY], BODY).await.expect(200);
    assert_eq!(plain.json().get("seen"), None);
}

#[tokio::test]
async fn what_a_post_trigger_answers_is_shown() {
    let client = Client::with_container().await;
    let body = "function () {
        const response = getContext().getResponse();
        response.setBody({ stored: response.getBody().id, by: __.request.getOperationType() });
    }";
    store(&client, "brief", "Post", "All", body).await;
    let written = client.send(Method::POST, DOCS, &[KEY, (POST, "brief")], BODY).await.expect(201);
    assert_eq!(written.text, r#"{"stored":"1","by":"Create"}"#);
    let stored = item(&client, "1").await.expect(200);
    assert_eq!(stored.header("etag"), written.header("etag"));
    assert_eq!(stored.json().get("stored"), None);
    let minimal = [KEY, (POST, "brief"), ("prefer", "return=minimal")];
    assert_eq!(client.send(Method::PUT, ITEM, &minimal, BODY).await.expect(200).text, "");
}

#[tokio::test]
async fn triggers_run_with_deletes() {
    let client = Client::with_container().await;
    let body = "function () {
        __.createDocument(__.getSelfLink(), { id: 'grave', pk: 1, operation: __.request.getOperationType() });
    }";
    store(&client, "bury", "Post", "Delete", body).await;
    client.send(Method::POST, DOCS, &[KEY], BODY).await.expect(201);
    let deleted = client.send(Method::DELETE, ITEM, &[KEY, (POST, "bury")], "").await.expect(204);
    assert_eq!(item(&client, "grave").await.expect(200).member("operation"), "Delete");
    assert_eq!(item(&client, "grave").await.header("x-ms-item-lsn"), deleted.header("lsn"));
    item(&client, "1").await.expect(404);
}

#[tokio::test]
async fn failures_of_triggers_undo_the_write() {
    let client = with_triggers().await;
    for header in [(PRE, "failsBefore"), (POST, "failsAfter")] {
        let failed = client.send(Method::POST, DOCS, &[KEY, header], BODY).await.expect_code(400, 409);
        let message = failed.member("message");
        assert!(message.contains("refused by a trigger"), "{message}");
        assert_ne!(failed.header("x-ms-request-charge"), Some("0.00"));
        item(&client, "1").await.expect(404);
    }
    let both = [KEY, (PRE, "stamp"), (POST, "failsAfter")];
    client.send(Method::POST, DOCS, &both, BODY).await.expect_code(400, 409);
    item(&client, "1").await.expect(404);
    // The write itself fails as without triggers.
    client.send(Method::POST, DOCS, &[KEY, (POST, "audit")], BODY).await.expect(201);
    client.send(Method::POST, DOCS, &[KEY, (PRE, "stamp")], BODY).await.expect_code(409, 0);
    let stale = ("if-match", "\"00000000-0000-0000-0000-000000000000\"");
    client.send(Method::PUT, ITEM, &[KEY, (PRE, "stamp"), stale], BODY).await.expect_code(412, 0);
    client
        .send(Method::PUT, &format!("{DOCS}/no"), &[KEY, (PRE, "stamp")], r#"{"id":"no","pk":1}"#)
        .await
        .expect(404);
}

#[tokio::test]
async fn triggers_must_fit_the_write() {
    let client = Client::with_container().await;
    for operation in ["All", "Create", "Update", "Delete", "Replace", "Upsert"] {
        store(&client, &format!("pre{operation}"), "Pre", operation, "function () {}").await;
        store(&client, &format!("post{operation}"), "Post", operation, "function () {}").await;
    }
    client.send(Method::POST, DOCS, &[KEY], BODY).await.expect(201);
    for (method, path, extra, fitting) in [
        (Method::POST, DOCS, None, &["All", "Create"][..]),
        (Method::PUT, ITEM, None, &["All", "Update", "Replace"]),
        (Method::POST, DOCS, Some(UPSERT), &["All", "Create", "Update", "Replace", "Upsert"]),
        (Method::DELETE, ITEM, None, &["All", "Delete"]),
    ] {
        for operation in ["All", "Create", "Update", "Delete", "Replace", "Upsert"] {
            for (header, time) in [(PRE, "pre"), (POST, "post")] {
                // What the write is about may be there or not: only the trigger is of interest.
                let name = format!("{time}{operation}");
                let mut headers = vec![KEY, (header, &*name)];
                headers.extend(extra);
                let answer = client.send(method.clone(), path, &headers, BODY).await;
                assert_eq!(answer.status != 400, fitting.contains(&operation), "{method} {name}: {answer:?}");
            }
        }
        client.send(Method::POST, DOCS, &[KEY, UPSERT], BODY).await;
    }
    for headers in [(PRE, "no"), (POST, "no"), (PRE, "postAll"), (POST, "preAll")] {
        let refused = client.send(Method::PUT, ITEM, &[KEY, headers], BODY).await.expect_code(400, 0);
        assert!(refused.member("message").contains(headers.1), "{}", refused.text);
    }
}

#[tokio::test]
async fn one_trigger_before_and_one_after() {
    let client = with_triggers().await;
    for (header, list) in [(PRE, "stamp,failsBefore"), (POST, "audit, failsAfter"), (POST, "a,b,c")] {
        let refused = client.send(Method::POST, DOCS, &[KEY, (header, list)], BODY).await.expect_code(400, 0);
        assert!(refused.member("message").contains("more than one trigger"), "{}", refused.text);
        item(&client, "1").await.expect(404);
    }
    for list in ["stamp", " stamp ", "stamp,", ",stamp", "stamp,stamp"] {
        let written = client.send(Method::POST, DOCS, &[KEY, UPSERT, (PRE, list)], BODY).await;
        assert_eq!(written.member("seen"), "Upsert", "{list}");
    }
    for list in ["", " ", ","] {
        let written = client.send(Method::POST, DOCS, &[KEY, UPSERT, (PRE, list)], BODY).await.expect(200);
        assert_eq!(written.json().get("seen"), None, "{list}");
    }
}

#[tokio::test]
async fn excluded_triggers_do_not_run() {
    let client = with_triggers().await;
    let pre_exclude = "x-ms-documentdb-pre-trigger-exclude";
    let post_exclude = "x-ms-documentdb-post-trigger-exclude";
    let excluded = [KEY, UPSERT, (PRE, "failsBefore"), (pre_exclude, "failsBefore")];
    client.send(Method::POST, DOCS, &excluded, BODY).await.expect(201);
    let one_of_two = [KEY, UPSERT, (PRE, "failsBefore,stamp"), (pre_exclude, "other, failsBefore")];
    assert_eq!(client.send(Method::POST, DOCS, &one_of_two, BODY).await.expect(200).member("seen"), "Upsert");
    let after = [KEY, UPSERT, (POST, "failsAfter"), (post_exclude, "failsAfter")];
    client.send(Method::POST, DOCS, &after, BODY).await.expect(200);
    // What is not included is not missed, and the two times do not mix.
    let neither = [KEY, UPSERT, (pre_exclude, "stamp"), (post_exclude, "audit")];
    client.send(Method::POST, DOCS, &neither, BODY).await.expect(200);
    let crossed = [KEY, UPSERT, (PRE, "failsBefore"), (post_exclude, "failsBefore")];
    client.send(Method::POST, DOCS, &crossed, BODY).await.expect_code(400, 409);
}

#[tokio::test]
async fn triggers_are_refused_where_none_can_run() {
    let client = with_triggers().await;
    client.send(Method::POST, DOCS, &[KEY], BODY).await.expect(201);
    let batch = ("x-ms-cosmos-is-batch-request", "True");
    let patch = r#"[{"op":"set","path":"/n","value":1}]"#;
    for header in [(PRE, "stamp"), (POST, "audit")] {
        let operations = r#"[{"operationType":"Read","id":"1"}]"#;
        let refused =
            client.send(Method::POST, DOCS, &[KEY, batch, header], operations).await.expect_code(400, 0);
        assert!(refused.member("message").contains("cannot run with a batch"), "{}", refused.text);
        let refused = client.send(Method::PATCH, ITEM, &[KEY, header], patch).await.expect_code(400, 0);
        assert!(refused.member("message").contains("cannot run with a patch"), "{}", refused.text);
        // A read has nothing to run before or after.
        client.send(Method::GET, ITEM, &[KEY, header], "").await.expect(200);
        client.send(Method::GET, DOCS, &[KEY, header], "").await.expect(200);
        let query = ("x-ms-documentdb-isquery", "True");
        client.send(Method::POST, DOCS, &[KEY, query, header], r#"{"query":"SELECT 1"}"#).await.expect(200);
    }
}

#[tokio::test]
async fn changed_bodies_follow_the_rules_of_all_bodies() {
    let client = Client::with_container().await;
    let sets = |value: &str| format!("function () {{ getContext().getRequest().setBody({value}); }}");
    store(&client, "key", "Pre", "All", &sets("{ id: '1', pk: 2 }")).await;
    store(&client, "id", "Pre", "All", &sets("{ id: '', pk: 1 }")).await;
    store(&client, "text", "Pre", "All", &sets("'text'")).await;
    store(&client, "other", "Pre", "All", &sets("{ id: '2', pk: 1, n: 1 }")).await;
    for name in ["key", "id", "text"] {
        let refused = client.send(Method::POST, DOCS, &[KEY, (PRE, name)], BODY).await;
        assert_eq!(refused.status, 400, "{name}: {refused:?}");
    }
    let written = client.send(Method::POST, DOCS, &[KEY, (PRE, "other")], BODY).await.expect(201);
    assert_eq!((written.member("id"), written.number("n")), ("2".to_owned(), 1));
    item(&client, "1").await.expect(404);
}

#[tokio::test]
async fn triggers_have_the_context_of_their_time() {
    let client = Client::with_container().await;
    let check =
        "const fails = (call) => { try { call(); } catch (error) { return error.number; } return 0; };";
    let before = format!(
        "function () {{ {check}
            const context = getContext(), item = context.getRequest().getBody();
            item.parts = [typeof context.getResponse, typeof __.response, fails(() => __.pluck('id'))];
            context.getRequest().setValue('Body', item);
        }}"
    );
    let after = format!(
        "function () {{ {check}
            const request = getContext().getRequest(), response = getContext().getResponse();
            __.createDocument(__.getSelfLink(), {{ id: 'seen', pk: 1, parts: [
                request.getBody().id, response.getBody()._etag === response.getValue('Body')._etag,
                typeof response.getResourceQuotaCurrentUsage(), typeof response.getMaxResourceQuota(),
                fails(() => request.setValue('Body', 1)), typeof request.setBody,
            ] }});
        }}"
    );
    store(&client, "before", "Pre", "Create", &before).await;
    store(&client, "after", "Post", "Create", &after).await;
    let written =
        client.send(Method::POST, DOCS, &[KEY, (PRE, "before"), (POST, "after")], BODY).await.expect(201);
    let parts = |answer: &Answer| json::to_string(answer.json().get("parts").unwrap());
    assert_eq!(parts(&written), r#"["undefined","undefined",400]"#);
    let seen = item(&client, "seen").await.expect(200);
    assert_eq!(parts(&seen), r#"["1",true,"string","string",403,"undefined"]"#);
}

#[tokio::test]
async fn writes_of_scripts_run_no_triggers() {
    let client = with_triggers().await;
    let body = "function () { __.createDocument(__.getSelfLink(), { id: '1', pk: 1 }, { preTriggerInclude: 'failsBefore' }); }";
    super::procedures::run(&client, body, "").await.expect(200);
    assert_eq!(item(&client, "1").await.expect(200).json().get("seen"), None);
}
