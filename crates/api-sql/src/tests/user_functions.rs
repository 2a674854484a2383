//! User-defined functions: the resources, and queries that call them.

use armilla_value::Value;
use http::Method;

use super::client::{Answer, Client, READ_ONLY_KEY};

const FUNCTIONS: &str = "/dbs/d/colls/c/udfs";
const QUERY: [(&str, &str); 2] =
    [("x-ms-documentdb-isquery", "True"), ("x-ms-documentdb-query-enablecrosspartition", "True")];

async fn query(client: &Client, path: &str, text: &str) -> Answer {
    client.send(Method::POST, path, &QUERY, format!(r#"{{"query":"{text}"}}"#)).await
}

#[tokio::test]
async fn user_functions_live_through_every_verb() {
    let client = Client::with_container().await;
    let created =
        client.post(FUNCTIONS, r#"{"id":"f","body":"function (x) { return x; }"}"#).await.expect(201);
    let owner = client.get("/dbs/d/colls/c").await.expect(200);
    assert_eq!(created.member("_self"), format!("{}udfs/{}/", owner.member("_self"), created.member("_rid")));
    assert_eq!(created.header("etag"), Some(&*created.member("_etag")));
    assert_eq!(created.header("x-ms-alt-content-path"), Some("dbs/d/colls/c"));
    assert_eq!(created.header("x-ms-content-path"), Some(&*owner.member("_rid")));
    assert_eq!(created.member("body"), "function (x) { return x; }");
    assert!(created.number("_ts") > 0);
    client.post(FUNCTIONS, r#"{"id":"f","body":"x => x"}"#).await.expect_code(409, 0);

    let one = format!("{FUNCTIONS}/f");
    assert_eq!(client.get(&one).await.expect(200).text, created.text);
    let by_rid = format!("/{}", created.member("_self"));
    assert_eq!(client.get(by_rid.trim_end_matches('/')).await.expect(200).text, created.text);
    let etag = created.member("_etag");
    client.send(Method::GET, &one, &[("if-none-match", &etag)], "").await.expect(304);
    let list = client.get(FUNCTIONS).await.expect(200);
    assert_eq!(list.ids("UserDefinedFunctions"), ["f"]);
    assert_eq!(list.member("_rid"), owner.member("_rid"));

    let body = r#"{"id":"f","body":"function (x) { return x + 1; }"}"#;
    client.send(Method::PUT, &one, &[("if-match", "\"0\"")], body).await.expect(412);
    let replaced = client.send(Method::PUT, &one, &[("if-match", &etag)], body).await.expect(200);
    assert_eq!(replaced.member("_rid"), created.member("_rid"));
    assert_ne!(replaced.member("_etag"), etag);
    let upsert = [("x-ms-documentdb-is-upsert", "True")];
    client.send(Method::POST, FUNCTIONS, &upsert, body).await.expect(200);
    client.send(Method::POST, FUNCTIONS, &upsert, r#"{"id":"g","body":"x => x"}"#).await.expect(201);

    client.delete(&one).await.expect(204);
    client.delete(&one).await.expect_code(404, 0);
    client.get(&one).await.expect_code(404, 0);
    client.get("/dbs/d/colls/no/udfs").await.expect_code(404, 1003);
    assert_eq!(client.get(FUNCTIONS).await.expect(200).ids("UserDefinedFunctions"), ["g"]);
    let authorization = client.sign(READ_ONLY_KEY, &Method::POST, FUNCTIONS);
    client.send_as(&authorization, Method::POST, FUNCTIONS, &[], body).await.expect(403);
}

#[tokio::test]
async fn user_functions_are_checked() {
    let client = Client::with_container().await;
    for body in [
        "",
        "{}",
        "[]",
        r#"{"id":"f"}"#,
        r#"{"body":"x => x"}"#,
        r#"{"id":"f","body":7}"#,
        r#"{"id":7,"body":"x => x"}"#,
        r#"{"id":"a/b","body":"x => x"}"#,
    ] {
        client.post(FUNCTIONS, body).await.expect_code(400, 0);
    }
}

#[tokio::test]
async fn user_functions_are_called_by_queries() {
    let client = Client::with_container().await;
    client.post(FUNCTIONS, r#"{"id":"twice","body":"function (x) { return x * 2; }"}"#).await.expect(201);
    client
        .post(FUNCTIONS, r#"{"id":"fails","body":"function () { throw new Error('oh'); }"}"#)
        .await
        .expect(201);
    let docs = "/dbs/d/colls/c/docs";
    for n in 1..=3 {
        let key = [("x-ms-documentdb-partitionkey", &*format!("[{n}]"))];
        let item = format!(r#"{{"id":"{n}","pk":{n}}}"#);
        client.send(Method::POST, docs, &key, item).await.expect(201);
    }
    let text = "SELECT VALUE udf.twice(c.pk) FROM c WHERE udf.twice(c.pk) > 2 ORDER BY c.pk";
    let rows = query(&client, docs, text).await.expect(200).json();
    let expected = [4, 6].map(Value::from);
    assert_eq!(rows.get("Documents").and_then(Value::as_array), Some(&expected[..]));
    let failed = query(&client, docs, "SELECT VALUE udf.fails() FROM c").await.expect_code(400, 0);
    let message = failed.member("message");
    assert!(message.contains("the user-defined function 'fails' failed: exception: oh"), "{message}");
}

#[tokio::test]
async fn user_functions_are_queried() {
    let client = Client::with_container().await;
    for id in ["a", "b"] {
        client.post(FUNCTIONS, &format!(r#"{{"id":"{id}","body":"x => '{id}'"}}"#)).await.expect(201);
    }
    let all = query(&client, FUNCTIONS, "SELECT * FROM root r").await.expect(200);
    assert_eq!(all.text, client.get(FUNCTIONS).await.expect(200).text);
    let found =
        query(&client, FUNCTIONS, "SELECT * FROM r WHERE CONTAINS(r.body, \\\"'b'\\\")").await.expect(200);
    assert_eq!(found.ids("UserDefinedFunctions"), ["b"]);
}
