//! Throughput buckets of containers.

use http::Method;

use super::client::{Client, READ_ONLY_KEY};

const BUCKETS: &str = "/_armilla/dbs/d/colls/c/throughputBuckets";
const NONE: &str = r#"{"throughputBuckets":[]}"#;
const TWO: &str =
    r#"{"throughputBuckets":[{"id":1,"maxThroughputPercentage":40},{"id":5,"maxThroughputPercentage":100}]}"#;

#[tokio::test]
async fn buckets_are_kept_and_told() {
    let client = Client::with_container().await;
    assert_eq!(client.get(BUCKETS).await.expect(200).text, NONE);
    assert_eq!(client.put(BUCKETS, TWO).await.expect(200).text, TWO);
    assert_eq!(client.get(BUCKETS).await.expect(200).text, TWO);
    assert_eq!(client.put(BUCKETS, NONE).await.expect(200).text, NONE);
    client.get("/_armilla/dbs/d/colls/x/throughputBuckets").await.expect(404);
    client.post(BUCKETS, TWO).await.expect(405);
}

#[tokio::test]
async fn what_is_no_list_of_buckets_changes_nothing() {
    let client = Client::with_container().await;
    client.put(BUCKETS, TWO).await.expect(200);
    let entry = |entry: &str| format!(r#"{{"throughputBuckets":[{entry}]}}"#);
    for body in [
        "",
        "[]",
        "{}",
        r#"{"throughputBuckets":{}}"#,
        r#"{"throughputBuckets":[],"x":1}"#,
        &entry("1"),
        &entry(r#"{"id":0,"maxThroughputPercentage":1}"#),
        &entry(r#"{"id":6,"maxThroughputPercentage":1}"#),
        &entry(r#"{"id":"1","maxThroughputPercentage":1}"#),
        &entry(r#"{"id":1,"maxThroughputPercentage":0}"#),
        &entry(r#"{"id":1,"maxThroughputPercentage":101}"#),
        &entry(r#"{"id":1,"maxThroughputPercentage":1000}"#),
        &entry(r#"{"id":1}"#),
        &entry(r#"{"id":1,"maxThroughputPercentage":1,"x":1}"#),
        &entry(r#"{"id":1,"maxThroughputPercentage":1},{"id":1,"maxThroughputPercentage":2}"#),
    ] {
        client.put(BUCKETS, body).await.expect(400);
    }
    assert_eq!(client.get(BUCKETS).await.expect(200).text, TWO);
}

#[tokio::test]
async fn containers_that_share_throughput_have_no_buckets() {
    let client = Client::with_container().await;
    let throughput = [("x-ms-offer-throughput", "400")];
    client.send(Method::POST, "/dbs", &throughput, r#"{"id":"shared"}"#).await.expect(201);
    let definition = r#"{"id":"c","partitionKey":{"paths":["/pk"],"kind":"Hash","version":2}}"#;
    client.post("/dbs/shared/colls", definition).await.expect(201);
    client.put("/_armilla/dbs/shared/colls/c/throughputBuckets", TWO).await.expect(400);
}

#[tokio::test]
async fn a_read_only_key_may_look() {
    let client = Client::with_container().await;
    for (method, status) in [(Method::GET, 200), (Method::PUT, 403)] {
        let authorization = client.sign(READ_ONLY_KEY, &method, BUCKETS);
        client.send_as(&authorization, method, BUCKETS, &[], TWO).await.expect(status);
    }
}
