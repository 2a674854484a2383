//! Transactional batches: all operations or none.

use armilla_value::Value;
use http::Method;

use super::client::{Answer, Client, READ_ONLY_KEY};
use crate::limits::{BATCH_ANSWER_BYTES_MAX, BATCH_BODY_BYTES_MAX};

const DOCS: &str = "/dbs/d/colls/c/docs";
const KEY: (&str, &str) = ("x-ms-documentdb-partitionkey", "[1]");
const BATCH: (&str, &str) = ("x-ms-cosmos-is-batch-request", "True");
const ATOMIC: (&str, &str) = ("x-ms-cosmos-batch-atomic", "True");
const STOPS: (&str, &str) = ("x-ms-cosmos-batch-continue-on-error", "False");

async fn batch(client: &Client, operations: &str) -> Answer {
    client.send(Method::POST, DOCS, &[KEY, BATCH, ATOMIC, STOPS], operations).await
}

/// The results of a batch.
pub(super) fn results(answer: &Answer) -> Vec<Value> {
    match answer.json() {
        Value::Array(results) => results,
        _ => panic!("no list: {answer:?}"),
    }
}

pub(super) fn statuses(answer: &Answer) -> Vec<i64> {
    let status = |result: &Value| result.get("statusCode").and_then(Value::as_i64).unwrap();
    results(answer).iter().map(status).collect()
}

