//! Partitions that have used their share of a second: 429, how long to wait, and that nothing was done.

use std::time::Duration;

use armilla_value::Value;
use http::Method;

use super::batches::{results, statuses};
use super::client::{Answer, Client, KEY, usual};
use crate::SqlApiOptions;

const DOCS: &str = "/dbs/d/colls/c/docs";
const ONE: (&str, &str) = ("x-ms-documentdb-partitionkey", "[1]");
const BATCH: (&str, &str) = ("x-ms-cosmos-is-batch-request", "True");
const QUERY: (&str, &str) = ("x-ms-documentdb-isquery", "True");
const CROSS: (&str, &str) = ("x-ms-documentdb-query-enablecrosspartition", "True");
const LOW: (&str, &str) = ("x-ms-cosmos-priority-level", "Low");

/// A database with a container of 400 request units a second, at the beginning of a second.
async fn client() -> Client {
    let client = Client::with_engine(SqlApiOptions::new(KEY), usual()).await;
    client.post("/dbs", r#"{"id":"d"}"#).await.expect(201);
    let definition = r#"{"id":"c","partitionKey":{"paths":["/pk"],"kind":"Hash","version":2}}"#;
    client.post("/dbs/d/colls", definition).await.expect(201);
    begin_second(&client);
    client
}

fn begin_second(client: &Client) {
    let into_second = client.now_ms().rem_euclid(1_000);
    client.clock.advance(Duration::from_millis(u64::try_from(1_000 - into_second).unwrap()));
}

async fn create(client: &Client, id: usize) -> Answer {
    client.send(Method::POST, DOCS, &[ONE], format!(r#"{{"id":"{id}","pk":1}}"#)).await
}

/// Writes until nothing is left of the second; returns how much was used, and the refusal.
async fn use_up(client: &Client) -> (f64, Answer) {
    let mut used = 0.0;
    for id in 0..1_000 {
        let answer = create(client, id).await;
        if answer.status == 429 {
            return (used, answer);
        }
        assert!(matches!(answer.status, 201 | 409), "{answer:?}");
        used += answer.header("x-ms-request-charge").unwrap().parse::<f64>().unwrap();
    }
    panic!("a thousand writes cost less than 400 request units");
}

fn retry_after_ms(answer: &Answer) -> u64 {
    answer.header("x-ms-retry-after-ms").unwrap().parse().unwrap()
}

#[track_caller]
fn check_refusal(answer: &Answer) {
    assert_eq!(answer.code(), (429, 3200), "{answer:?}");
    assert_eq!(answer.member("code"), "429");
    let message = answer.member("message");
    let words = "Request rate is large. More Request Units may be needed, so no changes were made.";
    assert!(message.starts_with(&format!("Message: {{\"Errors\":[\"{words}")), "{message}");
    assert_eq!(answer.header("x-ms-request-charge"), Some("0.38"));
    // Clients keep their sessions by these, whatever became of the request.
    for name in ["x-ms-session-token", "x-ms-documentdb-partitionkeyrangeid", "x-ms-alt-content-path"] {
        assert!(answer.header(name).is_some(), "{name}: {answer:?}");
    }
}

#[tokio::test]
async fn what_is_beyond_the_share_is_refused() {
    let client = client().await;
    let (used, refused) = use_up(&client).await;
    // The last one that is let in may cost more than what was left.
    assert!((400.0..410.0).contains(&used), "{used}");
    check_refusal(&refused);
    assert_eq!(retry_after_ms(&refused), 1_000, "the debt of one small write is paid by the next second");
}

#[tokio::test]
async fn every_operation_is_refused_and_does_nothing() {
    let client = client().await;
    create(&client, 0).await.expect(201);
    let item = "/dbs/d/colls/c/docs/0";
    let read = async || {
        client.clock.advance(Duration::from_secs(2));
        client.send(Method::GET, item, &[ONE], "").await.expect(200)
    };
    let before = read().await;
    use_up(&client).await;
    let new = r#"{"id":"new","pk":1}"#;
    let patch = r#"{"operations":[{"op":"set","path":"/n","value":1}]}"#;
    let batch = r#"[{"operationType":"Create","resourceBody":{"id":"new","pk":1}}]"#;
    let query = r#"{"query":"SELECT * FROM c"}"#;
    for (method, path, headers, body) in [
        (Method::GET, item, &[ONE][..], ""),
        (Method::PUT, item, &[ONE], r#"{"id":"0","pk":1,"n":1}"#),
        (Method::PATCH, item, &[ONE], patch),
        (Method::DELETE, item, &[ONE], ""),
        (Method::POST, DOCS, &[ONE], new),
        (Method::POST, DOCS, &[ONE, ("x-ms-documentdb-is-upsert", "true")], new),
        (Method::POST, DOCS, &[ONE, BATCH], batch),
        (Method::POST, DOCS, &[ONE, QUERY], query),
        (Method::POST, DOCS, &[CROSS, QUERY], query),
        (Method::POST, DOCS, &[("x-ms-documentdb-partitionkeyrangeid", "0"), QUERY], query),
        (Method::GET, DOCS, &[ONE], ""),
        (Method::GET, DOCS, &[], ""),
    ] {
        let answer = client.send(method.clone(), path, headers, body).await;
        check_refusal(&answer);
    }
    // What describes the container is not charged to its partitions.
    client.get("/dbs/d/colls/c").await.expect(200);
    client.get("/dbs/d/colls/c/pkranges").await.expect(200);
    client
        .send(Method::POST, DOCS, &[("x-ms-cosmos-is-query-plan-request", "true")], query)
        .await
        .expect(200);
    assert_eq!(read().await.text, before.text);
    client.send(Method::GET, "/dbs/d/colls/c/docs/new", &[ONE], "").await.expect(404);
}

#[tokio::test]
async fn waits_are_truthful() {
    let client = client().await;
    client.clock.advance(Duration::from_millis(300));
    let (_, refused) = use_up(&client).await;
    assert_eq!(retry_after_ms(&refused), 700);
    client.clock.advance(Duration::from_millis(699));
    let refused = create(&client, 0).await;
    check_refusal(&refused);
    assert_eq!(retry_after_ms(&refused), 1);
    client.clock.advance(Duration::from_millis(1));
    create(&client, 0).await.expect(409);
}

#[tokio::test]
async fn operations_of_bulk_requests_are_refused_each() {
    let client = client().await;
    let headers = [
        BATCH,
        ("x-ms-cosmos-batch-atomic", "False"),
        ("x-ms-cosmos-batch-continue-on-error", "true"),
        ("x-ms-documentdb-partitionkeyrangeid", "0"),
    ];
    let operation = |id: usize| {
        format!(
            r#"{{"operationType":"Upsert","resourceBody":{{"id":"{id}","pk":{id}}},"partitionKey":"[{id}]"}}"#
        )
    };
    let body = format!("[{}]", (0..100).map(operation).collect::<Vec<String>>().join(","));
    let send = async || client.send(Method::POST, DOCS, &headers, &body).await;
    // Those that were let in together may use more than there is; what comes behind them waits.
    let first = send().await;
    assert!(first.header("x-ms-request-charge").unwrap().parse::<f64>().unwrap() > 400.0, "{first:?}");
    let second = send().await.expect(207);
    assert_eq!(statuses(&second), [429; 100]);
    let results = results(&second);
    for result in &results {
        let number = |name| result.get(name).and_then(Value::as_i64);
        assert_eq!(number("subStatusCode"), Some(3200));
        assert_eq!(number("retryAfterMilliseconds"), Some(1_000), "{result:?}");
        assert_eq!(result.get("requestCharge").and_then(Value::as_f64), Some(0.38));
        let message = result.get("message").and_then(Value::as_str).unwrap();
        assert!(message.starts_with("Request rate is large."), "{message}");
    }
    client.clock.advance(Duration::from_secs(1));
    assert!(statuses(&send().await).contains(&200));
}

/// A bucket's requests use no more than its share; the others all that is left.
#[tokio::test]
async fn throughput_buckets_bound_what_names_them() {
    let client = client().await;
    create(&client, 0).await.expect(201);
    let buckets = r#"{"throughputBuckets":[{"id":2,"maxThroughputPercentage":10}]}"#;
    client.put("/_armilla/dbs/d/colls/c/throughputBuckets", buckets).await.expect(200);
    check_bucket(&client).await;
    // Shares are kept.
    check_bucket(&client.reopen().await).await;
}

/// Checks that bucket 2 has a tenth of 400 request units.
async fn check_bucket(client: &Client) {
    let read = async |word| {
        let headers = [ONE, ("x-ms-cosmos-throughput-bucket", word)];
        client.send(Method::GET, "/dbs/d/colls/c/docs/0", &headers, "").await
    };
    begin_second(client);
    // Reads of one request unit each.
    for _ in 0..40 {
        read("2").await.expect(200);
    }
    let refused = read("2").await;
    check_refusal(&refused);
    assert!(refused.member("message").contains("throughput bucket 2"), "{refused:?}");
    read("1").await.expect(200);
    read("").await.expect(200);
    client.clock.advance(Duration::from_secs(1));
    read("2").await.expect(200);
    // What others use up is not there for it either.
    use_up(client).await;
    for word in ["2", "3"] {
        let refused = read(word).await;
        check_refusal(&refused);
        assert!(!refused.member("message").contains("bucket"), "{refused:?}");
    }
}

#[tokio::test]
async fn low_priority_gives_way_first() {
    let client = client().await;
    // A second in which requests of high priority use nearly everything.
    for id in 0..50 {
        create(&client, id).await.expect(201);
    }
    begin_second(&client);
    let read = async |headers: &[(&'static str, &str)]| {
        client.send(Method::GET, "/dbs/d/colls/c/docs/0", headers, "").await
    };
    for _ in 0..30 {
        create(&client, 0).await.expect(409);
    }
    // 400 less what the others used and are expected to use leaves nothing for these.
    let mut refused = None;
    for _ in 0..200 {
        let answer = read(&[ONE, LOW]).await;
        if answer.status == 429 {
            refused = Some(answer);
            break;
        }
        answer.expect(200);
    }
    check_refusal(&refused.expect("low priority is throttled first"));
    read(&[ONE]).await.expect(200);
    read(&[ONE, ("x-ms-cosmos-priority-level", "high")]).await.expect(200);
    read(&[ONE, ("x-ms-cosmos-priority-level", "Medium")]).await.expect_code(400, 0);
}

#[tokio::test]
async fn procedures_are_refused_before_they_run() {
    let client = client().await;
    let body = r#"{"id":"p","body":"function () { getContext().getResponse().setBody(1); }"}"#;
    client.post("/dbs/d/colls/c/sprocs", body).await.expect(201);
    use_up(&client).await;
    let refused = client.send(Method::POST, "/dbs/d/colls/c/sprocs/p", &[ONE], "[]").await;
    check_refusal(&refused);
    client.clock.advance(Duration::from_millis(retry_after_ms(&refused)));
    client.send(Method::POST, "/dbs/d/colls/c/sprocs/p", &[ONE], "[]").await.expect(200);
}

#[tokio::test]
async fn full_logical_partitions_take_what_does_not_grow_them() {
    let mut options = usual();
    options.policy.enforced = false;
    options.limits.logical_partition_bytes_max = 4_096;
    let client = Client::with_engine(SqlApiOptions::new(KEY), options).await;
    client.post("/dbs", r#"{"id":"d"}"#).await.expect(201);
    let definition = r#"{"id":"c","partitionKey":{"paths":["/pk"],"kind":"Hash","version":2}}"#;
    client.post("/dbs/d/colls", definition).await.expect(201);
    let body = |id: &str, length: usize| format!(r#"{{"id":"{id}","pk":1,"text":"{}"}}"#, "x".repeat(length));
    client.send(Method::POST, DOCS, &[ONE], body("a", 2_500)).await.expect(201);
    let full = client.send(Method::POST, DOCS, &[ONE], body("b", 2_500)).await.expect_code(403, 1014);
    assert_eq!(full.member("code"), "Forbidden");
    assert!(full.member("message").contains("artition key reached maximum size"), "{}", full.text);
    client.send(Method::PUT, "/dbs/d/colls/c/docs/a", &[ONE], body("a", 5_000)).await.expect_code(403, 1014);
    client.send(Method::PUT, "/dbs/d/colls/c/docs/a", &[ONE], body("a", 2_000)).await.expect(200);
    let two = ("x-ms-documentdb-partitionkey", "[2]");
    let other = body("b", 2_500).replace(r#""pk":1"#, r#""pk":2"#);
    client.send(Method::POST, DOCS, &[two], other).await.expect(201);
    client.send(Method::DELETE, "/dbs/d/colls/c/docs/a", &[ONE], "").await.expect(204);
    client.send(Method::POST, DOCS, &[ONE], body("b", 2_500)).await.expect(201);
}
