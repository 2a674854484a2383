//! Queries of databases, containers, offers, users, permissions and conflicts.

use armilla_value::{Value, json};
use http::Method;

use super::client::{Answer, Client, READ_ONLY_KEY};

const CROSS: (&str, &str) = ("x-ms-documentdb-query-enablecrosspartition", "True");

async fn query(client: &Client, path: &str, headers: &[(&'static str, &str)], body: &str) -> Answer {
    let mut all = vec![("x-ms-documentdb-isquery", "True"), ("content-type", "application/query+json")];
    all.extend_from_slice(headers);
    client.send(Method::POST, path, &all, body).await
}

async fn filled() -> Client {
    let client = Client::with_container().await;
    let throughput = [("x-ms-offer-throughput", "1000")];
    client.send(Method::POST, "/dbs", &throughput, r#"{"id":"e"}"#).await.expect(201);
    let definition =
        r#"{"id":"c2","partitionKey":{"paths":["/pk"],"kind":"Hash","version":2},"defaultTtl":60}"#;
    client.post("/dbs/d/colls", definition).await.expect(201);
    client.post("/dbs/d/users", r#"{"id":"u"}"#).await.expect(201);
    client.post("/dbs/d/users", r#"{"id":"v"}"#).await.expect(201);
    let permission = r#"{"id":"p","permissionMode":"Read","resource":"dbs/d/colls/c"}"#;
    client.post("/dbs/d/users/u/permissions", permission).await.expect(201);
    client
}

#[tokio::test]
async fn rows_are_what_the_feed_holds() {
    let client = filled().await;
    for (path, feed, count) in [
        ("/dbs", "Databases", 2),
        ("/dbs/d/colls", "DocumentCollections", 2),
        ("/offers", "Offers", 3),
        ("/dbs/d/users", "Users", 2),
        ("/dbs/d/users/u/permissions", "Permissions", 1),
        ("/dbs/d/colls/c/conflicts", "Conflicts", 0),
    ] {
        let list = client.get(path).await.expect(200);
        let answer = query(&client, path, &[CROSS], r#"{"query":"SELECT * FROM root"}"#).await.expect(200);
        assert_eq!(answer.ids(feed).len(), count, "{path}");
        assert_eq!(answer.text, list.text, "{path}");
        for name in ["x-ms-alt-content-path", "x-ms-content-path", "x-ms-item-count", "x-ms-session-token"] {
            assert_eq!(answer.header(name), list.header(name), "{path}: {name}");
        }
    }
}

#[tokio::test]
async fn resources_are_found_by_their_members() {
    let client = filled().await;
    for (path, feed, condition, expected) in [
        ("/dbs", "Databases", "r.id = 'e'", &["e"][..]),
        ("/dbs", "Databases", "r.id = 'none'", &[]),
        ("/dbs/d/colls", "DocumentCollections", "r.defaultTtl > 5", &["c2"]),
        ("/dbs/d/colls", "DocumentCollections", "r.partitionKey.paths[0] = '/pk'", &["c", "c2"]),
        ("/dbs/d/users", "Users", "STARTSWITH(r.id, 'v')", &["v"]),
        ("/dbs/d/users/u/permissions", "Permissions", "r.permissionMode = 'Read'", &["p"]),
        ("/dbs/d/users/u/permissions", "Permissions", "r.permissionMode = 'All'", &[]),
    ] {
        let body = format!(r#"{{"query":"SELECT * FROM root r WHERE {condition}"}}"#);
        let answer = query(&client, path, &[], &body).await.expect(200);
        assert_eq!(answer.ids(feed), expected, "{path}: {condition}");
    }
}

#[tokio::test]
async fn offers_are_found_by_their_owner() {
    let client = filled().await;
    for path in ["/dbs/e", "/dbs/d/colls/c"] {
        let owner = client.get(path).await.expect(200);
        let (link, rid) = (owner.member("_self"), owner.member("_rid"));
        for body in [
            // As Python, JavaScript, and Rust and .NET ask.
            format!(
                r#"{{"query":"SELECT * FROM root r WHERE r.resource=@link","parameters":[{{"name":"@link","value":"{link}"}}]}}"#
            ),
            format!(r#"{{"query":"SELECT * from root where root.resource = \"{link}\""}}"#),
            format!(
                r#"{{"query":"SELECT * FROM c WHERE c.offerResourceId = @rid","parameters":[{{"name":"@rid","value":"{rid}"}}]}}"#
            ),
        ] {
            let answer = query(&client, "/offers", &[], &body).await.expect(200);
            assert_eq!(answer.ids("Offers").len(), 1, "{path}: {body}");
            let body = answer.json();
            let offer = &body.get("Offers").and_then(Value::as_array).unwrap()[0];
            assert_eq!(offer.get("resource").and_then(Value::as_str), Some(&*link));
        }
    }
    let none = client.get("/dbs/d").await.member("_self");
    let body = format!(r#"{{"query":"SELECT * from root where root.resource = \"{none}\""}}"#);
    assert_eq!(query(&client, "/offers", &[], &body).await.expect(200).ids("Offers"), [] as [&str; 0]);
}

#[tokio::test]
async fn every_clause_works_on_resources() {
    let client = filled().await;
    for n in 0..7 {
        client.post("/dbs", &format!(r#"{{"id":"x{n}"}}"#)).await.expect(201);
    }
    for (text, expected) in [
        ("SELECT VALUE r.id FROM root r ORDER BY r.id DESC OFFSET 1 LIMIT 2", r#"["x5","x4"]"#),
        ("SELECT VALUE COUNT(1) FROM root r WHERE STARTSWITH(r.id, 'x')", "[7]"),
        ("SELECT TOP 1 r.id AS name FROM root r", r#"[{"name":"d"}]"#),
        ("SELECT DISTINCT VALUE IS_DEFINED(r._colls) FROM root r", "[true]"),
    ] {
        let answer = query(&client, "/dbs", &[], &format!(r#"{{"query":"{text}"}}"#)).await.expect(200);
        assert_eq!(json::to_string(answer.json().get("Databases").unwrap()), expected, "{text}");
    }
}

#[tokio::test]
async fn resources_come_in_pages() {
    let client = Client::new().await;
    for n in 0..5 {
        client.post("/dbs", &format!(r#"{{"id":"d{n}"}}"#)).await.expect(201);
    }
    for text in ["SELECT * FROM c", "SELECT * FROM c ORDER BY c.id"] {
        let (mut ids, mut pages) = (Vec::new(), 0);
        let mut continuation: Option<String> = None;
        loop {
            let mut headers = vec![("x-ms-max-item-count", "2")];
            headers.extend(continuation.as_deref().map(|token| ("x-ms-continuation", token)));
            let page =
                query(&client, "/dbs", &headers, &format!(r#"{{"query":"{text}"}}"#)).await.expect(200);
            ids.extend(page.ids("Databases"));
            pages += 1;
            continuation = page.header("x-ms-continuation").map(str::to_owned);
            if continuation.is_none() {
                break;
            }
        }
        assert_eq!((ids, pages), (["d0", "d1", "d2", "d3", "d4"].map(str::to_owned).to_vec(), 3), "{text}");
    }
    let headers = [("x-ms-continuation", "nonsense")];
    query(&client, "/dbs", &headers, r#"{"query":"SELECT * FROM c"}"#).await.expect_code(400, 0);
}

#[tokio::test]
async fn wrong_queries_of_resources_are_refused() {
    let client = filled().await;
    for path in [
        "/dbs",
        "/dbs/d/colls",
        "/offers",
        "/dbs/d/users",
        "/dbs/d/users/u/permissions",
        "/dbs/d/colls/c/conflicts",
    ] {
        let refused =
            query(&client, path, &[CROSS], r#"{"query":"SELECT * FORM c"}"#).await.expect_code(400, 0);
        assert!(refused.member("message").contains("SC1001"), "{path}: {}", refused.text);
        query(&client, path, &[], "{}").await.expect_code(400, 0);
    }
    let conflicts = query(&client, "/dbs/d/colls/c/conflicts", &[], r#"{"query":"SELECT * FROM c"}"#).await;
    let message = conflicts.expect_code(400, 0).member("message");
    assert!(message.contains("Cross partition query is required but disabled"), "{message}");
    for path in ["/dbs/no/colls", "/dbs/no/users", "/dbs/d/users/no/permissions"] {
        query(&client, path, &[], r#"{"query":"SELECT * FROM c"}"#).await.expect_code(404, 1003);
    }
    query(&client, "/dbs/d/colls/no/conflicts", &[], r#"{"query":"SELECT * FROM c"}"#).await.expect(404);
}

#[tokio::test]
async fn queries_are_reads() {
    let client = filled().await;
    let headers =
        [("x-ms-documentdb-isquery", "True"), ("x-ms-documentdb-query-enablecrosspartition", "True")];
    for path in ["/dbs", "/offers", "/dbs/d/colls/c/docs"] {
        let authorization = client.sign(READ_ONLY_KEY, &Method::POST, path);
        let body = r#"{"query":"SELECT * FROM c"}"#;
        client.send_as(&authorization, Method::POST, path, &headers, body).await.expect(200);
    }
}
