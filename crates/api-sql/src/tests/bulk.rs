//! Bulk requests: operations that are done each on its own.

use armilla_value::Value;
use http::Method;

use super::batches::{results, statuses};
use super::client::{Answer, Client};

const DOCS: &str = "/dbs/d/colls/c/docs";
const BATCH: (&str, &str) = ("x-ms-cosmos-is-batch-request", "True");
const EACH: (&str, &str) = ("x-ms-cosmos-batch-atomic", "False");
const GOES_ON: (&str, &str) = ("x-ms-cosmos-batch-continue-on-error", "true");
const STOPS: (&str, &str) = ("x-ms-cosmos-batch-continue-on-error", "false");
const RANGE: (&str, &str) = ("x-ms-documentdb-partitionkeyrangeid", "0");

async fn bulk(client: &Client, operations: &str) -> Answer {
    client.send(Method::POST, DOCS, &[BATCH, EACH, GOES_ON, RANGE], operations).await
}

fn create(id: &str, key: &str) -> String {
    let text = format!("[{key}]").replace('"', "\\\"");
    format!(
        r#"{{"operationType":"Create","resourceBody":{{"id":"{id}","pk":{key}}},"partitionKey":"{text}"}}"#
    )
}

#[tokio::test]
async fn operations_stand_by_themselves() {
    let client = Client::with_container().await;
    let operations = format!(
        r#"[{},{},{},
            {{"operationType":"Read","id":"a","partitionKey":"[1]"}},
            {{"operationType":"Read","id":"a","partitionKey":["x"]}},
            {{"operationType":"Upsert","resourceBody":{{"id":"a","pk":1,"n":1}},"partitionKey":"[1]"}},
            {{"operationType":"Patch","id":"a","resourceBody":{{"operations":[{{"op":"incr","path":"/n","value":1}}]}},"partitionKey":"[1]"}},
            {{"operationType":"Replace","id":"no","resourceBody":{{"id":"no","pk":1}},"partitionKey":"[1]"}},
            {{"operationType":"Delete","id":"a","partitionKey":"[\"x\"]"}}]"#,
        create("a", "1"),
        create("a", "\"x\""),
        create("a", "1"),
    );
    let answer = bulk(&client, &operations).await.expect(207);
    assert_eq!(statuses(&answer), [201, 201, 409, 200, 200, 200, 200, 404, 204]);
    let results = results(&answer);
    assert_eq!(
        results[6].get("resourceBody").and_then(|body| body.get("n")).and_then(Value::as_i64),
        Some(2)
    );
    assert!(results[2].get("message").and_then(Value::as_str).unwrap().contains("already exists"));
    let charge = |result: &Value| result.get("requestCharge").and_then(Value::as_f64).unwrap();
    let total: f64 = answer.header("x-ms-request-charge").unwrap().parse().unwrap();
    assert!((results.iter().map(charge).sum::<f64>() - total).abs() < 0.1, "{total}: {}", answer.text);
    assert!(answer.header("x-ms-session-token").is_some());
    let all: Vec<String> = (0..100).map(|id| create(&format!("n{id}"), &id.to_string())).collect();
    assert_eq!(statuses(&bulk(&client, &format!("[{}]", all.join(","))).await.expect(200)), [201; 100]);
}

#[tokio::test]
async fn bulk_may_stop_at_the_first_failure() {
    let client = Client::with_container().await;
    let operations = format!("[{},{},{}]", create("a", "1"), create("a", "1"), create("b", "1"));
    let answer = client.send(Method::POST, DOCS, &[BATCH, EACH, STOPS, RANGE], &operations).await.expect(207);
    assert_eq!(statuses(&answer), [201, 409, 424]);
    assert_eq!(statuses(&bulk(&client, &operations).await.expect(207)), [409, 409, 201]);
}

#[tokio::test]
async fn wrong_operations_fail_alone() {
    let client = Client::with_container().await;
    let operations = format!(
        r#"[{},
            {{"operationType":"Create","resourceBody":{{"id":"b","pk":1}}}},
            {{"operationType":"Create","resourceBody":{{"id":"c","pk":1}},"partitionKey":"1"}},
            {{"operationType":"Create","resourceBody":{{"id":"d","pk":2}},"partitionKey":"[1]"}},
            {{"operationType":"Create","partitionKey":"[1]"}},
            {{"operationType":"Create","resourceBody":{{"id":"e","pk":1}},"partitionKey":"[1,2]"}},
            {}]"#,
        create("a", "1"),
        create("z", "1"),
    );
    let answer = bulk(&client, &operations).await.expect(207);
    assert_eq!(statuses(&answer), [201, 400, 400, 400, 400, 400, 201]);
    let results = results(&answer);
    for (index, word) in [(1, "PartitionKey"), (2, "partitionKey"), (3, "artition key"), (4, "resourceBody")]
    {
        let message = results[index].get("message").and_then(Value::as_str).unwrap();
        assert!(message.contains(word), "{index}: {message}");
    }
    assert_eq!(results[3].get("subStatusCode").and_then(Value::as_i64), Some(1001));
}

#[tokio::test]
async fn the_key_of_the_request_serves_where_none_is_named() {
    let client = Client::with_container().await;
    let key = ("x-ms-documentdb-partitionkey", "[1]");
    let operations =
        format!(r#"[{{"operationType":"Create","resourceBody":{{"id":"a","pk":1}}}},{}]"#, create("b", "2"));
    let answer = client.send(Method::POST, DOCS, &[BATCH, EACH, GOES_ON, key], &operations).await.expect(200);
    assert_eq!(statuses(&answer), [201, 201]);
}

#[tokio::test]
async fn ranges_that_are_not_there_are_gone() {
    let client = Client::with_container().await;
    let operations = format!("[{}]", create("a", "1"));
    for range in ["7", "x"] {
        let headers = [BATCH, EACH, GOES_ON, ("x-ms-documentdb-partitionkeyrangeid", range)];
        client.send(Method::POST, DOCS, &headers, &operations).await.expect_code(410, 1002);
    }
    for (operations, word) in [("[]", "no operations"), ("[", "JSON")] {
        let refused = bulk(&client, operations).await.expect_code(400, 0);
        assert!(refused.member("message").contains(word), "{}", refused.text);
    }
    let many: Vec<String> = (0..101).map(|id| create(&id.to_string(), "1")).collect();
    bulk(&client, &format!("[{}]", many.join(","))).await.expect_code(400, 0);
}
