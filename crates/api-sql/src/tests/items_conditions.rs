//! Conditional reads and writes of items.

use http::Method;

use super::client::Client;

const DOCS: &str = "/dbs/d/colls/c/docs";
const ITEM: &str = "/dbs/d/colls/c/docs/1";
const KEY: (&str, &str) = ("x-ms-documentdb-partitionkey", "[1]");
const BODY: &str = r#"{"id":"1","pk":1}"#;
const PATCH: &str = r#"[{"op":"set","path":"/n","value":1}]"#;
const UPSERT: (&str, &str) = ("x-ms-documentdb-is-upsert", "True");

/// Verb, path, extra header, body.
type Write = (Method, &'static str, Option<(&'static str, &'static str)>, &'static str);

/// Every write of an existing item.
const WRITES: [Write; 4] = [
    (Method::PUT, ITEM, None, BODY),
    (Method::PATCH, ITEM, None, PATCH),
    (Method::POST, DOCS, Some(UPSERT), BODY),
    (Method::DELETE, ITEM, None, ""),
];

async fn with_item() -> (Client, String) {
    let client = Client::with_container().await;
    let created = client.send(Method::POST, DOCS, &[KEY], BODY).await.expect(201);
    let etag = created.header("etag").unwrap().to_owned();
    (client, etag)
}

#[tokio::test]
async fn writes_with_the_current_etag_go_through() {
    let forms: [fn(&str) -> &str; 3] = [|etag| etag, |etag| etag.trim_matches('"'), |_| "*"];
    for (method, path, extra, body) in WRITES {
        for form in forms {
            let (client, etag) = with_item().await;
            let mut headers = vec![KEY, ("if-match", form(&etag))];
            headers.extend(extra);
            let answer = client.send(method.clone(), path, &headers, body).await;
            assert!(matches!(answer.status, 200 | 204), "{method}: {answer:?}");
        }
    }
}

#[tokio::test]
async fn writes_with_another_etag_are_refused() {
    for (method, path, extra, body) in WRITES {
        let (client, etag) = with_item().await;
        for tag in ["\"00000000-0000-0000-0000-000000000000\"", "not even quoted", "\"\""] {
            let mut headers = vec![KEY, ("if-match", tag)];
            headers.extend(extra);
            let answer = client.send(method.clone(), path, &headers, body).await.expect_code(412, 0);
            assert_eq!(answer.member("code"), "PreconditionFailed");
        }
        let read = client.send(Method::GET, ITEM, &[KEY], "").await.expect(200);
        assert_eq!(read.header("etag"), Some(etag.as_str()), "{method}: nothing changed");
    }
}

#[tokio::test]
async fn items_that_must_be_missing() {
    let (client, _) = with_item().await;
    let missing = ("if-none-match", "*");
    client.send(Method::POST, DOCS, &[KEY, missing], BODY).await.expect_code(412, 0);
    client.send(Method::POST, DOCS, &[KEY, missing, UPSERT], BODY).await.expect_code(412, 0);
    let other = r#"{"id":"2","pk":1}"#;
    client.send(Method::POST, DOCS, &[KEY, missing], other).await.expect(201);
    let third = r#"{"id":"3","pk":1}"#;
    client.send(Method::POST, DOCS, &[KEY, missing, UPSERT], third).await.expect(201);
}

#[tokio::test]
async fn upserts_of_missing_items_ignore_the_etag() {
    let client = Client::with_container().await;
    let stale = ("if-match", "\"00000000-0000-0000-0000-000000000000\"");
    client.send(Method::POST, DOCS, &[KEY, UPSERT, stale], BODY).await.expect(201);
}

#[tokio::test]
async fn creates_stay_a_conflict_whatever_the_etag() {
    let (client, etag) = with_item().await;
    client.send(Method::POST, DOCS, &[KEY, ("if-match", &etag)], BODY).await.expect_code(409, 0);
}

#[tokio::test]
async fn unchanged_items_are_not_sent_again() {
    let (client, etag) = with_item().await;
    for tag in [etag.as_str(), "*"] {
        let answer = client.send(Method::GET, ITEM, &[KEY, ("if-none-match", tag)], "").await.expect(304);
        assert_eq!(answer.header("etag"), Some(etag.as_str()));
        assert_eq!(answer.header("x-ms-session-token"), Some("0:-1#1"));
        assert_eq!(answer.header("x-ms-alt-content-path"), Some("dbs/d/colls/c"));
    }
    for tag in ["\"other\"", "\"00000000-0000-0000-0000-000000000000\""] {
        client.send(Method::GET, ITEM, &[KEY, ("if-none-match", tag)], "").await.expect(200);
    }
}

#[tokio::test]
async fn missing_items_are_not_found_whatever_the_condition() {
    let client = Client::with_container().await;
    for (method, path, extra, body) in WRITES {
        if extra.is_some() {
            continue;
        }
        for tag in ["*", "\"00000000-0000-0000-0000-000000000000\""] {
            client.send(method.clone(), path, &[KEY, ("if-match", tag)], body).await.expect_code(404, 0);
        }
    }
}
