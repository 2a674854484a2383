//! Users, permissions, and what a resource token opens.

use std::time::Duration;

use http::Method;

use super::client::{Answer, Client};

#[tokio::test]
async fn users_live_through_every_verb() {
    let client = Client::with_container().await;
    let database = client.get("/dbs/d").await;
    let created = client.post("/dbs/d/users", r#"{"id":"u"}"#).await.expect(201);
    assert_eq!(created.member("_permissions"), "permissions/");
    assert_eq!(
        created.member("_self"),
        format!("{}users/{}/", database.member("_self"), created.member("_rid"))
    );
    assert_eq!(created.header("x-ms-alt-content-path"), Some("dbs/d"));
    assert_eq!(created.header("x-ms-content-path"), Some(database.member("_rid").as_str()));
    client.post("/dbs/d/users", r#"{"id":"u"}"#).await.expect(409);
    assert_eq!(client.get("/dbs/d/users/u").await.expect(200).text, created.text);

    let upsert = [("x-ms-documentdb-is-upsert", "True")];
    client.send(Method::POST, "/dbs/d/users", &upsert, r#"{"id":"u"}"#).await.expect(200);
    client.send(Method::POST, "/dbs/d/users", &upsert, r#"{"id":"v"}"#).await.expect(201);
    let renamed = client.put("/dbs/d/users/u", r#"{"id":"w"}"#).await.expect(200);
    assert_eq!(renamed.member("_rid"), created.member("_rid"));
    let list = client.get("/dbs/d/users").await.expect(200);
    assert_eq!(list.ids("Users"), ["w", "v"]);
    assert_eq!(list.member("_rid"), database.member("_rid"));
    client.delete("/dbs/d/users/w").await.expect(204);
    client.get("/dbs/d/users/w").await.expect_code(404, 0);
    client.post("/dbs/d/users", "{}").await.expect(400);
    client.put("/dbs/d/users/v", "[]").await.expect(400);
}

async fn with_permission(mode: &str, resource: &str, more: &str) -> (Client, String) {
    let client = Client::with_container().await;
    client.post("/dbs/d/users", r#"{"id":"u"}"#).await.expect(201);
    let key = [("x-ms-documentdb-partitionkey", "[1]")];
    client.send(Method::POST, "/dbs/d/colls/c/docs", &key, r#"{"id":"1","pk":1}"#).await.expect(201);
    let body = format!(r#"{{"id":"p","permissionMode":"{mode}","resource":"{resource}"{more}}}"#);
    let created = client.post("/dbs/d/users/u/permissions", &body).await.expect(201);
    (client, created.member("_token"))
}

#[tokio::test]
async fn permissions_live_through_every_verb() {
    let (client, token) = with_permission("Read", "dbs/d/colls/c", "").await;
    assert!(token.starts_with("type=resource&ver=1"), "{token}");
    let path = "/dbs/d/users/u/permissions";
    let user = client.get("/dbs/d/users/u").await;
    let read = client.get(&format!("{path}/p")).await.expect(200);
    assert_eq!(read.member("permissionMode"), "Read");
    assert_eq!(read.header("x-ms-alt-content-path"), Some("dbs/d/users/u"));
    assert_eq!(read.header("x-ms-content-path"), Some(user.member("_rid").as_str()));
    assert_eq!(client.get(path).await.expect(200).ids("Permissions"), ["p"]);

    let same = r#"{"id":"q","permissionMode":"Read","resource":"dbs/d/colls/c"}"#;
    client.post(path, same).await.expect(409);
    let all = r#"{"id":"p","permissionMode":"All","resource":"dbs/d/colls/c"}"#;
    assert_eq!(client.put(&format!("{path}/p"), all).await.expect(200).member("permissionMode"), "All");
    let upsert = [("x-ms-documentdb-is-upsert", "true")];
    client.send(Method::POST, path, &upsert, all).await.expect(200);
    for bad in ["", "[]", "{}", r#"{"id":"x","permissionMode":"Some","resource":"dbs/d/colls/c"}"#] {
        client.post(path, bad).await.expect(400);
    }
    client.delete(&format!("{path}/p")).await.expect(204);
    client.get(&format!("{path}/p")).await.expect_code(404, 0);
}

async fn try_item(client: &Client, token: &str, method: Method, path: &str, key: &str) -> Answer {
    // Clients send the whole token percent-encoded.
    let encoded: String = token
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c.to_string() } else { format!("%{:02X}", u32::from(c)) })
        .collect();
    let body = if method == Method::POST { r#"{"id":"2","pk":1}"# } else { "" };
    client.send_as(&encoded, method, path, &[("x-ms-documentdb-partitionkey", key)], body).await
}

#[tokio::test]
async fn tokens_open_what_they_are_for() {
    let (client, read) = with_permission("Read", "dbs/d/colls/c", "").await;
    let item = "/dbs/d/colls/c/docs/1";
    try_item(&client, &read, Method::GET, "/", "[1]").await.expect(200);
    try_item(&client, &read, Method::GET, "/dbs/d/colls/c", "[1]").await.expect(200);
    try_item(&client, &read, Method::GET, "/dbs/d/colls/c/pkranges", "[1]").await.expect(200);
    try_item(&client, &read, Method::GET, item, "[1]").await.expect(200);
    try_item(&client, &read, Method::DELETE, item, "[1]").await.expect_code(403, 0);
    try_item(&client, &read, Method::POST, "/dbs/d/colls/c/docs", "[1]").await.expect(403);
    try_item(&client, &read, Method::GET, "/dbs/d", "[1]").await.expect(403);
    try_item(&client, &read, Method::GET, "/dbs", "[1]").await.expect(403);
    let damaged = read.replacen("sig=", "sig=A", 1);
    try_item(&client, &damaged, Method::GET, item, "[1]").await.expect(401);

    let (client, all) = with_permission("All", "dbs/d/colls/c", "").await;
    try_item(&client, &all, Method::POST, "/dbs/d/colls/c/docs", "[1]").await.expect(201);
    try_item(&client, &all, Method::DELETE, item, "[1]").await.expect(204);

    let (client, bound) = with_permission("All", "dbs/d/colls/c", r#","resourcePartitionKey":[2]"#).await;
    try_item(&client, &bound, Method::GET, item, "[1]").await.expect(403);
    let (client, bound) = with_permission("All", "dbs/d/colls/c", r#","resourcePartitionKey":[1]"#).await;
    try_item(&client, &bound, Method::GET, item, "[1]").await.expect(200);
}

#[tokio::test]
async fn tokens_expire() {
    let (client, _) = with_permission("Read", "dbs/d/colls/c", "").await;
    let life = [("x-ms-documentdb-expiry-seconds", "10")];
    let path = "/dbs/d/users/u/permissions/p";
    let token = client.send(Method::GET, path, &life, "").await.expect(200).member("_token");
    client.clock.advance(Duration::from_secs(9));
    try_item(&client, &token, Method::GET, "/dbs/d/colls/c/docs/1", "[1]").await.expect(200);
    client.clock.advance(Duration::from_secs(1));
    try_item(&client, &token, Method::GET, "/dbs/d/colls/c/docs/1", "[1]").await.expect_code(403, 0);
    for seconds in ["9", "86401", "soon"] {
        let life = [("x-ms-documentdb-expiry-seconds", seconds)];
        client.send(Method::GET, path, &life, "").await.expect(400);
    }
}
