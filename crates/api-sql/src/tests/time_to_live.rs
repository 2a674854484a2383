//! Expired items, as clients see them: not at all, from the very second on.

use std::time::Duration;

use armilla_value::Value;
use http::Method;

use super::client::Client;
use super::feed_reader::{DOCS, KEY, Reader, id, number, put, sorted, with_container};

const QUERY: (&str, &str) = ("x-ms-documentdb-isquery", "True");

async fn rows(client: &Client, query: &str) -> Vec<Value> {
    let headers = [QUERY, ("x-ms-documentdb-query-enablecrosspartition", "True")];
    let body = format!(r#"{{"query":"{query}"}}"#);
    let answer = client.send(Method::POST, DOCS, &headers, body).await.expect(200);
    answer.json().get("Documents").and_then(Value::as_array).unwrap().to_vec()
}

/// What every way of reading finds of the items, which all have the key 1.
async fn visible(client: &Client, ids: &[usize]) -> Vec<String> {
    let listed = sorted(client.get(DOCS).await.expect(200).ids("Documents"));
    let key = [(KEY, "[1]")];
    assert_eq!(sorted(client.send(Method::GET, DOCS, &key, "").await.expect(200).ids("Documents")), listed);
    assert_eq!(sorted(Reader::latest(&[]).ids(client).await), listed);
    assert_eq!(sorted(Reader::latest(&key).ids(client).await), listed);
    let found: Vec<String> = rows(client, "SELECT * FROM c").await.iter().map(id).collect();
    assert_eq!(sorted(found), listed);
    let ordered = rows(client, "SELECT VALUE c.id FROM c ORDER BY c.n").await;
    assert_eq!(ordered.len(), listed.len());
    for count in ["SELECT VALUE COUNT(1) FROM c", "SELECT VALUE COUNT(1) FROM c WHERE c.n >= 0"] {
        assert_eq!(rows(client, count).await[0].as_i64(), Some(listed.len() as i64), "{count}");
    }
    for item in ids {
        let read = client.send(Method::GET, &format!("{DOCS}/{item}"), &key, "").await;
        let expected = if listed.contains(&item.to_string()) { 200 } else { 404 };
        read.expect_code(expected, 0);
    }
    listed
}

#[tokio::test]
async fn expired_items_are_seen_nowhere() {
    let client = with_container(r#","defaultTtl":10"#, "400").await;
    for (n, ttl) in [(1, ""), (2, r#","ttl":5"#), (3, r#","ttl":-1"#), (4, r#","ttl":20"#)] {
        put(&client, n, 1, &format!(r#","n":{n}{ttl}"#)).await;
    }
    let ids = [1, 2, 3, 4];
    assert_eq!(visible(&client, &ids).await, ["1", "2", "3", "4"]);
    // Time passes in one step, so that nothing is purged before it is looked for.
    client.clock.advance(Duration::from_secs(6));
    assert_eq!(visible(&client, &ids).await, ["1", "3", "4"]);
    // A write begins the time anew.
    put(&client, 1, 1, r#","n":1"#).await;
    client.clock.advance(Duration::from_secs(5));
    assert_eq!(visible(&client, &ids).await, ["1", "3", "4"]);
    client.clock.advance(Duration::from_secs(6));
    assert_eq!(visible(&client, &ids).await, ["3", "4"]);
    client.clock.advance(Duration::from_secs(10));
    assert_eq!(visible(&client, &ids).await, ["3"]);
    // What is expired is as good as gone for writes.
    let key = [(KEY, "[1]")];
    let path = format!("{DOCS}/4");
    client.send(Method::PUT, &path, &key, r#"{"id":"4","pk":1}"#).await.expect_code(404, 0);
    client.send(Method::DELETE, &path, &key, "").await.expect_code(404, 0);
    client.send(Method::POST, DOCS, &key, r#"{"id":"4","pk":1,"n":4}"#).await.expect(201);
    assert_eq!(visible(&client, &ids).await, ["3", "4"]);
    client.clock.advance(Duration::from_secs(11));
    assert_eq!(visible(&client, &ids).await, ["3"]);
}

#[tokio::test]
async fn expired_items_are_purged_in_the_background() {
    let client =
        with_container(r#","defaultTtl":10,"changeFeedPolicy":{"retentionDuration":10}"#, "400").await;
    let mut reader = Reader::all_versions(&[]).at("*");
    reader.page(&client).await.expect(304);
    for n in 0..30 {
        put(&client, n, n % 3, &format!(r#","n":{n}"#)).await;
    }
    put(&client, 99, 1, r#","ttl":-1"#).await;
    assert_eq!(reader.entries(&client).await.len(), 31);
    let usage = async || {
        let info = [("x-ms-documentdb-populatequotainfo", "True")];
        let answer = client.send(Method::GET, "/dbs/d/colls/c", &info, "").await.expect(200);
        answer.header("x-ms-resource-usage").unwrap().to_owned()
    };
    assert!(usage().await.contains("documentsCount=31;"));
    client.clock.advance(Duration::from_secs(11));
    client.wait_for(async || usage().await.contains("documentsCount=1;").then_some(())).await;
    let deleted = reader.entries(&client).await;
    assert_eq!(deleted.len(), 30);
    for entry in &deleted {
        let data = entry.get("metadata").unwrap();
        assert_eq!(data.get("operationType").and_then(Value::as_str), Some("delete"));
        assert_eq!(data.get("timeToLiveExpired"), Some(&Value::Bool(true)));
        assert_eq!(number(entry, &["previous", "n"]).to_string(), id(entry));
    }
    assert_eq!(Reader::latest(&[]).ids(&client).await, ["99"]);
}

#[tokio::test]
async fn times_count_from_when_the_container_has_them_on() {
    let client = with_container("", "400").await;
    put(&client, 1, 1, r#","n":1,"ttl":5"#).await;
    put(&client, 2, 1, r#","n":2"#).await;
    client.clock.advance(Duration::from_secs(100));
    assert_eq!(visible(&client, &[1, 2]).await, ["1", "2"], "off: nothing expires");
    let body = |ttl: &str| {
        format!(r#"{{"id":"c","partitionKey":{{"paths":["/pk"],"kind":"Hash","version":2}}{ttl}}}"#)
    };
    client.put("/dbs/d/colls/c", &body(r#","defaultTtl":-1"#)).await.expect(200);
    assert_eq!(visible(&client, &[1, 2]).await, ["2"], "on without a default");
    client.put("/dbs/d/colls/c", &body(r#","defaultTtl":1000"#)).await.expect(200);
    assert_eq!(visible(&client, &[1, 2]).await, ["2"]);
    client.put("/dbs/d/colls/c", &body(r#","defaultTtl":10"#)).await.expect(200);
    assert_eq!(visible(&client, &[1, 2]).await, Vec::<String>::new());
}
