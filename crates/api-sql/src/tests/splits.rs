//! Physical partitions that split and merge, as clients see it.

use armilla_value::Value;
use http::Method;

use super::client::{Answer, Client};

const DOCS: &str = "/dbs/d/colls/c/docs";
const RANGES: &str = "/dbs/d/colls/c/pkranges";
const INCREMENTAL: (&str, &str) = ("a-im", "Incremental Feed");
const QUERY: (&str, &str) = ("x-ms-documentdb-isquery", "True");
const RANGE: &str = "x-ms-documentdb-partitionkeyrangeid";

async fn fill(client: &Client, count: usize) {
    for n in 0..count {
        let key = format!("[{n}]");
        let headers = [("x-ms-documentdb-partitionkey", key.as_str())];
        let body = format!(r#"{{"id":"{n}","pk":{n}}}"#);
        client.send(Method::POST, DOCS, &headers, body).await.expect(201);
    }
}

/// The ranges of a map with their parents.
fn families(map: &Answer) -> Vec<(String, Vec<String>)> {
    let body = map.json();
    let ranges = body.get("PartitionKeyRanges").and_then(Value::as_array).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    ranges
        .iter()
        .map(|range| {
            let parents = range.get("parents").and_then(Value::as_array).unwrap();
            (text(range.get("id").unwrap()), parents.iter().map(text).collect())
        })
        .collect()
}

fn family(id: &str, parents: &[&str]) -> (String, Vec<String>) {
    (id.to_owned(), parents.iter().map(|parent| (*parent).to_owned()).collect())
}

async fn changes(client: &Client, etag: &str) -> Answer {
    client.send(Method::GET, RANGES, &[INCREMENTAL, ("if-none-match", etag)], "").await
}

#[tokio::test]
async fn maps_tell_what_came_since() {
    let client = Client::with_container().await;
    fill(&client, 20).await;
    let first = client.get(RANGES).await.expect(200);
    let first_etag = first.header("etag").unwrap();
    assert_eq!(families(&first), [family("0", &[])]);
    let second = client.reshape("split", r#"{"range":"0"}"#).await;
    let second_etag = second.header("etag").unwrap();
    assert_eq!(families(&second), [family("1", &["0"]), family("2", &["0"])]);
    let third = client.reshape("split", r#"{"range":"2"}"#).await;
    let third_etag = third.header("etag").unwrap();
    assert_eq!(
        families(&third),
        [family("1", &["0"]), family("3", &["0", "2"]), family("4", &["0", "2"])],
        "all ancestors, oldest first"
    );
    assert!(third.text.contains(r#""status":"online""#) && !third.text.contains("splitting"));

    let since_first = changes(&client, first_etag).await.expect(200);
    assert_eq!(families(&since_first), families(&third));
    assert_eq!(since_first.header("etag"), Some(third_etag));
    let since_second = changes(&client, second_etag).await.expect(200);
    assert_eq!(families(&since_second), [family("3", &["0", "2"]), family("4", &["0", "2"])]);
    assert_eq!(since_second.ids("PartitionKeyRanges"), ["3", "4"]);
    let nothing = changes(&client, third_etag).await.expect(304);
    assert_eq!(nothing.header("etag"), Some(third_etag));
    // Versions of the future, and what is none, are answered with everything.
    for etag in ["\"99\"", "\"18446744073709551616\"", "\"-1\"", "\"\"", "\"garbage\"", "*"] {
        let whole = changes(&client, etag).await.expect(200);
        assert_eq!(families(&whole), families(&third), "{etag}");
        assert_eq!(whole.header("etag"), Some(third_etag));
    }
    // So is a client that did not ask for changes.
    let plain = client.send(Method::GET, RANGES, &[("if-none-match", second_etag)], "").await.expect(200);
    assert_eq!(families(&plain), families(&third));

    let merged = client.reshape("merge", r#"{"ranges":["3","4"]}"#).await;
    let (id, parents) = families(&merged).pop().unwrap();
    assert_eq!(id, "5", "ids are not used again");
    for parent in ["0", "2", "3", "4"] {
        assert!(parents.iter().any(|found| found == parent), "{parent}: {parents:?}");
    }
    let since_third = changes(&client, third_etag).await.expect(200);
    assert_eq!(since_third.ids("PartitionKeyRanges"), ["5"]);
}

#[tokio::test]
async fn shares_follow_the_number_of_partitions() {
    let client = Client::with_container().await;
    let shares = |map: &Answer| -> Vec<f64> {
        let body = map.json();
        let ranges = body.get("PartitionKeyRanges").and_then(Value::as_array).unwrap();
        ranges.iter().map(|range| range.get("throughputFraction").and_then(Value::as_f64).unwrap()).collect()
    };
    assert_eq!(shares(&client.get(RANGES).await), [1.0]);
    assert_eq!(shares(&client.reshape("split", "{}").await), [0.5, 0.5]);
    let three = shares(&client.reshape("split", "").await);
    assert!((three.iter().sum::<f64>() - 1.0).abs() < 1e-9 && three.len() == 3, "{three:?}");
}

#[tokio::test]
async fn ranges_that_were_split_are_gone_where_they_are_named() {
    let client = Client::with_container().await;
    fill(&client, 20).await;
    let key = ("x-ms-documentdb-partitionkey", "[7]");
    let session = client.send(Method::GET, "/dbs/d/colls/c/docs/7", &[key], "").await.expect(200);
    let session = session.header("x-ms-session-token").unwrap();
    client.reshape("split", "{}").await;
    let query = r#"{"query":"SELECT * FROM c"}"#;
    let bulk = r#"[{"operationType":"Read","id":"7","partitionKey":"[7]"}]"#;
    let batch = ("x-ms-cosmos-is-batch-request", "True");
    let each = ("x-ms-cosmos-batch-atomic", "False");
    let named = (RANGE, "0");
    for (method, headers, body) in [
        (Method::GET, &[named][..], ""),
        (Method::POST, &[named, QUERY], query),
        (Method::POST, &[named, QUERY, ("x-ms-start-epk", ""), ("x-ms-end-epk", "FF")], query),
        (Method::POST, &[named, batch, each], bulk),
        (Method::POST, &[named, batch, key], r#"[{"operationType":"Read","id":"7"}]"#),
    ] {
        let gone = client.send(method, DOCS, headers, body).await.expect_code(410, 1002);
        assert_eq!(gone.member("code"), "Gone");
    }
    // By key alone everything goes on, with a session of the parent too.
    let seen = ("x-ms-session-token", session);
    let read = client.send(Method::GET, "/dbs/d/colls/c/docs/7", &[key, seen], "").await.expect(200);
    assert_ne!(read.header(RANGE), Some("0"));
    client.send(Method::GET, "/dbs/d/colls/c/docs/7", &[key, seen, named], "").await.expect(200);
    client.send(Method::PUT, "/dbs/d/colls/c/docs/7", &[key], r#"{"id":"7","pk":7}"#).await.expect(200);
    let cross = ("x-ms-documentdb-query-enablecrosspartition", "True");
    assert_eq!(
        client.send(Method::POST, DOCS, &[QUERY, cross], query).await.expect(200).number("_count"),
        20
    );
    for id in ["1", "2"] {
        client.send(Method::GET, DOCS, &[(RANGE, id)], "").await.expect(200);
    }
}

#[tokio::test]
async fn pages_go_on_after_a_split() {
    let client = Client::with_container().await;
    fill(&client, 30).await;
    let cross = ("x-ms-documentdb-query-enablecrosspartition", "True");
    for (text, is_query) in [("", false), ("SELECT * FROM c", true), ("SELECT * FROM c ORDER BY c.pk", true)]
    {
        let mut continuation: Option<String> = None;
        let mut ids = Vec::new();
        loop {
            let mut headers = vec![("x-ms-max-item-count", "10")];
            if let Some(token) = &continuation {
                headers.push(("x-ms-continuation", token));
            }
            let page = match is_query {
                true => {
                    headers.extend([QUERY, cross]);
                    client.send(Method::POST, DOCS, &headers, format!(r#"{{"query":"{text}"}}"#)).await
                }
                false => client.send(Method::GET, DOCS, &headers, "").await,
            };
            let page = page.expect(200);
            ids.extend(page.ids("Documents"));
            if ids.len() == 10 {
                client.reshape("split", "").await;
            }
            continuation = page.header("x-ms-continuation").map(str::to_owned);
            if continuation.is_none() {
                break;
            }
        }
        ids.sort_by_key(|id| id.parse::<u32>().unwrap());
        let expected: Vec<String> = (0..30).map(|n| n.to_string()).collect();
        assert_eq!(ids, expected, "{text}");
    }
}
