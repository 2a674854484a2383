//! Reading all items: scopes, pages, sessions.

use http::Method;

use super::client::Client;

const DOCS: &str = "/dbs/d/colls/c2/docs";

async fn with_items(throughput: &str, count: usize) -> Client {
    let client = Client::with_container().await;
    let definition = r#"{"id":"c2","partitionKey":{"paths":["/pk"],"kind":"Hash","version":2}}"#;
    let headers = [("x-ms-offer-throughput", throughput)];
    client.send(Method::POST, "/dbs/d/colls", &headers, definition).await.expect(201);
    for n in 0..count {
        let key = format!("[{}]", n % 5);
        let body = format!(r#"{{"id":"{n}","pk":{}}}"#, n % 5);
        client.send(Method::POST, DOCS, &[("x-ms-documentdb-partitionkey", &key)], body).await.expect(201);
    }
    client
}

async fn read_all(client: &Client, headers: &[(&'static str, &str)]) -> (Vec<String>, usize) {
    let (mut ids, mut pages) = (Vec::new(), 0);
    let mut continuation: Option<String> = None;
    loop {
        let mut headers = headers.to_vec();
        headers.extend(continuation.as_deref().map(|token| ("x-ms-continuation", token)));
        let page = client.send(Method::GET, DOCS, &headers, "").await.expect(200);
        assert!(page.header("x-ms-session-token").is_some());
        ids.extend(page.ids("Documents"));
        pages += 1;
        continuation = page.header("x-ms-continuation").map(str::to_owned);
        match &continuation {
            None => return (ids, pages),
            Some(token) => assert!(token.len() < 1_024, "{token}"),
        }
    }
}

fn sorted(mut ids: Vec<String>) -> Vec<String> {
    ids.sort_by_key(|id| id.parse::<u32>().unwrap());
    ids
}

fn numbers(numbers: impl Iterator<Item = usize>) -> Vec<String> {
    numbers.map(|number| number.to_string()).collect()
}

#[tokio::test]
async fn pages_have_the_size_asked_for() {
    let client = with_items("400", 25).await;
    for (size, pages) in [("10", 3), ("25", 1), ("100", 1), ("-1", 1)] {
        let (ids, found) = read_all(&client, &[("x-ms-max-item-count", size)]).await;
        assert_eq!(sorted(ids), numbers(0..25));
        assert_eq!(found, pages, "{size}");
    }
}

#[tokio::test]
async fn feeds_are_kept_to_a_key_or_a_range() {
    let client = with_items("20000", 50).await;
    let (ids, _) = read_all(&client, &[("x-ms-documentdb-partitionkey", "[3]")]).await;
    assert_eq!(ids, numbers((0..50).filter(|n| n % 5 == 3)), "in the order of insertion");
    let (all, _) = read_all(&client, &[("x-ms-max-item-count", "7")]).await;
    assert_eq!(sorted(all), numbers(0..50));

    let range = "x-ms-documentdb-partitionkeyrangeid";
    let mut both = read_all(&client, &[(range, "0")]).await.0;
    let second = read_all(&client, &[(range, "1")]).await.0;
    assert!(!both.is_empty() && !second.is_empty());
    both.extend(second.clone());
    assert_eq!(sorted(both), numbers(0..50));
    let rid = client.get("/dbs/d/colls/c2").await.member("_rid");
    assert_eq!(read_all(&client, &[(range, &format!("{rid},1"))]).await.0, second);

    let kind = ("x-ms-read-key-type", "EffectivePartitionKeyRange");
    let half = "1FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF";
    let (upper, _) =
        read_all(&client, &[kind, (range, "1"), ("x-ms-start-epk", half), ("x-ms-end-epk", "FF")]).await;
    assert_eq!(upper, second);
    assert_eq!(read_all(&client, &[kind, (range, "1")]).await.0, second);

    client.send(Method::GET, DOCS, &[(range, "9")], "").await.expect_code(410, 1002);
    client.send(Method::GET, DOCS, &[(range, "none")], "").await.expect_code(410, 1002);
    let outside = [kind, (range, "0"), ("x-ms-start-epk", half), ("x-ms-end-epk", "FF")];
    client.send(Method::GET, DOCS, &outside, "").await.expect_code(410, 1002);
    let point = [("x-ms-read-key-type", "EffectivePartitionKey")];
    client.send(Method::GET, DOCS, &point, "").await.expect_code(400, 0);
}

#[tokio::test]
async fn sessions_see_every_partition_read() {
    let client = with_items("20000", 50).await;
    let page = client.get(DOCS).await.expect(200);
    let token = page.header("x-ms-session-token").unwrap();
    let ranges: Vec<&str> = token.split(',').map(|part| part.split(':').next().unwrap()).collect();
    assert_eq!(ranges, ["0", "1"], "{token}");
    let rid = client.get("/dbs/d/colls/c2").await.member("_rid");
    assert_eq!(page.member("_rid"), rid);
    assert_eq!(page.header("x-ms-content-path"), Some(rid.as_str()));
}

#[tokio::test]
async fn malformed_continuations_are_refused() {
    let client = with_items("400", 3).await;
    for token in ["nonsense", "{}", "AAAA", "-1"] {
        client.send(Method::GET, DOCS, &[("x-ms-continuation", token)], "").await.expect_code(400, 0);
    }
    let long = "x".repeat(crate::limits::CONTINUATION_BYTES_MAX + 1);
    client.send(Method::GET, DOCS, &[("x-ms-continuation", &long)], "").await.expect_code(400, 0);
}