fn create(id: &str) -> String {
    format!(r#"{{"operationType":"Create","resourceBody":{{"id":"{id}","pk":1}}}}"#)
}

async fn ids(client: &Client) -> Vec<String> {
    client.send(Method::GET, DOCS, &[KEY], "").await.expect(200).ids("Documents")
}

#[tokio::test]
async fn batches_do_every_operation_in_order() {
    let client = Client::with_container().await;
    for id in ["old", "gone", "patched"] {
        client.send(Method::POST, DOCS, &[KEY], format!(r#"{{"id":"{id}","pk":1,"n":1}}"#)).await.expect(201);
    }
    let operations = r#"[
        {"operationType":"Create","resourceBody":{"id":"new","pk":1,"price":1.50}},
        {"operationType":"Upsert","resourceBody":{"id":"old","pk":1,"n":2}},
        {"operationType":"Upsert","resourceBody":{"id":"newer","pk":1}},
        {"operationType":"Replace","id":"old","resourceBody":{"id":"old","pk":1,"n":3}},
        {"operationType":"Read","id":"old"},
        {"operationType":"Patch","id":"patched","resourceBody":{"operations":[{"op":"incr","path":"/n","value":4}]}},
        {"operationType":"Delete","id":"gone"}
    ]"#;
    let answer = batch(&client, operations).await.expect(200);
    assert_eq!(statuses(&answer), [201, 200, 201, 200, 200, 200, 204]);
    let results = results(&answer);
    // Item text comes as it is stored, numbers as they were written.
    assert!(answer.text.contains(r#""price":1.50"#), "{}", answer.text);
    for (index, id, n) in
        [(1, "old", Some(2)), (3, "old", Some(3)), (4, "old", Some(3)), (5, "patched", Some(5))]
    {
        let body = results[index].get("resourceBody").unwrap();
        assert_eq!(body.get("id").and_then(Value::as_str), Some(id));
        assert_eq!(body.get("n").and_then(Value::as_i64), n);
        assert_eq!(body.get("_etag"), results[index].get("eTag"), "{index}");
    }
    assert_eq!(results[6].get("resourceBody"), None);
    let charge = |result: &Value| result.get("requestCharge").and_then(Value::as_f64).unwrap();
    let total: f64 = answer.header("x-ms-request-charge").unwrap().parse().unwrap();
    assert!((results.iter().map(charge).sum::<f64>() - total).abs() < 0.1, "{total}: {}", answer.text);
    let found = client.send(Method::GET, &format!("{DOCS}/old"), &[KEY], "").await.expect(200);
    assert_eq!(Some(&found.json()), results[4].get("resourceBody"));
    let mut found = ids(&client).await;
    found.sort();
    assert_eq!(found, ["new", "newer", "old", "patched"]);
}

#[tokio::test]
async fn batches_are_one_commit() {
    let client = Client::with_container().await;
    client.send(Method::POST, DOCS, &[KEY], r#"{"id":"0","pk":1}"#).await.expect(201);
    let operations: Vec<String> = (1..=100).map(|id| create(&id.to_string())).collect();
    let answer = batch(&client, &format!("[{}]", operations.join(","))).await.expect(200);
    assert_eq!(answer.header("lsn"), Some("2"));
    assert_eq!(answer.header("x-ms-session-token"), Some("0:-1#2"));
    assert_eq!(answer.header("x-ms-alt-content-path"), Some("dbs/d/colls/c"));
    for id in ["1", "50", "100"] {
        let read = client.send(Method::GET, &format!("{DOCS}/{id}"), &[KEY], "").await.expect(200);
        assert_eq!(read.header("x-ms-item-lsn"), Some("2"));
    }
    // The session sees what its batch wrote.
    let session = ("x-ms-session-token", answer.header("x-ms-session-token").unwrap());
    client.send(Method::GET, &format!("{DOCS}/7"), &[KEY, session], "").await.expect(200);
}

#[tokio::test]
async fn one_failure_undoes_all() {
    let client = Client::with_container().await;
    client.send(Method::POST, DOCS, &[KEY], r#"{"id":"there","pk":1,"n":1}"#).await.expect(201);
    let stale = r#""ifMatch":"\"00000000-0000-0000-0000-000000000000\"""#;
    for (operation, status) in [
        (create("there"), 409),
        (r#"{"operationType":"Read","id":"no"}"#.to_owned(), 404),
        (r#"{"operationType":"Delete","id":"no"}"#.to_owned(), 404),
        (r#"{"operationType":"Replace","id":"no","resourceBody":{"id":"no","pk":1}}"#.to_owned(), 404),
        (
            format!(
                r#"{{"operationType":"Replace","id":"there","resourceBody":{{"id":"there","pk":1}},{stale}}}"#
            ),
            412,
        ),
        (format!(r#"{{"operationType":"Delete","id":"there",{stale}}}"#), 412),
        (format!(r#"{{"operationType":"Read","id":"there",{stale}}}"#), 412),
        (format!(r#"{{"operationType":"Upsert","resourceBody":{{"id":"there","pk":1}},{stale}}}"#), 412),
        (r#"{"operationType":"Create","resourceBody":{"pk":1}}"#.to_owned(), 400),
        (r#"{"operationType":"Create","resourceBody":[]}"#.to_owned(), 400),
        (r#"{"operationType":"Create","resourceBody":{"id":"x","pk":1,}}"#.to_owned(), 400),
        (r#"{"operationType":"Create"}"#.to_owned(), 400),
        (
            r#"{"operationType":"Patch","id":"there","resourceBody":[{"op":"remove","path":"/no"}]}"#
                .to_owned(),
            400,
        ),
        (r#"{"operationType":"Patch","id":"there","resourceBody":[]}"#.to_owned(), 400),
        (
            r#"{"operationType":"Patch","id":"there","resourceBody":
                {"operations":[{"op":"set","path":"/n","value":9}],"condition":"from c where c.n = 5"}}"#
                .to_owned(),
            412,
        ),
    ] {
        let operations = format!("[{},{operation},{}]", create("a"), create("b"));
        let answer = batch(&client, &operations).await.expect(207);
        assert_eq!(statuses(&answer), [424, status, 424], "{operation}");
        let results = results(&answer);
        assert!(results[1].get("message").and_then(Value::as_str).is_some_and(|text| !text.is_empty()));
        assert_eq!(results[0].get("message"), None);
        assert_eq!(results[0].get("resourceBody"), None);
        assert!(answer.header("x-ms-session-token").is_some());
        assert_eq!(ids(&client).await, ["there"], "{operation}");
    }
    assert_eq!(client.send(Method::GET, &format!("{DOCS}/there"), &[KEY], "").await.number("n"), 1);
}

#[tokio::test]
async fn reads_of_a_batch_see_its_writes() {
    let client = Client::with_container().await;
    let operations = r#"[
        {"operationType":"Create","resourceBody":{"id":"1","pk":1,"n":1}},
        {"operationType":"Read","id":"1"},
        {"operationType":"Patch","id":"1","resourceBody":[{"op":"set","path":"/n","value":2}]},
        {"operationType":"Read","id":"1"},
        {"operationType":"Delete","id":"1"},
        {"operationType":"Create","resourceBody":{"id":"1","pk":1,"n":3}},
        {"operationType":"Read","id":"1"}
    ]"#;
    let answer = batch(&client, operations).await.expect(200);
    let n =
        |result: &Value| result.get("resourceBody").and_then(|body| body.get("n")).and_then(Value::as_i64);
    let seen: Vec<_> = results(&answer).iter().map(n).collect();
    assert_eq!(seen, [Some(1), Some(1), Some(2), Some(2), None, Some(3), Some(3)]);
}

#[tokio::test]
async fn conditions_of_operations_are_checked() {
    let client = Client::with_container().await;
    let created = client.send(Method::POST, DOCS, &[KEY], r#"{"id":"1","pk":1}"#).await.expect(201);
    let etag = created.header("etag").unwrap().replace('"', "\\\"");
    for (condition, status) in [
        (format!(r#""ifNoneMatch":"{etag}""#), 304),
        (r#""ifNoneMatch":"*""#.to_owned(), 304),
        (r#""ifNoneMatch":"other""#.to_owned(), 200),
    ] {
        let answer = batch(&client, &format!(r#"[{{"operationType":"Read","id":"1",{condition}}}]"#)).await;
        assert_eq!(statuses(&answer), [status], "{condition}");
        // An item that did not change is no success of the whole.
        assert_eq!(answer.status, if status == 304 { 207 } else { 200 }, "{condition}");
        let result = &results(&answer)[0];
        assert_eq!(result.get("eTag").and_then(Value::as_str), created.header("etag"));
        assert_eq!(result.get("resourceBody").is_some(), status == 200);
    }
    let missing = r#"[{"operationType":"Create","resourceBody":{"id":"1","pk":1},"ifNoneMatch":"*"}]"#;
    assert_eq!(statuses(&batch(&client, missing).await.expect(207)), [412]);
    let both = format!(
        r#"[{{"operationType":"Replace","id":"1","resourceBody":{{"id":"1","pk":1}},"ifMatch":"{etag}"}},
            {{"operationType":"Delete","id":"1","ifMatch":"{etag}"}}]"#
    );
    // The first operation gives the item another version.
    assert_eq!(statuses(&batch(&client, &both).await.expect(207)), [424, 412]);
    let first = format!(r#"[{{"operationType":"Delete","id":"1","ifMatch":"{etag}"}}]"#);
    assert_eq!(statuses(&batch(&client, &first).await.expect(200)), [204]);
}

#[tokio::test]
async fn minimal_answers_leave_the_items_of_writes_out() {
    let client = Client::with_container().await;
    let operations =
        r#"[{"operationType":"Create","resourceBody":{"id":"1","pk":1}},{"operationType":"Read","id":"1"}]"#;
    for header in [("prefer", "return=minimal"), ("x-ms-cosmos-populate-content-response-on-write", "false")]
    {
        let headers = [KEY, BATCH, ATOMIC, header];
        let answer = client.send(Method::POST, DOCS, &headers, operations).await.expect(200);
        let results = results(&answer);
        assert_eq!(results[0].get("resourceBody"), None);
        assert!(results[0].get("eTag").is_some());
        assert!(results[1].get("resourceBody").is_some());
        client.send(Method::DELETE, &format!("{DOCS}/1"), &[KEY], "").await.expect(204);
    }
    let one = r#"[{"operationType":"Create","resourceBody":{"id":"1","pk":1},"minimalReturnPreference":true},
                  {"operationType":"Create","resourceBody":{"id":"2","pk":1}}]"#;
    let answer = batch(&client, one).await.expect(200);
    let has_body: Vec<_> =
        results(&answer).iter().map(|result| result.get("resourceBody").is_some()).collect();
    assert_eq!(has_body, [false, true]);
}

#[tokio::test]
async fn batches_are_refused_whole() {
    let client = Client::with_container().await;
    let many = |count: usize| format!("[{}]", vec![r#"{"operationType":"Read","id":"1"}"#; count].join(","));
    for (operations, word) in [
        ("", "not valid JSON"),
        ("{}", "an array"),
        ("[]", "Batch request has no operations."),
        (&*many(101), "Batch request has more operations than what is supported."),
        ("[5]", "operation 0"),
        (r#"[{"operationType":"Execute","id":"1"}]"#, "'Execute'"),
        ("\u{81}", "array"),
    ] {
        let refused = batch(&client, operations).await.expect_code(400, 0);
        assert!(refused.member("message").contains(word), "{operations}: {}", refused.text);
    }
    let hybrid_row =
        client.send(Method::POST, DOCS, &[KEY, BATCH, ATOMIC], [0x81, 0x10, 0]).await.expect_code(400, 0);
    assert!(hybrid_row.member("message").contains("HybridRow"), "{}", hybrid_row.text);

    let one = format!("[{}]", create("1"));
    let no_key = client.send(Method::POST, DOCS, &[BATCH, ATOMIC], &one).await.expect(400);
    assert!(no_key.member("message").contains("PartitionKey"), "{}", no_key.text);
    let contradiction = [KEY, BATCH, ATOMIC, ("x-ms-cosmos-batch-continue-on-error", "True")];
    client.send(Method::POST, DOCS, &contradiction, &one).await.expect_code(400, 0);
    client
        .send(Method::POST, DOCS, &[KEY, BATCH, ("x-ms-cosmos-batch-atomic", "x")], &one)
        .await
        .expect_code(400, 0);
    let authorization = client.sign(READ_ONLY_KEY, &Method::POST, DOCS);
    client.send_as(&authorization, Method::POST, DOCS, &[KEY, BATCH, ATOMIC], &one).await.expect(403);
    client
        .send(Method::POST, "/dbs/d/colls/no/docs", &[KEY, BATCH, ATOMIC], &one)
        .await
        .expect_code(404, 1003);
    assert_eq!(ids(&client).await, [""; 0]);
}

#[tokio::test]
async fn batches_keep_to_one_partition_key() {
    let client = Client::with_container().await;
    for (item, word) in [
        (r#"{"id":"2","pk":2}"#, "doesn't match partition key field values"),
        (r#"{"id":"2"}"#, "artition key"),
    ] {
        let elsewhere = format!(r#"[{},{{"operationType":"Create","resourceBody":{item}}}]"#, create("1"));
        let answer = batch(&client, &elsewhere).await.expect(207);
        assert_eq!(statuses(&answer), [424, 400]);
        let failed = &results(&answer)[1];
        assert_eq!(failed.get("subStatusCode").and_then(Value::as_i64), Some(1001));
        assert!(failed.get("message").and_then(Value::as_str).unwrap().contains(word), "{}", answer.text);
    }
    let with_key = |key: &str| {
        format!(r#"[{{"operationType":"Create","resourceBody":{{"id":"1","pk":1}},"partitionKey":{key}}}]"#)
    };
    batch(&client, &with_key(r#""[2]""#)).await.expect_code(400, 1001);
    assert_eq!(ids(&client).await, [""; 0]);
    batch(&client, &with_key(r#""[1]""#)).await.expect(200);
}

#[tokio::test]
async fn batches_without_a_word_are_atomic() {
    let client = Client::with_container().await;
    let operations = format!(r#"[{},{{"operationType":"Read","id":"no"}}]"#, create("1"));
    let answer = client.send(Method::POST, DOCS, &[KEY, BATCH], &operations).await.expect(207);
    assert_eq!(statuses(&answer), [424, 404]);
}

#[tokio::test]
async fn the_size_of_a_batch_is_bounded() {
    let client = Client::with_container().await;
    let operations = |bytes: usize| {
        let (start, end) = (r#"[{"operationType":"Upsert","resourceBody":{"id":"1","pk":1,"x":""#, r#""}}]"#);
        format!("{start}{}{end}", "x".repeat(bytes - start.len() - end.len()))
    };
    batch(&client, &operations(BATCH_BODY_BYTES_MAX)).await.expect(200);
    let refused = batch(&client, &operations(BATCH_BODY_BYTES_MAX + 1)).await.expect_code(413, 0);
    assert_eq!(refused.member("code"), "RequestEntityTooLarge");
}

#[tokio::test]
async fn long_answers_leave_items_out() {
    let client = Client::with_container().await;
    let large = "x".repeat(BATCH_ANSWER_BYTES_MAX / 4);
    for id in 0..4 {
        let item = format!(r#"{{"id":"{id}","pk":1,"n":0,"x":"{large}"}}"#);
        client.send(Method::POST, DOCS, &[KEY], item).await.expect(201);
    }
    let each = |operation: &str, count: usize| {
        let operations: Vec<String> = (0..count).map(|id| operation.replace("ID", &id.to_string())).collect();
        operations.join(",")
    };
    let read = r#"{"operationType":"Read","id":"ID"}"#;
    let patch = r#"{"operationType":"Patch","id":"ID","resourceBody":[{"op":"incr","path":"/n","value":1}]}"#;
    assert_eq!(statuses(&batch(&client, &format!("[{}]", each(read, 3))).await.expect(200)), [200; 3]);
    // Nothing was done: the client asks for less.
    batch(&client, &format!("[{}]", each(read, 4))).await.expect_code(413, 3402);
    // Everything was done, and is told.
    let answer = batch(&client, &format!("[{}]", each(patch, 4))).await.expect(200);
    assert_eq!(statuses(&answer), [200; 4]);
    let has_body: Vec<_> =
        results(&answer).iter().map(|result| result.get("resourceBody").is_some()).collect();
    assert_eq!(has_body, [true, true, true, false]);
    let answer = batch(&client, &format!("[{},{}]", each(patch, 1), each(read, 4))).await.expect(207);
    assert_eq!(statuses(&answer), [200, 200, 200, 413, 413]);
    assert_eq!(results(&answer)[4].get("subStatusCode").and_then(Value::as_i64), Some(3402));
    assert!(answer.text.len() < BATCH_ANSWER_BYTES_MAX + 1_000);
}
