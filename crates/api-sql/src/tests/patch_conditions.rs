//! Patches that apply only if something holds of the item.

use http::Method;

use super::client::{Answer, Client};

async fn patch(client: &Client, condition: &str) -> Answer {
    let mut text = Vec::new();
    crate::json_text::push_string(&mut text, condition);
    let condition = String::from_utf8(text).unwrap();
    let body =
        format!(r#"{{"condition":{condition},"operations":[{{"op":"incr","path":"/times","value":1}}]}}"#);
    let key = [("x-ms-documentdb-partitionkey", "[1]")];
    client.send(Method::PATCH, "/dbs/d/colls/c/docs/1", &key, body).await
}

async fn with_item() -> Client {
    let client = Client::with_container().await;
    let key = [("x-ms-documentdb-partitionkey", "[1]")];
    let body = r#"{"id":"1","pk":1,"n":5,"tags":["a"],"times":0}"#;
    client.send(Method::POST, "/dbs/d/colls/c/docs", &key, body).await.expect(201);
    client
}

#[tokio::test]
async fn conditions_that_hold_let_the_patch_pass() {
    let client = with_item().await;
    let conditions = [
        "FROM c WHERE c.n = 5",
        "from c where c.n > 4 and c.times = 1",
        "from root r where ARRAY_CONTAINS(r.tags, 'a')",
        "FROM c WHERE IS_DEFINED(c._ts) AND NOT IS_DEFINED(c.none)",
        "SELECT * FROM c WHERE c.id = '1'",
        "FROM c WHERE EXISTS(SELECT VALUE t FROM t IN c.tags WHERE t = 'a')",
    ];
    for (times, condition) in (1..).zip(conditions) {
        assert_eq!(patch(&client, condition).await.expect(200).number("times"), times, "{condition}");
    }
}

#[tokio::test]
async fn conditions_that_do_not_hold_stop_it() {
    let client = with_item().await;
    for condition in
        ["FROM c WHERE c.n = 6", "FROM c WHERE c.none = 1", "FROM c WHERE c.n", "FROM c WHERE false"]
    {
        let answer = patch(&client, condition).await;
        assert_eq!((answer.status, &*answer.member("code")), (412, "PreconditionFailed"), "{condition}");
    }
    let key = [("x-ms-documentdb-partitionkey", "[1]")];
    let item = client.send(Method::GET, "/dbs/d/colls/c/docs/1", &key, "").await.expect(200);
    assert_eq!(item.number("times"), 0);
}

#[tokio::test]
async fn conditions_that_mean_nothing_are_refused() {
    let client = with_item().await;
    for condition in
        ["", "c.n = 5", "FROM c WHERE", "FROM c WHERE BADFUNC(c.n)", "WHERE c.n = 5", "FROM c WHERE x.n = 5"]
    {
        let answer = patch(&client, condition).await;
        assert_eq!((answer.status, &*answer.member("code")), (400, "BadRequest"), "{condition}");
    }
    let key = [("x-ms-documentdb-partitionkey", "[1]")];
    let body = r#"{"condition":5,"operations":[{"op":"incr","path":"/times","value":1}]}"#;
    client.send(Method::PATCH, "/dbs/d/colls/c/docs/1", &key, body).await.expect_code(400, 0);
}

#[tokio::test]
async fn conditions_stand_beside_versions() {
    let client = with_item().await;
    let body =
        r#"{"condition":"FROM c WHERE c.n = 5","operations":[{"op":"incr","path":"/times","value":1}]}"#;
    let path = "/dbs/d/colls/c/docs/1";
    let key = ("x-ms-documentdb-partitionkey", "[1]");
    let etag = client.send(Method::GET, path, &[key], "").await.header("etag").unwrap().to_owned();
    client.send(Method::PATCH, path, &[key, ("if-match", "\"other\"")], body).await.expect(412);
    client.send(Method::PATCH, path, &[key, ("if-match", &etag)], body).await.expect(200);
    client.send(Method::PATCH, path, &[key, ("if-match", &etag)], body).await.expect(412);
    let missing = "/dbs/d/colls/c/docs/none";
    client.send(Method::PATCH, missing, &[key], body).await.expect_code(404, 0);
}
